package simulator_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/internal/session/sessiontest"
)

func TestServe_SaysWhereAndEndsWithTheContext(t *testing.T) {
	t.Parallel()
	said, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- simulator.Simulator{Address: "127.0.0.1:0", Out: out, Bot: "Shop"}.Serve(ctx, sessiontest.Nodes()...)
	}()
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	address, isFound := strings.CutPrefix(strings.TrimSpace(line), "Shop is at ")
	require.True(t, isFound, line)

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"events", nil)
	require.NoError(t, err)
	listening, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	cancel()
	require.NoError(t, <-ended)
	_, err = io.Copy(io.Discard, listening.Body) // The stream ends with the page, and does not keep the server running.
	require.NoError(t, err)
	require.NoError(t, listening.Body.Close())
}

func TestServe_RefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	twice := []*botctx.Node{{ID: "hello"}, {ID: "hello"}}
	require.ErrorContains(t, simulator.Serve(t.Context(), twice...), "hello")
	require.EqualError(t, simulator.Simulator{Address: "nowhere"}.Serve(t.Context()),
		"listen tcp: address nowhere: missing port in address: set Address to listen elsewhere")
}

// tab is a page in a browser, reduced to its requests.
type tab struct {
	t      *testing.T
	server *httptest.Server
	// branch is the id of the shown branch.
	branch string
}

// plays does one of each action that a conversation can repeat.
func (p *tab) plays() {
	p.t.Helper()
	ada := p.world().Members[0].ID
	p.says("hi")
	p.says("kettles")
	p.does("tap", map[string]any{"person": ada, "message": p.last().ID, "number": 1})
	p.says("remind me")
	p.does("advance", map[string]any{"by": "24h"})
	p.does("fault", map[string]any{"line": "The next upsertDataToDataSource fails: Conflict"})
	p.does("say", map[string]any{"person": ada, "text": "coupon"})
	p.does("addMember", map[string]any{"name": "Bob", "platform": "bravo"})
	p.does("say", map[string]any{"person": p.world().Members[1].ID, "text": "hi"})
	p.says("a person")
	grace := p.world().Agents[0]
	p.does("take", map[string]any{"person": grace.ID, "message": grace.Tickets[0].Message})
	p.does("say", map[string]any{"person": grace.ID, "text": "Where does it leak?"})
	p.does("end", map[string]any{"person": grace.ID})
}

func TestSaved_ConversationIsTheSameWhenItIsHeldAgain(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.plays()
	_, _, header := p.get("/saved?form=text")
	require.Equal(t, "text/plain; charset=utf-8", header.Get("Content-Type"))
	again := fakes.New(fakes.For(t))
	again.Handle(sessiontest.Nodes()...)
	p.savedIsHeldAgain(again)
}

func TestWorld_NaN(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{}, &botctx.Node{
		ID: "nan", Trigger: botctx.TextIs("nan"), Pre: botctx.Do(func(_ context.Context, bot *botctx.Context) error {
			bot.Member.Meta.Set("x", math.NaN())
			return nil
		}),
	})
	p.says("nan")
	require.Contains(t, p.world().Members[0].Record.String(), `"x":null`)
}

func TestSaved_GoTest(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{Test: simulator.Test{Package: "kettles", Nodes: "Nodes()"}})
	p.says("hi")
	p.says("coupon")
	p.does("go", map[string]any{"moment": 1})
	status, text, _ := p.get("/saved?form=go")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, text, "package kettles\n")
	require.Contains(t, text, "p.Handle(Nodes()...)\n")
	require.Contains(t, text, `ada.Says("hi")`+"\n\trequire.Equal(t, \"Hello Ada!\", ada.Last())\n")
	require.NotContains(t, text, "coupon")
}

func TestSaved_AForkHasWhatWasDoneInIt(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.says("hi")
	p.says("coupon")
	fork := &tab{t: t, server: p.server, branch: p.does("fork", map[string]any{"moment": 1}).Branch}
	fork.says("sure?")
	_, text, _ := fork.get("/saved?form=text&branch=" + fork.branch)
	require.Contains(t, text, "Ada: sure?\n")
	require.NotContains(t, text, "coupon")
	_, text, _ = p.get("/saved?form=text")
	require.NotContains(t, text, "sure?")
	require.Contains(t, text, "coupon")
}

func TestSaved_CrashesAndOutages(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.does("fault", map[string]any{"line": "Out of service: mail"})
	p.does("fault", map[string]any{"line": "Back in service: mail"})
	p.does("fault", map[string]any{"line": "Out of service: messages to Ada"})
	p.does("fault", map[string]any{"line": "Back in service: messages to Ada"})
	p.does("crash", nil)
	p.does("restart", nil)
	p.says("hi")
	status, text, _ := p.get("/saved?form=text")
	require.Equal(t, http.StatusOK, status, text)
	require.Contains(t, text, "Out of service: mail\n\nBack in service: mail\n\n"+
		"Out of service: messages to Ada\n\nBack in service: messages to Ada\n\nThe process crashes\n\nThe process starts again\n\nAda: hi\n")
	status, text, _ = p.get("/saved?form=go")
	require.Equal(t, http.StatusOK, status, text)
	require.Contains(t, text, "p.Inject(fakes.Refuses(ada, boterr.FailedPrecondition))\n")
	require.Contains(t, text, "p.Crash()\n")
}

