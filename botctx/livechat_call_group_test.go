package botctx_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

// groupCases are those of the look-ups of groups.
func groupCases() map[string]chatCase {
	return map[string]chatCase{
		"getGroup": {
			scenes:   map[string]scene{"all of it is read": callToReadGroup},
			refusals: []refusal{{boterr.NotFound, "no group", notFound("getGroup", `{"groupId": "none"}`, "groupId")}},
		},
		"getGroupByExternalId": {
			scenes:   map[string]scene{"that of an agent, or of an id": callByExternalID},
			refusals: []refusal{{boterr.NotFound, "No group fits", callByExternalIDInVain}},
		},
		"getGroupByGroupExternalId": {
			scenes:   map[string]scene{"a live one comes first": callByGroupExternalID},
			refusals: []refusal{{boterr.NotFound, "no such group", notFound("getGroupByGroupExternalId", `{"groupExternalId": "none"}`, "groupExternalId")}},
		},
		"getGroupByInletGroup": {
			scenes:   map[string]scene{"that of a group on the inlet's side": callByInletGroup},
			refusals: []refusal{{boterr.NotFound, "No group fits", notFound("getGroupByInletGroup", `{"inlet": "web", "inletGroupExternalId": "none"}`, "inletGroupExternalId")}},
		},
		"getGroupByMemberId": {
			scenes:   map[string]scene{"that of a member": callByMemberOfGroup},
			refusals: []refusal{{boterr.NotFound, "No group fits", notFound("getGroupByMemberId", `{"inlet": "web", "memberId": "nobody"}`, "memberId")}},
		},
	}
}

// groupUpdateCases are those of the updates of groups.
func groupUpdateCases() map[string]chatCase {
	return map[string]chatCase{
		"updateGroup": {
			scenes: map[string]scene{"the given fields are set, others stay": callToUpdateGroup},
			refusals: []refusal{
				{boterr.InvalidArgument, "would change app", callToUpdateGroupWrongly},
				{boterr.NotFound, "no group with that `_id`", notFound("updateGroup", `{"group": {"_id": "none", "name": "x"}}`, "group._id")},
			},
		},
		"updateGroupMeta": {
			scenes:   map[string]scene{"the given fields are set, others stay": callToUpdateGroupMeta},
			refusals: []refusal{{boterr.NotFound, "no group", notFound("updateGroupMeta", `{"groupId": "none", "meta": {"a": 1}}`, "groupId")}},
		},
		"inactivateGroup": {
			scenes:   map[string]scene{"it is neither live nor valid": callToInactivate},
			refusals: []refusal{{boterr.NotFound, "no group", notFound("inactivateGroup", `{"groupId": "none"}`, "groupId")}},
		},
	}
}

// requireGroup checks that a group is the one in which Grace talks with Ada.
func (d *desk) requireGroup(t *testing.T, shown gjson.Result) {
	t.Helper()
	r := d.assignments(t)[0]
	require.Equal(t, r.Group, shown.Get("_id").String())
	require.Equal(t, d.ada.Member().Channel, shown.Get("inlet").String())
	require.Equal(t, "desk", shown.Get("outlet").String())
	require.Equal(t, d.Groups("desk")[0].ExternalID, shown.Get("externalId").String())
	require.Equal(t, d.grace.ExternalID(), shown.Get("adminExternalId").String())
	require.Equal(t, d.grace.AdminID(), shown.Get("admin").String())
	require.Equal(t, r.ID, shown.Get("assignment").String())
	require.Equal(t, d.ada.ID(), shown.Get("member").String())
}

