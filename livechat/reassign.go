package livechat

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

// ReassignAssignment implements Operations.
func (s *Service) ReassignAssignment(ctx context.Context, p ReassignAssignmentParams) (ReassignAssignmentResult, error) {
	if err := checkReassign(p); err != nil {
		return ReassignAssignmentResult{}, err
	}
	outlet, err := s.channelParameter(ctx, p.Channel, "")
	if err != nil {
		return ReassignAssignmentResult{}, err
	}
	if err := requireType(outlet, channel.Bravo, channel.Charlie, channel.Delta); err != nil {
		return ReassignAssignmentResult{}, at(fieldChannel, err)
	}
	previous, err := s.previousAssignment(ctx, outlet, p)
	if err != nil {
		return ReassignAssignmentResult{}, err
	}
	m, err := s.memberOf(ctx, previous)
	if err != nil {
		return ReassignAssignmentResult{}, at(fieldPreviousAssignment, err)
	}
	asked, err := s.handover(ctx, previous, outlet, m, p)
	if err != nil {
		return ReassignAssignmentResult{}, err
	}
	next, err := s.standing(ctx, asked, func() (*AssignmentRecord, error) {
		return s.openHandover(ctx, previous.ID)
	})
	if err == nil {
		err = s.closePrevious(ctx, next)
	}
	if err != nil {
		return ReassignAssignmentResult{}, err
	}
	m, err = s.memberWithLiveChat(ctx, next, p.LiveChat == nil || *p.LiveChat)
	if err != nil {
		return ReassignAssignmentResult{}, err
	}
	return ReassignAssignmentResult{Member: m, AssignmentID: next.ID}, nil
}

// fieldPreviousAssignment is the parameter of the assignment that is handed on.
const fieldPreviousAssignment = "previousAssignment"

// checkReassign refuses parameters that are wrong whatever is stored.
func checkReassign(p ReassignAssignmentParams) error {
	switch {
	case p.Label == "" && len(p.Targets) == 0:
		return boterr.Invalid(fieldLabel, "is missing: give the label of the broadcast groups that get the new ticket, or targets")
	case p.MessageEvent == nil && p.PreviousAssignment == nil:
		return boterr.Invalid(fieldMessageEvent, "is missing: give the event in the conversation that is handed on, or previousAssignment")
	case p.PreviousAssignment != nil && p.PreviousAssignment.ID == "":
		return boterr.Invalid(fieldPreviousAssignment+"._id", "is missing: it is what an assignment is found by")
	}
	for path := range p.Meta.All() {
		if err := checkMetaPath(path); err != nil {
			return err
		}
	}
	for field, text := range map[string]string{fieldSummary: p.Summary, fieldRelayMessage: p.RelayMessage} {
		if text == "" {
			continue
		}
		if err := send.Text(text).Validate(); err != nil {
			return at(field, err)
		}
	}
	return checkTargets(p.Targets)
}

// previousAssignment returns the assignment that is handed on.
func (s *Service) previousAssignment(
	ctx context.Context, outlet *channel.Channel, p ReassignAssignmentParams,
) (*AssignmentRecord, error) {
	if p.MessageEvent == nil {
		r, err := s.loadAssignment(ctx, p.PreviousAssignment.ID)
		return r, boterr.In(fieldPreviousAssignment+"._id", err)
	}
	r, err := s.eventAssignment(ctx, outlet, p.MessageEvent)
	if err != nil {
		return nil, err
	}
	if p.PreviousAssignment != nil && p.PreviousAssignment.ID != r.ID {
		return nil, boterr.Invalid(fieldPreviousAssignment, "is %s, and messageEvent leads to the assignment %s: give one of both",
			p.PreviousAssignment.ID, r.ID)
	}
	return r, nil
}

