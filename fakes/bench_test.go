package fakes_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// entries returns n entries of eight fields; about one in twenty has the area "north" and a price below 5.
func entries(n int) []document.Object {
	areas := []string{"north", "east", "south", "west", "centre"}
	made := make([]document.Object, n)
	for i := range made {
		made[i] = document.O(
			"_id", "e"+strconv.Itoa(i), "name", fmt.Sprintf("place %d", i), "area", areas[i%5], "price", i*7919%20,
			"seats", i%12, "taken", false, "tags", document.A("a", i%3), "rating", float64(i%50)/10,
		)
	}
	return made
}

// platformWith returns a platform with one member and n entries in "places".
func platformWith(tb testing.TB, n int) *fakes.Platform {
	tb.Helper()
	p := fakes.New(fakes.For(tb))
	p.AddData("places", entries(n)...)
	p.AddMember(member.Member{FirstName: "Ada"})
	return p
}

// webchat is a channel without credentials. withCredentials has some, which are read along with the channel.
var (
	webchat         = channel.Channel{Type: channel.Webchat}
	withCredentials = channel.Channel{
		Type: channel.Alpha, Info: channel.AlphaInfo{PageID: "1", AccessToken: channel.NewSecret("token")},
	}
)

// hostWith returns a Runtime as a host creates it, without the recording or the outages of package fakes. Its
// memstore holds one member of a channel and n entries in "places".
func hostWith(tb testing.TB, on channel.Channel, n int) (*botctx.Runtime, *botctx.Context) {
	tb.Helper()
	store := memstore.New()
	p := fakes.New(fakes.For(tb), fakes.Config(func(c *botctx.Config) { c.Store = store }))
	p.AddData("places", entries(n)...)
	bot := p.AddMember(member.Member{FirstName: "Ada", Channel: p.AddChannel(on).ID}).Context()
	runtime, err := botctx.New(botctx.Config{Store: store, Connectors: silent()})
	require.NoError(tb, err)
	return runtime, bot
}

// recordless returns the operations of hostWith.
func recordless(tb testing.TB, n int) *botctx.Context {
	tb.Helper()
	runtime, bot := hostWith(tb, webchat, n)
	return runtime.Operations(bot.Scope())
}

func BenchmarkFreshPlatform(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		fakes.New().AddMember(member.Member{})
	}
}

func BenchmarkGetByID(b *testing.B) {
	ctx, bot := context.Background(), recordless(b, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		found, err := bot.FetchDataFromDataSource(ctx, datasource.FetchParams{
			DataSourceID: "places", Filter: document.O("_id", "e5000"),
		})
		if err != nil || len(found.Entries) != 1 {
			b.Fatal(err, len(found.Entries))
		}
	}
}

func BenchmarkGetMember(b *testing.B) {
	ctx, bot := context.Background(), recordless(b, 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := bot.GetMember(ctx, member.GetParams{MemberID: bot.Scope().Member}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	filter := document.O("area", "north", "price", document.O("$lt", 5))
	for _, n := range []int{10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			ctx, bot := context.Background(), recordless(b, n)
			b.ReportAllocs()
			for b.Loop() {
				found, err := bot.FetchDataFromDataSource(ctx, datasource.FetchParams{
					DataSourceID: "places", Filter: filter,
				})
				if err != nil || len(found.Entries) != n/20 {
					b.Fatal(err, len(found.Entries))
				}
			}
		})
	}
}

