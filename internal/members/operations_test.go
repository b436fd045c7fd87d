package members_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

func TestFindAndModifyMember_Options(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1", "firstName": "Ada", "meta": {"n": 1, "m": 2}, "tags": ["a", "b"]}`)
	for _, test := range []struct{ option, want string }{
		{`{"projection": {"meta.n": 1}}`, `{"_id": "m1", "meta": {"n": 1}}`},
		{`{"fields": {"meta": {"n": 1}, "_id": 0}, "returnDocument": "after"}`, `{"meta": {"n": 3}}`},
		{`{"projection": {"firstName": true, "tags": {"$slice": 1}}, "returnOriginal": false}`, `{"_id": "m1", "firstName": "Ada", "tags": ["a"]}`},
		{`{"projection": {"meta.n": 1, "_id": 0}, "returnDocument": "before", "maxTimeMS": 5, "comment": "c"}`, `{"meta": {"n": 4}}`},
		{`{"projection": {"tags": {"$elemMatch": {"$eq": "b"}}}}`, `{"_id": "m1", "tags": ["b"]}`},
	} {
		found := must(t, a.mine.FindAndModifyMember, `{"filter": {}, "patch": {"$inc": {"meta.n": 1}}, "option": `+test.option+`}`)
		require.JSONEq(t, test.want, document.Get(found, "member", document.Object{}).String(), test.option)
	}
	before := load(t, a.mine, "m1")
	for option, field := range map[string]string{
		`{"projection": {"firstName": "$meta"}}`:               "projection.firstName",
		`{"projection": {"firstName": {"$literal": 5}}}`:       "projection.firstName.$literal",
		`{"projection": {"meta": {}}}`:                         "projection.meta",
		`{"projection": {"meta": {"n": {"$add": [1, 2]}}}}`:    "projection.meta.n.$add",
		`{"projection": {"tags": {"$slice": 1, "$add": 1}}}`:   "projection.tags.$slice",
		`{"fields": {"a": 1}, "projection": {"firstName": 1}}`: "fields",
		`{"returnDocument": "before", "new": true}`:            "returnDocument",
	} {
		_, err := call(t, a.mine.FindAndModifyMember, `{"filter": {}, "patch": {"$inc": {"meta.n": 1}}, "option": `+option+`}`)
		require.ErrorIs(t, err, boterr.InvalidArgument, option)
		requireField(t, err, "option."+field, option)
		require.Equal(t, before, load(t, a.mine, "m1"), option)
	}
}

func TestFindAndModifyMember_ClearsFields(t *testing.T) {
	t.Parallel()
	for _, params := range []string{
		`"patch": {"lastName": null}, "withModifier": false`,
		`"patch": {"$unset": {"lastName": "", "profile": ""}}`,
	} {
		a := newApps(t, `{"_id": "m1", "firstName": "Ada", "lastName": "L"}`)
		found := must(t, a.mine.FindAndModifyMember, `{"filter": {}, "option": {"new": true}, `+params+`}`)
		require.True(t, found.Has("member.profile"), params)
		m := load(t, a.mine, "m1")
		require.Equal(t, "Ada ", m.FirstName+" "+m.LastName, params)
		require.False(t, m.Profile.IsZero(), "objects are there always")
	}
}

func TestPatchByRun_Stamps(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`)
	before := load(t, a.mine, "m1")
	a.advance()
	must(t, a.mine.PatchByRun, `{"memberId": "m1", "patch": {"meta.n": 1, "laneFence": 7}}`)
	after := load(t, a.mine, "m1")
	require.Equal(t, before.CreatedAt, after.CreatedAt)
	require.Greater(t, after.UpdatedAt, before.UpdatedAt)
	require.Greater(t, after.Version, before.Version)
	require.NotEqual(t, before.Etag, after.Etag)
}

func TestFindAndModifyMember_ElementsOfTags(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1", "tags": ["a", "b"]}`)
	must(t, a.mine.FindAndModifyMember, `{"filter": {"tags": "a"}, "patch": {"$set": {"tags.$": "c"}}}`)
	must(t, a.mine.FindAndModifyMember, `{"filter": {}, "patch": {"$max": {"tags.$[]": "bb"}}}`)
	must(t, a.mine.FindAndModifyMember, `{"filter": {}, "patch": {"$push": {"tags": "d"}}}`)
	require.Equal(t, document.A("c", "bb", "d"), load(t, a.mine, "m1").Tags)
	_, err := call(t, a.mine.FindAndModifyMember, `{"filter": {"tags": "c"}, "patch": {"$set": {"lastName.$": "x"}}}`)
	requireField(t, err, "patch.$set.lastName.$")
}

