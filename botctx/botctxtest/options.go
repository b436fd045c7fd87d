package botctxtest

import (
	"slices"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// counting is an operation with driver options. Its call increments meta.n of one record.
type counting struct {
	// name is the prefix of the rules' names. parameter is the name of the parameter with the options.
	name      string
	op        botctx.Op
	parameter string
	// begin creates the record {firstName: "Eve", gender: "f", meta: {n: 1, list: [7, 8]}} and returns a function
	// that calls the operation.
	begin func(t *trial) countCall
	// refused are options that the operation does not have, or that contradict each other.
	refused []document.Object
}

// countCall calls the operation with options and returns the record in its result.
type countCall func(t *trial, options document.Object) (document.Object, error)

// refusedEverywhere are options that every such operation refuses.
var refusedEverywhere = []document.Object{
	document.O("collation", document.O("locale", "de")),
	document.O("comment", "why", "nearly", true),
}

// returnsRefused are options about the returned record that are invalid or contradict each other.
var returnsRefused = []document.Object{
	document.O("returnDocument", "sideways"),
	document.O("new", true, "returnDocument", "before"),
	document.O("new", true, "returnOriginal", true),
	document.O("returnDocument", "after", "returnOriginal", true),
	document.O("returnDocument", "before", "returnOriginal", false),
	document.O("projection", document.O("gender", 1, "meta", 0)),
	document.O("projection", document.O("gender", document.O("$nearly", 1))),
	document.O("fields", document.O("gender", 1, "meta", 0)),
	document.O("projection", document.O("gender", 1), "fields", document.O("meta", 1)),
	document.O("sort", document.O("gender", 2)),
}

var (
	countingMember = counting{
		name: "FindAndModifyMember", op: botctx.OpFindAndModifyMember, parameter: "option", begin: countOnMember,
		refused: returnsRefused,
	}
	countingData = counting{
		name: "FindAndModifyDataFromDataSource", op: botctx.OpFindAndModifyDataFromDataSource, parameter: "option", begin: countOnEntry,
		refused: returnsRefused,
	}
	countingPatch = counting{
		name: "PatchDataToDataSource", op: botctx.OpPatchDataToDataSource, parameter: "options", begin: countByPatch,
	}
)

// returningRules returns the rules for the options about the returned record.
func returningRules(c counting) []Rule {
	return []Rule{
		{
			Name: c.name + "ReturnsByAnySpelling",
			Text: `returnDocument "after" and returnOriginal false mean new: true, and "before" and true mean new: false; ` +
				"the record is modified in both cases",
			check: func(t *trial) { returnsByAnySpelling(t, c) },
		},
		{
			Name:  c.name + "ShowsTheProjection",
			Text:  "projection, also called fields, selects the fields of the result; the stored record keeps all fields",
			check: func(t *trial) { showsTheProjection(t, c) },
		},
	}
}

func optionRules(c counting) []Rule {
	return []Rule{
		{
			Name:  c.name + "TakesOptionsOfDrivers",
			Text:  "maxTimeMS, writeConcern, comment, hint and rawResult have no effect, and neither has an option that is null",
			check: func(t *trial) { takesOptionsOfDrivers(t, c) },
		},
		{
			Name:  c.name + "RefusesOptions",
			Text:  "an option that is not supported or contradicts another is InvalidArgument with its name, and nothing changes",
			check: func(t *trial) { refusesOptions(t, c) },
		},
	}
}

// counted returns the record before the first call.
func counted() document.Object {
	return document.O("firstName", "Eve", "gender", "f", "meta", document.O("n", 1, "list", document.A(7, 8)))
}

func countOnMember(t *trial) countCall {
	var added member.Member
	require.NoError(t, document.Decode(counted(), &added))
	m := t.neighbour(added)
	return func(t *trial, option document.Object) (document.Object, error) {
		p := member.FindAndModifyParams{Filter: document.O("_id", m.ID), Patch: document.Inc("meta.n", 1)}
		require.NoError(t, document.Decode(option, &p.Option))
		result, err := t.home.FindAndModifyMember(t.Context(), p)
		if err != nil || result.Member == nil {
			require.Zero(t, result, "the result of a failed call")
			return document.Object{}, err
		}
		return document.Encode(*result.Member)
	}
}

func countOnEntry(t *trial) countCall {
	t.seed(t.home, counted().With("_id", "eve"))
	return func(t *trial, option document.Object) (document.Object, error) {
		p := findDataParams{DataSourceID: source, Filter: document.O("_id", "eve"), Patch: document.Inc("meta.n", 1)}
		require.NoError(t, document.Decode(option, &p.Option))
		result, err := t.home.FindAndModifyDataFromDataSource(t.Context(), p)
		if err != nil || result.Value == nil {
			require.Zero(t, result, "the result of a failed call")
			return document.Object{}, err
		}
		return *result.Value, nil
	}
}

func countByPatch(t *trial) countCall {
	t.seed(t.home, counted().With("_id", "eve"))
	return func(t *trial, options document.Object) (document.Object, error) {
		p := patchDataParams{DataSourceID: source, Patch: document.Inc("meta.n", 1), WithModifier: true}
		require.NoError(t, document.Decode(options, &p.Options))
		result, err := t.home.PatchDataToDataSource(t.Context(), p)
		if err != nil {
			require.Zero(t, result, "the result of a failed call")
			return document.Object{}, err
		}
		require.Equal(t, datasource.PatchResult{Matched: 1, Modified: 1}, result)
		return t.all(t.home)[0], nil
	}
}

func returnsByAnySpelling(t *trial, c counting) {
	for _, test := range []struct {
		option document.Object
		isNew  bool
	}{
		{document.O(), false},
		{document.O("returnDocument", "before"), false},
		{document.O("returnOriginal", true), false},
		{document.O("new", false, "returnDocument", "before", "returnOriginal", true), false},
		{document.O("new", true), true},
		{document.O("returnDocument", "after"), true},
		{document.O("returnOriginal", false), true},
		{document.O("new", true, "returnDocument", "after", "returnOriginal", false), true},
	} {
		t.try(test.option.String(), func(t *trial) {
			one := c.begin(t)
			for before := range 3 {
				expected := before + 1
				if test.isNew {
					expected++
				}
				returned, err := one(t, test.option)
				require.NoError(t, err)
				require.Equal(t, expected, document.Get(returned, "meta.n", 0))
			}
		})
	}
}

// shownPaths are the paths that a projection may leave out.
var shownPaths = []string{"_id", "createdAt", "firstName", "gender", "meta.list", "meta.n"}

func showsTheProjection(t *trial, c counting) {
	name := document.O("firstName", 1)
	for _, test := range []struct {
		option document.Object
		shown  []string
	}{
		{document.O("projection", name), []string{"_id", "firstName"}},
		{document.O("fields", name), []string{"_id", "firstName"}},
		{document.O("fields", name, "projection", name), []string{"_id", "firstName"}},
		{document.O("projection", document.O("_id", 0, "meta.n", true)), []string{"meta.n"}},
		{document.O("projection", document.O("meta", false)), []string{"_id", "createdAt", "firstName", "gender"}},
		{document.O("fields", document.O("gender", 0, "meta.n", 0)), []string{"_id", "createdAt", "firstName", "meta.list"}},
		{document.O("projection", document.O()), shownPaths},
	} {
		t.try(test.option.String(), func(t *trial) {
			one := c.begin(t)
			for _, option := range []document.Object{test.option, test.option.With("new", true)} {
				returned, err := one(t, option)
				require.NoError(t, err)
				require.Equal(t, test.shown, pathsIn(returned))
			}
			whole, err := one(t, document.O())
			require.NoError(t, err)
			require.Equal(t, shownPaths, pathsIn(whole), "fields outside of the projection must not change")
			require.Equal(t, 3, document.Get(whole, "meta.n", 0), "the stored counter after two calls")
		})
	}
}

// pathsIn returns the elements of shownPaths that a record has.
func pathsIn(record document.Object) []string {
	return slices.DeleteFunc(slices.Clone(shownPaths), func(path string) bool {
		_, isThere := record.Lookup(path)
		return !isThere
	})
}

func takesOptionsOfDrivers(t *trial, c counting) {
	one := c.begin(t)
	plain, err := one(t, document.O())
	require.NoError(t, err)
	for i, option := range []document.Object{
		document.O("maxTimeMS", 1), document.O("writeConcern", document.O("w", "majority")), document.O("comment", "why"),
		document.O("hint", document.O("gender", 1)), document.O("maxTimeMS", 1000, "comment", "why", "hint", "gender_1"),
		document.O("rawResult", true, "includeResultMetadata", false), document.O("session", nil, "collation", nil, "upsert", nil),
	} {
		returned, err := one(t, option)
		require.NoError(t, err, "%v", option)
		require.Equal(t, document.Get(plain, "meta.n", 0)+i+1, document.Get(returned, "meta.n", 0), "%v", option)
		require.Equal(t, pathsIn(plain), pathsIn(returned), "%v", option)
	}
}

func refusesOptions(t *trial, c counting) {
	one := c.begin(t)
	now := t.state()
	for _, option := range slices.Concat(refusedEverywhere, c.refused) {
		t.try(option.String(), func(t *trial) {
			_, err := one(t, option)
			t.requireError(c.op, boterr.InvalidArgument, c.parameter, err)
			before := now
			now = t.state()
			require.Equal(t, before, now, "a call that fails changes nothing")
		})
	}
}

// The scenes for operations on records.
var (
	// anEntry is an entry in the data source, with a point.
	anEntry = &scene{begin: func(t *trial, base *place) *place {
		t.seed(base, document.O("_id", "a", "text", "x", "location", point(1, 0)))
		return base
	}}
	// anAgenda is an agenda of the member.
	anAgenda = &scene{begin: func(t *trial, base *place) *place {
		t.Helper()
		require.NoError(t, errorOf(base.NewAgenda(t.Context(), agenda.NewParams{
			MemberID: base.scope.Member, NodeCompositeID: base.node, NextRunAt: later, Tag: "tag",
		})))
		return base
	}}
	aNode = &scene{needs: []Capability{handleNodes}, begin: func(t *trial, base *place) *place {
		t.Handle(&botctx.Node{ID: base.node, Pre: []botctx.Action{sets("seen")}})
		return base
	}}
	// anAccount is a payment account of the app.
	anAccount = &scene{needs: []Capability{addAccounts}, begin: func(t *trial, base *place) *place {
		t.AddAccount(base.scope.App, base.account())
		return base
	}}
	// aFile is a file at an address, which uploads can fetch.
	aFile = &scene{needs: []Capability{readFiles}, begin: func(t *trial, base *place) *place {
		other := *base
		other.url = t.Serve("application/pdf", "bill").URL
		return &other
	}}
)

// The scenes for sends in a channel of a platform.
var (
	onAlpha   = aChannelOn(channel.Alpha)
	onCharlie = aChannelOn(channel.Charlie)
	onDelta   = aChannelOn(channel.Delta)
	onEcho    = aChannelOn(channel.Echo)
	onHotel   = aChannelOn(channel.Hotel)
)

// aChannelOn is a channel on a platform, with the objects that the platform's operations need.
func aChannelOn(platform channel.Type) *scene {
	return &scene{platform: platform, begin: func(t *trial, base *place) *place { return t.onIn(base, platform) }}
}

// The scenes for operations on live chats. Their place is for the requesting member or for the agents' side.
var (
	anOpenDesk = &scene{needs: liveChatNeeds()[1:], begin: func(t *trial, base *place) *place {
		asking := t.asking(base)
		asking.chat.desk = t.openDesk(base, t.ticketing())
		return asking
	}}
	atInlet = &scene{needs: liveChatNeeds()[1:], begin: func(t *trial, base *place) *place {
		return t.chatting(t.asking(base), t.ticketing())
	}}
	atDesk = &scene{needs: liveChatNeeds()[1:], begin: func(t *trial, base *place) *place {
		return t.deskOf(t.chatting(t.asking(base), t.ticketing()))
	}}
	// withMeta is atInlet with meta set in the group.
	withMeta = &scene{needs: liveChatNeeds()[1:], begin: func(t *trial, base *place) *place {
		p := t.chatting(t.asking(base), t.ticketing())
		t.setGroup(p, p.group().ID, "meta", document.O("text", "x"))
		return p
	}}
	// handedOn is atInlet with a reassigned assignment.
	handedOn = &scene{needs: liveChatNeeds()[1:], begin: func(t *trial, base *place) *place {
		p := t.chatting(t.asking(base), t.ticketing())
		require.NoError(t, errorOf(p.ReassignAssignment(t.Context(), livechat.ReassignAssignmentParams{
			Channel: p.desk().Channel, Label: "sales", MessageEvent: p.event(),
		})))
		return p
	}}
	atBravoDesk = &scene{platform: channel.Bravo, needs: liveChatNeeds()[1:], begin: beginOnBravo}
	// atBravoPictures is like atBravoDesk, and p.url serves a picture, too.
	atBravoPictures = &scene{
		platform: channel.Bravo, needs: append(liveChatNeeds()[1:], serveFiles), begin: func(t *trial, base *place) *place {
			p := beginOnBravo(t, base)
			p.url = t.Serve("image/gif", picture).URL
			return p
		},
	}
	// inFamily is a live chat that the member requested in a group on Bravo.
	inFamily = &scene{platform: channel.Bravo, needs: liveChatNeeds()[1:], begin: func(t *trial, base *place) *place {
		inlet := t.at(base, t.newChannelOf(base, channel.Bravo), nil)
		asking := t.asking(inlet)
		return t.chatting(t.inGroup(asking, familyOf(asking.member.ID)), t.ticketing())
	}}
)

// chat holds the records of a live chat.
type chat struct {
	desk *desk
	// assignment is an assignment that an agent has taken, group is its group, and event is a message in that group.
	assignment *livechat.Assignment
	group      *livechat.Group
	event      *send.MessageEvent
	// waiting is the request of another member, which no agent has taken.
	waiting *livechat.Assignment
}

// beginOnBravo starts a live chat with an outlet on Bravo, and creates another group there.
func beginOnBravo(t *trial, base *place) *place {
	t.Helper()
	p := t.deskOf(t.chatting(t.asking(base), channel.Bravo))
	made := must(t, p.CreateBravoGroup, livechat.CreateBravoGroupParams{ChannelID: p.channel.ID, Name: "Orders"})
	p.prepared.bravoGroup = made.GroupID
	return p
}

// asking adds a member to the channel of a place and returns the place for that member.
func (t *trial) asking(base *place) *place {
	t.Helper()
	c := base.channel
	return t.at(base, c, t.newMember(member.Member{App: c.App, Channel: c.ID, FirstName: "Eve"}))
}

// chatting starts a live chat of the member of a place. It stores the live chat in the place and returns the place.
func (t *trial) chatting(asking *place, platform channel.Type) *place {
	t.Helper()
	c := chat{desk: t.openDesk(asking, platform)}
	c.assignment = t.requestTaken(asking, c.desk, livechat.CreateAssignmentParams{Meta: document.O("text", "x")})
	c.group = t.groupOf(asking, c.assignment)
	c.event = eventIn(c.group)
	c.waiting = t.request(asking, livechat.CreateAssignmentParams{Member: t.asking(asking).member})
	asking.chat = c
	return asking
}

// deskOf returns the place for the agents' side of a place's live chat.
func (t *trial) deskOf(asking *place) *place {
	t.Helper()
	return t.at(asking, asking.chat.desk.Channel, nil)
}

// The methods below return ids in the scene of a place. If the place has no scene, the ids do not exist.

// account is the name of the payment account of the app.
func (p *place) account() string { return "account of " + p.scope.App }

func (p *place) desk() *desk {
	if p.chat.desk == nil {
		return &desk{Channel: p.channel, agent: &Agent{ExternalID: "agent", AdminID: "admin"}}
	}
	return p.chat.desk
}

// assignmentID returns the id of the assignment of the live chat.
func (p *place) assignmentID() string {
	if p.chat.assignment == nil {
		return "assignment"
	}
	return p.chat.assignment.ID
}

// waitingID returns the id of the request that no agent has taken.
func (p *place) waitingID() string {
	if p.chat.waiting == nil {
		return "assignment"
	}
	return p.chat.waiting.ID
}

func (p *place) group() *livechat.Group {
	if p.chat.group == nil {
		return &livechat.Group{ID: "group", ExternalID: "group"}
	}
	return p.chat.group
}

// event returns the agent's message in the group of the live chat.
func (p *place) event() *send.MessageEvent {
	if p.chat.event == nil {
		return &send.MessageEvent{From: "agent", To: "group"}
	}
	return p.chat.event
}

var memberConcurrencyRules = []Rule{
	rule(findAndModifyMemberIsOneStep,
		"findAndModifyMember is atomic: each of several concurrent calls sees the change of the previous one"),
	rule(patchMembersLosesNoChange, "patchMembers changes each member atomically, so no change of concurrent calls is lost"),
	rule(updateMemberLosesNoField, "updateMember writes only the given fields, so concurrent calls do not undo each other's changes"),
}

var dataConcurrencyRules = []Rule{
	rule(findAndModifyDataFromDataSourceClaimsEachOnce,
		"findAndModifyDataFromDataSource is atomic, so no two of several concurrent callers claim the same entry"),
	rule(patchDataToDataSourceLosesNoChange, "patchDataToDataSource changes each entry atomically, so no change of concurrent calls is lost"),
	rule(upsertDataToDataSourceInsertsOnceOfMany, "of several concurrent upserts of an _id, one inserts and the others update"),
}

// workers is the number of concurrent goroutines. rounds is the number of writes in each.
const (
	workers = 16
	rounds  = 5
)

// atOnce runs work in concurrent goroutines, and ends the rule if one returns an error.
func (t *trial) atOnce(work func(worker int) error) {
	t.Helper()
	for _, err := range conformance.AtOnce(workers, work) {
		require.NoError(t, err)
	}
}

func repeat(work func() error) error {
	for range rounds {
		if err := work(); err != nil {
			return err
		}
	}
	return nil
}

func findAndModifyMemberIsOneStep(t *trial) {
	var seen sync.Map
	t.atOnce(func(int) error {
		return repeat(func() error {
			result, err := t.home.FindAndModifyMember(t.Context(), member.FindAndModifyParams{
				Filter: document.O("_id", t.home.scope.Member), Patch: document.Inc("meta.n", 1),
				Option: member.FindAndModifyOption{New: true},
			})
			if result.Member != nil {
				seen.Store(document.Get(result.Member.Meta, "n", 0), true)
			}
			return err
		})
	})
	for n := 1; n <= workers*rounds; n++ {
		_, ok := seen.Load(n)
		require.True(t, ok, "no call returned the number %d", n)
	}
	require.Equal(t, workers*rounds, document.Get(t.load(t.home.member).Meta, "n", 0))
}

func patchMembersLosesNoChange(t *trial) {
	t.neighbour(member.Member{})
	t.atOnce(func(int) error {
		return repeat(func() error {
			return errorOf(t.home.PatchMembers(t.Context(), member.PatchParams{
				Patch: document.Inc("meta.n", 1), WithModifier: true,
			}))
		})
	})
	for _, m := range t.added {
		if m.App == t.home.scope.App {
			require.Equal(t, workers*rounds, document.Get(t.load(m).Meta, "n", 0))
		}
	}
}

func updateMemberLosesNoField(t *trial) {
	fields := []string{"firstName", "lastName", "gender", "email", "locale", "customLocale", "platform", "botId"}
	t.atOnce(func(worker int) error {
		field := fields[worker%len(fields)]
		return errorOf(t.home.UpdateMember(t.Context(), member.UpdateParams{
			Member: document.O("_id", t.home.scope.Member, field, field),
		}))
	})
	after, err := document.Encode(t.load(t.home.member))
	require.NoError(t, err)
	for _, field := range fields {
		require.Equal(t, field, document.Get(after, field, ""))
	}
}

func findAndModifyDataFromDataSourceClaimsEachOnce(t *trial) {
	const coupons = workers * rounds / 2
	for i := range coupons {
		t.seed(t.home, document.O("_id", i, "taken", false))
	}
	var mutex sync.Mutex
	claimed, inVain := map[int]int{}, 0
	t.atOnce(func(worker int) error {
		return repeat(func() error {
			result, err := t.home.FindAndModifyDataFromDataSource(t.Context(), datasource.FindAndModifyParams{
				DataSourceID: source, Filter: document.O("taken", false), Patch: document.Set("taken", true, "by", worker),
			})
			mutex.Lock()
			defer mutex.Unlock()
			if result.Value == nil {
				inVain++
			} else {
				claimed[document.Get(result.Value, "_id", -1)]++
			}
			return err
		})
	})
	require.Len(t, claimed, coupons)
	for id, times := range claimed {
		require.Equal(t, 1, times, "the number of claims of entry %d", id)
	}
	require.Equal(t, workers*rounds-coupons, inVain, "the number of calls without an entry")
}

func patchDataToDataSourceLosesNoChange(t *trial) {
	t.seed(t.home, document.O("_id", 1, "n", 0), document.O("_id", 2, "n", 0))
	t.atOnce(func(int) error {
		return repeat(func() error {
			return errorOf(t.home.PatchDataToDataSource(t.Context(), datasource.PatchParams{
				DataSourceID: source, Patch: document.Inc("n", 1), WithModifier: true, Multi: true,
			}))
		})
	})
	t.requireHolds(t.home, document.O("_id", 1, "n", workers*rounds), document.O("_id", 2, "n", workers*rounds))
}

func upsertDataToDataSourceInsertsOnceOfMany(t *trial) {
	var mutex sync.Mutex
	var inserted, matched int64
	t.atOnce(func(worker int) error {
		saved, err := t.home.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{
			DataSourceID: source, Data: document.One(document.O("_id", "a", "by", worker)),
		})
		mutex.Lock()
		defer mutex.Unlock()
		inserted += saved.Result.Inserted
		matched += saved.Result.Matched
		return err
	})
	require.Equal(t, int64(1), inserted)
	require.Equal(t, int64(workers-1), matched)
	require.Len(t, t.all(t.home), 1)
}
