package livechats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// An assignment is handed on in steps. The next assignment is stored in a separate slot and sent while the
// previous one stays open. Then the previous assignment is marked as ended, the next one moves to the member's
// slot, and the previous one is closed. If no outlet accepts the next assignment, the previous one stays
// unchanged.

// nextOf returns the assignment that replaces or will replace previousID, unless it has ended, or nil.
func (s *Service) nextOf(ctx context.Context, previousID string) (*livechat.AssignmentRecord, error) {
	return s.oneAssignment(ctx, document.O(fieldParentAssignment, previousID).With(fieldEndedAt, isAbsent))
}

// current returns a member's current assignment, or nil: the open one, or else the next assignment of an
// interrupted hand-over. It finds both with one read, because a hand-over that opens the next assignment between two
// reads would hide it from both.
func (s *Service) current(ctx context.Context, memberID string) (*livechat.AssignmentRecord, error) {
	found, err := s.FindAssignments(ctx, record.Query{
		Filter: document.O(fieldMember, memberID).With(fieldClosedAt, isAbsent).With(fieldEndedAt, isAbsent),
	})
	if err != nil {
		return nil, err
	}
	var next *livechat.AssignmentRecord
	for _, r := range found {
		switch {
		case r.Slot == openSlot(memberID):
			return r, nil
		case strings.HasPrefix(r.Slot, handoverSlots):
			next = r
		}
	}
	if next == nil {
		return nil, nil
	}
	previous, err := s.findAssignment(ctx, next.ParentAssignment)
	if err != nil || canFollow(previous) {
		return next, err
	}
	return nil, s.remove(ctx, next) // The previous assignment has ended in another way.
}

// canFollow reports whether another assignment can replace this one: it is open or was handed on.
func canFollow(previous *livechat.AssignmentRecord) bool {
	return previous != nil && (previous.State() != livechat.Ended || wasHandedOn(previous))
}

// openHandover returns the open assignment to which previousID is being handed on, or nil if there is none
// yet. It returns FailedPrecondition if the previous assignment can no longer be handed on.
func (s *Service) openHandover(ctx context.Context, previousID string) (*livechat.AssignmentRecord, error) {
	previous, err := s.loadAssignment(ctx, previousID)
	if err != nil {
		return nil, boterr.PrefixField(fieldPreviousAssignment, err)
	}
	next, err := s.nextOf(ctx, previousID)
	switch {
	case err != nil:
		return nil, err
	case next == nil && previous.State() == livechat.Ended:
		if err := s.finish(ctx, previous); err != nil {
			return nil, err
		}
		return nil, boterr.New(boterr.FailedPrecondition, fieldPreviousAssignment,
			"the assignment %s has ended: %s", previousID, endingText(previous))
	case next != nil && next.State() == livechat.Sending && !canFollow(previous):
		return nil, s.withdraw(ctx, next, endedDuringHandover(previous))
	case next != nil && next.State() == livechat.Taken:
		return nil, boterr.New(boterr.FailedPrecondition, fieldPreviousAssignment,
			"the assignment %s was already handed on, and %s has the next one, %s", previousID, next.Assignee, next.ID)
	default:
		return next, nil
	}
}

// endPrevious ends the assignment that is handed on after the next one was sent. It returns FailedPrecondition if the
// assignment ended in another way.
func (p *pass) endPrevious(ctx context.Context) error {
	previous, err := p.loadAssignment(ctx, p.r.ParentAssignment)
	if errors.Is(err, boterr.NotFound) {
		return p.withdraw(ctx, p.r, boterr.WithField(fieldPreviousAssignment, err))
	}
	if err != nil {
		return err
	}
	ended, err := p.markEnded(ctx, previous, livechat.EndedByReassign, document.O(), fieldHeardUntil, p.heardUntil)
	if err != nil || ended != nil {
		return err
	}
	if previous, err = p.loadAssignment(ctx, previous.ID); err != nil || canFollow(previous) {
		return err
	}
	return p.withdraw(ctx, p.r, endedDuringHandover(previous))
}

// finishPrevious closes the assignment that was handed on, if it has ended. A failure is added to errs, and
// does not prevent the next assignment from opening.
func (p *pass) finishPrevious(ctx context.Context) error {
	p.errs = append(p.errs, p.finishParent(ctx, p.r))
	return nil
}

