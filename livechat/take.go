package livechat

import "fmt"

// TakePayload is the payload of the button by which a ticket is taken. The value beside it is
// the id of the assignment.
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

// TooLateError is the error behind that of a Take that comes too late: somebody else has the request, or it has
// ended. errors.AsType finds it, and whoever tapped can be told:
//
//	if late, ok := errors.AsType[*livechat.TooLateError](err); ok { ... }
type TooLateError struct {
	// Assignment is the assignment as it is now.
	Assignment *Assignment
	// AdminName is the name of the agent who has it, or the agent's id. It is "" where the assignment has ended.
	AdminName string
}

// Error tells who has the request, or that it has ended.
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
