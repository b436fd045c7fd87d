package livechats

import (
	"context"

	"github.com/botctx/go-sdk/internal/sends"
)

// once carries out what an operation does in several steps, and that would be refused the second time,
// unless a try before at the same run has: then it returns what came of it then. What the steps send has
// keys within this one's, so that those of what is sent later do not depend on whether it was carried out.
func once[T any](ctx context.Context, s *Service, of string, carryOut func(ctx context.Context) (T, error)) (T, error) {
	trying, err := s.env.Trying(ctx)
	if err != nil || trying == nil {
		var none T
		if err == nil {
			return carryOut(ctx)
		}
		return none, err
	}
	type done struct{ Result T }
	came, err := sends.Once(ctx, s.env, of, func(ctx context.Context) (done, error) {
		result, err := carryOut(ctx)
		return done{Result: result}, err
	})
	return came.Result, err
}

// assignmentOnce is once for what is done to an assignment, or makes one: it returns the assignment as it
// is now.
func (s *Service) assignmentOnce(ctx context.Context, of string, carryOut func(ctx context.Context) (*pass, error)) (*pass, error) {
	var run *pass
	id, err := once(ctx, s, of, func(ctx context.Context) (string, error) {
		var err error
		if run, err = carryOut(ctx); err != nil {
			return "", err
		}
		return run.r.ID, nil
	})
	if err != nil || run != nil {
		return run, err
	}
	r, err := s.loadAssignment(ctx, id)
	return &pass{machine: s.machine, r: r}, err
}
