package livechats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// A request is made in steps, and each is stored before the next one begins: the record with all messages to
// send, each message that an outlet accepted, the agenda for idle time, the open request, and the member's
// flag. After a crash, the next call continues from the record.

// CreateAssignment implements Operations.
func (s *Service) CreateAssignment(ctx context.Context, p livechat.CreateAssignmentParams) (livechat.CreateAssignmentResult, error) {
	asked, err := s.checkRequest(ctx, p)
	if err != nil {
		return livechat.CreateAssignmentResult{}, err
	}
	type created struct{ ID, GroupID string }
	var run *pass
	made, err := once(ctx, s, fmt.Sprintf("request for %q", asked.member.ID), func(ctx context.Context) (created, error) {
		if run, err = s.makeRequest(ctx, asked); err != nil {
			return created{}, err
		}
		made := created{ID: run.r.ID}
		if asksForGroup(run.r) {
			made.GroupID = run.r.Group
		}
		return made, nil
	})
	if err != nil {
		return livechat.CreateAssignmentResult{}, err
	}
	result := livechat.CreateAssignmentResult{AssignmentID: made.ID, GroupID: made.GroupID}
	if run != nil {
		result.Member, err = run.memberNow(ctx)
	} else { // An earlier attempt of the run made the request.
		result.Member, err = members.Get(ctx, s.ports.Members, asked.member.ID)
	}
	if err != nil {
		return livechat.CreateAssignmentResult{}, boterr.WithField(fieldMember, err)
	}
	return result, nil
}

// makeRequest ensures that the member has an open request, and that earlier conversations are closed.
func (s *Service) makeRequest(ctx context.Context, asked request) (*pass, error) {
	run, err := s.ensureOpen(ctx, asked, func() (*livechat.AssignmentRecord, error) {
		return s.current(ctx, asked.member.ID)
	})
	if err != nil {
		return nil, err
	}
	// Ended requests that no agent took have only tickets to recall. If a platform fails to recall them, that
	// must not block a new request.
	conversations := endedOf(run.r.Member).With(fieldAssignee, isPresent)
	return run, s.closeEnded(ctx, conversations)
}

// A request holds the checked parameters of a call.
type request struct {
	member *member.Member
	// targets are the recipients of the request. If it has none, the label of record decides.
	targets []livechat.Target
	// details are the call's details for the outlet. If details is nil, the details in record are used.
	details *livechat.AssignmentDetails
	// record is the assignment without the fields that depend on the route.
	record livechat.AssignmentRecord
	// outlet is the channel that hands the request on. relayText replaces the relay messages. Both are "" for a
	// member's own request.
	outlet, relayText string
	// heardUntil is HeardUntil of the assignment that is handed on.
	heardUntil document.Timestamp
	// takenMessage is the text that Charlie tickets show when they are taken.
	takenMessage string
}

