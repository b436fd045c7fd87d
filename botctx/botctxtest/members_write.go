package botctxtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

var patchMembersRules = []Rule{
	rule(patchMembersSetsFields, "withModifier of patchMembers is false by default: patch is applied as a $set of its fields"),
	rule(patchMembersTakesModifiers, "when withModifier is true, patch is an update-modifier document, or for one memberId a replacement"),
	rule(patchMembersChangesTheChannel, "without memberId every matching member of the channel is patched, and none of other channels"),
	rule(patchMembersTakesAChannel, "channel selects the channel of the members; only its _id counts"),
	rule(patchMembersTakesMemberAndFilter, "a member must match both memberId and filter"),
	rule(patchMembersReturnsTheFirst,
		"the result is the first matching member after the change, or null if none matches"),
	rule(patchMembersIsAllOrNone, "if one member cannot be patched, none is"),
	rule(patchMembersStampsChanges,
		"a change of a member renews _version and etag and keeps createdAt; a call without a change renews neither"),
}

func (t *trial) patchMembers(p member.PatchParams) *member.Member {
	t.Helper()
	result := must(t, t.home.PatchMembers, p)
	return result.Result
}

func patchMembersSetsFields(t *trial) {
	m := t.neighbour(member.Member{FirstName: "Eve", LastName: "Low", Meta: document.O("n", 1, "m", 2)})
	t.patchMembers(member.PatchParams{MemberID: m.ID, Patch: document.O("firstName", "Eva", "meta.n", 2)})
	after := t.load(m)
	require.Equal(t, "Eva", after.FirstName)
	require.Equal(t, "Low", after.LastName, "fields that are not given must not change")
	require.JSONEq(t, `{"n": 2, "m": 2}`, after.Meta.String())
}

func patchMembersTakesModifiers(t *trial) {
	m := t.load(t.neighbour(member.Member{FirstName: "Eve", Gender: "f", Meta: document.O("n", 1)}))
	t.patchMembers(member.PatchParams{MemberID: m.ID, Patch: document.Inc("meta.n", 2), WithModifier: true})
	require.Equal(t, 3, document.Get(t.load(m).Meta, "n", 0))
	t.patchMembers(member.PatchParams{
		MemberID: m.ID, Patch: document.O("externalId", m.ExternalID, "firstName", "Eva"), WithModifier: true,
	})
	after := t.load(m)
	require.Equal(t, "Eva", after.FirstName)
	require.Empty(t, after.Gender)
	requireSamePlace(t, m, after)
}

func patchMembersChangesTheChannel(t *trial) {
	matching := []*member.Member{t.neighbour(member.Member{Gender: "f"}), t.neighbour(member.Member{Gender: "f"})}
	other := t.neighbour(member.Member{Gender: "m"})
	elsewhere := t.newMember(member.Member{
		App: t.home.scope.App, Channel: t.newChannel(t.home.scope.App).ID, Gender: "f",
	})
	t.patchMembers(member.PatchParams{Filter: document.O("gender", "f"), Patch: document.O("lastName", "Low")})
	for _, m := range matching {
		require.Equal(t, "Low", t.load(m).LastName, "a member that matches")
	}
	require.Empty(t, t.load(other).LastName, "a member that does not match")
	require.Empty(t, t.load(elsewhere).LastName, "a member of another channel")
	t.patchMembers(member.PatchParams{Patch: document.O("lastName", "All")})
	for _, m := range append(matching, other) {
		require.Equal(t, "All", t.load(m).LastName, "without a filter all members of the channel are patched")
	}
	require.Empty(t, t.load(elsewhere).LastName, "a member of another channel")
}

func patchMembersTakesAChannel(t *trial) {
	second := t.newChannel(t.home.scope.App)
	there := t.newMember(member.Member{App: t.home.scope.App, Channel: second.ID})
	forged := &channel.Channel{ID: second.ID, App: t.away.scope.App, Name: "forged"}
	patched := t.patchMembers(member.PatchParams{Channel: forged, Patch: document.O("lastName", "There")})
	require.NotNil(t, patched)
	require.Equal(t, there.ID, patched.ID)
	require.Equal(t, "There", t.load(there).LastName)
	require.Empty(t, t.load(t.home.member).LastName, "a member of the context's own channel")
	require.Empty(t, t.load(t.away.member).LastName, "a member of another app")
}

func patchMembersTakesMemberAndFilter(t *trial) {
	m := t.neighbour(member.Member{Gender: "f"})
	elsewhere := t.newMember(member.Member{App: t.home.scope.App, Channel: t.newChannel(t.home.scope.App).ID})
	before := t.state()
	patch := document.O("lastName", "Low")
	require.Nil(t, t.patchMembers(member.PatchParams{MemberID: m.ID, Filter: document.O("gender", "m"), Patch: patch}))
	require.Nil(t, t.patchMembers(member.PatchParams{MemberID: elsewhere.ID, Patch: patch}), "a member of another channel")
	require.Equal(t, before, t.state())
	patched := t.patchMembers(member.PatchParams{MemberID: m.ID, Filter: document.O("gender", "f"), Patch: patch})
	require.NotNil(t, patched)
	require.Equal(t, "Low", t.load(m).LastName)
	require.Empty(t, t.load(t.home.member).LastName, "another member")
}

func patchMembersReturnsTheFirst(t *trial) {
	first := t.neighbour(member.Member{Gender: "f"})
	t.neighbour(member.Member{Gender: "f"})
	result := t.patchMembers(member.PatchParams{Filter: document.O("gender", "f"), Patch: document.O("gender", "x")})
	require.NotNil(t, result)
	require.Equal(t, textOf(t, t.load(first)), textOf(t, result))
	before := t.state()
	require.Nil(t, t.patchMembers(member.PatchParams{Filter: document.O("gender", "f"), Patch: document.O("gender", "y")}))
	require.Equal(t, before, t.state())
}

