package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/telegramfake"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// polling starts to poll the shop's bot. stop ends the poll and returns its error, which must be nil at the end of the test.
func polling(t *testing.T, connector *telegram.Connector, accept telegram.Accept) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- connector.Poll(ctx, "app-1", "shop", accept) }()
	synctest.Wait()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { require.NoError(t, stop()) })
	return stop
}

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestPoll_InOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.Says(token, ada, adaID, "before it began")
		var a connectortest.Box
		polling(t, direct(t, w, telegram.Config{}), a.Accept)
		w.Says(token, bob, bobID, "one")
		w.Says(token, ada, adaID, "two")
		last := w.Says(token, ada, adaID, "three")
		pass(time.Minute)
		require.Equal(t, []string{"before it began", "one", "two", "three"}, a.Texts())
		require.Equal(t, last+1, w.Offset(token))
	})
}

func TestPoll_ManyAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		for range 250 {
			w.Says(token, ada, adaID, "x")
		}
		var a connectortest.Box
		polling(t, direct(t, w, telegram.Config{}), a.Accept)
		require.Len(t, a.Got, 250)
	})
}

// Telegram deletes an update when a greater offset is requested. This must not happen before the update is
// stored.
func TestPoll_OffsetMovesOnlyAfterAccept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		first := w.Says(token, ada, adaID, "one")
		w.Says(token, ada, adaID, "two")
		last := w.Says(token, ada, adaID, "three")
		var isUp atomic.Bool
		failures := 0
		a := connectortest.Box{Refuse: func(event botctx.Inbound) error {
			if !isUp.Load() && event.Event.Text() == "two" {
				failures++
				return boterr.New(boterr.Unavailable, "", "the store does not answer")
			}
			return nil
		}}
		var log bytes.Buffer
		polling(t, direct(t, w, telegram.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}), a.Accept)
		pass(time.Minute)
		require.Equal(t, []string{"one"}, a.Texts(), "the third waits behind the second")
		require.Equal(t, failures, strings.Count(log.String(), "the store does not answer"), "each failure is logged once")
		require.Equal(t, first+1, w.Offset(token))
		isUp.Store(true)
		pass(2 * time.Minute)
		require.Equal(t, []string{"one", "two", "three"}, a.Texts())
		require.Equal(t, last+1, w.Offset(token))
	})
}

func TestPoll_CrashBeforeTheNextRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.Says(token, ada, adaID, "one")
		ctx, crash := context.WithCancel(t.Context())
		var a connectortest.Box
		accept := func(ctx context.Context, event botctx.Inbound) error {
			err := a.Accept(ctx, event)
			crash() // The process dies after the update was stored.
			return err
		}
		require.NoError(t, direct(t, w, telegram.Config{}).Poll(ctx, "app-1", "shop", accept))
		require.Zero(t, w.Offset(token), "Telegram keeps it")

		polling(t, direct(t, w, telegram.Config{}), a.Accept)
		require.Equal(t, []string{"one", "one"}, a.Texts())
		require.Equal(t, a.Got[0].Key, a.Got[1].Key, "Runtime.Accept recognises it")
	})
}

func TestPoll_UpdateThatIsNeverAccepted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.Says(token, ada, adaID, "odd")
		w.Says(token, ada, adaID, "fine")
		a := connectortest.Box{Refuse: func(event botctx.Inbound) error {
			if event.Event.Text() == "odd" {
				return boterr.Invalid("Event", "is odd")
			}
			return nil
		}}
		drops := &send.Drops{Logger: silent()}
		polling(t, direct(t, w, telegram.Config{Drops: drops, Logger: silent()}), a.Accept)
		require.Equal(t, []string{"fine"}, a.Texts(), "it does not block the next one")
		require.Equal(t, send.DropInvalid, drops.Counts()[0].Reason)
	})
}

func TestPoll_TapsAreAcknowledged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		connector := direct(t, w, telegram.Config{})
		_, err := connector.Send(t.Context(), to(adaID, send.QuickReplies("Again?", send.QuickReply{Title: "Yes"})))
		require.NoError(t, err)
		w.Taps(token, ada, w.last(t, adaID), "Yes")
		var a connectortest.Box
		polling(t, connector, a.Accept)
		require.Len(t, w.Answered(token), 1)
		require.Empty(t, w.last(t, adaID).Buttons)
	})
}

// If two processes without a common store poll, Telegram interrupts the earlier one.
func TestPoll_TwoPollersLoseNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		var log bytes.Buffer
		var a connectortest.Box
		config := telegram.Config{Logger: slog.New(slog.NewTextHandler(&locked{to: &log}, nil))}
		first, second := polling(t, direct(t, w, config), a.Accept), polling(t, direct(t, w, config), a.Accept)
		var said []string
		for i := range 30 {
			text := strings.Repeat("x", i+1)
			said = append(said, text)
			w.Says(token, ada, adaID, text)
			pass(20 * time.Second)
		}
		heard := a.Texts()
		require.Equal(t, said, slices.Compact(heard), "in order, some twice")
		require.NoError(t, errors.Join(first(), second()))
		require.Contains(t, log.String(), "another process polls this bot: stop it, or set Config.Store so that they take turns")
		require.NotContains(t, log.String(), "secret")
	})
}

