package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

// The tokens of these tests.
var (
	adas   = strings.Repeat("a", minToken)
	bobs   = strings.Repeat("b", minToken)
	reader = strings.Repeat("r", minToken)
)

// scene is a door in front of a platform, with a token for Ada, one that may only read Ada's data, and one for Bob,
// who is in another app.
type scene struct {
	door     *door
	ada, bob *fakes.Actor
}

func newScene(t *testing.T) scene {
	t.Helper()
	p := fakes.New(fakes.For(t))
	away := p.AddChannel(channel.Channel{App: "away", Type: channel.Webchat})
	ada, bob := newMember(p), p.AddMember(member.Member{FirstName: "Bob", App: "away", Channel: away.ID})
	granted := grants{
		{token: channel.NewSecret(adas), scope: ada.Context().Scope()},
		{token: channel.NewSecret(bobs), scope: bob.Context().Scope()},
		{token: channel.NewSecret(reader), scope: ada.Context().Scope(), operations: []botctx.Op{botctx.OpGetMember}},
	}
	require.NoError(t, granted.check())
	return scene{newDoor(operationsOf(p), granted), ada, bob}
}

// post calls an operation with a token.
func (s scene) post(token, name, params string) *httptest.ResponseRecorder {
	return s.ask(http.MethodPost, "/operations/"+name, token, "application/json; charset=utf-8", params)
}

// ask makes any request with a token and a body of some kind.
func (s scene) ask(method, path, token, kind, body string) *httptest.ResponseRecorder {
	return s.answer(httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body)), token, kind)
}

func (s scene) answer(r *http.Request, token, kind string) *httptest.ResponseRecorder {
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	s.door.routes().ServeHTTP(w, r)
	return w
}

func TestDoor_CallsForTheMemberOfTheToken(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for token, actor := range map[string]*fakes.Actor{adas: s.ada, bobs: s.bob} {
		w := s.post(token, "sendResponse", `{"response": {"type": "TEXT", "text": "Hello {{firstName}}"}}`)
		require.Equal(t, http.StatusOK, w.Code, w.Body)
		require.Equal(t, "Hello "+actor.Member().FirstName, actor.Last())
	}
	w := s.post("unknown", "getMember", `{}`)
	require.Contains(t, w.Body.String(), "after the word Bearer")
	w = s.post(bobs, "getMember", `{"memberId": "`+s.ada.ID()+`"}`)
	require.Equal(t, http.StatusNotFound, w.Code, "she is of another app")
}

func TestDoor_Refuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 100_000)
	for name, c := range map[string]struct {
		token, operation, params string
		status                   int
		code                     string
	}{
		"no token":          {"", "getMember", `{}`, 401, "Unauthenticated"},
		"a wrong token":     {adas + "a", "getMember", `{}`, 401, "Unauthenticated"},
		"half a token":      {adas[:10], "getMember", `{}`, 401, "Unauthenticated"},
		"not granted":       {reader, "sendResponse", `{}`, 403, "PermissionDenied"},
		"no operation":      {adas, "getmember", `{}`, 400, "InvalidArgument"},
		"no JSON":           {adas, "getMember", `{"memberId": `, 400, "InvalidArgument"},
		"no object":         {adas, "getMember", `["m"]`, 400, "InvalidArgument"},
		"two objects":       {adas, "getMember", `{} {}`, 400, "InvalidArgument"},
		"nothing":           {adas, "getMember", ``, 400, "InvalidArgument"},
		"deep nesting":      {adas, "countDataSource", `{"dataSourceId": "d", "filter": ` + deep, 400, "InvalidArgument"},
		"deep and complete": {adas, "countDataSource", `{"dataSourceId": "d", "filter": ` + deep + "1" + strings.Repeat("}", 100_001), 400, "InvalidArgument"},
		"not UTF-8":         {adas, "getMember", "{\"memberId\": \"\xff\"}", 404, "NotFound"},
		"a huge body":       {adas, "getMember", `{"memberId": "` + strings.Repeat("m", maxBody) + `"}`, 413, "InvalidArgument"},
		"nobody":            {adas, "getMember", `{"memberId": "nobody"}`, 404, "NotFound"},
		"a wrong type":      {adas, "getMember", `{"memberId": 5}`, 400, "InvalidArgument"},
	} {
		s := newScene(t)
		w := s.post(c.token, c.operation, c.params)
		require.Equal(t, c.status, w.Code, "%s: %s", name, w.Body)
		require.Equal(t, c.code, gjson.Get(w.Body.String(), "error.code").String(), name)
		require.NotEmpty(t, gjson.Get(w.Body.String(), "error.message").String(), name)
	}
}

