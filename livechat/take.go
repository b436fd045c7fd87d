package livechat

import (
	"context"
	"fmt"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
)

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

// Take gives a request to the agent who takes it. Of many who try at once, one gets it. Then
// a group is made where the connector is a GroupCreator, else the conversation with the
// agent is the group, and an agent has one of these at a time in a channel. The member's
// botMeta.liveChat is as the request says, also where a crash left it otherwise. The summary
// is sent into the group, and the other tickets show the taken message where the connector is a
// TicketUpdater. It is for hosts, which call it when their outlet's platform reports it.
//
// Where the same agent takes it again, what an earlier call left undone is done, and nothing
// twice.
//
// InvalidArgument: a parameter is missing. NotFound: the app has no such assignment or
// channel. FailedPrecondition: another agent has it, or it has ended, see TooLateError; it is
// still being sent; it was not offered in the channel; or the agent is in another direct
// conversation there. Unsupported: the host has no connector for the channel's type. Where the
// platform refuses to make the group, its error is returned, and the request is open again.
// Unavailable: the platform did not answer. Then the agent has it if GetAssignment says so,
// and the same call again does the rest.
func (s *Service) Take(ctx context.Context, p TakeParams) (_ *TakeResult, err error) {
	defer s.guard(ctx, &err)
	if _, err := assignmentByID(p.AssignmentID).Resolve(); err != nil {
		return nil, err
	}
	in := channels.ByRequiredID(p.ChannelID)
	if _, err := in.Resolve(); err != nil {
		return nil, err
	}
	if p.AdminExternalID == "" {
		return nil, boterr.Missing(fieldAdminExternalID, "the id of the agent on the outlet's platform")
	}
	outlet, err := s.namedChannel(ctx, in)
	if err != nil {
		return nil, err
	}
	if _, err := s.ports.Connectors.Of(outlet); err != nil {
		return nil, boterr.WithField(fieldChannelID, err)
	}
	r, err := s.claim(ctx, outlet, p)
	if err != nil {
		return nil, err
	}
	run := &pass{machine: s.machine, r: r, takenFrom: p.BroadcastGroupID}
	if err := run.reconcile(ctx, wantConversation); err != nil {
		return nil, err
	}
	if r, err = s.loadAssignment(ctx, r.ID); err != nil {
		return nil, err
	}
	return &TakeResult{Assignment: &r.Assignment, Group: run.group}, nil
}

// claim makes the agent the one who has the assignment, unless somebody else is.
func (s *Service) claim(ctx context.Context, outlet *channel.Channel, p TakeParams) (*AssignmentRecord, error) {
	r, err := s.namedAssignment(ctx, assignmentByID(p.AssignmentID))
	if err != nil {
		return nil, err
	}
	if !r.isOfferedIn(outlet.ID) {
		return nil, boterr.New(boterr.FailedPrecondition, fieldChannelID,
			"the assignment %s was not offered in the channel %s: take it where its ticket is", r.ID, outlet.ID)
	}
	if r.State() == Pending && s.machine.talksDirectly(outlet, r) {
		if err := s.machine.requireFree(ctx, outlet.ID, p.AdminExternalID, r.ID); err != nil {
			return nil, err
		}
	}
	claimed, err := s.machine.markTaken(ctx, r, outlet.ID, p.AdminExternalID)
	if err != nil || claimed != nil {
		return claimed, err
	}
	return s.claimedBefore(ctx, outlet, p)
}

// markTaken stores that an agent in an outlet has an assignment that is open, and returns it as
// it is then. nil: an agent has it already, it is not open, or it has ended.
func (s *machine) markTaken(ctx context.Context, r *AssignmentRecord, outletID, adminExternalID string) (*AssignmentRecord, error) {
	expiry := s.nextExpiry()
	if r.Expiry.IsZero() && slices.Contains(taking.from, r.State()) { // It is watched, also where a crash comes next.
		if err := s.setAlarm(ctx, r.Member, expiry); err != nil {
			return nil, err
		}
	}
	taken := document.O(
		fieldAssignee, adminExternalID, fieldAssignedAt, document.TimestampOf(s.env.Now()), fieldOutlet, outletID, fieldExpiry, expiry)
	return s.move(ctx, r, taking, document.O(fieldAssignee, isAbsent()), document.O("$set", taken))
}

// claimedBefore returns an assignment that could not be claimed, if that is because the same
// agent has it already.
func (s *Service) claimedBefore(ctx context.Context, outlet *channel.Channel, p TakeParams) (*AssignmentRecord, error) {
	r, err := s.namedAssignment(ctx, assignmentByID(p.AssignmentID))
	if err != nil {
		return nil, err
	}
	switch state := r.State(); {
	case state == Taken && r.Assignee == p.AdminExternalID && r.Outlet == outlet.ID:
		return r, nil
	case state == Taken:
		name, err := s.adminName(ctx, r.Assignee)
		if err != nil {
			return nil, err
		}
		return nil, boterr.New(boterr.FailedPrecondition, fieldAssignmentID, "%w", &TooLateError{Assignment: &r.Assignment, AdminName: name})
	case state == Ended:
		return nil, boterr.New(boterr.FailedPrecondition, fieldAssignmentID, "%w", &TooLateError{Assignment: &r.Assignment})
	case state == Sending:
		return nil, boterr.New(boterr.FailedPrecondition, fieldAssignmentID,
			"the assignment %s is still being sent: take it when the request is open", r.ID)
	default:
		return nil, boterr.New(boterr.Conflict, fieldAssignmentID, "the assignment %s changed meanwhile: take it again", r.ID)
	}
}

// isOfferedIn reports whether agents of a channel may take the assignment.
func (r *AssignmentRecord) isOfferedIn(channelID string) bool {
	if r.Direct != "" {
		return r.Direct == channelID
	}
	for _, ticket := range r.Tickets {
		if ticket.Channel == channelID {
			return true
		}
	}
	return false
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
