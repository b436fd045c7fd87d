package simulator

import (
	"time"

	"github.com/botctx/go-sdk/botctx"
)

// lookEvery is how often it is looked for other nodes while a page is open.
const lookEvery = time.Second

// look asks whether the nodes are others now, and puts them in the place of those before, in every branch: what is
// done next is answered by them, and one goes back in time without them. What is wrong with them is told, and the
// bot stays as it was. The caller holds the turn.
func (s *session) look() {
	if s.settings.Reload == nil {
		return
	}
	nodes, hasChanged, err := s.settings.Reload()
	if err == nil && !hasChanged || err != nil && s.isKnown(err) {
		return
	}
	_ = s.change(func() error {
		if err == nil {
			err = s.replace(nodes)
		}
		if s.stale = err; err == nil {
			s.loads++
		}
		return nil
	})
}

// isKnown reports whether an error is the one that is told already.
func (s *session) isKnown(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stale != nil && s.stale.Error() == err.Error()
}

// replace gives all branches other nodes. The caller holds the mutex.
func (s *session) replace(nodes []*botctx.Node) error {
	for _, b := range s.branches {
		if err := guarded(func() error { b.platform.Replace(nodes...); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// lookNow looks unless something is under way, which has looked itself.
func (s *session) lookNow() {
	select {
	case s.turn <- struct{}{}:
		defer s.giveTurn()
		s.look()
	default:
	}
}