func callToReadGroup(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Bravo)
	shown := callf(t, d.inOutlet(), "getGroup", `{"groupId": %q}`, d.group(t))
	d.requireGroup(t, shown)
	require.Equal(t, "Ada", shown.Get("name").String())
	require.Equal(t, "bravo", shown.Get("type").String())
	require.Equal(t, "app-1", shown.Get("app").String())
	require.Equal(t, d.Now().UnixMilli(), shown.Get("createdAt").Int())
	require.True(t, shown.Get("active").Bool())
	require.True(t, shown.Get("valid").Bool())

	callf(t, d.ada.Context(), "inletEndLiveChat", `{}`)
	callf(t, d.ada.Context(), "createAssignment", `{"assignmentDetails": {"groupName": "Once more"}}`)
	d.grace.Takes(d.grace.Ticket())
	next := callf(t, d.inOutlet(), "getGroup", `{"groupId": %q}`, d.group(t))
	require.Equal(t, "Once more", next.Get("name").String())
	require.Equal(t, d.Groups("desk")[1].ExternalID, next.Get("externalId").String())
	require.False(t, callf(t, d.inOutlet(), "getGroup", `{"groupId": %q}`, shown.Get("_id").String()).Get("active").Bool())
}

func callByExternalID(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	id := d.Groups("desk")[0].ExternalID
	for _, args := range []string{
		`{"adminExternalId": %[1]q, "channelId": "desk", "type": "charlie"}`, `{"adminExternalId": %[1]q}`, `{"groupId": %[2]q, "channelId": "desk"}`,
		`{"groupId": %[2]q, "adminExternalId": %[1]q}`, `{"groupId": %[2]q}`,
	} {
		d.requireGroup(t, callf(t, d.inOutlet(), "getGroupByExternalId", args+`%[3]s`, d.grace.ExternalID(), id, ``))
	}
	callf(t, d.ada.Context(), "inletEndLiveChat", `{}`)
	d.Advance(1e9)
	d.connect(t)
	shown := callf(t, d.inOutlet(), "getGroupByExternalId", `{"adminExternalId": %q}`, d.grace.ExternalID())
	require.Equal(t, d.group(t), shown.Get("_id").String(), "the newest one")
}

func callByExternalIDInVain(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	for args, field := range map[string]string{
		`{"adminExternalId": "nobody"}`:                      "adminExternalId",
		`{"groupId": "none"}`:                                "groupId",
		`{"adminExternalId": %[1]q, "groupId": "none"}`:      "adminExternalId",
		`{"adminExternalId": %[1]q, "type": "delta"}`:        "adminExternalId",
		`{"adminExternalId": %[1]q, "channelId": "web"}`:     "adminExternalId",
		`{"adminExternalId": %[1]q, "channelId": "nowhere"}`: "adminExternalId",
	} {
		d.refusef(t, d.inOutlet(), boterr.NotFound, field, "getGroupByExternalId", args+`%[2]s`, d.grace.ExternalID(), ``)
	}
}

func callByGroupExternalID(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Webchat) // Its agents have no groups of their own, so that the id of both is that of the agent.
	first := d.group(t)
	args := `{"groupExternalId": %q}`
	require.Equal(t, first, callf(t, d.inOutlet(), "getGroupByGroupExternalId", args, d.grace.ExternalID()).Get("_id").String())
	callf(t, d.ada.Context(), "inletEndLiveChat", `{}`)
	d.Advance(1e9)
	d.connect(t)
	second := d.group(t)
	require.NotEqual(t, first, second)
	require.Equal(t, second, callf(t, d.inOutlet(), "getGroupByGroupExternalId", args, d.grace.ExternalID()).Get("_id").String())
	callf(t, d.inOutlet(), "updateGroup", `{"group": {"_id": %q, "active": true}}`, first)
	callf(t, d.inOutlet(), "inactivateGroup", `{"groupId": %q}`, second)
	require.Equal(t, first, callf(t, d.inOutlet(), "getGroupByGroupExternalId", args, d.grace.ExternalID()).Get("_id").String())
}

func callByInletGroup(t *testing.T) {
	t.Helper()
	d := talkingInGroup(t, channel.Webchat)
	d.requireGroup(t, callf(t, d.ada.Context(), "getGroupByInletGroup", `{"inlet": "shop", "inletGroupExternalId": "family"}`))
	d.refusef(t, d.ada.Context(), boterr.NotFound, "inletGroupExternalId", "getGroupByInletGroup", `{"inlet": "desk", "inletGroupExternalId": "family"}`)
}

