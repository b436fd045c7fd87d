package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

var getMemberRules = []Rule{
	rule(getMemberReadsTheWholeApp, "getMember returns any member of the app, also in other channels"),
	rule(getMemberReturnsTheRecord, "getMember returns every field of the member, with _id, _version, etag, createdAt and updatedAt"),
	rule(membersKeepUnknownFields, "changes keep the unknown fields of a member"),
	rule(membersAreTheCallersOwn, "changing the result does not change the stored record"),
}

func getMemberReadsTheWholeApp(t *trial) {
	elsewhere := t.newMember(member.Member{
		App: t.home.scope.App, Channel: t.newChannel(t.home.scope.App).ID, FirstName: "Bob",
	})
	found := must(t, t.home.GetMember, member.GetParams{MemberID: elsewhere.ID})
	require.Equal(t, elsewhere.ID, found.ID)
	require.Equal(t, "Bob", found.FirstName)
	require.Equal(t, elsewhere.Channel, found.Channel)
}

func getMemberReturnsTheRecord(t *trial) {
	given := member.Member{
		FirstName: "Eve", LastName: "Low", Gender: "f", BotID: "bot", Platform: "webchat", Email: "eve@example.com",
		Locale: "en_GB", CustomLocale: "de", Group: "g", Admin: "a", ProfilePic: "https://example.com/eve.png",
		BotMeta: member.BotMeta{Object: document.O("tree", "t", "tempData", document.O("choice", 2))},
		Meta:    document.O("visits", 3, "score", 0.5, "list", document.A(1, "x", nil), "none", nil),
		Profile: document.O("verified", true),
		Tags:    document.A("vip", document.O("id", 1)),
	}
	stored := t.neighbour(given)
	found := t.load(stored)
	given.ID, given.App, given.Channel, given.ExternalID = stored.ID, t.home.scope.App, t.home.scope.Channel, stored.ExternalID
	given.Version, given.Etag, given.CreatedAt, given.UpdatedAt = found.Version, found.Etag, found.CreatedAt, found.UpdatedAt
	require.JSONEq(t, textOf(t, given), textOf(t, found))
	require.Equal(t, given.Meta.String(), found.Meta.String(), "fields keep their order")
	require.Positive(t, found.Version)
	require.NotEmpty(t, found.Etag)
	require.Positive(t, found.CreatedAt)
	require.GreaterOrEqual(t, found.UpdatedAt, found.CreatedAt)
}

func membersKeepUnknownFields(t *trial) {
	unknown := document.O("loyalty", document.O("points", 7, "since", nil), "odd name!", document.A())
	m := t.neighbour(member.Member{Unknown: unknown})
	changes := map[string]func() error{
		"updateMember": func() error {
			return errorOf(t.home.UpdateMember(t.Context(), member.UpdateParams{Member: document.O("_id", m.ID, "gender", "f")}))
		},
		"patchMembers": func() error {
			return errorOf(t.home.PatchMembers(t.Context(), member.PatchParams{MemberID: m.ID, Patch: document.O("gender", "m")}))
		},
		"findAndModifyMember": func() error {
			return errorOf(t.home.FindAndModifyMember(t.Context(), member.FindAndModifyParams{
				Filter: document.O("_id", m.ID), Patch: document.Set("gender", "x"),
			}))
		},
		"checkAndSaveMemberReferFrom": func() error {
			return errorOf(t.home.CheckAndSaveMemberReferFrom(t.Context(), member.CheckAndSaveReferFromParams{
				MemberID: m.ID, ReferFrom: "somewhere",
			}))
		},
	}
	for name, change := range changes {
		t.try(name, func(t *trial) {
			require.NoError(t, change())
			require.JSONEq(t, unknown.String(), t.load(m).Unknown.String())
		})
	}
}

func membersAreTheCallersOwn(t *trial) {
	m := t.neighbour(member.Member{FirstName: "Eve", Meta: document.O("n", 1)})
	before := t.state()
	first := t.load(m)
	first.FirstName = "changed"
	first.Meta.Set("n", 2)
	first.BotMeta.Set("tree", "changed")
	first.Unknown.Set("x", 1)
	require.Equal(t, before, t.state())
}

