package botctx_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/record"
)

// reassignCases are those of handing a live chat on.
func reassignCases() map[string]chatCase {
	return map[string]chatCase{
		"reassignAssignment": {
			scenes: map[string]scene{
				"only event, channel and label are needed": callReassigning,
				"all that can be said is said":             callReassigningWithAll,
				"the context's own channel is the default": callReassigningInTheContext,
			},
			defaults: map[string]scene{
				"liveChat":   callReassigningWithoutLiveChat,
				"inletGroup": callReassigningWithoutInletGroup,
			},
			refusals: []refusal{
				{boterr.InvalidArgument, "is not the assignment", callReassigningAnother},
				{boterr.NotFound, "No assignment belongs", callReassigningNothing},
				{boterr.FailedPrecondition, "has ended, or nothing can take", callReassigningTooLate},
				{boterr.Unsupported, "not of type bravo, charlie or delta", callReassigningElsewhere},
				{boterr.Unavailable, "did not answer", callReassigningThatNobodyAnswers},
			},
		},
		"getAssignmentsByParentAssignmentId": {
			scenes: map[string]scene{"those that it was handed on to": callByParent},
		},
	}
}

func callReassigning(t *testing.T) {
	t.Helper()
	for _, platform := range []channel.Type{channel.Bravo, channel.Charlie, channel.Delta} {
		d := talking(t, platform)
		hedy := d.AddAgent("desk", "Hedy", "sales")
		previous := d.assignment(t)
		answer := callf(t, d.inOutlet(), "reassignAssignment",
			`{"channel": {"_id": "desk"}, "messageEvent": %s, "label": "sales"}`, d.event(t))
		next := answer.Get("assignmentId").String()
		require.NotEqual(t, previous, next)
		require.True(t, answer.Get("member.botMeta.liveChat").Bool())
		require.Equal(t, next, hedy.Ticket().Assignment)
		shown := callf(t, d.inOutlet(), "getAssignment", `{"assignmentId": %q}`, next)
		require.Equal(t, previous, shown.Get("parentAssignment").String())
		require.Equal(t, next, callf(t, d.inOutlet(), "getAssignmentByOutlet", `{"channelId": "desk"}`).Get("_id").String())

		d.grace.Says("Still there?")
		require.Empty(t, d.ada.Messages(), "the previous one has ended")
		hedy.Takes(hedy.Ticket())
		hedy.Says("I am Hedy.")
		require.Equal(t, "I am Hedy.", d.ada.Last())
	}
}

func callReassigningWithAll(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	d.AddChannel(channel.Channel{ID: "team", Type: channel.Charlie})
	ida := d.AddAgent("team", "Ida", "crew")
	callf(t, d.ada.Context(), "createAssignment", `{"meta": {"order": {"id": 7, "paid": false}, "tier": 1}}`)
	d.grace.Takes(d.grace.Ticket())
	previous := d.assignment(t)
	answer := callf(t, d.ada.Context(), "reassignAssignment", `{
		"channel": {"_id": "desk"}, "groupName": "Second try", "label": "not looked at", "liveChat": true, "inletGroup": false,
		"meta": {"order.paid": true, "reason": "money"}, "messageEvent": %s, "previousAssignment": {"_id": %q},
		"relayMessage": "Who knows about money?", "summary": "She paid twice.", "takenMessage": "[adminName] has it",
		"targets": [{"channel": "team", "broadcastGroups": [{"type": "private_channel", "id": "crew"}, {"type": "user", "id": "boss"}]}]}`,
		d.event(t), previous)
	next := answer.Get("assignmentId").String()
	shown := callf(t, d.ada.Context(), "getAssignment", `{"assignmentId": %q}`, next)
	require.JSONEq(t, `{"order": {"id": 7, "paid": true}, "tier": 1, "reason": "money"}`, shown.Get("meta").Raw)
	require.Equal(t, "Who knows about money?", ida.Ticket().Text())
	ida.Takes(ida.Ticket())
	require.Equal(t, "Ida has it", ida.Tickets()[0].Text())
	require.Equal(t, "Second try", d.Groups("team")[0].Name)
	require.Equal(t, "She paid twice.", ida.Last())
}

func callReassigningInTheContext(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Delta)
	hedy := d.AddAgent("desk", "Hedy", "sales")
	answer := callf(t, d.inOutlet(), "reassignAssignment", `{"previousAssignment": {"_id": %q}, "label": "sales"}`, d.assignment(t))
	require.Equal(t, answer.Get("assignmentId").String(), hedy.Ticket().Assignment)
}

func callReassigningWithoutLiveChat(t *testing.T) {
	t.Helper()
	for args, isOn := range map[string]bool{``: true, `, "liveChat": true`: true, `, "liveChat": false`: false} {
		d := talking(t, channel.Delta)
		answer := callf(t, d.inOutlet(), "reassignAssignment", `{"messageEvent": %s, "label": "sales" %s}`, d.event(t), args)
		require.Equal(t, isOn, answer.Get("member.botMeta.liveChat").Bool(), args)
		require.Equal(t, isOn, d.ada.Member().BotMeta.LiveChat(), args)
	}
}

