// Package blame finds the run that kills its process, without harm to the runs next to it.
//
// If a process dies with a single run, that run has failed. If it dies with several runs, any of them may have killed
// it: all become suspects, but do not count as failed. [Suspects] admits one suspect at a time, next to other runs. A
// suspect that is lost again runs with nothing else in its process, so the next loss proves it guilty.
package blame

import (
	"slices"
	"sync"
	"time"
)

// Level is a level of suspicion.
type Level int

// The levels of suspicion.
const (
	None Level = iota
	// A Suspect runs next to other runs, but never next to another suspect. A Strong suspect runs alone.
	Suspect
	Strong
)

// LevelOf returns the level after a number of losses.
func LevelOf(losses int64) Level { return Level(min(max(0, losses), int64(Strong))) }

const (
	// drainFor is the maximum time without new runs while a suspect waits to run alone. If other
	// runs take longer, it runs next to them.
	drainFor = 10 * time.Second
	// aloneFor is the maximum time without new runs while a suspect runs alone. It grows with each loss, to catch
	// runs that only kill their process after a long time.
	aloneFor = time.Minute
	// longestAlone is the maximum factor by which aloneFor grows.
	longestAlone = 60
	// suspectFor is the maximum time without other suspects while a suspect runs. It grows with each loss. It is
	// twice the default time limit of a run, because runs may end late.
	suspectFor = 2 * aloneFor
	// An app keeps its turn for askedFor after its last request.
	askedFor = 10 * time.Second
)

// Run is a run that asks for admission.
type Run struct {
	// Name identifies the run. Runs with the same name never overlap.
	Name string
	// App takes turns with other apps. Runs without an app are admitted in the order of their requests.
	App   string
	Level Level
	// Losses is the number of times that the run was lost.
	Losses int64
}

// longer returns d multiplied by the number of losses.
func (r Run) longer(d time.Duration) time.Duration {
	return time.Duration(min(max(1, r.Losses), longestAlone) * int64(d))
}

// Suspects decides when suspects run in a process. The zero value is ready to use. It is safe for
// concurrent use.
type Suspects struct {
	mu sync.Mutex
	// running is the running suspect, or "" if there is none. From overdueAt on it no longer counts. If it runs
	// alone, aloneSince is its start, and nothing else starts before aloneUntil.
	running                           string
	overdueAt, aloneSince, aloneUntil time.Time
	// alone are the suspects that wait to run alone, in order. While there are any, nothing else starts from
	// since on, for up to drainFor. since may be in the future, to give other runs their time.
	alone []string
	since time.Time
	// waiting are the suspects that wait for the end of the current one.
	waiting []string
	// turns are the apps with waiting suspects, in the order of their turns.
	turns []turn
}

// turn is an app with a waiting suspect, and the time of its last request.
type turn struct {
	app string
	at  time.Time
}

// Only reports whether other runs must wait for a suspect. If so, only the named run may start, or none if
// name is "".
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

// Admit reports whether a run may start next to underWay others. If it returns true for a suspect, the caller must
// call End.
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

// passOverdue stops waiting for an overdue suspect, which may never end. From then on it may run at the same
// time as the next suspect, so neither counts as alone. The caller holds mu.
func (s *Suspects) passOverdue(now time.Time) {
	if s.running != "" && !now.Before(s.overdueAt) {
		s.running, s.aloneSince, s.aloneUntil = "", time.Time{}, time.Time{}
		s.start(now)
	}
}

// hasTurn reports whether it is the app's turn. Apps that no longer ask lose theirs. The caller holds mu.
func (s *Suspects) hasTurn(app string, now time.Time) bool {
	s.turns = slices.DeleteFunc(s.turns, func(t turn) bool { return now.Sub(t.at) >= askedFor })
	return app == "" || len(s.turns) == 0 || s.turns[0].app == app
}

// wait adds a suspect that waits for the current one. A suspect that waits for the end of its earlier run takes no
// further turn. The caller holds mu.
func (s *Suspects) wait(r Run, now time.Time) {
	if !slices.Contains(s.waiting, r.Name) {
		s.waiting = append(s.waiting, r.Name)
	}
	if r.App == "" || r.Name == s.running {
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

// wantAlone adds a suspect that must run alone. The caller holds mu.
func (s *Suspects) wantAlone(name string, now time.Time) {
	if len(s.alone) > 0 && s.alone[0] != name && !now.Before(s.since.Add(2*drainFor)) {
		s.alone = s.alone[1:] // The first suspect no longer asks: it was removed, or another process has it.
		s.start(now)
	}
	if len(s.alone) == 0 {
		s.start(now)
	}
	if !slices.Contains(s.alone, name) {
		s.alone = append(s.alone, name)
	}
}

// start sets since to now, unless since is already later. The caller holds mu.
func (s *Suspects) start(now time.Time) {
	if s.since.Before(now) {
		s.since = now
	}
}

// Reserve makes other runs wait until a suspect has run alone.
func (s *Suspects) Reserve(name string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wantAlone(name, now)
}

// Drop removes a run from the queue of suspects that wait to run alone.
func (s *Suspects) Drop(name string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(name, now)
}

// drop is like Drop for callers that hold mu.
func (s *Suspects) drop(name string, now time.Time) {
	s.alone = slices.DeleteFunc(s.alone, func(other string) bool { return other == name })
	s.start(now)
}

// End ends a run. It returns the suspects that waited for it, or nil if the run was overdue, because another suspect
// may be running. After a run that was alone, other runs get as much time as it took before they must wait for the
// next suspect.
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

// IsWaiting reports whether any suspect waits.
func (s *Suspects) IsWaiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.alone) > 0 || len(s.waiting) > 0
}
