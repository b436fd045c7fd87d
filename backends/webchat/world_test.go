package webchat_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/utility"
)

const (
	app         = "shop"
	channelID   = "web"
	secret      = "0123456789abcdef0123456789abcdef"
	otherSecret = "fedcba9876543210fedcba9876543210"
	page        = "https://shop.example"
	base        = "https://bot.example/chat/"
)

// clock is a clock that the test sets.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time          { return time.UnixMilli(c.at.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.at.Add(d.Milliseconds()) }

// unwatched hides that a store is a store.Watcher, so that streams poll the store, as they do if other processes
// write to it.
type unwatched struct{ store.Store }

// files is a store of files in memory.
type files struct {
	mu   sync.Mutex
	held map[string][]byte
	// failing, if set, is the error of all calls.
	failing error
}

func (f *files) Put(_ context.Context, file utility.StoredFile) error {
	content, err := io.ReadAll(file.Content)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil || f.failing != nil {
		return errOr(err, f.failing)
	}
	f.held[file.Key] = content
	return nil
}

func errOr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func (f *files) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if _, isLimited := ctx.Deadline(); !isLimited {
		return nil, errors.New("no deadline")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	content, exists := f.held[key]
	if !exists {
		return nil, boterr.New(boterr.NotFound, "", "no file")
	}
	return io.NopCloser(bytes.NewReader(content)), f.failing
}

func (f *files) Remove(_ context.Context, key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.held, key)
	return f.failing
}

func (f *files) number() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.held)
}

// world is a host with a connector, its handler and a bot.
type world struct {
	*webchat.Connector

	t       testing.TB
	clock   *clock
	store   store.Store
	files   *files
	runtime *botctx.Runtime
	handler http.Handler
	drops   *send.Drops
	// ada is a visitor's session, in tests that have one.
	ada started
}

// newWorld returns a host. change may change the connector's config.
func newWorld(tb testing.TB, change ...func(*webchat.Config)) *world {
	tb.Helper()
	c := &clock{}
	c.at.Store(1_760_000_000_000)
	w := &world{t: tb, clock: c, files: &files{held: map[string][]byte{}}, store: memstore.New(memstore.WithNow(c.now))}
	w.drops = &send.Drops{Logger: slog.New(slog.DiscardHandler)}
	config := webchat.Config{
		Store: w.store, Now: c.now, Files: w.files, URL: base, Drops: w.drops, Logger: slog.New(slog.DiscardHandler), Poll: time.Millisecond,
		Limits: webchat.Limits{Messages: 100_000, Files: 100_000, Sessions: 100_000, Requests: 1_000_000, Channel: 1_000_000, AddressStreams: 1_000_000},
	}
	for _, one := range change {
		one(&config)
	}
	w.store = config.Store
	w.Connector = newConnector(tb, config)
	var err error
	w.runtime, err = botctx.New(botctx.Config{
		Store: w.store, Now: c.now, Connectors: map[channel.Type]send.Connector{channel.Webchat: w.Connector},
	})
	require.NoError(tb, err)
	w.save(webchatChannel(channelID, secret))
	w.handler = w.Handler(w.runtime.Accept)
	return w
}

func newConnector(tb testing.TB, config webchat.Config) *webchat.Connector {
	tb.Helper()
	connector, err := webchat.New(config)
	require.NoError(tb, err)
	tb.Cleanup(connector.Close)
	return connector
}

func webchatChannel(id string, secrets ...any) *channel.Channel {
	return &channel.Channel{
		ID: id, App: app, Type: channel.Webchat, On: true,
		Metadata: document.O("origins", document.A(page, "https://*.shop.example")),
		Info:     channel.OtherInfo{Hidden: channel.Hide(document.O("webchatSecret", document.A(secrets...)))},
	}
}

func (w *world) save(in *channel.Channel) {
	w.t.Helper()
	_, err := w.runtime.SaveChannel(w.t.Context(), app, in)
	require.NoError(w.t, err)
}

// runs handles all waiting events.
func (w *world) runs() {
	w.t.Helper()
	for {
		result, err := w.runtime.RunNextEvent(w.t.Context())
		require.NoError(w.t, err)
		require.NoError(w.t, result.Err)
		if !result.Ran {
			return
		}
	}
}

func (w *world) fileRecords() int64 {
	w.t.Helper()
	number, err := w.store.Collection("webchat_files").Count(w.t.Context(), nil)
	require.NoError(w.t, err)
	return number
}

// says sends a message from the bot to a visitor.
func (w *world) says(to, id string, response send.Response) {
	w.t.Helper()
	_, err := w.Send(w.t.Context(), send.Message{ID: id, Channel: webchatChannel(channelID, secret), To: to, Response: response})
	require.NoError(w.t, err)
}

