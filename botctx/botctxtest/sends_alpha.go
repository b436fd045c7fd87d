package botctxtest

import (
	"context"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Short names for the rules below.
type (
	alphaParams  = send.SendAlphaResponseParams
	alphasParams = send.SendAlphaResponseToMemberIDsParams
)

// hologram returns a message of an unknown type.
func hologram() send.Response {
	return send.Raw(document.O("type", "HOLOGRAM", "depth", 3, "parts", document.A(document.O("x", nil))))
}

var sendAlphaRules = needing([]Capability{On(channel.Alpha)}, []Rule{
	rule(sendAlphaResponseReachesTheMember,
		"a message goes to the member given by id or record, once and filled; unknown types are passed on unchanged", readSent),
	rule(sendAlphaResponseTellsWhatWasSent,
		"the message event holds the response without its type, from, to, timestamp and messageId, which differ"),
	rule(sendAlphaResponseTellsOfRefusals,
		"if the platform refuses a message, the call returns an error with a code and no result", readSent, refuseSends),
	rule(sendAlphaResponseToMemberIDsReachesEach,
		"a message goes to each of the members once, filled for each, with a result for each in their order", readSent),
	rule(sendAlphaResponseToMemberIDsSendsToAllOrNone, "all parameters are checked before the first message is sent"),
	rule(sendAlphaResponseToMemberIDsKeepsTheOthers,
		"if some members do not get the message, the others do; the results show which, and the error is Unavailable", readSent, refuseSends),
	rule(sendAlphaResponseToMemberIDsTakesACopy,
		"changing parameters and results after the call does not change anything stored or sent", readSent),
	rule(sendAlphaResponseToMemberIDsTellsOfRefusals,
		"if the only member does not get the message, the call returns a result that shows this and an error", readSent, refuseSends),
	rule(sendAlphaResponseToMemberIDsTakesOneID, "memberId may be a single id instead of a list", readSent),
})

func sendAlphaResponseReachesTheMember(t *trial) {
	p := t.on(channel.Alpha)
	eve := t.another(p, member.Member{FirstName: "Eve"})
	before := len(t.Sent())
	for _, params := range []alphaParams{
		{Response: send.Template("Hello {{firstName}}{{meta.nothing}}")},
		{MemberID: eve.ID, Response: send.Template("Hello {{firstName}}")},
		{ChannelID: p.channel.ID, Member: eve, Response: send.Image("https://example.com/a.png")},
		{Channel: p.channel, Member: eve, MemberID: eve.ID, Response: hologram()},
	} {
		must(t, p.SendAlphaResponse, params)
	}
	t.requireArrived(before, to(p.member, send.Text("Hello Ada")), to(eve, send.Text("Hello Eve")),
		to(eve, send.Image("https://example.com/a.png")), to(eve, hologram()))
}

func sendAlphaResponseTellsWhatWasSent(t *trial) {
	p := t.on(channel.Alpha)
	m := t.another(p, member.Member{BotID: "bot"})
	hello := alphaParams{Member: m, Response: send.Text("Hello").With("transform", "x")}
	sent := must(t, p.SendAlphaResponse, hello)
	require.NotEmpty(t, sent.MessageEvent.From)
	require.False(t, sent.Reply.IsZero(), "the platform's reply")
	again := must(t, p.SendAlphaResponse, hello)
	requireTold(t, sent.MessageEvent, again.MessageEvent, m.ExternalID, `{"text":"Hello","transform":"x"}`)
}

func sendAlphaResponseTellsOfRefusals(t *trial) {
	p := t.on(channel.Alpha)
	t.Refuse(p.member)
	sent, err := p.SendAlphaResponse(t.Context(), alphaParams{Response: send.Text("Hello")})
	require.Error(t, err)
	require.Contains(t, boterr.Codes(), boterr.CodeOf(err))
	require.Zero(t, sent)
	t.requireSent()
}

func sendAlphaResponseToMemberIDsReachesEach(t *trial) {
	p := t.on(channel.Alpha)
	bob, eve := t.another(p, member.Member{FirstName: "Bob"}), t.another(p, member.Member{FirstName: "Eve"})
	before := len(t.Sent())
	sent := must(t, p.SendAlphaResponseToMemberIDs, alphasParams{
		MemberID: document.One(eve.ID, p.member.ID, bob.ID, eve.ID), Response: send.Template("Hello {{firstName}}"),
	})
	t.requireEachArrived(before, to(eve, send.Text("Hello Eve")), to(p.member, send.Text("Hello Ada")), to(bob, send.Text("Hello Bob")))
	require.Len(t, sent.Results, 3)
	for i, m := range []*member.Member{eve, p.member, bob} {
		require.NoError(t, sent.Results[i].Err)
		require.Equal(t, m.ExternalID, sent.Results[i].MessageEvent.To)
		require.JSONEq(t, `{"text":"Hello `+m.FirstName+`"}`, sent.Results[i].MessageEvent.Data.String())
	}
}

// requireAllOrNone checks that a send to several members reaches no member if one of the ids is invalid.
func requireAllOrNone(t *trial, p *place, op botctx.Op, send3 func(ids document.OneOrMany[string], r send.Response) error) {
	t.Helper()
	bob, eve := t.another(p, member.Member{FirstName: "Bob"}), t.another(p, member.Member{})
	for _, bad := range []struct {
		name     string
		ids      document.OneOrMany[string]
		response send.Response
		code     boterr.Code
		field    string
	}{
		{"a text that is empty for one", document.One(bob.ID, eve.ID), send.Template("{{firstName}}"), boterr.InvalidArgument, "response.text"},
		{"nobody", document.One([]string(nil)...), send.Text("Hello"), boterr.InvalidArgument, "memberId"},
		{"nobody at the end", document.One(bob.ID, unique("member")), send.Text("Hello"), boterr.NotFound, "memberId"},
		{"a member of another app", document.One(bob.ID, t.away.member.ID), send.Text("Hello"), boterr.NotFound, "memberId"},
		{"a member of another channel", document.One(bob.ID, t.home.member.ID), send.Text("Hello"), boterr.InvalidArgument, "memberId"},
	} {
		t.try(bad.name, func(t *trial) {
			before := t.state()
			t.requireError(op, bad.code, bad.field, send3(bad.ids, bad.response))
			require.Equal(t, before, t.state(), "nothing is sent")
		})
	}
}

func sendAlphaResponseToMemberIDsSendsToAllOrNone(t *trial) {
	p := t.on(channel.Alpha)
	requireAllOrNone(t, p, botctx.OpSendAlphaResponseToMemberIDs, func(ids document.OneOrMany[string], r send.Response) error {
		return errorOf(p.SendAlphaResponseToMemberIDs(t.Context(), alphasParams{MemberID: ids, Response: r}))
	})
}

func sendAlphaResponseToMemberIDsKeepsTheOthers(t *trial) {
	p := t.on(channel.Alpha)
	bob, eve := t.another(p, member.Member{}), t.another(p, member.Member{})
	t.Refuse(bob)
	before := len(t.Sent())
	sent, err := p.SendAlphaResponseToMemberIDs(t.Context(), alphasParams{
		MemberID: document.One(p.member.ID, bob.ID, eve.ID), Response: send.Text("Hello"),
	})
	t.requireError(botctx.OpSendAlphaResponseToMemberIDs, boterr.Unavailable, "", err)
	require.ErrorContains(t, err, bob.ID, "the error must name the member who did not get the message")
	t.requireEachArrived(before, to(p.member, send.Text("Hello")), to(eve, send.Text("Hello")))
	require.Len(t, sent.Results, 3)
	require.Error(t, sent.Results[1].Err)
	for i, m := range map[int]*member.Member{0: p.member, 2: eve} {
		require.NoError(t, sent.Results[i].Err)
		require.Equal(t, m.ExternalID, sent.Results[i].MessageEvent.To)
	}
}

func sendAlphaResponseToMemberIDsTakesACopy(t *trial) {
	p := t.on(channel.Alpha)
	bob := t.another(p, member.Member{})
	ids := document.One(p.member.ID, bob.ID)
	sent := must(t, p.SendAlphaResponseToMemberIDs, alphasParams{MemberID: ids, Response: send.Text("Hello")})
	require.Len(t, sent.Results, 2)
	require.Equal(t, document.One(p.member.ID, bob.ID), ids, "the call must not change its parameters")
	ids[0] = "changed"
	sent.Results[0], sent.Results[1] = sent.Results[1], send.Result{}
	t.requireEachArrived(0, to(p.member, send.Text("Hello")), to(bob, send.Text("Hello")))
}

func sendAlphaResponseToMemberIDsTellsOfRefusals(t *trial) {
	p := t.on(channel.Alpha)
	t.Refuse(p.member)
	sent, err := p.SendAlphaResponseToMemberIDs(t.Context(), alphasParams{
		MemberID: document.One(p.member.ID), Response: send.Text("Hello"),
	})
	require.Error(t, err)
	require.Len(t, sent.Results, 1)
	require.Error(t, sent.Results[0].Err)
	t.requireSent()
}

func sendAlphaResponseToMemberIDsTakesOneID(t *trial) {
	p := t.on(channel.Alpha)
	before := len(t.Sent())
	fromJSON(t, p, botctx.OpSendAlphaResponseToMemberIDs, p.SendAlphaResponseToMemberIDs,
		document.O("memberId", p.member.ID, "response", send.Text("Hello")))
	t.requireEachArrived(before, to(p.member, send.Text("Hello")))
}

// fromJSON calls an operation with params in their JSON form, by name if the implementation is a botctx.Caller. The call
// must succeed.
func fromJSON[P, R any](
	t *trial, p *place, op botctx.Op, operation func(context.Context, P) (R, error), params document.Object,
) R {
	t.Helper()
	var result R
	if caller, ok := p.Operations.(botctx.Caller); ok {
		text, err := caller.Call(t.Context(), string(op), []byte(params.String()))
		require.NoError(t, err, "%s", params)
		require.NoError(t, document.DecodeJSON(text, &result))
		return result
	}
	var read P
	require.NoError(t, document.DecodeJSON([]byte(params.String()), &read), "%s", params)
	result, err := operation(t.Context(), read)
	require.NoError(t, err, "%s", params)
	return result
}

var broadcastRules = needing([]Capability{On(channel.Alpha), Broadcasts}, []Rule{
	rule(alphaCreateBroadcastStoresTheMessage,
		"each stored message has a different id, and is sent unchanged, including {{path}} and unknown types", readSent, Labels),
	rule(alphaCreateBroadcastTellsWhatIsStored,
		"each element of the result is Alpha's reply and the token that the message was stored with"),
	rule(alphaCreateBroadcastTakesTextAndObjects, "the response may be an object, or text that holds one", readSent, Labels),
	rule(alphaSendBroadcastReachesTheLabelled,
		"a broadcast reaches all members of the channel with the label, each once, and no others", readSent, Labels),
	rule(alphaSendBroadcastReachesTheRest,
		"if some members with the label do not get the message, the others do", readSent, refuseSends, Labels),
	rule(alphaSendBroadcastFindsNoOtherMessages, "a message or a label that Alpha does not have is NotFound, and nothing is sent", Labels),
	rule(alphaSendBroadcastTakesTextAndObjects,
		"broadcastId may be a string, Alpha's reply, an element of the result of alphaCreateBroadcast, or the whole result", readSent, Labels),
})

// broadcast sends a stored message to the members with the label of a place.
func (t *trial) broadcast(p *place, id send.BroadcastID) int64 {
	t.Helper()
	sent := must(t, p.AlphaSendBroadcast, send.AlphaSendBroadcastParams{
		BroadcastID: id, LabelID: p.prepared.label, NotificationType: "REGULAR",
	})
	return sent.BroadcastID
}

func alphaCreateBroadcastStoresTheMessage(t *trial) {
	p := t.on(channel.Alpha)
	first, second := t.store(p, send.Template("Hello {{firstName}}")), t.store(p, hologram())
	require.NotEqual(t, first, second, "each stored message has a different id")
	t.requireSent()
	t.broadcast(p, second)
	t.broadcast(p, first)
	t.requireSent(to(p.member, hologram()), to(p.member, send.Template("Hello {{firstName}}")))
}

func alphaCreateBroadcastTellsWhatIsStored(t *trial) {
	p := t.on(channel.Alpha)
	stored := must(t, p.AlphaCreateBroadcast, send.AlphaCreateBroadcastParams{Response: send.Text("News")})
	require.EqualValues(t, 1, stored.OK)
	require.NotEmpty(t, stored.Result)
	for _, one := range stored.Result {
		require.False(t, one.Response.IsZero(), "Alpha's reply")
		require.False(t, one.AccessToken.IsZero(), "the token")
		require.Equal(t, []string{"accessToken", "response"}, slices.Sorted(slices.Values(t.object(one).Keys())))
	}
}

func alphaCreateBroadcastTakesTextAndObjects(t *trial) {
	p := t.on(channel.Alpha)
	for _, response := range []any{send.Text("News"), send.Text("News").String()} {
		stored := fromJSON(t, p, botctx.OpAlphaCreateBroadcast, p.AlphaCreateBroadcast, document.O("response", response))
		require.Len(t, stored.Result, 1)
		var id send.BroadcastID
		require.NoError(t, id.DecodeValue(stored.Result[0].Response))
		t.broadcast(p, id)
	}
	t.requireSent(to(p.member, send.Text("News")), to(p.member, send.Text("News")))
}

func alphaSendBroadcastReachesTheLabelled(t *trial) {
	p := t.on(channel.Alpha)
	bob := t.another(p, member.Member{FirstName: "Bob"})
	eve := t.another(p, member.Member{FirstName: "Eve"})
	elsewhere := t.newPlaceOn(p.scope.App, channel.Alpha)
	t.label(p, bob, p.prepared.label)
	t.label(p, eve, newLabel())
	t.label(elsewhere, elsewhere.member, p.prepared.label)
	first, second := t.broadcast(p, p.prepared.broadcast), t.broadcast(p, p.prepared.broadcast)
	require.NotEqual(t, first, second, "each broadcast has a different number")
	reached := []string{}
	for _, sent := range t.Sent() {
		require.Equal(t, p.channel.ID, sent.Channel)
		require.Equal(t, send.Text("News").String(), sent.Response.String())
		reached = append(reached, sent.To)
	}
	expected := []string{p.member.ExternalID, p.member.ExternalID, bob.ExternalID, bob.ExternalID}
	require.Equal(t, slices.Sorted(slices.Values(expected)), slices.Sorted(slices.Values(reached)))
}

func alphaSendBroadcastReachesTheRest(t *trial) {
	p := t.on(channel.Alpha)
	bob := t.another(p, member.Member{})
	t.label(p, bob, p.prepared.label)
	t.Refuse(p.member)
	t.broadcast(p, p.prepared.broadcast)
	t.requireSent(to(bob, send.Text("News")))
}

func alphaSendBroadcastFindsNoOtherMessages(t *trial) {
	p := t.on(channel.Alpha)
	elsewhere := t.newPlaceOn(p.scope.App, channel.Alpha)
	there, label := t.store(elsewhere, send.Text("Secret")), newLabel()
	t.label(elsewhere, elsewhere.member, label)
	for name, params := range map[string]send.AlphaSendBroadcastParams{
		"no such message":              {BroadcastID: "1", LabelID: p.prepared.label},
		"a message of another channel": {BroadcastID: there, LabelID: p.prepared.label},
		"no such label":                {BroadcastID: p.prepared.broadcast, LabelID: newLabel()},
		"a label of another channel":   {BroadcastID: p.prepared.broadcast, LabelID: label},
	} {
		t.try(name, func(t *trial) {
			before := t.state()
			params.NotificationType = "REGULAR"
			sent, err := p.AlphaSendBroadcast(t.Context(), params)
			t.requireCode(boterr.NotFound, err)
			require.Zero(t, sent)
			require.Equal(t, before, t.state(), "nothing is sent")
		})
	}
}

func alphaSendBroadcastTakesTextAndObjects(t *trial) {
	p := t.on(channel.Alpha)
	stored := must(t, p.AlphaCreateBroadcast, send.AlphaCreateBroadcastParams{Response: send.Text("News")})
	require.Len(t, stored.Result, 1)
	var id send.BroadcastID
	require.NoError(t, id.DecodeValue(stored.Result[0].Response))
	spellings := []any{
		string(id), stored.Result[0].Response, document.O("response", stored.Result[0].Response),
		document.O("ok", 1, "result", document.A(document.O("response", stored.Result[0].Response))),
	}
	expected := []Sent{}
	for _, spelling := range spellings {
		fromJSON(t, p, botctx.OpAlphaSendBroadcast, p.AlphaSendBroadcast, document.O(
			"broadcastId", spelling, "labelId", p.prepared.label, "notificationType", "REGULAR"))
		expected = append(expected, to(p.member, send.Text("News")))
	}
	t.requireSent(expected...)
}
