package fakes

import (
	"slices"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/send"
)

// limit is the most messages that a channel can send within a time.
type limit struct {
	most int
	per  time.Duration
	// sent are the times of the last messages, the most at most, the oldest first.
	sent []time.Time
}

// take counts a message at a time, or returns how long it has to wait.
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

// withinLimit counts a message of a channel. The caller holds the mutex.
func (o *outbox) withinLimit(channelID string) error {
	l, isLimited := o.kept.sendFaults.limits[channelID]
	if !isLimited {
		return nil
	}
	wait := l.take(o.platform.Now())
	put(&o.kept.sendFaults.limits, channelID, l)
	if wait > 0 {
		return boterr.New(boterr.ResourceExhausted, "", "the channel %s sends %d messages in %v at most: %w",
			channelID, l.most, l.per, &send.RetryAfterError{After: wait})
	}
	return nil
}

// LimitSends lets the platform of a channel of DefaultApp take at most so many messages within a
// span of virtual time, and refuse more with ResourceExhausted and a *send.RetryAfterError behind
// it. It replaces an earlier limit, and counts anew.
func (p *Platform) LimitSends(channelID string, most int, per time.Duration) {
	p.test.Helper()
	p.mustHave(channelID)
	if most < 1 || per <= 0 {
		p.test.Fatalf("fakes: LimitSends of %d messages in %v: give at least one message and a time; Disconnect lets none through", most, per)
		return
	}
	p.setSendFaults(func(f *sendFaults) { put(&f.limits, channelID, limit{most: most, per: per}) })
	p.notef("%s sends %d messages in %v at most", channelID, most, per)
}

// LiftLimit takes the limit of LimitSends away. Without one it does nothing.
func (p *Platform) LiftLimit(channelID string) {
	p.test.Helper()
	p.mustHave(channelID)
	p.setSendFaults(func(f *sendFaults) { delete(f.limits, channelID) })
	p.notef("%s sends without a limit", channelID)
}
