package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

var newAgendaRules = []Rule{
	{
		Name:  "NewAgendaReturnsTheRecord",
		Text:  "newAgenda returns the record that it made: the documented fields with the given values, open, under a new _id",
		check: newAgendaReturnsTheRecord,
	},
	{
		Name:  "NewAgendaHasDefaults",
		Text:  "without them, an agenda's tree is that of the member, its priority 0, its meta {} and its tag none",
		check: newAgendaHasDefaults,
	},
	{
		Name:  "NewAgendaIsForAnyMemberOfTheApp",
		Text:  "newAgenda schedules for every member of the app, in that member's channel",
		check: newAgendaIsForAnyMember,
	},
	{
		Name:  "NewAgendaKeepsMetaToTheLetter",
		Text:  "the meta of an agenda is kept to the letter, whatever its keys and texts look like",
		check: newAgendaKeepsMeta,
	},
	{
		Name:  "NewAgendaRunsFirstByThePattern",
		Text:  "an agenda with a pattern and no nextRunAt runs first when the pattern fires next",
		check: patternGivesTheFirstRun,
	},
	{
		Name:  "NewAgendaReadsAPatternInTheZoneThatItNames",
		Text:  "a pattern with CRON_TZ= and a name of the IANA database in front fires by the clocks of that zone, and so it does in an update",
		check: patternNamesItsZone,
	},
	{
		Name:  "NewAgendaRunsFirstAtNextRunAt",
		Text:  "nextRunAt overrides the pattern as the first run, also where it has passed, and needs no runUntil then; runUntil is inclusive",
		check: nextRunAtOverridesThePattern,
	},
}

func newAgendaReturnsTheRecord(t *trial) {
	given := agenda.NewAgendaParams{
		TreeID: "tree", NodeCompositeID: "node", NextRunAt: later, Priority: new(int64(-5)),
		Meta: document.O("n", 1), Tag: "tag",
	}
	first, second := t.schedule(given), t.schedule(given)
	require.NotEqual(t, first.ID, second.ID)
	for _, made := range []*agenda.Agenda{first, second} {
		require.NotEmpty(t, made.ID)
		require.Equal(t, textOf(t, agenda.Agenda{
			ID: made.ID, App: t.home.scope.App, Channel: t.home.scope.Channel, Member: t.home.scope.Member,
			Tree: "tree", NodeCompositeID: "node", NextRunAt: later, Priority: -5, Meta: document.O("n", 1), Tag: "tag",
		}), textOf(t, made))
	}
	t.requireOpen(t.home.member, first, second)
}

func newAgendaHasDefaults(t *trial) {
	m := t.neighbour(member.Member{BotMeta: member.BotMeta{Object: document.O("tree", "flow")}})
	made := t.schedule(agenda.NewAgendaParams{MemberID: m.ID})
	require.Equal(t, "flow", made.Tree)
	require.Zero(t, made.Priority)
	require.Equal(t, "{}", made.Meta.String())
	require.Empty(t, made.Tag)
	require.False(t, made.Completed)
	t.requireOpen(m, made)
}

func newAgendaIsForAnyMember(t *trial) {
	elsewhere := t.newChannel(t.home.scope.App)
	m := t.newMember(member.Member{App: t.home.scope.App, Channel: elsewhere.ID})
	made := t.schedule(agenda.NewAgendaParams{MemberID: m.ID})
	require.Equal(t, m.ID, made.Member)
	require.Equal(t, elsewhere.ID, made.Channel)
	t.requireOpen(m, made)
	t.requireOpen(t.home.member)
}

func newAgendaKeepsMeta(t *trial) {
	meta := document.O("$set", document.O("a.b", "$c"), "text", "{{firstName}} $$NOW", "list", document.A(1, nil, document.O()))
	made := t.schedule(agenda.NewAgendaParams{Meta: meta})
	require.Equal(t, meta.String(), made.Meta.String())
	t.requireOpen(t.home.member, made)
	t.reschedule(agenda.UpdateAgendaParams{Meta: meta.With("more", true)})
	made.Meta = meta.With("more", true)
	t.requireOpen(t.home.member, made)
}

func patternGivesTheFirstRun(t *trial) {
	made := t.schedule(agenda.NewAgendaParams{Pattern: eachMinute, RunUntil: later})
	requireNextMinute(t, t.home.member, made.NextRunAt)
	t.requireOpen(t.home.member, made)
}

func patternNamesItsZone(t *trial) {
	made := t.schedule(agenda.NewAgendaParams{Pattern: "CRON_TZ=Asia/Tokyo 30 9 1 1 *", RunUntil: later})
	require.Equal(t, "01-01 00:30", made.NextRunAt.Time().UTC().Format("01-02 15:04"), "Tokyo is nine hours ahead of UTC")
	changed := t.reschedule(agenda.UpdateAgendaParams{Pattern: "CRON_TZ=Asia/Kolkata 30 9 1 1 *"})
	require.Len(t, changed.Docs, 1)
	require.Equal(t, "01-01 04:00", changed.Docs[0].NextRunAt.Time().UTC().Format("01-02 15:04"), "India is five and a half")
}

func nextRunAtOverridesThePattern(t *trial) {
	for name, p := range map[string]agenda.NewAgendaParams{
		"later":            {NextRunAt: later - 1, Pattern: eachMinute, RunUntil: later},
		"at the end":       {NextRunAt: later, Pattern: eachMinute, RunUntil: later},
		"which has passed": {NextRunAt: 5, Pattern: eachMinute, RunUntil: later},
		"without runUntil": {NextRunAt: 5, Pattern: eachMinute},
		"without pattern":  {NextRunAt: 5},
		"runUntil alone":   {NextRunAt: 5, RunUntil: later},
	} {
		t.try(name, func(t *trial) {
			require.Equal(t, p.NextRunAt, t.schedule(p).NextRunAt)
		})
	}
}
