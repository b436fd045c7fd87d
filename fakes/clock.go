package fakes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
)

// Start is the time at which a platform begins: a Thursday, at midnight in UTC.
func Start() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// clock is a virtual clock. It stands still unless it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// advance moves the clock forward.
func (c *clock) advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// moveTo moves the clock forward to a time, and reports whether it was not there yet.
func (c *clock) moveTo(to time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !to.After(c.now) {
		return false
	}
	c.now = to.UTC()
	return true
}

// hurry is the factor by which a pause is shorter than in reality.
const hurry = 50

// pause waits for a while, or until ctx ends. It lets others go on in the meantime, so it takes
// some real time as well.
func (c *clock) pause(ctx context.Context, d time.Duration) {
	over := c.Now().Add(d)
	timer := time.NewTimer(d / hurry)
	defer timer.Stop()
	select {
	case <-timer.C:
		c.moveTo(over)
	case <-ctx.Done():
	}
}

// hurrying and skipping return how to wait for a while by a clock: pause, or without real time.
func hurrying(by *clock) func(ctx context.Context, d time.Duration) { return by.pause }

func skipping(by *clock) func(ctx context.Context, d time.Duration) {
	return func(ctx context.Context, d time.Duration) {
		if ctx.Err() == nil {
			by.advance(max(0, d))
		}
	}
}

func (c *clock) set(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = to.UTC()
}

// Now returns the virtual time.
func (p *Platform) Now() time.Time { return p.clock.Now() }

// Advance moves the virtual time forward. Agendas that fall due on the way run at their
// time, one after the other: the earlier time first, and of those that are due at the
// same time the smaller priority, then the earlier nextRunAt, then the one that was made
// first. What they schedule, change or delete counts at once. Events of payment accounts are
// delivered at their time, too, see Account, and what Runtime.Accept keeps is run, or tried again, at
// its time, before agendas of the same time. Nothing sleeps. Advance(0) runs what is due
// already. After Crash the time moves, and nothing runs.
//
// A run that fails ends the test when the time has moved; TryAdvance returns its error
// instead. A run that fails is tried again by the rules of the scheduler. Agendas that
// schedule each other without end, so that the time cannot go on, end the test as well, and so do events that cause each other.
//
// One goroutine moves the time, and no run does.
func (p *Platform) Advance(by time.Duration) {
	p.test.Helper()
	if err := butForCrash(p.TryAdvance(by)); err != nil {
		p.test.Fatalf("fakes: Advance(%v): %v%s", by, err, framesOf(err))
	}
}

// AdvanceTo is Advance to a time.
func (p *Platform) AdvanceTo(to time.Time) {
	p.test.Helper()
	now := p.Now()
	by := to.Sub(now)
	if by < 0 {
		p.test.Fatalf("fakes: time does not go back: AdvanceTo(%v), and it is %v", to, now)
		return
	}
	if by > 0 && !now.Add(by).Equal(to) {
		p.test.Fatalf("fakes: AdvanceTo(%v) is more than %v away: go there in several steps", to, by)
		return
	}
	p.Advance(by)
}

// TryAdvance is Advance, and returns the errors of the runs that fail, joined: ErrCrashed if the process
// crashed on the way, which Advance accepts as intended by the test.
func (p *Platform) TryAdvance(by time.Duration) error {
	p.test.Helper()
	if by < 0 {
		p.test.Fatalf("fakes: time does not go back: Advance(%v)", by)
		return nil
	}
	at := p.process.Load()
	if !at.moving.TryLock() {
		p.test.Fatalf("fakes: Advance(%v) while the time moves already: runs cannot move it, and one goroutine does", by)
		return nil
	}
	defer at.moving.Unlock()
	from := p.Now()
	to := from.Add(by)
	p.notef("time moves by %v", by)
	err := p.runUntil(at, to)
	p.clock.moveTo(to)
	p.forgetDone(at, from)
	return err
}

// forgetDone removes the marks of accepted events that were done long ago, each hour as inbox.Inbox.Run does.
func (p *Platform) forgetDone(at *process, since time.Time) {
	if at.err() != nil || p.Now().Truncate(time.Hour).Equal(since.Truncate(time.Hour)) {
		return
	}
	if err := at.runtime.RemoveOld(at.life); err != nil {
		p.noteDetailf("what was handled long ago is still remembered: %v", err)
	}
}

// Beyond these numbers a loop counts as endless: generations at one instant, runs in one move of
// the time, and events in one move that neither waited when it began nor belong to a run.
const (
	maxGenerations = 1000
	maxRuns        = 5_000_000
	maxEvents      = 20_000
)

