package livechat

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

// Opening is how the conversation with a channel that has a request directly was opened.
type Opening struct {
	// MessageID is the platform's id of the first message, "" where a live-chat API has the
	// request.
	MessageID string `json:"messageId,omitzero"`
	// GroupExternalID is what the outlet calls the conversation. "" where it does not name
	// one: then an agent has yet to take the request.
	GroupExternalID string `json:"groupExternalId,omitzero"`
	// BotID is the bot's id on the outlet's platform.
	BotID string `json:"botId,omitzero"`
	// SentAt is when the outlet took the request.
	SentAt document.Timestamp `json:"sentAt,omitzero"`
}

// open opens the conversation with the channel that has the request directly, as far as it
// is not open yet. Where the outlet names the conversation, that is the group.
func (s *Service) open(ctx context.Context, r *AssignmentRecord, m *member.Member) (*AssignmentRecord, error) {
	to, err := s.ports.Channels.Load(ctx, r.Direct)
	if err != nil {
		return nil, s.unopened(ctx, r, err)
	}
	if r.Opening == nil {
		opening, err := s.openIn(ctx, r, m, to)
		if err != nil {
			return nil, s.unopened(ctx, r, err)
		}
		if r, err = s.keepOpen(ctx, r, document.O(fieldOpening, opening)); err != nil {
			return nil, err
		}
	}
	if r.Opening.GroupExternalID == "" {
		return r, nil
	}
	if r.Summary == "" || r.asksAPI(to.Type) || !r.SummarySentAt.IsZero() {
		return s.openGroup(ctx, r, to)
	}
	_, err = s.sendTo(ctx, to, send.Message{
		ID: r.ID + "/" + fieldSummary, To: r.Opening.GroupExternalID, Response: send.Text(r.Summary),
	})
	if err != nil {
		return nil, s.unopened(ctx, r, err)
	}
	if r, err = s.keepOpen(ctx, r, document.O(fieldSummarySentAt, document.At(s.env.Now()))); err != nil {
		return nil, err
	}
	return s.openGroup(ctx, r, to)
}

// unopened is the error of a channel that did not take a request which it has directly.
func (s *Service) unopened(ctx context.Context, r *AssignmentRecord, err error) error {
	return s.unsentError(ctx, r, []Unsent{{Channel: r.Direct, Err: err}})
}

// openIn gives the request to the channel.
func (s *Service) openIn(ctx context.Context, r *AssignmentRecord, m *member.Member, to *channel.Channel) (*Opening, error) {
	if r.asksAPI(to.Type) {
		return s.askAPI(ctx, r, m, to)
	}
	message, err := s.firstMessage(r, m, to.Type)
	if err != nil {
		return nil, err
	}
	sent, err := s.sendTo(ctx, to, send.Message{ID: r.ID, To: r.directTo(), Response: message})
	if err != nil {
		return nil, err
	}
	return &Opening{
		MessageID: sent.MessageEvent.MessageID, GroupExternalID: sent.ChatID, BotID: sent.MessageEvent.From,
		SentAt: document.At(s.env.Now()),
	}, nil
}

// directTo returns the broadcast group of the channel that has the request directly, ""
// where it has none.
func (r *AssignmentRecord) directTo() string {
	for _, target := range r.Targets {
		for _, group := range target.BroadcastGroups {
			return group.ID
		}
	}
	return ""
}

// keepOpen stores how far the conversation is open. Conflict: the request was withdrawn.
func (s *Service) keepOpen(ctx context.Context, r *AssignmentRecord, fields document.Object) (*AssignmentRecord, error) {
	ctx = context.WithoutCancel(ctx) // It was sent, whatever becomes of the call.
	until, err := s.leaseEnd(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := s.changeOpen(ctx, document.O(record.FieldID, r.ID), document.O("$set", fields.With(fieldSender+".until", until)))
	if err == nil && kept == nil {
		err = withdrawn(r)
	}
	return kept, err
}

// openGroup makes the group of a conversation that the outlet named, unless it is there.
func (s *Service) openGroup(ctx context.Context, r *AssignmentRecord, to *channel.Channel) (*AssignmentRecord, error) {
	if r.Group != "" {
		return r, nil
	}
	known, err := s.groups.Find(ctx, record.Query{Filter: document.O(fieldAssignment, r.ID), Limit: 1})
	if err != nil {
		return nil, err
	}
	var group document.Object
	if len(known) > 0 {
		group = known[0]
	} else if group, err = s.insertGroup(ctx, r, to); err != nil {
		return nil, err
	}
	g, err := groupFrom(group)
	if err != nil {
		return nil, err
	}
	return s.keepOpen(ctx, r, document.O(fieldGroup, g.ID, fieldGroupInfo, g.info()))
}

// insertGroup makes the record of the group.
func (s *Service) insertGroup(ctx context.Context, r *AssignmentRecord, to *channel.Channel) (document.Object, error) {
	group, err := document.Encode(Group{
		Inlet: r.Inlet, Outlet: to.ID, Name: r.GroupName, Meta: document.O(), Active: true, Valid: true,
		ExternalID: r.Opening.GroupExternalID, BotID: r.Opening.BotID, Type: to.Type,
		Assignment: r.ID, Member: r.Member,
	})
	if err != nil {
		return group, boterr.In(fieldGroup, err)
	}
	return s.groups.Insert(ctx, group)
}
