package botctx_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound/replies"
	"github.com/botctx/go-sdk/send"
)

// requestCases are those of the operations that ask for a person.
func requestCases() map[string]chatCase {
	return map[string]chatCase{
		"createAssignment": {
			scenes: map[string]scene{
				"a ticket goes to the broadcast groups with the label":      callForATicket,
				"what a target has beside stays":                            callWithTargetsWithMore,
				"targets override pairing and label":                        callWithTargets,
				"a Foxtrot channel takes it alone":                          callToFoxtrot,
				"a custom channel is asked for a group":                     callForAGroup,
				"a custom channel's API is asked without createGroup, too":  callWithoutAGroup,
				"a custom channel without an API gets a message":            callToCustom,
				"a request that is open comes back, and sends nothing":      callTwice,
				"a member that is given need not be the context's own":      callForAnother,
				"each ticketing platform gets the relay message of its own": callWithRelayMessages,
			},
			defaults: map[string]scene{
				"label":             callWithoutLabel,
				"history":           callWithoutHistory,
				"setLiveChatAgenda": callWithoutAgenda,
			},
			refusals: []refusal{
				{boterr.InvalidArgument, "no target", callWithWrongTargets},
				{boterr.NotFound, "does not exist", callForNobody},
				{boterr.FailedPrecondition, "Nothing can take the request", callThatNothingCanTake},
				{boterr.FailedPrecondition, "no id on the platform", callForUnreachable},
				{boterr.Unsupported, "no connector", callWithoutConnector},
				{boterr.Unavailable, "did not answer", callThatNobodyAnswers},
			},
		},
		"addNewTargetsToAssignment": {
			scenes: map[string]scene{
				"further channels and broadcast groups get the ticket": callAddingTargets,
				"what a target has beside stays":                       callAddingTargetsWithMore,
			},
			defaults: map[string]scene{"liveChat": callAddingTargetsWithoutLiveChat},
			refusals: []refusal{
				{boterr.InvalidArgument, "neither a target nor", callAddingNoTarget},
				{boterr.NotFound, "no assignment", callAddingToNothing},
				{boterr.FailedPrecondition, "has been taken or has ended", callAddingTooLate},
				{boterr.Unavailable, "did not answer", callAddingThatNobodyAnswers},
			},
		},
		"removePendingAssignmentByMemberId": {
			scenes: map[string]scene{
				"the request goes, and its tickets with it": callRemoving,
				"what an agent has taken stays":             callRemovingTooLate,
			},
		},
	}
}

func callForATicket(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	hedy := d.AddAgent("desk", "Hedy", "sales")
	answer := callf(t, d.ada.Context(), "createAssignment", `{
		"member": {"_id": %q, "firstName": "not looked at"},
		"assignmentDetails": {"summary": "The kettle leaks.", "groupName": "Ada's kettle", "relayMessage": {
			"charlie": {"type": "BUTTON", "text": "{{firstName}} needs help", "buttons": [{"type": "postback", "title": "Mine", "payload": {"payload": "livechat:take"}}]},
			"delta": {"type": "TEXT", "text": "of another platform"}}},
		"label": "sales", "history": true, "meta": {"order": {"id": 7}}, "setLiveChatAgenda": true}`, d.ada.ID())

	id := answer.Get("assignmentId").String()
	require.True(t, answer.Get("member.botMeta.liveChat").Bool())
	require.Equal(t, d.ada.ID(), answer.Get("member._id").String())
	require.True(t, d.ada.Member().BotMeta.LiveChat())
	require.Empty(t, d.grace.Tickets())
	require.Equal(t, "Ada needs help\nhttps://history.example/"+id, hedy.Ticket().Text())
	require.Len(t, d.ada.Agendas(), 1)

	shown := callf(t, d.inOutlet(), "getAssignment", `{"assignmentId": %q}`, id)
	require.Equal(t, d.ada.ID(), shown.Get("member").String())
	require.Equal(t, "web", shown.Get("inlet").String())
	require.Equal(t, int64(7), shown.Get("meta.order.id").Int())
	require.True(t, shown.Get("history").Bool())
	require.JSONEq(t, `[{"channel": "desk", "label": "sales", "broadcastGroups": [{"type": "public_channel", "id": "sales"}]}]`, shown.Get("targets").Raw)
	require.Equal(t, "Ada needs help", shown.Get("relayMessage.charlie.text").String())
	require.Equal(t, d.Now().Add(30*60e9).UnixMilli(), shown.Get("expiry").Int())

	hedy.Takes(hedy.Ticket())
	require.Equal(t, "Ada's kettle", d.Groups("desk")[0].Name)
	require.Equal(t, "The kettle leaks.", hedy.Last())
}

