package simulator_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes/simulator"
)

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
		`{"do":"next"} {}`:                     "goes on",
		`{"do":"sy"}`:                          "perhaps say is meant",
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

// listens returns the ids of the events that a page gets, which knows that of an id.
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
