package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func loaded(t *testing.T) []*botctx.Node {
	t.Helper()
	bot, err := nodes(os.DirFS("bot"))
	require.NoError(t, err)
	return bot
}

func newBar(t *testing.T) *fakes.Platform {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.Handle(loaded(t)...)
	return p
}

// bar returns the platform of the bot, and Ada on it.
func bar(t *testing.T) (*fakes.Platform, *fakes.Actor) {
	t.Helper()
	p := newBar(t)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	return p, ada
}

func TestOrder_IsKeptAndRemindedOf(t *testing.T) {
	t.Parallel()
	p, ada := bar(t)
	ada.Says("menu")
	require.Equal(t, "espresso 2.20\nfilter coffee 2.80\ngreen tea 3.00", ada.Last())
	ada.TapsOn("green tea")
	require.Equal(t, "One green tea, that is 3.", ada.Last())
	require.Equal(t, "green tea", document.Get(p.Data("orders")[0], "drink", ""))

	p.Advance(23 * time.Hour)
	ada.Says("Espresso")
	p.Advance(23 * time.Hour)
	require.Equal(t, "One espresso, that is 2.2.", ada.Last(), "the reminder was put off")
	p.Advance(time.Hour)
	require.Equal(t, "Another espresso, Ada?", ada.Last())
}

func TestOrder_TheFifthIsFree(t *testing.T) {
	t.Parallel()
	_, ada := bar(t)
	for range 5 {
		require.NotEqual(t, "It is your fifth: it is on the house.", lastOf(ada))
		ada.Says("espresso")
	}
	require.Equal(t, "It is your fifth: it is on the house.", ada.Last())
}

// lastOf returns the last text to a member, or "" before the first.
func lastOf(actor *fakes.Actor) string {
	if len(actor.Messages()) == 0 {
		return ""
	}
	return actor.Last()
}

func TestOrder_FailsWithItsScript(t *testing.T) {
	t.Parallel()
	p, ada := bar(t)
	p.Inject(fakes.Fails(botctx.OpUpsertDataToDataSource, boterr.Unavailable))
	err := ada.TrySays("espresso")
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, "order.js:4:")
	require.Empty(t, ada.Messages())
}

func TestNodes_InGoStandBeside(t *testing.T) {
	t.Parallel()
	_, ada := bar(t)
	ada.Says("hours")
	require.Equal(t, "We are there from 7 to 19.", ada.Last())
	ada.Says("cocoa")
	require.Equal(t, "We have no such thing. Say menu to see what there is.", ada.Last())
}

func TestNodes_HaveNoWarnings(t *testing.T) {
	t.Parallel()
	graph, err := botctx.GraphOf(loaded(t)...)
	require.NoError(t, err)
	require.Empty(t, graph.Warnings)
}

func TestRun_ServesThePage(t *testing.T) {
	t.Parallel()
	said, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"-bot", "bot", "-simulator", "-address", "127.0.0.1:0"}, out, io.Discard)
	}()
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, strings.TrimPrefix(strings.TrimSpace(line), "Bar is at ")+"act",
		strings.NewReader(`{"do": "say", "with": {"person": "member-1", "text": "espresso"}}`))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.NoError(t, response.Body.Close())
	stop()
	require.Zero(t, <-ended)
}

func TestRun_RefusesWhatWouldBeIgnored(t *testing.T) {
	t.Parallel()
	var problems strings.Builder
	require.Equal(t, 2, run(t.Context(), []string{"-address", "127.0.0.1:0"}, io.Discard, &problems))
	require.Contains(t, problems.String(), "-address needs -simulator")
}

func TestRun_FolderIsNotThere(t *testing.T) {
	t.Parallel()
	var out, problems strings.Builder
	require.Equal(t, 1, run(t.Context(), []string{"-bot", filepath.Join(t.TempDir(), "bot")}, &out, &problems))
	require.Contains(t, problems.String(), "-bot does not name an existing folder")
	require.Empty(t, out.String())
}