func BenchmarkFindAndModify(b *testing.B) {
	for name, p := range map[string]datasource.FindAndModifyParams{
		"by id":              {Filter: document.O("_id", "e5000"), Patch: document.Inc("seats", 1)},
		"by filter and sort": {Filter: document.O("area", "north"), SortBy: document.O("price", 1, "rating", -1), Patch: document.Inc("seats", 1)},
	} {
		p.DataSourceID = "places"
		b.Run(name, func(b *testing.B) {
			ctx, bot := context.Background(), recordless(b, 10_000)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bot.FindAndModifyDataFromDataSource(ctx, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkTurn runs a whole turn: the event arrives, the member is loaded, one entry of 10,000 is found by
// its id and changed, an answer is stored in the member, and a reply is sent.
func BenchmarkTurn(b *testing.B) { benchmarkTurn(b, webchat) }

// BenchmarkTurnWithCredentials is BenchmarkTurn on a channel with credentials.
func BenchmarkTurnWithCredentials(b *testing.B) { benchmarkTurn(b, withCredentials) }

func benchmarkTurn(b *testing.B, on channel.Channel) {
	b.Helper()
	turn := newTurn(b, on, 10_000)
	b.ReportAllocs()
	for b.Loop() {
		if err := turn(); err != nil {
			b.Fatal(err)
		}
	}
}

// newTurn returns a function that runs one turn on a channel, with n entries in "places".
func newTurn(tb testing.TB, on channel.Channel, n int) func() error {
	tb.Helper()
	runtime, bot := hostWith(tb, on, n)
	runtime.HandleFunc(countSeats)
	event := inbound(bot.Scope(), bot.Member.ExternalID)
	return func() error { return runtime.Receive(context.Background(), event) }
}

// countSeats is the bot logic of a turn.
func countSeats(ctx context.Context, bot *botctx.Context) error {
	seats, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: "places", Filter: document.O("_id", "e77"), Patch: document.Inc("seats", 1),
	})
	if err != nil {
		return err
	}
	changed, err := bot.FindAndModifyMember(ctx, member.FindAndModifyParams{
		Filter: document.O("_id", bot.Member.ID), Patch: document.Set("meta.seats", document.Get(seats.Value, "seats", 0)),
		Option: member.FindAndModifyOption{New: true},
	})
	if err != nil {
		return err
	}
	bot.Member = changed.Member
	return bot.Reply(ctx, send.Template("{{firstName}}, there are {{meta.seats}} seats."))
}

func inbound(scope botctx.Scope, from string) botctx.Inbound {
	return botctx.Inbound{App: scope.App, Channel: scope.Channel, Event: send.MessageEvent{
		From: from, Type: send.TypeText, Data: document.O("text", "seats?"),
	}}
}

// silentConnector accepts every message and returns an empty answer.
type silentConnector struct{}

func (silentConnector) Send(context.Context, send.Message) (send.Delivery, error) {
	return send.Delivery{}, nil
}

func silent() map[channel.Type]send.Connector {
	return map[channel.Type]send.Connector{channel.Webchat: silentConnector{}, channel.Alpha: silentConnector{}}
}

// BenchmarkAdvance runs agendas of a replying node one after the other in virtual time.
func BenchmarkAdvance(b *testing.B) {
	p := platformWithAgendas(b, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	p.Advance(time.Duration(b.N) * time.Second)
	require.Len(b, p.Sent(), b.N)
}

// platformWithAgendas returns a platform with n agendas of a node that replies, one each second.
func platformWithAgendas(tb testing.TB, n int) *fakes.Platform {
	tb.Helper()
	p := fakes.New(fakes.For(tb))
	p.Handle(&botctx.Node{ID: "reminder", Responses: []send.Response{send.Template("Still there, {{firstName}}?")}})
	bot := p.AddMember(member.Member{FirstName: "Ada"}).Context()
	for i := range n {
		_, err := bot.NewAgenda(tb.Context(), agenda.NewParams{
			MemberID: bot.Member.ID, NodeCompositeID: "reminder",
			NextRunAt: document.TimestampOf(fakes.Start().Add(time.Duration(i) * time.Second)),
		})
		require.NoError(tb, err)
	}
	return p
}

// Allocations of operations, runs and platforms must stay below bounds slightly above the present numbers, so
// that added work fails the test.
//
//nolint:paralleltest // What other tests allocate at the same time would be counted.
func TestAllocations_OfATurnAndALookUp(t *testing.T) {
	const runs = 200
	turn, credentials := newTurn(t, webchat, 100), newTurn(t, withCredentials, 100)
	bot := recordless(t, 0)
	lookUp := func() error {
		_, err := bot.GetMember(t.Context(), member.GetParams{MemberID: bot.Scope().Member})
		return err
	}
	entry := recordless(t, 100)
	byID := func() error {
		_, err := entry.FetchDataFromDataSource(t.Context(), datasource.FetchParams{
			DataSourceID: "places", Filter: document.O("_id", "e50"),
		})
		return err
	}
	p := platformWith(t, 100)
	fork := func() error { p.Fork(); return nil }
	fresh := func() error { fakes.New().AddMember(member.Member{}); return nil }
	agendas := platformWithAgendas(t, 2*runs)
	advance := func() error { agendas.Advance(time.Second); return nil }
	for name, c := range map[string]struct {
		call func() error
		most float64
	}{
		"an entry by id": {byID, 7}, "a fork": {fork, 94}, "a fresh platform": {fresh, 199},
		"a turn": {turn, 69}, "a turn on a channel with credentials": {credentials, 71}, "an agenda's run": {advance, 102}, "getMember": {lookUp, 3},
	} {
		var failed error
		allocated := testing.AllocsPerRun(runs, func() {
			if err := c.call(); err != nil {
				failed = err
			}
		})
		require.NoError(t, failed, name)
		require.LessOrEqual(t, allocated, c.most, name)
	}
}

// The bytes that a turn allocates are limited, too.
//
//nolint:paralleltest // What other tests allocate at the same time would be counted.
func TestAllocations_BytesOfATurn(t *testing.T) {
	const rounds, runs, most = 5, 100, 11_000
	turn := newTurn(t, webchat, 1_000)
	require.NoError(t, turn())
	least := uint64(math.MaxUint64)
	for range rounds { // The runtime itself allocates now and then.
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			require.NoError(t, turn())
		}
		runtime.ReadMemStats(&after)
		least = min(least, (after.TotalAlloc-before.TotalAlloc)/runs)
	}
	require.LessOrEqual(t, least, uint64(most))
}

// BenchmarkFork forks a platform, which copies none of its records.
func BenchmarkFork(b *testing.B) {
	p := platformWith(b, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		p.Fork()
	}
}

// BenchmarkTenTurns does the work of a small test: a platform, a member, and ten turns of a node that
// replies.
func BenchmarkTenTurns(b *testing.B) {
	const turns = 10
	b.ReportAllocs()
	for b.Loop() {
		p := fakes.New(fakes.For(b))
		p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("Welcome.")) })
		ada := p.AddMember(member.Member{FirstName: "Ada"})
		for range turns {
			ada.Says("hello")
		}
		require.Len(b, p.Sent(), turns)
	}
}

