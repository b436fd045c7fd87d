package botctxtest

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

func agendaRules() []Rule {
	return slices.Concat(newAgendaRules, replaceRules, updateAgendaRules, deleteAgendaRules, agendaRunRules)
}

const (
	// later is the beginning of 2100. Agendas at this time do not run in the suite.
	later document.Timestamp = 4_102_444_800_000
	// eachMinute is a pattern whose times do not depend on the time zone.
	eachMinute = "* * * * *"
)

// schedule creates an agenda. By default it is for the member and the node of home, at the time later.
func (t *trial) schedule(p agenda.NewParams) *agenda.Agenda {
	t.Helper()
	made := must(t, t.home.NewAgenda, t.scheduled(p))
	require.NotNil(t, made)
	return made
}

func (t *trial) scheduled(p agenda.NewParams) agenda.NewParams {
	if p.MemberID == "" {
		p.MemberID = t.home.scope.Member
	}
	if p.NodeCompositeID == "" {
		p.NodeCompositeID = "node"
	}
	if p.NextRunAt == 0 && p.Pattern == "" {
		p.NextRunAt = later
	}
	return p
}

// reschedule updates agendas. By default they belong to the member of home.
func (t *trial) reschedule(p agenda.UpdateParams) agenda.UpdateResult {
	t.Helper()
	if p.MemberID == "" {
		p.MemberID = t.home.scope.Member
	}
	return must(t, t.home.UpdateAgenda, p)
}

// open returns the open agendas of a member. It reads them with an update that changes nothing.
func (t *trial) open(m *member.Member) []*agenda.Agenda {
	t.Helper()
	shown := must(t, t.operationsFor(m).UpdateAgenda, agenda.UpdateParams{MemberID: m.ID})
	return shown.Docs
}

// requireOpen checks the set of a member's open agendas.
func (t *trial) requireOpen(m *member.Member, want ...*agenda.Agenda) {
	t.Helper()
	require.ElementsMatch(t, textsOf(t, want), textsOf(t, t.open(m)), "the open agendas of the member")
}

func textsOf(t *trial, agendas []*agenda.Agenda) []string {
	t.Helper()
	texts := []string{}
	for _, a := range agendas {
		texts = append(texts, textOf(t, a))
	}
	return texts
}

// requireNextMinute checks a time: at must be the first time of eachMinute after the creation of m, which must be new.
func requireNextMinute(t *trial, m *member.Member, at document.Timestamp) {
	t.Helper()
	require.Greater(t, at, m.CreatedAt)
	require.LessOrEqual(t, at, m.CreatedAt+document.Timestamp(time.Hour/time.Millisecond))
	require.Zero(t, at%document.Timestamp(time.Minute/time.Millisecond), "a minute begins")
}

var newAgendaRules = []Rule{
	rule(newAgendaReturnsTheRecord,
		"newAgenda returns the new record, which is open and has the given values and a new _id"),
	rule(newAgendaHasDefaults, "by default, an agenda has the member's tree, priority 0, meta {} and no tag"),
	rule(newAgendaIsForAnyMemberOfTheApp, "newAgenda schedules for every member of the app, in that member's channel"),
	rule(newAgendaKeepsMetaToTheLetter, "the meta of an agenda is stored unchanged, with any keys and values"),
	rule(newAgendaRunsFirstByThePattern, "an agenda with a pattern and no nextRunAt runs first when the pattern fires next"),
	rule(newAgendaReadsAPatternInTheZoneThatItNames,
		"a pattern that begins with CRON_TZ= and a time zone fires by the time of that zone, also after an update"),
	rule(newAgendaRunsFirstAtNextRunAt,
		"nextRunAt replaces the first time of the pattern, even if it is in the past, and then runUntil is optional; runUntil is inclusive"),
}