func TestDoor_TellsFieldAndOperation(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	w := s.post(adas, "sendResponse", `{"response": {"type": "TEXT"}}`)
	require.JSONEq(t, `{"op": "sendResponse", "code": "InvalidArgument", "field": "response.text", "message": "is missing; give a string"}`,
		gjson.Get(w.Body.String(), "error").Raw)
}

func TestDoor_OtherRequests(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, c := range []struct {
		method, path, kind string
		status             int
	}{
		{http.MethodPut, "/operations/getMember", "application/json", 405},
		{http.MethodPost, "/operations/getMember", "text/plain", 415},
		{http.MethodPost, "/operations/getMember", "", 415},
		{http.MethodPost, "/operations/getMember", "application/json; charset=iso-8859-1", 415},
		{http.MethodPost, "/operations/getMember", "application/json; charset=utf-16", 415},
		{http.MethodPost, "/operations/a/b", "application/json", 404},
		{http.MethodGet, "/operations/nothing", "", 404},
		{http.MethodGet, "/operations/getMember", "", 200},
		{http.MethodGet, "/operations", "", 200},
	} {
		w := s.ask(c.method, c.path, adas, c.kind, `{}`)
		require.Equal(t, c.status, w.Code, "%s %s: %s", c.method, c.path, w.Body)
		require.Equal(t, "application/json", w.Header().Get("Content-Type"), "%s %s", c.method, c.path)
		require.Equal(t, c.status != 200, gjson.Get(w.Body.String(), "error.message").Exists(), "%s %s: %s", c.method, c.path, w.Body)
	}
	require.Equal(t, "GET, HEAD, POST", s.ask(http.MethodPut, "/operations/getMember", adas, "", "").Header().Get("Allow"))
	require.Equal(t, 404, s.ask(http.MethodGet, "/", adas, "", "").Code)
}

// The guide's requests with curl work, with their headers and bodies.
func TestGuide_RequestsOfCurl(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/guides/bridge.md")
	require.NoError(t, err)
	lines := regexp.MustCompile(`(?s)curl -H "Authorization: Bearer \$BRIDGE_TOKEN" -H 'Content-Type: ([^']+)'[\s\\]+-d '([^']+)' http://localhost:8086(\S+)`).
		FindAllStringSubmatch(string(guide), -1)
	require.NotEmpty(t, lines)
	require.Len(t, lines, strings.Count(string(guide), "curl "))
	for _, line := range lines {
		s := newScene(t)
		w := s.ask(http.MethodPost, line[3], adas, line[1], line[2])
		require.Equal(t, http.StatusOK, w.Code, "%s: %s", line[0], w.Body)
	}
}

func TestDoor_ListsWhatTheTokenAllows(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for token, count := range map[string]int{adas: len(botctx.Ops()), reader: 1} {
		w := s.ask(http.MethodGet, "/operations", token, "", "")
		require.Len(t, gjson.Get(w.Body.String(), "tools").Array(), count)
	}
}

// callerFunc answers the door's calls.
type callerFunc func(ctx context.Context) (json.RawMessage, error)

func (f callerFunc) Call(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
	return f(ctx)
}

// before returns a scene whose calls are answered by a function.
func before(t *testing.T, call callerFunc) scene {
	t.Helper()
	s := newScene(t)
	s.door.open = func(botctx.Scope) botctx.Caller { return call }
	return s
}

func TestDoor_IsFull(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}), make(chan struct{})
	s := before(t, func(context.Context) (json.RawMessage, error) {
		entered <- struct{}{}
		<-leave
		return json.RawMessage("1"), nil
	})
	s.door.calls = make(chan struct{}, 1)
	first := make(chan int, 1)
	go func() { first <- s.post(adas, "getMember", `{}`).Code }()
	<-entered
	w := s.post(adas, "getMember", `{}`)
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, "ResourceExhausted", gjson.Get(w.Body.String(), "error.code").String())
	require.NotEmpty(t, w.Header().Get("Retry-After"))
	close(leave)
	require.Equal(t, http.StatusOK, <-first)
}

