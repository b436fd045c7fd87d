package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/member"
)

var replaceRules = []Rule{
	{
		Name:  "NewAgendaReplacesItsTag",
		Text:  "newAgenda with replace takes the place of all agendas of the same member and tag, and of no others",
		check: replaceTakesThePlace,
	},
	{
		Name:  "NewAgendaReplacesNothingByDefault",
		Text:  "replace is false by default: then agendas of the same tag stay beside each other",
		check: withoutReplaceAllStay,
	},
	{
		Name:  "NewAgendaKeepsTheLastReplacement",
		Text:  "of replacements one after the other the last one stays, at whatever speed they come",
		check: lastReplacementStays,
	},
	{
		Name:  "NewAgendaKeepsOneReplacementOfMany",
		Text:  "of many replacements at once one stays, and the next one replaces it",
		check: oneReplacementOfManyStays,
	},
	{
		Name:  "UpdateAgendaReplaces",
		Text:  "updateAgenda with replace changes the newest open agenda of the tag and removes the member's others of it, and no others",
		check: updateAgendaReplaces,
	},
}

// besides are agendas that no replacement of the home member's "tag" concerns.
type besides struct {
	neighbour        *member.Member
	untagged, tagged *agenda.Agenda
	ofTheNeighbour   *agenda.Agenda
}

// scheduleBesides makes agendas that no replacement of the home member's "tag" concerns.
func (t *trial) scheduleBesides() besides {
	t.Helper()
	m := t.neighbour(member.Member{})
	return besides{
		neighbour:      m,
		untagged:       t.schedule(agenda.NewAgendaParams{}),
		tagged:         t.schedule(agenda.NewAgendaParams{Tag: "another"}),
		ofTheNeighbour: t.schedule(agenda.NewAgendaParams{MemberID: m.ID, Tag: "tag"}),
	}
}

// requireBesides checks that the home member has one agenda more than those, and that
// they are there.
func (t *trial) requireBesides(b besides, left *agenda.Agenda) {
	t.Helper()
	t.requireOpen(t.home.member, b.untagged, b.tagged, left)
	t.requireOpen(b.neighbour, b.ofTheNeighbour)
}

func replaceTakesThePlace(t *trial) {
	others := t.scheduleBesides()
	t.schedule(agenda.NewAgendaParams{Tag: "tag"})
	t.schedule(agenda.NewAgendaParams{Tag: "tag", Pattern: eachMinute, RunUntil: later, NextRunAt: later})
	left := t.schedule(agenda.NewAgendaParams{Tag: "tag", Replace: true, NodeCompositeID: "new"})
	t.requireBesides(others, left)
}

func withoutReplaceAllStay(t *trial) {
	first := t.schedule(agenda.NewAgendaParams{Tag: "tag", Replace: true})
	second := t.schedule(agenda.NewAgendaParams{Tag: "tag"})
	third := t.schedule(agenda.NewAgendaParams{Tag: "tag"})
	t.requireOpen(t.home.member, first, second, third)
}

func lastReplacementStays(t *trial) {
	for range workers {
		node := unique("node")
		left := t.schedule(agenda.NewAgendaParams{Tag: "tag", Replace: true, NodeCompositeID: node})
		require.Equal(t, node, left.NodeCompositeID)
		t.requireOpen(t.home.member, left)
	}
}

func oneReplacementOfManyStays(t *trial) {
	others := t.scheduleBesides()
	t.atOnce(func(int) error {
		return repeat(func() error {
			return errorOf(t.home.NewAgenda(t.ctx(), t.scheduled(agenda.NewAgendaParams{Tag: "tag", Replace: true})))
		})
	})
	require.Len(t, t.reschedule(agenda.UpdateAgendaParams{Tag: "tag"}).Docs, 1)
	t.requireBesides(others, t.schedule(agenda.NewAgendaParams{Tag: "tag", Replace: true}))
}

func updateAgendaReplaces(t *trial) {
	others := t.scheduleBesides()
	t.schedule(agenda.NewAgendaParams{Tag: "tag", Replace: true})
	t.schedule(agenda.NewAgendaParams{Tag: "tag"})
	newest := t.schedule(agenda.NewAgendaParams{Tag: "tag"})
	newest.NodeCompositeID = "new"
	result := t.reschedule(agenda.UpdateAgendaParams{Tag: "tag", Replace: true, NodeCompositeID: "new"})
	require.Equal(t, []string{newest.ID}, result.DocsIDs.Updated)
	require.Equal(t, textsOf(t, []*agenda.Agenda{newest}), textsOf(t, result.Docs))
	t.requireBesides(others, newest)
	t.requireBesides(others, t.schedule(agenda.NewAgendaParams{Tag: "tag", Replace: true}))
}