func callReassigningWithoutInletGroup(t *testing.T) {
	t.Helper()
	for args, externalID := range map[string]string{``: "", `, "inletGroup": false`: "", `, "inletGroup": true`: "family"} {
		d := talkingInGroup(t, channel.Webchat)
		next := callf(t, d.inOutlet(), "reassignAssignment", `{"messageEvent": %s, "label": "sales" %s}`, d.event(t), args)
		shown := callf(t, d.inOutlet(), "getAssignment", `{"assignmentId": %q}`, next.Get("assignmentId").String())
		require.Equal(t, externalID, shown.Get("inletGroupInfo.externalId").String(), args)
	}
	d := talking(t, channel.Delta)
	d.refusef(t, d.inOutlet(), boterr.FailedPrecondition, "inletGroup", "reassignAssignment",
		`{"messageEvent": %s, "label": "sales", "inletGroup": true}`, d.event(t))
}

func callReassigningAnother(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Delta)
	d.refusef(t, d.inOutlet(), boterr.InvalidArgument, "previousAssignment", "reassignAssignment",
		`{"messageEvent": %s, "label": "sales", "previousAssignment": {"_id": "another"}}`, d.event(t))
}

func callReassigningNothing(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Delta)
	d.refusef(t, d.inOutlet(), boterr.NotFound, "messageEvent", "reassignAssignment", `{"messageEvent": {"from": "nobody", "to": "nowhere"}, "label": "sales"}`)
	d.refusef(t, d.inOutlet(), boterr.NotFound, "previousAssignment", "reassignAssignment", `{"previousAssignment": {"_id": "none"}, "label": "sales"}`)
	d.refusef(t, d.inOutlet(), boterr.NotFound, "channel", "reassignAssignment",
		`{"channel": {"_id": "none"}, "previousAssignment": {"_id": %q}, "label": "sales"}`, d.assignment(t))
}

func callReassigningTooLate(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Delta)
	says := d.refusef(t, d.inOutlet(), boterr.FailedPrecondition, "label", "reassignAssignment", `{"messageEvent": %s, "label": "night"}`, d.event(t))
	require.Contains(t, says, "night")
	d.SwitchChannel("desk", false)
	d.refusef(t, d.inOutlet(), boterr.FailedPrecondition, "", "reassignAssignment", `{"messageEvent": %s, "label": "sales"}`, d.event(t))
	d.SwitchChannel("desk", true)
	callf(t, d.ada.Context(), "inletEndLiveChat", `{}`)
	d.refusef(t, d.inOutlet(), boterr.FailedPrecondition, "previousAssignment", "reassignAssignment", `{"messageEvent": %s, "label": "sales"}`, d.event(t))
}

func callReassigningElsewhere(t *testing.T) {
	t.Helper()
	for _, platform := range []channel.Type{channel.Alpha, channel.Echo, channel.Foxtrot, channel.Hotel, channel.Custom, channel.Webchat} {
		d := talking(t, platform)
		says := d.refusef(t, d.inOutlet(), boterr.Unsupported, "channel", "reassignAssignment", `{"messageEvent": %s, "label": "sales"}`, d.event(t))
		require.Contains(t, says, "bravo, charlie, delta")
		require.Contains(t, says, string(platform))
	}
}

func callReassigningThatNobodyAnswers(t *testing.T) {
	t.Helper()
	h := newHost(t, channel.Webchat, channel.Charlie)
	previous := h.connect(t)
	args := `{"messageEvent": %s, "label": "sales"}`
	h.platform.fails = boterr.Unavailable
	says := refusef(t, h.desk, boterr.Unavailable, "", "reassignAssignment", args, graceSays)
	require.Contains(t, says, "sales")
	require.Equal(t, previous, callf(t, h.desk, "getAssignmentByOutlet", `{"channelId": "desk"}`).Get("_id").String(), "the previous one goes on")
	h.platform.fails = ""
	next := callf(t, h.desk, "reassignAssignment", args, graceSays)
	require.Equal(t, "sales", h.platform.sent[len(h.platform.sent)-1].To)
	require.Equal(t, next.Get("assignmentId").String(), callf(t, h.desk, "getAssignmentByOutlet", `{"channelId": "desk"}`).Get("_id").String())
}

func callByParent(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Delta)
	first := d.assignment(t)
	none := callf(t, d.inOutlet(), "getAssignmentsByParentAssignmentId", `{"assignmentId": %q}`, first)
	require.Equal(t, `[]`, none.Raw)
	second := callf(t, d.inOutlet(), "reassignAssignment", `{"messageEvent": %s, "label": "default"}`, d.event(t)).Get("assignmentId").String()
	d.grace.Takes(d.grace.Ticket())
	callf(t, d.inOutlet(), "reassignAssignment", `{"previousAssignment": {"_id": %q}, "label": "sales"}`, second)
	all := callf(t, d.inOutlet(), "getAssignmentsByParentAssignmentId", `{"assignmentId": %q}`, first)
	require.Len(t, all.Array(), 1)
	require.Equal(t, second, all.Get("0._id").String())
	other := d.Operations(record.Scope{App: "elsewhere"})
	require.Equal(t, `[]`, callf(t, other, "getAssignmentsByParentAssignmentId", `{"assignmentId": %q}`, first).Raw)
}