// A call whose body has not arrived yet takes no place.
func TestDoor_SlowBodiesTakeNoPlace(t *testing.T) {
	t.Parallel()
	s := before(t, func(context.Context) (json.RawMessage, error) { return json.RawMessage("1"), nil })
	s.door.calls = make(chan struct{}, 1)
	body, rest := io.Pipe()
	slow := make(chan int, 1)
	go func() {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/operations/getMember", body)
		slow <- s.answer(r, adas, "application/json").Code
	}()
	_, err := io.WriteString(rest, "{") // Returns once the door reads it.
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, s.post(adas, "getMember", `{}`).Code)
	_, err = io.WriteString(rest, "}")
	require.NoError(t, err)
	require.NoError(t, rest.Close())
	require.Equal(t, http.StatusOK, <-slow)
}

func TestDoor_RefusesEncodings(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for encoding, status := range map[string]int{"gzip": 415, "identity, br": 415, "identity": 404, "Identity": 404, "": 404} {
		body := strings.NewReader(`{"memberId": "nobody"}`)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/operations/getMember", body)
		r.Header.Set("Content-Encoding", encoding)
		w := s.answer(r, adas, "application/json; charset=UTF-8")
		require.Equal(t, status, w.Code, encoding)
		require.Equal(t, status == 415, w.Header().Get("Accept-Encoding") == "identity", encoding)
	}
}

func TestDoor_CallsEnd(t *testing.T) {
	t.Parallel()
	s := before(t, func(ctx context.Context) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	s.door.time = 1 // Nanosecond.
	w := s.post(adas, "getMember", `{}`)
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, "Canceled", gjson.Get(w.Body.String(), "error.code").String())
}

func TestDoor_OutcomesBesideAnError(t *testing.T) {
	t.Parallel()
	s := before(t, func(context.Context) (json.RawMessage, error) {
		return json.RawMessage(`[{"result": {}}]`), boterr.New(boterr.Unavailable, "memberId", "one of them")
	})
	w := s.post(adas, "sendResponse", `{}`)
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.JSONEq(t, `{"error": {"op": "sendResponse", "code": "Unavailable", "field": "memberId", "message": "one of them"}, "result": [{"result": {}}]}`, w.Body.String())
}

func TestGrants_RefuseTokensThatCanBeGuessed(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, grants{{token: channel.NewSecret("short")}}.check(), "at least 32 characters")
	require.ErrorContains(t, grants{{token: channel.NewSecret(adas)}, {token: channel.NewSecret(adas)}}.check(), "the same token")
	require.NotContains(t, fmt.Sprintf("%+v", grants{{token: channel.NewSecret(adas)}}), adas)
}

func TestClients_HaveTheSameConversation(t *testing.T) {
	t.Parallel()
	for language, program := range map[string][]string{"Python": {"python3", "client.py"}, "Node": {"node", "client.mjs"}} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			interpreter, err := exec.LookPath(program[0])
			if err != nil {
				t.Skipf("%s is not installed here", program[0])
			}
			s := newScene(t)
			server := httptest.NewServer(s.door.routes())
			defer server.Close()
			client := exec.CommandContext(t.Context(), interpreter, program[1], server.URL)
			client.Env = append(os.Environ(), "BRIDGE_TOKEN="+adas, "NO_PROXY=*", "no_proxy=*")
			said, err := client.CombinedOutput()
			require.NoError(t, err, "%s", said)
			require.Equal(t, "orders: 1\nrefused: NotFound getMember\n", string(said))
			require.Equal(t, "Hello Ada, orders: 1", s.ada.Last())
		})
	}
}

func TestRun_UntilItIsEnded(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	read, out := io.Pipe()
	code := make(chan int, 1)
	go func() { code <- run(ctx, []string{"-listen", "127.0.0.1:0"}, adas, out, io.Discard) }()
	line := make([]byte, 100)
	n, err := read.Read(line)
	require.NoError(t, err)
	require.Contains(t, string(line[:n]), "listening on http://127.0.0.1:")
	stop()
	require.Zero(t, <-code)
}

func TestRun_NeedsAToken(t *testing.T) {
	t.Parallel()
	var problems bytes.Buffer
	require.Equal(t, 1, run(t.Context(), nil, "", io.Discard, &problems))
	require.Contains(t, problems.String(), "BRIDGE_TOKEN is refused: a token must have at least 32 characters")
}
