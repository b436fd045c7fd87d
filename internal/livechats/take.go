package livechats

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/livechat"
)

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
func (s *Service) Take(ctx context.Context, p livechat.TakeParams) (*livechat.TakeResult, error) {
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
	return &livechat.TakeResult{Assignment: &r.Assignment, Group: run.group}, nil
}

// claim makes the agent the one who has the assignment, unless somebody else is.
func (s *Service) claim(ctx context.Context, outlet *channel.Channel, p livechat.TakeParams) (*livechat.AssignmentRecord, error) {
	r, err := s.namedAssignment(ctx, assignmentByID(p.AssignmentID))
	if err != nil {
		return nil, err
	}
	if !isOfferedIn(r, outlet.ID) {
		return nil, boterr.New(boterr.FailedPrecondition, fieldChannelID,
			"the assignment %s was not offered in the channel %s: take it where its ticket is", r.ID, outlet.ID)
	}
	if r.State() == livechat.Pending && s.machine.talksDirectly(outlet, r) {
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
func (s *machine) markTaken(
	ctx context.Context, r *livechat.AssignmentRecord, outletID, adminExternalID string,
) (*livechat.AssignmentRecord, error) {
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
func (s *Service) claimedBefore(ctx context.Context, outlet *channel.Channel, p livechat.TakeParams) (*livechat.AssignmentRecord, error) {
	r, err := s.namedAssignment(ctx, assignmentByID(p.AssignmentID))
	if err != nil {
		return nil, err
	}
	switch state := r.State(); {
	case state == livechat.Taken && r.Assignee == p.AdminExternalID && r.Outlet == outlet.ID:
		return r, nil
	case state == livechat.Taken:
		name, err := s.adminName(ctx, r.Assignee)
		if err != nil {
			return nil, err
		}
		return nil, boterr.New(boterr.FailedPrecondition, fieldAssignmentID, "%w",
			&livechat.TooLateError{Assignment: &r.Assignment, AdminName: name})
	case state == livechat.Ended:
		return nil, boterr.New(boterr.FailedPrecondition, fieldAssignmentID, "%w", &livechat.TooLateError{Assignment: &r.Assignment})
	case state == livechat.Sending:
		return nil, boterr.New(boterr.FailedPrecondition, fieldAssignmentID,
			"the assignment %s is still being sent: take it when the request is open", r.ID)
	default:
		return nil, boterr.New(boterr.Conflict, fieldAssignmentID, "the assignment %s changed meanwhile: take it again", r.ID)
	}
}

// isOfferedIn reports whether agents of a channel may take the assignment.
func isOfferedIn(r *livechat.AssignmentRecord, channelID string) bool {
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