func callWithTargets(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	d.AddChannel(channel.Channel{ID: "team", Type: channel.Delta, BroadcastGroups: []channel.BroadcastGroup{
		{Label: "night", Groups: []channel.BroadcastGroupMember{{ID: "owls", Type: "user"}}},
	}})
	ida, owl := d.AddAgent("team", "Ida", "crew"), d.AddAgent("team", "Jane", "owls")
	answer := callf(t, d.ada.Context(), "createAssignment", `{"label": "sales", "targets": [
		{"channel": "team", "broadcastGroups": [{"type": "group", "id": "crew"}]}, {"channel": "team", "label": "night"}]}`)
	require.Empty(t, d.grace.Tickets())
	require.Equal(t, answer.Get("assignmentId").String(), ida.Ticket().Assignment)
	require.Equal(t, answer.Get("assignmentId").String(), owl.Ticket().Assignment)
	shown := callf(t, d.ada.Context(), "getAssignment", `{"assignmentId": %q}`, answer.Get("assignmentId").String())
	require.Equal(t, "team", shown.Get("targets.0.channel").String())
	require.Equal(t, "crew", shown.Get("targets.0.broadcastGroups.0.id").String())
	require.Equal(t, "owls", shown.Get("targets.1.broadcastGroups.0.id").String())
}

func callWithTargetsWithMore(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	targets := `[{"channel": "desk", "label": "default", "shift": 2, "broadcastGroups": [{"type": "user", "id": "boss", "rank": 1}]}]`
	id := callf(t, d.ada.Context(), "createAssignment", `{"targets": %s}`, targets).Get("assignmentId").String()
	require.JSONEq(t, targets, d.targets(t, id))
}

func callToFoxtrot(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Foxtrot)
	d.AddChannel(channel.Channel{ID: "team", Type: channel.Delta, BroadcastGroups: []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "crew", Type: "user"}}},
	}})
	ida := d.AddAgent("team", "Ida")
	d.Pair("web", "team", "desk")
	answer := callf(t, d.ada.Context(), "createAssignment", `{"assignmentDetails": {"relayMessage": {"foxtrot": {"type": "TEXT", "text": "It leaks."}}}}`)
	require.Empty(t, ida.Tickets(), "all other targets are ignored")
	require.Equal(t, "It leaks.", d.grace.Ticket().Text())
	shown := callf(t, d.ada.Context(), "getAssignment", `{"assignmentId": %q}`, answer.Get("assignmentId").String())
	require.True(t, shown.Get("isZendesk").Bool())
	require.Len(t, shown.Get("targets").Array(), 1)
}

// newAPI returns a desk whose outlet is a custom channel with a live-chat API.
func newAPI(t *testing.T) *desk {
	t.Helper()
	return newDesk(t, channel.Channel{Type: channel.Custom, Metadata: objectOf(t, `{"liveChatApi": "https://desk.example/chats"}`)}, []*botctx.Node{{ID: "none"}})
}