// runUntil runs what falls due up to a time, that time included.
func (p *Platform) runUntil(at *process, to time.Time) error {
	if at.isDead.Load() {
		return nil // There is no process to run anything.
	}
	var failures []error
	pace := pace{waiting: p.payments.waiting()}
	for isOver := false; !isOver; {
		var err error
		isOver, err = p.runFirst(at, to, &pace)
		if at.err() != nil {
			isOver, err = true, errCrashed()
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// runFirst runs the next due event or agenda, if it is due by the given time. It reports whether the time
// stops moving: there is nothing more, or the rest cannot run.
func (p *Platform) runFirst(at *process, to time.Time, pace *pace) (isOver bool, err error) {
	limit := later(to, p.Now()) // A run may have taken the clock further.
	agendas, err := nextBy(at.life, limit, at.runtime.NextAgenda)
	if err != nil {
		return true, err
	}
	accepted, err := nextBy(at.life, limit, at.runtime.NextEvent)
	if err != nil {
		return true, err
	}
	if pace.isHeldUp && !accepted.After(p.Now()) {
		accepted = limit.Add(1)
	}
	first := earlier(accepted, agendas)
	switch {
	case p.payments.isDue(limit) && p.payments.isDue(first):
		pace.isHeldUp = false
		failed := p.deliverNext(p.contextIn(at), pace)
		endless := pace.checkEvents(p.Now())
		return endless != nil, errors.Join(failed, endless)
	case first.After(limit):
		return true, nil
	}
	if p.clock.moveTo(first) {
		pace.instant()
	}
	if accepted.Equal(first) {
		ran, failed := p.runAccepted(at, &pace.accepted)
		pace.isHeldUp = !ran
		return false, failed
	}
	pace.isHeldUp = false
	return p.runAgenda(at, pace)
}

// nextBy returns when the next thing can run that waits, and a time after the limit if there is none.
func nextBy(
	ctx context.Context, limit time.Time, next func(ctx context.Context) (at time.Time, ok bool, err error),
) (time.Time, error) {
	at, ok, err := next(ctx)
	if err == nil && !ok {
		at = limit.Add(1)
	}
	return at, err
}

// runAgenda runs the first agenda that is due, and reports whether the time stops moving.
func (p *Platform) runAgenda(at *process, pace *pace) (isOver bool, err error) {
	if err := pace.agendas.next(func() (int, error) { return at.runtime.DueAgendas(at.life) }); err != nil {
		return true, err
	}
	pace.runs++
	done, isPostponed, failed := p.runNext(p.contextIn(at), at.runtime)
	if !isPostponed && pace.isEndless() {
		return true, errors.Join(failed, p.endless(pace.runs, done))
	}
	return isPostponed, failed
}

// endless is the error of agendas that schedule each other without end.
func (p *Platform) endless(runs int, last agenda.Agenda) error {
	return fmt.Errorf("the agendas schedule each other without end: %d have run, the last one at %s, node %s for member %s",
		runs, p.Now().Format(time.RFC3339Nano), last.NodeCompositeID, last.Member)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// generations tell an endless loop from much work at one instant: what is due when it begins is the
// first, what that brings about at the same instant the next.
type generations struct {
	// number is the number of the present one, left the part of it that is still to run.
	number, left int
}

// next counts the run that follows. due returns how much waits.
func (g *generations) next(due func() (int, error)) error {
	if g.left == 0 {
		waiting, err := due()
		if err != nil {
			return err
		}
		g.number, g.left = g.number+1, max(1, waiting)
	}
	g.left--
	return nil
}

// isEndless reports whether there were more than loops with an end have.
func (g *generations) isEndless() bool { return g.number > maxGenerations }

// pace tells an endless loop from much work.
type pace struct {
	// runs is the number of all runs of agendas.
	runs int
	// agendas and accepted are the generations of agendas and of accepted events.
	agendas, accepted generations
	// isHeldUp is true if no accepted event could run now, until something else has run.
	isHeldUp bool
	// waiting counts the events that were waiting when the time began to move, events the ones delivered
	// since.
	waiting, events int
}

// instant begins another instant.
func (p *pace) instant() { p.agendas, p.accepted = generations{}, generations{} }

// isEndless reports whether there were more than loops with an end have.
func (p *pace) isEndless() bool { return p.agendas.isEndless() || p.runs > maxRuns }

// checkEvents returns an error if there were so many events that they count as an endless loop.
func (p *pace) checkEvents(now time.Time) error {
	if p.events-p.waiting-p.runs <= maxEvents {
		return nil
	}
	return fmt.Errorf("the events of payment accounts cause each other without end: %d were delivered, the last one at %s",
		p.events, now.Format(time.RFC3339Nano))
}

// runNext runs the first agenda that is due, and returns it, whether it was postponed, and
// why it failed.
func (p *Platform) runNext(
	ctx context.Context, runtime *botctx.Runtime,
) (ran agenda.Agenda, isPostponed bool, err error) {
	result, err := runtime.RunNextAgenda(ctx)
	if err != nil || !result.Ran {
		return agenda.Agenda{}, false, err
	}
	ran = result.Run.Agenda
	switch {
	case result.Postponed:
		return ran, true, fmt.Errorf("agenda %s could not run, since a run of member %s is under way: actions do not move the time",
			ran.ID, ran.Member)
	case result.Relocated:
		p.notef("agenda %s waits until %s, for which it is due in the time zone of %s", ran.ID, result.Next.Format(time.RFC3339), ran.Member)
		return ran, false, nil
	case result.Err == nil:
		p.notef("agenda %s ran: node %s for %s", ran.ID, ran.NodeCompositeID, ran.Member)
		return ran, false, nil
	}
	p.notef("agenda %s failed, attempt %d: node %s for %s: %v%s",
		ran.ID, result.Run.Attempt, ran.NodeCompositeID, ran.Member, result.Err, framesOf(result.Err))
	return ran, false, fmt.Errorf("agenda %s for member %s, attempt %d: %w", ran.ID, ran.Member, result.Run.Attempt, result.Err)
}
