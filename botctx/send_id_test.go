package botctx_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/utility"
)

// sentIDs is a connector and a mailer that keeps the ids of messages and mails by recipient.
type sentIDs struct {
	mu  sync.Mutex
	ids map[string][]string
}

func (s *sentIDs) keep(to, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = map[string][]string{}
	}
	s.ids[to] = append(s.ids[to], id)
}

func (s *sentIDs) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	s.keep(message.To, message.ID)
	return send.Delivery{}, nil
}

func (s *sentIDs) SendMail(_ context.Context, mail utility.Mail) error {
	s.keep("mail", mail.ID)
	return nil
}

func (s *sentIDs) all() map[string][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.ids
	s.ids = nil
	return taken
}

// errTryAgain makes the Runtime try a run again.
var errTryAgain = errors.New("try again")

// saysALot returns an action that sends to Ada, to several members in one call, by mail and in a run of Bob, calls SendID,
// and then fails.
func saysALot(sent *sentIDs) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		_, toMany := bot.SendResponse(ctx, send.SendResponseParams{
			Response: send.Text("all"), MemberID: document.One("ada", "bob"),
		})
		_, redirected := bot.RedirectMemberToNode(ctx, botctx.RedirectMemberToNodeParams{MemberID: "bob", NodeCompositeID: "bobs"})
		_, mailed := bot.SendEmail(ctx, utility.SendEmailParams{
			Destination: utility.EmailDestination{ToAddresses: []string{"ada@example.com"}},
			Message: utility.EmailMessage{
				Subject: utility.EmailText{Data: "hi"}, Body: utility.EmailBody{Text: &utility.EmailText{Data: "hi"}},
			},
		})
		sent.keep("own", bot.SendID(context.WithoutCancel(ctx), "customer"))
		return errors.Join(bot.Reply(ctx, send.Text("one"), send.Text("two")), toMany, redirected, mailed, errTryAgain)
	}
}

// talkative returns a Runtime with the members Ada and Bob. Its node "due" runs saysALot.
func talkative(t *testing.T, sent *sentIDs, interceptors ...botctx.Interceptor) (*botctx.Runtime, *botctx.Context) {
	t.Helper()
	runtime, bot := shopWith(t, botctx.Config{
		Store: memstore.New(), Mailer: sent, ParallelSends: 4, Interceptors: interceptors,
		Connectors: map[channel.Type]send.Connector{channel.Webchat: sent},
	})
	members := members.New(runtime.Env(), record.Scope(bot.Scope()), channels.New(runtime.Env(), record.Scope(bot.Scope())))
	_, err := members.Insert(t.Context(), member.Member{ID: "bob", ExternalID: "ext-bob"})
	require.NoError(t, err)
	_, err = members.UpdateMember(t.Context(), member.UpdateParams{Member: document.O("_id", "ada", "externalId", "ext-ada")})
	require.NoError(t, err)
	require.NoError(t, runtime.Handle(&botctx.Node{ID: "bobs", Responses: []send.Response{send.Text("for Bob")}}))
	return runtime, bot
}

func requireDistinct(t *testing.T, ids map[string][]string) {
	t.Helper()
	seen := map[string]bool{}
	for _, each := range ids {
		for _, id := range each {
			require.NotEmpty(t, id)
			require.False(t, seen[id], "%s is the id of two things: %v", id, ids)
			seen[id] = true
		}
	}
}

func TestSendID_Agenda(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent sentIDs
		runtime, bot := talkative(t, &sent)
		dueAction(t, runtime, bot, saysALot(&sent))
		var attempts []map[string][]string
		for range 2 {
			result, err := runtime.RunNextAgenda(t.Context())
			require.NoError(t, err)
			require.ErrorIs(t, result.Err, errTryAgain)
			attempts = append(attempts, sent.all())
			pass(result.Next.Sub(bot.Now()))
		}
		require.Len(t, attempts[0]["ext-ada"], 3)
		require.Len(t, attempts[0]["ext-bob"], 2)
		require.Len(t, attempts[0]["mail"], 1)
		requireDistinct(t, attempts[0])
		require.Equal(t, attempts[0], attempts[1])
	})
}

