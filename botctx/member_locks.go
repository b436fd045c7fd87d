package botctx

import "context"

type (
	memberKey struct{ app, member string }
	turn      struct {
		key    memberKey
		parent *turn
	}
)
type memberLocks struct{}

func (l *memberLocks) acquire(ctx context.Context, key memberKey, parent *turn) (*turn, error) {
	return &turn{key, parent}, nil
}
func (l *memberLocks) release(t *turn) {}
