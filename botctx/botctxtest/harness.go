package botctxtest

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Harness is how the suite reaches an implementation. Its functions end the test where
// they fail.
type Harness struct {
	// Operations returns the operations for an app, a channel and a member, who is in a group
	// where the scope names one: a platform takes messages to any. Required.
	Operations func(scope record.Scope) botctx.Operations
	// AddChannel stores a channel that is on, with the App, the Type and the BroadcastGroups
	// given, under an ID of the implementation's choice, and returns it as it is stored. The
	// groups exist on the platform: messages may go there, and those of Charlie be archived. One
	// of type custom has a live-chat API, if Asked is given. Required.
	AddChannel func(added channel.Channel) *channel.Channel
	// AddMember stores a member with the fields given, Unknown included, under an ID of
	// the implementation's choice, and returns it as it is stored. App, Channel and
	// ExternalID are given always. Required.
	AddMember func(added member.Member) *member.Member

	// Sent returns the messages that have arrived at the platforms, in order, those of
	// broadcasts to each member included. Without it nobody knows what arrives, and the rules
	// about that are left out.
	Sent func() []Sent
	// TellsIDs says that Sent tells the ID of each message. Without it the rules about ids are
	// left out.
	TellsIDs bool
	// Advance moves the clock of records forward. Without it the rules about times that
	// are renewed are left out. Where Handle is given, too, the agendas that fall due on the
	// way have run when it returns. That a run fails is no failure of Advance: it is tried again.
	Advance func(by time.Duration)
	// Handle adds nodes, of ids that nobody has used before, to those that run for the
	// members of all apps. Without it the rules about nodes are left out.
	Handle func(nodes ...*botctx.Node)

	// Receive hands in what a platform reports, as Runtime.Receive does. Without it the rules about
	// what becomes of messages are left out.
	Receive func(in botctx.Inbound) error

	// Pair makes outlets serve the live chats of an inlet, in this order, in place of those
	// before. AddChannel returned all of them, of one app. Without it and Agent the rules about
	// live chats are left out.
	Pair func(inlet *channel.Channel, outlets ...*channel.Channel)
	// Agent adds an agent, with an admin record, to an outlet that AddChannel returned.
	Agent func(outlet *channel.Channel) *Agent
	// SwitchOff switches a channel off. Without it the rules about channels that are off are
	// left out.
	SwitchOff func(switched *channel.Channel)
	// Asked returns the requests that have arrived at the live-chat APIs of custom channels,
	// in order. Each of these answers with an id of a group, the same each time. Without it
	// the rules about createGroup are left out.
	Asked func() []Asked
	// Made returns the groups and channels that there are on the platforms because operations
	// made them, the oldest first, as they are now. Without it the rules about what Bravo and
	// Hotel make are left out.
	Made func() []Made

	// Refuse makes the platform refuse all messages to a member that AddMember returned, as
	// one that blocks the bot. Without it the rules about messages that reach some are left
	// out.
	Refuse func(refused *member.Member)
	// Comments returns the comments on posts that were recorded in an app, the oldest first.
	// Without it the rules about what is recorded are left out.
	Comments func(app string) []*send.PostComment
	// Mails returns the mails that the mail service has taken, in order. Without it the rules
	// about what is mailed are left out.
	Mails func() []utility.Mail
	// Serve puts a file of a media type, "" for none that is told, at an address that nobody has
	// used before and the implementation may ask, for GET and POST. Without it the rules about
	// addresses are left out.
	Serve func(contentType, content string) *Served
	// Files returns the files in the object store, in any order. Without it and Serve the rules
	// about what is uploaded are left out.
	Files func() []File
	// AddAccount adds a payment account to an app under a name. Without it only what needs no
	// account is checked of golf.
	AddAccount func(app, name string)

	// ChecksEtags says that updateMember answers Conflict to a stale etag.
	ChecksEtags bool
	// Lacks are the capabilities that the implementation does not offer. It must answer
	// Unsupported where they are used.
	Lacks []Capability
}

