package botctx_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
)

// lookUpCases are those of the look-ups of assignments.
func lookUpCases() map[string]chatCase {
	return map[string]chatCase{
		"getAssignment": {
			scenes:   map[string]scene{"it is read in each of its states": callToReadAssignment},
			refusals: []refusal{{boterr.NotFound, "no assignment", notFound("getAssignment", `{"assignmentId": "none"}`, "assignmentId")}},
		},
		"getAssignmentByOutlet": {
			scenes: map[string]scene{
				"the newest one that has not ended":             callByOutlet,
				"one whose meta is a filter is for who matches": callByOutletAndMeta,
			},
			refusals: []refusal{{boterr.NotFound, "no open assignment", callByOutletInVain}},
		},
		"getAssignmentByBravoGroupId": {
			scenes:   map[string]scene{"the newest one of the group": callByBravoGroup},
			refusals: []refusal{{boterr.NotFound, "of that group", notFound("getAssignmentByBravoGroupId", `{"bravoGroupId": "none"}`, "bravoGroupId")}},
		},
		"getAssignmentsByMemberId": {
			scenes:   map[string]scene{"all of a member, in an order": callByMember},
			refusals: []refusal{{boterr.InvalidArgument, "other than 1 and -1", callByMemberInNoOrder}},
		},
		"getAssignmentsByMeta": {
			scenes:   map[string]scene{"those whose meta has each field": callByMeta},
			refusals: []refusal{{boterr.InvalidArgument, "operator", callByMetaWithOperators}},
		},
	}
}

// notFound is the scene of a look-up that finds nothing, though a live chat goes on.
func notFound(name, args, field string) scene {
	return func(t *testing.T) {
		t.Helper()
		d := talking(t, channel.Bravo)
		d.refusef(t, d.inOutlet(), boterr.NotFound, field, name, args)
	}
}

func callToReadAssignment(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	asked := d.Now().UnixMilli()
	id := callf(t, d.ada.Context(), "createAssignment", `{}`).Get("assignmentId").String()
	args := `{"assignmentId": %q}`
	pending := callf(t, d.ada.Context(), "getAssignment", args, id)
	require.Equal(t, id, pending.Get("_id").String())
	require.Equal(t, "app-1", pending.Get("app").String())
	require.Equal(t, asked, pending.Get("createdAt").Int())
	require.Equal(t, `{}`, pending.Get("meta").Raw)
	require.False(t, pending.Get("assignee").Exists())

	d.Advance(60e9)
	d.grace.Takes(d.grace.Ticket())
	taken := callf(t, d.ada.Context(), "getAssignment", args, id)
	require.Equal(t, d.grace.ExternalID(), taken.Get("assignee").String())
	require.Equal(t, asked+60_000, taken.Get("assignedAt").Int())
	require.Equal(t, d.Groups("desk")[0].ExternalID, taken.Get("groupInfo.externalId").String())
	require.Equal(t, d.Groups("desk")[0].ExternalID, callf(t, d.ada.Context(), "getGroup", `{"groupId": %q}`, taken.Get("group").String()).Get("externalId").String())
	require.Greater(t, taken.Get("_version").Int(), pending.Get("_version").Int())
	require.NotEqual(t, pending.Get("etag").String(), taken.Get("etag").String())

	callf(t, d.ada.Context(), "inletEndLiveChat", `{}`)
	ended := callf(t, d.ada.Context(), "getAssignment", args, id)
	require.False(t, ended.Get("expiry").Exists())
}

func callByOutlet(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	bob := d.AddMember(member.Member{Channel: "web", FirstName: "Bob"})
	args := `{"channelId": "desk"}`
	d.ask(t)
	first := d.assignment(t)
	require.Equal(t, first, callf(t, d.inOutlet(), "getAssignmentByOutlet", args).Get("_id").String())
	d.Advance(1e9)
	second := callf(t, bob.Context(), "createAssignment", `{}`).Get("assignmentId").String()
	require.Equal(t, second, callf(t, d.inOutlet(), "getAssignmentByOutlet", args).Get("_id").String())
	callf(t, bob.Context(), "inletEndLiveChat", `{}`)
	require.Equal(t, first, callf(t, d.inOutlet(), "getAssignmentByOutlet", args).Get("_id").String())
}

