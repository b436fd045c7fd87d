package inbox

import (
	"context"
	"slices"
	"time"

	"github.com/botctx/go-sdk/internal/blame"
)

// A start never came back if its process died before it stored how the run ended. If nothing else was
// under way in the process, that is a failure of the event. Otherwise nobody knows which event ended the
// process, and all of them become suspects, without a failure, see package blame. So an event that ends each
// process is a dead letter after Config.Limit failures and two more starts, and the events beside it never are.

// suspicion returns how much an event is suspected.
func (e stored) suspicion() blame.Level {
	losses := e.lost
	if e.neverCameBack {
		losses += e.failures
	}
	return blame.LevelOf(losses)
}

// untilSuspect returns the first events of a lane that may run in one turn: a suspect is the only one.
func untilSuspect(events []stored) []stored {
	at := slices.IndexFunc(events, func(e stored) bool { return e.suspicion() > blame.None })
	if at < 0 {
		return events
	}
	return events[:max(1, at)]
}

// enter enters a lane for its first event, beside so many that are under way, unless the event is a suspect
// that must wait or Config.Enter refuses the lane.
func (b *Inbox) enter(lane string, first stored, underWay int) (leave func(), ok bool) {
	run := blame.Run{Name: lane, Level: first.suspicion(), Losses: first.lost} // Lanes have taken their turns.
	if !b.suspects.Admit(run, underWay, b.config.Env.Now()) {
		return nil, false
	}
	further, ok := b.config.Enter(lane)
	if !ok {
		b.endSuspect(lane)
		return nil, false
	}
	return func() {
		further()
		b.endSuspect(lane)
	}, true
}

// endSuspect ends the run of a lane's suspect, if it has one, and has those looked at that waited for that.
func (b *Inbox) endSuspect(lane string) {
	for _, waited := range b.suspects.End(lane, b.config.Env.Now()) {
		b.feed.isFree(waited)
	}
}

// takeOnly takes the lane whose suspect is to run alone, once nothing else is under way. It returns true while
// no other lane may be taken.
func (s *shared) takeOnly(ctx context.Context, now time.Time, want want, taken *[]work) (isOnly bool, err error) {
	for {
		only, isOnly := s.suspects.Only(s.config.Env.Now())
		if !isOnly || only == "" || s.busy.count() > 0 {
			return isOnly, nil
		}
		if want.take(keyOf(only)) {
			if err := s.takeFound(ctx, only, now, want, taken); err != nil {
				return true, err
			}
		}
		s.suspects.Drop(only, s.config.Env.Now())
	}
}