// checkRequest checks the parameters that do not depend on the outlets, and returns them as a request.
func (s *Service) checkRequest(ctx context.Context, p livechat.CreateAssignmentParams) (request, error) {
	if err := checkTargets(p.Targets); err != nil {
		return request{}, err
	}
	if err := p.Meta.Err(); err != nil {
		return request{}, boterr.PrefixField(fieldMeta, err)
	}
	if p.History {
		if err := s.checkHistory(); err != nil {
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
	inGroup := ""
	if m.ID == s.scope.Member { // The scope's group is the one in which its member makes the request.
		inGroup = s.scope.GroupExternalID
	}
	asked := request{member: m, targets: p.Targets, details: &p.AssignmentDetails}
	asked.record = livechat.AssignmentRecord{
		Assignment: livechat.Assignment{
			ID: s.env.NewID(), Inlet: m.Channel, Member: m.ID,
			Meta: p.Meta, History: p.History, InletGroupInfo: inletGroupInfo(inGroup),
		},
		Progress:       livechat.Progress{Slot: openSlot(m.ID)},
		Label:          cmp.Or(p.Label, livechat.DefaultLabel),
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

// askingMember returns the member that a call names, or the scope's member. The member must be reachable.
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

// ensureOpen ensures that the member has an open request: an existing one, one that an earlier call has started to
// send, or a new one. open returns an open request or nil.
func (s *Service) ensureOpen(ctx context.Context, asked request, open func() (*livechat.AssignmentRecord, error)) (*pass, error) {
	var r *livechat.AssignmentRecord
	sender := ""
	err := s.untilFree(ctx, func() (isFree bool, err error) {
		if r, err = open(); err != nil || r != nil && r.State() != livechat.Sending {
			return true, err
		}
		if r == nil {
			r, err = s.begin(ctx, asked)
		} else {
			r, err = s.claimSending(ctx, r.ID, document.O(fieldSentAt, isAbsent))
		}
		if r != nil {
			sender = r.Sender.ID
		}
		return r != nil, err
	})
	if err != nil {
		return nil, err
	}
	p := &pass{Service: s, r: r, sender: sender, asking: asked.member, isOut: &asked.record.OutOfLiveChat, heardUntil: asked.heardUntil}
	if err := p.reconcile(ctx, wantOpen); err != nil {
		return nil, err
	}
	return p, nil
}

// begin routes a request and stores it, with the call as its sender. The result is nil if another call stored
// one first, or if the assignment to replace has ended.
func (s *Service) begin(ctx context.Context, asked request) (*livechat.AssignmentRecord, error) {
	planned, err := s.plan(ctx, asked)
	if err != nil {
		return nil, err
	}
	until, err := s.leaseEnd(ctx)
	if err != nil {
		return nil, err
	}
	planned.Sender = &livechat.Sender{ID: s.env.NewID(), Until: until}
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

// plan determines and checks the outlets and messages of a request. It neither writes nor sends anything.
func (s *Service) plan(ctx context.Context, asked request) (*livechat.AssignmentRecord, error) {
	if err := s.checkInlet(ctx, asked); err != nil {
		return nil, err
	}
	to, err := s.routeOf(ctx, asked)
	if err != nil {
		return nil, err
	}
	if s.ports.IsStrict && asked.takenMessage != "" && !to.has(channel.TakenMessages) {
		return nil, boterr.Invalid(fieldTakenMessage,
			"is only for tickets on %s, but the request has none: leave it out", channel.TakenMessages.Owners())
	}
	if s.ports.IsStrict && asked.details != nil && !to.has(channel.LiveChatAPI) {
		if err := checkDetailNames(*asked.details, to); err != nil {
			return nil, err
		}
	}
	planned := asked.record
	if planned.RelayMessage, err = s.relayMessages(asked, to); err != nil {
		return nil, err
	}
	for _, o := range to.outlets {
		planned.Targets = append(planned.Targets, o.target())
	}
	if to.direct != nil {
		err = s.planDirect(&planned, *to.direct, asked.member)
	} else {
		err = s.planTickets(&planned, to.outlets, asked.member)
	}
	if asked.relayText != "" { // The text comes from the parameter relayMessage, which errors must name.
		for _, o := range to.outlets {
			err = record.RenameField(err, relayMessageField(o.Type), fieldRelayMessage)
		}
	}
	return &planned, err
}

// checkInlet returns an error if the channel of a member's request is switched off.
func (s *Service) checkInlet(ctx context.Context, asked request) error {
	if asked.outlet != "" {
		return nil // A hand-over: the previous agent is already talking with the member.
	}
	inlet, err := s.ports.Channels.Load(ctx, asked.record.Inlet)
	if err != nil {
		return boterr.WithField(fieldMember, err)
	}
	if !inlet.On {
		return boterr.New(boterr.FailedPrecondition, fieldMember,
			"the member's channel %s is off, and no answer would reach the member: switch it on", inlet.ID)
	}
	return nil
}

// planTickets adds a ticket for each broadcast group that has none.
func (s *Service) planTickets(r *livechat.AssignmentRecord, outlets []outlet, m *member.Member) error {
	if s.ports.IsStrict && r.CreateGroup != nil {
		return onlyCustom(outlets[0])
	}
	for _, o := range outlets {
		if err := s.checkConnector(o); err != nil {
			return err
		}
		for _, group := range o.groups {
			if group.ID == "" {
				return boterr.New(boterr.FailedPrecondition, o.field,
					"a broadcast group of the channel %s with the label %q has no id to send the ticket to: add the id", o.ID, o.label)
			}
			if ticketOf(r, o.ID, group.ID) == nil {
				r.Tickets = append(r.Tickets, livechat.Ticket{ID: s.env.NewID(), Channel: o.ID, Type: o.Type, Group: group})
			}
		}
		if _, err := s.messageOf(r, m, o.Type); err != nil {
			return err
		}
	}
	return checkSummary(r)
}

// ticketOf returns the ticket of a broadcast group, or nil.
func ticketOf(r *livechat.AssignmentRecord, channelID, groupID string) *livechat.Ticket {
	for i := range r.Tickets {
		if r.Tickets[i].Channel == channelID && r.Tickets[i].Group.ID == groupID {
			return &r.Tickets[i]
		}
	}
	return nil
}

// planDirect plans a request to a single channel that has no tickets.
func (s *Service) planDirect(r *livechat.AssignmentRecord, o outlet, m *member.Member) error {
	r.Direct, r.Outlet = o.ID, o.ID
	r.Tickets = []livechat.Ticket{{ID: s.env.NewID(), Channel: o.ID, Type: o.Type}}
	if len(o.groups) > 0 {
		r.Tickets[0].Group = o.groups[0]
	}
	r.IsZendesk = o.Type.Has(channel.Helpdesk)
	if s.ports.IsStrict && r.CreateGroup != nil && !o.Type.Has(channel.LiveChatAPI) {
		return onlyCustom(o)
	}
	if address, err := s.apiOf(r, o.Channel); err != nil || address != "" {
		field := o.field
		if r.CreateGroup != nil {
			field = fieldCreateGroup
		}
		return boterr.WithField(field, err)
	}
	if err := s.checkConnector(o); err != nil {
		return err
	}
	if _, err := s.messageOf(r, m, o.Type); err != nil || o.Type.Has(channel.LiveChatAPI) {
		return err
	}
	return checkSummary(r)
}

// onlyCustom returns the error for a createGroup that no outlet uses.
func onlyCustom(o outlet) error {
	return boterr.Invalid(fieldCreateGroup, "is only for %s channels, but the request goes to %s of type %s: leave it out",
		channel.LiveChatAPI.Owners(), o.ID, o.Type)
}

// checkConnector returns an error if the host has no connector for an outlet's platform.
func (s *Service) checkConnector(o outlet) error {
	_, err := s.ports.Connectors.Of(o.Channel)
	return boterr.PrefixField(o.field, err)
}

// checkSummary returns an error if the summary is too long to send.
func checkSummary(r *livechat.AssignmentRecord) error {
	if r.Summary == "" {
		return nil
	}
	return boterr.WithField(fieldAssignmentDetails+"."+fieldSummary, send.Text(r.Summary).Validate())
}

// detailsObject returns details as outlets get them: their messages do not contain the SDK's own field
// "_literal".
func detailsObject(d livechat.AssignmentDetails) (document.Object, error) {
	details, err := document.Encode(d)
	if err != nil || len(d.RelayMessage) == 0 {
		return details, err
	}
	messages := document.Get(details, fieldRelayMessage, document.O())
	for platform, message := range d.RelayMessage {
		messages = messages.With(string(platform), message.Object())
	}
	return details.With(fieldRelayMessage, messages), nil
}

// typedDetail returns a pointer to a zero value of a detail's type, or nil for an unknown name.
func typedDetail(name string) any {
	switch name {
	case fieldSummary, fieldGroupName:
		return new(string)
	case fieldRelayMessage:
		return new(map[channel.Type]send.Response)
	default:
		return nil
	}
}

// checkDetails returns an error for details that only custom outlets accept.
func checkDetails(d livechat.AssignmentDetails) error {
	for name, value := range d.Unknown.All() {
		into := typedDetail(name)
		if into == nil {
			continue
		}
		if err := document.DecodeValue(value, into); err != nil {
			return boterr.PrefixField(fieldAssignmentDetails+"."+name, err)
		}
	}
	return nil
}

// checkDetailNames returns an error for unknown fields, and for relay messages of unknown platforms.
func checkDetailNames(d livechat.AssignmentDetails, to route) error {
	for name := range d.Unknown.All() {
		if typedDetail(name) == nil {
			return boterr.Invalid(fieldAssignmentDetails+"."+name, "there is no such field: correct the name or remove the field")
		}
	}
	known := channel.Types()
	for _, o := range to.outlets {
		known = append(known, o.Type) // Hosts can define further types.
	}
	for _, platform := range slices.Sorted(maps.Keys(d.RelayMessage)) {
		if !slices.Contains(known, platform) {
			return boterr.Invalid(relayMessageField(platform),
				"there is no such platform: give the type of an outlet, such as %s", to.outlets[0].Type)
		}
	}
	return nil
}

// senderLease is the time after which other calls may replace a sender that has stored no progress. It is
// longer than a platform or a live-chat API takes for one message.
const senderLease = 45 * time.Second

// leaseEnd returns the end of a sender's lease that begins now, by the store's clock.
func (s *Service) leaseEnd(ctx context.Context) (document.Timestamp, error) {
	now, err := s.env.Store.Now(ctx)
	return document.TimestampOf(now.Add(senderLease)), err
}

// claimSending makes the call the sender of an untaken assignment that meets a condition. It returns nil if the
// condition is not met or another call is the sender.
func (s *Service) claimSending(ctx context.Context, id string, condition document.Object) (*livechat.AssignmentRecord, error) {
	return s.claimLease(ctx, id, fieldSender, s.env.NewID(), condition.With(fieldAssignedAt, isAbsent))
}

// claimLease gives the lease in a field of an open assignment to a holder, unless another holder has it. It returns nil
// if another holder has it, or if the assignment does not meet the condition.
func (s *Service) claimLease(
	ctx context.Context, id, field, holder string, condition document.Object,
) (*livechat.AssignmentRecord, error) {
	until, err := s.leaseEnd(ctx)
	if err != nil {
		return nil, err
	}
	now := until - document.Timestamp(senderLease.Milliseconds())
	return s.modify(ctx, id, condition.With(fieldEndedAt, isAbsent).With("$or", document.A(
		document.O(field, isAbsent),
		document.O(field+".until", document.O("$lte", now)),
		document.O(field+".id", holder),
	)), document.Set(field, livechat.Sender{ID: holder, Until: until}))
}

// The pauses of a call that waits for another one, and its longest wait. The longest wait exceeds senderLease, so
// that the waiting call can replace a crashed one.
const (
	firstPause  = 2 * time.Millisecond
	lastPause   = 250 * time.Millisecond
	longestWait = senderLease + 5*time.Second
)

// untilFree calls try until it returns true or an error. It pauses between the attempts, because another call is sending
// the same request. After the longest wait it returns Conflict.
func (s *Service) untilFree(ctx context.Context, try func() (isFree bool, err error)) error {
	pause, waited := firstPause, time.Duration(0)
	for {
		if isFree, err := try(); isFree || err != nil {
			return err
		}
		if waited >= longestWait {
			return boterr.New(boterr.Conflict, "", "another call is sending this request: try again later")
		}
		s.ports.Pause(ctx, pause)
		if ctx.Err() != nil {
			return boterr.New(boterr.Canceled, "", "the wait for another call that is sending this request ended: %w", context.Cause(ctx))
		}
		waited += pause
		pause = min(2*pause, lastPause)
	}
}

// unsentError returns the error of a request that did not reach all targets. If all targets refused the request for
// good, it removes the request so that a later one is possible, unless another call has continued with it.
func (s *Service) unsentError(ctx context.Context, r *livechat.AssignmentRecord, unsent []livechat.Unsent) error {
	failure := &livechat.UnsentError{AssignmentID: r.ID, Failures: unsent, Of: max(len(r.Tickets), 1)}
	if wasSentNowhere(r) && areRefused(unsent) {
		gone, err := s.assignments().Delete(context.WithoutCancel(ctx), document.O(
			record.FieldID, r.ID, fieldSentAt, nil, fieldEndedAt, nil, fieldSender+".id", r.Sender.ID))
		if err != nil {
			return errors.Join(err, failure)
		}
		if gone > 0 {
			failure.AssignmentID = ""
		}
	}
	code := boterr.Unavailable
	if ctx.Err() != nil {
		code = boterr.Canceled
	}
	return &boterr.Error{Code: code, Err: failure}
}

// areRefused reports whether all targets refused for good.
func areRefused(unsent []livechat.Unsent) bool {
	return !slices.ContainsFunc(unsent, func(u livechat.Unsent) bool { return !record.IsPermanent(u.Err) })
}

// unfinished collects the failures of tasks. Such a failure does not prevent other tasks.
type unfinished struct{ failures []error }

// add records that a task failed, unless err is nil.
func (u *unfinished) add(what string, err error) {
	if err != nil {
		u.failures = append(u.failures, fmt.Errorf("%s: %w", what, err))
	}
}

// err returns the failures as one error, or nil. then is the remedy.
func (u *unfinished) err(ctx context.Context, then string) error {
	if len(u.failures) == 0 {
		return nil
	}
	code := boterr.Unavailable
	if ctx.Err() != nil {
		code = boterr.Canceled
	}
	return boterr.New(code, "", "the call was only partly carried out, %s: %w", then, errors.Join(u.failures...))
}

// joined is errors.Join, but returns a single error unchanged.
func joined(errs ...error) error {
	var found []error
	for _, err := range errs {
		if err != nil {
			found = append(found, err)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return errors.Join(found...)
}