func callForAGroup(t *testing.T) {
	t.Helper()
	d := newAPI(t)
	d.HTTP.Add("POST", "https://desk.example/chats", replies.JSON(201, `{"groupId": "room-9"}`))
	answer := callf(t, d.ada.Context(), "createAssignment", `{"assignmentDetails": {"queue": "vip", "summary": "It leaks."},
		"meta": {"order": 7}, "history": true, "createGroup": {"externalId": "wish-1"}}`)
	request := d.HTTP.Requests()[0]
	require.Equal(t, "POST", request.Method)
	told := objectOf(t, request.Body)
	require.JSONEq(t, `{"queue": "vip", "summary": "It leaks."}`, field(told, "assignmentDetails"))
	require.JSONEq(t, `{"order": 7}`, field(told, "meta"))
	require.Equal(t, `"wish-1"`, field(told, "externalId"))
	require.Equal(t, `"https://history.example/`+answer.Get("assignmentId").String()+`"`, field(told, "history"))

	group := callf(t, d.inOutlet(), "getGroup", `{"groupId": %q}`, answer.Get("groupId").String())
	require.Equal(t, "room-9", group.Get("externalId").String())
	require.Equal(t, d.ada.ID(), group.Get("member").String())
	require.Equal(t, "desk", group.Get("outlet").String())
	require.True(t, d.ada.Member().BotMeta.LiveChat())
	d.ada.Says("Hello?")
	require.Equal(t, "room-9", d.Sent()[0].To, "what Ada writes goes into the group")
}

func callWithoutAGroup(t *testing.T) {
	t.Helper()
	d := newAPI(t)
	d.HTTP.Add("POST", "https://desk.example/chats", replies.JSON(201, `{}`))
	answer := callf(t, d.ada.Context(), "createAssignment", `{"assignmentDetails": {"summary": {"a": 1}, "relayMessage": {"custom": ["x"]}}}`)
	require.False(t, answer.Get("groupId").Exists())
	require.JSONEq(t, `{"summary": {"a": 1}, "relayMessage": {"custom": ["x"]}}`,
		field(objectOf(t, d.HTTP.Requests()[0].Body), "assignmentDetails"))
	require.Empty(t, d.Sent())
}

func callToCustom(t *testing.T) {
	t.Helper()
	d := newDesk(t, channel.Channel{Type: channel.Custom}, []*botctx.Node{{ID: "none"}})
	answer := callf(t, d.ada.Context(), "createAssignment", `{"assignmentDetails": {"relayMessage": {"custom": {"type": "TEXT", "text": "It leaks."}}}}`)
	require.False(t, answer.Get("groupId").Exists())
	require.Empty(t, d.HTTP.Requests())
	require.Equal(t, "It leaks.", d.Sent()[0].Response.Text())
	require.Equal(t, "desk", d.Sent()[0].Channel)
}

func callTwice(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Delta)
	first := callf(t, d.ada.Context(), "createAssignment", `{"meta": {"n": 1}}`)
	again := callf(t, d.ada.Context(), "createAssignment", `{"meta": {"n": 2}}`)
	require.Equal(t, first.Get("assignmentId").String(), again.Get("assignmentId").String())
	require.Len(t, d.grace.Tickets(), 1)
	d.grace.Takes(d.grace.Ticket())
	taken := callf(t, d.ada.Context(), "createAssignment", `{}`)
	require.Equal(t, first.Get("assignmentId").String(), taken.Get("assignmentId").String())
}

func callForAnother(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Delta)
	bob := d.AddMember(member.Member{Channel: "web", FirstName: "Bob"})
	answer := callf(t, d.ada.Context(), "createAssignment", `{"member": {"_id": %q}}`, bob.ID())
	require.Equal(t, "Bob", answer.Get("member.firstName").String())
	require.True(t, bob.Member().BotMeta.LiveChat())
	require.False(t, d.ada.Member().BotMeta.LiveChat())
}

func callWithRelayMessages(t *testing.T) {
	t.Helper()
	for _, platform := range []channel.Type{channel.Alpha, channel.Bravo, channel.Charlie, channel.Delta, channel.Echo, channel.Hotel, channel.Webchat} {
		d := quiet(t, platform)
		callf(t, d.ada.Context(), "createAssignment", `{"assignmentDetails": {"relayMessage": {%q: {"type": "TEXT", "text": "on {{channel}}"}, "foxtrot": {"type": "TEXT", "text": "no"}}}}`, platform)
		require.Equal(t, "on web", d.grace.Ticket().Text(), platform)
	}
}

func callWithoutLabel(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	hedy := d.AddAgent("desk", "Hedy", "sales")
	answer := callf(t, d.ada.Context(), "createAssignment", `{}`)
	require.Empty(t, hedy.Tickets())
	require.Equal(t, answer.Get("assignmentId").String(), d.grace.Ticket().Assignment)
	shown := callf(t, d.ada.Context(), "getAssignment", `{"assignmentId": %q}`, answer.Get("assignmentId").String())
	require.Equal(t, "default", shown.Get("targets.0.label").String())
}

