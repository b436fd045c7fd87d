package botctx_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound/replies"
)

// sendCases are those of the sends from one side of a live chat to the other.
func sendCases() map[string]chatCase {
	return map[string]chatCase{
		"sendMessageToInlet": {
			scenes: map[string]scene{"the member gets it, on each platform": callToInlet},
			refusals: []refusal{
				{boterr.InvalidArgument, "breaks a limit", callToInletWrongly},
				{boterr.NotFound, "no assignment belongs", callToInletInVain},
				{boterr.FailedPrecondition, "no id on the platform", callToInletWithoutID},
				{boterr.Unsupported, "no connector", callToInletWithoutConnector},
				{boterr.ResourceExhausted, "rate limit", callOnBrokenPlatform("sendMessageToInlet", boterr.ResourceExhausted)},
				{boterr.Unavailable, "did not answer", callOnBrokenPlatform("sendMessageToInlet", boterr.Unavailable)},
			},
		},
		"sendMessageToInletGroup": {
			scenes: map[string]scene{"the group of the inlet gets it": callToInletGroup},
			refusals: []refusal{
				{boterr.InvalidArgument, "name different groups", callToTwoGroups("sendMessageToInletGroup")},
				{boterr.InvalidArgument, "breaks a limit", callToGroupWrongly("sendMessageToInletGroup")},
				{boterr.NotFound, "no group with that id", callToGroupInVain("sendMessageToInletGroup")},
				{boterr.FailedPrecondition, "not live any more", callToGroupThatIsOver("sendMessageToInletGroup")},
				{boterr.Unsupported, "not of type delta or bravo", callToInletGroupElsewhere},
				{boterr.ResourceExhausted, "rate limit", callOnBrokenPlatform("sendMessageToInletGroup", boterr.ResourceExhausted)},
				{boterr.Unavailable, "did not answer", callOnBrokenPlatform("sendMessageToInletGroup", boterr.Unavailable)},
			},
		},
		"sendMessageToOutletGroup": {
			scenes: map[string]scene{
				"the agent's group gets it, on each platform": callToOutletGroup,
				"Charlie gets it where it happened":           callToResponseURL,
			},
			refusals: []refusal{
				{boterr.InvalidArgument, "name different groups", callToTwoGroups("sendMessageToOutletGroup")},
				{boterr.InvalidArgument, "breaks a limit", callToGroupWrongly("sendMessageToOutletGroup")},
				{boterr.InvalidArgument, "no HTTP address", callToNoResponseURL},
				{boterr.NotFound, "no group with that id", callToGroupInVain("sendMessageToOutletGroup")},
				{boterr.FailedPrecondition, "not live any more", callToGroupThatIsOver("sendMessageToOutletGroup")},
				{boterr.Unsupported, "not of type delta, bravo or charlie", callToOutletGroupElsewhere},
				{boterr.ResourceExhausted, "rate limit", callOnBrokenPlatform("sendMessageToOutletGroup", boterr.ResourceExhausted)},
				{boterr.Unavailable, "did not answer", callOnBrokenPlatform("sendMessageToOutletGroup", boterr.Unavailable)},
			},
		},
		"saveGroupIdToMember": {
			scenes:   map[string]scene{"the member has the group": callToSaveGroup},
			refusals: []refusal{{boterr.NotFound, "no group or member belongs", callToSaveNoGroup}},
		},
	}
}

// talkingFrom returns a desk on whose outlet, which is Charlie, Grace talks with Ada, who is in
// an inlet of a type.
func talkingFrom(t *testing.T, inlet channel.Type) *desk {
	t.Helper()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}})
	d.AddChannel(channel.Channel{ID: "shop", Type: inlet})
	d.Pair("shop", "desk")
	d.ada = d.AddMember(member.Member{Channel: "shop", FirstName: "Ada"})
	d.connect(t)
	return d
}

