package member_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

func TestFindAndModifyMember_BeforeOrAfter(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1", "meta": {"n": 1}}`)
	a.advance()
	const change = `{"filter": {"_id": "m1"}, "patch": {"$inc": {"meta.n": 1}}`
	before := must(t, a.mine.FindAndModifyMember, change+`}`)
	require.Equal(t, []string{"ok", "member"}, before.Keys())
	require.Equal(t, 1, document.Get(before, "ok", 0))
	require.Equal(t, 1, document.Get(before, "member.meta.n", 0))
	require.Equal(t, 1, document.Get(before, "member._version", 0))
	after := must(t, a.mine.FindAndModifyMember, change+`, "option": {"new": true}}`)
	require.Equal(t, 3, document.Get(after, "member.meta.n", 0))
	require.Equal(t, 3, document.Get(after, "member._version", 0))
	require.Equal(t, 2000, document.Get(after, "member.updatedAt", 0))
}

func TestFindAndModifyMember_Options(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1", "firstName": "Ada", "meta": {"n": 1, "m": 2}, "tags": ["a", "b"]}`)
	for _, test := range []struct{ option, want string }{
		{`{"projection": {"meta.n": 1}}`, `{"_id": "m1", "meta": {"n": 1}}`},
		{`{"fields": {"meta": {"n": 1}, "_id": 0}, "returnDocument": "after"}`, `{"meta": {"n": 3}}`},
		{`{"projection": {"firstName": true, "tags": {"$slice": 1}}, "returnOriginal": false}`, `{"_id": "m1", "firstName": "Ada", "tags": ["a"]}`},
		{`{"projection": {"meta.n": 1, "_id": 0}, "returnDocument": "before", "maxTimeMS": 5, "comment": "c"}`, `{"meta": {"n": 4}}`},
	} {
		found := must(t, a.mine.FindAndModifyMember, `{"filter": {}, "patch": {"$inc": {"meta.n": 1}}, "option": `+test.option+`}`)
		require.JSONEq(t, test.want, document.Get(found, "member", document.Object{}).String(), test.option)
	}
	before := load(t, a.mine, "m1")
	for option, field := range map[string]string{
		`{"projection": {"firstName": "$meta"}}`:               "projection.firstName",
		`{"projection": {"firstName": {"$literal": 5}}}`:       "projection.firstName.$literal",
		`{"projection": {"meta": {"n": {"$add": [1, 2]}}}}`:    "projection.meta.n.$add",
		`{"fields": {"a": 1}, "projection": {"firstName": 1}}`: "fields",
		`{"returnDocument": "before", "new": true}`:            "returnDocument",
	} {
		_, err := call(t, a.mine.FindAndModifyMember, `{"filter": {}, "patch": {"$inc": {"meta.n": 1}}, "option": `+option+`}`)
		require.ErrorIs(t, err, boterr.InvalidArgument, option)
		requireField(t, err, "option."+field, option)
		require.Equal(t, before, load(t, a.mine, "m1"), option)
	}
}

func TestFindAndModifyMember_PatchAsItSays(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`"patch": {"$set": {"lastName": "B"}}`:                 "Ada B",
		`"patch": {"lastName": "B"}`:                           " B",
		`"patch": {"lastName": "B"}, "withModifier": true`:     " B",
		`"patch": {"lastName": "B"}, "withModifier": false`:    "Ada B",
		`"patch": {"lastName": null}, "withModifier": false`:   "Ada ",
		`"patch": {"$unset": {"lastName": "", "profile": ""}}`: "Ada ",
	} {
		a := newApps(t, `{"_id": "m1", "firstName": "Ada", "lastName": "L"}`)
		must(t, a.mine.FindAndModifyMember, `{"filter": {}, `+params+`}`)
		m := load(t, a.mine, "m1")
		require.Equal(t, want, m.FirstName+" "+m.LastName, params)
		require.Equal(t, "mine c1 1970-01-01T00:00:01.000Z", fmt.Sprint(m.App, " ", m.Channel, " ", m.CreatedAt))
		require.False(t, m.Profile.IsZero(), "objects are there always")
	}
}

