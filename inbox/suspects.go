package inbox

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A start never came back if its process died before it stored how the run ended. If nothing else was
// under way in the process, that is a failure of the event. Otherwise nobody knows which event ended the
// process, and all of them become suspects, without a failure. Suspects run one at a time; other events
// run beside them. A suspect that was lost again runs with nothing else in its process: the next loss
// shows whether it is the guilty one. So an event that ends each process is a dead letter after
// Config.Limit failures and two more starts, and the events beside it never are.

// suspicion is how much an event is suspected to end its process.
type suspicion int

// The levels of suspicion.
const (
	unsuspected suspicion = iota
	// suspected events run one at a time, strongly suspected ones alone.
	suspected
	stronglySuspected
)

// suspicion returns how much an event is suspected.
func (e stored) suspicion() suspicion {
	losses := e.lost
	if e.neverCameBack {
		losses += e.failures
	}
	return min(suspicion(losses), stronglySuspected)
}

// untilSuspect returns the first events of a lane that may run in one turn: a suspect is the only one.
func untilSuspect(events []stored) []stored {
	at := slices.IndexFunc(events, func(e stored) bool { return e.suspicion() > unsuspected })
	if at < 0 {
		return events
	}
	return events[:max(1, at)]
}

const (
	// drainFor is how long nothing begins, at most, before a suspect that is to run alone does. If other
	// runs take longer than that, it runs beside them.
	drainFor = 10 * time.Second
	// aloneFor is how long nothing begins, at most, beside a suspect that runs alone. After each loss it
	// is longer by as much, so that a run that takes long before it ends its process is found, too.
	aloneFor = time.Minute
	// longestAlone is how many times as long that is at most.
	longestAlone = 60
)

// suspects decides when suspects run in a process. The zero suspects is ready, and safe for concurrent
// use.
type suspects struct {
	mu sync.Mutex
	// running is the lane whose suspect runs, "" if none does. Nothing begins beside it before aloneUntil.
	running    string
	aloneUntil time.Time
	// alone are the lanes whose suspects are to run alone, the next one first, and since is when that one
	// began to wait for other runs to end.
	alone []string
	since time.Time
	// waiting are lanes whose suspects wait until another one's run has ended.
	waiting []string
}

// only reports whether at most one lane may begin, and which: "" if none may.
func (s *suspects) only(now time.Time) (lane string, isOnly bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.running != "":
		return "", now.Before(s.aloneUntil)
	case len(s.alone) > 0 && now.Before(s.since.Add(drainFor)):
		return s.alone[0], true
	default:
		return "", false
	}
}

// admit reports whether the first event of a lane may begin, beside so many lanes that are under way. If
// it does and the event is a suspect, end must be called.
func (s *suspects) admit(lane string, first stored, underWay int, now time.Time) bool {
	level := first.suspicion()
	if level == unsuspected {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.running != "":
		if !slices.Contains(s.waiting, lane) {
			s.waiting = append(s.waiting, lane)
		}
		return false
	case level == suspected:
	case underWay > 0 && !s.hasWaited(lane, now):
		s.wantAlone(lane, now)
		return false
	case underWay == 0:
		s.aloneUntil = now.Add(aloneFor * time.Duration(min(max(1, first.lost), longestAlone)))
	}
	s.running = lane
	s.dropLocked(lane, now)
	return true
}

// hasWaited reports whether a lane has waited long enough for other runs to end. The caller holds mu.
func (s *suspects) hasWaited(lane string, now time.Time) bool {
	return len(s.alone) > 0 && s.alone[0] == lane && !now.Before(s.since.Add(drainFor))
}

// wantAlone notes that the suspect of a lane is to run alone. The caller holds mu.
func (s *suspects) wantAlone(lane string, now time.Time) {
	if len(s.alone) == 0 {
		s.since = now
	}
	if !slices.Contains(s.alone, lane) {
		s.alone = append(s.alone, lane)
	}
}

// reserve notes that the suspect of a lane is to run alone, before others begin.
func (s *suspects) reserve(lane string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wantAlone(lane, now)
}

// drop notes that a lane has nothing that waits to run alone.
func (s *suspects) drop(lane string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropLocked(lane, now)
}

// dropLocked is drop for a caller that holds mu.
func (s *suspects) dropLocked(lane string, now time.Time) {
	s.alone = slices.DeleteFunc(s.alone, func(name string) bool { return name == lane })
	s.since = now
}

// end ends the run of a lane's suspect, if it has one, and returns the lanes that waited for that.
func (s *suspects) end(lane string, now time.Time) (waited []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != lane {
		return nil
	}
	waited = s.waiting
	s.running, s.aloneUntil, s.since, s.waiting = "", time.Time{}, now, nil
	return waited
}

// isDraining reports whether a suspect waits for other runs to end.
func (s *suspects) isDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running == "" && len(s.alone) > 0
}

// enter enters a lane for its first event, beside so many that are under way, unless the event is a suspect
// that must wait or Config.Enter refuses the lane.
func (b *Inbox) enter(lane string, first stored, underWay int) (leave func(), ok bool) {
	if !b.suspects.admit(lane, first, underWay, b.config.Env.Now()) {
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
	for _, waited := range b.suspects.end(lane, b.config.Env.Now()) {
		b.feed.isFree(waited)
	}
}

// takeOnly takes the lane whose suspect is to run alone, once nothing else is under way. It returns true while
// no other lane may be taken.
func (s *shared) takeOnly(ctx context.Context, now time.Time, want want, taken *[]work) (isOnly bool, err error) {
	for {
		only, isOnly := s.suspects.only(s.config.Env.Now())
		if !isOnly || only == "" || s.busy.count() > 0 {
			return isOnly, nil
		}
		if want.take(keyOf(only)) {
			if err := s.takeFound(ctx, only, now, want, taken); err != nil {
				return true, err
			}
		}
		s.suspects.drop(only, s.config.Env.Now())
	}
}
