package fakes

import (
	"slices"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/send"
)

// sendFaults are the refusals and limits set by a test.
type sendFaults struct {
	// refused maps recipients to the codes with which they are refused.
	refused map[address]boterr.Code
	// limits are the rate limits of channels.
	limits map[string]limit
}

func (f sendFaults) clone() sendFaults {
	f.refused, f.limits = copyOfMap(f.refused), copyOfMap(f.limits)
	for id, l := range f.limits {
		l.sent = slices.Clone(l.sent)
		f.limits[id] = l
	}
	return f
}

func (p *Platform) setSendFaults(change func(f *sendFaults)) {
	p.outbox.mu.Lock()
	defer p.outbox.mu.Unlock()
	change(&p.outbox.kept.sendFaults)
}

// refusalOf returns the error with which a recipient's messages are refused, or nil. The caller holds the
// mutex.
func (o *outbox) refusalOf(sent Sent) error {
	code, isRefused := o.kept.sendFaults.refused[address{sent.Channel, sent.To}]
	switch {
	case !isRefused:
		return nil
	case code == boterr.FailedPrecondition:
		return boterr.New(code, "", "the test makes the platform refuse messages to %s: %w", sent.To, &send.GoneError{})
	default:
		return boterr.New(code, "", "the test makes the platform refuse messages to %s", sent.To)
	}
}

// RefuseSends makes the platform refuse all messages to these recipients with a code, such as
// FailedPrecondition if they have blocked the bot:
//
//	p.RefuseSends(boterr.FailedPrecondition, ada, lise)
//
// Messages to others are still delivered. A FailedPrecondition error wraps a *send.GoneError. Both this error
// and NotFound end a live chat.
func (p *Platform) RefuseSends(code boterr.Code, to ...Recipient) {
	p.test.Helper()
	if len(to) == 0 {
		p.test.Fatalf("fakes: RefuseSends has no recipients: give the ones whose messages are refused")
	}
	for _, recipient := range to {
		p.refuse(code, recipient.address())
	}
}

// RefuseSendsTo is RefuseSends for one recipient in a channel of DefaultApp, given by its id on the platform,
// such as a group's.
func (p *Platform) RefuseSendsTo(code boterr.Code, channelID, externalID string) {
	p.test.Helper()
	p.mustHave(channelID)
	p.refuse(code, address{channelID, externalID})
}

func (p *Platform) refuse(code boterr.Code, to address) {
	p.test.Helper()
	if !slices.Contains(boterr.Codes(), code) {
		p.test.Fatalf("fakes: there is no code %q: give a constant of package boterr, such as boterr.Unavailable", string(code))
		return
	}
	p.setSendFaults(func(f *sendFaults) { put(&f.refused, to, code) })
	p.notef("%s refuses messages to %s: %s", to.channel, to.externalID, code)
}

// AcceptSends makes the platform accept messages to these recipients again.
func (p *Platform) AcceptSends(to ...Recipient) {
	p.test.Helper()
	if len(to) == 0 {
		p.test.Fatalf("fakes: AcceptSends has no recipients: give the ones whose messages are taken again")
	}
	for _, recipient := range to {
		p.accept(recipient.address())
	}
}

// AcceptSendsTo is AcceptSends for one recipient in a channel of DefaultApp, given by its id on the platform.
func (p *Platform) AcceptSendsTo(channelID, externalID string) {
	p.test.Helper()
	p.mustHave(channelID)
	p.accept(address{channelID, externalID})
}

func (p *Platform) accept(to address) {
	p.setSendFaults(func(f *sendFaults) { delete(f.refused, to) })
	p.notef("%s takes messages to %s", to.channel, to.externalID)
}

// limit limits the messages that a channel can send within a span of time.
type limit struct {
	most int
	per  time.Duration
	// sent are the times of the latest messages, the oldest first, as many as can be sent.
	sent []time.Time
}

// take counts a message, or returns the time until the next message is allowed.
func (l *limit) take(now time.Time) time.Duration {
	if len(l.sent) == l.most {
		if wait := l.sent[0].Add(l.per).Sub(now); wait > 0 {
			return wait
		}
		l.sent = slices.Delete(l.sent, 0, 1)
	}
	l.sent = append(l.sent, now)
	return 0
}

// withinLimit counts a message of a channel, or returns an error if it exceeds the limit. The caller holds
// the mutex.
func (o *outbox) withinLimit(channelID string) error {
	l, isLimited := o.kept.sendFaults.limits[channelID]
	if !isLimited {
		return nil
	}
	wait := l.take(o.platform.Now())
	put(&o.kept.sendFaults.limits, channelID, l)
	if wait > 0 {
		return boterr.New(boterr.ResourceExhausted, "", "the channel %s sends at most %d messages in %v: %w",
			channelID, l.most, l.per, &send.RetryAfterError{After: wait})
	}
	return nil
}

// LimitSends limits the messages that the platform of a channel of DefaultApp accepts within a span of
// virtual time. It refuses further messages with ResourceExhausted, which wraps a *send.RetryAfterError. It
// replaces an earlier limit and starts counting again.
func (p *Platform) LimitSends(channelID string, most int, per time.Duration) {
	p.test.Helper()
	p.mustHave(channelID)
	if most < 1 || per <= 0 {
		p.test.Fatalf("fakes: LimitSends of %d messages in %v: give at least one message and a duration; to refuse all, use Down", most, per)
		return
	}
	p.setSendFaults(func(f *sendFaults) { put(&f.limits, channelID, limit{most: most, per: per}) })
	p.notef("%s sends %d messages in %v at most", channelID, most, per)
}

// LiftLimit removes the limit set by LimitSends. Without a limit it does nothing.
func (p *Platform) LiftLimit(channelID string) {
	p.test.Helper()
	p.mustHave(channelID)
	p.setSendFaults(func(f *sendFaults) { delete(f.limits, channelID) })
	p.notef("%s sends without a limit", channelID)
}
