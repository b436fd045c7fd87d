package botctx

import (
	"context"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// attempt returns what finds the try at a run that a call of a context belongs to, in a run or, with nil,
// outside of runs. It is record.Env.Attempt.
func (r *Runtime) attempt(in *run) func(context.Context) (record.Attempt, error) {
	return func(ctx context.Context) (record.Attempt, error) {
		at := in
		if s := r.stepOf(ctx, nil); s != nil {
			at = s.run
		}
		if err := at.Refusal(); err != nil {
			return nil, err
		}
		if at == nil || at.delivery == nil || at.key == "" {
			return nil, nil //nolint:nilnil // None is no error.
		}
		return runAttempt{at}, nil
	}
}

// runAttempt is a try at the run of an event that Accept kept, or at one that it redirected to.
type runAttempt struct{ run *run }

// Recall implements record.Attempt.
func (a runAttempt) Recall(id string) (document.Object, bool) { return a.run.delivery.Recall(id) }

// Remember implements record.Attempt.
func (a runAttempt) Remember(ctx context.Context, id string, answer any) {
	kept, err := document.Encode(answer)
	if err == nil {
		err = a.run.delivery.Remember(ctx, id, kept)
	}
	if err != nil {
		a.run.runtime.logNotRemembered(ctx, a.run, err)
	}
}
