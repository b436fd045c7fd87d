package webchat_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// line is a connection to a stream's reader. It breaks after a number of bytes, or when the reader has enough.
type line struct {
	header http.Header
	status int
	// most is the number of bytes after which the connection breaks.
	most int
	// enough reports whether the reader hangs up after this text.
	enough func(got string) bool
	hangUp context.CancelFunc

	mu  sync.Mutex
	got bytes.Buffer
}

var errBroken = errors.New("the connection broke")

func (l *line) Header() http.Header    { return l.header }
func (l *line) WriteHeader(status int) { l.status = status }
func (l *line) FlushError() error      { return nil }

func (l *line) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if left := l.most - l.got.Len(); len(text) > left {
		l.got.Write(text[:left])
		return left, errBroken
	}
	l.got.Write(text)
	if l.enough(l.got.String()) {
		l.hangUp()
	}
	return len(text), nil
}

// reading is a request for a stream. most and enough become the fields of its line.
type reading struct {
	token, query string
	most         int
	enough       func(string) bool
}

// patience is the time after which a test gives up.
const patience = 5 * time.Minute

// streams reads a stream until the connection breaks or the reader has enough.
func streams(ctx context.Context, handler http.Handler, of reading) (string, error) {
	ctx, hangUp := context.WithTimeout(ctx, patience)
	defer hangUp()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/chat/stream"+of.query, nil)
	r.Header.Set("Authorization", "Bearer "+of.token)
	l := &line{header: http.Header{}, most: of.most, enough: of.enough, hangUp: hangUp}
	handler.ServeHTTP(l, r)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return l.got.String(), ctx.Err()
	}
	if l.status != http.StatusOK {
		return "", fmt.Errorf("status %d", l.status)
	}
	return l.got.String(), nil
}

// eventsOf parses the complete events in a stream, like a browser.
func eventsOf(text string) (events []shown, err error) {
	blocks := strings.Split(text, "\n\n")
	for _, block := range blocks[:len(blocks)-1] {
		var id, data string // The handler writes one line of data per event.
		for one := range strings.SplitSeq(block, "\n") {
			if rest, is := strings.CutPrefix(one, "id: "); is {
				id = rest
			}
			if rest, is := strings.CutPrefix(one, "data: "); is {
				data = rest
			}
		}
		if data == "" {
			continue
		}
		var e shown
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return nil, err
		}
		if e.Kind == "message" && id != strconv.FormatInt(e.Seq, 10) {
			return nil, fmt.Errorf("the id is %q", id)
		}
		events = append(events, e)
	}
	return events, nil
}

func messagesOf(t *testing.T, text string) []shown {
	t.Helper()
	events, err := eventsOf(text)
	require.NoError(t, err)
	return slices.DeleteFunc(events, func(e shown) bool { return e.Kind != "message" })
}

const endless = 1 << 30

func has(word string) func(string) bool {
	return func(got string) bool { return strings.Contains(got, word) }
}

func TestStream_CutAfterEachByte(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	texts := []string{"one", "data: {}\n\nid: 7\n\n", "\u4f60\u597d\u2028\r\n", "the last"}
	for i, text := range texts {
		w.says(ada.Visitor, strconv.Itoa(i), send.Text(text))
	}
	isOver := has(`the last"}}` + "\n\n")
	whole, err := streams(t.Context(), w.handler, reading{ada.Token, "?after=0", endless, isOver})
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(whole, "retry: 1000\n\n"))
	want := messagesOf(t, whole)
	require.Len(t, want, len(texts))
	for i, e := range want {
		require.Equal(t, texts[i], e.Response["text"])
	}
	for cut := range len(whole) {
		part, err := streams(t.Context(), w.handler, reading{ada.Token, "?after=0", cut, isOver})
		require.NoError(t, err)
		got, after := messagesOf(t, part), int64(0)
		if len(got) > 0 {
			after = got[len(got)-1].Seq
		}
		if len(got) < len(want) {
			rest, err := streams(t.Context(), w.handler, reading{ada.Token, "?after=" + strconv.FormatInt(after, 10), endless, isOver})
			require.NoError(t, err)
			got = append(got, messagesOf(t, rest)...)
		}
		require.Equal(t, want, got, "cut after byte %d", cut)
	}
}

