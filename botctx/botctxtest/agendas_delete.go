package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
)

var deleteAgendaRules = []Rule{
	{
		Name:  "DeleteMemberAgendaRemovesTheTag",
		Text:  "deleteMemberAgenda with a tag removes the member's open agendas of that tag, and no others",
		check: deleteMemberAgendaRemovesTheTag,
	},
	{
		Name:  "DeleteMemberAgendaRemovesAll",
		Text:  "deleteMemberAgenda without a tag removes all open agendas of the member, and of nobody else",
		check: deleteMemberAgendaRemovesAll,
	},
	{
		Name:  "DeleteMemberAgendaAcknowledges",
		Text:  "deleteMemberAgenda returns a new clientMutationId each time, also where nothing matched",
		check: deleteMemberAgendaAcknowledges,
	},
	{
		Name:  "DeleteMemberAgendaStaysInTheApp",
		Text:  "agendas of another app do not exist for deleteMemberAgenda",
		check: deleteMemberAgendaStaysInTheApp,
	},
}

// unschedule deletes agendas of a member of the home app, without an error.
func (t *trial) unschedule(memberID, tag string) agenda.DeleteMemberAgendaResult {
	t.Helper()
	result, err := t.home.DeleteMemberAgenda(t.ctx(), agenda.DeleteMemberAgendaParams{MemberID: memberID, Tag: tag})
	require.NoError(t, err)
	return result
}

func deleteMemberAgendaRemovesTheTag(t *trial) {
	others := t.scheduleBesides()
	t.schedule(agenda.NewAgendaParams{Tag: "tag"})
	t.schedule(agenda.NewAgendaParams{Tag: "tag", Pattern: eachMinute, RunUntil: later})
	t.unschedule(t.home.scope.Member, "tag")
	t.requireOpen(t.home.member, others.untagged, others.tagged)
	t.requireOpen(others.neighbour, others.ofTheNeighbour)
}

func deleteMemberAgendaRemovesAll(t *trial) {
	others := t.scheduleBesides()
	t.schedule(agenda.NewAgendaParams{MemberID: others.neighbour.ID})
	t.unschedule(others.neighbour.ID, "")
	t.requireOpen(others.neighbour)
	t.requireOpen(t.home.member, others.untagged, others.tagged)
	t.unschedule(t.home.scope.Member, "")
	t.requireOpen(t.home.member)
}

func deleteMemberAgendaAcknowledges(t *trial) {
	t.schedule(agenda.NewAgendaParams{Tag: "tag"})
	seen := map[string]bool{}
	for _, id := range []string{t.home.scope.Member, t.home.scope.Member, unique("member")} {
		given := t.unschedule(id, "tag").ClientMutationID
		require.NotEmpty(t, given)
		require.False(t, seen[given], "%s comes twice", given)
		seen[given] = true
	}
}

func deleteMemberAgendaStaysInTheApp(t *trial) {
	theirs := t.scheduleAway()
	t.unschedule(t.away.scope.Member, "")
	t.unschedule(t.away.scope.Member, "tag")
	t.requireOpen(t.away.member, theirs)
}

// scheduleAway makes an agenda of the member in the other app.
func (t *trial) scheduleAway() *agenda.Agenda {
	t.Helper()
	made, err := t.away.NewAgenda(t.ctx(), agenda.NewAgendaParams{
		MemberID: t.away.scope.Member, NodeCompositeID: "node", NextRunAt: later, Tag: "tag",
	})
	require.NoError(t, err)
	return made
}
