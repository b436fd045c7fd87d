package botctxtest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var broadcastRules = needing([]Capability{On(channel.Alpha), Broadcasts}, []Rule{
	{
		Name:  "AlphaCreateBroadcastStoresTheMessage",
		Text:  "each message that is stored has an id of its own, and goes out as it was given, with {{path}} and unknown types",
		Needs: []Capability{readSent, Labels},
		check: alphaCreateBroadcastStoresTheMessage,
	},
	{
		Name:  "AlphaCreateBroadcastTellsWhatIsStored",
		Text:  "each element of the result is Alpha's reply and the token that the message was stored with",
		check: alphaCreateBroadcastTellsWhatIsStored,
	},
	{
		Name:  "AlphaCreateBroadcastTakesTextAndObjects",
		Text:  "the response may be an object, or text that holds one",
		Needs: []Capability{readSent, Labels},
		check: alphaCreateBroadcastTakesTextAndObjects,
	},
	{
		Name:  "AlphaSendBroadcastReachesTheLabelled",
		Text:  "a broadcast reaches all members of the channel with the label, each once, and nobody else",
		Needs: []Capability{readSent, Labels},
		check: alphaSendBroadcastReachesTheLabelled,
	},
	{
		Name:  "AlphaSendBroadcastReachesTheRest",
		Text:  "where some of those with the label do not get the message, the others do",
		Needs: []Capability{readSent, refuseSends, Labels},
		check: alphaSendBroadcastReachesTheRest,
	},
	{
		Name:  "AlphaSendBroadcastFindsNoOtherMessages",
		Text:  "a message or a label that Alpha does not have is NotFound, and nothing is sent",
		Needs: []Capability{Labels},
		check: alphaSendBroadcastFindsNoOtherMessages,
	},
	{
		Name:  "AlphaSendBroadcastTakesTextAndObjects",
		Text:  "broadcastId may be text, Alpha's reply, what alphaCreateBroadcast stored, or its result",
		Needs: []Capability{readSent, Labels},
		check: alphaSendBroadcastTakesTextAndObjects,
	},
})

// broadcast sends a stored message to the label of a place, without an error.
func (t *trial) broadcast(p *place, id send.BroadcastID) int64 {
	t.Helper()
	sent, err := p.AlphaSendBroadcast(t.ctx(), send.AlphaSendBroadcastParams{
		BroadcastID: id, LabelID: p.prepared.label, NotificationType: "REGULAR",
	})
	require.NoError(t, err)
	return sent.BroadcastID
}

func alphaCreateBroadcastStoresTheMessage(t *trial) {
	p := t.on(channel.Alpha)
	first, second := t.store(p, send.Template("Hello {{firstName}}")), t.store(p, hologram())
	require.NotEqual(t, first, second, "each stored message has an id of its own")
	t.requireSent()
	t.broadcast(p, second)
	t.broadcast(p, first)
	t.requireSent(to(p.member, hologram()), to(p.member, send.Template("Hello {{firstName}}")))
}

func alphaCreateBroadcastTellsWhatIsStored(t *trial) {
	p := t.on(channel.Alpha)
	stored, err := p.AlphaCreateBroadcast(t.ctx(), send.AlphaCreateBroadcastParams{Response: send.Text("News")})
	require.NoError(t, err)
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
	bob := t.beside(p, member.Member{FirstName: "Bob"})
	eve := t.beside(p, member.Member{FirstName: "Eve"})
	elsewhere := t.newPlaceOn(p.scope.App, channel.Alpha)
	t.label(p, bob, p.prepared.label)
	t.label(p, eve, newLabel())
	t.label(elsewhere, elsewhere.member, p.prepared.label)
	first, second := t.broadcast(p, p.prepared.broadcast), t.broadcast(p, p.prepared.broadcast)
	require.NotEqual(t, first, second, "each broadcast has a number of its own")
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
	bob := t.beside(p, member.Member{})
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
			sent, err := p.AlphaSendBroadcast(t.ctx(), params)
			t.requireCode(boterr.NotFound, err)
			require.Zero(t, sent)
			require.Equal(t, before, t.state(), "nothing is sent")
		})
	}
}

func alphaSendBroadcastTakesTextAndObjects(t *trial) {
	p := t.on(channel.Alpha)
	stored, err := p.AlphaCreateBroadcast(t.ctx(), send.AlphaCreateBroadcastParams{Response: send.Text("News")})
	require.NoError(t, err)
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
