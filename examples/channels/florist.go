package main

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// The nodes to which the events of payments lead, from outside of the bot.
const (
	nodePaid     = "paid"
	nodeRefunded = "refunded"
)

// Nodes returns the bot: what customers may say and tap, and what their payments lead to. It
// is the same on every platform.
func Nodes() []*botctx.Node {
	return []*botctx.Node{
		{
			ID: "bouquets", Trigger: said("bouquets"), Global: botctx.GlobalInTree,
			Responses: []send.Response{send.Typing(800 * time.Millisecond), catalogue()},
		},
		{ID: "week", Trigger: said("week"), Global: botctx.GlobalInTree, Pre: botctx.Do(showBouquetOfTheWeek)},

		{ID: "order", Trigger: said("order"), Global: botctx.GlobalInTree, Pre: botctx.Do(order)},
		{ID: nodePaid, Entry: true, Redirect: botctx.ToOneOf(confirmOnce, "unknown payment", "confirmed")},
		{ID: "confirmed", Pre: botctx.Do(keepReceipt, markBuyer, confirm, mailReceipt, rememberPaid)},
		{ID: "unknown payment", Pre: botctx.Do(giveBack)},
		{ID: "cancel", Trigger: said("cancel"), Global: botctx.GlobalInTree, Pre: botctx.Do(cancel)},
		{ID: nodeRefunded, Entry: true, Redirect: botctx.ToOneOf(forgetOnce, "forgotten")},
		{
			ID: "forgotten", Responses: botctx.Say("Cancelled: {{meta.order.price}} come back to your card."),
			Post: botctx.Do(forgetOrder),
		},

		{ID: "person", Trigger: said("person"), Global: botctx.GlobalInTree, Pre: botctx.Do(callPerson)},
		{ID: "bye", Trigger: said("bye"), Global: botctx.GlobalInTree, Pre: botctx.Do(sayGoodbye)},
		{
			ID: "hello", Trigger: botctx.AnyText(), Global: botctx.GlobalInTree, Priority: botctx.FallbackPriority,
			Responses: []send.Response{hello()},
		},
	}
}

// said matches a word, said or tapped.
func said(word string) botctx.Trigger {
	return botctx.AnyOf(botctx.TextIs(word), botctx.PayloadIs(word))
}

// hello says what customers can do.
func hello() send.Response {
	return send.QuickReplies("Hello {{firstName}}! I am the bot of Fern & Fig. What would you like?",
		send.QuickReply{Title: "Bouquets", Payload: "bouquets"},
		send.QuickReply{Title: "Bouquet of the week", Payload: "week"},
		send.QuickReply{Title: "A person", Payload: "person"},
	).WithPlaceholders()
}

// catalogue shows the bouquets, each with a button that orders it.
func catalogue() send.Response {
	var cards []send.Card
	for _, b := range bouquets {
		cards = append(cards, send.Card{
			Title: b.Name, Subtitle: priceOf(b.Cents), ImageURL: b.picture(),
			Buttons: []send.Button{send.PostbackValue("Order", "order", b.ID)},
		})
	}
	return send.Carousel(cards...)
}

// showBouquetOfTheWeek shows the bouquet of the week by the best that each platform has: an
// article on Echo, a template on Bravo, and else a picture, which Alpha keeps for the next
// customer.
func showBouquetOfTheWeek(ctx context.Context, bot *botctx.Context) error {
	switch bot.Channel.Type {
	case channel.Alpha:
		kept, err := bot.AlphaGetAttachmentID(ctx, send.AlphaGetAttachmentIDParams{
			Type: send.AttachmentType(send.TypeImage), URL: ofTheWeek.picture(),
		})
		if err != nil {
			return err
		}
		return bot.Reply(ctx, send.Attachment(send.TypeImage, kept.AttachmentID))
	case channel.Bravo:
		return bot.Reply(ctx, send.BravoTemplate("bouquet_of_the_week", "en_US", document.O(
			"type", "body", "parameters", document.A(document.O("type", "text", "text", ofTheWeek.Name)))))
	case channel.Echo:
		return bot.Reply(ctx, send.News(send.Article{
			Title: ofTheWeek.Name, Description: "Our bouquet of the week", URL: ofTheWeek.page(), PicURL: ofTheWeek.picture(),
		}))
	default:
		return bot.Reply(ctx, send.Image(ofTheWeek.picture()))
	}
}

// callPerson hands the customer to the people who answer for the page on Alpha, and the bot
// is silent from then on. Elsewhere customers can call.
func callPerson(ctx context.Context, bot *botctx.Context) error {
	if bot.Channel.Type != channel.Alpha {
		return bot.Reply(ctx, send.Text("Call us: 555 0110, daily from 8 to 20."))
	}
	if err := bot.Reply(ctx, send.Text("Somebody from the shop will write to you here.")); err != nil {
		return err
	}
	_, err := bot.AlphaPassThreadControl(ctx, send.AlphaPassThreadControlParams{
		Metadata: bot.Member.FirstName + " asks for a person",
	})
	return err
}

// sayGoodbye ends the conversation. On Charlie it is archived, so that the list of
// conversations stays short.
func sayGoodbye(ctx context.Context, bot *botctx.Context) error {
	sent, err := bot.SendResponse(ctx, send.SendResponseParams{Response: send.Template("Goodbye, {{firstName}}!")})
	if err != nil || bot.Channel.Type != channel.Charlie {
		return err
	}
	_, err = bot.CharlieArchiveConversation(ctx, send.CharlieArchiveConversationParams{
		MessageEvent: &send.MessageEvent{To: sent.Result().ChatID},
	})
	return err
}