func TestFindAndModifyMember_SortBy(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1", "meta": {"a": 1, "b": 1}}`, `{"_id": "m2", "meta": {"a": 1, "b": 2}, "channel": "c2"}`)
	for sortBy, id := range map[string]string{
		`{"meta.a": 1, "meta.b": -1}`: "m2", `{"meta.b": 1, "meta.a": 1}`: "m1", `{}`: "m1",
	} {
		found := must(t, a.mine.FindAndModifyMember, `{"filter": {}, "patch": {"$set": {"gender": "x"}}, "sortBy": `+sortBy+`}`)
		require.Equal(t, id, document.Get(found, "member._id", ""), sortBy)
	}
}

func TestFindAndModifyMember_DoubleClick(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`)
	var won atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			found, err := a.mine.FindAndModifyMember(t.Context(), member.FindAndModifyMemberParams{
				Filter: document.O("_id", "m1", "meta.clicked", document.O("$ne", true)),
				Patch:  document.Set("meta.clicked", true),
			})
			if err == nil && found.Member != nil {
				won.Add(1)
			}
		})
	}
	all.Wait()
	require.Equal(t, int64(1), won.Load())
}

func TestPatchMembers_AllThatMatch(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`{"patch": {"meta.n": 9}}`:                                                   "m1: 9 9 9",
		`{"patch": {"meta.n": 9}, "filter": {"meta.n": {"$gt": 1}}}`:                 "m2: 1 9 9",
		`{"patch": {"meta.n": 9}, "filter": {"meta.n": {"$ne": 9}}}`:                 "m1: 9 9 9",
		`{"patch": {"meta.n": 9}, "memberId": "m2"}`:                                 "m2: 1 9 3",
		`{"patch": {"meta.n": 9}, "memberId": "m2", "filter": {"meta.n": 2}}`:        "m2: 1 9 3",
		`{"patch": {"meta.n": 9}, "memberId": "m2", "filter": {"meta.n": 3}}`:        ": 1 2 3",
		`{"patch": {"meta.n": 9}, "filter": {"meta.n": 7}}`:                          ": 1 2 3",
		`{"patch": {"meta.n": 9}, "memberId": "none"}`:                               ": 1 2 3",
		`{"patch": {"$inc": {"meta.n": 1}}, "withModifier": true}`:                   "m1: 2 3 4",
		`{"patch": {"meta": {"n": 5}}, "withModifier": true, "memberId": "m3"}`:      "m3: 1 2 5",
		`{"patch": {"meta.n": 1}, "filter": {"meta.n": 1}, "channel": {"_id":"c1"}}`: "m1: 1 2 3",
	} {
		a := newApps(t, `{"_id": "m1", "meta": {"n": 1}}`, `{"_id": "m2", "meta": {"n": 2}}`, `{"_id": "m3", "meta": {"n": 3}}`)
		result := must(t, a.mine.PatchMembers, params)
		n := func(id string) int { return document.Get(load(t, a.mine, id).Meta, "n", 0) }
		got := fmt.Sprintf("%s: %d %d %d", document.Get(result, "result._id", ""), n("m1"), n("m2"), n("m3"))
		require.Equal(t, want, got, params)
	}
}

func TestPatchMembers_MemberAsItIsNow(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`)
	a.advance()
	result, err := a.mine.PatchMembers(t.Context(), member.PatchMembersParams{
		Channel: &channel.Channel{ID: "c1"}, Patch: document.O("meta.n", 1),
	})
	require.NoError(t, err)
	require.Equal(t, shown(t, load(t, a.mine, "m1")), shown(t, result.Result))
	require.EqualValues(t, 2000, result.Result.UpdatedAt)
}

func TestUpdateMember_SetsWhatIsGiven(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1", "firstName": "Ada", "lastName": "L", "meta": {"a": 1, "b": 1}}`)
	a.advance()
	const update = `{"member": {"_id": "m1", "firstName": "Bob", "lastName": null, "meta": {"a": 2}, "tags": ["x"], "own": 1}}`
	result := must(t, a.mine.UpdateMember, update)
	m := load(t, a.mine, "m1")
	require.JSONEq(t, `{"_docsIds": {"updated": ["m1"]}, "modified": 1, "_docs": `+shown(t, m)+`}`, result.String())
	require.Equal(t, "Bob", m.FirstName)
	require.Empty(t, m.LastName)
	require.JSONEq(t, `{"a": 2}`, m.Meta.String(), "a given field is set as a whole")
	require.JSONEq(t, `["x"]`, m.Tags.String())
	require.Equal(t, 1, document.Get(m.Unknown, "own", 0))
	require.Equal(t, int64(2), m.Version)

	a.advance()
	again := must(t, a.mine.UpdateMember, update)
	require.Equal(t, 0, document.Get(again, "modified", -1), "the same again changes nothing")
	require.Equal(t, shown(t, m), shown(t, load(t, a.mine, "m1")), "and renews nothing")
}

