package send

import (
	"context"

	"github.com/botctx/go-sdk/internal/record"
)

// keyKey is the key of what KeyOf returns in a context.Context.
type keyKey struct{}

// KeyOf returns the key of what a connector is asked for by a further port, such as a broadcast, from the
// ctx that it is given: the same where the run that asks is tried again, another one for each other thing.
// A platform that takes such keys (Idempotency-Key is the usual name) does it once. "" where a host calls
// the port by itself. Those of messages are Message.ID, also in a batch.
func KeyOf(ctx context.Context) string {
	key, _ := ctx.Value(keyKey{}).(string)
	return key
}

// WithKey returns a context in which KeyOf returns a key, for a host that asks a port by itself.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyKey{}, key)
}

// Once asks a platform for something by a further port of its connector, as the operations do, under a
// key that KeyOf gives the connector: unless a try before at the same run has got it done, see record.Once.
// of names what is asked for, and of whom; two things of one name are told apart by their order. It is for
// packages that use ports of their own.
func Once[T any](ctx context.Context, env record.Env, of string, ask func(ctx context.Context) (T, error)) (T, error) {
	env = env.WithDefaults()
	return onceUnder(ctx, env, env.SendID(ctx, of), ask)
}

// onceUnder is Once, under a key.
func onceUnder[T any](ctx context.Context, env record.Env, key string, ask func(ctx context.Context) (T, error)) (T, error) {
	return record.Once(WithKey(ctx, key), env, key, ask)
}
