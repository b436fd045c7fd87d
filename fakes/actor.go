package fakes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Actor is a member who acts: says things, and reads what was sent.
type Actor struct {
	platform   *Platform
	scope      record.Scope
	externalID string
	name       string
	added      member.Member
}

// AddMember adds a member and returns who acts for it. Its app is DefaultApp, and it
// gets a webchat channel and an id on the platform of its own where it has none. Where Config
// sets an Arrive, the host makes the member, of an Inbound whose Profile is what is added, and
// gives the id. It ends the test where there is none, and the members of Config's Override do not
// know who was added.
func (p *Platform) AddMember(added member.Member) *Actor {
	p.test.Helper()
	given := added
	if added.App == "" {
		added.App = DefaultApp
	}
	if added.Channel == "" {
		added.Channel = p.defaultChannel(added.App)
	}
	in, err := p.channelOf(added.App, added.Channel)
	if err != nil || in.Type == "" {
		p.test.Fatalf("fakes: AddMember: there is no channel %q in %s: add it with AddChannel first", added.Channel, added.App)
		return nil
	}
	if added.ID == "" {
		added.ID = p.ids.next("member")
	}
	if added.ExternalID == "" {
		added.ExternalID = p.userID(in.Type, added.ID)
	}
	scope := record.Scope{App: added.App, Channel: added.Channel, Member: added.ID}
	stored, err := p.insert(scope, in, added)
	if err == nil && p.isOverridden && p.arrive == nil {
		err = p.checkIsKnown(scope)
	}
	if err != nil {
		p.test.Fatalf("fakes: AddMember: %v", err)
	}
	scope.Member = stored.ID
	a := &Actor{platform: p, scope: scope, externalID: stored.ExternalID, name: nameOf(stored), added: given}
	p.outbox.addMember(a.address(), person{memberID: a.ID(), name: a.name})
	return a
}

// checkIsKnown returns an error for a member whom the operations of the host do not know.
func (p *Platform) checkIsKnown(scope record.Scope) error {
	_, err := p.Runtime().Context(testContext(), scope)
	if errors.Is(err, boterr.NotFound) {
		return fmt.Errorf("the members of the Override of Config do not know who was added to the store: "+
			"set Arrive, which makes members: %w", err)
	}
	return err
}

// arrive is botctx.Config.Arrive: a host's own way to find and make members.
type arrive func(ctx context.Context, inbound botctx.Inbound) (*member.Member, error)

// insert makes a member of a channel: by the host's function, or in the store.
func (p *Platform) insert(scope record.Scope, in *channel.Channel, added member.Member) (*member.Member, error) {
	if p.arrive != nil {
		return p.arrived(added)
	}
	return members.New(p.Runtime().Env(), scope, foundChannel{scope}).Insert(testContext(), members.On(added, in))
}

// arrived lets the host make a member.
func (p *Platform) arrived(added member.Member) (*member.Member, error) {
	made, err := p.arrive(testContext(), botctx.Inbound{
		App: added.App, Channel: added.Channel, Profile: added, Event: send.MessageEvent{From: added.ExternalID},
	})
	if err == nil && made == nil {
		err = boterr.New(boterr.Internal, "", "the host's Arrive gave neither a member nor an error")
	}
	return made, err
}

// nameOf is what a transcript calls a member.
func nameOf(m *member.Member) string {
	if m.FirstName != "" {
		return m.FirstName
	}
	return m.ID
}

// ID returns the member's id.
func (a *Actor) ID() string { return a.scope.Member }

// Added returns the member as AddMember was given it.
func (a *Actor) Added() member.Member { return a.added }

// Scope returns the member's app, channel and id.
func (a *Actor) Scope() record.Scope { return a.scope }

// ExternalID returns the member's id on its messaging platform.
func (a *Actor) ExternalID() string { return a.externalID }

// address returns where the member is reached on its platform.
func (a *Actor) address() address { return address{a.scope.Channel, a.externalID} }

// In returns the same member on a fork of its platform.
func (a *Actor) In(fork *Platform) *Actor {
	other := *a
	other.platform = fork
	return &other
}

// InGroup returns the same member in a group of the channel's platform: what she writes and
// reads there. A group of that id that the platform does not have yet is made.
//
//	ada.InGroup("family").Says("hi")
func (a *Actor) InGroup(externalID string) *Actor {
	a.platform.outbox.join(address{a.scope.Channel, externalID}, a.externalID)
	other := *a
	other.scope.GroupExternalID = externalID
	return &other
}