var findMemberRules = []Rule{
	rule(findAndModifyMemberTakesModifiers,
		"withModifier of findAndModifyMember is true by default: patch is an update-modifier document or a replacement"),
	rule(findAndModifyMemberSetsFields, "patch is applied as a $set of its fields when withModifier is false"),
	rule(findAndModifyMemberReturnsBeforeOrAfter,
		"when option.new is true the modified member is returned, otherwise the original; ok is 1"),
	rule(findAndModifyMemberOfNothing, "when nothing matches, the member is null and nothing is changed"),
	rule(findAndModifyMemberTakesTheFirst,
		"only the first member in the order of sortBy or option.sort, by each key in turn, is modified; the default is the order of creation"),
	rule(findAndModifyMemberSearchesTheApp, "findAndModifyMember searches the whole app, other channels, too"),
	rule(findAndModifyMemberReplaces, "a replacement keeps _id, app, channel and createdAt of a member"),
	rule(findAndModifyMemberFiltersElements, "option.arrayFilters select the elements for each $[name]", ArrayFilters),
	rule(findAndModifyMemberDoesNotUpsert, "an upsert of a member is Unsupported: members are created when they first write"),
	rule(findAndModifyMemberStampsChanges,
		"a change of a member renews _version and etag and keeps createdAt; a call without a change renews neither"),
}

func (t *trial) findMember(p member.FindAndModifyParams) *member.Member {
	t.Helper()
	result := must(t, t.home.FindAndModifyMember, p)
	require.Equal(t, 1, result.OK, "ok")
	return result.Member
}

func findAndModifyMemberTakesModifiers(t *trial) {
	m := t.neighbour(member.Member{Meta: document.O("n", 1)})
	for _, withModifier := range []*bool{nil, new(true)} {
		t.findMember(member.FindAndModifyParams{
			Filter: document.O("_id", m.ID), Patch: document.Inc("meta.n", 2), WithModifier: withModifier,
		})
	}
	require.Equal(t, 5, document.Get(t.load(m).Meta, "n", 0))
}

func findAndModifyMemberSetsFields(t *trial) {
	m := t.neighbour(member.Member{FirstName: "Eve", LastName: "Low", Meta: document.O("n", 1, "m", 2)})
	t.findMember(member.FindAndModifyParams{
		Filter: document.O("_id", m.ID), Patch: document.O("firstName", "Eva", "meta.n", 2), WithModifier: new(false),
	})
	after := t.load(m)
	require.Equal(t, "Eva", after.FirstName)
	require.Equal(t, "Low", after.LastName, "fields that are not given must not change")
	require.JSONEq(t, `{"n": 2, "m": 2}`, after.Meta.String())
}

func findAndModifyMemberReturnsBeforeOrAfter(t *trial) {
	m := t.neighbour(member.Member{Meta: document.O("n", 1)})
	patch := member.FindAndModifyParams{Filter: document.O("_id", m.ID), Patch: document.Inc("meta.n", 1)}
	before := t.load(m)
	require.Equal(t, textOf(t, before), textOf(t, t.findMember(patch)), "the original record")
	patch.Option.New = true
	after := t.findMember(patch)
	require.Equal(t, 3, document.Get(after.Meta, "n", 0))
	require.Equal(t, textOf(t, t.load(m)), textOf(t, after), "the modified record")
}

func findAndModifyMemberOfNothing(t *trial) {
	before := t.state()
	for _, isNew := range []bool{false, true} {
		require.Nil(t, t.findMember(member.FindAndModifyParams{
			Filter: document.O("firstName", "Nobody"), Patch: document.Set("gender", "f"),
			Option: member.FindAndModifyOption{New: isNew},
		}))
	}
	require.Equal(t, before, t.state())
}

func findAndModifyMemberTakesTheFirst(t *trial) {
	for _, name := range []string{"c2", "b1", "a1", "d3"} {
		t.neighbour(member.Member{LastName: name, Meta: document.O("n", name[1:], "free", true)})
	}
	for _, test := range []struct {
		sortBy, sort document.Object
		expected     string
	}{
		{document.O("meta.n", -1), document.Object{}, "d3"},
		{document.Object{}, document.O("meta.n", 1, "lastName", 1), "a1"},
		{document.Object{}, document.Object{}, "c2"},
		{document.O("meta.n", 1), document.O("meta.n", 1), "b1"},
	} {
		found := t.findMember(member.FindAndModifyParams{
			Filter: document.O("meta.free", true), Patch: document.Set("meta.free", false),
			SortBy: test.sortBy, Option: member.FindAndModifyOption{Sort: test.sort},
		})
		require.NotNil(t, found)
		require.Equal(t, test.expected, found.LastName, "sorted by %v, %v", test.sortBy, test.sort)
	}
}

