package botctx_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// endCases are those of the three ways to end a live chat.
func endCases() map[string]chatCase {
	return map[string]chatCase{
		"endLiveChat": {
			scenes: map[string]scene{"an agent ends it": callToEnd},
			refusals: []refusal{
				{boterr.NotFound, "no assignment belongs", callToEndNothing},
				{boterr.FailedPrecondition, "has ended", callToEndAgain},
			},
		},
		"inletEndLiveChat": {
			scenes: map[string]scene{
				"the member ends it":                callToLeave,
				"the tickets are taken back":        callToLeaveAndRecall,
				"it ends one that nobody has taken": callToLeaveTheQueue,
			},
			defaults: map[string]scene{"options.recallRelayMessage": callToLeaveWithoutRecall},
			refusals: []refusal{
				{boterr.NotFound, "channel or the member", callToLeaveNowhere},
				{boterr.FailedPrecondition, "no assignment that is open", callToLeaveNothing},
				{boterr.Unsupported, "cannot recall", callToRecallElsewhere},
			},
		},
		"endBravoLiveChat": {
			scenes: map[string]scene{
				"the agent's live chat in the group ends":       callToEndOnBravo,
				"a group without a live chat is put out of use": callToEndGroupOnBravo,
			},
			refusals: []refusal{
				{boterr.InvalidArgument, "different records", callToEndOnTwoChannels},
				{boterr.NotFound, "no such group", callToEndNoGroupOnBravo},
				{boterr.Unsupported, "not of type bravo", onOtherChannels("endBravoLiveChat", `{"adminExternalId": "a", "bravoGroupId": "b", "channel": {"_id": "desk"}}`, "channel", channel.Bravo)},
			},
		},
	}
}

// onOtherChannels is the scene of a call that is for channels of some types alone.
func onOtherChannels(name, args, field string, allowed ...channel.Type) scene {
	return func(t *testing.T) {
		t.Helper()
		for _, platform := range allTypes() {
			if slices.Contains(allowed, platform) {
				continue
			}
			d := quiet(t, platform)
			says := d.refusef(t, d.ada.Context(), boterr.Unsupported, field, name, args)
			require.Contains(t, says, string(platform))
			for _, a := range allowed {
				require.Contains(t, says, string(a))
			}
		}
	}
}

// requireEnded checks the answer to the end of Ada's live chat, and that it has ended.
func (d *desk) requireEnded(t *testing.T, answer gjson.Result, by livechat.EndedBy) {
	t.Helper()
	r := d.assignments(t)[0]
	require.Equal(t, r.ID, answer.Get("_id").String())
	require.Equal(t, r.Version, answer.Get("_version").Int())
	require.Equal(t, r.CreatedAt.Time().UnixMilli(), answer.Get("createdAt").Int())
	require.Equal(t, `{}[][]`, answer.Get("email").Raw+answer.Get("apps").Raw+answer.Get("acls").Raw)
	require.Equal(t, d.ada.ID(), answer.Get("member._id").String())
	require.False(t, answer.Get("member.botMeta.liveChat").Bool())
	require.True(t, answer.Get("member.botMeta.liveChat").Exists())
	require.Equal(t, by, r.EndedBy)
	require.False(t, d.ada.Member().BotMeta.LiveChat())
	require.Empty(t, d.ada.Agendas())
	refusef(t, d.inOutlet(), boterr.NotFound, "channelId", "getAssignmentByOutlet", `{"channelId": "desk"}`)
}

func callToEnd(t *testing.T) {
	t.Helper()
	for _, platform := range allTypes() {
		for _, args := range []string{`{"channel": {"_id": "desk"}, "messageEvent": %s}`, `{"messageEvent": %s}`} {
			d := talking(t, platform)
			d.requireEnded(t, callf(t, d.inOutlet(), "endLiveChat", args, d.event(t)), livechat.EndedByOutlet)
			group := callf(t, d.inOutlet(), "getGroup", `{"groupId": %q}`, d.group(t))
			require.False(t, group.Get("active").Bool())
			require.True(t, group.Get("valid").Bool())
		}
	}
}

