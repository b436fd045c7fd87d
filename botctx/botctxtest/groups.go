package botctxtest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// groupRules are the rules of the operations on groups and agents, and of the sends that need
// a group or an assignment.
func groupRules() []Rule {
	return slices.Concat(
		getGroupRules, newestGroupRules(), updateGroupRules, updateGroupMetaRules, inactivateGroupRules,
		bravoGroupRules(), hotelChannelRules(), adminRules,
		toInletRules, toInletGroupRules, toOutletGroupRules, toGroupRules(), saveGroupRules,
	)
}

// talk is a live chat of a member of the home app, which an agent has taken.
type talk struct {
	desk *desk
	// inlet is the member's side.
	inlet      *place
	assignment *livechat.Assignment
	group      *livechat.Group
}

// talkOn opens a desk on a platform, and lets its agent talk with the home member.
func (t *trial) talkOn(platform channel.Type) talk {
	t.Helper()
	return t.talkWith(t.openDesk(t.home, platform), t.home)
}

// talk lets an agent talk with the home member.
func (t *trial) talk() talk {
	t.Helper()
	return t.talkOn(t.ticketing())
}

// talkWith lets the agent of a desk talk with the member of a place.
func (t *trial) talkWith(d *desk, p *place) talk {
	t.Helper()
	a := t.requestTaken(p, d, livechat.CreateAssignmentParams{})
	return talk{desk: d, inlet: p, assignment: a, group: t.groupOf(p, a)}
}

// talkBeside lets the agent of one talk begin another, with a new member of its inlet, who asks
// in the same group.
func (t *trial) talkBeside(first talk) talk {
	t.Helper()
	c := first.inlet.channel
	bob := t.newMember(member.Member{App: c.App, Channel: c.ID, FirstName: "Bob"})
	return t.talkWith(first.desk, t.inGroup(t.at(t.home, c, bob), first.inlet.scope.GroupExternalID))
}

// talkInFamily lets an agent talk with the member of a place who has asked in a group.
func (t *trial) talkInFamily(p *place) talk {
	t.Helper()
	return t.talkWith(t.openDesk(p, t.ticketing()), t.inGroup(p, familyOf(p.member.ID)))
}

// familyOf is the group on the inlet's platform in which a member asks.
func familyOf(memberID string) string { return "family of " + memberID }

// storedGroup reads a group of a place, without an error.
func (t *trial) storedGroup(p *place, id string) *livechat.Group {
	t.Helper()
	found, err := p.GetGroup(t.ctx(), livechat.GetGroupParams{GroupID: id})
	require.NoError(t, err)
	require.NotNil(t, found)
	return found
}

// setGroup sets fields of a group of a place, without an error.
func (t *trial) setGroup(p *place, id string, pairs ...any) livechat.UpdateGroupResult {
	t.Helper()
	result, err := p.UpdateGroup(t.ctx(), livechat.UpdateGroupParams{Group: document.O(pairs...).With("_id", id)})
	require.NoError(t, err)
	return result
}

// putOutOfUse inactivates a group of the home app, without an error.
func (t *trial) putOutOfUse(id string) livechat.RecordUpdate {
	t.Helper()
	result, err := t.home.InactivateGroup(t.ctx(), livechat.InactivateGroupParams{GroupID: id})
	require.NoError(t, err)
	return result
}

// requireSameGroup checks that two are the same record, with the same content.
func requireSameGroup(t *trial, want, got *livechat.Group) {
	t.Helper()
	require.NotNil(t, got)
	require.Equal(t, textOf(t, want), textOf(t, got))
}

// agentEvent is what the agent wrote in the group of a talk.
func (k talk) agentEvent() *send.MessageEvent { return eventIn(k.group) }