// Context returns a context of the member outside of a run.
func (a *Actor) Context() *botctx.Context {
	a.platform.test.Helper()
	bot, err := a.platform.Runtime().Context(testContext(), a.scope)
	if err != nil {
		a.platform.test.Fatalf("fakes: %s: %v", a.name, err)
	}
	return bot
}

// Member returns the member as it is stored now.
func (a *Actor) Member() *member.Member {
	a.platform.test.Helper()
	return a.Context().Member
}

// Agendas returns the member's open agendas in the order in which Advance runs them,
// those that have failed for good included.
func (a *Actor) Agendas() []*agenda.Record {
	a.platform.test.Helper()
	open, err := agenda.New(a.platform.Runtime().Env(), a.scope, agenda.Ports{}).Find(testContext(), record.Query{
		Filter: document.O("member", a.scope.Member, "completed", false),
		SortBy: document.O("nextRunAt", 1, "priority", 1, "createdAt", 1),
	})
	if err != nil {
		a.platform.test.Fatalf("fakes: the agendas of %s: %v", a.name, err)
	}
	return open
}

// Says sends a text to the bot and waits until its logic has run. A run that fails
// ends the test, which only the test's own goroutine may do: others use TrySays. Actions
// use neither: a run waits for one of the same member that is under way.
func (a *Actor) Says(text string) {
	a.platform.test.Helper()
	a.Sends(send.MessageEvent{Type: send.TypeText, Data: document.O("text", text)})
}

// TrySays is Says, and returns the error of a run that fails.
func (a *Actor) TrySays(text string) error {
	return a.TrySends(send.MessageEvent{Type: send.TypeText, Data: document.O("text", text)})
}

// Taps sends the payload of a button or a quick reply to the bot, as Says does, whether the
// member was shown one or not. TapsOn taps one that she sees.
func (a *Actor) Taps(payload string) {
	a.platform.test.Helper()
	a.Sends(send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", payload)})
}

// Sends sends any message event to the bot, as Says does. From, To, Timestamp and
// MessageID are filled in where they are absent.
func (a *Actor) Sends(event send.MessageEvent) {
	a.platform.test.Helper()
	a.platform.checkIsUp(a.name)
	if err := butForCrash(a.TrySends(event)); err != nil {
		a.platform.test.Fatalf("fakes: %s sent %s: %v%s", a.name, event.Type, err, framesOf(err))
	}
}

// TrySends is Sends, and returns the error of a run that fails: ErrCrashed where the process crashed amid it, which
// Sends takes as what the test has asked for, or before.
func (a *Actor) TrySends(event send.MessageEvent) error {
	p := a.platform
	event = p.fillIn(event, a.externalID, cmp.Or(a.scope.GroupExternalID, a.scope.Channel))
	p.noteMessage(a.name+" -> ", event.Response())
	return p.arrives(botctx.Inbound{
		App: a.scope.App, Channel: a.scope.Channel, Event: event, GroupExternalID: a.scope.GroupExternalID,
	})
}

// Messages returns what the member was sent, in order; of InGroup, what the group was sent.
func (a *Actor) Messages() []send.Response {
	var messages []send.Response
	for _, sent := range a.platform.Sent() {
		if a.sees(sent) {
			messages = append(messages, sent.Response)
		}
	}
	return messages
}

// sees reports whether the member sees a message where she writes: alone with the bot, or in
// a group.
func (a *Actor) sees(sent Sent) bool {
	if sent.IsRepeat {
		return false
	}
	if a.scope.GroupExternalID != "" {
		return sent.Channel == a.scope.Channel && sent.To == a.scope.GroupExternalID
	}
	return sent.Member == a.scope.Member
}

// Last returns the text of the last message that the member was sent. It ends the
// test where there is none.
func (a *Actor) Last() string {
	a.platform.test.Helper()
	return a.LastMessage().Text()
}

// LastMessage returns the last message that the member was sent. It ends the test
// where there is none.
func (a *Actor) LastMessage() send.Response {
	a.platform.test.Helper()
	messages := a.Messages()
	if len(messages) == 0 {
		a.platform.test.Fatalf("fakes: %s was sent nothing yet%s", a.name, a.waiting())
		return send.Response{}
	}
	return messages[len(messages)-1]
}

// waiting says which agenda of the member's runs next, "" for none.
func (a *Actor) waiting() string {
	a.platform.test.Helper()
	open := a.Agendas()
	if len(open) == 0 {
		return ""
	}
	next := open[0]
	return fmt.Sprintf("; an agenda waits until %s to run the node %s: Advance moves the time",
		next.NextRunAt.Time().UTC().Format(time.RFC3339), next.NodeCompositeID)
}
