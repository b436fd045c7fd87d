package members_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
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
			found, err := a.mine.FindAndModifyMember(t.Context(), member.FindAndModifyParams{
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
	result, err := a.mine.PatchMembers(t.Context(), member.PatchParams{
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
	checked := members.New(env, scope, channels.New(env, scope), members.WithEtagChecks())
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
			m, err := a.mine.CheckAndSaveMemberReferFrom(t.Context(), member.CheckAndSaveReferFromParams{
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

func TestFindAndModifyMember_Refuses(t *testing.T) {
	t.Parallel()
	requireRefused(t, func(s *members.Service) operation[member.FindAndModifyParams, member.FindAndModifyResult] {
		return s.FindAndModifyMember
	}, map[string]string{
		`{}`:                              "filter",
		`{"filter": [], "patch": {}}`:     "filter",
		`{"filter": {}}`:                  "patch",
		`{"filter": {}, "patch": "$set"}`: "patch",
		`{"filter": {"meta.n": {"$is": 1}}, "patch": {"$set": {"meta.n": 2}}}`:                     "filter.meta.n.$is",
		`{"filter": {"$where": "true"}, "patch": {"$set": {"meta.n": 2}}}`:                         "filter.$where",
		`{"filter": {}, "patch": {"$put": {"meta.n": 2}}}`:                                         "patch.$put",
		`{"filter": {}, "patch": {"$set": {"meta.n": 2}, "$inc": {"meta.n": 2}}}`:                  "patch.$inc.meta.n",
		`{"filter": {}, "patch": {"$set": {"meta.n": 2}, "meta": {}}}`:                             "patch.meta",
		`{"filter": {}, "patch": {"$inc": {"meta.text": 2}}}`:                                      "patch.meta.text",
		`{"filter": {}, "patch": {"$set": {"_id": "m3"}}}`:                                         "patch._id",
		`{"filter": {}, "patch": {"$set": {"app": "theirs"}}}`:                                     "patch.app",
		`{"filter": {}, "patch": {"$set": {"channel": "c2"}}}`:                                     "patch.channel",
		`{"filter": {}, "patch": {"$unset": {"createdAt": ""}}}`:                                   "patch.createdAt",
		`{"filter": {}, "patch": {"$rename": {"firstName": "app"}}}`:                               "patch.app",
		`{"filter": {}, "patch": {"$rename": {"app": "meta.app"}}}`:                                "patch.app",
		`{"filter": {}, "patch": {"app": "theirs", "firstName": "Eve"}}`:                           "patch.app",
		`{"filter": {}, "patch": {"_id": "m3"}}`:                                                   "patch._id",
		`{"filter": {}, "patch": {"channel": "c2"}, "withModifier": false}`:                        "patch.channel",
		`{"filter": {}, "patch": {"$inc": {"meta.n": 1}}, "withModifier": false}`:                  "patch.$inc",
		`{"filter": {}, "patch": {"meta.n": 1}, "withModifier": "yes"}`:                            "withModifier",
		`{"filter": {}, "patch": {"$set": {"meta.n": 2}}, "sortBy": {"createdAt": "asc"}}`:         "sortBy.createdAt",
		`{"filter": {}, "patch": {"$set": {"meta.n": 2}}, "option": {"collation": {}}}`:            "option.collation",
		`{"filter": {}, "patch": {"$set": {"meta.n": 2}}, "option": {"new": "yes"}}`:               "option.new",
		`{"filter": {}, "patch": {"$set": {"meta.n": 2}}, "option": {"arrayFilters": [{"x": 1}]}}`: "option.arrayFilters[0]",
		`{"filter": {}, "patch": {"$set": {"firstName": 5}}}`:                                      "patch.$set.firstName",
		`{"filter": {}, "patch": {"firstName": {"a": 1}}}`:                                         "patch.firstName",
		`{"filter": {}, "patch": {"$set": {"firstName.a": "x"}}}`:                                  "patch.$set.firstName.a",
		`{"filter": {}, "patch": {"$set": {"meta": 5}}}`:                                           "patch.$set.meta",
		`{"filter": {}, "patch": {"$set": {"botMeta": null}}}`:                                     "patch.$set.botMeta",
		`{"filter": {}, "patch": {"$set": {"tags": "vip"}}}`:                                       "patch.$set.tags",
		`{"filter": {}, "patch": {"$inc": {"gender": 1}}}`:                                         "patch.$inc.gender",
		`{"filter": {"_id": "m2"}, "patch": {"$push": {"profile": 1}}}`:                            "patch.$push.profile",
		`{"filter": {}, "patch": {"$rename": {"meta.n": "lastName"}}}`:                             "patch.$rename.meta.n",
		`{"filter": {}, "patch": {"$max": {"tags": 1}}}`:                                           "patch.$max.tags",
		`{"filter": {}, "patch": {"$set": {"tags.0": "vip"}}}`:                                     "patch.$set.tags.0",
		`{"filter": {}, "patch": {"$set": {"tags.vip": true}}}`:                                    "patch.$set.tags.vip",
		`{"filter": {}, "patch": {"$push": {"tags.0": 1}}}`:                                        "patch.$push.tags.0",
		`{"filter": {}, "patch": {"$rename": {"meta.n": "tags.0"}}}`:                               "patch.$rename.meta.n",
	})
}

func TestFindAndModifyMember_NoUpsert(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	_, err := call(t, a.mine.FindAndModifyMember, `{"filter": {}, "patch": {"$set": {"meta.n": 1}}, "option": {"upsert": true}}`)
	require.ErrorIs(t, err, boterr.Unsupported)
	requireField(t, err, "option.upsert")
	require.Equal(t, `[]`, a.stored(t))
}

func TestGetMember_Refuses(t *testing.T) {
	t.Parallel()
	requireRefused(t, func(s *members.Service) operation[member.GetParams, *member.Member] {
		return s.GetMember
	}, map[string]string{
		`{}`:                            "memberId",
		`{"memberId": ""}`:              "memberId",
		`{"memberId": {"$ne": "none"}}`: "memberId",
	})
}

func TestPatchMembers_Refuses(t *testing.T) {
	t.Parallel()
	requireRefused(t, func(s *members.Service) operation[member.PatchParams, member.PatchResult] {
		return s.PatchMembers
	}, map[string]string{
		`{}`:                                   "patch",
		`{"patch": 1}`:                         "patch",
		`{"patch": {"gender": true}}`:          "patch.gender",
		`{"patch": {"_id": "m3"}}`:             "patch._id",
		`{"patch": {"app": "theirs"}}`:         "patch.app",
		`{"patch": {"channel": "c2"}}`:         "patch.channel",
		`{"patch": {"createdAt": 1}}`:          "patch.createdAt",
		`{"patch": {"$set": {"a": 1}}}`:        "patch.$set",
		`{"patch": {"meta.n": 1, "meta": {}}}`: "patch.meta",
		`{"patch": {"meta.n.deep": 1}}`:        "patch.meta.n.deep",
		`{"patch": {"meta.n": 1}, "filter": {"meta.n": {"$mod": "2"}}}`:                         "filter.meta.n.$mod",
		`{"patch": {"meta.n": 1}, "filter": "m1"}`:                                              "filter",
		`{"patch": {"meta.n": 1}, "memberId": 5}`:                                               "memberId",
		`{"patch": {"meta.n": 1}, "channel": "c1"}`:                                             "channel",
		`{"patch": {"meta.n": 1}, "channel": {}}`:                                               "channel._id",
		`{"patch": {"meta.n": 1}, "channel": {"_id": ["c1"]}}`:                                  "channel._id",
		`{"patch": {"firstName": "Eve"}, "withModifier": true}`:                                 "patch",
		`{"patch": {"$inc": {"meta.text": 1}}, "withModifier": true}`:                           "patch.meta.text",
		`{"patch": {"$set": {"app": "theirs"}}, "withModifier": true, "filter": {"_id": "m1"}}`: "patch.app",
		`{"patch": {"$bad": {"meta.n": 1}}, "withModifier": true, "filter": {"_id": "none"}}`:   "patch.$bad",
		`{"patch": {"meta.n": 1}, "withModifier": 1}`:                                           "withModifier",
	})
}

func TestUpdateMember_Refuses(t *testing.T) {
	t.Parallel()
	requireRefused(t, func(s *members.Service) operation[member.UpdateParams, member.UpdateResult] {
		return s.UpdateMember
	}, map[string]string{
		`{}`:                               "member",
		`{"member": null}`:                 "member",
		`{"member": "m1"}`:                 "member",
		`{"member": {"firstName": "Eve"}}`: "member._id",
		`{"member": {"_id": "", "firstName": "Eve"}}`:                    "member._id",
		`{"member": {"_id": 1, "firstName": "Eve"}}`:                     "member._id",
		`{"member": {"_id": {"$ne": ""}, "firstName": "Eve"}}`:           "member._id",
		`{"member": {"_id": "m1", "app": "theirs"}}`:                     "member.app",
		`{"member": {"_id": "m1", "channel": "c2", "firstName": "Eve"}}`: "member.channel",
		`{"member": {"_id": "m1", "createdAt": 5, "firstName": "Eve"}}`:  "member.createdAt",
		`{"member": {"_id": "m1", "firstName": 5}}`:                      "member.firstName",
		`{"member": {"_id": "m1", "firstName": "Eve", "meta": "x"}}`:     "member.meta",
		`{"member": {"_id": "m1", "tags": {"0": "a"}}}`:                  "member.tags",
		`{"member": {"_id": "m1", "$inc": {"meta.n": 1}}}`:               "member.$inc",
		`{"member": {"_id": "m1", "meta": {}, "meta.n": 1}}`:             "member.meta.n",
		`{"member": {"_id": "m1", "meta.text.deep": 1}}`:                 "member.meta.text.deep",
		`{"member": {"_id": "m1", "etag": 5}}`:                           "member.etag",
	})
}

func TestCheckAndSaveMemberReferFrom_Refuses(t *testing.T) {
	t.Parallel()
	requireRefused(t, func(s *members.Service) operation[member.CheckAndSaveReferFromParams, *member.Member] {
		return s.CheckAndSaveMemberReferFrom
	}, map[string]string{
		`{}`:                                      "memberId",
		`{"referFrom": "c2"}`:                     "memberId",
		`{"memberId": "m1"}`:                      "referFrom",
		`{"memberId": "m1", "referFrom": ""}`:     "referFrom",
		`{"memberId": "m1", "referFrom": 5}`:      "referFrom",
		`{"memberId": ["m1"], "referFrom": "c2"}`: "memberId",
	})
}

func TestCheckAndSaveMemberReferFrom_TooLong(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`)
	_, err := a.mine.CheckAndSaveMemberReferFrom(t.Context(), member.CheckAndSaveReferFromParams{
		MemberID: "m1", ReferFrom: strings.Repeat("x", document.MaxSize+1),
	})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, "referFrom")
}

func TestOperations_MemberNotFound(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	_, err := call(t, a.mine.GetMember, `{"memberId": "none"}`)
	require.ErrorIs(t, err, boterr.NotFound)
	requireField(t, err, "memberId")
	_, err = call(t, a.mine.UpdateMember, `{"member": {"_id": "none", "firstName": "Ada"}}`)
	require.ErrorIs(t, err, boterr.NotFound)
	requireField(t, err, "member._id")
	_, err = call(t, a.mine.CheckAndSaveMemberReferFrom, `{"memberId": "none", "referFrom": "c2"}`)
	require.ErrorIs(t, err, boterr.NotFound)
	requireField(t, err, "memberId")
	_, err = call(t, a.mine.PatchMembers, `{"channel": {"_id": "none"}, "patch": {"meta.n": 1}}`)
	require.ErrorIs(t, err, boterr.NotFound)
	requireField(t, err, "channel._id")
}

func TestOperations_MembersOfAnotherApp(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	insert(t, a.theirs, `{"_id": "t1", "firstName": "Tom"}`)
	before := a.stored(t)
	for _, filter := range []string{
		`{}`, `{"_id": "t1"}`, `{"app": "theirs"}`, `{"app": {"$ne": "mine"}}`, `{"app": {"$in": ["mine", "theirs"]}}`,
		`{"$or": [{"app": "theirs"}, {"_id": "t1"}]}`, `{"$nor": [{"app": "mine"}]}`, `{"$and": [{"$or": [{}, {"app": "theirs"}]}]}`,
	} {
		found := must(t, a.mine.FindAndModifyMember, `{"filter": `+filter+`, "patch": {"$set": {"firstName": "Eve"}}}`)
		require.JSONEq(t, `{"ok": 1, "member": null}`, found.String(), filter)
		patched := must(t, a.mine.PatchMembers, `{"filter": `+filter+`, "patch": {"firstName": "Eve"}}`)
		require.JSONEq(t, `{"result": null}`, patched.String(), filter)
		patched = must(t, a.mine.PatchMembers, `{"memberId": "t1", "filter": `+filter+`, "patch": {"firstName": "Eve"}}`)
		require.JSONEq(t, `{"result": null}`, patched.String(), filter)
	}
	for _, err := range []error{
		refusal(t, a.mine.GetMember, `{"memberId": "t1"}`),
		refusal(t, a.mine.UpdateMember, `{"member": {"_id": "t1", "firstName": "Eve"}}`),
		refusal(t, a.mine.CheckAndSaveMemberReferFrom, `{"memberId": "t1", "referFrom": "c1"}`),
		refusal(t, a.mine.PatchMembers, `{"channel": {"_id": "c3"}, "patch": {"firstName": "Eve"}}`),
	} {
		require.ErrorIs(t, err, boterr.NotFound)
	}
	require.Equal(t, before, a.stored(t))
}

func refusal[P, R any](t *testing.T, run operation[P, R], params string) error {
	t.Helper()
	_, err := call(t, run, params)
	return err
}

func TestOperations_ForgedRecords(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`)
	insert(t, a.theirs, `{"_id": "t1"}`)
	before := a.stored(t)
	for _, err := range []error{
		refusal(t, a.mine.PatchMembers, `{"channel": {"_id": "c3", "app": "mine"}, "patch": {"firstName": "Eve"}}`),
		refusal(t, a.mine.UpdateMember, `{"member": {"_id": "t1", "app": "mine", "firstName": "Eve"}}`),
	} {
		require.ErrorIs(t, err, boterr.NotFound)
	}
	require.Equal(t, before, a.stored(t))
	must(t, a.mine.PatchMembers, `{"channel": {"_id": "c1", "app": "theirs", "name": "forged", "type": "alpha", "info": {}}, "patch": {"gender": "f"}}`)
	require.Equal(t, "f", load(t, a.mine, "m1").Gender, "a channel is an address, and what else it holds is not looked at")
}

func TestPatches_MoveNoRecord(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1", "firstName": "Ada"}`)
	before := a.stored(t)
	for _, patch := range []string{
		`{"$set": {"app": "theirs"}}`, `{"$set": {"channel": "c2"}}`, `{"$unset": {"app": ""}}`, `{"$rename": {"channel": "was"}}`,
		`{"$rename": {"firstName": "app"}}`, `{"$set": {"app.x": 1}}`, `{"app": "theirs"}`, `{"channel": "c3", "app": "theirs"}`,
		`{"_id": "m2"}`, `{"$inc": {"createdAt": 1}}`, `{"$currentDate": {"createdAt": true}}`,
	} {
		err := refusal(t, a.mine.FindAndModifyMember, `{"filter": {"_id": "m1"}, "patch": `+patch+`}`)
		require.ErrorIs(t, err, boterr.InvalidArgument, patch)
		require.Equal(t, before, a.stored(t), patch)
	}
}

func TestUpdateMember_FixedFieldsAsTheyAre(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1", "firstName": "Ada"}`)
	a.advance()
	m := load(t, a.mine, "m1")
	m.FirstName, m.Version, m.Etag, m.UpdatedAt = "Eve", 99, "mine", 5
	must(t, a.mine.UpdateMember, `{"member": `+shown(t, m)+`}`)
	now := load(t, a.mine, "m1")
	require.Equal(t, "Eve", now.FirstName)
	require.Equal(t, int64(2), now.Version, "versions, etags and times are the SDK's")
	require.NotEqual(t, "mine", now.Etag)
	require.EqualValues(t, 2000, now.UpdatedAt)
}

func TestPatchMembers_OneChannel(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`{"patch": {"gender": "new"}}`:                                             "new/old",
		`{"patch": {"gender": "new"}, "channel": {"_id": "c1"}}`:                   "new/old",
		`{"patch": {"gender": "new"}, "channel": {"_id": "c2"}}`:                   "old/new",
		`{"patch": {"gender": "new"}, "memberId": "m2"}`:                           "old/old",
		`{"patch": {"gender": "new"}, "filter": {"channel": "c2"}}`:                "old/old",
		`{"patch": {"gender": "new"}, "memberId": "m2", "channel": {"_id": "c2"}}`: "old/new",
	} {
		a := newApps(t, `{"_id": "m1", "gender": "old"}`, `{"_id": "m2", "channel": "c2", "gender": "old"}`)
		must(t, a.mine.PatchMembers, params)
		require.Equal(t, want, load(t, a.mine, "m1").Gender+"/"+load(t, a.mine, "m2").Gender, params)
	}
}

func TestPatchMembers_NeedsAChannel(t *testing.T) {
	t.Parallel()
	none := newApps(t).in(t, record.Scope{App: "mine"})
	_, err := call(t, none.PatchMembers, `{"patch": {"gender": "x"}}`)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, "channel")
}

func TestOperations_WholeApp(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m2", "channel": "c2"}`)
	require.Equal(t, "c2", load(t, a.mine, "m2").Channel)
	must(t, a.mine.FindAndModifyMember, `{"filter": {"_id": "m2"}, "patch": {"$set": {"gender": "x"}}}`)
	must(t, a.mine.UpdateMember, `{"member": {"_id": "m2", "lastName": "L"}}`)
	must(t, a.mine.CheckAndSaveMemberReferFrom, `{"memberId": "m2", "referFrom": "c1"}`)
	m := load(t, a.mine, "m2")
	require.Equal(t, "x L", m.Gender+" "+m.LastName)
}