// Sent is a message that has arrived at a platform.
type Sent struct {
	// ID is the id under which it was sent, that of send.Message, for Harness.TellsIDs.
	ID string
	// Channel is the id of the channel through which it went.
	Channel string
	// To is the id on the platform of who got it.
	To string
	// Response is the message as the platform got it.
	Response send.Response
	// Shows is the text that it shows by now in place of Response, "" while it shows that.
	Shows string
	// IsRecalled is whether it was taken back.
	IsRecalled bool
}

// Agent is a person who answers members in an outlet.
type Agent struct {
	// ExternalID is the id on the outlet's platform, AdminID that of the admin record.
	ExternalID string
	AdminID    string
	// Take takes a request that was offered in the outlet, as the agent does there. It
	// returns an error where the agent does not get it. Several agents may do so at once.
	Take func(assignmentID string) error
}

// Asked is a request that has arrived at the live-chat API of a custom channel.
type Asked struct {
	// Channel is the id of the channel.
	Channel string
	// Body is what the API was told.
	Body document.Object
}

// Served is a file at an address.
type Served struct {
	// URL is the address.
	URL string
	// Requests returns the requests that have arrived there, in order.
	Requests func() []Request
}

// Request is a request that has arrived at an address.
type Request struct {
	Method string
	Header http.Header
	Body   string
}

// File is a file in the object store.
type File struct {
	// App and Channel are whom it belongs to, Name is its name there.
	App     string
	Channel string
	Name    string
	// ContentType is its media type.
	ContentType string
	// Content is what is in it.
	Content []byte
}

// lacks returns what the harness lacks, declared or not given.
func (h *Harness) lacks() []Capability {
	lacks := slices.Clone(h.Lacks)
	for _, verb := range []struct {
		capability Capability
		isGiven    bool
	}{
		{readSent, h.Sent != nil},
		{tellIDs, h.Sent != nil && h.TellsIDs},
		{moveClock, h.Advance != nil},
		{handleNodes, h.Handle != nil},
		{receiveEvents, h.Receive != nil},
		{pairOutlets, h.Pair != nil},
		{addAgents, h.Agent != nil},
		{switchOff, h.SwitchOff != nil},
		{readAsked, h.Asked != nil},
		{refuseSends, h.Refuse != nil},
		{readComments, h.Comments != nil},
		{readMails, h.Mails != nil},
		{readFiles, h.Files != nil && h.Serve != nil},
		{addAccounts, h.AddAccount != nil},
		{readMade, h.Made != nil},
		{serveFiles, h.Serve != nil},
	} {
		if !verb.isGiven {
			lacks = append(lacks, verb.capability)
		}
	}
	for _, kind := range []struct {
		capability Capability
		platforms  []channel.Type
	}{
		{commonShape, commonlyShaped()}, {tickets, ticketing}, {recalledTickets, recalling}, {noTickets, ticketless()},
	} {
		if !slices.ContainsFunc(kind.platforms, func(platform channel.Type) bool { return !slices.Contains(lacks, On(platform)) }) {
			lacks = append(lacks, kind.capability)
		}
	}
	return lacks
}

// FromCaller returns a harness of the same implementation that calls every operation by
// its name, with JSON in and out. Its operations must implement botctx.Caller, as
// *botctx.Context does.
func FromCaller(newHarness func(t *testing.T) *Harness) func(t *testing.T) *Harness {
	return func(t *testing.T) *Harness {
		t.Helper()
		over := *newHarness(t)
		direct := over.Operations
		over.Operations = func(scope record.Scope) botctx.Operations {
			operations := direct(scope)
			caller, ok := operations.(botctx.Caller)
			if !ok {
				t.Fatalf("botctxtest: a %T cannot be called by name", operations)
			}
			return botctx.FromCaller(caller)
		}
		return &over
	}
}

// Made is a group or a channel that operations made on a platform.
type Made struct {
	// Channel is the id of the channel through which it was made.
	Channel string
	// ExternalID is the id on the platform.
	ExternalID string
	// Name is the name that is shown.
	Name string
	// Within is the id on the platform of what it belongs to, "" for nothing.
	Within string
	// InvitationLink is the address by which agents join, "" where none works.
	InvitationLink string
	// Icon is the file of the picture that is shown, "" for none.
	Icon string
}