func callToInlet(t *testing.T) {
	t.Helper()
	for _, inlet := range allTypes() {
		for _, where := range []string{`"channel": {"_id": "desk"},`, ``} {
			d := talkingFrom(t, inlet)
			answer := callf(t, d.inOutlet(), "sendMessageToInlet",
				`{%s "messageEvent": %s, "response": {"type": "TEXT", "text": "Goodbye, {{firstName}}!"}}`, where, d.event(t))
			requireShape(t, "sendMessageToInlet", inlet, []byte(answer.Raw))
			require.Equal(t, "Goodbye, Ada!", d.ada.Last())
			sent := d.Sent()[len(d.Sent())-1]
			require.Equal(t, "shop", sent.Channel)
			switch inlet {
			case channel.Charlie:
				require.Equal(t, "Goodbye, Ada!", answer.Get("message.text").String())
			case channel.Echo:
				require.Contains(t, answer.Get("text").Raw, "Goodbye, Ada!")
			default:
				require.Equal(t, sent.MessageID, answer.Get("messageEvent.messageId").String())
				require.Equal(t, "Goodbye, Ada!", answer.Get("messageEvent.data.text").String())
			}
		}
	}
}

func callToInletWrongly(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	for response, at := range map[string]string{
		`{"type": "TEXT"}`: "response.text",
		`{"text": "x"}`:    "response.type",
		`{"type": "BUTTON", "text": "x", "buttons": [{"type": "postback", "title": "a title of more than twenty characters", "payload": "p"}]}`: "response.buttons[0].title",
	} {
		d.refusef(t, d.inOutlet(), boterr.InvalidArgument, at, "sendMessageToInlet", `{"messageEvent": %s, "response": %s}`, d.event(t), response)
	}
}

func callToInletInVain(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	const hello = `"response": {"type": "TEXT", "text": "Hello"}`
	d.refusef(t, d.inOutlet(), boterr.NotFound, "messageEvent", "sendMessageToInlet", `{"messageEvent": {"from": "nobody", "to": "nowhere"}, `+hello+`}`)
	d.refusef(t, d.inOutlet(), boterr.NotFound, "channel", "sendMessageToInlet", `{"channel": {"_id": "none"}, "messageEvent": %s, `+hello+`}`, d.event(t))
}

func callToInletWithoutID(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	event := d.event(t)
	callf(t, d.inOutlet(), "findAndModifyMember", `{"filter": {"_id": "%s"}, "patch": {"$unset": {"externalId": 1}}}`, d.ada.ID())
	d.refusef(t, d.inOutlet(), boterr.FailedPrecondition, "", "sendMessageToInlet", `{"messageEvent": %s, "response": {"type": "TEXT", "text": "Hello"}}`, event)
}

func callToInletWithoutConnector(t *testing.T) {
	t.Helper()
	d := talkingFrom(t, "pigeon")
	says := d.refusef(t, d.inOutlet(), boterr.Unsupported, "", "sendMessageToInlet", `{"messageEvent": %s, "response": {"type": "TEXT", "text": "Hello"}}`, d.event(t))
	require.Contains(t, says, "pigeon")
}

// talkingInGroup returns a desk on which Ada, on a platform, asked for Grace in the group
// "family".
func talkingInGroup(t *testing.T, inlet channel.Type) *desk {
	t.Helper()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{
		{ID: "agent", Trigger: botctx.TextIs("agent"), Pre: []botctx.Action{callAgent}},
	})
	d.AddChannel(channel.Channel{ID: "shop", Type: inlet})
	d.Pair("shop", "desk")
	d.ada = d.AddMember(member.Member{Channel: "shop", FirstName: "Ada"})
	d.ada.InGroup("family").Says("agent")
	d.grace.Takes(d.grace.Ticket())
	return d
}

// callOnBrokenPlatform is the scene of a send on a platform that fails with a code, and
// that works again later.
func callOnBrokenPlatform(name string, code boterr.Code) scene {
	return func(t *testing.T) {
		t.Helper()
		h := newHost(t, channel.Delta, channel.Charlie)
		group := h.connectInGroup(t, "family")
		args := `{"groupId": "` + group + `", "messageEvent": ` + graceSays + `, "response": {"type": "TEXT", "text": "Hello"}}`
		h.platform.fails = code
		refusef(t, h.desk, code, "", name, args)
		sent := len(h.platform.sent)
		h.platform.fails = ""
		callf(t, h.desk, name, args)
		require.Len(t, h.platform.sent, sent+1)
	}
}

