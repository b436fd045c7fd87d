package member_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

func TestFindAndModifyMember_Refuses(t *testing.T) {
	t.Parallel()
	requireRefused(t, func(s *member.Service) operation[member.FindAndModifyMemberParams, member.FindAndModifyMemberResult] {
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
	requireRefused(t, func(s *member.Service) operation[member.GetMemberParams, *member.Member] {
		return s.GetMember
	}, map[string]string{
		`{}`:                            "memberId",
		`{"memberId": ""}`:              "memberId",
		`{"memberId": {"$ne": "none"}}`: "memberId",
	})
}

func TestPatchMembers_Refuses(t *testing.T) {
	t.Parallel()
	requireRefused(t, func(s *member.Service) operation[member.PatchMembersParams, member.PatchMembersResult] {
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
	requireRefused(t, func(s *member.Service) operation[member.UpdateMemberParams, member.UpdateMemberResult] {
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
	requireRefused(t, func(s *member.Service) operation[member.CheckAndSaveMemberReferFromParams, *member.Member] {
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
	_, err := a.mine.CheckAndSaveMemberReferFrom(t.Context(), member.CheckAndSaveMemberReferFromParams{
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
