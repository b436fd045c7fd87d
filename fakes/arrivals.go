package fakes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/send"
)

// WithInbox makes the platform pass the messages of members and agents to Runtime.Accept, like a connector
// that acknowledges an event once it is durable. Says still waits until the bot has answered. But a message
// whose run fails is tried again by Advance, and the member's later messages wait for it; a message that the
// platform repeats is not run again; and a run interrupted by a crash is run by Advance after Restart.
//
// Without WithInbox, messages go to Runtime.Receive, and a message that is not answered at once is lost.
func WithInbox() Option { return func(s *settings) { s.hasInbox = true } }

func (p *Platform) fillIn(event send.MessageEvent, from, to string) send.MessageEvent {
	event.From, event.To = cmp.Or(event.From, from), cmp.Or(event.To, to)
	if event.Timestamp.IsZero() {
		event.Timestamp = document.TimestampOf(p.Now())
	}
	if event.MessageID == "" {
		event.MessageID = p.ids.next("inbound")
	}
	return event
}

// arrives delivers an event to the bot and returns the error of a failed run.
func (p *Platform) arrives(inbound botctx.Inbound) error {
	p.outbox.noteSaid(inbound)
	return p.twice(part{ServiceMessages, inbound.App, inbound.Channel}, func() error { return p.runs(inbound) })
}

// runs delivers an event once, without planned repetitions.
func (p *Platform) runs(inbound botctx.Inbound) error {
	at := p.process.Load()
	err := at.err()
	switch {
	case err != nil:
	case p.settings.hasInbox:
		err = at.runtime.Accept(p.contextIn(at), inbound)
		if err == nil {
			return p.handleAccepted(at)
		}
	default:
		err = at.runtime.Receive(p.contextIn(at), inbound)
	}
	if at.err() != nil {
		return errCrashed()
	}
	if err != nil {
		p.notef("the run failed: %v%s", err, framesOf(err))
	}
	return err
}

// checkIsUp ends the test if an actor writes to a crashed process.
func (p *Platform) checkIsUp(who string) {
	p.test.Helper()
	if p.IsDown() {
		p.test.Fatalf("fakes: %s writes to a process that has crashed: Restart starts it again, and TrySends returns the error", who)
	}
}

// butForCrash returns err without errors caused by a crash, because the test has planned the crash.
func butForCrash(err error) error {
	if all, isJoined := err.(interface{ Unwrap() []error }); isJoined {
		var others []error
		for _, one := range all.Unwrap() {
			others = append(others, butForCrash(one))
		}
		return errors.Join(others...)
	}
	if errors.Is(err, ErrCrashed) {
		return nil
	}
	return err
}

// handleAccepted runs all accepted events that can run now, and returns the joined errors of failed runs.
func (p *Platform) handleAccepted(at *process) error {
	var failures []error
	var loop generations
	for {
		ran, err := p.runAccepted(at, &loop)
		failures = append(failures, err)
		if !ran {
			return errors.Join(failures...)
		}
	}
}

// runAccepted runs the first accepted event that can run now, and reports whether more may follow.
func (p *Platform) runAccepted(at *process, loop *generations) (ran bool, err error) {
	if err := loop.next(at.pending); err != nil {
		return false, orCrash(at, err)
	}
	result, err := at.runtime.RunNextEvent(p.contextIn(at))
	if at.err() != nil {
		return false, errCrashed()
	}
	if !result.Ran {
		return false, err
	}
	failed := p.noteAccepted(result, err)
	if loop.isEndless() {
		return false, errors.Join(failed, fmt.Errorf("accepted events cause each other endlessly: the last one was from %s at %s",
			result.Event.From, p.Now().Format(time.RFC3339Nano)))
	}
	return true, failed
}

// pending returns the number of accepted events that wait.
func (l *process) pending() (int, error) {
	stats, err := l.runtime.InboxStats(l.life)
	return int(stats.Pending), err
}

// orCrash returns err, or ErrCrashed if the process has crashed.
func orCrash(at *process, err error) error {
	if at.err() != nil {
		return errCrashed()
	}
	return err
}

// noteAccepted records the failure of an accepted event in the transcript and returns it. notStored is the
// error from storing the outcome.
func (p *Platform) noteAccepted(result botctx.EventResult, notStored error) error {
	err := errors.Join(result.Err, notStored)
	if err == nil {
		return nil
	}
	then := "it is tried again after its lease"
	switch {
	case notStored != nil:
	case result.IsDead:
		then = "it is a dead letter now"
	default:
		then = "it is tried again at " + result.Next.UTC().Format(time.RFC3339)
	}
	if errors.Is(err, inbox.ErrNeverCameBack) && !result.IsDead {
		p.notef("the run was lost: %s", then)
		return nil // The run failed only because of the crash.
	}
	p.notef("the run failed: %v; %s%s", err, then, framesOf(err))
	return fmt.Errorf("event %s from %s: %w", result.ID, result.Event.From, err)
}

func (o *outbox) noteSaid(inbound botctx.Inbound) {
	o.mu.Lock()
	defer o.mu.Unlock()
	put(&o.kept.said, address{inbound.Channel, inbound.Event.From}, inbound)
}

func (o *outbox) lastSaid(from address) (botctx.Inbound, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	last, hasOne := o.kept.said[from]
	return last, hasOne
}

// DeadLetters returns the accepted events that were given up, in the order in which they were accepted; see
// botctx.Runtime.DeadLetters.
func (p *Platform) DeadLetters() []botctx.DeadLetter {
	p.test.Helper()
	letters, err := p.Runtime().DeadLetters(testContext(), botctx.DeadLettersParams{})
	if err != nil {
		p.test.Fatalf("fakes: DeadLetters: %v", err)
	}
	return letters
}

// RetryDeadLetter puts a dead letter back into the inbox, by its ID. Advance(0) runs it, before later
// messages of its sender. It ends the test if there is no dead letter with that ID.
func (p *Platform) RetryDeadLetter(id string) {
	p.test.Helper()
	p.changeDeadLetter("RetryDeadLetter", id, p.Runtime().RetryDeadLetter)
}

// DiscardDeadLetter removes a dead letter, by its ID. It ends the test if there is no dead letter with that
// ID.
func (p *Platform) DiscardDeadLetter(id string) {
	p.test.Helper()
	p.changeDeadLetter("DiscardDeadLetter", id, p.Runtime().DiscardDeadLetter)
}

func (p *Platform) changeDeadLetter(name, id string, change func(ctx context.Context, id string) error) {
	p.test.Helper()
	if err := change(testContext(), id); err != nil {
		p.test.Fatalf("fakes: %s(%q): %v", name, id, err)
		return
	}
	p.notef("%s %s", name, id)
}

// handled are the nodes that a platform was given and passes to its forks.
type handled struct{ history[*botctx.Node] }