func callToEndNothing(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	d.refusef(t, d.inOutlet(), boterr.NotFound, "messageEvent", "endLiveChat", `{"messageEvent": {"from": "nobody", "to": "nowhere"}}`)
	d.refusef(t, d.inOutlet(), boterr.NotFound, "channel", "endLiveChat", `{"channel": {"_id": "none"}, "messageEvent": %s}`, d.event(t))
	d.refusef(t, d.inOutlet(), boterr.NotFound, "messageEvent", "endLiveChat", `{"channel": {"_id": "web"}, "messageEvent": %s}`, d.event(t))
}

func callToEndAgain(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	callf(t, d.inOutlet(), "endLiveChat", `{"messageEvent": %s}`, d.event(t))
	d.refusef(t, d.inOutlet(), boterr.FailedPrecondition, "messageEvent", "endLiveChat", `{"messageEvent": %s}`, d.event(t))
}

func callToLeave(t *testing.T) {
	t.Helper()
	for _, args := range []string{`{"channel": {"_id": "web"}, "member": {"_id": %q}, "options": {}}`, `{"member": {"_id": %q}}`, `{}%.0s`} {
		d := talking(t, channel.Charlie)
		d.requireEnded(t, callf(t, d.ada.Context(), "inletEndLiveChat", args, d.ada.ID()), livechat.EndedByInlet)
		d.ada.Says("Bye.")
		require.Empty(t, d.grace.Messages())
	}
}

func callToLeaveAndRecall(t *testing.T) {
	t.Helper()
	for _, platform := range []channel.Type{channel.Charlie, channel.Delta} {
		d := talking(t, platform)
		d.requireEnded(t, callf(t, d.ada.Context(), "inletEndLiveChat", `{"options": {"recallRelayMessage": true}}`), livechat.EndedByInlet)
		require.True(t, d.grace.Tickets()[0].IsRecalled)
	}
}

func callToLeaveTheQueue(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	d.ask(t)
	d.requireEnded(t, callf(t, d.ada.Context(), "inletEndLiveChat", `{}`), livechat.EndedByInlet)
	require.Empty(t, d.Queue("desk"))
}

func callToLeaveWithoutRecall(t *testing.T) {
	t.Helper()
	for _, args := range []string{`{}`, `{"options": {}}`, `{"options": {"recallRelayMessage": false}}`} {
		d := talking(t, channel.Charlie)
		callf(t, d.ada.Context(), "inletEndLiveChat", args)
		require.False(t, d.grace.Tickets()[0].IsRecalled)
	}
}

func callToLeaveNowhere(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	d.refusef(t, d.ada.Context(), boterr.NotFound, "member", "inletEndLiveChat", `{"member": {"_id": "nobody"}}`)
	d.refusef(t, d.ada.Context(), boterr.NotFound, "channel", "inletEndLiveChat", `{"channel": {"_id": "none"}}`)
	d.refusef(t, d.ada.Context(), boterr.InvalidArgument, "channel", "inletEndLiveChat", `{"channel": {"_id": "desk"}}`)
}

func callToLeaveNothing(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	d.refusef(t, d.ada.Context(), boterr.FailedPrecondition, "member", "inletEndLiveChat", `{}`)
	d.connect(t)
	callf(t, d.ada.Context(), "inletEndLiveChat", `{}`)
	d.refusef(t, d.ada.Context(), boterr.FailedPrecondition, "member", "inletEndLiveChat", `{}`)
}

