package explore_test

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// mostOrders is the number of orders within which each of the faults below must be found.
const mostOrders = 100

// requireFound asserts that a search has failed, with these words in its message.
func requireFound(t *testing.T, o *outer, words ...string) {
	t.Helper()
	require.NotEmpty(t, o.failed, "nothing was found: %v", o.logged)
	for _, word := range words {
		require.Contains(t, o.failed, word)
	}
}

// soldOnce states that the number of kettles gone equals the number of confirmations.
func soldOnce(logic botctx.Action) explore.Property {
	return func(t *explore.T, p *fakes.Platform) {
		ada, bob := shop(p, logic, 2)
		t.Go("Ada", func() { ada.Says("buy") })
		t.Go("Bob", func() { bob.Says("buy") })
		t.Wait()
		require.Equal(t, 2-confirmed(p), stockOf(p), "each kettle is sold once")
	}
}

func TestOrders_FindsALostUpdate(t *testing.T) {
	t.Parallel()
	found := searchOrders(mostOrders, soldOnce(readAndWrite))
	requireFound(t, found, "each kettle is sold once", "(reduced to 1 of ",
		"\t1. Ada does fetchDataFromDataSource, up to findAndModifyDataFromDataSource\n"+
			"\t2. Bob does fetchDataFromDataSource, findAndModifyDataFromDataSource, sendResponse, up to its end\n"+
			"\t3. Ada does findAndModifyDataFromDataSource, sendResponse, up to its end\n")
}

func TestOrders_OneOperationLosesNothing(t *testing.T) {
	t.Parallel()
	explore.Orders(t, rounds.Of(t, 50, 600), soldOnce(modify))
}

// book books a table for a member, if it is free and a filter finds it.
func book(filter document.Object) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		taken, err := bot.CountDataSource(ctx, datasource.CountParams{
			DataSourceID: "tables", Filter: document.O("by", document.O("$ne", nil)),
		})
		if err != nil || taken > 0 {
			return err
		}
		booked, err := bot.PatchDataToDataSource(ctx, datasource.PatchParams{
			DataSourceID: "tables", Filter: filter, Patch: document.Set("by", bot.Member.ID), WithModifier: true,
		})
		if err != nil || booked.Matched == 0 {
			return err
		}
		return bot.Reply(ctx, send.Text("Yours at eight."))
	}
}

// bookedOnce states that a table has one guest.
func bookedOnce(logic botctx.Action) explore.Property {
	return func(t *explore.T, p *fakes.Platform) {
		p.AddData("tables", document.O("_id", "eight"))
		p.HandleFunc(logic)
		for _, name := range []string{"Ada", "Bob", "Cleo"} {
			guest := p.AddMember(member.Member{FirstName: name})
			t.Go(name, func() { guest.Says("book") })
		}
		t.Wait()
		require.Equal(t, 1, confirmed(p), "one guest has the table")
	}
}

func TestOrders_FindsADoubleBooking(t *testing.T) {
	t.Parallel()
	requireFound(t, searchOrders(mostOrders, bookedOnce(book(document.O()))), "one guest has the table", "(reduced to 1 of ")
	explore.Orders(t, rounds.Of(t, 50, 600), bookedOnce(book(document.O("by", nil))))
}

// openDesk adds a member, and an agent for the member's requests.
func openDesk(p *fakes.Platform) (ada *fakes.Actor, grace *fakes.Agent) {
	p.AddChannel(channel.Channel{ID: "web"})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
		{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
	}})
	p.Pair("web", "desk")
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{})
		return err
	})
	return p.AddMember(member.Member{Channel: "web", FirstName: "Ada"}), p.AddAgent("desk", "Grace")
}

// reserve reserves a kettle for a member, for an hour: the agenda gives back unpaid kettles that a filter
// finds.
func reserve(filter document.Object) []*botctx.Node {
	pay := func(ctx context.Context, bot *botctx.Context) error {
		paid, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
			DataSourceID: "kept", Filter: document.O("state", "kept"), Patch: document.Set("state", "paid"),
		})
		if err != nil || paid.Value == nil {
			return err
		}
		return bot.Reply(ctx, send.Text("Yours."))
	}
	keep := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.NewAgenda(ctx, agenda.NewParams{
			MemberID: bot.Member.ID, NodeCompositeID: "free", NextRunAt: document.TimestampOf(bot.Now().Add(time.Hour)),
		})
		return err
	}
	free := func(ctx context.Context, bot *botctx.Context) error {
		kept, err := bot.CountDataSource(ctx, datasource.CountParams{DataSourceID: "kept", Filter: document.O("state", "kept")})
		if err != nil || kept == 0 {
			return err
		}
		_, err = bot.PatchDataToDataSource(ctx, datasource.PatchParams{
			DataSourceID: "kept", Filter: filter, Patch: document.Set("state", "free"), WithModifier: true,
		})
		return err
	}
	return []*botctx.Node{
		{ID: "keep", Trigger: botctx.TextIs("keep"), Pre: botctx.Do(keep), Schedules: []botctx.NodeRef{{CompositeID: "free"}}},
		{ID: "pay", Trigger: botctx.TextIs("pay"), Pre: botctx.Do(pay)},
		{ID: "free", Pre: botctx.Do(free)},
	}
}

