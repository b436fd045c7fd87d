package botctx_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// longWeb answers with 1 MB.
type longWeb struct{}

func (longWeb) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(make([]byte, 1<<20)))}, nil
}

// fetchingShop is a Runtime with memory for one long answer, whose logic fetches two, one after the other. The
// run then waits until hold is closed if the member wrote "hold". fetched gets the text of each run that has its
// answers.
type fetchingShop struct {
	t       *testing.T
	runtime *botctx.Runtime
	fetched chan string
	hold    chan struct{}
}

func newFetchingShop(t *testing.T) *fetchingShop {
	t.Helper()
	client, err := outbound.New(outbound.Config{Transport: longWeb{}, MaxResponseBytes: 1 << 20, MaxBufferedBytes: 1 << 20})
	require.NoError(t, err)
	runtime, _ := shopWith(t, botctx.Config{
		Store: memstore.New(), HTTP: client, Connectors: send.Connectors{channel.Webchat: &sentTexts{}},
	})
	s := &fetchingShop{t: t, runtime: runtime, fetched: make(chan string, 8), hold: make(chan struct{})}
	runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		text := bot.MessageEvent.Text()
		for range 2 { // The second answer uses the memory of the first.
			if _, err := bot.Fetch(ctx, outbound.Request{URL: "https://example.com/"}); err != nil {
				return err
			}
		}
		s.fetched <- text
		switch text {
		case "hold":
			<-s.hold
		case "nested":
			_, err := bot.RedirectMemberToNode(ctx, botctx.RedirectMemberToNodeParams{MemberID: "ada", NodeCompositeID: "fetches"})
			return err
		}
		return nil
	})
	require.NoError(t, runtime.Handle(&botctx.Node{ID: "fetches", Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.Fetch(ctx, outbound.Request{URL: "https://example.com/"})
		s.fetched <- "inner"
		return err
	}}}))
	return s
}

// receive has a member write.
func (s *fetchingShop) receive(from, text string) {
	err := s.runtime.Receive(s.t.Context(), botctx.Inbound{App: "shop", Channel: "web", Event: send.MessageEvent{
		From: from, Type: send.TypeText, Data: document.O("text", text), MessageID: from,
	}})
	if err != nil {
		s.t.Errorf("%s: %v", text, err)
	}
}

func TestFetch_RunHoldsItsAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFetchingShop(t)
		go s.receive("bob", "hold")
		require.Equal(t, "hold", <-s.fetched)
		go s.receive("eve", "hi")
		synctest.Wait()
		require.Empty(t, s.fetched, "the first run still has its answer")
		close(s.hold)
		require.Equal(t, "hi", <-s.fetched)
		synctest.Wait()
	})
}

func TestFetch_NestedRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFetchingShop(t)
		s.receive("bob", "nested")
		require.Equal(t, []string{"nested", "inner"}, []string{<-s.fetched, <-s.fetched})
		outside, err := s.runtime.Context(t.Context(), record.Scope{App: "shop", Channel: "web", Member: "ada"})
		require.NoError(t, err)
		for range 2 {
			_, err = outside.Fetch(t.Context(), outbound.Request{URL: "https://example.com/"})
			require.NoError(t, err)
		}
		s.receive("eve", "hi")
	})
}