// locked is a writer that several goroutines may use.
type locked struct {
	mu sync.Mutex
	to *bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

// If two processes with a common store poll, one waits and takes over when the other stops.
func TestPoll_OneProcessAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		var a, b connectortest.Box
		config := telegram.Config{Store: memstore.New()}
		stopFirst := polling(t, direct(t, w, config), a.Accept)
		stopSecond := polling(t, direct(t, w, config), b.Accept)
		w.Says(token, ada, adaID, "one")
		pass(time.Minute)
		require.Equal(t, []string{"one"}, a.Texts())
		require.Empty(t, b.Texts())
		require.NoError(t, stopFirst())
		w.Says(token, ada, adaID, "two")
		pass(time.Minute)
		require.Equal(t, []string{"two"}, b.Texts())
		require.NoError(t, stopSecond())
		pass(time.Minute) // The goroutine that renews leases ends when no lease is left.
	})
}

func TestPoll_ChannelsWithSlashes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		first, second := newChannel("b/shop", token), newChannel("shop", otherToken)
		first.App, second.App = "a", "a/b"
		connector := direct(t, w, telegram.Config{Store: memstore.New(), LoadChannel: loads(first, second)})
		var a connectortest.Box
		ctx, cancel := context.WithCancel(t.Context())
		var polls sync.WaitGroup
		for _, of := range []*channel.Channel{first, second} {
			polls.Go(func() { _ = connector.Poll(ctx, of.App, of.ID, a.Accept) })
		}
		w.Says(token, ada, adaID, "one")
		w.Says(otherToken, ada, adaID, "two")
		pass(time.Minute)
		require.ElementsMatch(t, []string{"one", "two"}, a.Texts())
		cancel()
		polls.Wait()
		pass(time.Minute) // The goroutine that renews leases ends when no lease is left.
	})
}

func TestPoll_EndsIfWaitingCannotHelp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, w *world, connector *telegram.Connector)
		code  boterr.Code
		says  string
		id    string
	}{
		"revoked": {func(_ *testing.T, w *world, _ *telegram.Connector) { w.RevokeToken(token) }, boterr.FailedPrecondition, "revoked", "shop"},
		"webhook": {func(t *testing.T, _ *world, connector *telegram.Connector) {
			t.Helper()
			require.NoError(t, connector.SetWebhook(t.Context(), shop(), "https://bots.example.com"))
		}, boterr.FailedPrecondition, "call SetWebhook with an empty address", "shop"},
		"no channel": {func(*testing.T, *world, *telegram.Connector) {}, boterr.NotFound, "", "none"},
	} {
		for _, store := range []*memstore.Store{nil, memstore.New()} {
			w := newWorld()
			config := telegram.Config{LoadChannel: loads(shop())}
			if store != nil {
				config.Store = store
			}
			connector := direct(t, w, config)
			c.spoil(t, w, connector)
			err := connector.Poll(t.Context(), "app-1", c.id, nil)
			require.ErrorIs(t, err, c.code, name)
			require.ErrorContains(t, err, c.says, name)
			require.NotContains(t, err.Error(), "secret", name)
		}
	}
}

func TestPoll_NotSetUp(t *testing.T) {
	t.Parallel()
	connector, err := telegram.New(telegram.Config{})
	require.NoError(t, err)
	require.ErrorContains(t, connector.Poll(t.Context(), "app-1", "shop", nil), "it needs Config.Store or Config.LoadChannel")
}

func TestPoll_FailuresAreWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		var asked []time.Duration
		start := time.Now() //nolint:forbidigo // Virtual time.
		flaky := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			asked = append(asked, time.Since(start)) //nolint:forbidigo // Virtual time.
			switch len(asked) {
			case 1, 2:
				rw.WriteHeader(http.StatusBadGateway)
			case 3:
				telegramfake.Refuses(429, "Too Many Requests", "retry_after", 100)(rw, r)
			default:
				w.ServeHTTP(rw, r)
			}
		})
		w.Says(token, ada, adaID, "hello")
		var a connectortest.Box
		stop := polling(t, direct(t, flaky, telegram.Config{Logger: silent()}), a.Accept)
		pass(5 * time.Minute)
		require.Equal(t, []string{"hello"}, a.Texts())
		require.NoError(t, stop())
		for i, most := range []time.Duration{2 * time.Second, 4 * time.Second} {
			gap := asked[i+1] - asked[i]
			require.True(t, gap >= most/2 && gap <= most, "wait %d is %v", i, gap)
		}
		require.Equal(t, 100*time.Second, asked[3]-asked[2], "as long as Telegram asks")
	})
}