func TestSendID_Event(t *testing.T) {
	t.Parallel()
	event := send.MessageEvent{From: "ext-ada", Type: send.TypeText, Data: document.O("text", "hi"), MessageID: "m1"}
	tap := send.MessageEvent{From: "ext-ada", Type: send.TypePayload, Data: document.O("payload", "yes"), MessageID: "m1", Timestamp: 1}
	for name, c := range map[string]struct {
		first, second send.MessageEvent
		isSame        bool
	}{
		"the same":               {event, event, true},
		"told later":             {event, changed(event, func(e *send.MessageEvent) { e.Timestamp = 7 }), true},
		"another message":        {event, changed(event, func(e *send.MessageEvent) { e.MessageID = "m2" }), false},
		"another sender":         {event, changed(event, func(e *send.MessageEvent) { e.From = "ext-bob" }), false},
		"another text":           {event, changed(event, func(e *send.MessageEvent) { e.Data = document.O("text", "ho") }), false},
		"without a messageId":    {changed(event, func(e *send.MessageEvent) { e.MessageID = "" }), changed(event, func(e *send.MessageEvent) { e.MessageID = "" }), false},
		"the same tap":           {tap, tap, true},
		"a tap on it again":      {tap, changed(tap, func(e *send.MessageEvent) { e.Timestamp = 2 }), false},
		"a message and its tap":  {event, tap, false},
		"another tap on the one": {tap, changed(tap, func(e *send.MessageEvent) { e.Data = document.O("payload", "no") }), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent sentIDs
			runtime, _ := talkative(t, &sent)
			runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
				_, err := bot.SendResponse(ctx, send.SendResponseParams{Response: send.Text("hi"), MemberID: document.One("ada")})
				return err
			})
			var ids []string
			for _, each := range []send.MessageEvent{c.first, c.second} {
				require.NoError(t, runtime.Receive(t.Context(), botctx.Inbound{App: "shop", Channel: "web", Event: each}))
				ids = slices.Concat(ids, sent.all()["ext-ada"])
			}
			require.Len(t, ids, 2)
			require.Equal(t, c.isSame, ids[0] == ids[1])
		})
	}
}

func changed(event send.MessageEvent, change func(*send.MessageEvent)) send.MessageEvent {
	change(&event)
	return event
}

func TestSendID_OutsideRuns(t *testing.T) {
	t.Parallel()
	var sent sentIDs
	_, bot := talkative(t, &sent)
	require.ErrorIs(t, saysALot(&sent)(t.Context(), bot), errTryAgain)
	first := sent.all()
	require.ErrorIs(t, saysALot(&sent)(t.Context(), bot), errTryAgain)
	for to, ids := range sent.all() {
		requireDistinct(t, map[string][]string{to: slices.Concat(ids, first[to])})
	}
}

// calling returns an interceptor that calls next n times, and then returns the last result, with an error if then is one.
func calling(n int, then error) botctx.Interceptor {
	return func(ctx context.Context, _ *botctx.Call, next botctx.Next) (result any, err error) {
		for range n {
			result, err = next(ctx)
		}
		return result, cmp.Or(then, err)
	}
}

// An interceptor that tries a call again sends with the same ids. If the first call succeeded, the second is another send.
func TestSendID_Interceptors(t *testing.T) {
	t.Parallel()
	twice, lost := calling(2, nil), calling(1, boterr.Unavailable)
	for name, c := range map[string]struct {
		interceptors []botctx.Interceptor
		isSame       bool
	}{
		"after a failure": {[]botctx.Interceptor{twice, lost}, true}, "after a success": {[]botctx.Interceptor{twice}, false},
		"a failure that another sees": {[]botctx.Interceptor{twice, lost, calling(1, nil)}, true},
	} {
		for _, messageID := range []string{"m1", ""} {
			t.Run(name+messageID, func(t *testing.T) {
				t.Parallel()
				var sent sentIDs
				runtime, _ := talkative(t, &sent, c.interceptors...)
				runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
					_ = saysALot(&sent)(ctx, bot)
					return nil
				})
				event := send.MessageEvent{From: "ext-ada", Type: send.TypeText, Data: document.O("text", "hi"), MessageID: messageID}
				require.NoError(t, runtime.Receive(t.Context(), botctx.Inbound{App: "shop", Channel: "web", Event: event}))
				ids := sent.all()
				require.Len(t, ids["ext-bob"], 6, "twice for all, and twice in each of the two runs")
				if !c.isSame {
					requireDistinct(t, ids)
					return
				}
				for to, number := range map[string]int{"ext-ada": 2, "ext-bob": 2, "mail": 1} {
					slices.Sort(ids[to])
					require.Len(t, slices.Compact(ids[to]), number, to)
				}
			})
		}
	}
}

// longWeb is an HTTP transport whose responses have 1 MB.
type longWeb struct{}

func (longWeb) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(make([]byte, 1<<20)))}, nil
}

// fetchingShop is a Runtime with memory for one long response. Its logic fetches two responses, one after the other, and
// sends the member's text to fetched. If the text is "hold", the run then waits until hold is closed.
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
		for range 2 { // The second response uses the memory of the first.
			if _, err := bot.Fetch(ctx, outbound.Request{URL: "https://example.com/"}); err != nil {
				return err
			}
		}
		s.fetched <- text
		switch text {
		case "hold":
			<-s.hold
		case "nested":
			return redirectsTo("ada", "fetches")(ctx, bot)
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
		outside, err := s.runtime.Context(t.Context(), botctx.Scope{App: "shop", Channel: "web", Member: "ada"})
		require.NoError(t, err)
		for range 2 {
			_, err = outside.Fetch(t.Context(), outbound.Request{URL: "https://example.com/"})
			require.NoError(t, err)
		}
		s.receive("eve", "hi")
	})
}