// finishParent completes the closing of the assignment that next replaces, if that assignment has ended.
func (s *Service) finishParent(ctx context.Context, next *livechat.AssignmentRecord) error {
	if isFirst(next) {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // The assignment has ended, so the cleanup must not be canceled.
	previous, err := s.findAssignment(ctx, next.ParentAssignment)
	if err != nil || previous == nil || previous.State() != livechat.Ended {
		return err
	}
	return s.finish(ctx, previous)
}

// endedDuringHandover returns the error for handing on an assignment that ended meanwhile.
func endedDuringHandover(previous *livechat.AssignmentRecord) error {
	return boterr.New(boterr.FailedPrecondition, fieldPreviousAssignment,
		"the assignment %s ended while it was handed on: %s", previous.ID, endingText(previous))
}

// followsOpen reports whether the assignment that r replaces is still open. If it has ended, r was stored too
// late, and is removed again.
func (s *Service) followsOpen(ctx context.Context, r *livechat.AssignmentRecord) (bool, error) {
	if isFirst(r) {
		return true, nil
	}
	previous, err := s.findAssignment(ctx, r.ParentAssignment)
	if err != nil || previous != nil && previous.State() != livechat.Ended {
		return err == nil, err
	}
	_, err = s.assignments().Delete(ctx, document.O(record.FieldID, r.ID))
	return false, err
}

// ReassignAssignment implements Operations.
func (s *Service) ReassignAssignment(ctx context.Context, p livechat.ReassignAssignmentParams) (livechat.ReassignAssignmentResult, error) {
	if err := checkReassign(p); err != nil {
		return livechat.ReassignAssignmentResult{}, err
	}
	named := channels.ByRecord(s.scope, p.Channel)
	outlet, err := channels.Load(ctx, s.ports.Channels, named)
	if err == nil {
		err = boterr.WithField(named.Field(), outlet.Require(channel.OutletGroups))
	}
	if err != nil {
		return livechat.ReassignAssignmentResult{}, err
	}
	of := "hand on " + conversationNamed(outlet, p.MessageEvent)
	if p.PreviousAssignment != nil {
		of += fmt.Sprintf(" %q", p.PreviousAssignment.ID)
	}
	run, err := s.assignmentOnce(ctx, of, func(ctx context.Context) (*pass, error) { return s.handOn(ctx, outlet, p) })
	if err != nil {
		return livechat.ReassignAssignmentResult{}, err
	}
	m, err := run.memberNow(ctx)
	if err != nil {
		return livechat.ReassignAssignmentResult{}, boterr.WithField(fieldMember, err)
	}
	return livechat.ReassignAssignmentResult{Member: m, AssignmentID: run.r.ID}, nil
}

// handOn ends the assignment of a call and creates the next one.
func (s *Service) handOn(ctx context.Context, outlet *channel.Channel, p livechat.ReassignAssignmentParams) (*pass, error) {
	previous, err := s.previousAssignment(ctx, outlet, p)
	if err != nil {
		return nil, err
	}
	m, err := members.Get(ctx, s.ports.Members, previous.Member)
	if err != nil {
		return nil, boterr.WithField(fieldPreviousAssignment, err)
	}
	asked, err := s.handover(ctx, previous, outlet, m, p)
	if err != nil {
		return nil, err
	}
	return s.ensureOpen(ctx, asked, func() (*livechat.AssignmentRecord, error) { return s.openHandover(ctx, previous.ID) })
}

// checkReassign checks the parameters that do not depend on stored records.
func checkReassign(p livechat.ReassignAssignmentParams) error {
	switch {
	case p.Label == "" && len(p.Targets) == 0:
		return boterr.Missing(fieldLabel, "the label of the broadcast groups that get the new ticket, or targets")
	case p.MessageEvent == nil && p.PreviousAssignment == nil:
		return boterr.Missing(fieldMessageEvent, "the event in the conversation that is handed on, or previousAssignment")
	case p.PreviousAssignment != nil:
		if _, err := previousAssignment(p.PreviousAssignment).Resolve(); err != nil {
			return err
		}
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
			return boterr.WithField(field, err)
		}
	}
	return checkTargets(p.Targets)
}

func (s *Service) previousAssignment(
	ctx context.Context, outlet *channel.Channel, p livechat.ReassignAssignmentParams,
) (*livechat.AssignmentRecord, error) {
	if p.MessageEvent == nil {
		return s.namedAssignment(ctx, previousAssignment(p.PreviousAssignment))
	}
	r, err := s.eventAssignment(ctx, outlet, p.MessageEvent)
	if err != nil {
		return nil, err
	}
	if p.PreviousAssignment != nil && p.PreviousAssignment.ID != r.ID {
		return nil, boterr.Invalid(fieldPreviousAssignment, "is %s, and messageEvent leads to the assignment %s: give only one of them",
			p.PreviousAssignment.ID, r.ID)
	}
	return r, nil
}

