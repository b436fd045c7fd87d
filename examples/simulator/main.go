// Command simulator is the bot of a bakery, to be tried in the browser: several members on two platforms, an
// agent, a payment account, mails, a data source and an agenda.
//
//	go -C examples run ./simulator
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/examples/program"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

const usage = `Usage: simulator [-address host:port]

The bot of a bakery, in a page of the browser. Ctrl-C ends it.
`

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, out, problems io.Writer) int {
	address := simulator.DefaultAddress
	return program.Program{
		Name: "simulator", Usage: usage,
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&address, "address", address, "where to listen, as `host:port`")
		},
		Do: func() error {
			bakery := newBakery()
			bakery.Address, bakery.Out = address, out
			return bakery.Serve(ctx)
		},
	}.Run(args, problems)
}

// newBakery returns the bakery with its members and agents.
func newBakery() simulator.Simulator {
	p := newPlatform()
	return simulator.Simulator{
		Platform: p, Bot: "Bakery",
		Members: []*fakes.Actor{
			p.AddMember(member.Member{FirstName: "Ada", Channel: "web", Email: "ada@example.com"}),
			p.AddMember(member.Member{FirstName: "Bob", Channel: "phone"}),
		},
		Agents:   []*fakes.Agent{p.AddAgent("desk", "Grace")},
		Accounts: []*fakes.Account{p.Account(account)},
		Test:     simulator.Test{Platform: "newPlatform(fakes.For(t))"},
	}
}

// newPlatform returns the bakery without its members or agents: its nodes, channels, account and orders.
func newPlatform(options ...fakes.Option) *fakes.Platform {
	p := fakes.New(options...)
	p.Handle(nodes()...)
	p.AddAccount(account)
	p.AddChannel(channel.Channel{ID: "web", Type: channel.Webchat})
	p.AddChannel(channel.Channel{ID: "phone", Type: channel.Bravo})
	p.AddChannel(channel.Channel{
		ID: "desk", Type: channel.Charlie,
		PriorityGroups:  []channel.PriorityGroup{{Group: "everybody", Trees: []string{"agents"}}},
		BroadcastGroups: []channel.BroadcastGroup{{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support"}}}},
	})
	p.Pair("web", "desk")
	p.Pair("phone", "desk")
	p.AddData(orders)
	return p
}

// orders is the data source of orders. account is the payment account.
const (
	orders  = "orders"
	account = "bakery"
)

// nodes returns the bot of a bakery that takes orders.
func nodes() []*botctx.Node {
	return []*botctx.Node{
		{
			ID: "welcome", Global: botctx.GlobalInTree, Trigger: botctx.TextIs("hi", "hello"),
			Responses: []send.Response{send.QuickReplies("Hello {{firstName}}! What shall it be?",
				send.QuickReply{Title: "Bread", Payload: "bread"}, send.QuickReply{Title: "A person", Payload: "person"}).WithPlaceholders()},
		},
		{
			ID: "breads", Global: botctx.GlobalInTree, Trigger: botctx.AnyOf(botctx.TextIs("bread"), botctx.PayloadIs("bread")),
			SavesPosition: true,
			Responses: []send.Response{send.Carousel(
				send.Card{Title: "Rye", Subtitle: "One kilogram, 4.20", Buttons: []send.Button{send.Postback("Order rye", "rye")}},
				send.Card{Title: "Wheat", Subtitle: "Half a kilogram, 2.80", Buttons: []send.Button{send.Postback("Order wheat", "wheat")}},
			)},
		},
		{
			ID: "order", Parent: "breads", Trigger: botctx.PayloadIs("rye", "wheat"), Pre: botctx.Do(order),
			Schedules: botctx.Nodes("ready"), SavesPosition: true, Responses: botctx.Say("Ordered: {{meta.bread}}. It is ready in two hours."),
		},
		{ID: "cancel", Parent: "order", Trigger: botctx.TextIs("cancel"), Pre: botctx.Do(cancel), Responses: botctx.Say("Your order is gone.")},
		{ID: "ready", Pre: botctx.Do(receipt), Responses: botctx.Say("Your {{meta.bread}} bread is ready.")},
		{
			ID: "person", Global: botctx.GlobalInTree, Trigger: botctx.AnyOf(botctx.TextIs("person"), botctx.PayloadIs("person")),
			Pre: botctx.Do(callPerson), Responses: botctx.Say("Somebody comes."),
		},
		{
			ID: "help", Global: botctx.GlobalInTree, Trigger: botctx.AnyText(), Priority: botctx.FallbackPriority,
			Responses: []send.Response{send.Buttons("I know bread, and people.",
				send.Postback("See the bread", "bread"), send.Postback("Ask a person", "person"))},
		},
	}
}

// prices are the prices of the breads, in cents.
var prices = map[string]int64{"rye": 420, "wheat": 280}

// order charges the price, stores the order, and schedules the message for when it is ready.
func order(ctx context.Context, bot *botctx.Context) error {
	bread := document.Get(bot.MessageEvent.Data, "payload", "")
	bot.Member.Meta.Set("bread", bread)
	if err := charge(ctx, bot, bread); err != nil {
		return err
	}
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: orders, Data: []document.Object{document.O("_id", bot.Member.ID, "bread", bread, "state", "baking")},
	})
	if err != nil {
		return err
	}
	_, err = bot.NewAgenda(ctx, agenda.NewParams{
		MemberID: bot.Member.ID, NodeCompositeID: "ready", Tag: "order", Replace: true,
		NextRunAt: document.TimestampOf(bot.Now().Add(2 * time.Hour)),
	})
	return err
}

// charge charges the price of a bread. A repeated event charges only once.
func charge(ctx context.Context, bot *botctx.Context, bread string) error {
	shop, err := bot.Golf(ctx, utility.GolfParams{GolfName: account})
	if err != nil {
		return err
	}
	_, err = shop.Client.Charge(ctx, utility.Charge{
		Amount: prices[bread], Currency: "eur", Description: bread, PaymentMethod: "card-of-" + bot.Member.ID,
		IdempotencyKey: bot.MessageEvent.MessageID,
	})
	return err
}

// cancel removes the scheduled messages of the order.
func cancel(ctx context.Context, bot *botctx.Context) error {
	if _, err := bot.DeleteMemberAgenda(ctx, agenda.DeleteParams{MemberID: bot.Member.ID, Tag: "order"}); err != nil {
		return err
	}
	_, err := bot.PatchDataToDataSource(ctx, datasource.PatchParams{
		DataSourceID: orders, Filter: document.O("_id", bot.Member.ID), Patch: document.O("state", "cancelled"),
	})
	return err
}

// receipt sends a mail to a member with an address.
func receipt(ctx context.Context, bot *botctx.Context) error {
	if bot.Member.Email == "" {
		return nil
	}
	bread := document.Get(bot.Member.Meta, "bread", "")
	_, err := bot.SendEmail(ctx, utility.SendEmailParams{
		Destination: utility.EmailDestination{ToAddresses: []string{bot.Member.Email}},
		Message: utility.EmailMessage{
			Subject: utility.EmailText{Data: "Your receipt"},
			Body:    utility.EmailBody{Text: &utility.EmailText{Data: fmt.Sprintf("One %s bread: %.2f.", bread, float64(prices[bread])/100)}},
		},
	})
	return err
}

func callPerson(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Summary: bot.Member.FirstName + " has a question."},
	})
	return err
}