// worstFilters are filters whose evaluation uses up the budget of a call.
func worstFilters() []document.Object {
	long := strings.Repeat("ab", 4_000)
	gaps := make([]any, 3_000)
	for i := range gaps {
		gaps[i] = document.O("x", document.O("$gt", i+10))
	}
	expressions := make([]any, 600)
	loop := func(in any) document.Object {
		return document.O("$size", document.O("$map", document.O("input", document.O("$range", document.A(0, 10_000)), "in", in)))
	}
	for i := range expressions {
		expressions[i] = document.O("$expr", loop(1))
	}
	inLoop := func(in any) document.Object { return document.O("$expr", document.O("$lt", document.A(loop(in), 0))) }
	return []document.Object{
		document.O("text", document.O("$regex", "(?:a?b?){900}c")),
		document.O("$expr", document.O("$regexMatch", document.O("input", "$text", "regex", "(?:a?b?){900}c"))),
		inLoop(document.O("$eq", document.A("$text", document.O("$concat", document.A("$text", ""))))),
		inLoop(document.O("$anyElementTrue", document.A("$l"))),
		inLoop(document.O("$max", "$l")),
		inLoop("$l.x"),
		document.O("$expr", document.O("$regexFindAll", document.O("input", "$text", "regex", strings.Repeat("(a?b?)", 200)))),
		document.O("$and", document.A(expressions...)),
		document.O("$nor", document.A(gaps...), "text", long),
		inLoop(document.O("$maxN", document.O("n", 1_000, "input", "$l"))),
	}
}

