package livechats

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
)

// EndBravoLiveChat implements Operations.
func (s *Service) EndBravoLiveChat(ctx context.Context, p livechat.EndBravoLiveChatParams) ([]livechat.EndBravoLiveChatResult, error) {
	switch {
	case p.AdminExternalID == "":
		return nil, boterr.Missing(fieldAdminExternalID, "the id of an agent on Bravo")
	case p.BravoGroupID == "":
		return nil, boterr.Missing(fieldBravoGroupID, "the id of a group on Bravo")
	}
	in, err := s.namedChannel(ctx, channels.ByRecordOrID(s.scope, p.Channel, p.ChannelID), channel.Bravo)
	if err != nil {
		return nil, err
	}
	of := fmt.Sprintf("end on Bravo %q %q %q", in.ID, p.BravoGroupID, p.AdminExternalID)
	return once(ctx, s, of, func(ctx context.Context) ([]livechat.EndBravoLiveChatResult, error) { return s.endAllOf(ctx, in, p) })
}

// endAllOf ends what an agent has in a group.
func (s *Service) endAllOf(
	ctx context.Context, in *channel.Channel, p livechat.EndBravoLiveChatParams,
) ([]livechat.EndBravoLiveChatResult, error) {
	chosen := inConversation(in.ID, p.BravoGroupID)
	last, err := s.newestGroup(ctx, chosen)
	if err != nil {
		return nil, err
	}
	if last == nil {
		return nil, boterr.New(boterr.NotFound, fieldBravoGroupID, "the channel %s has no group %s", in.ID, p.BravoGroupID)
	}
	found, err := s.liveGroupsIn(ctx, in.ID, p.BravoGroupID)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(g *livechat.Group) bool { return g.AdminExternalID != p.AdminExternalID })
	slices.Reverse(found)
	over, err := s.newestOver(ctx, chosen.With(fieldAdminExternalID, document.O("$eq", p.AdminExternalID)))
	if err != nil {
		return nil, err
	}
	if over != nil && (len(found) == 0 || over.CreatedAt >= found[0].CreatedAt) {
		found = slices.Insert(found, 0, over) // Only the last one can have been interrupted.
	}
	results := []livechat.EndBravoLiveChatResult{}
	for _, g := range found {
		result, err := s.endOne(ctx, g)
		if err != nil {
			return nil, err
		}
		if result != nil {
			results = append(results, *result)
		}
	}
	return results, nil
}

// endOne ends the live chat of a group, or puts a live group without one out of use. The
// result is nil where neither was there.
func (s *Service) endOne(ctx context.Context, g *livechat.Group) (*livechat.EndBravoLiveChatResult, error) {
	r, err := s.assignmentOf(ctx, g)
	if err != nil {
		return nil, err
	}
	if r != nil && (r.State() != livechat.Ended || isInterrupted(r, livechat.EndedByOutlet)) {
		return s.endRaw(ctx, r)
	}
	left, err := s.groups().Where(record.FieldID, g.ID).Update(ctx, record.Patch{Patch: document.O(fieldActive, false)})
	if err != nil || left.Modified == 0 {
		return nil, err
	}
	return &livechat.EndBravoLiveChatResult{ClientMutationID: s.env.NewID()}, nil
}

// endRaw ends an assignment, and shows it. The result is nil where somebody else has ended
// it meanwhile.
func (s *Service) endRaw(ctx context.Context, r *livechat.AssignmentRecord) (*livechat.EndBravoLiveChatResult, error) {
	ended, err := s.machine.end(ctx, r, livechat.EndedByOutlet)
	if errors.Is(err, boterr.FailedPrecondition) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := ended.reconcile(ctx, wantClosed); err != nil {
		return nil, err
	}
	closed, err := s.loadAssignment(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	return &livechat.EndBravoLiveChatResult{ClientMutationID: s.env.NewID(), AssignmentRaw: &closed.Assignment}, nil
}
