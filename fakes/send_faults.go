package fakes

import (
	"slices"

	"github.com/botctx/go-sdk/boterr"
)

// sendFaults are the faults that a test has set for sending: refusals, lost connections and
// limits.
type sendFaults struct {
	// refused are the codes with which platforms refuse recipients.
	refused map[address]boterr.Code
	// disconnected are the channels whose platform does not answer.
	disconnected map[string]bool
	// limits are the most messages of channels.
	limits map[string]limit
}

func (f sendFaults) clone() sendFaults {
	f.refused, f.disconnected, f.limits = copyOfMap(f.refused), copyOfMap(f.disconnected), copyOfMap(f.limits)
	for id, l := range f.limits {
		l.sent = slices.Clone(l.sent)
		f.limits[id] = l
	}
	return f
}

// connectionError returns why the platform of a channel does not answer, nil where it does. The
// caller holds the mutex.
func (o *outbox) connectionError(channelID string) error {
	if err := o.platform.outages.err(outage{service: ServiceMessages}); err != nil {
		return err
	}
	if o.kept.sendFaults.disconnected[channelID] {
		return boterr.New(boterr.Unavailable, "", "the test has disconnected the channel %s", channelID)
	}
	return nil
}

// Disconnect makes the platform of a channel of DefaultApp answer nothing: whatever it is
// asked for is Unavailable, and not done.
func (p *Platform) Disconnect(channelID string) {
	p.test.Helper()
	p.mustHave(channelID)
	p.setSendFaults(func(f *sendFaults) { put(&f.disconnected, channelID, true) })
	p.notef("%s is disconnected", channelID)
}

// Reconnect makes the platform of a channel answer again.
func (p *Platform) Reconnect(channelID string) {
	p.test.Helper()
	p.mustHave(channelID)
	p.setSendFaults(func(f *sendFaults) { delete(f.disconnected, channelID) })
	p.notef("%s is connected", channelID)
}

// setSendFaults changes the faults of sending.
func (p *Platform) setSendFaults(change func(f *sendFaults)) {
	p.outbox.mu.Lock()
	defer p.outbox.mu.Unlock()
	change(&p.outbox.kept.sendFaults)
}
