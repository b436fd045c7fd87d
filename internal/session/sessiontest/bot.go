// Package sessiontest has a bot with which tests of user interfaces for a session talk.
package sessiontest

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// Nodes returns the nodes of the bot.
func Nodes() []*botctx.Node {
	all := []*botctx.Node{
		{ID: "hello", Trigger: botctx.TextIs("hi"), Responses: botctx.Say("Hello {{firstName}}!")},
		{ID: "sure", Trigger: botctx.TextIs("sure?"), Responses: []send.Response{send.QuickReplies("Are you sure?",
			send.QuickReply{Title: "Yes", Payload: "yes"}, send.QuickReply{Title: "No", Payload: "no"})}},
		{ID: "kettles", Trigger: botctx.TextIs("kettles"), Responses: []send.Response{send.Carousel(
			send.Card{Title: "Steel", Subtitle: "two litres", Buttons: []send.Button{
				send.PostbackValue("Buy", "buy", document.O("kind", "steel")), send.WebURL("More", "https://shop.example/steel"),
			}},
			send.Card{Title: "Glass", Buttons: []send.Button{send.PostbackValue("Buy", "buy", document.O("kind", "glass"))}},
		)}},
		{ID: "tapped", Trigger: botctx.When(isTap), Pre: botctx.Do(Repeat)},
		{ID: "remind", Trigger: botctx.TextIs("remind me"), Pre: botctx.Do(Schedule), Responses: botctx.Say("I will.")},
		{ID: "person", Trigger: botctx.TextIs("a person"), Pre: botctx.Do(CallPerson), Responses: botctx.Say("Somebody comes.")},
		{ID: "coupon", Trigger: botctx.TextIs("coupon"), Pre: botctx.Do(KeepCoupon), Responses: botctx.Say("Kept.")},
		{ID: "break", Trigger: botctx.TextIs("break"), Pre: botctx.Do(func(context.Context, *botctx.Context) error {
			return boterr.New(boterr.Unavailable, "", "the till does not answer: try it later")
		})},
		{ID: "panic", Trigger: botctx.TextIs("panic"), Pre: botctx.Do(func(context.Context, *botctx.Context) error { panic("no kettle") })},
		{ID: "markup", Trigger: botctx.TextIs("markup"), Responses: botctx.Say(
			`<b id="injected">bold</b><script>document.title = "injected"</script>`)},
	}
	for _, node := range all {
		node.Global = botctx.GlobalInTree
	}
	return append(all, &botctx.Node{ID: "reminder", Responses: botctx.Say("The kettle boils.")})
}

func isTap(bot *botctx.Context) bool { return bot.MessageEvent.Type == send.TypePayload }

// Repeat answers with the text that the member sent.
func Repeat(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text("You sent "+bot.MessageEvent.Data.String()))
}

// Schedule schedules the node reminder in a day.
func Schedule(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.NewAgenda(ctx, agenda.NewParams{
		MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(bot.Now().Add(24 * time.Hour)), Tag: "kettle",
	})
	return err
}

// CallPerson requests a person.
func CallPerson(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Summary: "A kettle leaks."},
	})
	return err
}

// KeepCoupon gives the member a coupon, and keeps it in a data source.
func KeepCoupon(ctx context.Context, bot *botctx.Context) error {
	bot.Member.Meta.Set("coupon", "SPRING")
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: "coupons", Data: []document.Object{document.O("code", "SPRING", "by", bot.Member.FirstName)},
	})
	return err
}
