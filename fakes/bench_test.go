package fakes_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// entries returns n entries of eight fields, of which about one in twenty has the
// area "north" and the price below 5.
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

// webchat is a channel without credentials, withCredentials one with some, which are read with it.
var (
	webchat         = channel.Channel{Type: channel.Webchat}
	withCredentials = channel.Channel{
		Type: channel.Alpha, Info: channel.AlphaInfo{PageID: "1", AccessToken: channel.NewSecret("token")},
	}
)

// hostWith returns a Runtime as a host makes it, over a memstore that a platform has filled with one member of a
// channel and n entries in "places". It has neither the platform's recording nor its outages.
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

// recordless returns the operations of a host.
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
		found, err := bot.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{
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
		if _, err := bot.GetMember(ctx, member.GetMemberParams{MemberID: bot.Scope().Member}); err != nil {
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
				found, err := bot.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{
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
	for name, p := range map[string]datasource.FindAndModifyDataFromDataSourceParams{
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

// BenchmarkTurn is a whole turn: the event arrives, the member is loaded, one entry of
// 10,000 is found by its id and changed, an answer is kept on the member, and a reply
// is sent.
func BenchmarkTurn(b *testing.B) { benchmarkTurn(b, webchat) }

// BenchmarkTurnWithCredentials is the same on a channel with credentials.
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

// newTurn returns what makes a turn on a channel, with n entries.
func newTurn(tb testing.TB, on channel.Channel, n int) func() error {
	tb.Helper()
	runtime, bot := hostWith(tb, on, n)
	runtime.HandleFunc(countSeats)
	event := inbound(bot.Scope(), bot.Member.ExternalID)
	return func() error { return runtime.Receive(context.Background(), event) }
}

// countSeats is the logic of a turn.
func countSeats(ctx context.Context, bot *botctx.Context) error {
	seats, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
		DataSourceID: "places", Filter: document.O("_id", "e77"), Patch: document.Inc("seats", 1),
	})
	if err != nil {
		return err
	}
	changed, err := bot.FindAndModifyMember(ctx, member.FindAndModifyMemberParams{
		Filter: document.O("_id", bot.Member.ID), Patch: document.Set("meta.seats", document.Get(seats.Value, "seats", 0)),
		Option: member.FindAndModifyOption{New: true},
	})
	if err != nil {
		return err
	}
	bot.Member = changed.Member
	return bot.Reply(ctx, send.Template("{{firstName}}, there are {{meta.seats}} seats."))
}

// inbound is what a member wrote.
func inbound(scope record.Scope, from string) botctx.Inbound {
	return botctx.Inbound{App: scope.App, Channel: scope.Channel, Event: send.MessageEvent{
		From: from, Type: send.TypeText, Data: document.O("text", "seats?"),
	}}
}

// silentConnector takes every message and answers nothing.
type silentConnector struct{}

func (silentConnector) Send(context.Context, send.Message) (send.Delivery, error) {
	return send.Delivery{}, nil
}

func silent() map[channel.Type]send.Connector {
	return map[channel.Type]send.Connector{channel.Webchat: silentConnector{}, channel.Alpha: silentConnector{}}
}

// BenchmarkAdvance runs agendas of a node that replies, one after the other in virtual
// time.
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
		_, err := bot.NewAgenda(tb.Context(), agenda.NewAgendaParams{
			MemberID: bot.Member.ID, NodeCompositeID: "reminder",
			NextRunAt: document.TimestampOf(fakes.Start().Add(time.Duration(i) * time.Second)),
		})
		require.NoError(tb, err)
	}
	return p
}
