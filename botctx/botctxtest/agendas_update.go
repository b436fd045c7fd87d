package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

var updateAgendaRules = []Rule{
	{
		Name:  "UpdateAgendaSetsWhatIsGiven",
		Text:  "updateAgenda sets what is given and leaves the rest as it is",
		check: updateAgendaSetsWhatIsGiven,
	},
	{
		Name:  "UpdateAgendaChangesTheTag",
		Text:  "updateAgenda with a tag changes the member's open agendas of that tag, and no others",
		check: updateAgendaChangesTheTag,
	},
	{
		Name:  "UpdateAgendaChangesAll",
		Text:  "updateAgenda without a tag changes all open agendas of the member, and of nobody else",
		check: updateAgendaChangesAll,
	},
	{
		Name:  "UpdateAgendaTellsWhatItDid",
		Text:  "updateAgenda returns the ids and the records of what matched, and counts what had other values before",
		check: updateAgendaTellsWhatItDid,
	},
	{
		Name:  "UpdateAgendaOfNothing",
		Text:  "an updateAgenda that matches nothing returns empty lists and 0, and is no error",
		check: updateAgendaOfNothing,
	},
	{
		Name:  "UpdateAgendaSchedulesAnew",
		Text:  "a new pattern gives the next run, unless nextRunAt overrides it; runUntil holds until another is given",
		check: updateAgendaSchedulesAnew,
	},
	{
		Name:  "UpdateAgendaOfASingleRun",
		Text:  "updateAgenda of an agenda without a pattern takes a runUntil alone, and a pattern alone that nextRunAt overrides",
		check: updateAgendaOfASingleRun,
	},
	{
		Name:  "UpdateAgendaStaysInTheApp",
		Text:  "agendas of another app do not exist for updateAgenda",
		check: updateAgendaStaysInTheApp,
	},
	{
		Name:  "UpdateAgendaIsAllOrNone",
		Text:  "a schedule that one of the member's agendas cannot have changes none of them",
		check: updateAgendaIsAllOrNone,
	},
	{
		Name:  "UpdateAgendaLosesNoField",
		Text:  "updateAgenda writes the given fields alone: of many at once, none takes back what another wrote",
		check: updateAgendaLosesNoField,
	},
}

func updateAgendaSetsWhatIsGiven(t *trial) {
	for name, c := range map[string]struct {
		given agenda.UpdateAgendaParams
		want  func(*agenda.Agenda)
	}{
		"meta":            {agenda.UpdateAgendaParams{Meta: document.O("m", 2)}, func(a *agenda.Agenda) { a.Meta = document.O("m", 2) }},
		"an empty meta":   {agenda.UpdateAgendaParams{Meta: document.O()}, func(a *agenda.Agenda) { a.Meta = document.O() }},
		"nodeCompositeId": {agenda.UpdateAgendaParams{NodeCompositeID: "$n"}, func(a *agenda.Agenda) { a.NodeCompositeID = "$n" }},
		"treeId":          {agenda.UpdateAgendaParams{TreeID: "$t"}, func(a *agenda.Agenda) { a.Tree = "$t" }},
		"priority":        {agenda.UpdateAgendaParams{Priority: new(int64(-3))}, func(a *agenda.Agenda) { a.Priority = -3 }},
		"priority 0":      {agenda.UpdateAgendaParams{Priority: new(int64(0))}, func(a *agenda.Agenda) { a.Priority = 0 }},
		"nextRunAt":       {agenda.UpdateAgendaParams{NextRunAt: later + 7}, func(a *agenda.Agenda) { a.NextRunAt = later + 7 }},
		"nothing":         {agenda.UpdateAgendaParams{}, func(*agenda.Agenda) {}},
	} {
		t.try(name, func(t *trial) {
			made := t.schedule(agenda.NewAgendaParams{
				TreeID: "tree", Priority: new(int64(9)), Meta: document.O("n", 1), Tag: "tag", Replace: true,
			})
			c.given.Tag = "tag"
			result := t.reschedule(c.given)
			c.want(made)
			require.Equal(t, textsOf(t, []*agenda.Agenda{made}), textsOf(t, result.Docs))
			t.requireOpen(t.home.member, made)
		})
	}
}

func updateAgendaChangesTheTag(t *trial) {
	others := t.scheduleBesides()
	first := t.schedule(agenda.NewAgendaParams{Tag: "tag"})
	second := t.schedule(agenda.NewAgendaParams{Tag: "tag"})
	result := t.reschedule(agenda.UpdateAgendaParams{Tag: "tag", Priority: new(int64(4))})
	first.Priority, second.Priority = 4, 4
	require.ElementsMatch(t, textsOf(t, []*agenda.Agenda{first, second}), textsOf(t, result.Docs))
	t.requireOpen(t.home.member, others.untagged, others.tagged, first, second)
	t.requireOpen(others.neighbour, others.ofTheNeighbour)
}

func updateAgendaChangesAll(t *trial) {
	others := t.scheduleBesides()
	result := t.reschedule(agenda.UpdateAgendaParams{Priority: new(int64(4))})
	others.untagged.Priority, others.tagged.Priority = 4, 4
	require.ElementsMatch(t, textsOf(t, []*agenda.Agenda{others.untagged, others.tagged}), textsOf(t, result.Docs))
	t.requireOpen(t.home.member, others.untagged, others.tagged)
	t.requireOpen(others.neighbour, others.ofTheNeighbour)
	t.reschedule(agenda.UpdateAgendaParams{MemberID: others.neighbour.ID, Priority: new(int64(5))})
	others.ofTheNeighbour.Priority = 5
	t.requireOpen(t.home.member, others.untagged, others.tagged)
	t.requireOpen(others.neighbour, others.ofTheNeighbour)
}

