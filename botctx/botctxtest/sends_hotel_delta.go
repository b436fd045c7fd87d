package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Short for the rules below.
type (
	hotelParams = send.SendHotelResponseParams
	deltaParams = send.SendDeltaResponseParams
)

var sendHotelRules = needing([]Capability{On(channel.Hotel)}, []Rule{
	{
		Name:  "SendHotelResponseReachesTheRecipient",
		Text:  "a message reaches the user, who need be no member, or else the group, filled from the context's own member",
		Needs: []Capability{readSent},
		check: sendHotelResponseReachesTheRecipient,
	},
	{
		Name:  "SendHotelResponseTellsWhatWasSent",
		Text:  "the message event holds the response without its type, to, timestamp and a messageId of its own",
		check: sendHotelResponseTellsWhatWasSent,
	},
})

func sendHotelResponseReachesTheRecipient(t *trial) {
	p := t.on(channel.Hotel)
	user, group := unique("user"), unique("group")
	for _, params := range []hotelParams{
		{RecipientID: user, Response: send.Template("Hello {{firstName}}{{meta.nothing}}")},
		{HotelGroupID: group, Response: hologram()},
		{RecipientID: user, ReceiverType: send.ReceiverUser, HotelGroupID: group, Response: send.Text("Psst")},
	} {
		require.NoError(t, errorOf(p.SendHotelResponse(t.ctx(), params)))
	}
	at := func(to string, r send.Response) Sent { return Sent{Channel: p.channel.ID, To: to, Response: r} }
	t.requireSent(at(user, send.Text("Hello Ada")), at(group, hologram()), at(user, send.Text("Psst")))
}

func sendHotelResponseTellsWhatWasSent(t *trial) {
	p := t.on(channel.Hotel)
	hello := hotelParams{RecipientID: unique("user"), Response: send.Text("Hello")}
	sent, err := p.SendHotelResponse(t.ctx(), hello)
	require.NoError(t, err)
	require.Equal(t, send.TypeText, sent.MessageEvent.Type)
	require.JSONEq(t, `{"text":"Hello"}`, sent.MessageEvent.Data.String())
	require.Equal(t, hello.RecipientID, sent.MessageEvent.To)
	require.Positive(t, sent.MessageEvent.Timestamp)
	again, err := p.SendHotelResponse(t.ctx(), hello)
	require.NoError(t, err)
	require.NotEqual(t, sent.MessageEvent.MessageID, again.MessageEvent.MessageID, "each message has an id of its own")
}

var sendDeltaRules = needing([]Capability{On(channel.Delta), Batches}, []Rule{
	{
		Name:  "SendDeltaResponseReachesEach",
		Text:  "a message reaches each of the members once, filled for each; each request has an id of its own",
		Needs: []Capability{readSent},
		check: sendDeltaResponseReachesEach,
	},
	{
		Name:  "SendDeltaResponseSendsToAllOrNone",
		Text:  "everything is checked before the first message goes out",
		check: sendDeltaResponseSendsToAllOrNone,
	},
	{
		Name:  "SendDeltaResponseKeepsTheOthers",
		Text:  "where some do not get the message, the others do, and the result comes beside an error that is Unavailable",
		Needs: []Capability{readSent, refuseSends},
		check: sendDeltaResponseKeepsTheOthers,
	},
	{
		Name:  "SendDeltaResponseTakesOneID",
		Text:  "memberId may be one id in the place of a list",
		Needs: []Capability{readSent},
		check: sendDeltaResponseTakesOneID,
	},
})

func sendDeltaResponseReachesEach(t *trial) {
	p := t.on(channel.Delta)
	bob, eve := t.beside(p, member.Member{FirstName: "Bob"}), t.beside(p, member.Member{FirstName: "Eve"})
	ids := map[string]bool{}
	for _, params := range []deltaParams{
		{MemberID: document.One(eve.ID, p.member.ID, bob.ID, eve.ID), Response: send.Template("Hello {{firstName}}")},
		{Member: bob, Response: hologram()},
	} {
		sent, err := p.SendDeltaResponse(t.ctx(), params)
		require.NoError(t, err)
		require.NotEmpty(t, sent.ID)
		require.NotEmpty(t, sent.Status)
		ids[sent.ID] = true
	}
	t.requireEachArrived(0, to(eve, send.Text("Hello Eve")), to(p.member, send.Text("Hello Ada")),
		to(bob, send.Text("Hello Bob")), to(bob, hologram()))
	require.Len(t, ids, 2)
}

func sendDeltaResponseSendsToAllOrNone(t *trial) {
	p := t.on(channel.Delta)
	requireAllOrNone(t, p, botctx.OpSendDeltaResponse, func(ids document.OneOrMany[string], r send.Response) error {
		return errorOf(p.SendDeltaResponse(t.ctx(), deltaParams{MemberID: ids, Response: r}))
	})
}

func sendDeltaResponseKeepsTheOthers(t *trial) {
	p := t.on(channel.Delta)
	bob, eve := t.beside(p, member.Member{}), t.beside(p, member.Member{})
	t.Refuse(bob)
	sent, err := p.SendDeltaResponse(t.ctx(), deltaParams{
		MemberID: document.One(p.member.ID, bob.ID, eve.ID), Response: send.Text("Hello"),
	})
	t.requireError(botctx.OpSendDeltaResponse, boterr.Unavailable, "", err)
	require.ErrorContains(t, err, bob.ID, "the error names who did not get it")
	t.requireEachArrived(0, to(p.member, send.Text("Hello")), to(eve, send.Text("Hello")))
	require.NotEmpty(t, sent.ID, "the result beside the error")
}

func sendDeltaResponseTakesOneID(t *trial) {
	p := t.on(channel.Delta)
	bob := t.beside(p, member.Member{})
	fromJSON(t, p, botctx.OpSendDeltaResponse, p.SendDeltaResponse, document.O("memberId", bob.ID, "response", send.Text("Hello")))
	t.requireEachArrived(0, to(bob, send.Text("Hello")))
}