func callWithoutHistory(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	answer := callf(t, d.ada.Context(), "createAssignment", `{}`)
	require.NotContains(t, d.grace.Ticket().Text(), "https://")
	shown := callf(t, d.ada.Context(), "getAssignment", `{"assignmentId": %q}`, answer.Get("assignmentId").String())
	require.False(t, shown.Get("history").Bool())
}

func callWithoutAgenda(t *testing.T) {
	t.Helper()
	for args, agendas := range map[string]int{`{}`: 1, `{"setLiveChatAgenda": true}`: 1, `{"setLiveChatAgenda": false}`: 0} {
		d := quiet(t, channel.Charlie)
		callf(t, d.ada.Context(), "createAssignment", args)
		require.Len(t, d.ada.Agendas(), agendas, args)
	}
}

func callWithWrongTargets(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	bot := d.ada.Context()
	for args, at := range map[string]string{
		`[{}]`: "targets[0].channel",
		`[{"channel": "desk"}, {"label": "sales"}]`:                               "targets[1].channel",
		`[{"channel": "web"}]`:                                                    "targets[0].channel",
		`[{"channel": "desk", "broadcastGroups": [{"id": "a"}]}]`:                 "targets[0].broadcastGroups[0].type",
		`[{"channel": "desk", "broadcastGroups": [{"type": "user"}]}]`:            "targets[0].broadcastGroups[0].id",
		`[{"channel": "desk", "broadcastGroups": [{"id": "a", "type": "team"}]}]`: "targets[0].broadcastGroups[0].type",
	} {
		d.refusef(t, bot, boterr.InvalidArgument, at, "createAssignment", `{"targets": %s}`, args)
	}
}

func callForNobody(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	d.refusef(t, d.ada.Context(), boterr.NotFound, "member._id", "createAssignment", `{"member": {"_id": "nobody"}}`)
	d.refusef(t, d.ada.Context(), boterr.NotFound, "targets[0].channel", "createAssignment", `{"targets": [{"channel": "nowhere"}]}`)
}

func callThatNothingCanTake(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	says := d.refusef(t, d.ada.Context(), boterr.FailedPrecondition, "label", "createAssignment", `{"label": "night"}`)
	require.Contains(t, says, `"night"`)
	d.SwitchChannel("desk", false)
	says = d.refusef(t, d.ada.Context(), boterr.FailedPrecondition, "", "createAssignment", `{}`)
	require.Contains(t, says, "desk")
	says = d.refusef(t, d.ada.Context(), boterr.FailedPrecondition, "targets[0].channel", "createAssignment", `{"targets": [{"channel": "desk"}]}`)
	require.Contains(t, says, "desk is off")
	d.Pair("web")
	says = d.refusef(t, d.ada.Context(), boterr.FailedPrecondition, "", "createAssignment", `{}`)
	require.Contains(t, says, "no channel is paired")
	d.SwitchChannel("web", false)
	says = d.refusef(t, d.ada.Context(), boterr.FailedPrecondition, "member", "createAssignment", `{}`)
	require.Contains(t, says, "web is off")
}

func callForUnreachable(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	callf(t, d.ada.Context(), "patchMembers", `{"channel": {"_id": "web"}, "memberId": %q, "patch": {"$unset": {"externalId": ""}}, "withModifier": true}`, d.ada.ID())
	d.refusef(t, d.ada.Context(), boterr.FailedPrecondition, "member", "createAssignment", `{}`)
}

func callWithoutConnector(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	d.AddChannel(channel.Channel{ID: "loft", Type: "pigeon", BroadcastGroups: []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "coop"}}},
	}})
	d.Pair("web", "desk", "loft")
	says := d.refusef(t, d.ada.Context(), boterr.Unsupported, "", "createAssignment", `{}`)
	require.Contains(t, says, "pigeon")
	require.Contains(t, says, "loft")
}

