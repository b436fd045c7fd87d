package botctxtest

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// assignmentRules are the rules of the operations on assignments.
func assignmentRules() []Rule {
	return slices.Concat(
		createAssignmentRules, assignmentDefaultRules, routingRules, takeRules, newTargetRules, reassignRules, reassignDefaultRules,
		readAssignmentRules, assignmentByOutletRules, assignmentListRules, updateAssignmentRules, assignmentGroupRules,
		removeAssignmentRules, momentRules,
		endLiveChatRules, inletEndRules, needing([]Capability{On(channel.Bravo)}, endBravoRules),
	)
}

// strangeChannels are ids of channels that do not exist for the home app.
func (t *trial) strangeChannels() map[string]string {
	t.Helper()
	return map[string]string{"of nobody": unique("channel"), "of another app": t.away.scope.Channel}
}

// withoutScope returns the operations of a place without a channel and a member.
func (t *trial) withoutScope(p *place) botctx.Operations {
	t.Helper()
	return t.Operations(record.Scope{App: p.scope.App})
}

// addressOf returns a record of a channel with nothing but an id that is its own.
func addressOf(id string) *channel.Channel { return &channel.Channel{ID: id} }

// forged returns a record of a member with another content than the stored one.
func forged(m *member.Member, app string) *member.Member {
	return &member.Member{ID: m.ID, App: app, Channel: unique("channel"), ExternalID: unique("external"), FirstName: "Forged"}
}

// tooLong is a text that is longer than a message may be.
func tooLong() string { return strings.Repeat("ä", send.MaxText+1) }

// textsTo returns the texts that have arrived in a channel for an id on the platform, in order.
func (t *trial) textsTo(channelID, externalID string) []string {
	t.Helper()
	texts := []string{}
	for _, s := range t.sentTo(channelID, externalID) {
		texts = append(texts, s.Response.Text())
	}
	return texts
}

// requireTickets checks how many messages each of some broadcast groups has got.
func (t *trial) requireTickets(outlet *desk, counts map[channel.BroadcastGroupMember]int) {
	t.Helper()
	if t.Sent == nil {
		return
	}
	for group, count := range counts {
		require.Len(t, t.sentTo(outlet.ID, group.ID), count, "the tickets in the broadcast group %s", group.ID)
	}
}

// idsOf returns the ids of assignments, in order.
func idsOf(assignments []*livechat.Assignment) []string {
	ids := []string{}
	for _, a := range assignments {
		ids = append(ids, a.ID)
	}
	return ids
}

// assignmentsOf returns the assignments of a member, the oldest first.
func (t *trial) assignmentsOf(p *place, m *member.Member) []*livechat.Assignment {
	t.Helper()
	found, err := p.GetAssignmentsByMemberID(t.ctx(), livechat.GetAssignmentsByMemberIDParams{MemberID: m.ID})
	require.NoError(t, err)
	return found
}
