package fakes

import (
	"slices"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// trouble is what keeps messages from being sent.
type trouble struct {
	// refused are the codes with which platforms refuse recipients.
	refused map[address]boterr.Code
	// disconnected are the channels whose platform does not answer.
	disconnected map[string]bool
	// limits are the most messages of channels.
	limits map[string]limit
}

func (t trouble) clone() trouble {
	t.refused, t.disconnected, t.limits = copyOfMap(t.refused), copyOfMap(t.disconnected), copyOfMap(t.limits)
	for id, l := range t.limits {
		l.sent = slices.Clone(l.sent)
		t.limits[id] = l
	}
	return t
}

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

// hinder returns what keeps a message from being sent, nil where nothing does. The caller
// holds the mutex.
func (o *outbox) hinder(sent Sent) error {
	if err := o.connected(sent.Channel); err != nil {
		return err
	}
	if err := o.withinLimit(sent.Channel); err != nil {
		return err
	}
	if code, isRefused := o.kept.trouble.refused[address{sent.Channel, sent.To}]; isRefused {
		return boterr.New(code, "", "the test makes the platform refuse messages to %s", sent.To)
	}
	return nil
}

// connected returns why the platform of a channel does not answer. The caller holds the
// mutex.
func (o *outbox) connected(channelID string) error {
	if o.kept.trouble.disconnected[channelID] {
		return boterr.New(boterr.Unavailable, "", "the test has disconnected the channel %s", channelID)
	}
	return nil
}

// withinLimit counts a message of a channel. The caller holds the mutex.
func (o *outbox) withinLimit(channelID string) error {
	l, isLimited := o.kept.trouble.limits[channelID]
	if !isLimited {
		return nil
	}
	wait := l.take(o.platform.Now())
	o.kept.trouble.limits[channelID] = l
	if wait > 0 {
		return boterr.New(boterr.ResourceExhausted, "", "the channel %s sends %d messages in %v at most: try again in %v",
			channelID, l.most, l.per, wait)
	}
	return nil
}

// LimitSends lets the platform of a channel of DefaultApp take so many messages at most
// within a virtual time, and refuse more with ResourceExhausted. It takes the place of a
// limit before, and counts anew.
func (p *Platform) LimitSends(channelID string, most int, per time.Duration) {
	p.test.Helper()
	p.mustHave(channelID)
	if most < 1 || per <= 0 {
		p.test.Fatalf("fakes: LimitSends of %d messages in %v: give at least one message and a time; Disconnect lets none through", most, per)
		return
	}
	p.hinder(func(t *trouble) { t.limits[channelID] = limit{most: most, per: per} })
	p.notef("%s sends %d messages in %v at most", channelID, most, per)
}

// LiftLimit takes the limit of LimitSends away. Without one it does nothing.
func (p *Platform) LiftLimit(channelID string) {
	p.test.Helper()
	p.mustHave(channelID)
	p.hinder(func(t *trouble) { delete(t.limits, channelID) })
	p.notef("%s sends without a limit", channelID)
}

// RefuseSends makes the platform refuse every message to these recipients with a code, such
// as FailedPrecondition where they have blocked the bot:
//
//	p.RefuseSends(boterr.FailedPrecondition, ada, lise)
//
// The others get theirs.
func (p *Platform) RefuseSends(code boterr.Code, to ...Recipient) {
	p.test.Helper()
	if len(to) == 0 {
		p.test.Fatalf("fakes: RefuseSends names nobody: give those whose messages are refused")
	}
	for _, recipient := range to {
		p.refuse(code, recipient.address())
	}
}

// RefuseSendsTo is RefuseSends for a recipient in a channel of DefaultApp by its id on the
// platform, such as a group's.
func (p *Platform) RefuseSendsTo(code boterr.Code, channelID, externalID string) {
	p.test.Helper()
	p.mustHave(channelID)
	p.refuse(code, address{channelID, externalID})
}

func (p *Platform) refuse(code boterr.Code, to address) {
	p.test.Helper()
	if !slices.Contains(boterr.Codes(), code) {
		p.test.Fatalf("fakes: there is no code %q", string(code))
		return
	}
	p.hinder(func(t *trouble) { t.refused[to] = code })
	p.notef("%s refuses messages to %s: %s", to.channel, to.externalID, code)
}

// AcceptSends makes the platform take messages to these recipients again.
func (p *Platform) AcceptSends(to ...Recipient) {
	p.test.Helper()
	if len(to) == 0 {
		p.test.Fatalf("fakes: AcceptSends names nobody: give those whose messages are taken again")
	}
	for _, recipient := range to {
		p.accept(recipient.address())
	}
}

// AcceptSendsTo is AcceptSends for a recipient in a channel of DefaultApp by its id on the
// platform.
func (p *Platform) AcceptSendsTo(channelID, externalID string) {
	p.test.Helper()
	p.mustHave(channelID)
	p.accept(address{channelID, externalID})
}

func (p *Platform) accept(to address) {
	p.hinder(func(t *trouble) { delete(t.refused, to) })
	p.notef("%s takes messages to %s", to.channel, to.externalID)
}

// Disconnect makes the platform of a channel of DefaultApp answer nothing: whatever it is
// asked for is Unavailable, and not done.
func (p *Platform) Disconnect(channelID string) {
	p.test.Helper()
	p.mustHave(channelID)
	p.hinder(func(t *trouble) { t.disconnected[channelID] = true })
	p.notef("%s is disconnected", channelID)
}

// Reconnect makes the platform of a channel answer again.
func (p *Platform) Reconnect(channelID string) {
	p.test.Helper()
	p.mustHave(channelID)
	p.hinder(func(t *trouble) { delete(t.disconnected, channelID) })
	p.notef("%s is connected", channelID)
}

// hinder changes what keeps messages from being sent.
func (p *Platform) hinder(change func(t *trouble)) {
	p.outbox.mu.Lock()
	defer p.outbox.mu.Unlock()
	change(&p.outbox.kept.trouble)
}
