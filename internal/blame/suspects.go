// Package blame finds the run that ends its process, without harm to the runs beside it.
//
// A run that was lost with its process, and with nothing beside it, has failed. Of several, nobody knows
// which one ended the process: all become suspects, without a failure. [Suspects] runs suspects one at a
// time, beside other runs. One that was lost again runs with nothing else in its process, and the next loss
// shows whether it is the guilty one.
package blame

import (
	"slices"
	"sync"
	"time"
)

// Level is how much a run is suspected to end its process.
type Level int

// The levels of suspicion.
const (
	None Level = iota
	// Suspect is the level of runs that go one at a time, Strong that of runs that go alone.
	Suspect
	Strong
)

// LevelOf returns the level of a run that was lost so often.
func LevelOf(losses int64) Level { return Level(min(max(0, losses), int64(Strong))) }

const (
	// drainFor is how long nothing begins, at most, before a suspect that is to run alone does. If other
	// runs take longer than that, it runs beside them.
	drainFor = 10 * time.Second
	// aloneFor is how long nothing begins, at most, beside a suspect that runs alone. After each loss it
	// is longer by as much, so that a run that takes long before it ends its process is found, too.
	aloneFor = time.Minute
	// longestAlone is how many times as long that is at most.
	longestAlone = 60
	// suspectFor is how long no other suspect begins, at most, beside one that runs, and as much longer after
	// each loss: twice what a run may take by default, for one that ends late.
	suspectFor = 2 * aloneFor
	// askedFor is how long an app keeps its turn that asked for it, and does not ask again.
	askedFor = 10 * time.Second
)

// Run is a run that is to begin.
type Run struct {
	// Name tells it from others. Runs of one name never overlap.
	Name string
	// App is whose turn it takes among suspects. Runs without one are admitted in the order in which they ask.
	App   string
	Level Level
	// Losses is how often it was lost.
	Losses int64
}

// longer returns a time that grows with each loss of the run.
func (r Run) longer(d time.Duration) time.Duration {
	return time.Duration(min(max(1, r.Losses), longestAlone) * int64(d))
}

// Suspects decides when suspects run in a process. The zero Suspects is ready, and safe for concurrent use.
type Suspects struct {
	mu sync.Mutex
	// running is the suspect that runs, "" if none does, or if the last one should have ended by overdueAt.
	// Nothing begins beside it before aloneUntil, if it began to run alone at aloneSince.
	running                           string
	overdueAt, aloneSince, aloneUntil time.Time
	// alone are the suspects that are to run alone, the next one first. Nothing else begins since since,
	// which may be later: until then other runs have their time.
	alone []string
	since time.Time
	// waiting are suspects that wait until another one has ended.
	waiting []string
	// turns are the apps whose suspects wait, the next one first.
	turns []turn
}

// turn is an app whose suspect waits, and when it last asked.
type turn struct {
	app string
	at  time.Time
}

// Only reports whether at most one run may begin, and which: "" if none may.
func (s *Suspects) Only(now time.Time) (name string, isOnly bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passOverdue(now)
	switch {
	case s.running != "":
		return "", now.Before(s.aloneUntil)
	case len(s.alone) > 0 && !now.Before(s.since) && now.Before(s.since.Add(drainFor)):
		return s.alone[0], true
	default:
		return "", false
	}
}