// handover returns the request of a call that hands on an assignment. Missing values are taken from the assignment.
func (s *Service) handover(
	ctx context.Context, previous *livechat.AssignmentRecord, outlet *channel.Channel, m *member.Member, p livechat.ReassignAssignmentParams,
) (request, error) {
	inletGroup, err := s.inletGroupOf(ctx, previous, p)
	if err != nil {
		return request{}, err
	}
	meta, err := withFields(ctx, previous.Meta, p.Meta)
	if err != nil {
		return request{}, boterr.PrefixField(fieldMeta, err)
	}
	asked := request{
		member: m, targets: p.Targets, outlet: outlet.ID,
		relayText: p.RelayMessage, takenMessage: p.TakenMessage, heardUntil: s.timeOf(p.MessageEvent),
	}
	asked.record = livechat.AssignmentRecord{
		Assignment: livechat.Assignment{
			ID: s.env.NewID(), Inlet: previous.Inlet, Member: previous.Member, ParentAssignment: previous.ID,
			Meta: meta, History: previous.History, RelayMessage: previous.RelayMessage, InletGroupInfo: inletGroup,
		},
		Progress:       livechat.Progress{Slot: handoverSlot(previous.ID)},
		Label:          cmp.Or(p.Label, livechat.DefaultLabel),
		Summary:        cmp.Or(p.Summary, previous.Summary),
		GroupName:      cmp.Or(p.GroupName, previous.GroupName),
		TakenMessage:   cmp.Or(p.TakenMessage, previous.TakenMessage),
		Details:        detailsHandedOn(previous.Details, p),
		LiveChatAgenda: isWatched(previous),
		OutOfLiveChat:  !isInLiveChat(p.LiveChat),
	}
	return asked, nil
}

// detailsHandedOn returns the details of an assignment with the call's values, as a custom outlet gets them.
func detailsHandedOn(details document.Object, p livechat.ReassignAssignmentParams) document.Object {
	for field, text := range map[string]string{fieldSummary: p.Summary, fieldGroupName: p.GroupName} {
		if text != "" {
			details = details.With(field, text)
		}
	}
	if p.RelayMessage != "" {
		details = details.With(fieldRelayMessage, document.O(string(channel.Custom), send.Text(p.RelayMessage).Object()))
	}
	return details
}

// inletGroupOf returns the inletGroupInfo of the new assignment, which is empty unless the call sets InletGroup. If
// the call sets it, and the previous conversation is not a group on the inlet's side, the error is
// FailedPrecondition.
func (s *Service) inletGroupOf(
	ctx context.Context, previous *livechat.AssignmentRecord, p livechat.ReassignAssignmentParams,
) (document.Object, error) {
	if !p.InletGroup {
		return document.Object{}, nil
	}
	if inletGroupID(previous) != "" {
		return previous.InletGroupInfo, nil
	}
	if previous.Group != "" {
		g, err := s.loadGroup(ctx, previous.Group)
		if err != nil && !errors.Is(err, boterr.NotFound) {
			return document.Object{}, err
		}
		if err == nil && g.InletGroupExternalID != "" {
			return inletGroupInfo(g.InletGroupExternalID), nil
		}
	}
	return document.Object{}, boterr.New(boterr.FailedPrecondition, "inletGroup",
		"the conversation of the assignment %s is not a group on the inlet's side: leave inletGroup out", previous.ID)
}

// relayMessages returns the relay messages of a request by platform. If a hand-over gives a text for the ticket, all
// platforms get this text.
func (s *Service) relayMessages(asked request, to route) (document.Object, error) {
	switch {
	case asked.relayText != "":
		return asked.relayTexts(to.outlets)
	case asked.details == nil:
		return asked.record.RelayMessage, nil
	case to.has(channel.LiveChatAPI):
		return s.opaqueRelayMessages(*asked.details, asked.member), nil
	}
	if err := checkDetails(*asked.details); err != nil {
		return document.Object{}, err
	}
	return s.filledRelayMessages(asked.details.RelayMessage, asked.member)
}

func (asked request) relayTexts(outlets []outlet) (document.Object, error) {
	messages := document.O()
	for _, o := range outlets {
		message := send.Buttons(asked.relayText, send.Postback("Take", livechat.TakePayload))
		if o.Type.Has(channel.DirectRequests) {
			message = send.Text(asked.relayText)
		}
		messages = messages.With(string(o.Type), message)
	}
	return messages, messages.Err()
}
