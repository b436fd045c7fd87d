package fakes

import (
	"github.com/botctx/go-sdk/channel"
)

// address is where a message goes: ids on a platform are those of one channel.
type address struct{ channel, externalID string }

// person is a member on its platform.
type person struct{ memberID, name string }

// Recipient is who can be sent a message: an *Actor or an *Agent.
type Recipient interface {
	// ExternalID returns the id on the platform.
	ExternalID() string
	address() address
}

var (
	_ Recipient = (*Actor)(nil)
	_ Recipient = (*Agent)(nil)
)

// userID returns the platform's id of a new user.
func (p *Platform) userID(platform channel.Type, id string) string {
	if known := p.outbox.fakeOf(platform); known != nil {
		return known.userID(id)
	}
	return plain{&p.outbox}.userID(id)
}

// typeOf returns the type of a channel, "" where there is none.
func (p *Platform) typeOf(app, id string) channel.Type {
	loaded, err := p.channelOf(app, id)
	if err != nil {
		return ""
	}
	return loaded.Type
}

// mustBeOfType ends the test where a channel is not of the type that a method of the platform is
// for.
func (p *Platform) mustBeOfType(app, id string, want channel.Type, what string) {
	p.test.Helper()
	switch got := p.typeOf(app, id); got {
	case want:
	case "":
		p.test.Fatalf("fakes: there is no channel %s in %s: add it with AddChannel first", id, app)
	default:
		p.test.Fatalf("fakes: the channel %s is of type %s, and %s are of %s alone", id, got, what, want)
	}
}

// mustHave ends the test where DefaultApp has no such channel.
func (p *Platform) mustHave(id string) {
	p.test.Helper()
	if p.typeOf(DefaultApp, id) == "" {
		p.test.Fatalf("fakes: there is no channel %q in %s: add it with AddChannel first", id, DefaultApp)
	}
}

// mustBeOn ends the test where the member is not on the platform that a method of the actor is for.
func (a *Actor) mustBeOn(want channel.Type, what string) {
	a.platform.test.Helper()
	a.platform.mustBeOfType(a.scope.App, a.scope.Channel, want, what)
}
