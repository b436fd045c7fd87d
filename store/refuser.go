package store

import "context"

// Refuser decides whether work in progress may still write, such as a run that holds a lane.
type Refuser interface {
	// Refusal returns the reason why no further writes are allowed, or nil. It returns at once, without a call
	// to the store.
	Refusal() error
}

// refuserKey is the key of the Refuser in a context.Context.
type refuserKey struct{}

// WithRefuser returns a ctx whose operations may write only while a Refuser allows it. A store that carries
// out an operation by several commands asks the Refuser before each command that writes. So a process that
// was suspended between two commands, while another process took over, does not write when it continues.
func WithRefuser(ctx context.Context, refuser Refuser) context.Context {
	return context.WithValue(ctx, refuserKey{}, refuser)
}

// RefuserOf returns the Refuser of a ctx, or nil.
func RefuserOf(ctx context.Context) Refuser {
	refuser, _ := ctx.Value(refuserKey{}).(Refuser)
	return refuser
}

// Refusal returns the reason why an operation with a ctx may no longer write, or nil.
func Refusal(ctx context.Context) error {
	if refuser := RefuserOf(ctx); refuser != nil {
		return refuser.Refusal()
	}
	return nil
}