func newAgendaReturnsTheRecord(t *trial) {
	given := agenda.NewParams{
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
	made := t.schedule(agenda.NewParams{MemberID: m.ID})
	require.Equal(t, "flow", made.Tree)
	require.Zero(t, made.Priority)
	require.Equal(t, "{}", made.Meta.String())
	require.Empty(t, made.Tag)
	require.False(t, made.Completed)
	t.requireOpen(m, made)
}

func newAgendaIsForAnyMemberOfTheApp(t *trial) {
	elsewhere := t.newChannel(t.home.scope.App)
	m := t.newMember(member.Member{App: t.home.scope.App, Channel: elsewhere.ID})
	made := t.schedule(agenda.NewParams{MemberID: m.ID})
	require.Equal(t, m.ID, made.Member)
	require.Equal(t, elsewhere.ID, made.Channel)
	t.requireOpen(m, made)
	t.requireOpen(t.home.member)
}

func newAgendaKeepsMetaToTheLetter(t *trial) {
	meta := document.O("$set", document.O("a.b", "$c"), "text", "{{firstName}} $$NOW", "list", document.A(1, nil, document.O()))
	made := t.schedule(agenda.NewParams{Meta: meta})
	require.Equal(t, meta.String(), made.Meta.String())
	t.requireOpen(t.home.member, made)
	t.reschedule(agenda.UpdateParams{Meta: meta.With("more", true)})
	made.Meta = meta.With("more", true)
	t.requireOpen(t.home.member, made)
}

func newAgendaRunsFirstByThePattern(t *trial) {
	made := t.schedule(agenda.NewParams{Pattern: eachMinute, RunUntil: later})
	requireNextMinute(t, t.home.member, made.NextRunAt)
	t.requireOpen(t.home.member, made)
}

func newAgendaReadsAPatternInTheZoneThatItNames(t *trial) {
	made := t.schedule(agenda.NewParams{Pattern: "CRON_TZ=Asia/Tokyo 30 9 1 1 *", RunUntil: later})
	require.Equal(t, "01-01 00:30", made.NextRunAt.Time().UTC().Format("01-02 15:04"), "Tokyo is nine hours ahead of UTC")
	changed := t.reschedule(agenda.UpdateParams{Pattern: "CRON_TZ=Asia/Kolkata 30 9 1 1 *"})
	require.Len(t, changed.Docs, 1)
	require.Equal(t, "01-01 04:00", changed.Docs[0].NextRunAt.Time().UTC().Format("01-02 15:04"), "India is five and a half")
}

func newAgendaRunsFirstAtNextRunAt(t *trial) {
	for name, p := range map[string]agenda.NewParams{
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

var replaceRules = []Rule{
	rule(newAgendaReplacesItsTag, "newAgenda with replace replaces all agendas of the same member and tag, and no others"),
	rule(newAgendaReplacesNothingByDefault, "replace is false by default, and then other agendas with the same tag remain"),
	rule(newAgendaKeepsTheLastReplacement, "after several replacements in quick succession, only the last agenda remains"),
	rule(newAgendaKeepsOneReplacementOfMany, "after concurrent replacements one agenda remains, and the next replacement replaces it"),
	rule(updateAgendaReplaces,
		"updateAgenda with replace changes the member's newest open agenda with the tag, removes the others with that tag, and changes no more"),
}

// besides are agendas that do not change if an agenda replaces the home member's agendas with the tag "tag".
type besides struct {
	neighbour        *member.Member
	untagged, tagged *agenda.Agenda
	ofTheNeighbour   *agenda.Agenda
}

// scheduleBesides creates the agendas in besides.
func (t *trial) scheduleBesides() besides {
	t.Helper()
	m := t.neighbour(member.Member{})
	return besides{
		neighbour:      m,
		untagged:       t.schedule(agenda.NewParams{}),
		tagged:         t.schedule(agenda.NewParams{Tag: "another"}),
		ofTheNeighbour: t.schedule(agenda.NewParams{MemberID: m.ID, Tag: "tag"}),
	}
}

// requireBesides checks that the agendas in b still exist, and that the home member's only other agenda is left.
func (t *trial) requireBesides(b besides, left *agenda.Agenda) {
	t.Helper()
	t.requireOpen(t.home.member, b.untagged, b.tagged, left)
	t.requireOpen(b.neighbour, b.ofTheNeighbour)
}

func newAgendaReplacesItsTag(t *trial) {
	others := t.scheduleBesides()
	t.schedule(agenda.NewParams{Tag: "tag"})
	t.schedule(agenda.NewParams{Tag: "tag", Pattern: eachMinute, RunUntil: later, NextRunAt: later})
	left := t.schedule(agenda.NewParams{Tag: "tag", Replace: true, NodeCompositeID: "new"})
	t.requireBesides(others, left)
}

func newAgendaReplacesNothingByDefault(t *trial) {
	first := t.schedule(agenda.NewParams{Tag: "tag", Replace: true})
	second := t.schedule(agenda.NewParams{Tag: "tag"})
	third := t.schedule(agenda.NewParams{Tag: "tag"})
	t.requireOpen(t.home.member, first, second, third)
}

func newAgendaKeepsTheLastReplacement(t *trial) {
	for range workers {
		node := unique("node")
		left := t.schedule(agenda.NewParams{Tag: "tag", Replace: true, NodeCompositeID: node})
		require.Equal(t, node, left.NodeCompositeID)
		t.requireOpen(t.home.member, left)
	}
}

func newAgendaKeepsOneReplacementOfMany(t *trial) {
	others := t.scheduleBesides()
	t.atOnce(func(int) error {
		return repeat(func() error {
			return errorOf(t.home.NewAgenda(t.Context(), t.scheduled(agenda.NewParams{Tag: "tag", Replace: true})))
		})
	})
	require.Len(t, t.reschedule(agenda.UpdateParams{Tag: "tag"}).Docs, 1)
	t.requireBesides(others, t.schedule(agenda.NewParams{Tag: "tag", Replace: true}))
}

func updateAgendaReplaces(t *trial) {
	others := t.scheduleBesides()
	t.schedule(agenda.NewParams{Tag: "tag", Replace: true})
	t.schedule(agenda.NewParams{Tag: "tag"})
	newest := t.schedule(agenda.NewParams{Tag: "tag"})
	newest.NodeCompositeID = "new"
	result := t.reschedule(agenda.UpdateParams{Tag: "tag", Replace: true, NodeCompositeID: "new"})
	require.Equal(t, []string{newest.ID}, result.DocsIDs.Updated)
	require.Equal(t, textsOf(t, []*agenda.Agenda{newest}), textsOf(t, result.Docs))
	t.requireBesides(others, newest)
	t.requireBesides(others, t.schedule(agenda.NewParams{Tag: "tag", Replace: true}))
}

var deleteAgendaRules = []Rule{
	rule(deleteMemberAgendaRemovesTheTag, "deleteMemberAgenda with a tag removes the member's open agendas of that tag, and no others"),
	rule(deleteMemberAgendaRemovesAll, "deleteMemberAgenda without a tag removes all open agendas of the member, and no other member's"),
	rule(deleteMemberAgendaAcknowledges, "deleteMemberAgenda returns a new clientMutationId in each call, even if nothing matches"),
	rule(deleteMemberAgendaStaysInTheApp, "agendas of another app do not exist for deleteMemberAgenda"),
}

func (t *trial) unschedule(memberID, tag string) agenda.DeleteResult {
	t.Helper()
	return must(t, t.home.DeleteMemberAgenda, agenda.DeleteParams{MemberID: memberID, Tag: tag})
}

func deleteMemberAgendaRemovesTheTag(t *trial) {
	others := t.scheduleBesides()
	t.schedule(agenda.NewParams{Tag: "tag"})
	t.schedule(agenda.NewParams{Tag: "tag", Pattern: eachMinute, RunUntil: later})
	t.unschedule(t.home.scope.Member, "tag")
	t.requireOpen(t.home.member, others.untagged, others.tagged)
	t.requireOpen(others.neighbour, others.ofTheNeighbour)
}

func deleteMemberAgendaRemovesAll(t *trial) {
	others := t.scheduleBesides()
	t.schedule(agenda.NewParams{MemberID: others.neighbour.ID})
	t.unschedule(others.neighbour.ID, "")
	t.requireOpen(others.neighbour)
	t.requireOpen(t.home.member, others.untagged, others.tagged)
	t.unschedule(t.home.scope.Member, "")
	t.requireOpen(t.home.member)
}

func deleteMemberAgendaAcknowledges(t *trial) {
	t.schedule(agenda.NewParams{Tag: "tag"})
	seen := map[string]bool{}
	for _, id := range []string{t.home.scope.Member, t.home.scope.Member, unique("member")} {
		given := t.unschedule(id, "tag").ClientMutationID
		require.NotEmpty(t, given)
		require.False(t, seen[given], "%s appears twice", given)
		seen[given] = true
	}
}

func deleteMemberAgendaStaysInTheApp(t *trial) {
	theirs := t.scheduleAway()
	t.unschedule(t.away.scope.Member, "")
	t.unschedule(t.away.scope.Member, "tag")
	t.requireOpen(t.away.member, theirs)
}

// scheduleAway creates an agenda of the member of away.
func (t *trial) scheduleAway() *agenda.Agenda {
	t.Helper()
	return must(t, t.away.NewAgenda, agenda.NewParams{
		MemberID: t.away.scope.Member, NodeCompositeID: "node", NextRunAt: later, Tag: "tag",
	})
}

var updateAgendaRules = []Rule{
	rule(updateAgendaSetsWhatIsGiven, "updateAgenda sets the given fields and keeps the others"),
	rule(updateAgendaChangesTheTag, "updateAgenda with a tag changes the member's open agendas of that tag, and no others"),
	rule(updateAgendaChangesAll, "updateAgenda without a tag changes all open agendas of the member, and no other member's"),
	rule(updateAgendaTellsWhatItDid,
		"updateAgenda returns the ids and records of the matching agendas, and the number of changed ones"),
	rule(updateAgendaOfNothing, "if nothing matches, updateAgenda returns empty lists and 0 without an error"),
	rule(updateAgendaSchedulesAnew,
		"a new pattern gives the next run, unless nextRunAt overrides it; runUntil holds until another is given"),
	rule(updateAgendaOfASingleRun,
		"for an agenda without a pattern, updateAgenda accepts runUntil alone, and pattern together with nextRunAt"),
	rule(updateAgendaStaysInTheApp, "agendas of another app do not exist for updateAgenda"),
	rule(updateAgendaIsAllOrNone, "if one of the matching agendas cannot have the new schedule, none is changed"),
	rule(updateAgendaLosesNoField, "updateAgenda writes only the given fields, so concurrent calls do not undo each other's changes"),
}

func updateAgendaSetsWhatIsGiven(t *trial) {
	for name, c := range map[string]struct {
		given agenda.UpdateParams
		want  func(*agenda.Agenda)
	}{
		"meta":            {agenda.UpdateParams{Meta: document.O("m", 2)}, func(a *agenda.Agenda) { a.Meta = document.O("m", 2) }},
		"an empty meta":   {agenda.UpdateParams{Meta: document.O()}, func(a *agenda.Agenda) { a.Meta = document.O() }},
		"nodeCompositeId": {agenda.UpdateParams{NodeCompositeID: "$n"}, func(a *agenda.Agenda) { a.NodeCompositeID = "$n" }},
		"treeId":          {agenda.UpdateParams{TreeID: "$t"}, func(a *agenda.Agenda) { a.Tree = "$t" }},
		"priority":        {agenda.UpdateParams{Priority: new(int64(-3))}, func(a *agenda.Agenda) { a.Priority = -3 }},
		"priority 0":      {agenda.UpdateParams{Priority: new(int64(0))}, func(a *agenda.Agenda) { a.Priority = 0 }},
		"nextRunAt":       {agenda.UpdateParams{NextRunAt: later + 7}, func(a *agenda.Agenda) { a.NextRunAt = later + 7 }},
		"nothing":         {agenda.UpdateParams{}, func(*agenda.Agenda) {}},
	} {
		t.try(name, func(t *trial) {
			made := t.schedule(agenda.NewParams{
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
	first := t.schedule(agenda.NewParams{Tag: "tag"})
	second := t.schedule(agenda.NewParams{Tag: "tag"})
	result := t.reschedule(agenda.UpdateParams{Tag: "tag", Priority: new(int64(4))})
	first.Priority, second.Priority = 4, 4
	require.ElementsMatch(t, textsOf(t, []*agenda.Agenda{first, second}), textsOf(t, result.Docs))
	t.requireOpen(t.home.member, others.untagged, others.tagged, first, second)
	t.requireOpen(others.neighbour, others.ofTheNeighbour)
}

func updateAgendaChangesAll(t *trial) {
	others := t.scheduleBesides()
	result := t.reschedule(agenda.UpdateParams{Priority: new(int64(4))})
	others.untagged.Priority, others.tagged.Priority = 4, 4
	require.ElementsMatch(t, textsOf(t, []*agenda.Agenda{others.untagged, others.tagged}), textsOf(t, result.Docs))
	t.requireOpen(t.home.member, others.untagged, others.tagged)
	t.requireOpen(others.neighbour, others.ofTheNeighbour)
	t.reschedule(agenda.UpdateParams{MemberID: others.neighbour.ID, Priority: new(int64(5))})
	others.ofTheNeighbour.Priority = 5
	t.requireOpen(t.home.member, others.untagged, others.tagged)
	t.requireOpen(others.neighbour, others.ofTheNeighbour)
}

func updateAgendaTellsWhatItDid(t *trial) {
	first := t.schedule(agenda.NewParams{Tag: "tag"})
	second := t.schedule(agenda.NewParams{Tag: "tag", Priority: new(int64(4))})
	t.schedule(agenda.NewParams{})
	first.Priority = 4
	for _, modified := range []int64{1, 0} {
		result := t.reschedule(agenda.UpdateParams{Tag: "tag", Priority: new(int64(4))})
		require.ElementsMatch(t, []string{first.ID, second.ID}, result.DocsIDs.Updated)
		require.ElementsMatch(t, textsOf(t, []*agenda.Agenda{first, second}), textsOf(t, result.Docs))
		require.Equal(t, modified, result.Modified)
	}
}

func updateAgendaOfNothing(t *trial) {
	t.schedule(agenda.NewParams{Tag: "tag"})
	before := t.state()
	for name, p := range map[string]agenda.UpdateParams{
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
	made := t.schedule(agenda.NewParams{})
	changed := t.reschedule(agenda.UpdateParams{Pattern: eachMinute, RunUntil: later})
	require.Len(t, changed.Docs, 1)
	requireNextMinute(t, t.home.member, changed.Docs[0].NextRunAt)
	for name, p := range map[string]agenda.UpdateParams{
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
	t.reschedule(agenda.UpdateParams{Pattern: eachMinute})
	requireNextMinute(t, t.home.member, t.open(t.home.member)[0].NextRunAt)
}

func updateAgendaOfASingleRun(t *trial) {
	for name, given := range map[string]agenda.UpdateParams{
		"runUntil":                       {RunUntil: later - 1},
		"runUntil and a later nextRunAt": {RunUntil: later, NextRunAt: later + 1},
		"a pattern and nextRunAt":        {Pattern: eachMinute, NextRunAt: later + 1},
	} {
		t.try(name, func(t *trial) {
			made := t.schedule(agenda.NewParams{NextRunAt: later, Tag: "tag", Replace: true})
			given.Tag = "tag"
			t.reschedule(given)
			made.NextRunAt = max(made.NextRunAt, given.NextRunAt)
			t.requireOpen(t.home.member, made)
		})
	}
}

func updateAgendaStaysInTheApp(t *trial) {
	theirs := t.scheduleAway()
	for name, p := range map[string]agenda.UpdateParams{
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
	t.schedule(agenda.NewParams{})
	t.schedule(agenda.NewParams{Pattern: eachMinute, RunUntil: later})
	t.schedule(agenda.NewParams{})
	requireRefused(t, botctx.OpUpdateAgenda, t.home.UpdateAgenda, []badInput[agenda.UpdateParams]{{
		"a time after the end of a pattern", agenda.UpdateParams{
			MemberID: t.home.scope.Member, NextRunAt: later + 1, Priority: new(int64(4)),
		}, "nextRunAt",
	}})
}

func updateAgendaLosesNoField(t *trial) {
	made := t.schedule(agenda.NewParams{})
	made.NodeCompositeID, made.Tree, made.Priority, made.NextRunAt = "new", "new", 4, later+1
	made.Meta = document.O("new", true)
	updates := []agenda.UpdateParams{
		{NodeCompositeID: "new"}, {TreeID: "new"}, {Priority: new(int64(4))}, {NextRunAt: later + 1}, {Meta: made.Meta},
	}
	t.atOnce(func(worker int) error {
		p := updates[worker%len(updates)]
		p.MemberID = t.home.scope.Member
		return errorOf(t.home.UpdateAgenda(t.Context(), p))
	})
	t.requireOpen(t.home.member, made)
}