func findAndModifyMemberSearchesTheApp(t *trial) {
	elsewhere := t.newMember(member.Member{App: t.home.scope.App, Channel: t.newChannel(t.home.scope.App).ID})
	found := t.findMember(member.FindAndModifyParams{
		Filter: document.O("_id", elsewhere.ID), Patch: document.Set("firstName", "Found"),
	})
	require.NotNil(t, found)
	require.Equal(t, "Found", t.load(elsewhere).FirstName)
}

func findAndModifyMemberReplaces(t *trial) {
	m := t.load(t.neighbour(member.Member{FirstName: "Eve", Gender: "f"}))
	t.findMember(member.FindAndModifyParams{
		Filter: document.O("_id", m.ID), Patch: document.O("externalId", m.ExternalID, "firstName", "Eva"),
	})
	after := t.load(m)
	require.Equal(t, "Eva", after.FirstName)
	require.Empty(t, after.Gender)
	requireSamePlace(t, m, after)
}

// requireSamePlace checks that a member's _id, app, channel and createdAt have not changed.
func requireSamePlace(t *trial, before, after *member.Member) {
	t.Helper()
	require.Equal(t, before.ID, after.ID)
	require.Equal(t, before.App, after.App)
	require.Equal(t, before.Channel, after.Channel)
	require.Equal(t, before.CreatedAt, after.CreatedAt)
}

func findAndModifyMemberFiltersElements(t *trial) {
	m := t.neighbour(member.Member{Meta: document.O("list", document.A(1, 5, 9))})
	t.findMember(member.FindAndModifyParams{
		Filter: document.O("_id", m.ID), Patch: document.Set("meta.list.$[big]", 0),
		Option: member.FindAndModifyOption{ArrayFilters: []document.Object{document.O("big", document.O("$gt", 4))}},
	})
	require.JSONEq(t, `{"list": [1, 0, 0]}`, t.load(m).Meta.String())
}

func findAndModifyMemberDoesNotUpsert(t *trial) {
	type params = member.FindAndModifyParams
	requireFails(t, botctx.OpFindAndModifyMember, t.home.FindAndModifyMember, boterr.Unsupported, []badInput[params]{{"upsert", params{
		Filter: document.O("firstName", "Nobody"), Patch: document.Set("gender", "f"),
		Option: member.FindAndModifyOption{Upsert: true},
	}, "option.upsert"}})
}

func findAndModifyMemberStampsChanges(t *trial) {
	m := t.neighbour(member.Member{})
	requireStamps(t, m, func(field string) error {
		return errorOf(t.home.FindAndModifyMember(t.Context(), member.FindAndModifyParams{
			Filter: document.O("_id", m.ID), Patch: document.Set("gender", field),
		}))
	})
}

// requireStamps checks that setting a member's gender renews _version and etag.
func requireStamps(t *trial, m *member.Member, setGender func(to string) error) {
	t.Helper()
	before := t.load(m)
	require.NoError(t, setGender("f"))
	changed := t.load(m)
	require.Equal(t, "f", changed.Gender)
	require.Equal(t, before.Version+1, changed.Version, "_version after a change")
	require.NotEqual(t, before.Etag, changed.Etag, "etag after a change")
	require.GreaterOrEqual(t, changed.UpdatedAt, before.UpdatedAt, "updatedAt after a change")
	require.Equal(t, before.CreatedAt, changed.CreatedAt, "createdAt after a change")
	require.NoError(t, setGender("f"))
	require.Equal(t, textOf(t, changed), textOf(t, t.load(m)), "the member after a call that changes nothing")
}

var referFromRules = []Rule{
	rule(checkAndSaveMemberReferFromKeepsIt,
		"checkAndSaveMemberReferFrom stores the referring channel in meta.referFrom and returns the member"),
	rule(checkAndSaveMemberReferFromKeepsTheFirst,
		"the first referFrom is kept, and later calls return the unchanged member"),
	rule(checkAndSaveMemberReferFromKeepsOneOfMany, "concurrent calls store one referFrom, and all callers get the member with it"),
}

// refer calls checkAndSaveMemberReferFrom.
func (t *trial) refer(m *member.Member, from string) *member.Member {
	t.Helper()
	saved := must(t, t.home.CheckAndSaveMemberReferFrom, member.CheckAndSaveReferFromParams{
		MemberID: m.ID, ReferFrom: from,
	})
	require.Equal(t, textOf(t, t.load(m)), textOf(t, saved), "the call must return the member")
	return saved
}

func checkAndSaveMemberReferFromKeepsIt(t *trial) {
	m := t.neighbour(member.Member{FirstName: "Eve", Meta: document.O("n", 1)})
	saved := t.refer(m, "a channel of the past")
	require.JSONEq(t, `{"n": 1, "referFrom": "a channel of the past"}`, saved.Meta.String())
	require.Equal(t, "Eve", saved.FirstName)
	require.Empty(t, document.Get(t.load(t.home.member).Meta, "referFrom", ""), "another member")
}