func TestUpdateMember_EtagChecks(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`)
	const stale = `{"member": {"_id": "m1", "etag": "stale", "gender": "x"}}`
	must(t, a.mine.UpdateMember, stale)
	require.Equal(t, "x", load(t, a.mine, "m1").Gender, "the last write wins")

	env := record.Env{Store: a.store}
	scope := record.Scope{App: "mine", Channel: "c1"}
	checked := members.New(env, scope, channels.New(env, scope))
	checked.ChecksEtags = true
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
	_, updated := call(t, a.mine.UpdateMember, `{"member": {"_id": "m1", "gender": "f"}}`)
	_, patched := call(t, a.mine.PatchMembers, `{"filter": {}, "patch": {"gender": "m"}}`)
	_, found := call(t, a.mine.FindAndModifyMember, `{"filter": {}, "patch": {"$set": {"gender": "x"}}}`)
	for _, err := range []error{updated, patched, found} {
		require.ErrorIs(t, err, boterr.FailedPrecondition)
	}

	must(t, a.mine.UpdateMember, `{"member": {"_id": "m1", "meta": {}, "firstName": "Ada"}}`)
	require.Equal(t, "Ada", load(t, a.mine, "m1").FirstName)
	must(t, a.mine.CheckAndSaveMemberReferFrom, `{"memberId": "m1", "referFrom": "c2"}`)
}

func TestFindAndModifyMember_Refuses(t *testing.T) {
	t.Parallel()
	requireRefused(t, func(s *members.Service) operation[member.FindAndModifyParams, member.FindAndModifyResult] {
		return s.FindAndModifyMember
	}, map[string]string{
		`{"filter": {"meta.n": {"$is": 1}}, "patch": {"$set": {"meta.n": 2}}}`:             "filter.meta.n.$is",
		`{"filter": {}, "patch": {"$set": {"meta.n": 2}, "meta": {}}}`:                     "patch.meta",
		`{"filter": {}, "patch": {"$inc": {"meta.text": 2}}}`:                              "patch.meta.text",
		`{"filter": {}, "patch": {"channel": "c2"}, "withModifier": false}`:                "patch.channel",
		`{"filter": {}, "patch": {"$set": {"firstName": 5}}, "withModifier": false}`:       "patch.$set",
		`{"filter": {}, "patch": {"$set": {"meta.n": 2}}, "sortBy": {"createdAt": "asc"}}`: "sortBy.createdAt",
		`{"filter": {}, "patch": {"$set": {"meta.n": 2}}, "option": {"new": "yes"}}`:       "option.new",
		`{"filter": {}, "patch": {}, "sortBy": {"a": 1}, "option": {"sort": {"b": 1}}}`:    "option.sort",
		`{"filter": {}, "patch": {"$set": {"firstName": 5}}}`:                              "patch.$set.firstName",
		`{"filter": {}, "patch": {"firstName": {"a": 1}}}`:                                 "patch.firstName",
		`{"filter": {}, "patch": {"$set": {"firstName.a": "x"}}}`:                          "patch.$set.firstName.a",
		`{"filter": {}, "patch": {"$set": {"meta": 5}}}`:                                   "patch.$set.meta",
		`{"filter": {}, "patch": {"$set": {"botMeta": null}}}`:                             "patch.$set.botMeta",
		`{"filter": {}, "patch": {"$set": {"tags": "vip"}}}`:                               "patch.$set.tags",
		`{"filter": {}, "patch": {"$inc": {"gender": 1}}}`:                                 "patch.$inc.gender",
		`{"filter": {"_id": "m2"}, "patch": {"$push": {"profile": 1}}}`:                    "patch.$push.profile",
		`{"filter": {}, "patch": {"$rename": {"meta.n": "lastName"}}}`:                     "patch.$rename.meta.n",
		`{"filter": {}, "patch": {"$max": {"tags": 1}}}`:                                   "patch.$max.tags",
		`{"filter": {}, "patch": {"$set": {"tags.0": "vip"}}}`:                             "patch.$set.tags.0",
		`{"filter": {}, "patch": {"$set": {"tags.vip": true}}}`:                            "patch.$set.tags.vip",
		`{"filter": {}, "patch": {"$push": {"tags.0": 1}}}`:                                "patch.$push.tags.0",
		`{"filter": {}, "patch": {"$rename": {"meta.n": "tags.0"}}}`:                       "patch.$rename.meta.n",
		`{"filter": {}, "patch": {"$rename": {"meta.n": "laneFence"}}}`:                    "patch.laneFence",
		`{"filter": {}, "patch": {"handledEvent": "e1 5"}}`:                                "patch.handledEvent",
	})
}

func TestUpdateMember_Refuses(t *testing.T) {
	t.Parallel()
	requireRefused(t, func(s *members.Service) operation[member.UpdateParams, member.UpdateResult] {
		return s.UpdateMember
	}, map[string]string{
		`{}`: "member",
		`{"member": {"_id": "", "firstName": "Eve"}}`:    "member._id",
		`{"member": {"_id": "m1", "meta.text.deep": 1}}`: "member.meta.text.deep",
		`{"member": {"_id": "m1", "etag": 5}}`:           "member.etag",
		`{"member": {"_id": "m1", "laneFence": 9}}`:      "member.laneFence",
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
