package store

import "context"

// Refuser says whether what is under way may still write, as a run may that has the turn of its member.
type Refuser interface {
	// Refusal returns why nothing may be written any more, nil where it may. It asks nobody.
	Refusal() error
}

// refuserKey is the key of the Refuser in a context.Context.
type refuserKey struct{}

// WithRefuser returns a ctx whose operations may write as long as a Refuser has nothing against it: a store
// that does an operation by several commands, one after the other, asks before each that writes. So a process
// that was frozen between two of them, while others took its place, does not write when it goes on.
func WithRefuser(ctx context.Context, refuser Refuser) context.Context {
	return context.WithValue(ctx, refuserKey{}, refuser)
}

// RefuserOf returns the Refuser of a ctx, nil if it has none.
func RefuserOf(ctx context.Context) Refuser {
	refuser, _ := ctx.Value(refuserKey{}).(Refuser)
	return refuser
}

// Refusal returns why an operation with a ctx may not write any more, nil where it may.
func Refusal(ctx context.Context) error {
	if refuser := RefuserOf(ctx); refuser != nil {
		return refuser.Refusal()
	}
	return nil
}
