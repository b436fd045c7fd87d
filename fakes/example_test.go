package fakes_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// greet greets the member and repeats the message.
func greet(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text("Hello "+bot.Member.FirstName+", you said: "+bot.MessageEvent.Text()))
}

func TestGreeting(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(greet)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("hi")

	require.Equal(t, "Hello Ada, you said: hi", ada.Last())
}

func Example() {
	p := fakes.New()
	p.HandleFunc(greet)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("hi")

	fmt.Println(ada.Last())
	// Output:
	// Hello Ada, you said: hi
}

// nodes returns a bot that gives out coupons, and reminds members of them.
func nodes() []*botctx.Node {
	return []*botctx.Node{
		{ID: "coupon", Trigger: botctx.TextIs("coupon"), Pre: botctx.Do(claim), Schedules: botctx.Nodes("reminder")},
		{ID: "reminder", Pre: botctx.Do(remind)},
	}
}

// claim gives the member a free coupon and sets the reminder.
func claim(ctx context.Context, bot *botctx.Context) error {
	taken, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: "coupons",
		// Prefer a coupon that an earlier, interrupted run took for this member.
		Filter: document.O("$or", document.A(document.O("by", bot.Member.ID), document.O("taken", false))),
		SortBy: document.O("taken", -1),
		Patch:  document.Set("taken", true, "by", bot.Member.ID),
	})
	if err != nil {
		return err
	}
	if taken.Value == nil {
		return bot.Reply(ctx, send.Text("Sorry, all gone."))
	}
	code := document.Get(taken.Value, "code", "")
	_, err = bot.NewAgenda(ctx, agenda.NewParams{
		MemberID: bot.Member.ID, NodeCompositeID: "reminder", Tag: "coupon", Replace: true,
		NextRunAt: document.TimestampOf(bot.Now().Add(24 * time.Hour)),
		Meta:      document.O("code", code), // The reminder keeps the code, even if this run fails.
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Your code: "+code))
}

// remind reminds a member of the coupon.
func remind(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text("Still yours: "+document.Get(bot.AgendaMeta, "code", "")))
}

func TestCoupon_GivenOnceAndRemindedOf(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(nodes()...)
	p.AddData("coupons", document.O("code", "SPRING", "taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	bob := p.AddMember(member.Member{FirstName: "Bob"})

	ada.Says("coupon")
	bob.Says("coupon")
	require.Equal(t, "Your code: SPRING", ada.Last())
	require.Equal(t, "Sorry, all gone.", bob.Last())

	p.Advance(24 * time.Hour)
	require.Equal(t, "Still yours: SPRING", ada.Last())
}

func TestCoupon_GivenOnceUnderFaults(t *testing.T) {
	t.Parallel()
	explore.Faults(t, rounds.Of(t, 30, 600), func(t *explore.T, p *fakes.Platform) {
		p.Handle(nodes()...)
		p.AddData("coupons", document.O("code", "SPRING", "taken", false))
		ada := p.AddMember(member.Member{FirstName: "Ada"})
		if ada.TrySays("coupon") != nil {
			t.Settle(time.Hour)
			_ = ada.TrySaysAgain() // The platform got no answer to the message.
		}
		t.Settle(48 * time.Hour)
		texts := make([]string, 0, 2)
		for _, message := range ada.Messages() {
			texts = append(texts, message.Text())
		}
		require.Subset(t, []string{"Your code: SPRING", "Still yours: SPRING"}, texts)
	}, explore.PlatformOptions(fakes.WithInbox()))
}

func TestClaim_ReportsFailedAgenda(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddData("coupons", document.O("code", "SPRING", "taken", false))
	p.Inject(fakes.Fails(botctx.OpNewAgenda, boterr.Conflict))
	bot := p.AddMember(member.Member{}).Context() // Outside a run.
	require.ErrorIs(t, claim(t.Context(), bot), boterr.Conflict)
}

func ExamplePlatform_Handle() {
	p := fakes.New()
	p.Handle(nodes()...)
	p.AddData("coupons", document.O("code", "SPRING", "taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("coupon")
	fmt.Println(ada.Last())
	p.Advance(24 * time.Hour)
	fmt.Println(ada.Last())
	// Output:
	// Your code: SPRING
	// Still yours: SPRING
}

func ExampleNewMembers() {
	ctx := context.Background()
	members := fakes.NewMembers()

	changed, err := members.PatchMembers(ctx, member.PatchParams{
		MemberID: members.Member.ID(),
		Patch:    document.O("meta.visits", 1),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(changed.Result.ID, changed.Result.Meta, changed.Result.Version)
	// Output:
	// member-1 {"visits":1} 2
}

func ExamplePlatform_AddChannel() {
	p := fakes.New()
	p.HandleFunc(greet)
	shop := p.AddChannel(channel.Channel{Type: channel.Alpha, Name: "Shop"})
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: shop.ID})

	ada.Says("hi")

	for _, sent := range p.Sent() {
		fmt.Println(sent.Type, sent.Channel, sent.To, sent.Response)
	}
	// Output:
	// alpha channel-1 1000000000000001 {"type":"TEXT","text":"Hello Ada, you said: hi"}
}

func ExamplePlatform_AddAgent() {
	p := fakes.New()
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{})
		return err
	})
	p.AddChannel(channel.Channel{ID: "shop"})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
	}})
	p.Pair("shop", "desk")
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: "shop"})
	grace := p.AddAgent("desk", "Grace")

	ada.Says("a person, please")
	fmt.Println(grace.Ticket().Text())
	grace.Takes(grace.Ticket())
	ada.Says("It leaks.")
	fmt.Println(grace.Last())
	grace.Says("Where?")
	fmt.Println(ada.Last())
	// Output:
	// Ada asks for a person.
	// It leaks.
	// Where?
}

