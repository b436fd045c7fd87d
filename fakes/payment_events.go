package fakes

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/botctx/go-sdk/utility"
)

// pendingEvent is an event that is still to be delivered.
type pendingEvent struct {
	at    time.Time
	key   accountKey
	event utility.PaymentEvent
}

// eventCall is what OnEvent registers.
type eventCall func(context.Context, utility.PaymentEvent) error

// isDue reports whether an event is to be delivered by a time.
func (p *payments) isDue(by time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pending) > 0 && !p.pending[0].at.After(by)
}

// take takes the first event.
func (p *payments) take() (pendingEvent, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pending) == 0 {
		return pendingEvent{}, false
	}
	first := p.pending[0]
	p.pending = p.pending[1:]
	return first, true
}

// waiting returns how many events are to be delivered.
func (p *payments) waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pending)
}

// callsOf returns what is registered for an account.
func (p *payments) callsOf(key accountKey) []eventCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls[key])
}

// deliverNext delivers the first event, at its time.
func (p *Platform) deliverNext(ctx context.Context, pace *pace) error {
	pending, ok := p.payments.take()
	if !ok {
		return nil
	}
	if p.clock.moveTo(pending.at) {
		pace.instant()
	}
	pace.events++
	return p.deliver(ctx, pending.key, pending.event)
}

// deliver calls what OnEvent registered, outside of all locks, and stops at the first error.
func (p *Platform) deliver(ctx context.Context, key accountKey, event utility.PaymentEvent) error {
	p.notef("%s reports %s of %s: %s", key.name, event.Type, event.Payment.ID, event.ID)
	for _, call := range p.payments.callsOf(key) {
		if err := call(ctx, cloneOf(event)); err != nil {
			p.notef("the event %s failed: %v", event.ID, err)
			return fmt.Errorf("event %s of account %s: %w", event.ID, key.name, err)
		}
	}
	return nil
}
