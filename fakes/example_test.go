package fakes_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// greet is a bot.
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

// nodes are a bot that gives coupons, and reminds of them.
func nodes() []*botctx.Node {
	return []*botctx.Node{
		{ID: "coupon", Trigger: botctx.TextIs("coupon"), Pre: botctx.Do(claim), Schedules: botctx.Nodes("reminder")},
		{ID: "reminder", Pre: botctx.Do(remind)},
	}
}

// claim gives a member one coupon that nobody else has, and sets the reminder.
func claim(ctx context.Context, bot *botctx.Context) error {
	taken, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
		DataSourceID: "coupons",
		// The one that a run which ended halfway has taken for this member, or else a free one.
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
	_, err = bot.NewAgenda(ctx, agenda.NewAgendaParams{
		MemberID: bot.Member.ID, NodeCompositeID: "reminder", Tag: "coupon", Replace: true,
		NextRunAt: document.TimestampOf(bot.Now().Add(24 * time.Hour)),
		Meta:      document.O("code", code), // Whatever becomes of this run, the reminder has it.
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Your code: "+code))
}

// remind tells a member of the coupon.
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
	explore.Faults(t, rounds.Of(t, 60, 600), func(t *explore.T, p *fakes.Platform) {
		p.Handle(nodes()...)
		p.AddData("coupons", document.O("code", "SPRING", "taken", false))
		ada := p.AddMember(member.Member{FirstName: "Ada"})
		if ada.TrySays("coupon") != nil {
			t.Settle(time.Hour)
			_ = ada.TrySaysAgain() // The platform did not hear that it arrived.
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
	p.FailNext(botctx.OpNewAgenda, boterr.Conflict)
	bot := p.AddMember(member.Member{}).Context() // Outside of a run.
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

// The graph of a bot, as Markdown shows it.
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
		saved, err := data.UpsertDataToDataSource(ctx, datasource.UpsertDataToDataSourceParams{
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

	near, err := ada.Context().FetchGeoNearFromDataSource(context.Background(), datasource.FetchGeoNearFromDataSourceParams{
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
	_, err = ada.Context().Call(ctx, "getMember", []byte(`{"memberId": "nobody"}`))
	fmt.Println(err)
	// Output:
	// 0 <nil>
	// getMember: not found: memberId: there is no member nobody here
}

func ExamplePlatform_FailNext() {
	p := fakes.New()
	p.AddData("coupons", document.O("code", "SPRING", "taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	p.FailNext(botctx.OpFindAndModifyDataFromDataSource, boterr.Unavailable)

	fmt.Println(claim(context.Background(), ada.Context()))
	fmt.Println(claim(context.Background(), ada.Context()), ada.Last())
	// Output:
	// findAndModifyDataFromDataSource: unavailable: the test makes this call fail
	// <nil> Your code: SPRING
}

func ExamplePlatform_TimeOutNext() {
	p := fakes.New()
	p.AddData("coupons", document.O("code", "SPRING", "taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	p.TimeOutNext(botctx.OpFindAndModifyDataFromDataSource)

	fmt.Println(claim(context.Background(), ada.Context()))
	fmt.Println("taken all the same:", document.Get(p.Data("coupons")[0], "taken", false))
	// Output:
	// findAndModifyDataFromDataSource: unavailable: the test makes this call report a time-out, although it was carried out
	// taken all the same: true
}

func ExamplePlatform_DelayNext() {
	p := fakes.New()
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	p.HandleFunc(greet)

	p.DelayNext(botctx.OpSendResponse, 1500*time.Millisecond)
	ada.Says("hi")

	fmt.Println(p.Now().Sub(fakes.Start()))
	// Output:
	// 1.5s
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
	// 2026-01-01 00:00:00.000  Ada -> {"type":"TEXT","text":"coupon"}
	// 2026-01-01 00:00:00.000  HandleFunc answers: fakes_test.claim
	// 2026-01-01 00:00:00.000  findAndModifyDataFromDataSource {"dataSourceId":"coupons","filter":{"$or":[{"by":"member-1"},{"taken":false}]},"patch":{"$set":{"taken":true,"by":"member-1"}},"sortBy":{"taken":-1}} -> {"ok":1,"value":null} (the data source "coupons" was never added, perhaps "coupon" is meant)
	// 2026-01-01 00:00:00.000  Ada <- {"type":"TEXT","text":"Sorry, all gone."}
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
