package fakes

import (
	"slices"

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

// connected returns why the platform of a channel does not answer. The caller holds the
// mutex.
func (o *outbox) connected(channelID string) error {
	if o.kept.trouble.disconnected[channelID] {
		return boterr.New(boterr.Unavailable, "", "the test has disconnected the channel %s", channelID)
	}
	return nil
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