func callToRecallElsewhere(t *testing.T) {
	t.Helper()
	for _, platform := range allTypes() {
		if platform == channel.Charlie || platform == channel.Delta {
			continue
		}
		d := talking(t, platform)
		says := d.refusef(t, d.ada.Context(), boterr.Unsupported, "options.recallRelayMessage", "inletEndLiveChat", `{"options": {"recallRelayMessage": true}}`)
		require.Contains(t, says, "charlie, delta")
	}
	h := newHost(t, channel.Webchat, channel.Charlie)
	h.connect(t)
	says := refusef(t, h.ada, boterr.Unsupported, "options.recallRelayMessage", "inletEndLiveChat", `{"options": {"recallRelayMessage": true}}`)
	require.Contains(t, says, "cannot recall tickets")
}

func callToEndOnBravo(t *testing.T) {
	t.Helper()
	for _, where := range []string{``, `, "channel": {"_id": "desk"}`, `, "channelId": "desk"`, `, "channel": {"_id": "desk"}, "channelId": "desk"`} {
		d := talking(t, channel.Bravo)
		bob := d.AddMember(member.Member{Channel: "web", FirstName: "Bob"})
		callf(t, bob.Context(), "createAssignment", `{}`)
		d.grace.Takes(d.grace.Ticket())
		answer := callf(t, d.inOutlet(), "endBravoLiveChat", `{"adminExternalId": %q, "bravoGroupId": %q %s}`,
			d.grace.ExternalID(), d.Groups("desk")[0].ExternalID, where)
		require.Len(t, answer.Array(), 1)
		require.Equal(t, d.assignment(t), answer.Get("0.assignmentRaw._id").String())
		require.NotEmpty(t, answer.Get("0.clientMutationId").String())
		require.Equal(t, livechat.EndedByOutlet, d.assignments(t)[0].EndedBy)
		require.False(t, d.ada.Member().BotMeta.LiveChat())
		require.True(t, bob.Member().BotMeta.LiveChat(), "the agent's other one goes on")
		again := callf(t, d.inOutlet(), "endBravoLiveChat", `{"adminExternalId": %q, "bravoGroupId": %q}`, d.grace.ExternalID(), d.Groups("desk")[0].ExternalID)
		require.Equal(t, `[]`, again.Raw)
	}
}

func callToEndGroupOnBravo(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Bravo)
	group := callf(t, d.inOutlet(), "createBravoGroup", `{"name": "Kettles"}`).Get("groupId").String()
	callf(t, d.inOutlet(), "handleAdminJoinedGroup", `{"externalId": %q, "bravoGroupId": %q}`, d.grace.ExternalID(), group)
	answer := callf(t, d.inOutlet(), "endBravoLiveChat", `{"adminExternalId": %q, "bravoGroupId": %q}`, d.grace.ExternalID(), group)
	require.Len(t, answer.Array(), 1)
	require.False(t, answer.Get("0.assignmentRaw").Exists())
	shown := callf(t, d.inOutlet(), "getGroupByGroupExternalId", `{"groupExternalId": %q}`, group)
	require.False(t, shown.Get("active").Bool())
}

func callToEndOnTwoChannels(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Bravo)
	d.refusef(t, d.inOutlet(), boterr.InvalidArgument, "channelId", "endBravoLiveChat",
		`{"adminExternalId": %q, "bravoGroupId": %q, "channel": {"_id": "desk"}, "channelId": "web"}`, d.grace.ExternalID(), d.Groups("desk")[0].ExternalID)
}

func callToEndNoGroupOnBravo(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Bravo)
	d.refusef(t, d.inOutlet(), boterr.NotFound, "bravoGroupId", "endBravoLiveChat", `{"adminExternalId": %q, "bravoGroupId": "none"}`, d.grace.ExternalID())
	d.refusef(t, d.inOutlet(), boterr.NotFound, "channelId", "endBravoLiveChat", `{"adminExternalId": "a", "bravoGroupId": "b", "channelId": "none"}`)
	d.refusef(t, d.inOutlet(), boterr.NotFound, "channel", "endBravoLiveChat", `{"adminExternalId": "a", "bravoGroupId": "b", "channel": {"_id": "none"}}`)
}
