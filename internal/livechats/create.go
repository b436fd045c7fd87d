package livechats

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// A request is made in steps. Each step is stored before the next one begins: the record with
// all that is to be sent, each message that an outlet took, the agenda that watches over idle
// time, that the request is open, and that the member is in live chat. Where a call is cut off in
// between, the record tells the next call where to go on.

// CreateAssignment implements Operations.
func (s *Service) CreateAssignment(ctx context.Context, p livechat.CreateAssignmentParams) (livechat.CreateAssignmentResult, error) {
	asked, err := s.checkRequest(ctx, p)
	if err != nil {
		return livechat.CreateAssignmentResult{}, err
	}
	run, err := s.machine.ensureOpen(ctx, asked, func() (*livechat.AssignmentRecord, error) {
		return s.machine.current(ctx, asked.member.ID)
	})
	if err != nil {
		return livechat.CreateAssignmentResult{}, err
	}
	// Of others only tickets can be left, and a platform that does not take these back is no
	// reason to refuse a new request.
	conversations := endedOf(run.r.Member).With(fieldAssignee, isPresent())
	if err := s.machine.closeEnded(ctx, conversations); err != nil {
		return livechat.CreateAssignmentResult{}, err
	}
	m, err := run.memberNow(ctx)
	if err != nil {
		return livechat.CreateAssignmentResult{}, boterr.WithField(fieldMember, err)
	}
	result := livechat.CreateAssignmentResult{Member: m, AssignmentID: run.r.ID}
	if asksForGroup(run.r) {
		result.GroupID = run.r.Group
	}
	return result, nil
}

// request is what a call asks for, checked.
type request struct {
	member *member.Member
	// label and targets say where it goes.
	label   string
	targets []livechat.Target
	// details are what the outlet is told, nil where it is what record says.
	details *livechat.AssignmentDetails
	// record is the assignment without what its route decides.
	record livechat.AssignmentRecord
	// outlet is the channel that hands the request on, and relayText what it says there in
	// place of the relay messages. Both are "" where the member asks.
	outlet, relayText string
	// takenMessage is what the call says that tickets on Charlie show once they are taken.
	takenMessage string
}

// checkRequest checks the parameters of a call, as far as they do not depend on the
// outlets.
func (s *Service) checkRequest(ctx context.Context, p livechat.CreateAssignmentParams) (request, error) {
	if err := checkTargets(p.Targets); err != nil {
		return request{}, err
	}
	if err := p.Meta.Err(); err != nil {
		return request{}, boterr.PrefixField(fieldMeta, err)
	}
	if p.History {
		if err := s.tickets.checkHistory(); err != nil {
			return request{}, err
		}
	}
	m, err := s.askingMember(ctx, p.Member)
	if err != nil {
		return request{}, err
	}
	details, err := detailsObject(p.AssignmentDetails)
	if err != nil {
		return request{}, boterr.PrefixField(fieldAssignmentDetails, err)
	}
	asked := request{member: m, label: orDefaultLabel(p.Label), targets: p.Targets, details: &p.AssignmentDetails}
	asked.record = livechat.AssignmentRecord{
		Assignment: livechat.Assignment{
			ID: s.env.NewID(), Inlet: m.Channel, Member: m.ID,
			Meta: p.Meta, History: p.History, InletGroupInfo: inletGroupInfo(s.groupOfAsking(m)),
		},
		Progress:       livechat.Progress{Slot: openSlot(m.ID)},
		Label:          asked.label,
		Summary:        p.AssignmentDetails.Summary,
		GroupName:      p.AssignmentDetails.GroupName,
		Details:        details,
		CreateGroup:    p.CreateGroup,
		LiveChatAgenda: p.SetLiveChatAgenda == nil || *p.SetLiveChatAgenda,
	}
	if p.Meta.IsZero() {
		asked.record.Meta = document.O()
	}
	return asked, nil
}

// orDefaultLabel returns the label that is meant.
func orDefaultLabel(label string) string {
	if label == "" {
		return livechat.DefaultLabel
	}
	return label
}

// askingMember returns the member whom a call names, or the scope's own, whom an answer can reach.
func (s *Service) askingMember(ctx context.Context, given *member.Member) (*member.Member, error) {
	named := members.ByRecord(s.scope, given)
	m, err := members.Load(ctx, s.ports.Members, named)
	if err != nil {
		return nil, err
	}
	if _, err := m.RequireExternalID(); err != nil {
		return nil, boterr.WithField(named.Field(), err)
	}
	return m, nil
}

// ensureOpen makes a request be open: the one that is, or one that an earlier call sent in part, or
// a new one. open returns the open one, nil for none.
func (s *machine) ensureOpen(ctx context.Context, asked request, open func() (*livechat.AssignmentRecord, error)) (*pass, error) {
	for backoff := s.newBackoff(); ; {
		r, err := open()
		if err == nil && r != nil && r.State() != livechat.Sending {
			return s.reconcileOpen(ctx, r, "", asked)
		}
		switch {
		case err != nil:
		case r == nil:
			r, err = s.begin(ctx, asked)
		default:
			r, err = s.claimSending(ctx, r.ID, document.O(fieldSentAt, isAbsent()))
		}
		if err != nil {
			return nil, err
		}
		if r != nil {
			return s.reconcileOpen(ctx, r, r.Sender.ID, asked)
		}
		if err := backoff.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// reconcileOpen opens a request, and puts its member in live chat as the call wants it.
// sender is the id of the call where it sends the request.
func (s *machine) reconcileOpen(ctx context.Context, r *livechat.AssignmentRecord, sender string, asked request) (*pass, error) {
	p := &pass{machine: s, r: r, sender: sender, asking: asked.member, isOut: &asked.record.OutOfLiveChat}
	if err := p.reconcile(ctx, wantOpen); err != nil {
		return nil, err
	}
	return p, nil
}

// begin decides where a request goes and stores it, with the call as its sender. nil: another
// call was faster.
func (s *machine) begin(ctx context.Context, asked request) (*livechat.AssignmentRecord, error) {
	planned, err := s.plan(ctx, asked)
	if err != nil {
		return nil, err
	}
	if planned.Sender, err = s.newSender(ctx); err != nil {
		return nil, err
	}
	encoded, err := document.Encode(planned)
	if err != nil {
		return nil, err
	}
	stored, err := s.assignments().Insert(ctx, encoded)
	if errors.Is(err, boterr.AlreadyExists) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := assignmentFrom(stored)
	if err != nil {
		return nil, err
	}
	if isInTime, err := s.followsOpen(ctx, r); err != nil || !isInTime {
		return nil, err
	}
	return r, nil
}
