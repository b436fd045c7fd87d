package livechats

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// senderLease is for how long a call may be silent while it sends a request: longer than a
// platform, or a live-chat API, takes for one message.
const senderLease = 45 * time.Second

// newSender returns the call as the sender from now on.
func (s *machine) newSender(ctx context.Context) (*livechat.Sender, error) {
	until, err := s.leaseEnd(ctx)
	if err != nil {
		return nil, err
	}
	return &livechat.Sender{ID: s.env.NewID(), Until: until}, nil
}

// leaseEnd returns when a lease ends that begins now.
func (s *machine) leaseEnd(ctx context.Context) (document.Timestamp, error) {
	now, err := s.env.Store.Now(ctx)
	return document.TimestampOf(now.Add(senderLease)), err
}

// claimSending makes the call the sender of an assignment that nobody has taken, if it meets
// a condition. It returns nil where it does not, or another call is the sender.
func (s *machine) claimSending(ctx context.Context, id string, condition document.Object) (*livechat.AssignmentRecord, error) {
	sender, err := s.newSender(ctx)
	if err != nil {
		return nil, err
	}
	begun := sender.Until - document.Timestamp(senderLease.Milliseconds())
	return s.modify(ctx, id, condition.
		With(fieldAssignedAt, isAbsent()).
		With(fieldEndedAt, isAbsent()).
		With("$or", document.A(
			document.O(fieldSender, isAbsent()),
			document.O(fieldSender+".until", document.O("$lte", begun)),
		)),
		document.Set(fieldSender, sender))
}

// The pauses of a call that waits for another one, and how long it waits in all: long enough
// to take the place of one that has crashed.
const (
	firstPause  = 2 * time.Millisecond
	lastPause   = 250 * time.Millisecond
	longestWait = senderLease + 5*time.Second
)

// backoff is the wait of a call for another one that sends the same request.
type backoff struct {
	pause         func(ctx context.Context, d time.Duration)
	next, elapsed time.Duration
}

func (s *machine) newBackoff() *backoff { return &backoff{pause: s.ports.Pause, next: firstPause} }

// wait pauses before the call looks again. Conflict: it has waited long enough.
func (b *backoff) wait(ctx context.Context) error {
	if b.elapsed >= longestWait {
		return boterr.New(boterr.Conflict, "", "another call is sending this request: repeat in a while")
	}
	b.pause(ctx, b.next)
	if ctx.Err() != nil {
		return boterr.New(boterr.Canceled, "", "another call is sending this request, and the wait for it ended: %w", context.Cause(ctx))
	}
	b.elapsed += b.next
	b.next = min(2*b.next, lastPause)
	return nil
}

// pause waits by the machine's clock.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
