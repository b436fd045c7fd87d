package botctxtest

import (
	"context"

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
	alphaParams  = send.SendAlphaResponseParams
	alphasParams = send.SendAlphaResponseToMemberIDsParams
)

// hologram is a message of a type that nobody knows.
func hologram() send.Response {
	return send.Raw(document.O("type", "HOLOGRAM", "depth", 3, "parts", document.A(document.O("x", nil))))
}

var sendAlphaRules = needing([]Capability{On(channel.Alpha)}, []Rule{
	{
		Name:  "SendAlphaResponseReachesTheMember",
		Text:  "a message reaches the member that is named by id or record, once and filled; unknown types pass as they are",
		Needs: []Capability{readSent},
		check: sendAlphaResponseReachesTheMember,
	},
	{
		Name:  "SendAlphaResponseTellsWhatWasSent",
		Text:  "the message event holds the response without its type, from, to, timestamp and messageId, which differ",
		check: sendAlphaResponseTellsWhatWasSent,
	},
	{
		Name:  "SendAlphaResponseTellsOfRefusals",
		Text:  "a message that the platform refuses is an error with a code, and no result",
		Needs: []Capability{readSent, refuseSends},
		check: sendAlphaResponseTellsOfRefusals,
	},
	{
		Name:  "SendAlphaResponseToMemberIdsReachesEach",
		Text:  "a message reaches each of the members once, filled for each, with a result for each in their order",
		Needs: []Capability{readSent},
		check: sendAlphaResponseToMemberIDsReachesEach,
	},
	{
		Name:  "SendAlphaResponseToMemberIdsSendsToAllOrNone",
		Text:  "everything is checked before the first message goes out",
		check: sendAlphaResponseToMemberIDsSendsToAllOrNone,
	},
	{
		Name:  "SendAlphaResponseToMemberIdsKeepsTheOthers",
		Text:  "where some do not get the message, the others do, and the results say who, beside an error that is Unavailable",
		Needs: []Capability{readSent, refuseSends},
		check: sendAlphaResponseToMemberIDsKeepsTheOthers,
	},
	{
		Name:  "SendAlphaResponseToMemberIdsTakesACopy",
		Text:  "what goes in is copied, and what comes out is the caller's own: changing it changes nothing",
		Needs: []Capability{readSent},
		check: sendAlphaResponseToMemberIDsTakesACopy,
	},
	{
		Name:  "SendAlphaResponseToMemberIdsTellsOfRefusals",
		Text:  "where the only member does not get the message, the result says so beside the error",
		Needs: []Capability{readSent, refuseSends},
		check: sendAlphaResponseToMemberIDsTellsOfRefusals,
	},
	{
		Name:  "SendAlphaResponseToMemberIdsTakesOneID",
		Text:  "memberId may be one id in the place of a list",
		Needs: []Capability{readSent},
		check: sendAlphaResponseToMemberIDsTakesOneID,
	},
})

func sendAlphaResponseReachesTheMember(t *trial) {
	p := t.on(channel.Alpha)
	eve := t.beside(p, member.Member{FirstName: "Eve"})
	before := len(t.Sent())
	for _, params := range []alphaParams{
		{Response: send.Template("Hello {{firstName}}{{meta.nothing}}")},
		{MemberID: eve.ID, Response: send.Template("Hello {{firstName}}")},
		{ChannelID: p.channel.ID, Member: eve, Response: send.Image("https://example.com/a.png")},
		{Channel: p.channel, Member: eve, MemberID: eve.ID, Response: hologram()},
	} {
		require.NoError(t, errorOf(p.SendAlphaResponse(t.ctx(), params)))
	}
	t.requireArrived(before, to(p.member, send.Text("Hello Ada")), to(eve, send.Text("Hello Eve")),
		to(eve, send.Image("https://example.com/a.png")), to(eve, hologram()))
}

func sendAlphaResponseTellsWhatWasSent(t *trial) {
	p := t.on(channel.Alpha)
	m := t.beside(p, member.Member{BotID: "bot"})
	hello := alphaParams{Member: m, Response: send.Text("Hello").With("transform", "x")}
	sent, err := p.SendAlphaResponse(t.ctx(), hello)
	require.NoError(t, err)
	event := sent.MessageEvent
	require.Equal(t, send.TypeText, event.Type)
	require.JSONEq(t, `{"text":"Hello","transform":"x"}`, event.Data.String())
	require.Equal(t, m.ExternalID, event.To)
	require.NotEmpty(t, event.From)
	require.Positive(t, event.Timestamp)
	require.False(t, sent.Reply.IsZero(), "the platform's reply")
	again, err := p.SendAlphaResponse(t.ctx(), hello)
	require.NoError(t, err)
	require.NotEqual(t, event.MessageID, again.MessageEvent.MessageID, "each message has an id of its own")
}