// handover returns what a call asks for that hands an assignment on: what it does not say
// comes from that one.
func (s *Service) handover(
	ctx context.Context, previous *AssignmentRecord, outlet *channel.Channel, m *member.Member, p ReassignAssignmentParams,
) (request, error) {
	inletGroup, err := s.inletGroupOf(ctx, previous, p)
	if err != nil {
		return request{}, err
	}
	meta := previous.Meta
	for path, value := range p.Meta.All() {
		meta.Set(path, value)
	}
	if err := errors.Join(p.Meta.Err(), meta.Err()); err != nil {
		return request{}, at(fieldMeta, err)
	}
	asked := request{
		member: m, label: orDefaultLabel(p.Label), targets: p.Targets, outlet: outlet.ID, relayText: p.RelayMessage,
	}
	asked.record = AssignmentRecord{
		Assignment: Assignment{
			ID: s.env.NewID(), Inlet: previous.Inlet, Member: previous.Member, ParentAssignment: previous.ID,
			Meta: meta, History: previous.History, RelayMessage: previous.RelayMessage, InletGroupInfo: inletGroup,
		},
		Slot:           handoverSlot(previous.ID),
		Label:          asked.label,
		Summary:        either(p.Summary, previous.Summary),
		GroupName:      either(p.GroupName, previous.GroupName),
		TakenMessage:   either(p.TakenMessage, previous.TakenMessage),
		Details:        previous.Details,
		LiveChatAgenda: previous.LiveChatAgenda,
	}
	return asked, nil
}

// either returns the first text that is given.
func either(given, otherwise string) string {
	if given != "" {
		return given
	}
	return otherwise
}

// inletGroupOf returns what is known of the group on the inlet's side, where a call says
// that there is one.
func (s *Service) inletGroupOf(ctx context.Context, previous *AssignmentRecord, p ReassignAssignmentParams) (document.Object, error) {
	if !p.InletGroup || document.Get(previous.InletGroupInfo, fieldExternalID, "") != "" {
		if !p.InletGroup {
			return document.Object{}, nil
		}
		return previous.InletGroupInfo, nil
	}
	if previous.Group != "" {
		g, err := s.loadGroup(ctx, previous.Group)
		if err != nil && !errors.Is(err, boterr.NotFound) {
			return document.Object{}, err
		}
		if err == nil && g.InletGroupExternalID != "" {
			return document.O(fieldExternalID, g.InletGroupExternalID), nil
		}
	}
	return document.Object{}, boterr.New(boterr.FailedPrecondition, "inletGroup",
		"the conversation of the assignment %s is no group on the inlet's side: leave it out", previous.ID)
}

// relayMessages returns the relay messages of a request for its outlets: those that it
// brings, or for all of them the one text that it is handed on with.
func (asked request) relayMessages(outlets []outlet) (document.Object, error) {
	if asked.relayText == "" {
		return asked.record.RelayMessage, nil
	}
	messages := document.O()
	for _, o := range outlets {
		message := send.Buttons(asked.relayText, send.Postback("Take", TakePayload))
		if isDirect(o.Type) {
			message = send.Text(asked.relayText)
		}
		filled, err := send.Fill(message, asked.member)
		if err != nil {
			return messages, boterr.In(fieldRelayMessage, err)
		}
		messages = messages.With(string(o.Type), filled)
	}
	return messages, messages.Err()
}

// handoverSlots is what the slots of assignments begin with while they take the place of
// another one, which is open still.
const handoverSlots = "handover/"

// handoverSlot is the slot of the assignment that takes the place of another one.
func handoverSlot(previousID string) string { return handoverSlots + previousID }

// isHandoverSlot is a condition that such slots meet: 0 comes next to /.
func isHandoverSlot() document.Object {
	return document.O("$gte", handoverSlots, "$lt", "handover0")
}

// An assignment is handed on in steps: the next one is stored in a slot of its own and sent,
// while the previous one goes on; the previous one is marked as ended, the next one stands in
// its place, and what is left of the previous one ends. Where nobody can take the next one,
// the previous one is as before.