func TestSaved_WhatNoConversationHasIsRefused(t *testing.T) {
	t.Parallel()
	for says, does := range map[string]func(p *tab){
		"is switched off)": func(p *tab) {
			p.does("switch", map[string]any{"channel": p.world().Members[0].Channel, "on": false})
		},
		"getMember fails with NotFound":       func(p *tab) { p.does("fault", map[string]any{"line": "The next getMember fails: NotFound"}) },
		"call 2 from now on: getMember fails": func(p *tab) { p.does("fault", map[string]any{"line": "Call 2 of getMember fails: NotFound"}) },
	} {
		p := newTab(t, simulator.Simulator{})
		does(p)
		status, text, _ := p.get("/saved?form=go")
		require.Equal(t, http.StatusConflict, status, text)
		require.Contains(t, text, says)
	}
	p := newTab(t, simulator.Simulator{})
	status, _, _ := p.get("/saved?form=word")
	require.Equal(t, http.StatusBadRequest, status)
}

// newTab opens a page of a simulator with the tests' bot.
func newTab(t *testing.T, of simulator.Simulator, more ...*botctx.Node) *tab {
	t.Helper()
	handler, err := of.Handler(append(sessiontest.Nodes(), more...)...)
	require.NoError(t, err)
	return serve(t, handler)
}

// serve opens a page of a handler.
func serve(t *testing.T, handler http.Handler) *tab {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &tab{t: t, server: server}
}

func (p *tab) get(path string) (status int, text string, header http.Header) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.server.URL+path, nil)
	require.NoError(p.t, err)
	return p.do(request)
}

func (p *tab) do(request *http.Request) (status int, text string, header http.Header) {
	p.t.Helper()
	response, err := p.server.Client().Do(request)
	require.NoError(p.t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(p.t, err)
	require.NoError(p.t, response.Body.Close())
	return response.StatusCode, string(body), response.Header
}

// world returns the world that the page shows.
func (p *tab) world() simulator.World {
	p.t.Helper()
	status, text, _ := p.get("/world?branch=" + p.branch)
	require.Equal(p.t, http.StatusOK, status, text)
	var told simulator.World
	require.NoError(p.t, json.Unmarshal([]byte(text), &told))
	return told
}

// asks sends an action, and returns the status and the answer.
func (p *tab) asks(do string, with map[string]any) (int, string) {
	p.t.Helper()
	body, err := json.Marshal(map[string]any{"branch": p.branch, "do": do, "with": with})
	require.NoError(p.t, err)
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.server.URL+"/act", bytes.NewReader(body))
	require.NoError(p.t, err)
	request.Header.Set("Content-Type", "application/json")
	status, text, _ := p.do(request)
	return status, text
}

// does sends an action, and returns the outcome.
func (p *tab) does(do string, with map[string]any) simulator.Outcome {
	p.t.Helper()
	status, text := p.asks(do, with)
	require.Equal(p.t, http.StatusOK, status, text)
	var done simulator.Outcome
	require.NoError(p.t, json.Unmarshal([]byte(text), &done))
	return done
}

// says makes the first member say a text.
func (p *tab) says(text string) {
	p.t.Helper()
	done := p.does("say", map[string]any{"person": p.world().Members[0].ID, "text": text})
	require.Nil(p.t, done.Error)
}

// last returns the last message by or to the first member.
func (p *tab) last() simulator.Entry {
	p.t.Helper()
	talk := p.world().Members[0].Talk
	require.NotEmpty(p.t, talk)
	return talk[len(talk)-1]
}

func TestRequests_OthersAreKeptOut(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{Hosts: []string{"bots.example"}})
	for name, refused := range map[string]struct {
		change func(r *http.Request)
		status int
	}{
		"another name":      {func(r *http.Request) { r.Host = "evil.example" }, http.StatusForbidden},
		"another site":      {func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, http.StatusForbidden},
		"no site":           {func(r *http.Request) { r.Header.Set("Origin", "null") }, http.StatusForbidden},
		"another port":      {func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, http.StatusForbidden},
		"a form":            {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, http.StatusBadRequest},
		"a site by fetch":   {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, http.StatusForbidden},
		"a name of its own": {func(r *http.Request) { r.Host = "bots.example:80" }, http.StatusOK},
		"localhost":         {func(r *http.Request) { r.Host = "localhost:8321" }, http.StatusOK},
		"IPv6":              {func(r *http.Request) { r.Host = "[::1]:8321" }, http.StatusOK},
		"the page itself":   {func(r *http.Request) { r.Header.Set("Origin", p.server.URL) }, http.StatusOK},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.server.URL+"/act", strings.NewReader(`{"do":"advance","with":{"by":"1s"}}`))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		refused.change(request)
		status, text, _ := p.do(request)
		require.Equal(t, refused.status, status, "%s: %s", name, text)
	}
}

