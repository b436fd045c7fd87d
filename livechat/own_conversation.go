package livechat

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// What is written in a conversation of an outlet goes to one member. So no two live chats of
// an outlet that are open have the same conversation.

// openedChat returns the conversation that a direct outlet opened for an assignment, "" where
// it opened none: the answer names the conversation that the request was sent to, or that
// of another request.
func (s *machine) openedChat(ctx context.Context, outlet *channel.Channel, r *AssignmentRecord) (string, error) {
	if r.Direct == "" || len(r.Tickets) == 0 {
		return "", nil
	}
	chat := r.Tickets[0].ChatID
	if chat == "" || chat == r.Tickets[0].Group.ID || hasBroadcastGroup(outlet, chat) {
		return "", nil
	}
	others, err := s.assignments.Count(ctx, document.O(
		fieldSlot, isOpenSlot(), fieldDirect, document.O("$eq", outlet.ID),
		fieldTickets+".chatId", document.O("$eq", chat), record.FieldID, document.O("$ne", r.ID)))
	if err != nil || others > 0 {
		return "", err
	}
	other, err := s.otherIn(ctx, &Group{Outlet: outlet.ID, ExternalID: chat, Assignment: r.ID})
	if err != nil || other != nil {
		return "", err
	}
	return chat, nil
}

// hasBroadcastGroup reports whether an id is that of a broadcast group of a channel, where
// agents may talk about other things.
func hasBroadcastGroup(c *channel.Channel, id string) bool {
	return slices.ContainsFunc(c.BroadcastGroups, func(b channel.BroadcastGroup) bool {
		return slices.ContainsFunc(b.Groups, func(m channel.BroadcastGroupMember) bool { return m.ID == id })
	})
}

// requireOwn refuses a group that is the conversation of another open assignment. It is
// asked when the group is stored: of two at once, each sees the other one's.
func (s *machine) requireOwn(ctx context.Context, g *Group) error {
	other, err := s.otherIn(ctx, g)
	if err != nil || other == nil {
		return err
	}
	return boterr.New(boterr.FailedPrecondition, "",
		"the conversation %s in the channel %s is that of the assignment %s: the platform has to open another one, or that one has to end first",
		g.ExternalID, g.Outlet, other.ID)
}

// otherIn returns another open assignment whose conversation a group is, nil where there is
// none.
func (s *machine) otherIn(ctx context.Context, g *Group) (*AssignmentRecord, error) {
	live, err := s.findGroups(ctx, document.O(
		fieldOutlet, document.O("$eq", g.Outlet), fieldExternalID, document.O("$eq", g.ExternalID), fieldActive, true))
	if err != nil {
		return nil, err
	}
	for _, found := range live {
		if found.ID == g.ID {
			continue
		}
		isOver, err := s.closeOver(ctx, found)
		if err != nil {
			return nil, err
		}
		if isOver {
			continue
		}
		r, err := s.assignmentOf(ctx, found)
		if err != nil || r != nil && r.ID != g.Assignment {
			return r, err
		}
	}
	return nil, nil
}

// closeOver reports whether a live group is that of an assignment that has ended, which was
// interrupted: then that is closed, and the group is put out of use.
func (s *machine) closeOver(ctx context.Context, g *Group) (bool, error) {
	r, err := s.assignmentOf(ctx, g)
	if err != nil || r == nil || r.State() != Ended {
		return false, err
	}
	if err := s.finish(ctx, r); err != nil {
		return true, err
	}
	return true, s.deactivateGroups(ctx, r)
}