func callByMemberOfGroup(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	d.requireGroup(t, callf(t, d.ada.Context(), "getGroupByMemberId", `{"inlet": "web", "memberId": %q}`, d.ada.ID()))
	d.refusef(t, d.ada.Context(), boterr.NotFound, "memberId", "getGroupByMemberId", `{"inlet": "desk", "memberId": %q}`, d.ada.ID())
}

func callToUpdateGroup(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	before := callf(t, d.inOutlet(), "getGroup", `{"groupId": %q}`, d.group(t))
	args := `{"group": {"_id": %q, "name": "Kettles", "meta.tier": "gold", "valid": false}}`
	answer := callf(t, d.inOutlet(), "updateGroup", args, d.group(t))
	require.Equal(t, int64(1), answer.Get("modified").Int())
	require.Equal(t, `["`+d.group(t)+`"]`, answer.Get("_docsIds.updated").Raw)
	shown := callf(t, d.inOutlet(), "getGroup", `{"groupId": %q}`, d.group(t))
	require.JSONEq(t, shown.Raw, answer.Get("_docs.0").Raw)
	require.Equal(t, "Kettles", shown.Get("name").String())
	require.JSONEq(t, `{"tier": "gold"}`, shown.Get("meta").Raw)
	require.False(t, shown.Get("valid").Bool())
	require.Equal(t, before.Get("_version").Int()+1, shown.Get("_version").Int())
	d.requireGroup(t, shown)
	require.Equal(t, int64(0), callf(t, d.inOutlet(), "updateGroup", args, d.group(t)).Get("modified").Int())
}

func callToUpdateGroupWrongly(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	for patch, field := range map[string]string{
		`{"name": "x"}`:                   "group._id",
		`{"_id": %q, "app": "elsewhere"}`: "group.app",
		`{"_id": %q, "createdAt": 5}`:     "group.createdAt",
		`{"_id": %q, "valid": "yes"}`:     "group.valid",
		`{"_id": %q, "meta": null}`:       "group.meta",
		`{"_id": %q, "name": 7}`:          "group.name",
	} {
		d.refusef(t, d.inOutlet(), boterr.InvalidArgument, field, "updateGroup", `{"group": `+patch+`}%[2]s`, d.group(t), ``)
	}
}

func callToUpdateGroupMeta(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	callf(t, d.inOutlet(), "updateGroupMeta", `{"groupId": %q, "meta": {"order": {"id": 7, "paid": false}, "tier": 1}}`, d.group(t))
	answer := callf(t, d.inOutlet(), "updateGroupMeta", `{"groupId": %q, "meta": {"order.paid": true}}`, d.group(t))
	require.Equal(t, int64(1), answer.Get("modified").Int())
	require.Equal(t, `["`+d.group(t)+`"]`, answer.Get("_docsIds.updated").Raw)
	want := `{"order": {"id": 7, "paid": true}, "tier": 1}`
	require.JSONEq(t, want, answer.Get("_docs.0.meta").Raw)
	require.JSONEq(t, want, callf(t, d.inOutlet(), "getGroup", `{"groupId": %q}`, d.group(t)).Get("meta").Raw)
	require.Equal(t, int64(0), callf(t, d.inOutlet(), "updateGroupMeta", `{"groupId": %q, "meta": {"tier": 1}}`, d.group(t)).Get("modified").Int())
}

func callToInactivate(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	answer := callf(t, d.inOutlet(), "inactivateGroup", `{"groupId": %q}`, d.group(t))
	shown := callf(t, d.inOutlet(), "getGroup", `{"groupId": %q}`, d.group(t))
	require.False(t, shown.Get("active").Bool())
	require.False(t, shown.Get("valid").Bool())
	for _, field := range []string{"_id", "_version", "createdAt"} {
		require.Equal(t, shown.Get(field).Raw, answer.Get(field).Raw)
	}
	require.Equal(t, `{}[][]`, answer.Get("email").Raw+answer.Get("apps").Raw+answer.Get("acls").Raw)
}
