package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/postgres"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/inbox/inboxtest"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
)

// listening listens to topics, and returns their texts once notices arrive.
func listening(t *testing.T, database *postgres.Store, topics ...string) []<-chan string {
	t.Helper()
	var all []<-chan string
	for _, topic := range topics {
		heard := make(chan string, 10_000)
		t.Cleanup(database.Listen(topic, func(text string) { heard <- text }))
		all = append(all, heard)
	}
	require.Empty(t, <-all[0])
	return all
}

func TestNotify_ReachesAllProcesses(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	one, other := openIn(t, schema), openIn(t, schema)
	here, there := listening(t, one, "topic")[0], listening(t, other, "topic", "other topic")
	apart := listening(t, open(t), "topic")[0]
	const odd = "lane \"a\" \x00 é '; --"
	one.Notify("topic", odd)
	require.Equal(t, odd, <-here)
	require.Equal(t, odd, <-there[0])
	one.Notify("other topic", "last")
	for text := range there[1] {
		if text != "" { // A new connection causes an empty text.
			require.Equal(t, "last", text)
			break
		}
	}
	require.Empty(t, there[0])
	require.Empty(t, apart)
}

func TestNotify_ManyGoTogether(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	heard := listening(t, openIn(t, schema), "topic")[0]
	sender := openIn(t, schema)
	want := map[string]bool{}
	for i := range 100 {
		text := fmt.Sprint("text ", i%50)
		want[text] = true
		sender.Notify("topic", text)
	}
	for len(want) > 0 {
		delete(want, <-heard)
	}
}

func TestNotify_TooMuchIsLostAsAWhole(t *testing.T) {
	t.Parallel()
	for name, notify := range map[string]func(*postgres.Store){
		"many": func(s *postgres.Store) {
			for i := range 2_000 {
				s.Notify("topic", fmt.Sprint(strings.Repeat("x", 100), i))
			}
		},
		"a long one": func(s *postgres.Store) { s.Notify("topic", strings.Repeat("x", 10_000)) },
		"escaped": func(s *postgres.Store) {
			for i := range 9 {
				s.Notify("topic", fmt.Sprint(strings.Repeat("\x01", 900), i))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := open(t)
			heard := listening(t, database, "topic")[0]
			notify(database)
			for text := range heard {
				if text == "" {
					break
				}
			}
		})
	}
}

// A process may stop for so long that it finds a notice and the end of the wait at once.
func TestListen_NoticeAtTheEndOfTheWait(t *testing.T) {
	t.Parallel()
	s := open(t)
	c, err := pgx.Connect(t.Context(), server.URL)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(context.WithoutCancel(t.Context()))) }()
	_, err = c.Exec(t.Context(), "LISTEN "+s.Channel())
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), "SELECT pg_notify($1, $2)", s.Channel(), `{"topic":["text"]}`)
	require.NoError(t, err)
	var heard []string
	require.NoError(t, s.WaitOn(c, "topic", 0, func(text string) { heard = append(heard, text) }))
	require.Equal(t, []string{"text"}, heard)
}

func TestListen_HearsThatNoticesWereLost(t *testing.T) {
	t.Parallel()
	database := open(t)
	heard := listening(t, database, "topic")[0]
	_, err := database.Pool().Exec(t.Context(),
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query='LISTEN '||$1", database.Channel())
	require.NoError(t, err)
	require.Empty(t, <-heard)
	database.Notify("topic", "again")
	require.Equal(t, "again", <-heard)
}

// handler starts an inbox that polls too rarely to help, so it depends on notices.
func handler(tb testing.TB, database *postgres.Store, handle inbox.Handler) *inbox.Inbox {
	tb.Helper()
	env := record.Env{Store: database}
	leases, err := lease.New(lease.Config{Env: env})
	require.NoError(tb, err)
	made, err := inbox.New(inbox.Config{
		Env: env, Leases: leases, DeriveID: func(of string) string { return of }, Poll: time.Hour, MaxPending: -1,
		Handler: handle,
	})
	require.NoError(tb, err)
	return made
}

func TestInbox_HearsOfEventsThatAnotherProcessAccepts(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	began := make(chan string)
	p := handler(t, openIn(t, schema), func(_ context.Context, d *inbox.Delivery) error {
		began <- d.Event.From
		return nil
	})
	accepting := handler(t, openIn(t, schema), func(context.Context, *inbox.Delivery) error { return nil })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	for i := range 20 {
		from := fmt.Sprint("member ", i)
		_, err := accepting.Accept(t.Context(), inbox.Event{App: "app", Channel: "web", From: from})
		require.NoError(t, err)
		require.Equal(t, from, <-began)
	}
	stop()
	require.NoError(t, <-ended)
}

// BenchmarkInbox_AnotherProcess measures the time from the acceptance of an event in one process to the start
// of its handling in another.
func BenchmarkInbox_AnotherProcess(b *testing.B) {
	schema := newSchema(b)
	began := make(chan time.Time)
	p := handler(b, openIn(b, schema), func(context.Context, *inbox.Delivery) error {
		began <- time.Now() //nolint:forbidigo // Real time is measured.
		return nil
	})
	accepting := handler(b, openIn(b, schema), func(context.Context, *inbox.Delivery) error { return nil })
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		at := time.Now() //nolint:forbidigo // Real time is measured.
		_, err := accepting.Accept(ctx, inbox.Event{App: "app", Channel: "web", From: strconv.Itoa(i)})
		require.NoError(b, err)
		times = append(times, (<-began).Sub(at))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1e3, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1e3, "p99-ms")
	stop()
	require.NoError(b, <-ended)
}

// BenchmarkInbox uses as many workers as producers.
func BenchmarkInbox(b *testing.B) {
	inboxtest.Benchmark(b, open(b), inboxtest.Load{Members: 1000, Producers: 64, Workers: 64})
}
