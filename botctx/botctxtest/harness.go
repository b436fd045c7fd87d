package botctxtest

import (
	"slices"
	"testing"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

// Harness is how the suite reaches an implementation. Its functions end the test where
// they fail.
type Harness struct {
	// Operations returns the operations for an app, a channel and a member. Required.
	Operations func(scope record.Scope) botctx.Operations
	// AddChannel stores a channel that is on, with the App and the Type given, under an
	// ID of the implementation's choice, and returns it as it is stored. Required.
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
}

// lacks returns what the harness lacks, declared or not given.
func (h *Harness) lacks() []Capability {
	lacks := slices.Clone(h.Lacks)
	if h.Sent == nil {
		lacks = append(lacks, readSent)
	}
	if h.Advance == nil {
		lacks = append(lacks, moveClock)
	}
	if h.Handle == nil {
		lacks = append(lacks, handleNodes)
	}
	if !slices.ContainsFunc(platforms, func(platform channel.Type) bool {
		return shapes[platform] == nil && !slices.Contains(lacks, On(platform))
	}) {
		lacks = append(lacks, commonShape)
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