func checkAndSaveMemberReferFromKeepsTheFirst(t *trial) {
	t.refer(t.home.member, "first")
	before := t.state()
	saved := t.refer(t.home.member, "second")
	require.Equal(t, "first", document.Get(saved.Meta, "referFrom", ""))
	require.Equal(t, before, t.state())
}

func checkAndSaveMemberReferFromKeepsOneOfMany(t *trial) {
	told := make([]string, workers)
	t.atOnce(func(worker int) error {
		saved, err := t.home.CheckAndSaveMemberReferFrom(t.Context(), member.CheckAndSaveReferFromParams{
			MemberID: t.home.scope.Member, ReferFrom: unique("channel"),
		})
		if saved != nil {
			told[worker] = document.Get(saved.Meta, "referFrom", "")
		}
		return err
	})
	kept := document.Get(t.load(t.home.member).Meta, "referFrom", "")
	require.NotEmpty(t, kept)
	for _, from := range told {
		require.Equal(t, kept, from)
	}
}

var memberScopeRules = []Rule{
	rule(findAndModifyMemberStaysInTheApp, "members of another app do not exist for findAndModifyMember, whatever the filter says"),
	rule(patchMembersStaysInTheApp, "members of another app do not exist for patchMembers, whatever the filter says"),
	rule(findAndModifyMemberMovesNobody, "no modifier and no replacement of findAndModifyMember moves a member to another app or channel"),
	rule(patchMembersMovesNobody, "no modifier and no replacement of patchMembers moves a member to another app or channel"),
}

func findAndModifyMemberStaysInTheApp(t *trial) {
	before := textOf(t, t.load(t.away.member))
	for _, filter := range scopeless(t.away.scope.App) {
		t.try(filter.String(), func(t *trial) {
			for range 3 { // More calls than the app has members.
				found := t.findMember(member.FindAndModifyParams{
					Filter: filter, Patch: document.Inc("meta.n", 1), SortBy: document.O("createdAt", -1),
				})
				if found != nil {
					require.Equal(t, t.home.scope.App, found.App, "the app of a member that was found")
				}
			}
			require.Equal(t, before, textOf(t, t.load(t.away.member)), "the member of another app")
		})
	}
	t.try("by _id", func(t *trial) {
		require.Nil(t, t.findMember(member.FindAndModifyParams{
			Filter: document.O("_id", t.away.scope.Member), Patch: document.Inc("meta.n", 1),
		}))
		require.Equal(t, before, textOf(t, t.load(t.away.member)), "the member of another app")
	})
}

func patchMembersStaysInTheApp(t *trial) {
	before := textOf(t, t.load(t.away.member))
	for _, filter := range scopeless(t.away.scope.App) {
		t.try(filter.String(), func(t *trial) {
			found := t.patchMembers(member.PatchParams{Filter: filter, Patch: document.O("gender", "f")})
			if found != nil {
				require.Equal(t, t.home.scope.App, found.App, "the app of a member that was found")
			}
			require.Equal(t, before, textOf(t, t.load(t.away.member)), "the member of another app")
		})
	}
	t.try("by memberId", func(t *trial) {
		require.Nil(t, t.patchMembers(member.PatchParams{
			MemberID: t.away.scope.Member, Patch: document.O("gender", "f"),
		}))
		require.Equal(t, before, textOf(t, t.load(t.away.member)), "the member of another app")
	})
}

func findAndModifyMemberMovesNobody(t *trial) {
	type params = member.FindAndModifyParams
	var cases []badInput[params]
	for _, move := range moves(t.away.scope.App, t.away.scope.Channel) {
		given := params{Filter: document.O("_id", t.home.scope.Member), Patch: move.value}
		cases = append(cases, badInput[params]{move.name, given, "patch"})
	}
	requireRefused(t, botctx.OpFindAndModifyMember, t.home.FindAndModifyMember, cases)
}

func patchMembersMovesNobody(t *trial) {
	type params = member.PatchParams
	var cases []badInput[params]
	for _, move := range moves(t.away.scope.App, t.away.scope.Channel) {
		given := params{MemberID: t.home.scope.Member, Patch: move.value, WithModifier: true}
		cases = append(cases, badInput[params]{move.name, given, "patch"})
	}
	requireRefused(t, botctx.OpPatchMembers, t.home.PatchMembers, cases)
}
