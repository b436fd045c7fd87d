package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
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
		Name:  "ThePatternGivesTheFirstRun",
		Text:  "an agenda with a pattern and no nextRunAt runs first when the pattern fires next",
		check: patternGivesTheFirstRun,
	},
	{
		Name:  "NextRunAtOverridesThePattern",
		Text:  "nextRunAt overrides the pattern as the first run, also where it has passed, and needs no runUntil then; runUntil is inclusive",
		check: nextRunAtOverridesThePattern,
	},
	{
		Name:  "NewAgendaFindsNoOthers",
		Text:  "newAgenda for a member that does not exist, or is of another app, is NotFound",
		check: newAgendaFindsNoOthers,
	},
	{
		Name:  "NewAgendaRefusesBadInput",
		Text:  "bad input of newAgenda is InvalidArgument with the name of the parameter, and changes nothing",
		check: newAgendaRefusesBadInput,
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

func newAgendaFindsNoOthers(t *trial) {
	for name, id := range map[string]string{"nobody": unique("member"), "of another app": t.away.scope.Member} {
		t.try(name, func(t *trial) {
			before := t.state()
			made, err := t.home.NewAgenda(t.ctx(), t.scheduled(agenda.NewAgendaParams{MemberID: id}))
			t.requireError(botctx.OpNewAgenda, boterr.NotFound, "memberId", err)
			require.Nil(t, made)
			require.Equal(t, before, t.state())
		})
	}
}

func newAgendaRefusesBadInput(t *trial) {
	type params = agenda.NewAgendaParams
	t.schedule(params{Tag: "tag"})
	id := t.home.scope.Member
	cases := []badInput[params]{
		{"no memberId", params{NodeCompositeID: "node", NextRunAt: later}, "memberId"},
		{"no nodeCompositeId", params{MemberID: id, NextRunAt: later}, "nodeCompositeId"},
		{"neither nextRunAt nor pattern", params{MemberID: id, NodeCompositeID: "node"}, "nextRunAt"},
	}
	for _, bad := range []badInput[params]{
		{"a nextRunAt before 1970", params{NextRunAt: -1}, "nextRunAt"},
		{"a runUntil before 1970", params{Pattern: eachMinute, RunUntil: -1}, "runUntil"},
		{"a pattern without runUntil", params{Pattern: eachMinute}, "runUntil"},
		{"a pattern that does not fire until runUntil", params{Pattern: eachMinute, RunUntil: 1}, "pattern"},
		{"a nextRunAt after runUntil", params{NextRunAt: later + 1, Pattern: eachMinute, RunUntil: later}, "nextRunAt"},
		{"a pattern of words", params{Pattern: "every minute of a day", RunUntil: later}, "pattern"},
		{"a pattern of four fields", params{Pattern: "* * * *", RunUntil: later}, "pattern"},
		{"a pattern beyond the hour", params{Pattern: "61 * * * *", RunUntil: later}, "pattern"},
		{"a pattern beside nextRunAt that is none", params{NextRunAt: later, Pattern: "x", RunUntil: later}, "pattern"},
		{"a pattern that never fires", params{Pattern: "0 0 30 2 *", RunUntil: later}, "pattern"},
		{"replace without a tag", params{Replace: true}, "tag"},
		{"a meta of what is no value", params{Meta: document.O("x", make(chan int))}, "meta"},
	} {
		bad.params = t.scheduled(bad.params)
		cases = append(cases, bad)
	}
	requireRefused(t, botctx.OpNewAgenda, t.home.NewAgenda, cases)
}