func callByOutletAndMeta(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	bob := d.AddMember(member.Member{Channel: "web", FirstName: "Bob"})
	d.ask(t)
	d.Advance(1e9)
	forBob := callf(t, bob.Context(), "createAssignment", `{"meta": {"firstName": {"$in": ["Bob", "Bobby"]}}}`).Get("assignmentId").String()
	args := `{"channelId": "desk"}`
	require.Equal(t, forBob, callf(t, bob.Context(), "getAssignmentByOutlet", args).Get("_id").String())
	require.Equal(t, d.assignment(t), callf(t, d.ada.Context(), "getAssignmentByOutlet", args).Get("_id").String())
}

func callByOutletInVain(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	d.refusef(t, d.inOutlet(), boterr.NotFound, "channelId", "getAssignmentByOutlet", `{"channelId": "desk"}`)
	d.refusef(t, d.inOutlet(), boterr.NotFound, "channelId", "getAssignmentByOutlet", `{"channelId": "nowhere"}`)
	d.connect(t)
	callf(t, d.ada.Context(), "inletEndLiveChat", `{}`)
	d.refusef(t, d.inOutlet(), boterr.NotFound, "channelId", "getAssignmentByOutlet", `{"channelId": "desk"}`)
}

func callByBravoGroup(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Bravo)
	bob := d.AddMember(member.Member{Channel: "web", FirstName: "Bob"})
	callf(t, bob.Context(), "createAssignment", `{}`)
	d.grace.Takes(d.grace.Ticket())
	groups := d.Groups("desk")
	require.Len(t, groups, 2)
	for i, who := range []string{d.ada.ID(), bob.ID()} {
		shown := callf(t, d.inOutlet(), "getAssignmentByBravoGroupId", `{"bravoGroupId": %q}`, groups[i].ExternalID)
		require.Equal(t, who, shown.Get("member").String())
		require.Equal(t, groups[i].ExternalID, shown.Get("groupInfo.bravoGroupId").String())
	}
}

func callByMember(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	first := d.assignment(t)
	callf(t, d.ada.Context(), "inletEndLiveChat", `{}`)
	d.Advance(1e9)
	second := callf(t, d.ada.Context(), "createAssignment", `{}`).Get("assignmentId").String()
	bob := d.AddMember(member.Member{Channel: "web", FirstName: "Bob"})
	callf(t, bob.Context(), "createAssignment", `{}`)
	for args, want := range map[string][2]string{``: {first, second}, `, "sortBy": {"createdAt": 1}`: {first, second}, `, "sortBy": {"createdAt": -1}`: {second, first}} {
		all := callf(t, d.inOutlet(), "getAssignmentsByMemberId", `{"memberId": %q %s}`, d.ada.ID(), args)
		require.Len(t, all.Array(), 2)
		require.Equal(t, want, [2]string{all.Get("0._id").String(), all.Get("1._id").String()}, args)
	}
	require.Equal(t, `[]`, callf(t, d.inOutlet(), "getAssignmentsByMemberId", `{"memberId": "nobody"}`).Raw)
}

func callByMemberInNoOrder(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	for _, order := range []string{`{"createdAt": 2}`, `{"createdAt": "up"}`} {
		d.refusef(t, d.inOutlet(), boterr.InvalidArgument, "sortBy", "getAssignmentsByMemberId", `{"memberId": %q, "sortBy": %s}`, d.ada.ID(), order)
	}
}

func callByMeta(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	bob := d.AddMember(member.Member{Channel: "web", FirstName: "Bob"})
	ofAda := callf(t, d.ada.Context(), "createAssignment", `{"meta": {"order": {"id": 7}, "tier": "gold"}}`).Get("assignmentId").String()
	callf(t, bob.Context(), "createAssignment", `{"meta": {"tier": "gold"}}`)
	for meta, found := range map[string]int{
		`{"tier": "gold"}`: 2, `{"order.id": 7}`: 1, `{"order": {"id": 7}, "tier": "gold"}`: 1, `{"order.id": "7"}`: 0, `{"tier": null}`: 0, `{}`: 2,
	} {
		all := callf(t, d.inOutlet(), "getAssignmentsByMeta", `{"meta": %s}`, meta)
		require.Len(t, all.Array(), found, meta)
		if found == 1 {
			require.Equal(t, ofAda, all.Get("0._id").String())
		}
	}
}

func callByMetaWithOperators(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	for _, meta := range []string{`{"$or": []}`, `{"tier": {"$ne": 1}}`, `{"a.$b": 1}`, `{"a": [{"$gt": 1}]}`} {
		d.refusef(t, d.inOutlet(), boterr.InvalidArgument, "meta", "getAssignmentsByMeta", `{"meta": %s}`, meta)
	}
}