func TestOrders_FindsAnAgendaAgainstAMessage(t *testing.T) {
	t.Parallel()
	property := func(filter document.Object) explore.Property {
		return func(t *explore.T, p *fakes.Platform) {
			p.AddData("kept", document.O("_id", 1, "state", "kept"))
			p.Handle(reserve(filter)...)
			ada, bob := p.AddMember(member.Member{FirstName: "Ada"}), p.AddMember(member.Member{FirstName: "Bob"})
			ada.Says("keep")
			t.Go("time", func() { p.Advance(time.Hour) })
			t.Go("Bob", func() { bob.Says("pay") }) // He pays for Ada.
			t.Wait()
			isPaid := document.Get(p.Data("kept")[0], "state", "") == "paid"
			require.Equal(t, confirmed(p) == 1, isPaid, "what was paid for is kept")
		}
	}
	requireFound(t, searchOrders(mostOrders, property(document.O())), "what was paid for is kept", "time does countDataSource")
	explore.Orders(t, rounds.Of(t, 50, 600), property(document.O("state", "kept")))
}

func TestOrders_RunsOfOneMemberTakeTurns(t *testing.T) {
	t.Parallel()
	explore.Orders(t, rounds.Of(t, 50, 600), func(t *explore.T, p *fakes.Platform) {
		ada, _ := shop(p, readAndWrite, 3)
		for _, name := range []string{"one", "two", "three"} {
			t.Go(name, func() { ada.Says(name) })
		}
		t.Wait()
		require.Equal(t, 0, stockOf(p), "each run sees what the one before has written")
	})
}

func TestOrders_OverAccept(t *testing.T) {
	t.Parallel()
	explore.Orders(t, rounds.Of(t, 50, 400), func(t *explore.T, p *fakes.Platform) {
		ada, bob := shop(p, modify, 5)
		t.Go("Ada", func() { ada.Says("buy") })
		t.Go("Ada again", func() { ada.Says("buy") })
		t.Go("Bob", func() { bob.Says("buy") })
		t.Go("time", func() { p.Advance(time.Minute) })
		t.Wait()
		p.Advance(0)
		require.Equal(t, 2, stockOf(p), "each message is run once")
	}, explore.PlatformOptions(fakes.WithInbox()))
}

// outer is the test around a search, which records its result.
type outer struct {
	mu     sync.Mutex
	failed string
	logged []string
}

func (*outer) Helper() {}

func (*outer) Name() string { return "TestBot/shop" }

func (o *outer) Failed() bool { return o.failed != "" }

func (*outer) Cleanup(func()) {}

func (o *outer) Logf(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.logged = append(o.logged, fmt.Sprintf(format, args...))
}

func (o *outer) Fatalf(format string, args ...any) {
	o.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// search runs a search that may fail, and returns its result.
func search(run func(t fakes.TB)) *outer {
	var o outer
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(&o)
	}()
	<-done
	return &o
}

func searchFaults(plans int, property explore.Property, options ...explore.Option) *outer {
	return search(func(t fakes.TB) { explore.Faults(t, plans, property, options...) })
}

func searchOrders(orders int, property explore.Property, options ...explore.Option) *outer {
	return search(func(t fakes.TB) { explore.Orders(t, orders, property, options...) })
}

// stockOf returns the number of kettles.
func stockOf(p *fakes.Platform) int { return document.Get(p.Data("stock")[0], "left", 0) }

// shop adds n kettles, and two members.
func shop(p *fakes.Platform, logic botctx.Action, left int) (ada, bob *fakes.Actor) {
	p.AddData("stock", document.O("_id", "kettle", "left", left))
	p.HandleFunc(logic)
	return p.AddMember(member.Member{FirstName: "Ada"}), p.AddMember(member.Member{FirstName: "Bob"})
}