// openHandover returns the assignment that another one is being handed on to, nil where none
// was made yet. FailedPrecondition: it is too late to hand it on.
func (s *Service) openHandover(ctx context.Context, previousID string) (*AssignmentRecord, error) {
	previous, err := s.loadAssignment(ctx, previousID)
	if err != nil {
		return nil, boterr.In(fieldPreviousAssignment, err)
	}
	next, err := s.nextOf(ctx, previousID)
	switch {
	case err != nil:
		return nil, err
	case next == nil && previous.State() == Ended:
		return nil, boterr.New(boterr.FailedPrecondition, fieldPreviousAssignment,
			"the assignment %s has ended: %s", previousID, previous.endingText())
	case next != nil && next.State() == Taken:
		return nil, boterr.New(boterr.FailedPrecondition, fieldPreviousAssignment,
			"the assignment %s was handed on already, and %s has the next one, %s", previousID, next.Assignee, next.ID)
	default:
		return next, nil
	}
}

// unlessHandedOn returns a new assignment as it was stored, and nil where it comes too late:
// then the one in whose place it would come has ended, and it is removed again.
func (s *Service) unlessHandedOn(ctx context.Context, stored document.Object) (*AssignmentRecord, error) {
	r, err := assignmentFrom(stored)
	if err != nil || r.ParentAssignment == "" {
		return r, err
	}
	previous, err := s.loadAssignment(ctx, r.ParentAssignment)
	if err == nil && previous.State() != Ended {
		return r, nil
	}
	if err != nil && !errors.Is(err, boterr.NotFound) {
		return nil, err
	}
	_, err = s.assignments.Delete(ctx, equal(record.FieldID, r.ID))
	return nil, err
}

// nextOf returns the open assignment that another one is handed on to, nil where there is
// none.
func (s *Service) nextOf(ctx context.Context, previousID string) (*AssignmentRecord, error) {
	found, err := s.FindAssignments(ctx, record.Query{
		Filter: equal(fieldParentAssignment, previousID).With(fieldEndedAt, isAbsent()), Limit: 1,
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// openOrHandedOn returns the open assignment of a member, or the one that was about to take
// the place of another, which has ended. nil: there is none.
func (s *Service) openOrHandedOn(ctx context.Context, memberID string) (*AssignmentRecord, error) {
	open, err := s.openAssignment(ctx, memberID)
	if err != nil || open != nil {
		return open, err
	}
	found, err := s.FindAssignments(ctx, record.Query{
		Filter: equal(fieldMember, memberID).With(fieldSlot, isHandoverSlot()), Limit: 1,
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// endPrevious ends the assignment in whose place one comes that was sent. Where it has ended
// otherwise, there is nothing to hand on any more: FailedPrecondition.
func (s *Service) endPrevious(ctx context.Context, next *AssignmentRecord) error {
	if next.ParentAssignment == "" {
		return nil
	}
	previous, err := s.loadAssignment(ctx, next.ParentAssignment)
	if errors.Is(err, boterr.NotFound) {
		return s.withdraw(ctx, next, at(fieldPreviousAssignment, err))
	}
	if err != nil {
		return err
	}
	if ended, err := s.markEnded(ctx, previous, EndedByReassign, document.O()); err != nil || ended != nil {
		return err
	}
	if previous, err = s.loadAssignment(ctx, previous.ID); err != nil || previous.EndedBy == EndedByReassign {
		return err
	}
	return s.withdraw(ctx, next, boterr.New(boterr.FailedPrecondition, fieldPreviousAssignment,
		"the assignment %s ended while it was handed on: %s", previous.ID, previous.endingText()))
}

// closePrevious ends what is left of the assignment in whose place one stands.
func (s *Service) closePrevious(ctx context.Context, next *AssignmentRecord) error {
	if next.ParentAssignment == "" {
		return nil
	}
	previous, err := s.loadAssignment(ctx, next.ParentAssignment)
	if err != nil || !previous.isInterrupted(EndedByReassign) {
		return err
	}
	if previous.Assignee == "" {
		if err := s.recallSent(ctx, previous); err != nil {
			return err
		}
	}
	_, err = s.closeEnded(ctx, previous)
	return err
}