// The graph of a bot is a diagram in Mermaid, which Markdown viewers show.
func Example_graph() {
	p := fakes.New()
	p.Handle(nodes()...)
	fmt.Print(p.Runtime().Graph().Mermaid())
	// Output:
	// flowchart TD
	//   n0["coupon<br>text is #quot;coupon#quot;"]
	//   n1["reminder"]
	//   n0 -. "agenda" .-> n1
}

func Example_upsert() {
	ctx := context.Background()
	data := fakes.NewDataSources()
	for range 2 {
		saved, err := data.UpsertDataToDataSource(ctx, datasource.UpsertParams{
			DataSourceID: "answers",
			Data: document.One(
				document.O("_id", "q1", "answer", "yes"),
				document.O("answer", "no id, so always new"),
			),
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(saved.Result.DocsIDs.Updated, saved.Result.DocsIDs.Upserted, saved.Result.DocsIDs.Inserted)
	}
	// Output:
	// [] [q1] [id-1]
	// [q1] [] [id-2]
}

func Example_geoQuery() {
	p := fakes.New()
	p.AddData("places",
		document.O("name", "Museum", "location", document.A(0.1190, 52.2003)),
		document.O("name", "Station", "location", document.A(0.1373, 52.1942)),
		document.O("name", "Airport", "location", document.A(0.1750, 52.2050)),
	)
	ada := p.AddMember(member.Member{})

	near, err := ada.Context().FetchGeoNearFromDataSource(context.Background(), datasource.FetchGeoNearParams{
		DataSourceID: "places",
		Data: document.O(
			"near", document.O("type", "Point", "coordinates", document.A(0.1218, 52.2053)),
			"maxDistance", 2000, // metres
			"distanceField", "metres",
		),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, place := range near.Entries {
		fmt.Printf("%s %.0f m\n", document.Get(place, "name", ""), document.Get(place, "metres", 0.0))
	}
	// Output:
	// Museum 588 m
	// Station 1626 m
}

func Example_callByName() {
	ctx := context.Background()
	ada := fakes.New().AddMember(member.Member{FirstName: "Ada"})

	result, err := ada.Context().Call(ctx, "countDataSource", []byte(`{"dataSourceId": "answers", "filter": {"done": true}}`))
	fmt.Println(string(result), err)
	_, err = ada.Context().Call(ctx, "getMember", []byte(`{"memberId": "member-9"}`))
	fmt.Println(err)
	// Output:
	// 0 <nil>
	// getMember: not found: memberId: there is no member member-9 here
}

func ExampleTimesOut() {
	p := fakes.New()
	p.AddData("coupons", document.O("code", "SPRING", "taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	p.Inject(fakes.TimesOut(botctx.OpFindAndModifyDataFromDataSource))

	fmt.Println(claim(context.Background(), ada.Context()))
	fmt.Println("taken all the same:", document.Get(p.Data("coupons")[0], "taken", false))
	// Output:
	// findAndModifyDataFromDataSource: unavailable: the test makes this call report a time-out, although it was carried out
	// taken all the same: true
}

func ExamplePlatform_Calls() {
	p := fakes.New()
	p.HandleFunc(claim)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("coupon")

	for _, call := range p.Calls() {
		fmt.Println(call.Op, call.Err)
	}
	fmt.Println(len(p.Calls(botctx.OpSendResponse)))
	// Output:
	// findAndModifyDataFromDataSource <nil>
	// sendResponse <nil>
	// 1
}

func ExamplePlatform_Transcript() {
	p := fakes.New()
	p.HandleFunc(claim)
	p.AddData("coupon", document.O("code", "SPRING", "taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("coupon")

	fmt.Print(p.Transcript())
	// Output:
	// 2026-01-01 00:00:00.000  Ada -> "coupon"
	// 2026-01-01 00:00:00.000  HandleFunc answers: fakes_test.claim
	// 2026-01-01 00:00:00.000  findAndModifyDataFromDataSource {"dataSourceId":"coupons","filter":{"$or":[{"by":"member-1"},{"taken":false}]},"patch":{"$set":{"taken":true,"by":"member-1"}},"sortBy":{"taken":-1}} -> {"ok":1,"value":null} (the data source "coupons" was never added; did you mean "coupon"?)
	// 2026-01-01 00:00:00.000  Ada <- "Sorry, all gone."
}

func ExamplePlatform_Fork() {
	p := fakes.New()
	p.HandleFunc(claim)
	p.AddData("coupons", document.O("code", "SPRING", "taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	fork := p.Fork()
	ada.In(fork).Says("coupon")
	ada.Says("coupon")

	fmt.Println(ada.In(fork).Last())
	fmt.Println(ada.Last())
	// Output:
	// Your code: SPRING
	// Your code: SPRING
}

func ExamplePlatform_Restore() {
	p := fakes.New()
	p.HandleFunc(claim)
	p.AddData("coupons", document.O("code", "SPRING", "taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	before := p.Snapshot()
	ada.Says("coupon")
	p.Restore(before)

	fmt.Println(len(ada.Messages()), document.Get(p.Data("coupons")[0], "taken", true))
	// Output:
	// 0 false
}

func ExamplePlatform_Since() {
	p := fakes.New() // In a test: fakes.New(fakes.For(t)).
	p.Handle(&botctx.Node{ID: "menu", Trigger: botctx.TextIs("menu"), Responses: botctx.Say("Tea or coffee?"), SavesPosition: true})
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	before := p.Snapshot()
	ada.Says("menu")
	changes := p.Since(before)

	position, _ := changes.Members[0].Field("botMeta.nodeCompositeId")
	fmt.Println(position)
	fmt.Println(changes.Sent[0].Response.Text())
	// Output:
	// botMeta.nodeCompositeId: none -> "menu"
	// Tea or coffee?
}

func ExampleActor_Sees() {
	p := fakes.New() // In a test: fakes.New(fakes.For(t), fakes.EveryMessageExpected()).
	p.Handle(&botctx.Node{ID: "book", Trigger: botctx.TextIs("book"), Responses: botctx.Say("Gladly.", "Which date?")})
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	defer func() { fmt.Println(recover()) }() // A failing test prints this.
	ada.Says("book")
	ada.Sees("Gladly.")
	ada.Sees("Which day?")
	// Output:
	// fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node book:
	//   expected "Which day?"
	//     "Which day?"
	//     "Which date?"
	//              ^
}

// Faults in calls of operations, an outage until it is lifted, and a failing answer of the web.
func Example_faults() {
	ctx := context.Background()
	p := fakes.New()
	bot := p.AddMember(member.Member{FirstName: "Ada"}).Context()
	orders := func() error {
		_, err := bot.CountDataSource(ctx, datasource.CountParams{DataSourceID: "orders"})
		return err
	}

	p.Inject(fakes.Fails(botctx.OpCountDataSource, boterr.Conflict))
	p.Inject(fakes.Fails(botctx.OpCountDataSource, boterr.Conflict))
	p.Inject(fakes.Delays(botctx.OpCountDataSource, time.Minute).At(3))
	p.Inject(fakes.TimesOut(botctx.OpCountDataSource).At(4))
	for range 5 {
		fmt.Println(boterr.CodeOf(orders()), p.Now().Format(time.TimeOnly))
	}

	p.Inject(fakes.Down(fakes.ServiceDataSources).Of("orders"))
	fmt.Println(orders())
	fmt.Println(orders())
	p.Lift(fakes.Down(fakes.ServiceDataSources).Of("orders"))
	fmt.Println(orders())

	p.ReplyHTTP("GET", "https://api.example.com/", web.Fail(boterr.Unavailable), web.Text(200, "ready"))
	for range 2 {
		_, err := bot.Fetch(ctx, outbound.Request{URL: "https://api.example.com/"})
		fmt.Println(err)
	}
	// Output:
	// conflict 00:00:00
	// conflict 00:00:00
	//  00:01:00
	// unavailable 00:01:00
	//  00:01:00
	// countDataSource: unavailable: the test has disconnected the data source orders
	// countDataSource: unavailable: the test has disconnected the data source orders
	// <nil>
	// fetch: unavailable: the exchange with api.example.com failed: unavailable
	// <nil>
}

func ExampleConfig_logger() {
	onlyMessages := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key != slog.LevelKey && a.Key != slog.MessageKey {
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: onlyMessages}))
	p := fakes.New(fakes.Config(func(c *botctx.Config) { c.Logger = logger }))
	p.HandleFunc(func(context.Context, *botctx.Context) error { panic("no more tea") })

	_ = p.AddMember(member.Member{FirstName: "Ada"}).TrySays("hi")
	// Output:
	// level=ERROR msg="botctx: panic"
}

// order counts a member's orders, and confirms.
func order(ctx context.Context, bot *botctx.Context) error {
	orders := document.Get(bot.Member.Meta, "orders", 0) + 1
	bot.Member.Meta = bot.Member.Meta.With("orders", orders)
	return bot.Reply(ctx, send.Text(fmt.Sprintf("That is order %d.", orders)))
}

// A bot crashes between its write and its reply.
func ExamplePlatform_Crash() {
	p := fakes.New(fakes.WithInbox())
	p.HandleFunc(order)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	p.Inject(fakes.Crashes(botctx.OpSendResponse))
	ada.Says("one kettle")
	fmt.Println(len(ada.Messages()), "answers, and the process is gone")

	p.Restart()
	p.Advance(time.Second) // The pause after a lost run.
	ada.SaysAgain()        // The platform repeats the message that was already handled.
	fmt.Println(len(ada.Messages()), "answer:", ada.Last())

	// Output:
	// 0 answers, and the process is gone
	// 1 answer: That is order 1.
}

func ExampleActor_Tags() {
	ctx := context.Background()
	p := fakes.New()
	p.AddChannel(channel.Channel{ID: "account", Type: channel.Echo})
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: "account"})

	var answer send.EchoSaveMemberTagResult
	for tag := range int64(send.MaxMemberTags + 1) {
		answer, _ = ada.Context().EchoSaveMemberTag(ctx, send.EchoSaveMemberTagParams{TagID: &tag})
	}

	fmt.Println(len(ada.Tags()) == send.MaxMemberTags, answer.ErrCode)
	// Output:
	// true 45059
}

func ExamplePlatform_Broadcasts() {
	ctx := context.Background()
	p := fakes.New()
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: "page"})
	bot := ada.Context()

	_, err := bot.AlphaSaveCustomLabel(ctx, send.AlphaSaveCustomLabelParams{LabelID: "buyers"})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = bot.AlphaCreateBroadcast(ctx, send.AlphaCreateBroadcastParams{Response: send.Text("New kettles!")})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = bot.AlphaSendBroadcast(ctx, send.AlphaSendBroadcastParams{
		BroadcastID: send.BroadcastID(strconv.FormatInt(p.StoredMessages("page")[0].ID, 10)), LabelID: "buyers", NotificationType: "REGULAR",
	})

	fmt.Println(len(p.Broadcasts("page")[0].Reached), ada.Last(), err)
	// Output:
	// 1 New kettles! <nil>
}

func ExampleLimits() {
	p := fakes.New()
	p.HandleFunc(greet)
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: "page"})
	p.Inject(fakes.Limits("page", 1, time.Minute))

	fmt.Println(ada.TrySays("one"))
	fmt.Println(boterr.CodeOf(ada.TrySays("two")))
	p.Advance(time.Minute)
	fmt.Println(ada.TrySays("three"))
	// Output:
	// <nil>
	// resource exhausted
	// <nil>
}

func ExampleRefuses() {
	p := fakes.New()
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	lise := p.AddMember(member.Member{FirstName: "Lise"})
	p.Inject(fakes.Refuses(ada, boterr.FailedPrecondition))

	_, err := lise.Context().SendResponse(context.Background(), send.SendResponseParams{
		MemberID: document.OneOrMany[string]{ada.ID(), lise.ID()}, Response: send.Text("Hello!"),
	})

	fmt.Println(boterr.CodeOf(err), len(ada.Messages()), len(lise.Messages()))
	// Output:
	// unavailable 0 1
}

// buy charges the member for a kettle.
func buy(ctx context.Context, bot *botctx.Context) error {
	shop, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
	if err != nil {
		return err
	}
	_, err = shop.Client.Charge(ctx, utility.Charge{
		Amount: 2500, Currency: "eur", PaymentMethod: "card", Description: "a kettle",
		Metadata: map[string]string{"member": bot.Member.ID},
	})
	if declined, ok := errors.AsType[*utility.DeclinedError](err); ok {
		return bot.Reply(ctx, send.Text("Your card was declined: "+declined.Code))
	}
	return err
}

// An event of the payment provider takes the member to the node "paid" once the time moves.
func ExamplePlatform_AddAccount() {
	p := fakes.New()
	account := p.AddAccount("shop")
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	p.Handle(
		&botctx.Node{ID: "buy", Trigger: botctx.TextIs("buy"), Pre: []botctx.Action{buy}},
		&botctx.Node{ID: "paid", Responses: []send.Response{send.Text("Thank you. Your kettle is on its way.")}},
	)
	account.OnEvent(func(ctx context.Context, event utility.PaymentEvent) error {
		if event.Type != utility.EventPaymentSucceeded {
			return nil
		}
		_, err := p.Operations(ada.Scope()).RedirectMemberToNode(ctx, botctx.RedirectMemberToNodeParams{
			MemberID: event.Payment.Metadata["member"], NodeCompositeID: "paid",
		})
		return err
	})

	p.Inject(fakes.Declines("shop", "insufficient_funds"))
	ada.Says("buy")
	fmt.Println(ada.Last())

	ada.Says("buy")
	p.Advance(fakes.EventDelay)
	fmt.Println(ada.Last())

	for _, payment := range account.Payments() {
		fmt.Println(payment.ID, payment.Amount, payment.Currency, payment.Status)
	}
	// Output:
	// Your card was declined: insufficient_funds
	// Thank you. Your kettle is on its way.
	// payment-1 2500 eur failed
	// payment-2 2500 eur succeeded
}

func ExamplePlatform_File() {
	p := fakes.New()
	p.ReplyHTTP("GET", "https://api.shop.example/bills/7", web.Text(200, "One kettle: 25.00 EUR"))
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	_, err := ada.Context().UploadFileToObjectStore(context.Background(), utility.UploadFileToObjectStoreParams{
		URL: "https://api.shop.example/bills/7", Filename: "bills/7.txt", ContentType: "text/plain",
	})

	file := p.File("app-1/channel-1/bills/7.txt")
	fmt.Printf("%s, %s, %v\n", file.ContentType, file.Content, err)
	// Output:
	// text/plain, One kettle: 25.00 EUR, <nil>
}