type request struct {
	method, path string
	// body is JSON, or a value to encode.
	body  any
	token string
	// origin is the origin of the page. "none" means that there is no header.
	origin, from, contentType string
}

func (w *world) do(r request) *httptest.ResponseRecorder { return do(w.t, w.handler, r) }

func do(tb testing.TB, handler http.Handler, r request) *httptest.ResponseRecorder {
	tb.Helper()
	text, isText := r.body.(string)
	if !isText {
		encoded, err := json.Marshal(r.body)
		require.NoError(tb, err)
		text = string(encoded)
	}
	if r.method == "" {
		r.method = http.MethodPost
	}
	if r.method == http.MethodGet {
		text = ""
	}
	made := httptest.NewRequestWithContext(tb.Context(), r.method, "/chat/"+r.path, strings.NewReader(text))
	made.Header.Set("Content-Type", "application/json")
	if r.contentType != "" {
		made.Header.Set("Content-Type", r.contentType)
	}
	if r.token != "" {
		made.Header.Set("Authorization", "Bearer "+r.token)
	}
	switch r.origin {
	case "":
		made.Header.Set("Origin", page)
	case "none":
	default:
		made.Header.Set("Origin", r.origin)
	}
	if r.from != "" {
		made.RemoteAddr = r.from
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, made)
	return recorder
}

func answered[Answer any](tb testing.TB, r *httptest.ResponseRecorder) (decoded Answer) {
	tb.Helper()
	require.Equal(tb, http.StatusOK, r.Code, r.Body.String())
	require.NoError(tb, json.Unmarshal(r.Body.Bytes(), &decoded), r.Body.String())
	return decoded
}

// started is the answer to a request for a session.
type started struct {
	Token     string `json:"token"`
	Visitor   string `json:"visitor"`
	ExpiresAt int64  `json:"expiresAt"`
	Locale    string `json:"locale"`
}

type fields map[string]any

func (w *world) session(more ...fields) started {
	w.t.Helper()
	body := fields{"channel": channelID}
	for _, one := range more {
		maps.Copy(body, one)
	}
	return answered[started](w.t, w.do(request{path: "session", body: body}))
}

// user starts a session of a user, with a token from the host's server.
func (w *world) user(id string, more ...fields) started {
	w.t.Helper()
	signed, err := webchat.SignUser(channel.NewSecret(secret), webchat.User{
		ID: id, Expires: w.clock.now().Add(time.Minute), FirstName: "Ada", Locale: "de",
	})
	require.NoError(w.t, err)
	return w.session(append(more, fields{"user": signed})...)
}

// sent is the answer to a request with a message.
type sent struct {
	ClientID string `json:"clientId"`
	Seq      int64  `json:"seq"`
}

func (w *world) writes(by started, clientID, text string) sent {
	w.t.Helper()
	return answered[sent](w.t, w.do(request{
		path: "messages", token: by.Token, body: fields{"clientId": clientID, "type": "TEXT", "text": text},
	}))
}

// shown is an event from history or a stream.
type shown struct {
	Kind     string         `json:"kind"`
	Seq      int64          `json:"seq"`
	ID       string         `json:"id"`
	ClientID string         `json:"clientId"`
	From     string         `json:"from"`
	Name     string         `json:"name"`
	At       int64          `json:"at"`
	Response map[string]any `json:"response"`
}

type shownPage struct {
	Events []shown `json:"events"`
	More   bool    `json:"more"`
}

func (w *world) history(of started, query string) shownPage {
	w.t.Helper()
	return answered[shownPage](w.t, w.do(request{method: http.MethodGet, path: "history" + query, token: of.Token}))
}

// textsOf prints the texts of messages with their sides.
func textsOf(events []shown) string {
	var texts []string
	for _, e := range events {
		text, _ := e.Response["text"].(string)
		texts = append(texts, e.From+": "+text)
	}
	return strings.Join(texts, ", ")
}

func (w *world) uploads(by started, name, content string) *httptest.ResponseRecorder {
	w.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", name)
	require.NoError(w.t, err)
	_, err = io.WriteString(part, content)
	require.NoError(w.t, err)
	require.NoError(w.t, form.Close())
	return w.do(request{path: "files", token: by.Token, body: body.String(), contentType: form.FormDataContentType()})
}

// uploaded is the answer to a request with a file.
type uploaded struct {
	URL  string `json:"url"`
	Name string `json:"name"`
	Type string `json:"type"`
	Size int64  `json:"size"`
	Kind string `json:"kind"`
}

const png = "\x89PNG\r\n\x1a\n0000"