// updateCases are those of the updates of assignments.
func updateCases() map[string]chatCase {
	return map[string]chatCase{
		"updateAssignmentGroup": {
			scenes:   map[string]scene{"its group is another one": callToSetGroup},
			refusals: []refusal{{boterr.NotFound, "no group with that", callToSetGroupInVain}},
		},
		"updateAssignmentMeta": {
			scenes: map[string]scene{"the given fields are set, others stay": callToSetMeta},
			refusals: []refusal{{
				boterr.NotFound, "no assignment",
				notFound("updateAssignmentMeta", `{"assignmentId": "none", "meta": {"a": 1}}`, "assignmentId"),
			}},
		},
	}
}

func callToSetGroup(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Bravo)
	bob := d.AddMember(member.Member{Channel: "web", FirstName: "Bob"})
	id := callf(t, bob.Context(), "createAssignment", `{}`).Get("assignmentId").String()
	args := `{"assignmentId": %q, "group": {"_id": %q, "name": "not looked at"} %s}`
	answer := callf(t, d.inOutlet(), "updateAssignmentGroup", args, id, d.group(t), ``)
	require.Equal(t, int64(1), answer.Get("modified").Int())
	require.Equal(t, `["`+id+`"]`, answer.Get("_docsIds.updated").Raw)
	require.Equal(t, d.group(t), answer.Get("_docs.0.group").String())
	own := d.Groups("desk")[0].ExternalID
	require.Equal(t, own, answer.Get("_docs.0.groupInfo.bravoGroupId").String())
	again := callf(t, d.inOutlet(), "updateAssignmentGroup", args, id, d.group(t), ``)
	require.Equal(t, int64(0), again.Get("modified").Int())

	callf(t, d.inOutlet(), "updateAssignmentGroup", args, id, d.group(t), `, "bravoGroupId": "another"`)
	shown := callf(t, d.inOutlet(), "getAssignmentByBravoGroupId", `{"bravoGroupId": "another"}`)
	require.Equal(t, id, shown.Get("_id").String())
	require.Equal(t, d.group(t), shown.Get("group").String())
	require.Equal(t, d.assignment(t), callf(t, d.inOutlet(), "getAssignmentByBravoGroupId", `{"bravoGroupId": %q}`, own).Get("_id").String())
}

func callToSetGroupInVain(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Bravo)
	d.refusef(t, d.inOutlet(), boterr.NotFound, "assignmentId", "updateAssignmentGroup", `{"assignmentId": "none", "group": {"_id": %q}}`, d.group(t))
	d.refusef(t, d.inOutlet(), boterr.NotFound, "group._id", "updateAssignmentGroup", `{"assignmentId": %q, "group": {"_id": "none"}}`, d.assignment(t))
	strict := talking(t, channel.Charlie, strictly())
	strict.refusef(t, strict.inOutlet(), boterr.InvalidArgument, "bravoGroupId", "updateAssignmentGroup",
		`{"assignmentId": %q, "group": {"_id": %q}, "bravoGroupId": "b"}`, strict.assignment(t), strict.group(t))
}

func callToSetMeta(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	id := callf(t, d.ada.Context(), "createAssignment", `{"meta": {"order": {"id": 7, "paid": false}, "tier": 1}}`).Get("assignmentId").String()
	answer := callf(t, d.inOutlet(), "updateAssignmentMeta", `{"assignmentId": %q, "meta": {"order.paid": true, "note": null}}`, id)
	require.Equal(t, int64(1), answer.Get("modified").Int())
	require.Equal(t, `["`+id+`"]`, answer.Get("_docsIds.updated").Raw)
	want := `{"order": {"id": 7, "paid": true}, "tier": 1, "note": null}`
	require.JSONEq(t, want, answer.Get("_docs.0.meta").Raw)
	require.JSONEq(t, want, callf(t, d.inOutlet(), "getAssignment", `{"assignmentId": %q}`, id).Get("meta").Raw)
	again := callf(t, d.inOutlet(), "updateAssignmentMeta", `{"assignmentId": %q, "meta": {"tier": 1}}`, id)
	require.Equal(t, int64(0), again.Get("modified").Int())
	for _, meta := range []string{`{"$set": 1}`, `{"": 1}`, `{"a..b": 1}`} {
		d.refusef(t, d.inOutlet(), boterr.InvalidArgument, "meta", "updateAssignmentMeta", `{"assignmentId": %q, "meta": %s}`, id, meta)
	}
}
