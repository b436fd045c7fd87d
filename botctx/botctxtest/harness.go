package botctxtest

import (
	"slices"
	"testing"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

// Harness is how the suite reaches an implementation. Its functions end the test where
// they fail.
type Harness struct {
	// Operations returns the operations for an app, a channel and a member. Required.
	Operations func(scope record.Scope) botctx.Operations
	// AddChannel stores a channel that is on, with the App, the Type and the BroadcastGroups
	// given, under an ID of the implementation's choice, and returns it as it is stored. One
	// of type custom has a live-chat API, if Asked is given. Required.
	AddChannel func(added channel.Channel) *channel.Channel
	// AddMember stores a member with the fields given, Unknown included, under an ID of
	// the implementation's choice, and returns it as it is stored. App, Channel and
	// ExternalID are given always. Required.
	AddMember func(added member.Member) *member.Member

	// Sent returns the messages that have arrived at the platforms, in order. Without it
	// nobody knows what arrives, and the rules about that are left out.
	Sent func() []Sent
	// Advance moves the clock of records forward. Without it the rules about times that
	// are renewed are left out. Where Handle is given, too, the agendas that fall due on the
	// way have run when it returns.
	Advance func(by time.Duration)
	// Handle adds nodes, of ids that nobody has used before, to those that run for the
	// members of all apps. Without it the rules about nodes are left out.
	Handle func(nodes ...*botctx.Node)

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
	// AddPage puts a page on the web where the implementation may go, at an address that nobody
	// has used before. Without it the rules about such addresses are left out.
	AddPage func(contentType, body string) *Page

	// ChecksEtags says that updateMember answers Conflict to a stale etag.
	ChecksEtags bool
	// Lacks are the capabilities that the implementation does not offer. It must answer
	// Unsupported where they are used.
	Lacks []Capability
}

// Sent is a message that has arrived at a platform.
type Sent struct {
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

// lacks returns what the harness lacks, declared or not given.
func (h *Harness) lacks() []Capability {
	lacks := slices.Clone(h.Lacks)
	for _, verb := range []struct {
		capability Capability
		isGiven    bool
	}{
		{readSent, h.Sent != nil},
		{moveClock, h.Advance != nil},
		{handleNodes, h.Handle != nil},
		{pairOutlets, h.Pair != nil},
		{addAgents, h.Agent != nil},
		{switchOff, h.SwitchOff != nil},
		{readAsked, h.Asked != nil},
		{readMade, h.Made != nil},
		{addPages, h.AddPage != nil},
	} {
		if !verb.isGiven {
			lacks = append(lacks, verb.capability)
		}
	}
	if !slices.ContainsFunc(platforms, func(platform channel.Type) bool {
		return shapes[platform] == nil && !slices.Contains(lacks, On(platform))
	}) {
		lacks = append(lacks, commonShape)
	}
	if !slices.ContainsFunc(ticketing, func(platform channel.Type) bool { return !slices.Contains(lacks, On(platform)) }) {
		lacks = append(lacks, tickets)
	}
	return lacks
}

// OverCall returns a harness of the same implementation that calls every operation by
// its name, with JSON in and out. Its operations must implement botctx.Caller, as
// *botctx.Context does.
func OverCall(newHarness func(t *testing.T) *Harness) func(t *testing.T) *Harness {
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
			return botctx.OverCall(caller)
		}
		return &over
	}
}
