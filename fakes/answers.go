package fakes

import (
	"context"

	"github.com/botctx/go-sdk/send"
)

// answered does something on a platform of a channel, unless it did so under the key of ctx before: then
// it returns what came of it then, as platforms do that take such keys. The caller holds the mutex.
func answered[T any](ctx context.Context, o *outbox, channelID, what string, do func() (T, error)) (T, error) {
	return answeredUnder(o, channelID, what, send.KeyOf(ctx), do)
}

// answeredUnder is answered for a key. Without one it is done each time.
func answeredUnder[T any](o *outbox, channelID, what, key string, do func() (T, error)) (T, error) {
	if key == "" {
		return do()
	}
	of := what + " in " + channelID + " as " + key
	if known, ok := o.kept.answers[of].(T); ok {
		return known, nil
	}
	answer, err := do()
	if err == nil {
		put(&o.kept.answers, of, any(answer))
	}
	return answer, err
}