func callThatNobodyAnswers(t *testing.T) {
	t.Helper()
	h := newHost(t, channel.Webchat, channel.Charlie)
	h.platform.fails = boterr.Unavailable
	says := refusef(t, h.ada, boterr.Unavailable, "", "createAssignment", `{}`)
	require.Contains(t, says, "support")
	require.False(t, callf(t, h.ada, "getMember", `{"memberId": "ada"}`).Get("botMeta.liveChat").Bool())
	unsent := callf(t, h.ada, "getAssignmentsByMemberId", `{"memberId": "ada"}`)
	h.platform.fails = ""
	answer := callf(t, h.ada, "createAssignment", `{}`)
	require.Equal(t, unsent.Get("0._id").String(), answer.Get("assignmentId").String())
	require.Len(t, h.platform.sent, 1)

	d := newAPI(t)
	d.HTTP.Add("POST", "https://desk.example/chats", replies.JSON(503, `{}`), replies.JSON(200, `{"id": "room"}`))
	refusef(t, d.ada.Context(), boterr.Unavailable, "", "createAssignment", `{"createGroup": {}}`)
	require.False(t, d.ada.Member().BotMeta.LiveChat())
	callf(t, d.ada.Context(), "createAssignment", `{"createGroup": {}}`)
	require.True(t, d.ada.Member().BotMeta.LiveChat())
}

func callAddingTargets(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	d.AddChannel(channel.Channel{ID: "team", Type: channel.Delta, BroadcastGroups: []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "crew", Type: "user"}}},
	}})
	hedy, ida := d.AddAgent("desk", "Hedy", "sales"), d.AddAgent("team", "Ida")
	d.ask(t)
	id := d.assignment(t)
	answer := callf(t, d.ada.Context(), "addNewTargetsToAssignment", `{"assignmentId": %q, "liveChat": true,
		"targets": [{"id": "sales", "type": "public_channel"}, {"channel": "team"}, {"id": "support", "type": "public_channel"}]}`, id)
	require.Equal(t, id, answer.Get("assignmentId").String())
	require.Equal(t, d.ada.ID(), answer.Get("member._id").String())
	require.Equal(t, id, hedy.Ticket().Assignment)
	require.Equal(t, id, ida.Ticket().Assignment)
	require.Len(t, d.grace.Tickets(), 1, "who has it gets no second one")
	shown := callf(t, d.ada.Context(), "getAssignment", `{"assignmentId": %q}`, id)
	require.Contains(t, shown.Get("targets").Raw, `"crew"`)
	require.Contains(t, shown.Get("targets").Raw, `"sales"`)
	ida.Takes(ida.Ticket())
	require.Equal(t, "team", callf(t, d.ada.Context(), "getGroupByMemberId", `{"inlet": "web", "memberId": %q}`, d.ada.ID()).Get("outlet").String())
}

func callAddingTargetsWithMore(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	d.ask(t)
	callf(t, d.ada.Context(), "addNewTargetsToAssignment", `{"assignmentId": %q, "targets": [
		{"channel": "desk", "label": "sales", "shift": 2}, {"id": "boss", "type": "user", "rank": 1}]}`, d.assignment(t))
	require.JSONEq(t, `[
		{"channel": "desk", "label": "default", "broadcastGroups": [{"type": "public_channel", "id": "support"}]},
		{"channel": "desk", "label": "sales", "broadcastGroups": [{"type": "public_channel", "id": "sales"}], "shift": 2},
		{"channel": "desk", "label": "default", "broadcastGroups": [{"type": "user", "id": "boss", "rank": 1}]}]`, d.targets(t, d.assignment(t)))
}

// targets returns the targets of an assignment in JSON, with all that they have.
func (d *desk) targets(t *testing.T, assignmentID string) string {
	t.Helper()
	shown, err := d.ada.Context().GetAssignment(t.Context(), livechat.GetAssignmentParams{AssignmentID: assignmentID})
	require.NoError(t, err)
	text, err := json.Marshal(shown.Targets)
	require.NoError(t, err)
	return string(text)
}

