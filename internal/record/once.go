package record

import (
	"context"

	"github.com/botctx/go-sdk/document"
)

// Attempt is one of several tries at something that leaves the store on its way, such as the run of an
// event. It is used from many goroutines at once.
type Attempt interface {
	// Recall returns what came of what was done under an id, by this try or one before.
	Recall(id string) (answer document.Object, isKnown bool)
	// Remember keeps what came of something, which document.Encode takes, until no further try comes.
	// What was done stays done, so that what goes wrong here is no failure of the caller, and is told
	// elsewhere.
	Remember(ctx context.Context, id string, answer any)
}

// Once does something that leaves the store, such as the sending of a message, under an id that
// Env.SendID made: unless a try before has done it, then it returns what came of it then. T is a struct
// that document.Encode takes and document.Decode gives back. The errors are those of Env.Attempt and of
// effect; what ended in one is done again.
func Once[T any](ctx context.Context, env Env, id string, effect func(ctx context.Context) (T, error)) (T, error) {
	attempt, err := env.Trying(ctx)
	if err != nil {
		return orNone(*new(T), err)
	}
	if attempt == nil {
		return orNone(effect(ctx))
	}
	if known, isKnown := attempt.Recall(id); isKnown {
		var answer T
		err := document.Decode(known, &answer)
		return answer, err
	}
	answer, err := orNone(effect(ctx))
	if err == nil {
		attempt.Remember(context.WithoutCancel(ctx), id, answer)
	}
	return answer, err
}

// orNone returns no answer beside an error.
func orNone[T any](answer T, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return answer, nil
}

// Trying returns the try that ctx belongs to, nil for none, as Attempt says.
func (e Env) Trying(ctx context.Context) (Attempt, error) {
	if e.Attempt == nil {
		return nil, nil //nolint:nilnil // None is no error.
	}
	return e.Attempt(ctx)
}