func TestStream_FollowsWhatComes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	done := make(chan string)
	begun := make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	go func() {
		got, err := streams(t.Context(), w.handler, reading{ada.Token, "?after=0", endless, func(got string) bool {
			begin()
			return strings.Contains(got, "bye for now")
		}})
		done <- got + fmt.Sprint(err)
	}()
	<-begun
	w.writes(ada, "c1", "hi")
	w.says(ada.Visitor, "m1", send.Typing(time.Second))
	w.says(ada.Visitor, "m2", send.Text("bye for now"))
	events, err := eventsOf(<-done)
	require.NoError(t, err)
	kinds := map[string]int{}
	for _, e := range events {
		kinds[e.Kind]++
	}
	require.Equal(t, 2, kinds["message"])
	require.LessOrEqual(t, kinds["typing"], 1)
}

func TestStream_State(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	seq := w.writes(ada, "c1", "hi").Seq
	w.says(ada.Visitor, "m1", send.Text("hello"))
	w.says(ada.Visitor, "m2", send.Typing(time.Second).With("sender", map[string]string{"name": "Grace"}))
	got, err := streams(t.Context(), w.handler, reading{ada.Token, "?after=0", endless, has("typing")})
	require.NoError(t, err)
	events, err := eventsOf(got)
	require.NoError(t, err)
	require.Equal(t, []shown{
		{Kind: "read", Seq: seq + 1}, {Kind: "delivered", Seq: seq}, {Kind: "typing", From: "agent", Name: "Grace"},
	}, events[2:])
}

func TestStream_ResetAfterErasing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	seq := w.writes(ada, "c1", "hi").Seq
	require.NoError(t, w.EraseMember(t.Context(), memberOf(ada)))
	got, err := streams(t.Context(), w.handler, reading{ada.Token, "?after=" + strconv.FormatInt(seq, 10), endless, has("reset")})
	require.NoError(t, err)
	require.Contains(t, got, `data: {"kind":"reset"}`)
}

func TestStream_EndsWithTheToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	got, err := streams(t.Context(), w.handler, reading{ada.Token, "?after=0", endless, func(got string) bool {
		if strings.HasSuffix(got, "retry: 1000\n\n") {
			w.clock.advance(31 * 24 * time.Hour)
			go w.says(ada.Visitor, "m1", send.Text("too late"))
		}
		return false
	}})
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(got, "data: {\"kind\":\"bye\"}\n\n"), got)
	require.NotContains(t, got, "too late")
}

func TestStream_CloseEndsAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got, err := streams(t.Context(), w.handler, reading{w.session().Token, "?after=0", endless, func(string) bool {
		w.Close()
		w.Close()
		return false
	}})
	require.NoError(t, err)
	require.Equal(t, "retry: 1000\n\n", got)
}

// plain is a writer without Flush, like the writers of some middleware.
type plain struct{ http.ResponseWriter }

func TestStream_WithoutFlush(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := newWorld(t, func(c *webchat.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/chat/stream", nil)
	r.Header.Set("Authorization", "Bearer "+w.session().Token)
	w.handler.ServeHTTP(plain{httptest.NewRecorder()}, r)
	require.Contains(t, log.String(), "hides http.Flusher")
}

func TestStream_LimitOfAVisitor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *webchat.Config) { c.Limits.AllStreams = 16 }) // A channel alone gets 4.
	ada, bob := w.session(), w.session()
	var open sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	begin := func(of started) {
		begun := make(chan struct{})
		began := sync.OnceFunc(func() { close(begun) })
		open.Go(func() {
			_, _ = streams(ctx, w.handler, reading{of.Token, "", endless, func(string) bool { began(); return false }})
		})
		<-begun
	}
	for range 3 {
		begin(ada)
	}
	refused := w.do(request{method: http.MethodGet, path: "stream", token: ada.Token})
	require.Equal(t, http.StatusTooManyRequests, refused.Code)
	require.NotEmpty(t, refused.Header().Get("Retry-After"))
	begin(bob)
	require.Equal(t, http.StatusServiceUnavailable, w.do(request{method: http.MethodGet, path: "stream", token: bob.Token}).Code)
	cancel()
	open.Wait()
	require.Equal(t, http.StatusOK, w.do(request{method: http.MethodGet, path: "stream?wait=0", token: ada.Token}).Code, "places are free again")
}

// streamOf opens a stream of a new visitor of a channel. It reports whether the server lets it.
func (w *world) streamOf(t *testing.T, in string) bool {
	t.Helper()
	token := answered[started](t, w.do(request{path: "session", body: fields{"channel": in}})).Token
	begun, ended := make(chan struct{}), make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	go func() {
		defer close(ended)
		_, _ = streams(t.Context(), w.handler, reading{token, "", endless, func(got string) bool {
			if strings.HasPrefix(got, "retry: ") {
				begin()
			}
			return false
		}})
	}()
	select {
	case <-begun:
		return true
	case <-ended:
		return false
	}
}