func callAddingTargetsWithoutLiveChat(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	d.ask(t)
	target := `{"assignmentId": %q, "targets": [{"id": "sales", "type": "public_channel"}] %s}`
	answer := callf(t, d.ada.Context(), "addNewTargetsToAssignment", target, d.assignment(t), `, "liveChat": false`)
	require.False(t, answer.Get("member.botMeta.liveChat").Bool())
	require.False(t, d.ada.Member().BotMeta.LiveChat())
	answer = callf(t, d.ada.Context(), "addNewTargetsToAssignment", target, d.assignment(t), ``)
	require.True(t, answer.Get("member.botMeta.liveChat").Bool())
	require.True(t, d.ada.Member().BotMeta.LiveChat())
}

func callAddingNoTarget(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	d.ask(t)
	for _, target := range []string{`{}`, `{"label": "sales"}`, `{"id": "a"}`, `{"id": "a", "type": "team"}`} {
		d.refusef(t, d.ada.Context(), boterr.InvalidArgument, "targets[0]", "addNewTargetsToAssignment",
			`{"assignmentId": %q, "targets": [%s]}`, d.assignment(t), target)
	}
	d.refusef(t, d.ada.Context(), boterr.InvalidArgument, "targets", "addNewTargetsToAssignment", `{"assignmentId": %q, "targets": []}`, d.assignment(t))
}

func callAddingToNothing(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	d.ask(t)
	d.refusef(t, d.ada.Context(), boterr.NotFound, "assignmentId", "addNewTargetsToAssignment", `{"assignmentId": "none", "targets": [{"channel": "desk"}]}`)
	d.refusef(t, d.ada.Context(), boterr.NotFound, "targets[0].channel", "addNewTargetsToAssignment",
		`{"assignmentId": %q, "targets": [{"channel": "nowhere"}]}`, d.assignment(t))
}

func callAddingTooLate(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	args := `{"assignmentId": %q, "targets": [{"id": "sales", "type": "public_channel"}]}`
	d.refusef(t, d.ada.Context(), boterr.FailedPrecondition, "assignmentId", "addNewTargetsToAssignment", args, d.assignment(t))
	callf(t, d.ada.Context(), "inletEndLiveChat", `{}`)
	d.refusef(t, d.ada.Context(), boterr.FailedPrecondition, "assignmentId", "addNewTargetsToAssignment", args, d.assignment(t))
}

func callAddingThatNobodyAnswers(t *testing.T) {
	t.Helper()
	h := newHost(t, channel.Webchat, channel.Charlie)
	id := callf(t, h.ada, "createAssignment", `{}`).Get("assignmentId").String()
	args := `{"assignmentId": %q, "targets": [{"id": "sales", "type": "user"}]}`
	h.platform.fails = boterr.Unavailable
	says := refusef(t, h.ada, boterr.Unavailable, "", "addNewTargetsToAssignment", args, id)
	require.Contains(t, says, "sales")
	h.platform.fails = ""
	callf(t, h.ada, "addNewTargetsToAssignment", args, id)
	require.Len(t, h.platform.sent, 2)
	require.Equal(t, "sales", h.platform.sent[1].To)
}

func callRemoving(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Charlie)
	d.ask(t)
	id := d.assignment(t)
	first := callf(t, d.ada.Context(), "removePendingAssignmentByMemberId", `{"memberId": %q}`, d.ada.ID())
	require.True(t, d.grace.Tickets()[0].IsRecalled)
	require.False(t, d.ada.Member().BotMeta.LiveChat())
	require.Empty(t, d.ada.Agendas())
	refusef(t, d.ada.Context(), boterr.NotFound, "assignmentId", "getAssignment", `{"assignmentId": %q}`, id)
	again := callf(t, d.ada.Context(), "removePendingAssignmentByMemberId", `{"memberId": %q}`, d.ada.ID())
	require.NotEqual(t, first.Get("clientMutationId").String(), again.Get("clientMutationId").String())
}

func callRemovingTooLate(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	callf(t, d.ada.Context(), "removePendingAssignmentByMemberId", `{"memberId": %q}`, d.ada.ID())
	require.True(t, d.ada.Member().BotMeta.LiveChat())
	d.ada.Sends(send.MessageEvent{Type: send.TypeText, Data: objectOf(t, `{"text": "Still there?"}`)})
	require.Equal(t, "Still there?", d.grace.Last())
}