func sendAlphaResponseTellsOfRefusals(t *trial) {
	p := t.on(channel.Alpha)
	t.Refuse(p.member)
	sent, err := p.SendAlphaResponse(t.ctx(), alphaParams{Response: send.Text("Hello")})
	require.Error(t, err)
	require.Contains(t, boterr.Codes(), boterr.CodeOf(err))
	require.Zero(t, sent)
	t.requireSent()
}

func sendAlphaResponseToMemberIDsReachesEach(t *trial) {
	p := t.on(channel.Alpha)
	bob, eve := t.beside(p, member.Member{FirstName: "Bob"}), t.beside(p, member.Member{FirstName: "Eve"})
	before := len(t.Sent())
	sent, err := p.SendAlphaResponseToMemberIDs(t.ctx(), alphasParams{
		MemberID: document.One(eve.ID, p.member.ID, bob.ID, eve.ID), Response: send.Template("Hello {{firstName}}"),
	})
	require.NoError(t, err)
	t.requireEachArrived(before, to(eve, send.Text("Hello Eve")), to(p.member, send.Text("Hello Ada")), to(bob, send.Text("Hello Bob")))
	require.Len(t, sent.Results, 3)
	for i, m := range []*member.Member{eve, p.member, bob} {
		require.NoError(t, sent.Results[i].Err)
		require.Equal(t, m.ExternalID, sent.Results[i].MessageEvent.To)
		require.JSONEq(t, `{"text":"Hello `+m.FirstName+`"}`, sent.Results[i].MessageEvent.Data.String())
	}
}

// requireAllOrNone checks that a send to several reaches nobody where one member is wrong.
func requireAllOrNone(t *trial, p *place, op botctx.Op, send3 func(ids document.OneOrMany[string], r send.Response) error) {
	t.Helper()
	bob, eve := t.beside(p, member.Member{FirstName: "Bob"}), t.beside(p, member.Member{})
	for _, bad := range []struct {
		name     string
		ids      document.OneOrMany[string]
		response send.Response
		code     boterr.Code
		field    string
	}{
		{"a text that is empty for one", document.One(bob.ID, eve.ID), send.Template("{{firstName}}"), boterr.InvalidArgument, "response.text"},
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
		return errorOf(p.SendAlphaResponseToMemberIDs(t.ctx(), alphasParams{MemberID: ids, Response: r}))
	})
}

func sendAlphaResponseToMemberIDsKeepsTheOthers(t *trial) {
	p := t.on(channel.Alpha)
	bob, eve := t.beside(p, member.Member{}), t.beside(p, member.Member{})
	t.Refuse(bob)
	before := len(t.Sent())
	sent, err := p.SendAlphaResponseToMemberIDs(t.ctx(), alphasParams{
		MemberID: document.One(p.member.ID, bob.ID, eve.ID), Response: send.Text("Hello"),
	})
	t.requireError(botctx.OpSendAlphaResponseToMemberIDs, boterr.Unavailable, "", err)
	require.ErrorContains(t, err, bob.ID, "the error names who did not get it")
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
	bob := t.beside(p, member.Member{})
	ids := document.One(p.member.ID, bob.ID)
	sent, err := p.SendAlphaResponseToMemberIDs(t.ctx(), alphasParams{MemberID: ids, Response: send.Text("Hello")})
	require.NoError(t, err)
	require.Len(t, sent.Results, 2)
	require.Equal(t, document.One(p.member.ID, bob.ID), ids, "what goes in stays as it is")
	ids[0] = "changed"
	sent.Results[0], sent.Results[1] = sent.Results[1], send.Result{}
	t.requireEachArrived(0, to(p.member, send.Text("Hello")), to(bob, send.Text("Hello")))
}

func sendAlphaResponseToMemberIDsTellsOfRefusals(t *trial) {
	p := t.on(channel.Alpha)
	t.Refuse(p.member)
	sent, err := p.SendAlphaResponseToMemberIDs(t.ctx(), alphasParams{
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

// fromJSON calls an operation with params as JSON has them, by its name where the
// implementation can be called by it, without an error.
func fromJSON[P, R any](
	t *trial, p *place, op botctx.Op, operation func(context.Context, P) (R, error), params document.Object,
) R {
	t.Helper()
	var result R
	if caller, ok := p.Operations.(botctx.Caller); ok {
		text, err := caller.Call(t.ctx(), string(op), []byte(params.String()))
		require.NoError(t, err, "%s", params)
		require.NoError(t, document.DecodeJSON(text, &result))
		return result
	}
	var read P
	require.NoError(t, document.DecodeJSON([]byte(params.String()), &read), "%s", params)
	result, err := operation(t.ctx(), read)
	require.NoError(t, err, "%s", params)
	return result
}
