package livechats

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// What has ended is not canceled: these steps go on where the call that takes them ends. They
// come in an order in which the bot answers the member again also where they are interrupted,
// and the agent is still in the group where ending it again goes on.

// letOut ends the live chat of the member.
func (p *pass) letOut(ctx context.Context) (err error) {
	p.member, err = p.leaveLiveChat(context.WithoutCancel(ctx), p.r)
	return err
}

// clearGroup clears the current group of the member, where it is one of the assignment: on Bravo each agent in
// the conversation has a record of it.
func (p *pass) clearGroup(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	groups, err := p.findGroups(ctx, equal(fieldAssignment, p.r.ID))
	if err != nil {
		return err
	}
	ids := []string{p.r.Group}
	for _, g := range groups {
		ids = append(ids, g.ID)
	}
	patched, err := p.ports.Members.PatchMembers(ctx, member.PatchMembersParams{
		Channel:      &channel.Channel{ID: p.r.Inlet},
		MemberID:     p.r.Member,
		Filter:       document.O(fieldGroup, document.O("$in", ids)),
		Patch:        document.Unset(fieldGroup),
		WithModifier: true,
	})
	if patched.Result != nil {
		p.member = patched.Result
	}
	return err
}

// endGroups puts the groups out of use.
func (p *pass) endGroups(ctx context.Context) error {
	return p.deactivateGroups(context.WithoutCancel(ctx), p.r)
}

// wantsRecall reports whether the tickets lead nowhere any more, and are not to stay.
func (p *pass) wantsRecall() bool {
	switch p.r.EndedBy {
	case livechat.EndedByRemoval:
		return true
	case livechat.EndedByIdle, livechat.EndedByReassign, livechat.EndedByMemberGone:
		return p.r.Assignee == ""
	default:
		return p.isRecalled
	}
}

// recall takes the tickets back. All are tried.
func (p *pass) recall(ctx context.Context) error {
	p.tickets.recallTickets(ctx, p.r, &p.unfinished)
	return nil
}

// withdrawNext withdraws what the assignment was about to be handed on to when it ended
// otherwise: nobody can take its tickets any more.
func (p *pass) withdrawNext(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	next, err := p.nextOf(ctx, p.r.ID)
	if err != nil || next == nil || next.State() != livechat.Sending {
		return err
	}
	_, err = p.withdrawUnsent(ctx, next)
	return err
}

// canClose reports whether nothing is left that the same call again could do. Tickets of a
// request that was idle are recalled once.
func (p *pass) canClose() bool {
	return len(p.unfinished.failures) == 0 || p.r.EndedBy == livechat.EndedByIdle
}

// close notes that all has ended. A request that was withdrawn is removed.
func (p *pass) close(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	if p.r.EndedBy == livechat.EndedByRemoval {
		_, err := p.assignments().Delete(ctx, equal(record.FieldID, p.r.ID))
		return err
	}
	closed, err := p.modify(ctx, p.r.ID, document.O(), document.Set(fieldClosedAt, document.TimestampOf(p.env.Now())))
	if closed != nil { // Else it was removed.
		p.r = closed
	}
	return err
}

// deactivateGroups marks the groups of an assignment that has ended as no longer live, but
// those that an open assignment has by now, which they name then.
func (s *machine) deactivateGroups(ctx context.Context, r *livechat.AssignmentRecord) error {
	live, err := s.findGroups(ctx, equal(fieldAssignment, r.ID).With(fieldActive, true))
	if err != nil {
		return err
	}
	ids := []string{r.Group}
	for _, g := range live {
		ids = append(ids, g.ID)
	}
	inUse, err := s.findAssignments(ctx, record.Query{
		Filter: document.O(fieldGroup, document.O("$in", ids), fieldEndedAt, isAbsent()),
	})
	if err != nil {
		return err
	}
	for _, open := range inUse {
		ids = slices.DeleteFunc(ids, func(id string) bool { return id == open.Group })
		_, err := s.groups().Where(record.FieldID, open.Group).Update(ctx, record.Patch{
			Filter: equal(fieldAssignment, r.ID),
			Patch:  document.O(fieldAssignment, open.ID, fieldInlet, open.Inlet, fieldMember, open.Member),
		})
		if err != nil {
			return err
		}
	}
	return s.deactivate(ctx, document.O(record.FieldID, document.O("$in", ids), fieldActive, true))
}

// deactivate marks groups as no longer live.
func (s *core) deactivate(ctx context.Context, which document.Object) error {
	_, err := s.groups().Update(ctx, record.Patch{Filter: which, Patch: document.O(fieldActive, false), Multi: true})
	return err
}
