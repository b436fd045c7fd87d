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

// Start returns the time at which a platform's clock starts by default: Thursday, 1 January 2026, midnight UTC.
func Start() time.Time { return time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC) }

// clock is a virtual clock. It changes only when it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// moveTo moves the clock forward to a time, and reports false if it was already there.
func (c *clock) moveTo(to time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !to.After(c.now) {
		return false
	}
	c.now = to.UTC()
	return true
}

// hurry is the ratio of virtual to real time in a pause.
const hurry = 50

// pause waits for d of virtual time, or until ctx ends. It also takes some real time, in which other
// goroutines run.
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

// hurrying and skipping return functions that pause by a clock. hurrying takes some real time, skipping none.
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

// Advance moves the virtual time forward. Agendas that fall due on the way run at their time, one after the
// other. Agendas due at the same time run in the order of their priority (smaller first), then of their
// nextRunAt, then of their creation. If a run schedules, changes or deletes agendas, that applies at once.
// Events of payment accounts (see Account) are delivered at their time. Events that Runtime.Accept keeps are
// run or tried again at their time, before agendas of the same time. Nothing sleeps. Advance(0) runs
// everything that is already due. After Crash the time moves, and nothing runs.
//
// A failed run ends the test once the time has moved; TryAdvance returns its error instead. The scheduler's
// rules decide when a failed run is tried again. Agendas or events that cause each other without end, so that
// the time could not advance, end the test as well.
//
// Advance must be called by one goroutine at a time, and never by a run.
func (p *Platform) Advance(by time.Duration) {
	p.test.Helper()
	if err := butForCrash(p.TryAdvance(by)); err != nil {
		p.test.Fatalf("fakes: Advance(%v): %v%s", by, err, framesOf(err))
	}
}

// AdvanceTo is Advance to a time. It ends the test if the clock is already later.
func (p *Platform) AdvanceTo(to time.Time) {
	p.test.Helper()
	now := p.Now()
	by := to.Sub(now)
	if by < 0 {
		p.test.Fatalf("fakes: AdvanceTo(%v): the time is %v already, and does not go back", to, now)
		return
	}
	if by > 0 && !now.Add(by).Equal(to) {
		p.test.Fatalf("fakes: AdvanceTo(%v) is more than %v away: go there in several steps", to, by)
		return
	}
	p.Advance(by)
}

// TryAdvance is like Advance, but returns the joined errors of failed runs. The error is ErrCrashed if the
// process crashed on the way, which Advance accepts as intended by the test.
func (p *Platform) TryAdvance(by time.Duration) error {
	p.test.Helper()
	if by < 0 {
		p.test.Fatalf("fakes: Advance(%v): the time does not go back; give a positive duration or 0", by)
		return nil
	}
	at := p.process.Load()
	if !at.moving.TryLock() {
		p.test.Fatalf("fakes: Advance(%v) during another Advance: call it from one goroutine, and never from a run", by)
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

// forgetDone removes the records of old handled events each hour, as inbox.Inbox.Run does.
func (p *Platform) forgetDone(at *process, since time.Time) {
	if at.err() != nil || p.Now().Truncate(time.Hour).Equal(since.Truncate(time.Hour)) {
		return
	}
	if err := at.runtime.RemoveOld(at.life); err != nil {
		p.noteDetailf("what was handled long ago is still remembered: %v", err)
	}
}

// Limits above which a loop counts as endless: generations at one instant, runs of agendas in one advance,
// and events in one advance beyond those that waited at its start or belong to a run.
const (
	maxGenerations = 1000
	maxRuns        = 5_000_000
	maxEvents      = 20_000
)

// runUntil runs everything due up to and including a time.
func (p *Platform) runUntil(at *process, to time.Time) error {
	if at.isDead.Load() {
		return nil // No process can run anything.
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

// runFirst runs the next event or agenda if it is due by the given time. isOver is true if nothing more can
// run.
func (p *Platform) runFirst(at *process, to time.Time, pace *pace) (isOver bool, err error) {
	limit := later(to, p.Now()) // A run may have moved the clock beyond to.
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

// nextBy returns the time at which the next waiting event or agenda can run, or a time after the limit if
// there is none.
func nextBy(
	ctx context.Context, limit time.Time, next func(ctx context.Context) (at time.Time, ok bool, err error),
) (time.Time, error) {
	at, ok, err := next(ctx)
	if err == nil && !ok {
		at = limit.Add(1)
	}
	return at, err
}

// runAgenda runs the first due agenda. isOver is true if nothing more can run.
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

// endless returns the error for agendas that schedule each other without end.
func (p *Platform) endless(runs int, last agenda.Agenda) error {
	return fmt.Errorf("the agendas schedule each other endlessly: %d have run, the last one at %s, node %s for member %s",
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

// generations distinguishes an endless loop from much work at one instant. The first generation is everything
// due at its start; each later one is everything that the generation before made due at the same instant.
type generations struct {
	// number is the number of the current generation. left is the number of its runs still to come.
	number, left int
}

// next counts the run that follows. due returns the number of waiting runs.
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

// isEndless reports whether there were so many generations that the loop counts as endless.
func (g *generations) isEndless() bool { return g.number > maxGenerations }

// pace distinguishes an endless loop from much work.
type pace struct {
	// runs is the number of all runs of agendas.
	runs int
	// agendas and accepted are the generations of agendas and of accepted events.
	agendas, accepted generations
	// isHeldUp is true while no accepted event can run until something else has run.
	isHeldUp bool
	// waiting is the number of events that waited when the time began to move. events is the number delivered
	// since.
	waiting, events int
}

// instant starts counting the generations of a new instant.
func (p *pace) instant() { p.agendas, p.accepted = generations{}, generations{} }

// isEndless reports whether there were so many generations or runs that the loop counts as endless.
func (p *pace) isEndless() bool { return p.agendas.isEndless() || p.runs > maxRuns }

// checkEvents returns an error if so many events were delivered that they count as an endless loop.
func (p *pace) checkEvents(now time.Time) error {
	if p.events-p.waiting-p.runs <= maxEvents {
		return nil
	}
	return fmt.Errorf("the events of payment accounts cause each other endlessly: %d were delivered, the last one at %s",
		p.events, now.Format(time.RFC3339Nano))
}

// runNext runs the first due agenda. It returns the agenda, whether it was postponed, and the error of a
// failed run.
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
		return ran, true, fmt.Errorf("agenda %s could not run during a run of member %s: do not move the time in an action",
			ran.ID, ran.Member)
	case result.Relocated:
		p.notef("agenda %s waits until %s, for which it is due in the time zone of %s", ran.ID, result.Next.Format(time.RFC3339), ran.Member)
		return ran, false, nil
	case result.Err == nil:
		p.note("agenda " + ran.ID + " ran: node " + ran.NodeCompositeID + " for " + ran.Member)
		return ran, false, nil
	}
	p.notef("agenda %s failed, attempt %d: node %s for %s: %v%s",
		ran.ID, result.Run.Attempt, ran.NodeCompositeID, ran.Member, result.Err, framesOf(result.Err))
	return ran, false, fmt.Errorf("agenda %s for member %s, attempt %d: %w", ran.ID, ran.Member, result.Run.Attempt, result.Err)
}
