package conversation_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

var _ = flag.Bool("update", false, "write the files that tests compare with")

func TestRun(t *testing.T) {
	t.Parallel()
	conversation.Run(t, "testdata/*.chat", func(t *testing.T) *conversation.Session {
		t.Helper()
		p := fakes.New(fakes.For(t))
		p.Handle(nodes()...)
		return conversation.NewSession(p)
	})
}

// nodes are a shop of kettles.
func nodes() []*botctx.Node {
	return []*botctx.Node{
		{ID: "kettles", Trigger: botctx.TextIs("kettles"), Responses: []send.Response{send.Carousel(
			send.Card{Title: "Steel", Subtitle: "holds two litres", Buttons: []send.Button{
				send.Postback("Buy", "steel"), send.WebURL("More", "https://shop.example/steel"),
			}},
			send.Card{Title: "Glass", Buttons: []send.Button{send.Postback("Buy", "glass")}},
		).With("text", "Which one?")}},
		{ID: "bought", Trigger: botctx.TriggerFunc(isTap), Pre: botctx.Do(confirm)},
		{ID: "pay", Trigger: botctx.TextIs("pay"), Pre: botctx.Do(func(context.Context, *botctx.Context) error {
			return boterr.New(boterr.Unavailable, "", "the till does not answer: try it later")
		})},
		{ID: "person", Trigger: botctx.TextIs("a person"), Pre: botctx.Do(callPerson), Responses: botctx.Say("Somebody comes.")},
		{ID: "remind", Trigger: botctx.TextIs("remind me"), Pre: botctx.Do(schedule), Responses: botctx.Say("I will.")},
		{ID: "unknown", Trigger: botctx.TextIs("שלום"), Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
			return bot.Reply(ctx, send.Text(`אני לא מבין "`+bot.MessageEvent.Text()+`".`))
		})},
		{ID: "reminder", Responses: botctx.Say("The kettle boils.")},
	}
}

func isTap(_ context.Context, bot *botctx.Context) (bool, error) {
	return bot.MessageEvent.Type == send.TypePayload, nil
}

func confirm(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text("You bought "+bot.MessageEvent.Payload()+"."))
}

func callPerson(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Summary: "A kettle leaks."},
	})
	return err
}

func schedule(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.NewAgenda(ctx, agenda.NewAgendaParams{
		MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(bot.Now().Add(24 * time.Hour)),
	})
	return err
}
