package livechats

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// tickets are what is sent to outlets, and what is done to it there.
type tickets struct{ *core }

// plan decides where a request goes and what is sent there, and checks all of it. Nothing
// is written or sent yet.
func (s *machine) plan(ctx context.Context, asked request) (*livechat.AssignmentRecord, error) {
	if err := s.tickets.checkInlet(ctx, asked); err != nil {
		return nil, err
	}
	to, err := s.router.routeOf(ctx, asked)
	if err != nil {
		return nil, err
	}
	if s.ports.IsStrict && asked.takenMessage != "" && !to.has(channel.TakenMessages) {
		return nil, boterr.Invalid(fieldTakenMessage, "is for tickets on %s alone, and none goes there", channel.TakenMessages.Owners())
	}
	if s.ports.IsStrict && asked.details != nil && !to.has(channel.LiveChatAPI) {
		if err := checkDetailNames(*asked.details, to); err != nil {
			return nil, err
		}
	}
	planned := asked.record
	if planned.RelayMessage, err = asked.relayMessages(to); err != nil {
		return nil, err
	}
	for _, o := range to.outlets {
		planned.Targets = append(planned.Targets, o.target())
	}
	if to.direct != nil {
		err = s.tickets.planDirect(&planned, *to.direct, asked.member)
	} else {
		err = s.tickets.planTickets(&planned, to.outlets, asked.member)
	}
	if asked.relayText != "" { // The one message of all platforms is a parameter of its own.
		for _, o := range to.outlets {
			err = record.RenameField(err, relayMessageField(o.Type), fieldRelayMessage)
		}
	}
	return &planned, err
}

// checkInlet refuses a request of a member whose channel is not on.
func (s *tickets) checkInlet(ctx context.Context, asked request) error {
	if asked.outlet != "" {
		return nil // Who hands on talks with the member already.
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

// planTickets plans a ticket for each broadcast group that has none yet.
func (s *tickets) planTickets(r *livechat.AssignmentRecord, outlets []outlet, m *member.Member) error {
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
					"a broadcast group of the channel %s with the label %q has no id to send the ticket to", o.ID, o.label)
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

// ticketOf returns the ticket of a broadcast group, nil where it has none.
func ticketOf(r *livechat.AssignmentRecord, channelID, groupID string) *livechat.Ticket {
	for i := range r.Tickets {
		if r.Tickets[i].Channel == channelID && r.Tickets[i].Group.ID == groupID {
			return &r.Tickets[i]
		}
	}
	return nil
}

// planDirect plans a request that a channel takes alone.
func (s *tickets) planDirect(r *livechat.AssignmentRecord, o outlet, m *member.Member) error {
	r.Direct, r.Outlet = o.ID, o.ID
	r.Tickets = []livechat.Ticket{{ID: s.env.NewID(), Channel: o.ID, Type: o.Type}}
	if len(o.groups) > 0 {
		r.Tickets[0].Group = o.groups[0]
	}
	r.IsZendesk = o.Type.Has(channel.Helpdesk)
	if s.ports.IsStrict && r.CreateGroup != nil && !o.Type.Has(channel.LiveChatAPI) {
		return onlyCustom(o)
	}
	if address, err := s.plannedAPI(r, o); err != nil || address != "" {
		return err
	}
	if err := s.checkConnector(o); err != nil {
		return err
	}
	if _, err := s.messageOf(r, m, o.Type); err != nil || o.Type.Has(channel.LiveChatAPI) {
		return err
	}
	return checkSummary(r)
}

// onlyCustom is the error for a createGroup that no outlet would look at.
func onlyCustom(o outlet) error {
	return boterr.Invalid(fieldCreateGroup, "is for %s channels alone, and the request goes to %s of type %s",
		channel.LiveChatAPI.Owners(), o.ID, o.Type)
}

// checkConnector refuses an outlet to whose platform the host has no connector.
func (s *tickets) checkConnector(o outlet) error {
	_, err := s.ports.Connectors.Of(o.Channel)
	return boterr.PrefixField(o.field, err)
}

// checkSummary refuses a summary that is too long to be sent.
func checkSummary(r *livechat.AssignmentRecord) error {
	if r.Summary == "" {
		return nil
	}
	return boterr.WithField(fieldAssignmentDetails+"."+fieldSummary, send.Text(r.Summary).Validate())
}