// Admit reports whether a run may begin, beside so many that are under way. If it may and it is a suspect,
// End must be called.
func (s *Suspects) Admit(r Run, underWay int, now time.Time) bool {
	if r.Level == None {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passOverdue(now)
	switch {
	case s.running != "" || !s.hasTurn(r.App, now):
		s.wait(r, now)
		return false
	case r.Level == Suspect:
	case now.Before(s.since), underWay > 0 && !s.hasWaited(r.Name, now):
		s.wantAlone(r.Name, now)
		return false
	case underWay == 0:
		s.aloneSince = now
		s.aloneUntil = now.Add(r.longer(aloneFor))
	}
	s.running, s.overdueAt = r.Name, now.Add(r.longer(suspectFor))
	s.turns = slices.DeleteFunc(s.turns, func(t turn) bool { return t.app == r.App })
	s.drop(r.Name, now)
	return true
}

// passOverdue has no suspect wait any longer for one that has not ended in time, since it may never end. The process
// has both under way then: if it dies, none of them was lost alone. The caller holds mu.
func (s *Suspects) passOverdue(now time.Time) {
	if s.running != "" && !now.Before(s.overdueAt) {
		s.running, s.aloneSince, s.aloneUntil = "", time.Time{}, time.Time{}
		s.start(now)
	}
}

// hasTurn reports whether a suspect of an app may be the next one. The caller holds mu.
func (s *Suspects) hasTurn(app string, now time.Time) bool {
	s.turns = slices.DeleteFunc(s.turns, func(t turn) bool { return now.Sub(t.at) >= askedFor })
	return app == "" || len(s.turns) == 0 || s.turns[0].app == app
}

// wait notes a suspect that waits until another one has ended. The caller holds mu.
func (s *Suspects) wait(r Run, now time.Time) {
	if !slices.Contains(s.waiting, r.Name) {
		s.waiting = append(s.waiting, r.Name)
	}
	if r.App == "" {
		return
	}
	at := slices.IndexFunc(s.turns, func(t turn) bool { return t.app == r.App })
	if at < 0 {
		s.turns = append(s.turns, turn{r.App, now})
	} else {
		s.turns[at].at = now
	}
}

// hasWaited reports whether a suspect has waited long enough for other runs to end. The caller holds mu.
func (s *Suspects) hasWaited(name string, now time.Time) bool {
	return len(s.alone) > 0 && s.alone[0] == name && !now.Before(s.since.Add(drainFor))
}

// wantAlone notes that a suspect is to run alone. The caller holds mu.
func (s *Suspects) wantAlone(name string, now time.Time) {
	if len(s.alone) > 0 && s.alone[0] != name && !now.Before(s.since.Add(2*drainFor)) {
		s.alone = s.alone[1:] // Nobody asks for it any more: it was removed, or another process has it.
		s.start(now)
	}
	if len(s.alone) == 0 {
		s.start(now)
	}
	if !slices.Contains(s.alone, name) {
		s.alone = append(s.alone, name)
	}
}

// start has the next suspect that is to run alone wait for other runs from a time on, unless that is later
// already. The caller holds mu.
func (s *Suspects) start(now time.Time) {
	if s.since.Before(now) {
		s.since = now
	}
}

// Reserve notes that a suspect is to run alone, before others begin.
func (s *Suspects) Reserve(name string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wantAlone(name, now)
}

// Drop notes that a run does not wait to run alone.
func (s *Suspects) Drop(name string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(name, now)
}

// drop is Drop for a caller that holds mu.
func (s *Suspects) drop(name string, now time.Time) {
	s.alone = slices.DeleteFunc(s.alone, func(other string) bool { return other == name })
	s.start(now)
}

// End ends a run, and returns the suspects that waited for that: none if it is overdue and another one may run
// already. If it ran alone, other runs have as much
// time as it took before the next suspect that is to run alone keeps them waiting.
func (s *Suspects) End(name string, now time.Time) (waited []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != name {
		return nil
	}
	waited = s.waiting
	s.since = now
	if !s.aloneSince.IsZero() {
		s.since = now.Add(now.Sub(s.aloneSince))
	}
	s.running, s.aloneSince, s.aloneUntil, s.waiting = "", time.Time{}, time.Time{}, nil
	return waited
}

// IsDraining reports whether a suspect waits for other runs to end.
func (s *Suspects) IsDraining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running == "" && len(s.alone) > 0
}

// IsWaiting reports whether suspects wait, for other runs or for each other.
func (s *Suspects) IsWaiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.alone) > 0 || len(s.waiting) > 0
}
