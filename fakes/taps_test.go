package fakes_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// till is a page on which Ada is shown messages, whose bot keeps the payloads that come in.
func till(t *testing.T, shown ...send.Response) (p *page, payloads *[]any) {
	t.Helper()
	p, payloads = pageOn(t, channel.Charlie), new([]any)
	p.HandleFunc(func(_ context.Context, bot *botctx.Context) error {
		payload, _ := bot.MessageEvent.Data.Field("payload")
		*payloads = append(*payloads, payload)
		return nil
	})
	p.show(t, shown...)
	return p, payloads
}

// show sends Ada messages.
func (p *page) show(t *testing.T, messages ...send.Response) {
	t.Helper()
	for _, message := range messages {
		require.NoError(t, p.ada.Context().Reply(t.Context(), message))
	}
}

func TestTapsOn_SendsPayload(t *testing.T) {
	t.Parallel()
	yes := send.PostbackValue("Yes", "confirm", 7)
	beside := send.Button{Type: send.ButtonPostback, Title: "Yes", Payload: "confirm", Unknown: document.O("value", 7)}
	withValue := document.O("payload", "confirm", "value", 7)
	for name, c := range map[string]struct {
		shown send.Response
		want  any
	}{
		"a button":           {send.Buttons("Kettle?", send.Postback("No", "no"), send.Postback("Yes", "yes")), "yes"},
		"a value":            {send.Buttons("Kettle?", yes), withValue},
		"a value beside":     {send.Buttons("Kettle?", beside), withValue},
		"a card's button":    {send.Carousel(send.Card{Title: "Pot"}, send.Card{Title: "Kettle", Buttons: []send.Button{yes}}), withValue},
		"two that are alike": {send.Buttons("Kettle?", send.Postback("Yes", "yes"), send.Postback("Yes", "yes")), "yes"},
		"a quick reply":      {send.QuickReplies("Kettle?", send.QuickReply{Title: "Yes", Payload: "quick"}), "quick"},
		"a quick reply's title": {
			send.QuickReplies("Kettle?", send.QuickReply{ContentType: "location"}, send.QuickReply{Title: "Yes"}), "Yes",
		},
	} {
		p, payloads := till(t, c.shown)
		p.ada.TapsOn("Yes")
		require.Equal(t, []any{c.want}, *payloads, name)
	}
}

func TestTapsOn_NewestMessage(t *testing.T) {
	t.Parallel()
	p, payloads := till(t,
		send.Buttons("Kettle?", send.Postback("Yes", "old"), send.Postback("Never", "never")),
		send.Buttons("Pot?", send.Postback("Yes", "new")), send.Text("Well?"))
	_, err := p.lise.Context().SendResponse(t.Context(), send.SendResponseParams{
		Response: send.Buttons("Cup?", send.Postback("Yes", "Lise's")),
	})
	require.NoError(t, err)
	p.ada.TapsOn("Yes")
	p.ada.TapsOn("Never")
	require.Equal(t, []any{"new", "never"}, *payloads)
}

func TestTapsOn_QuickRepliesAreGone(t *testing.T) {
	t.Parallel()
	p, payloads := till(t, send.QuickReplies("Kettle?", send.QuickReply{Title: "Yes"}), send.Typing(0))
	p.ada.TapsOn("Yes")
	p.show(t, send.Text("Well?"))
	require.ErrorIs(t, p.ada.TryTapsOn("Yes"), boterr.FailedPrecondition)
	require.Len(t, *payloads, 1)
}

func TestTapsOn_NotThere(t *testing.T) {
	t.Parallel()
	for want, shown := range map[string]send.Response{
		`Ada tapped on "Yes"`:                 send.Buttons("Kettle?", send.WebURL("Yes", "https://shop.example")),
		`is shown nothing that can be tapped`: send.Text("Kettle?"),
		`there is [yes], [No]`:                send.Buttons("Kettle?", send.Postback("yes", "y"), send.Postback("No", "n")),
	} {
		var tb recordedTB
		tb.run(func(platform *fakes.Platform) {
			ada := platform.AddMember(member.Member{FirstName: "Ada"})
			_, err := ada.Context().SendResponse(t.Context(), send.SendResponseParams{Response: shown})
			require.NoError(t, err)
			ada.TapsOn("Yes")
		})
		require.Len(t, tb.failures, 1, want)
		require.Contains(t, tb.failures[0], want)
	}
}

func TestTryTapsOn_ErrorOfTheRun(t *testing.T) {
	t.Parallel()
	p, _ := till(t, send.Buttons("Kettle?", send.Postback("Yes", "yes")))
	p.HandleFunc(func(context.Context, *botctx.Context) error {
		return boterr.New(boterr.Unavailable, "", "the till is stuck")
	})
	require.ErrorIs(t, p.ada.TryTapsOn("Yes"), boterr.Unavailable)
}

func TestTappables_NewestFirst(t *testing.T) {
	t.Parallel()
	p, payloads := till(t, send.Buttons("Kettle?", send.Postback("Yes", "kettle")), send.Buttons("Pot?", send.Postback("Yes", "pot")))
	all := p.ada.Tappables()
	require.Len(t, all, 2)
	require.Equal(t, "pot", all[0].Payload)
	require.NotEqual(t, all[0].MessageID, all[1].MessageID)
	p.ada.Sends(all[1].Event())
	require.Equal(t, []any{"kettle"}, *payloads)
}
