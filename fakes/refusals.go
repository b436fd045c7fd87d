package fakes

import (
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/send"
)

// refusalOf returns the error with which a platform refuses a recipient, nil where it does not. The
// caller holds the mutex.
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

// RefuseSends makes the platform refuse every message to these recipients with a code, such
// as FailedPrecondition where they have blocked the bot:
//
//	p.RefuseSends(boterr.FailedPrecondition, ada, lise)
//
// The others get theirs. FailedPrecondition has a *send.GoneError behind it, and NotFound means the
// same: in a live chat both end it.
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
	p.setSendFaults(func(f *sendFaults) { put(&f.refused, to, code) })
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
	p.setSendFaults(func(f *sendFaults) { delete(f.refused, to) })
	p.notef("%s takes messages to %s", to.channel, to.externalID)
}
