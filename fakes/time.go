package fakes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/agenda"
)

// Now returns the virtual time.
func (p *Platform) Now() time.Time { return p.clock.Now() }

// Advance moves the virtual time forward. Agendas that fall due on the way run at their
// time, one after the other: the earlier time first, and of those that are due at the
// same time the smaller priority, then the earlier nextRunAt, then the one that was made
// first. What they schedule, change or delete counts at once. Events of payment accounts are
// delivered at their time, too, see Account. Nothing sleeps. Advance(0) runs what is due
// already.
//
// A run that fails ends the test when the time has moved; TryAdvance returns its error
// instead. A run that fails is tried again by the rules of the scheduler. Agendas that
// schedule each other without end, so that the time cannot go on, end the test as well, and so do events that cause each other.
//
// One goroutine moves the time, and no run does.
func (p *Platform) Advance(by time.Duration) {
	p.test.Helper()
	if err := p.TryAdvance(by); err != nil {
		p.test.Fatalf("fakes: Advance(%v): %v%s", by, err, framesOf(err))
	}
}

// AdvanceTo is Advance to a time.
func (p *Platform) AdvanceTo(to time.Time) {
	p.test.Helper()
	p.Advance(to.Sub(p.Now()))
}

// TryAdvance is Advance, and returns the errors of the runs that fail, joined.
func (p *Platform) TryAdvance(by time.Duration) error {
	p.test.Helper()
	if by < 0 {
		p.test.Fatalf("fakes: time does not go back: Advance(%v)", by)
		return nil
	}
	if !p.moving.TryLock() {
		p.test.Fatalf("fakes: Advance(%v) while the time moves already: runs cannot move it, and one goroutine does", by)
		return nil
	}
	defer p.moving.Unlock()
	to := p.Now().Add(by)
	p.notef("time moves by %v", by)
	err := p.runUntil(context.Background(), to)
	p.clock.moveTo(to)
	return err
}

// Beyond these numbers a loop counts as endless: generations at one instant, runs in one move of
// the time, and events in one move that neither waited when it began nor belong to a run.
const (
	maxGenerations = 1000
	maxRuns        = 5_000_000
	maxEvents      = 20_000
)

// runUntil runs what falls due up to a time, that time included.
func (p *Platform) runUntil(ctx context.Context, to time.Time) error {
	var failures []error
	pace := pace{waiting: p.payments.waiting()}
	for isOver := false; !isOver; {
		var err error
		isOver, err = p.runFirst(ctx, to, &pace)
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// runFirst runs what falls due first, where that is no later than a time. It reports
// whether the time stops moving: there is nothing more, or what there is cannot run.
func (p *Platform) runFirst(ctx context.Context, to time.Time, pace *pace) (isOver bool, err error) {
	scheduler := p.runtime.Scheduler()
	at, ok, err := scheduler.Next(ctx)
	if err != nil {
		return true, err
	}
	limit := later(to, p.Now()) // A run may have taken the clock further.
	if !ok {
		at = limit.Add(1)
	}
	if p.payments.isDue(limit) && p.payments.isDue(at) {
		failed := p.deliverNext(ctx, pace)
		endless := pace.checkEvents(p.Now())
		return endless != nil, errors.Join(failed, endless)
	}
	if at.After(limit) {
		return true, nil
	}
	if p.clock.moveTo(at) {
		pace.instant()
	}
	if err := pace.next(ctx, scheduler); err != nil {
		return true, err
	}
	done, isPostponed, failed := p.runNext(ctx, scheduler)
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

// later returns the later one of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// pace tells an endless loop from much work. It counts generations at an instant: the agendas that
// are due when it begins are the first, those that they schedule for the same instant the next.
type pace struct {
	// runs is the number of all runs.
	runs int
	// generation is the number of the present one, left how many of its agendas are still to run.
	generation, left int
	// waiting is how many events were waiting when the time began to move, events how many were
	// delivered since.
	waiting, events int
}

// instant begins another instant.
func (p *pace) instant() { p.generation, p.left = 0, 0 }

// next counts the run that follows.
func (p *pace) next(ctx context.Context, scheduler *agenda.Scheduler) error {
	if p.left == 0 {
		due, err := scheduler.Due(ctx)
		if err != nil {
			return err
		}
		p.generation, p.left = p.generation+1, due
	}
	p.left--
	p.runs++
	return nil
}

// isEndless reports whether there were more than loops with an end have.
func (p *pace) isEndless() bool { return p.generation > maxGenerations || p.runs > maxRuns }

// checkEvents returns an error where there were so many events that they count as an endless loop.
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
	ctx context.Context, scheduler *agenda.Scheduler,
) (ran agenda.Agenda, isPostponed bool, err error) {
	result, err := scheduler.RunNext(ctx)
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
