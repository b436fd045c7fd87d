package livechat

import (
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/display"
)

// Texts are the messages that live chats send without bot logic. An empty text is not sent. DefaultTexts has
// the defaults.
type Texts struct {
	// Waiting tells a member, once for each request, that no agent has taken it yet and that messages are
	// kept. It is sent if the member writes and the bot answers nothing. [position] becomes the place of the
	// request among those that wait, 1 for the next one, and [waiting] the number of requests that wait.
	Waiting string
	// Full tells a member that a message is not kept, since MostKept wait already. It is sent if the bot says nothing.
	Full string
	// Unread tells a member that the request has ended, and that no agent has read the kept messages.
	Unread string
	// AgentGone tells a member that the live chat has ended because the agent's conversation is gone.
	AgentGone string
	// Before is sent above the messages that the member wrote before an agent took the request. [count]
	// becomes their number.
	Before string
	// Unshown is sent to the agent in place of a kept message that the outlet's platform cannot show.
	Unshown string
	// Over tells an agent who writes on in a conversation, once for each, that the live chat is over.
	Over string
	// MemberGone tells an agent that the live chat has ended because the member cannot be reached any more.
	MemberGone string
	// Late tells an agent who taps on a ticket that the request is over. It also stands on the tickets of a request
	// that ended before anybody took it, if the platform can change messages.
	Late string
	// LateTaken tells an agent who taps on a ticket that another agent has the request. [adminName] becomes
	// the name of that agent.
	LateTaken string
}

// DefaultTexts returns the texts of a host that sets none. A host that wants others changes these.
func DefaultTexts() Texts {
	return Texts{
		Waiting:    "Nobody is there yet. Whoever answers you will read what you write here.",
		Full:       "Nobody is there yet, and no more messages are kept: this one is not passed on.",
		Unread:     "Nobody could answer you. What you wrote was not read.",
		AgentGone:  "The conversation has ended: nobody can be reached there any more.",
		Before:     "Written before ([count]):",
		Unshown:    "(A message that cannot be shown here.)",
		Over:       "This conversation is over. What you write here reaches nobody.",
		MemberGone: "This conversation is over: the customer cannot be reached any more.",
		Late:       "This request is over.",
		LateTaken:  DefaultTakenMessage,
	}
}

// DefaultTakenMessage is the text of tickets once another one was taken, if the request gives no
// takenMessage, and on platforms other than Charlie.
const DefaultTakenMessage = "Taken by [adminName]."

// TakePayload is the payload of the button that takes a ticket. The button's value is the id of the
// assignment.
const TakePayload = "livechat:take"

// TakeParams say who takes an assignment, and where.
type TakeParams struct {
	// AssignmentID is the id of the assignment. Required.
	AssignmentID string
	// ChannelID is the id of the outlet channel. Required.
	ChannelID string
	// AdminExternalID is the agent's id on the outlet's platform. Required.
	AdminExternalID string
	// BroadcastGroupID is the id on the platform of the broadcast group whose ticket the
	// agent took. That ticket is left as it is, the others show the taken message. Without
	// it, or where no ticket is there, all of them do.
	BroadcastGroupID string
}

// TakeResult is an assignment that an agent has.
type TakeResult struct {
	// Assignment is the assignment as it is now.
	Assignment *Assignment
	// Group is the conversation with the agent.
	Group *Group
}

// TooLateError is the cause of the error from a TakeTicket that comes too late: another agent has the
// request, or it has ended. errors.AsType finds it, so that the host can answer the agent:
//
//	if late, ok := errors.AsType[*livechat.TooLateError](err); ok { ... }
type TooLateError struct {
	// Assignment is the assignment as it is now.
	Assignment *Assignment
	// AdminName is the name of the agent who has it, or the agent's id. It is "" if the assignment has ended.
	AdminName string
}

// Error returns who has the request, or that it has ended.
func (e *TooLateError) Error() string {
	switch {
	case e == nil || e.Assignment == nil:
		return "internal: a *livechat.TooLateError without an assignment was returned as an error"
	case e.AdminName == "":
		return "the assignment " + e.Assignment.ID + " has ended: there is nothing to take"
	default:
		since := e.Assignment.AssignedAt.Time().UTC().Format("15:04:05 UTC")
		return fmt.Sprintf("%s (%s) has the assignment %s already, since %s", e.AdminName, e.Assignment.Assignee, e.Assignment.ID, since)
	}
}

// Position is the place of a request among the requests that wait for an agent.
type Position struct {
	// Place is 1 for the request that waits longest. It is 0 for one that does not wait: it is still
	// being sent, was taken or has ended.
	Place int64
	// Waiting is the number of requests that wait, this one included.
	Waiting int64
}

// UnsentError is the cause of the error from a request that did not reach all of its targets. errors.AsType
// finds it:
//
//	if unsent, ok := errors.AsType[*livechat.UnsentError](err); ok { ... }
type UnsentError struct {
	// AssignmentID is the id of the assignment that was sent in part. It is "" if nothing was
	// sent and no further call can change that: then there is no assignment.
	AssignmentID string
	// Failures are the targets that did not get it, in their order.
	Failures []Unsent
	// Of is the number of targets.
	Of int
	// IsOpen is whether the request is open without the targets that did not get it: they
	// refused it so that another try would end alike, as a group that is not there does.
	IsOpen bool
}

// Unsent is one target that did not get a request, and why.
type Unsent struct {
	// Channel is the id of the outlet channel, Group the broadcast group in it: the zero
	// one if the channel has the request directly.
	Channel string
	Group   channel.BroadcastGroupMember
	Err     error
}

// Error names the targets, the first of many.
func (u *UnsentError) Error() string {
	if u == nil {
		return "internal: a nil *livechat.UnsentError was returned as an error: return nil itself"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d targets did not get the request: ", len(u.Failures), u.Of)
	text.WriteString(display.List(len(u.Failures), func(i int) string {
		failure := u.Failures[i]
		return fmt.Sprintf("%s (%s)", strings.TrimSpace(failure.Channel+" "+failure.Group.ID), display.Text(failure.Err))
	}))
	switch {
	case u.AssignmentID == "":
		text.WriteString("; nothing was sent, and there is no request")
	case u.IsOpen:
		fmt.Fprintf(&text, "; the assignment %s is open without them: correct or remove them", u.AssignmentID)
	default:
		fmt.Fprintf(&text, "; the same call again sends what is missing of the assignment %s", u.AssignmentID)
	}
	return text.String()
}

// Unwrap returns the error of each target. The nil pointer has none.
func (u *UnsentError) Unwrap() []error {
	if u == nil {
		return nil
	}
	errs := make([]error, len(u.Failures))
	for i, failure := range u.Failures {
		errs[i] = failure.Err
	}
	return errs
}