func TestStream_LimitOfAnAddress(t *testing.T) {
	t.Parallel()
	address := "192.0.2.1"
	w := newWorld(t, func(c *webchat.Config) {
		c.Limits.AddressStreams, c.Address = 2, func(*http.Request) string { return address }
	})
	require.Equal(t, []bool{true, true, false}, []bool{w.streamOf(t, channelID), w.streamOf(t, channelID), w.streamOf(t, channelID)})
	address = "192.0.2.2"
	require.True(t, w.streamOf(t, channelID))
}

func TestStream_ChannelLeavesSomeToOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *webchat.Config) { c.Limits.AllStreams = 8 })
	w.save(webchatChannel("second", secret))
	taken := 0
	for w.streamOf(t, channelID) {
		taken++
	}
	require.Positive(t, taken)
	require.True(t, w.streamOf(t, "second"))
}

func TestStream_EndsWithTheSession(t *testing.T) {
	t.Parallel()
	for name, newStore := range map[string]func(store.Store) store.Store{
		"watched": func(s store.Store) store.Store { return s }, "polled": func(s store.Store) store.Store { return sharedtest.New(s) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shared := newStore(memstore.New())
			here := newWorld(t, func(c *webchat.Config) { c.Store = shared })
			there := newWorld(t, func(c *webchat.Config) { c.Store = shared })
			ada, elsewhere := here.user("ada"), here.user("ada")
			var leaving sync.WaitGroup
			defer leaving.Wait()
			got, err := streams(t.Context(), there.handler, reading{ada.Token, "", endless, func(got string) bool {
				if strings.HasSuffix(got, "retry: 1000\n\n") {
					leaving.Go(func() {
						here.do(request{path: "signout", token: elsewhere.Token, body: fields{}})
						here.do(request{path: "signout", token: ada.Token, body: fields{}})
						here.says(ada.Visitor, "m1", send.Text("too late"))
					})
				}
				return false
			}})
			require.NoError(t, err)
			require.Equal(t, "retry: 1000\n\ndata: {\"kind\":\"bye\"}\n\n", got)
		})
	}
}

// The store fails between the two writes of a sign-out, so that no mark wakes the stream.
func TestStream_EndsWithTheSessionWithoutItsMark(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := memstore.New()
		w := newWorld(t, func(c *webchat.Config) {
			c.Store = store.Wrap(inner, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
				if call.Collection == "webchat_states" && call.Method == "update" {
					return ctx, nil, errBroken
				}
				return ctx, nil, nil
			})
		})
		ada := w.session()
		began := time.Now() //nolint:forbidigo // The clock of the bubble.
		got, err := streams(t.Context(), w.handler, reading{ada.Token, "", endless, func(got string) bool {
			if strings.HasSuffix(got, "retry: 1000\n\n") {
				go w.do(request{path: "signout", token: ada.Token, body: fields{}})
			}
			return false
		}})
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(got, "data: {\"kind\":\"bye\"}\n\n"), got)
		require.LessOrEqual(t, time.Since(began), 15*time.Second) //nolint:forbidigo // The clock of the bubble.
	})
}

func TestLongPoll_EndsWithTheSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	answer := make(chan int)
	go func() {
		answer <- w.do(request{method: http.MethodGet, path: "stream?wait=25", token: ada.Token}).Code
	}()
	w.do(request{path: "signout", token: ada.Token, body: fields{}})
	require.Equal(t, http.StatusUnauthorized, <-answer)
}

func TestLongPoll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	poll := func(query string) []shown {
		return answered[shownPage](t, w.do(request{method: http.MethodGet, path: "stream" + query, token: ada.Token})).Events
	}
	require.Empty(t, poll("?after=0&wait=0"))
	seq := w.writes(ada, "c1", "hi").Seq
	require.Equal(t, "me: hi", textsOf(poll("?after=0&wait=25")))
	answer := make(chan []shown)
	go func() { answer <- poll("?wait=25&after=" + strconv.FormatInt(seq, 10)) }()
	w.says(ada.Visitor, "m1", send.Text("hello"))
	require.Equal(t, "bot: hello", textsOf((<-answer)[:1]))
}

// Two processes share a store. Visitors move between the processes, and their connections break at arbitrary
// bytes.
func TestProcesses_NothingLostDoubledOrOutOfOrder(t *testing.T) {
	t.Parallel()
	const visitors, messages = 4, 30
	database := unwatched{memstore.New()}
	here := newWorld(t, func(c *webchat.Config) { c.Store = database })
	there := newWorld(t, func(c *webchat.Config) { c.Store = database })
	both := []*world{here, there}
	var all sync.WaitGroup
	failures := make(chan error, 2*visitors)
	for visitor := range visitors {
		of := here.session()
		all.Go(func() { failures <- writesAndHears(t.Context(), both, of, visitor, messages) })
		all.Go(func() {
			for i := range messages {
				message := send.Message{
					ID: fmt.Sprintf("m%d", i), Channel: webchatChannel(channelID, secret), To: of.Visitor, Response: send.Text(fmt.Sprintf("bot-%d", i)),
				}
				for _, w := range both { // Both processes send the message, as if a run had been repeated in another process.
					if _, err := w.Send(t.Context(), message); err != nil {
						failures <- err
						return
					}
				}
			}
			failures <- nil
		})
	}
	all.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
}