func callToInletGroup(t *testing.T) {
	t.Helper()
	for _, inlet := range []channel.Type{channel.Bravo, channel.Delta} {
		for _, which := range []string{`"group": {"_id": %[1]q}`, `"groupId": %[1]q`, `"group": {"_id": %[1]q}, "groupId": %[1]q`} {
			d := talkingInGroup(t, inlet)
			answer := callf(t, d.inOutlet(), "sendMessageToInletGroup", `{`+which+`, "response": {"type": "TEXT", "text": "Hello, {{firstName}} and all!"}}`, d.group(t))
			sent := d.Sent()[len(d.Sent())-1]
			require.Equal(t, "shop", sent.Channel)
			require.Equal(t, "family", sent.To)
			require.Equal(t, "Hello, Ada and all!", sent.Response.Text())
			require.Equal(t, sent.MessageID, answer.Get("messageEvent.messageId").String())
		}
	}
	d := talkingFrom(t, channel.Delta)
	says := d.refusef(t, d.inOutlet(), boterr.FailedPrecondition, "group", "sendMessageToInletGroup", `{"groupId": %q, "response": {"type": "TEXT", "text": "Hello"}}`, d.group(t))
	require.Contains(t, says, "no group on the inlet's side")
}

func callToInletGroupElsewhere(t *testing.T) {
	t.Helper()
	for _, inlet := range allTypes() {
		if inlet == channel.Bravo || inlet == channel.Delta {
			continue
		}
		d := talkingInGroup(t, inlet)
		says := d.refusef(t, d.inOutlet(), boterr.Unsupported, "group", "sendMessageToInletGroup", `{"groupId": %q, "response": {"type": "TEXT", "text": "Hello"}}`, d.group(t))
		require.Contains(t, says, "bravo, delta")
		require.Contains(t, says, string(inlet))
	}
}

// callToTwoGroups is the scene of a call that names two groups.
func callToTwoGroups(name string) scene {
	return func(t *testing.T) {
		t.Helper()
		d := talkingFrom(t, channel.Delta)
		d.refusef(t, d.inOutlet(), boterr.InvalidArgument, "groupId", name,
			`{"group": {"_id": %q}, "groupId": "another", "response": {"type": "TEXT", "text": "Hello"}}`, d.group(t))
	}
}

// callToGroupWrongly is the scene of a call with a message that breaks a limit.
func callToGroupWrongly(name string) scene {
	return func(t *testing.T) {
		t.Helper()
		d := talkingInGroup(t, channel.Delta)
		for response, at := range map[string]string{
			`{"type": "TEXT"}`: "response.text",
			`{}`:               "response",
			`{"type": "QUICK_REPLIES", "text": "x", "quickReplies": [{"content_type": "text", "title": "a title of more than twenty characters", "payload": "p"}]}`: "response.quickReplies[0].title",
		} {
			d.refusef(t, d.inOutlet(), boterr.InvalidArgument, at, name, `{"groupId": %q, "response": %s}`, d.group(t), response)
		}
	}
}

// callToGroupInVain is the scene of a call to a group that is not there.
func callToGroupInVain(name string) scene {
	return func(t *testing.T) {
		t.Helper()
		d := talkingFrom(t, channel.Delta)
		const hello = `"response": {"type": "TEXT", "text": "Hello"}`
		d.refusef(t, d.inOutlet(), boterr.NotFound, "groupId", name, `{"groupId": "none", `+hello+`}`)
		d.refusef(t, d.inOutlet(), boterr.NotFound, "group._id", name, `{"group": {"_id": "none"}, `+hello+`}`)
	}
}

func callToGroupThatIsOver(name string) scene {
	return func(t *testing.T) {
		t.Helper()
		d := talkingFrom(t, channel.Delta)
		group := d.group(t)
		callf(t, d.ada.Context(), "inletEndLiveChat", `{}`)
		d.refusef(t, d.inOutlet(), boterr.FailedPrecondition, "group", name, `{"groupId": %q, "response": {"type": "TEXT", "text": "Hello"}}`, group)
	}
}

func callToOutletGroup(t *testing.T) {
	t.Helper()
	for _, outlet := range []channel.Type{channel.Bravo, channel.Charlie, channel.Delta} {
		for _, which := range []string{`"group": {"_id": %[1]q}`, `"groupId": %[1]q`} {
			d := talking(t, outlet)
			answer := callf(t, d.ada.Context(), "sendMessageToOutletGroup", `{`+which+`, "response": {"type": "TEXT", "text": "{{firstName}} left."}}`, d.group(t))
			requireShape(t, "sendMessageToOutletGroup", outlet, []byte(answer.Raw))
			require.Equal(t, "Ada left.", d.grace.Last())
			require.Equal(t, d.Groups("desk")[0].ExternalID, d.Sent()[len(d.Sent())-1].To)
			if outlet == channel.Charlie {
				require.Equal(t, "Ada left.", answer.Get("message.text").String())
				continue
			}
			require.Equal(t, d.Groups("desk")[0].ExternalID, answer.Get("messageEvent.to").String())
		}
	}
}