// hostile makes every kind of call that a tenant can make, with the worst filters, until ctx ends.
func hostile(ctx context.Context, bot *botctx.Context) {
	for ctx.Err() == nil {
		for _, filter := range worstFilters() {
			_, _ = bot.FetchDataFromDataSource(ctx, datasource.FetchParams{DataSourceID: "big", Filter: filter})
			_, _ = bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
				DataSourceID: "big", Filter: filter, Patch: document.Inc("n", 1),
			})
			_, _ = bot.FindAndModifyMember(ctx, member.FindAndModifyParams{Filter: filter, Patch: document.Inc("n", 1)})
		}
	}
}

// turns runs turns of a member for the given time and returns their durations, shortest first.
func turns(b *testing.B, runtime *botctx.Runtime, event botctx.Inbound, most time.Duration) []time.Duration {
	b.Helper()
	var took []time.Duration
	for began := time.Now(); time.Since(began) < most; { //nolint:forbidigo // A benchmark measures.
		turn := time.Now() //nolint:forbidigo // A benchmark measures.
		if err := runtime.Receive(b.Context(), event); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(turn)) //nolint:forbidigo // A benchmark measures.
	}
	slices.Sort(took)
	return took
}

// percentile returns the duration below which the given percentage of durations lie.
func percentile(sorted []time.Duration, hundredths int) time.Duration {
	return sorted[(len(sorted)-1)*hundredths/100]
}

// BenchmarkTwoTenants measures the turns of one tenant, alone and while a second tenant makes the most
// expensive calls possible, one after the other. Members of both are in one collection.
func BenchmarkTwoTenants(b *testing.B) {
	p := fakes.New(fakes.For(b))
	store := p.Runtime().Env().Store
	p.AddData("places", entries(10_000)...)
	bot := p.AddMember(member.Member{FirstName: "Ada"}).Context()
	runtime, err := botctx.New(botctx.Config{Store: store, Connectors: silent()})
	require.NoError(b, err)
	runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
			DataSourceID: "places", Filter: document.O("_id", "e77"), Patch: document.Inc("seats", 1),
		})
		if err != nil {
			return err
		}
		bot.Member.Meta.Set("turn", bot.Now().UnixNano())
		return bot.Reply(ctx, send.Template("{{firstName}}, there are seats."))
	})
	worst := runtime.Operations(botctx.Scope{App: "hostile", Channel: "c", Member: "m"})
	big := document.O("_id", "big", "app", "hostile", "text", strings.Repeat("ab", 500_000), "l", document.A(make([]any, 300_000)...), "x", 5)
	_, err = worst.UpsertDataToDataSource(b.Context(), datasource.UpsertParams{
		DataSourceID: "big", Data: document.OneOrMany[document.Object]{big},
	})
	require.NoError(b, err)
	require.NoError(b, store.Collection("members").Insert(b.Context(), big.With("channel", "c")))

	event := inbound(bot.Scope(), bot.Member.ExternalID)
	const measured = 2 * time.Second
	for b.Loop() {
		alone := turns(b, runtime, event, measured)
		ctx, stop := context.WithCancel(b.Context())
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			hostile(ctx, worst)
		}()
		beside := turns(b, runtime, event, measured)
		stop()
		<-stopped
		b.ReportMetric(float64(percentile(alone, 50).Microseconds()), "µs-alone-50%")
		b.ReportMetric(float64(percentile(alone, 99).Microseconds()), "µs-alone-99%")
		b.ReportMetric(float64(percentile(beside, 50).Microseconds()), "µs-beside-50%")
		b.ReportMetric(float64(percentile(beside, 99).Microseconds()), "µs-beside-99%")
		b.ReportMetric(float64(beside[len(beside)-1].Microseconds()), "µs-beside-most")
	}
}
