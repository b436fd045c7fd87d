package simulator_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes/simulator"
)

// tab is a page in a browser, as far as it asks for something.
type tab struct {
	t      *testing.T
	server *httptest.Server
	// branch is the one that is shown.
	branch string
}

// newTab opens a page of a simulator with the tests' bot.
func newTab(t *testing.T, of simulator.Simulator, more ...*botctx.Node) *tab {
	t.Helper()
	handler, err := of.Handler(append(nodes(), more...)...)
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

// get gets a path, and returns the status and the text.
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

// world returns what the page shows.
func (p *tab) world() simulator.World {
	p.t.Helper()
	status, text, _ := p.get("/world?branch=" + p.branch)
	require.Equal(p.t, http.StatusOK, status, text)
	var told simulator.World
	require.NoError(p.t, json.Unmarshal([]byte(text), &told))
	return told
}

// asks lets the page ask for something to be done, and returns the status and what was answered.
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

// does asks for something that is done, and returns what came of it.
func (p *tab) does(do string, with map[string]any) simulator.Outcome {
	p.t.Helper()
	status, text := p.asks(do, with)
	require.Equal(p.t, http.StatusOK, status, text)
	var done simulator.Outcome
	require.NoError(p.t, json.Unmarshal([]byte(text), &done))
	return done
}

// says lets the first member say something.
func (p *tab) says(text string) {
	p.t.Helper()
	done := p.does("say", map[string]any{"person": p.world().Members[0].ID, "text": text})
	require.Nil(p.t, done.Error)
}

// last returns what was said last by or to the first member.
func (p *tab) last() simulator.Entry {
	p.t.Helper()
	talk := p.world().Members[0].Talk
	require.NotEmpty(p.t, talk)
	return talk[len(talk)-1]
}