// readAndWrite takes a kettle in two operations, so that two members may take the same one.
func readAndWrite(ctx context.Context, bot *botctx.Context) error {
	found, err := bot.FetchDataFromDataSource(ctx, datasource.FetchParams{
		DataSourceID: "stock", Filter: document.O("_id", "kettle"),
	})
	if err != nil {
		return err
	}
	left := document.Get(found.Entries[0], "left", 0)
	if left == 0 {
		return bot.Reply(ctx, send.Text("Sold out."))
	}
	_, err = bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: "stock", Filter: document.O("_id", "kettle"), Patch: document.Set("left", left-1),
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Yours."))
}

// modify takes a kettle in one operation.
func modify(ctx context.Context, bot *botctx.Context) error {
	taken, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: "stock", Filter: document.O("_id", "kettle", "left", document.O("$gt", 0)), Patch: document.Inc("left", -1),
	})
	if err != nil {
		return err
	}
	if taken.Value == nil {
		return bot.Reply(ctx, send.Text("Sold out."))
	}
	return bot.Reply(ctx, send.Text("Yours."))
}

func confirmed(p *fakes.Platform) (count int) {
	for _, sent := range p.Sent() {
		if !sent.IsRepeat && strings.HasPrefix(sent.Response.Text(), "Yours") {
			count++
		}
	}
	return count
}

// searched runs a search with a value of the environment variable.
func searched(t *testing.T, value string, run func(t fakes.TB)) *outer {
	t.Helper()
	t.Setenv(explore.Variable, value)
	return search(run)
}

func TestVariable_RepeatsARoundOfFaults(t *testing.T) { //nolint:paralleltest // It sets a variable of the environment.
	run := func(t fakes.TB) { explore.Faults(t, 1000, notedOnce(noteAnew)) }
	requireFound(t, searched(t, "faults:upsertDataToDataSource#1=timesOut", run),
		"(reduced to 1 of 1; round 1", "\tp.Inject(fakes.TimesOut(botctx.OpUpsertDataToDataSource).At(1))\n", "each order is noted once")
	passed := searched(t, "faults:upsertDataToDataSource#9=fails", run)
	require.Empty(t, passed.failed)
	require.Equal(t, []string{"explore: the property holds under these faults, but nothing met\n" +
		"\tp.Inject(fakes.Fails(botctx.OpUpsertDataToDataSource, boterr.Unavailable).At(9))"}, passed.logged)
	requireFound(t, searched(t, "faults:nonsense", run), `BOTCTX_EXPLORE: invalid argument: "nonsense" is not a fault`)
	require.Empty(t, searched(t, "orders:1>0", run).failed, "a round of orders is none of its own")
}

func TestVariable_ThatSaysNothingIsRefused(t *testing.T) { //nolint:paralleltest // It sets a variable of the environment.
	for _, value := range []string{"order:3>0", "x", "-1", "99999999999999999999", " "} {
		for _, run := range []func(t fakes.TB){
			func(t fakes.TB) { explore.Faults(t, 2, notedOnce(noteAnew)) },
			func(t fakes.TB) { explore.Orders(t, 2, soldOnce(readAndWrite)) },
		} {
			require.Contains(t, searched(t, value, run).failed, "BOTCTX_EXPLORE is ", value)
		}
	}
}

func TestVariable_RepeatsARoundOfOrders(t *testing.T) { //nolint:paralleltest // It sets a variable of the environment.
	run := func(t fakes.TB) { explore.Orders(t, 1000, soldOnce(readAndWrite)) }
	first := searched(t, "", run)
	printed := regexp.MustCompile(`BOTCTX_EXPLORE='(.*)' go`).FindStringSubmatch(first.failed)
	require.Len(t, printed, 2)
	again := searched(t, printed[1], run)
	requireFound(t, again, "1. Ada does fetchDataFromDataSource, up to findAndModifyDataFromDataSource", "(reduced to 1 of 1; round 1, ")
	require.Equal(t, []string{"explore: the property holds in this order"}, searched(t, "orders:1>0", run).logged)
	require.Equal(t, []string{"explore: the property holds in this order, but its run did not reach 9999>0"}, searched(t, "orders:9999>0", run).logged)
	requireFound(t, searched(t, "orders:nonsense", run), `"nonsense" is not a change of turns`)
}

func TestVariable_ANumberIsASeed(t *testing.T) { //nolint:paralleltest // It sets a variable of the environment.
	requireFound(t, searched(t, "99", func(t fakes.TB) { explore.Faults(t, 100, notedOnce(noteAnew)) }), "seed 99")
}