// writesAndHears writes messages, each twice, and reads the stream until all messages of both sides have
// arrived. After each break it continues at the other process.
func writesAndHears(ctx context.Context, both []*world, of started, visitor, messages int) error {
	written := make(chan error, 1)
	go func() {
		for i := range messages {
			body := fmt.Sprintf(`{"clientId":"c%d","type":"TEXT","text":"me-%d"}`, i, i)
			for try := range 2 {
				r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/chat/messages", strings.NewReader(body))
				r.Header.Set("Authorization", "Bearer "+of.Token)
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("Origin", page)
				w := httptest.NewRecorder()
				both[(i+try)%2].handler.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					written <- fmt.Errorf("status %d: %s", w.Code, w.Body)
					return
				}
			}
		}
		written <- nil
	}()
	var got []shown
	for round := 0; len(got) < 2*messages; round++ {
		after := int64(0)
		if len(got) > 0 {
			after = got[len(got)-1].Seq
		}
		most := 100 + (round*137+visitor*31)%900
		text, err := streams(ctx, both[round%2].handler, reading{of.Token, "?after=" + strconv.FormatInt(after, 10), most, func(text string) bool {
			return len(got)+strings.Count(text, "id: ") >= 2*messages
		}})
		if err != nil {
			return err
		}
		events, err := eventsOf(text)
		if err != nil {
			return err
		}
		got = append(got, slices.DeleteFunc(events, func(e shown) bool { return e.Kind != "message" })...)
	}
	next := map[string]int{}
	for i, e := range got {
		if e.Seq != got[0].Seq+int64(i) {
			return fmt.Errorf("the number %d is missing", got[0].Seq+int64(i))
		}
		want := fmt.Sprintf("%s-%d", e.From, next[e.From])
		if e.Response["text"] != want {
			return fmt.Errorf("%v comes instead of %s", e.Response["text"], want)
		}
		next[e.From]++
	}
	return <-written
}

// hold opens streams over HTTP. They stay open until the test ends.
func hold(tb testing.TB, w *world, number int) {
	tb.Helper()
	server := httptest.NewServer(w.handler)
	tb.Cleanup(server.Close)
	tb.Cleanup(w.Close)
	var open []net.Conn
	for range number {
		conn, err := new(net.Dialer).DialContext(tb.Context(), "tcp", server.Listener.Addr().String())
		require.NoError(tb, err)
		tb.Cleanup(func() { _ = conn.Close() })
		_, err = fmt.Fprintf(conn, "GET /chat/stream?after=0 HTTP/1.1\r\nHost: bot\r\nAuthorization: Bearer %s\r\n\r\n", w.session().Token)
		require.NoError(tb, err)
		open = append(open, conn)
	}
	for _, conn := range open {
		awaits(tb, conn, "retry: 1000")
	}
}

// awaits reads from a connection until this word arrives.
func awaits(tb testing.TB, conn net.Conn, word string) {
	tb.Helper()
	require.NoError(tb, conn.SetReadDeadline(time.Now().Add(patience))) //nolint:forbidigo // The test must end.
	buffered := bufio.NewReaderSize(conn, 16)
	for {
		text, err := buffered.ReadString('\n')
		require.NoError(tb, err)
		if strings.Contains(text, word) {
			return
		}
	}
}

func memory() uint64 {
	var stats runtime.MemStats
	runtime.GC() //nolint:revive // Garbage must not count.
	runtime.ReadMemStats(&stats)
	return stats.HeapInuse + stats.StackInuse
}

func TestStreams_SilentVisitorsTakeNoRoomInTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *webchat.Config) { c.Store = unwatched{memstore.New()} })
	hold(t, w, 100)
	found, err := w.store.Collection("webchat").Count(t.Context(), nil)
	require.NoError(t, err)
	require.Zero(t, found)
}

func BenchmarkStreams(b *testing.B) {
	const number = 1000
	for b.Loop() {
		w := newWorld(b)
		before := memory()
		hold(b, w, number)
		b.ReportMetric(float64(memory()-before)/number, "B/stream")
	}
}