func TestRequests_ReadersOfOtherSitesAreKeptOut(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	for _, path := range []string{"/world", "/events", "/"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.server.URL+path, nil)
		require.NoError(t, err)
		request.Header.Set("Origin", "https://evil.example")
		status, _, header := p.do(request)
		require.Equal(t, http.StatusForbidden, status, path)
		require.Empty(t, header.Get("Access-Control-Allow-Origin"))
	}
}

func TestRequests_BodiesAreRead(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	for body, says := range map[string]string{
		``:                                     "cannot be read",
		`{`:                                    "cannot be read",
		`{"do":"say","with":{"txt":"hi"}}`:     "unknown field",
		`{"do":"say","wth":{}}`:                "unknown field",
		`{"do":"next"} {}`:                     "data after its value",
		`{"do":"sy"}`:                          "did you mean say?",
		`"` + strings.Repeat("a", 1<<19) + `"`: "too large",
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.server.URL+"/act", strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json; charset=utf-8")
		status, text, _ := p.do(request)
		require.Equal(t, http.StatusBadRequest, status, text)
		require.Contains(t, text, says)
	}
}

func TestPage_RunsNothingThatStandsInIt(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	status, text, header := p.get("/")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, header.Get("Content-Security-Policy"), "script-src 'self';")
	require.NotContains(t, header.Get("Content-Security-Policy"), "unsafe")
	require.NotRegexp(t, `<script(?:[^>]*[^>/])?>[^<]|\son\w+=|style=`, text)
	require.NotContains(t, text, "http://")
	require.NotContains(t, text, "https://")
	require.Equal(t, "text/html; charset=utf-8", header.Get("Content-Type"))
	require.Equal(t, "DENY", header.Get("X-Frame-Options"))
}

func TestPage_OtherFilesAreNotThere(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	for _, path := range []string{"/parts/vendor/LICENSE-preact", "/../simulator.go", "/parts/", "/none.js"} {
		status, _, _ := p.get(path)
		require.Equal(t, http.StatusNotFound, status, path)
	}
}

// listens returns the ids of the events for a page whose last event is known.
func listens(t *testing.T, p *tab, known string) <-chan string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.server.URL+"/events", nil)
	require.NoError(t, err)
	request.Header.Set("Last-Event-ID", known)
	response, err := p.server.Client().Do(request) //nolint:bodyclose // The goroutine below closes it.
	require.NoError(t, err)
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	ids := make(chan string)
	go func() {
		defer close(ids)
		defer func() { _ = response.Body.Close() }()
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if id, isID := strings.CutPrefix(lines.Text(), "id: "); isID {
				select {
				case ids <- id:
				case <-t.Context().Done():
					return
				}
			}
		}
	}()
	return ids
}

func TestEvents_TellEachChangeToEveryTab(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	one, other := listens(t, p, ""), listens(t, p, "")
	first := <-one
	require.Equal(t, first, <-other)
	p.says("hi")
	for _, ids := range []<-chan string{one, other} {
		next := <-ids
		require.NotEqual(t, first, next)
		require.True(t, strings.HasPrefix(next, p.world().Instance+"."))
	}
}

func TestEvents_KnownRevisionIsNotToldAgain(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	known := <-listens(t, p, "")
	again := listens(t, p, known)
	p.says("hi")
	require.NotEqual(t, known, <-again)
}

func TestWorld_IsThereWhileTheBotThinks(t *testing.T) {
	t.Parallel()
	begun, goOn := make(chan struct{}), make(chan struct{})
	p := newTab(t, simulator.Simulator{}, &botctx.Node{
		ID: "think", Global: botctx.GlobalInTree, Trigger: botctx.TextIs("think"), Responses: botctx.Say("Done."),
		Pre: botctx.Do(func(context.Context, *botctx.Context) error { close(begun); <-goOn; return nil }),
	})
	ada, done := p.world().Members[0].ID, make(chan struct{})
	go func() {
		defer close(done)
		_, _ = p.asks("say", map[string]any{"person": ada, "text": "think"})
	}()
	<-begun
	require.Equal(t, "say", p.world().Busy)
	close(goOn)
	<-done
	require.Empty(t, p.world().Busy)
	require.Equal(t, "Done.", p.last().Text)
}

func TestHandler_RefusesNil(t *testing.T) {
	t.Parallel()
	for field, s := range map[string]simulator.Simulator{
		"Out": {Out: (*bytes.Buffer)(nil)}, "Accounts[0]": {Accounts: []*fakes.Account{nil}},
		"Members[0]": {Members: []*fakes.Actor{nil}}, "Agents[0]": {Agents: []*fakes.Agent{nil}},
	} {
		_, err := s.Handler()
		require.ErrorIs(t, err, boterr.InvalidArgument, field)
		e, _ := boterr.AsError(err)
		require.Equal(t, field, e.Field)
	}
}