func updateAgendaTellsWhatItDid(t *trial) {
	first := t.schedule(agenda.NewAgendaParams{Tag: "tag"})
	second := t.schedule(agenda.NewAgendaParams{Tag: "tag", Priority: new(int64(4))})
	t.schedule(agenda.NewAgendaParams{})
	first.Priority = 4
	for _, modified := range []int64{1, 0} {
		result := t.reschedule(agenda.UpdateAgendaParams{Tag: "tag", Priority: new(int64(4))})
		require.ElementsMatch(t, []string{first.ID, second.ID}, result.DocsIDs.Updated)
		require.ElementsMatch(t, textsOf(t, []*agenda.Agenda{first, second}), textsOf(t, result.Docs))
		require.Equal(t, modified, result.Modified)
	}
}

func updateAgendaOfNothing(t *trial) {
	t.schedule(agenda.NewAgendaParams{Tag: "tag"})
	before := t.state()
	for name, p := range map[string]agenda.UpdateAgendaParams{
		"another tag":          {Tag: "another"},
		"another tag, replace": {Tag: "another", Replace: true},
		"nobody":               {MemberID: unique("member")},
	} {
		t.try(name, func(t *trial) {
			p.NextRunAt = later + 1
			result := t.reschedule(p)
			require.JSONEq(t, `{"_docsIds": {"updated": []}, "_docs": [], "modified": 0}`, textOf(t, result))
			require.Equal(t, before, t.state())
		})
	}
}

func updateAgendaSchedulesAnew(t *trial) {
	made := t.schedule(agenda.NewAgendaParams{})
	changed := t.reschedule(agenda.UpdateAgendaParams{Pattern: eachMinute, RunUntil: later})
	require.Len(t, changed.Docs, 1)
	requireNextMinute(t, t.home.member, changed.Docs[0].NextRunAt)
	for name, p := range map[string]agenda.UpdateAgendaParams{
		"nextRunAt beats the pattern": {Pattern: eachMinute, NextRunAt: later - 1},
		"up to runUntil":              {NextRunAt: later},
		"with another runUntil":       {NextRunAt: later + 5, RunUntil: later + 5},
	} {
		t.try(name, func(t *trial) {
			t.reschedule(p)
			made.NextRunAt = p.NextRunAt
			t.requireOpen(t.home.member, made)
		})
	}
	t.reschedule(agenda.UpdateAgendaParams{Pattern: eachMinute})
	requireNextMinute(t, t.home.member, t.open(t.home.member)[0].NextRunAt)
}

func updateAgendaOfASingleRun(t *trial) {
	for name, given := range map[string]agenda.UpdateAgendaParams{
		"runUntil":                       {RunUntil: later - 1},
		"runUntil and a later nextRunAt": {RunUntil: later, NextRunAt: later + 1},
		"a pattern and nextRunAt":        {Pattern: eachMinute, NextRunAt: later + 1},
	} {
		t.try(name, func(t *trial) {
			made := t.schedule(agenda.NewAgendaParams{NextRunAt: later, Tag: "tag", Replace: true})
			given.Tag = "tag"
			t.reschedule(given)
			made.NextRunAt = max(made.NextRunAt, given.NextRunAt)
			t.requireOpen(t.home.member, made)
		})
	}
}

func updateAgendaStaysInTheApp(t *trial) {
	theirs := t.scheduleAway()
	for name, p := range map[string]agenda.UpdateAgendaParams{
		"all":     {NextRunAt: later + 1},
		"tag":     {NextRunAt: later + 1, Tag: "tag"},
		"replace": {NextRunAt: later + 1, Tag: "tag", Replace: true},
	} {
		t.try(name, func(t *trial) {
			p.MemberID = t.away.scope.Member
			require.Empty(t, t.reschedule(p).Docs)
			t.requireOpen(t.away.member, theirs)
		})
	}
}

func updateAgendaIsAllOrNone(t *trial) {
	t.schedule(agenda.NewAgendaParams{})
	t.schedule(agenda.NewAgendaParams{Pattern: eachMinute, RunUntil: later})
	t.schedule(agenda.NewAgendaParams{})
	before := t.state()
	result, err := t.home.UpdateAgenda(t.ctx(), agenda.UpdateAgendaParams{
		MemberID: t.home.scope.Member, NextRunAt: later + 1, Priority: new(int64(4)),
	})
	t.requireError(botctx.OpUpdateAgenda, boterr.InvalidArgument, "nextRunAt", err)
	require.Zero(t, result)
	require.Equal(t, before, t.state())
}

func updateAgendaLosesNoField(t *trial) {
	made := t.schedule(agenda.NewAgendaParams{})
	made.NodeCompositeID, made.Tree, made.Priority, made.NextRunAt = "new", "new", 4, later+1
	made.Meta = document.O("new", true)
	updates := []agenda.UpdateAgendaParams{
		{NodeCompositeID: "new"}, {TreeID: "new"}, {Priority: new(int64(4))}, {NextRunAt: later + 1}, {Meta: made.Meta},
	}
	t.atOnce(func(worker int) error {
		p := updates[worker%len(updates)]
		p.MemberID = t.home.scope.Member
		return errorOf(t.home.UpdateAgenda(t.ctx(), p))
	})
	t.requireOpen(t.home.member, made)
}