func patchMembersIsAllOrNone(t *trial) {
	t.neighbour(member.Member{Meta: document.O("n", 1)})
	t.neighbour(member.Member{Meta: document.O("n", "a text")})
	requireRefused(t, botctx.OpPatchMembers, t.home.PatchMembers, []badInput[member.PatchParams]{{"a text", member.PatchParams{
		Filter: document.O("meta.n", document.O("$exists", true)), Patch: document.Inc("meta.n", 1), WithModifier: true,
	}, "patch"}})
}

func patchMembersStampsChanges(t *trial) {
	m := t.neighbour(member.Member{})
	requireStamps(t, m, func(to string) error {
		return errorOf(t.home.PatchMembers(t.Context(), member.PatchParams{MemberID: m.ID, Patch: document.O("gender", to)}))
	})
	requireStamps(t, t.home.member, func(to string) error {
		return errorOf(t.home.PatchMembers(t.Context(), member.PatchParams{Patch: document.O("gender", to)}))
	})
}

var updateMemberRules = []Rule{
	rule(updateMemberSetsTheGivenFields,
		"updateMember sets the given fields, also to empty values, and keeps the others"),
	rule(updateMemberTellsWhatItDid,
		"updateMember returns the id, the member after the change, and modified: 1, or 0 if nothing changed"),
	rule(updateMemberTakesWhatWasRead, "a whole member record can be read, changed and written back"),
	rule(updateMemberAndStaleEtags, "the last write wins, but with etag checks a stale etag is Conflict"),
	rule(updateMemberStampsChanges,
		"a change of a member renews _version and etag and keeps createdAt; a call without a change renews neither"),
	rule(membersTellWhenTheyChanged,
		"a change sets updatedAt to the current time and keeps createdAt; a call without a change keeps both", moveClock),
}

func (t *trial) update(pairs ...any) member.UpdateResult {
	t.Helper()
	return must(t, t.home.UpdateMember, member.UpdateParams{Member: document.O(pairs...)})
}

func updateMemberSetsTheGivenFields(t *trial) {
	m := t.neighbour(member.Member{FirstName: "Eve", LastName: "Low", Gender: "f", Meta: document.O("n", 1)})
	t.update("_id", m.ID, "firstName", "Eva", "gender", "", "meta", document.O("m", 2))
	after := t.load(m)
	require.Equal(t, "Eva", after.FirstName)
	require.Equal(t, "Low", after.LastName, "a field that is not given must not change")
	require.Empty(t, after.Gender, "a field that is given empty")
	require.JSONEq(t, `{"m": 2}`, after.Meta.String(), "an object is set as a whole")
	require.Empty(t, t.load(t.home.member).LastName, "another member")
}

func updateMemberTellsWhatItDid(t *trial) {
	m := t.neighbour(member.Member{})
	for _, modified := range []int64{1, 0} {
		result := t.update("_id", m.ID, "firstName", "Eva")
		require.Equal(t, []string{m.ID}, result.DocsIDs.Updated)
		require.Equal(t, textOf(t, t.load(m)), textOf(t, result.Docs))
		require.Equal(t, modified, result.Modified)
	}
	t.update("_id", m.ID)
}

func updateMemberTakesWhatWasRead(t *trial) {
	read := t.load(t.neighbour(member.Member{FirstName: "Eve", Unknown: document.O("loyalty", 7)}))
	read.FirstName = "Eva"
	read.Meta.Set("order.id", 5)
	whole, err := document.Encode(read)
	require.NoError(t, err)
	result := must(t, t.home.UpdateMember, member.UpdateParams{Member: whole})
	require.Equal(t, int64(1), result.Modified)
	after := t.load(read)
	requireSamePlace(t, read, after)
	read.Version, read.Etag, read.UpdatedAt = after.Version, after.Etag, after.UpdatedAt
	require.JSONEq(t, textOf(t, read), textOf(t, after))
}

func updateMemberAndStaleEtags(t *trial) {
	m := t.load(t.neighbour(member.Member{}))
	t.update("_id", m.ID, "gender", "f")
	stale := member.UpdateParams{Member: document.O("_id", m.ID, "etag", m.Etag, "gender", "m")}
	if t.ChecksEtags {
		requireFails(t, botctx.OpUpdateMember, t.home.UpdateMember, boterr.Conflict, []badInput[member.UpdateParams]{
			{"a stale etag", stale, "member.etag"},
		})
		return
	}
	must(t, t.home.UpdateMember, stale)
	require.Equal(t, "m", t.load(m).Gender)
	require.NotEqual(t, m.Etag, t.load(m).Etag, "an etag that is given is not written")
}

func updateMemberStampsChanges(t *trial) {
	m := t.neighbour(member.Member{})
	requireStamps(t, m, func(to string) error {
		return errorOf(t.home.UpdateMember(t.Context(), member.UpdateParams{
			Member: document.O("_id", m.ID, "gender", to, "_version", 99, "updatedAt", 1),
		}))
	})
}

func membersTellWhenTheyChanged(t *trial) {
	m := t.home.member
	before := t.load(m)
	t.Advance(time.Hour)
	t.update("_id", m.ID, "gender", "f")
	changed := t.load(m)
	require.Equal(t, before.CreatedAt, changed.CreatedAt)
	require.GreaterOrEqual(t, changed.UpdatedAt.Time(), before.UpdatedAt.Time().Add(time.Hour))
	t.Advance(time.Hour)
	t.update("_id", m.ID, "gender", "f")
	require.Equal(t, changed.UpdatedAt, t.load(m).UpdatedAt)
}