func TestUpdateMember_EtagChecks(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`)
	const stale = `{"member": {"_id": "m1", "etag": "stale", "gender": "x"}}`
	must(t, a.mine.UpdateMember, stale)
	require.Equal(t, "x", load(t, a.mine, "m1").Gender, "the last write wins")

	env := record.Env{Store: a.store}
	scope := record.Scope{App: "mine", Channel: "c1"}
	checked := member.New(env, scope, channels.New(env, scope), member.WithEtagChecks())
	before := a.stored(t)
	_, err := call(t, checked.UpdateMember, stale)
	require.ErrorIs(t, err, boterr.Conflict)
	requireField(t, err, "member.etag")
	_, err = call(t, checked.UpdateMember, `{"member": {"_id": "none", "etag": "stale"}}`)
	require.ErrorIs(t, err, boterr.NotFound)
	require.Equal(t, before, a.stored(t))

	etag := load(t, a.mine, "m1").Etag
	must(t, checked.UpdateMember, `{"member": {"_id": "m1", "etag": "`+etag+`", "gender": "y"}}`)
	must(t, checked.UpdateMember, `{"member": {"_id": "m1", "gender": "z"}}`)
	require.Equal(t, "z", load(t, a.mine, "m1").Gender)
}

func TestCheckAndSaveMemberReferFrom_First(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`, `{"_id": "m2", "meta": {"referFrom": ""}}`)
	for _, id := range []string{"m1", "m2"} {
		first := must(t, a.mine.CheckAndSaveMemberReferFrom, `{"memberId": "`+id+`", "referFrom": "c2"}`)
		second := must(t, a.mine.CheckAndSaveMemberReferFrom, `{"memberId": "`+id+`", "referFrom": "c1"}`)
		require.Equal(t, "c2", document.Get(first, "meta.referFrom", ""))
		require.Equal(t, first.String(), second.String(), "the member comes back either way")
	}
}

func TestCheckAndSaveMemberReferFrom_AtOnce(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`)
	seen := make([]string, 50)
	var all sync.WaitGroup
	for i := range seen {
		all.Go(func() {
			m, err := a.mine.CheckAndSaveMemberReferFrom(t.Context(), member.CheckAndSaveMemberReferFromParams{
				MemberID: "m1", ReferFrom: fmt.Sprintf("channel %d", i),
			})
			if err == nil {
				seen[i] = document.Get(m.Meta, "referFrom", "")
			}
		})
	}
	all.Wait()
	for _, referFrom := range seen {
		require.Equal(t, document.Get(load(t, a.mine, "m1").Meta, "referFrom", "none"), referFrom)
	}
	require.Equal(t, int64(2), load(t, a.mine, "m1").Version)
}

func TestGetMember_ReturnsACopy(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1", "meta": {"a": {"b": 1}}, "tags": ["x"]}`)
	before := a.stored(t)
	m := load(t, a.mine, "m1")
	m.Meta.Set("a.b", 2)
	m.Tags = m.Tags.Append("y")
	m.FirstName = "changed"
	require.Equal(t, before, a.stored(t))
}

func TestMember_DamagedByOthers(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	require.NoError(t, a.store.Collection("members").Insert(t.Context(),
		document.O("_id", "m1", "app", "mine", "channel", "c1", "externalId", "x1", "meta", nil, "firstName", 5)))
	_, err := call(t, a.mine.CheckAndSaveMemberReferFrom, `{"memberId": "m1", "referFrom": "c2"}`)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	_, err = call(t, a.mine.GetMember, `{"memberId": "m1"}`)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "firstName")

	must(t, a.mine.UpdateMember, `{"member": {"_id": "m1", "meta": {}, "firstName": "Ada"}}`)
	require.Equal(t, "Ada", load(t, a.mine, "m1").FirstName)
	must(t, a.mine.CheckAndSaveMemberReferFrom, `{"memberId": "m1", "referFrom": "c2"}`)
}