func callToResponseURL(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	d.HTTP.Add("POST", "https://hooks.example/7", replies.Text(200, "ok"))
	before := len(d.Sent())
	args := `{"groupId": %q, "response": {"type": "TEXT", "text": "{{firstName}} left."}, "responseUrl": "https://hooks.example/7"}`
	answer := callf(t, d.ada.Context(), "sendMessageToOutletGroup", args, d.group(t))
	requireShape(t, "sendMessageToOutletGroup", channel.Charlie, []byte(answer.Raw))
	require.True(t, answer.Get("ok").Bool())
	require.Len(t, d.Sent(), before, "it is not sent to the conversation as well")
	require.JSONEq(t, `{"type": "TEXT", "text": "Ada left."}`, d.HTTP.Requests()[0].Body)

	for status, code := range map[int]boterr.Code{503: boterr.Unavailable, 404: boterr.Unavailable} {
		d.HTTP.Add("POST", "https://hooks.example/7", replies.Text(status, "no"))
		refusef(t, d.ada.Context(), code, "responseUrl", "sendMessageToOutletGroup", args, d.group(t))
	}
	for _, outlet := range []channel.Type{channel.Bravo, channel.Delta} { // Which have none: it is ignored.
		d := talking(t, outlet)
		callf(t, d.ada.Context(), "sendMessageToOutletGroup", args, d.group(t))
		require.Equal(t, "Ada left.", d.grace.Last())
		require.Empty(t, d.HTTP.Requests())
	}
}

func callToNoResponseURL(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	for _, address := range []string{"hooks", "ftp://hooks.example/7", "http://127.0.0.1/7", "http://169.254.169.254/"} {
		d.refusef(t, d.ada.Context(), boterr.InvalidArgument, "responseUrl", "sendMessageToOutletGroup",
			`{"groupId": %q, "response": {"type": "TEXT", "text": "Hello"}, "responseUrl": %q}`, d.group(t), address)
	}
}

func callToOutletGroupElsewhere(t *testing.T) {
	t.Helper()
	for _, outlet := range allTypes() {
		if outlet == channel.Bravo || outlet == channel.Charlie || outlet == channel.Delta {
			continue
		}
		d := talking(t, outlet)
		says := d.refusef(t, d.ada.Context(), boterr.Unsupported, "group", "sendMessageToOutletGroup", `{"groupId": %q, "response": {"type": "TEXT", "text": "Hello"}}`, d.group(t))
		require.Contains(t, says, "bravo, charlie, delta")
		require.Contains(t, says, string(outlet))
	}
}

func callToSaveGroup(t *testing.T) {
	t.Helper()
	for _, where := range []string{`"channel": {"_id": "desk"},`, ``} {
		d := talking(t, channel.Charlie)
		first := callf(t, d.inOutlet(), "saveGroupIdToMember", `{%s "messageEvent": %s}`, where, d.event(t))
		require.Equal(t, d.group(t), callf(t, d.inOutlet(), "getMember", `{"memberId": %q}`, d.ada.ID()).Get("group").String())
		again := callf(t, d.inOutlet(), "saveGroupIdToMember", `{"messageEvent": %s}`, d.event(t))
		require.NotEqual(t, first.Raw, again.Raw)
	}
	d := talkingInGroup(t, channel.Webchat)
	callf(t, d.ada.Context(), "saveGroupIdToMember", `{"messageEvent": {"from": %q, "to": "family"}}`, d.ada.ExternalID())
	require.Equal(t, d.group(t), d.ada.Member().Group, "the event is one of the inlet's group")
}

func callToSaveNoGroup(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Charlie)
	d.refusef(t, d.inOutlet(), boterr.NotFound, "messageEvent", "saveGroupIdToMember", `{"messageEvent": {"from": "nobody", "to": "nowhere"}}`)
	d.refusef(t, d.inOutlet(), boterr.NotFound, "channel", "saveGroupIdToMember", `{"channel": {"_id": "none"}, "messageEvent": %s}`, d.event(t))
}
