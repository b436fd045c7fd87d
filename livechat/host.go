package livechat

import (
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/display"
)

// Texts are the messages that live chats send without bot logic. An empty text is not sent. DefaultTexts returns the
// defaults.
type Texts struct {
	// Waiting tells a member, once for each request, that no agent has taken it yet and that messages are
	// kept. It is sent if the member writes and the bot does not answer. [position] is replaced by the
	// request's place in the queue, 1 for the next one, and [waiting] by the number of waiting requests.
	Waiting string
	// Full tells a member that a message is not kept because MostKept messages are already waiting. It is sent if
	// the bot does not answer.
	Full string
	// Unread tells a member that the request has ended, and that no agent has read the kept messages.
	Unread string
	// AgentGone tells a member that the live chat has ended because the agent's conversation is gone.
	AgentGone string
	// Before is sent above the messages that the member wrote before an agent took the request. [count] is
	// replaced by their number.
	Before string
	// Unshown is sent to the agent instead of a member's message that the outlet's platform cannot show.
	Unshown string
	// Unsent tells a member or an agent that a message was not passed on, because the other side's platform refused it, or
	// did not answer in any attempt.
	Unsent string
	// Over tells an agent who continues to write, once for each conversation, that the live chat has ended.
	Over string
	// MemberGone tells an agent that the live chat has ended because the member can no longer be reached.
	MemberGone string
	// Late tells an agent who taps on a ticket that the request has ended. It also appears on the tickets of
	// a request that ended before an agent took it, if the platform can change messages, and in the conversation that
	// a helpdesk opened for it.
	Late string
	// LateTaken tells an agent who taps on a ticket that another agent has the request. [adminName] is
	// replaced by that agent's name.
	LateTaken string
}

// DefaultTexts returns the texts used if a host sets none. A host can change the result and set it.
func DefaultTexts() Texts {
	return Texts{
		Waiting:    "Nobody is there yet. Whoever answers you will read what you write here.",
		Full:       "Nobody is there yet, and no more messages are kept: this one is not passed on.",
		Unread:     "Nobody could answer you. What you wrote was not read.",
		AgentGone:  "The conversation has ended: nobody can be reached there any more.",
		Before:     "Written before ([count]):",
		Unshown:    "(A message that cannot be shown here.)",
		Unsent:     "What you wrote last could not be passed on.",
		Over:       "This conversation is over. What you write here reaches nobody.",
		MemberGone: "This conversation is over: the customer cannot be reached any more.",
		Late:       "This request is over.",
		LateTaken:  DefaultTakenMessage,
	}
}

// DefaultTakenMessage is the text that the other tickets show after one was taken. On Charlie, the request's
// takenMessage replaces it.
const DefaultTakenMessage = "Taken by [adminName]."

// TakePayload is the payload of the button that takes a ticket. The button's value is the id of the
// assignment.
const TakePayload = "livechat:take"

// TakeParams name the agent who takes an assignment, and the ticket.
type TakeParams struct {
	// AssignmentID is the id of the assignment. Required.
	AssignmentID string
	// ChannelID is the id of the outlet channel. Required.
	ChannelID string
	// AdminExternalID is the agent's id on the outlet's platform. Required.
	AdminExternalID string
	// BroadcastGroupID is the platform's id of the broadcast group whose ticket the agent took. That ticket
	// is not changed; the others show the taken message. If BroadcastGroupID is "" or that group has no
	// ticket, all tickets show it.
	BroadcastGroupID string
}

// TakeResult is an assignment taken by an agent.
type TakeResult struct {
	// Assignment is the assignment in its current state.
	Assignment *Assignment
	// Group is the conversation with the agent.
	Group *Group
}

// TooLateError is the cause of the error from a TakeTicket that comes too late: another agent has the
// request, or it has ended. errors.AsType finds it, so that the host can answer the agent:
//
//	if late, ok := errors.AsType[*livechat.TooLateError](err); ok { ... }
type TooLateError struct {
	// Assignment is the assignment in its current state.
	Assignment *Assignment
	// AdminName is the name of the agent who has the request, or the agent's id. It is "" if the assignment
	// has ended.
	AdminName string
}

// Error names the agent who has the request, or reports that it has ended.
func (e *TooLateError) Error() string {
	switch {
	case e == nil || e.Assignment == nil:
		return "internal: a *livechat.TooLateError without an assignment was returned as an error"
	case e.AdminName == "":
		return "the assignment " + e.Assignment.ID + " has ended: there is nothing to take"
	default:
		since := e.Assignment.AssignedAt.Time().UTC().Format("15:04:05 UTC")
		return fmt.Sprintf("%s (%s) already has the assignment %s, since %s", e.AdminName, e.Assignment.Assignee, e.Assignment.ID, since)
	}
}

// Position is the place of a request among the requests that wait for an agent.
type Position struct {
	// Place is 1 for the request that has waited longest. It is 0 for a request that does not wait, because
	// it is still being sent, was taken or has ended.
	Place int64
	// Waiting is the number of waiting requests, including this one.
	Waiting int64
}

// UnsentError is the cause of the error from a request that did not reach all of its targets. errors.AsType
// finds it:
//
//	if unsent, ok := errors.AsType[*livechat.UnsentError](err); ok { ... }
type UnsentError struct {
	// AssignmentID is the id of the assignment that was partly sent. It is "" if all targets refused the
	// request for good; then there is no assignment.
	AssignmentID string
	// Failures are the targets that did not get the request, in order.
	Failures []Unsent
	// Of is the number of all targets.
	Of int
	// IsOpen is true if the request is open without the targets in Failures, because they refused it for
	// good: for example, a group does not exist.
	IsOpen bool
}

// Unsent is a target that did not get a request, and the reason.
type Unsent struct {
	// Channel is the id of the outlet channel. Group is the broadcast group in it, or zero if the request goes
	// to the channel directly.
	Channel string
	Group   channel.BroadcastGroupMember
	Err     error
}

// Error names the targets, shortened if there are many.
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
		text.WriteString("; nothing was sent, and there is no request: correct the targets")
	case u.IsOpen:
		fmt.Fprintf(&text, "; the assignment %s is open without them: correct or remove them", u.AssignmentID)
	default:
		fmt.Fprintf(&text, "; repeat the call to send the rest of the assignment %s", u.AssignmentID)
	}
	return text.String()
}

// Unwrap returns the errors of the targets.
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
