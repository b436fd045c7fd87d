package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/member"
)

func TestBakery_BakesWhatIsOrdered(t *testing.T) {
	t.Parallel()
	p := newPlatform(fakes.For(t))
	shop := p.Account(account)
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: "web", Email: "ada@example.com"})

	ada.Says("hi")
	ada.TapsOn("Bread")
	ada.TapsOn("Order rye")
	require.Equal(t, "Ordered: rye. It is ready in two hours.", ada.Last())
	require.EqualValues(t, 420, shop.Payments()[0].Amount)
	require.Equal(t, "baking", document.Get(p.Data(orders)[0], "state", ""))

	p.Advance(2 * time.Hour)
	require.Equal(t, "Your rye bread is ready.", ada.Last())
	require.Equal(t, "One rye bread: 4.20.", p.Mails()[0].Text.Data)
}

func TestBakery_CancelTakesTheOrderAway(t *testing.T) {
	t.Parallel()
	p := newPlatform(fakes.For(t))
	bob := p.AddMember(member.Member{FirstName: "Bob", Channel: "phone"})

	bob.Says("bread")
	bob.TapsOn("Order wheat")
	bob.Says("cancel")
	require.Equal(t, "Your order is gone.", bob.Last())
	require.Equal(t, "cancelled", document.Get(p.Data(orders)[0], "state", ""))
	p.Advance(2 * time.Hour)
	require.Equal(t, "Your order is gone.", bob.Last())
}

func TestNodes_HaveNoWarnings(t *testing.T) {
	t.Parallel()
	graph, err := botctx.GraphOf(nodes()...)
	require.NoError(t, err)
	require.Empty(t, graph.Warnings)
}

func TestRun_ServesThePage(t *testing.T) {
	t.Parallel()
	said, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, []string{"-address", "127.0.0.1:0"}, out, io.Discard) }()
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.TrimPrefix(strings.TrimSpace(line), "Bakery is at "), nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.NoError(t, response.Body.Close())
	stop()
	require.Zero(t, <-ended)
}

func TestSaved_IsHeldAgainOnThePlatformThatItNames(t *testing.T) {
	t.Parallel()
	page, err := newBakery().Handler()
	require.NoError(t, err)
	asks := func(method, path, body string) string {
		request := httptest.NewRequestWithContext(t.Context(), method, "http://localhost/"+path, strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		page.ServeHTTP(answer, request)
		require.Equal(t, http.StatusOK, answer.Code, answer.Body.String())
		return answer.Body.String()
	}
	asks(http.MethodPost, "act", `{"do": "say", "with": {"person": "member-1", "text": "bread"}}`)
	asks(http.MethodPost, "act", `{"do": "fault", "with": {"line": "The next charge of bakery is declined: insufficient_funds"}}`)
	asks(http.MethodPost, "act", `{"do": "tap", "with": {"person": "member-1", "message": "message-1", "number": 0}}`)
	require.Contains(t, asks(http.MethodGet, "saved?form=go", ""), "p := newPlatform(fakes.For(t))\n")
	kept, err := conversation.Parse("kept.chat", asks(http.MethodGet, "saved?form=text", ""))
	require.NoError(t, err)
	came, err := conversation.NewSession(newPlatform(fakes.For(t))).Play(kept)
	require.NoError(t, err)
	require.Empty(t, conversation.Difference(kept, came))
	require.True(t, came.Steps[len(came.Steps)-1].Failure.Fails)
}
