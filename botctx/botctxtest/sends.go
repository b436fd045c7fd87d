package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var sendResponseRules = []Rule{
	{
		Name:  "SendResponseReachesTheMember",
		Text:  "a message reaches the context's own member, once and as it was given, where no other is named",
		Needs: []Capability{readSent},
		check: sendResponseReachesTheMember,
	},
	{
		Name:  "SendResponseTellsWhatWasSent",
		Text:  "the message event holds the response without its type, from, to, timestamp and messageId",
		Needs: []Capability{commonShape},
		check: sendResponseTellsWhatWasSent,
	},
	{
		Name:  "SendResponseFillsPaths",
		Text:  "{{path}} in the strings of a response is filled from the member; a missing path is empty",
		Needs: []Capability{readSent},
		check: sendResponseFillsPaths,
	},
	{
		Name:  "SendResponseSendsLiteralsAsTheyAre",
		Text:  "a literal response, as a text that Go code makes is, is sent as it is, {{path}} and all",
		Needs: []Capability{readSent},
		check: sendResponseSendsLiteralsAsTheyAre,
	},
	{
		Name:  "SendResponsePassesTypesThrough",
		Text:  "a type that nobody knows is passed through as it is",
		Needs: []Capability{readSent},
		check: sendResponsePassesTypesThrough,
	},
	{
		Name:  "SendResponseTakesACopy",
		Text:  "what goes in is copied: changing it later changes nothing that was sent",
		Needs: []Capability{readSent},
		check: sendResponseTakesACopy,
	},
}

// send sends a response, without an error.
func (t *trial) send(p send.SendResponseParams) send.SendResponseResult {
	t.Helper()
	result, err := t.home.SendResponse(t.ctx(), p)
	require.NoError(t, err)
	return result
}

// requireSent checks what has arrived at the platforms.
func (t *trial) requireSent(expected ...Sent) {
	t.Helper()
	type text struct{ channel, to, response string }
	all := func(sent []Sent) []text {
		texts := make([]text, 0, len(sent))
		for _, s := range sent {
			texts = append(texts, text{channel: s.Channel, to: s.To, response: s.Response.String()})
		}
		return texts
	}
	require.Equal(t, all(expected), all(t.Sent()))
}

// to is what arrives at a member.
func to(m *member.Member, response send.Response) Sent {
	return Sent{Channel: m.Channel, To: m.ExternalID, Response: response}
}

func sendResponseReachesTheMember(t *trial) {
	responses := []send.Response{
		send.Text("Hello"),
		send.Image("https://example.com/a.png"),
		send.QuickReplies("Again?", send.QuickReply{Title: "Yes"}, send.QuickReply{Title: "No", Payload: "no"}),
		send.Buttons("A table?", send.Postback("Yes", "book"), send.WebURL("Menu", "https://example.com")),
		send.Carousel(send.Card{Title: "One", Buttons: []send.Button{send.PostbackValue("Take", "take", 1)}}),
	}
	expected := make([]Sent, 0, len(responses))
	for _, response := range responses {
		require.Len(t, t.send(send.SendResponseParams{Response: response}).Results, 1)
		expected = append(expected, to(t.home.member, response))
	}
	t.requireSent(expected...)
}

func sendResponseTellsWhatWasSent(t *trial) {
	m := t.neighbour(member.Member{BotID: "bot"})
	result := t.send(send.SendResponseParams{
		MemberID: document.One(m.ID), Response: send.Text("Hello").With("transform", "x"),
	}).Result()
	event := result.MessageEvent
	require.Equal(t, send.TypeText, event.Type)
	require.JSONEq(t, `{"text":"Hello","transform":"x"}`, event.Data.String())
	require.Equal(t, m.ExternalID, event.To)
	require.NotEmpty(t, event.From)
	require.Positive(t, event.Timestamp)
	require.NotEmpty(t, event.MessageID)
	require.False(t, result.Reply.IsZero(), "the platform's reply")
	again := t.send(send.SendResponseParams{Response: send.Text("Hello")}).Result()
	require.NotEqual(t, event.MessageID, again.MessageEvent.MessageID, "each message has an id of its own")
}

func sendResponseFillsPaths(t *trial) {
	m := t.neighbour(member.Member{
		FirstName: "Eve", Meta: document.O("order", document.O("id", 7), "items", document.A("tea", "{{firstName}}")),
	})
	t.send(send.SendResponseParams{
		MemberID: document.One(m.ID),
		Response: send.Buttons("{{firstName}}: {{ meta.order.id }}, {{meta.items.0}}, {{meta.nothing}}, {{meta.items.1}}",
			send.Postback("For {{firstName}}", "order/{{meta.order.id}}")).WithPlaceholders(),
	})
	t.requireSent(to(m, send.Buttons("Eve: 7, tea, , {{firstName}}", send.Postback("For Eve", "order/7"))))
}

func sendResponseSendsLiteralsAsTheyAre(t *trial) {
	said := send.MessageEvent{Type: send.TypeText, Data: document.O("text", "I am {{firstName}}")}
	for _, literal := range []send.Response{send.Text("You are {{firstName}}"), said.Response()} {
		before := len(t.Sent())
		t.send(send.SendResponseParams{Response: literal})
		t.requireLastSent(before, t.home.channel.ID, t.home.member.ExternalID, literal.Text())
	}
}

func sendResponsePassesTypesThrough(t *trial) {
	response := send.Raw(document.O("type", "HOLOGRAM", "depth", 3, "parts", document.A(document.O("x", nil))))
	t.send(send.SendResponseParams{Response: response})
	t.requireSent(to(t.home.member, response))
}

// slicesOf returns n times the same.
func slicesOf[E any](n int, element E) []E {
	all := make([]E, n)
	for i := range all {
		all[i] = element
	}
	return all
}

func sendResponseTakesACopy(t *trial) {
	second := t.neighbour(member.Member{})
	ids := document.One(t.home.member.ID, second.ID)
	sent := t.send(send.SendResponseParams{MemberID: ids, Response: send.Text("Hello")})
	require.Len(t, sent.Results, 2)
	ids[0] = "changed"
	sent.Results[0], sent.Results[1] = sent.Results[1], send.Result{}
	t.requireSent(to(t.home.member, send.Text("Hello")), to(second, send.Text("Hello")))
}

// requireNothingSent checks that a send failed with a code and reached nobody.
func (t *trial) requireNothingSent(code boterr.Code, field string, p send.SendResponseParams) {
	t.Helper()
	before := t.state()
	if p.Response.IsZero() {
		p.Response = send.Text("Hello")
	}
	result, err := t.home.SendResponse(t.ctx(), p)
	t.requireError(botctx.OpSendResponse, code, field, err)
	require.Zero(t, result)
	require.Equal(t, before, t.state(), "nothing is sent")
}
