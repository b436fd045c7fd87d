package fakes_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// worstFilters are conditions that take as long as a budget allows.
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

// hostile calls all that a tenant can, with the worst filters, until ctx ends.
func hostile(ctx context.Context, bot *botctx.Context) {
	for ctx.Err() == nil {
		for _, filter := range worstFilters() {
			_, _ = bot.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{DataSourceID: "big", Filter: filter})
			_, _ = bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
				DataSourceID: "big", Filter: filter, Patch: document.Inc("n", 1),
			})
			_, _ = bot.FindAndModifyMember(ctx, member.FindAndModifyMemberParams{Filter: filter, Patch: document.Inc("n", 1)})
		}
	}
}

// turns lets a member take turns for a time, and returns how long each took, the shortest first.
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

// percentile is the time below which so many of a hundred are.
func percentile(sorted []time.Duration, hundredths int) time.Duration {
	return sorted[(len(sorted)-1)*hundredths/100]
}

// BenchmarkTwoTenants is the turns of one tenant, alone and while another one makes the worst
// calls that there are, one after the other. Both have their members in one collection.
func BenchmarkTwoTenants(b *testing.B) {
	p := fakes.New(fakes.For(b))
	store := p.Runtime().Env().Store
	p.AddData("places", entries(10_000)...)
	bot := p.AddMember(member.Member{FirstName: "Ada"}).Context()
	runtime, err := botctx.New(botctx.Config{Store: store, Connectors: silent()})
	require.NoError(b, err)
	runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
			DataSourceID: "places", Filter: document.O("_id", "e77"), Patch: document.Inc("seats", 1),
		})
		if err != nil {
			return err
		}
		bot.Member.Meta.Set("turn", bot.Now().UnixNano())
		return bot.Reply(ctx, send.Template("{{firstName}}, there are seats."))
	})
	worst := runtime.Operations(record.Scope{App: "hostile", Channel: "c", Member: "m"})
	big := document.O("_id", "big", "app", "hostile", "text", strings.Repeat("ab", 500_000), "l", document.A(make([]any, 300_000)...), "x", 5)
	_, err = worst.UpsertDataToDataSource(b.Context(), datasource.UpsertDataToDataSourceParams{
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