// A channel's new token is used for the next request.
func TestPoll_ChannelIsLoadedEachTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.AddBot("7001:next-secret-of-tests", "shop")
		var mu sync.Mutex
		current := shop()
		config := telegram.Config{LoadChannel: func(context.Context, string, string) (*channel.Channel, error) {
			mu.Lock()
			defer mu.Unlock()
			return current, nil
		}}
		var a connectortest.Box
		polling(t, direct(t, w, config), a.Accept)
		mu.Lock()
		current = newChannel("shop", "7001:next-secret-of-tests")
		mu.Unlock()
		w.Says("7001:next-secret-of-tests", ada, adaID, "hello")
		pass(2 * time.Minute)
		require.Equal(t, []string{"hello"}, a.Texts())
	})
}

// After a week without updates, the id of the next one may be lower than all earlier ids.
func TestPoll_LowerIDs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		var a connectortest.Box
		polling(t, direct(t, w, telegram.Config{}), a.Accept)
		w.Says(token, ada, adaID, "one")
		pass(7 * 24 * time.Hour)
		w.Renumber(10)
		w.Says(token, ada, adaID, "two")
		pass(time.Minute)
		require.Equal(t, []string{"one", "two"}, a.Texts())
	})
}

// A process that waits for its turn does not know the ids of the updates that another process has taken meanwhile.
func TestPoll_LowerIDsAfterAnotherProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, shared := newWorld(), memstore.New()
		var isCutOff atomic.Bool
		cutOff := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if isCutOff.Load() {
				rw.WriteHeader(http.StatusBadGateway)
				return
			}
			w.ServeHTTP(rw, r)
		})
		flaky := store.Wrap(shared, func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
			if isCutOff.Load() {
				return ctx, nil, boterr.New(boterr.Unavailable, "", "the store is away")
			}
			return ctx, nil, nil
		})
		var b connectortest.Box
		a := connectortest.Box{Refuse: func(event botctx.Inbound) error {
			isCutOff.Store(event.Event.Text() == "one")
			return nil
		}}
		stopFirst := polling(t, direct(t, cutOff, telegram.Config{Store: flaky, Logger: silent()}), a.Accept)
		stopSecond := polling(t, direct(t, w, telegram.Config{Store: shared}), b.Accept)
		w.Says(token, ada, adaID, "one")
		pass(10 * time.Minute)
		require.Equal(t, []string{"one"}, b.Texts(), "the first process lost its turn before it could confirm the update")
		require.NoError(t, stopSecond())
		w.Renumber(10)
		w.Says(token, ada, adaID, "two")
		isCutOff.Store(false)
		pass(5 * time.Minute)
		require.Equal(t, []string{"one", "two"}, a.Texts())
		require.NoError(t, stopFirst())
		pass(time.Minute)
	})
}

// If a channel's token becomes another bot's, the updates of that bot may have lower ids.
func TestPoll_AnotherBot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.Says(otherToken, ada, adaID, "to the new bot")
		w.Says(token, ada, adaID, "to the old bot")
		current := token
		config := telegram.Config{LoadChannel: func(context.Context, string, string) (*channel.Channel, error) {
			return newChannel("shop", current), nil
		}}
		a := connectortest.Box{Refuse: func(botctx.Inbound) error {
			current = otherToken // The host changes the token while Poll has an update of the old bot.
			return nil
		}}
		polling(t, direct(t, w, config), a.Accept)
		require.Equal(t, []string{"to the old bot", "to the new bot"}, a.Texts())
		require.NotEqual(t, a.Got[0].Key, a.Got[1].Key, "it is not a repetition")
	})
}

// A server without HTTP/2, such as Telegram's own server for a host's network, needs a connection for each poll.
func TestPoll_ManyBotsLeaveConnectionsForMessages(t *testing.T) {
	t.Parallel()
	w, waiting := newWorld(), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/getUpdates") {
			_, _ = io.Copy(io.Discard, r.Body) // Only then the server notices that the client leaves.
			waiting <- struct{}{}
			<-r.Context().Done()
			return
		}
		w.ServeHTTP(rw, r)
	}))
	t.Cleanup(server.Close)
	connector := newConnector(t, telegram.Config{APIURL: server.URL, Timeout: 5 * time.Second})
	ctx, stop := context.WithCancel(t.Context())
	var polls sync.WaitGroup
	defer polls.Wait()
	defer stop()
	for range outbound.DefaultMaxConnsPerHost {
		polls.Go(func() { _ = connector.Poll(ctx, "app-1", "shop", new(connectortest.Box).Accept) })
		<-waiting
	}
	_, err := connector.Send(t.Context(), to(adaID, send.Text("Hello")))
	require.NoError(t, err)
}

// If an answer with a hundred updates is too long, the next request asks for fewer.
func TestPoll_AnswerTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.Says(token, ada, adaID, "hello")
		long := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if bytes.Contains(body, []byte(`"limit":100`)) {
				_, _ = rw.Write(make([]byte, 17<<20))
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			w.ServeHTTP(rw, r)
		})
		var a connectortest.Box
		polling(t, direct(t, long, telegram.Config{Logger: silent()}), a.Accept)
		pass(2 * time.Minute)
		require.Equal(t, []string{"hello"}, a.Texts())
	})
}
