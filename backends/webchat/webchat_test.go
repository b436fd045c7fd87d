package webchat_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestConnector_KeepsTheContract(t *testing.T) {
	t.Parallel()
	sendtest.RunConnector(t, newHarness)
}

func newHarness(t *testing.T) *sendtest.Harness {
	t.Helper()
	inner := memstore.New()
	var fault atomic.Value
	fault.Store(sendtest.Healthy)
	down := errors.New("the store is down")
	broken := store.Wrap(inner, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		switch fault.Load() {
		case sendtest.Broken, sendtest.NoAnswer:
			return ctx, nil, down
		case sendtest.Silent:
			<-ctx.Done()
			return ctx, nil, ctx.Err()
		case sendtest.LostAnswer:
			return ctx, func(_ int, err error) error {
				if call.Method == "insert" && err == nil {
					return down
				}
				return err
			}, nil
		}
		return ctx, nil, nil
	})
	w := newWorld(t)
	return &sendtest.Harness{
		Connector: newConnector(t, webchat.Config{Store: broken}),
		Channel:   webchatChannel("c1", secret), Other: webchatChannel("c2", otherSecret),
		Members: []*member.Member{{ID: "m1", ExternalID: "v:ADA"}, {ID: "m2", ExternalID: "u:bob"}},
		Arrived: func() []sendtest.Arrival { return arrived(t, inner) },
		Fail:    func(f sendtest.Fault) { fault.Store(f) },
		Lacks: []sendtest.Fault{
			sendtest.RateLimited, sendtest.BadCredentials, sendtest.UnknownRecipient, sendtest.Blocked, sendtest.Rejected, sendtest.Garbled,
		},
		Odd: func() []sendtest.Reception { return oddMessages(w) },
	}
}

func arrived(t *testing.T, in store.Store) []sendtest.Arrival {
	t.Helper()
	found, err := in.Collection("webchat").Find(context.WithoutCancel(t.Context()), nil, store.FindOptions{})
	require.NoError(t, err)
	var all []sendtest.Arrival
	for _, o := range found {
		var place []string
		for rest := document.Get(o, "log", ""); rest != ""; {
			quoted, err := strconv.QuotedPrefix(rest)
			require.NoError(t, err)
			part, err := strconv.Unquote(quoted)
			require.NoError(t, err)
			place = append(place, part)
			rest = strings.TrimPrefix(rest[len(quoted):], " ")
		}
		body := document.Get(o, "body", document.O())
		all = append(all, sendtest.Arrival{
			Channel: place[1], To: place[2], Key: strings.TrimPrefix(document.Get(o, "key", ""), "m:"),
			Text: document.Get(body, "text", ""), Body: body.String(),
		})
	}
	return all
}

// oddMessages posts messages of unknown kinds to the handler, and returns how it handled each.
func oddMessages(w *world) []sendtest.Reception {
	by := w.session()
	var all []sendtest.Reception
	dropped := int64(0)
	for name, body := range map[string]fields{
		"a message of a new kind":  {"clientId": "a", "type": "POLL", "votes": []int{1}},
		"a message of nothing":     {},
		"a text of a new form":     {"clientId": "b", "type": "TEXT", "text": fields{"html": "hi"}},
		"a tap of a new form":      {"clientId": "c", "type": "PAYLOAD", "payload": 7},
		"an act of the page alone": {"clientId": "d", "type": "WEB_EVENT"},
	} {
		one := sendtest.Reception{Name: name, Status: w.do(request{path: "messages", token: by.Token, body: body}).Code}
		before := dropped
		dropped = 0
		for _, drop := range w.drops.Counts() {
			dropped += drop.Count
		}
		one.Dropped = dropped - before
		all = append(all, one)
	}
	return all
}

func TestSend_Refuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := webchatChannel(channelID, secret)
	for name, row := range map[string]struct {
		message send.Message
		code    boterr.Code
	}{
		"an id of no visitor":      {send.Message{Channel: in, To: "ada", Response: send.Text("hi")}, boterr.NotFound},
		"an empty id":              {send.Message{Channel: in, To: "u:", Response: send.Text("hi")}, boterr.NotFound},
		"a channel without secret": {send.Message{Channel: webchatChannel("c"), To: "v:A", Response: send.Text("hi")}, boterr.FailedPrecondition},
		"a short secret":           {send.Message{Channel: webchatChannel("c", "short"), To: "v:A", Response: send.Text("hi")}, boterr.FailedPrecondition},
		"another platform's info": {
			send.Message{Channel: &channel.Channel{ID: "c", App: app, Info: channel.DeltaInfo{}}, To: "v:A", Response: send.Text("hi")},
			boterr.FailedPrecondition,
		},
		"a script as picture": {send.Message{Channel: in, To: "v:A", Response: send.Image("javascript:alert(1)")}, boterr.InvalidArgument},
		"a script as button": {
			send.Message{Channel: in, To: "v:A", Response: send.Buttons("x", send.WebURL("y", " javascript:alert(1)"))}, boterr.InvalidArgument,
		},
		"a script in a card": {
			send.Message{Channel: in, To: "v:A", Response: send.Carousel(send.Card{Title: "x", ImageURL: "data:text/html,x"})}, boterr.InvalidArgument,
		},
		"too much": {send.Message{Channel: in, To: "v:A", Response: send.Text("x").With("more", strings.Repeat("x", 300<<10))}, boterr.InvalidArgument},
	} {
		_, err := w.Send(t.Context(), row.message)
		require.Equal(t, row.code, boterr.CodeOf(err), "%s: %v", name, err)
	}
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	connectortest.RequireRefused(t, webchat.New, map[string]webchat.Config{
		"Store":            {},
		"URL":              {Store: database, URL: "bot.example/chat"},
		"Poll":             {Store: database, Poll: -1},
		"Limits.Streams":   {Store: database, Limits: webchat.Limits{Streams: -1}},
		"Limits.FileBytes": {Store: database, Limits: webchat.Limits{FileBytes: -1}},
		"Files":            {Store: database, Files: (*files)(nil)},
	})
	_, err := webchat.New(webchat.Config{Store: database, Files: &files{}})
	require.ErrorContains(t, err, "URL")
}

func TestConversation_BotAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		return bot.Reply(ctx, send.Text(bot.Member.FirstName+" said "+bot.MessageEvent.Text()+bot.MessageEvent.Payload()))
	})
	ada := w.user("ada")
	require.Equal(t, "u:ada", ada.Visitor)
	require.Equal(t, "de", ada.Locale)
	first := w.writes(ada, "c1", "hi")
	require.Equal(t, "c1", first.ClientID)
	w.runs()
	tap := w.do(request{path: "messages", token: ada.Token, body: fields{"clientId": "c2", "type": "PAYLOAD", "title": "Yes", "payload": "yes"}})
	require.Equal(t, first.Seq+2, answered[sent](t, tap).Seq)
	w.runs()

	got := w.history(ada, "")
	require.False(t, got.More)
	require.Equal(t, "me: hi, bot: Ada said hi, me: , bot: Ada said yes", textsOf(got.Events))
	require.Equal(t, shown{
		Kind: "message", Seq: first.Seq, ID: "c1", ClientID: "c1", From: "me", At: w.clock.at.Load(),
		Response: map[string]any{"type": "TEXT", "text": "hi"},
	}, got.Events[0])
	require.Equal(t, map[string]any{"type": "PAYLOAD", "title": "Yes", "payload": "yes"}, got.Events[2].Response)
}

func TestMessage_RepeatRunsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	runs := 0
	w.runtime.HandleFunc(func(context.Context, *botctx.Context) error { runs++; return nil })
	ada := w.session()
	first := w.writes(ada, "c1", "hi")
	require.Equal(t, first, w.writes(ada, "c1", "hi"))
	w.runs()
	require.Equal(t, first, w.writes(ada, "c1", "hi"))
	w.runs()
	require.Equal(t, 1, runs)
	require.Len(t, w.history(ada, "").Events, 1)
}

func TestMessage_RepeatAfterAFailureIsPassedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var passed []string
	failing := true
	w.handler = w.Handler(func(_ context.Context, event botctx.Inbound) error {
		if failing {
			return boterr.New(boterr.ResourceExhausted, "", "too many events wait")
		}
		passed = append(passed, event.Event.MessageID+" "+event.Key)
		return nil
	})
	ada := w.session()
	body := request{path: "messages", token: ada.Token, body: fields{"clientId": "c1", "type": "TEXT", "text": "hi"}}
	refused := w.do(body)
	require.Equal(t, http.StatusServiceUnavailable, refused.Code)
	require.NotEmpty(t, refused.Header().Get("Retry-After"))
	require.NotContains(t, refused.Body.String(), "events wait")
	failing = false
	require.Equal(t, http.StatusOK, w.do(body).Code)
	require.Equal(t, []string{"c1 " + ada.Visitor + " c1"}, passed)
	require.Len(t, w.history(ada, "").Events, 1)
}

func TestMessage_PanicIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handler = w.Handler(func(context.Context, botctx.Inbound) error { panic("oops") })
	got := w.do(request{path: "messages", token: w.session().Token, body: fields{"clientId": "c1", "type": "TEXT", "text": "hi"}})
	require.Equal(t, http.StatusInternalServerError, got.Code)
	require.NotContains(t, got.Body.String(), "oops")
}

func TestMessage_WebEventIsNotShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var got send.MessageEvent
	w.handler = w.Handler(func(_ context.Context, event botctx.Inbound) error { got = event.Event; return nil })
	ada := w.session()
	event := w.do(request{path: "messages", token: ada.Token, body: fields{"clientId": "c1", "type": "WEB_EVENT", "data": fields{"page": "/cart"}}})
	require.Zero(t, answered[sent](t, event).Seq)
	require.Equal(t, send.TypeWebEvent, got.Type)
	require.Equal(t, "/cart", document.Get(got.Data, "page", ""))
	require.Empty(t, w.history(ada, "").Events)
}

func TestTyping_IsPassedOn(t *testing.T) {
	t.Parallel()
	var typing []string
	w := newWorld(t, func(c *webchat.Config) {
		c.OnTyping = func(_ context.Context, in *channel.Channel, visitor string) {
			typing = append(typing, in.ID+" "+visitor)
		}
	})
	ada := w.session()
	require.Equal(t, http.StatusNoContent, w.do(request{path: "typing", token: ada.Token, body: fields{}}).Code)
	require.Equal(t, []string{channelID + " " + ada.Visitor}, typing)
}

func TestRead_IsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	seq := w.writes(ada, "c1", "hi").Seq
	require.Equal(t, http.StatusNoContent, w.do(request{path: "read", token: ada.Token, body: fields{"seq": seq}}).Code)
	require.Equal(t, http.StatusBadRequest, w.do(request{path: "read", token: ada.Token, body: fields{"seq": seq + 1}}).Code)
}

func TestSend_AgentIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	w.says(ada.Visitor, "m1", send.Text("hello").With("sender", document.O("name", "Grace")))
	got := w.history(ada, "").Events[0]
	require.Equal(t, "agent", got.From)
	require.Equal(t, "Grace", got.Name)
	require.Equal(t, map[string]any{"type": "TEXT", "text": "hello"}, got.Response)
}

func TestSend_LongIDsDiffer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	long := strings.Repeat("x", 300)
	for _, end := range []string{"1", "2", "1"} {
		w.says(ada.Visitor, long+end, send.Text(end))
	}
	require.Equal(t, "bot: 1, bot: 2", textsOf(w.history(ada, "").Events))
}

func TestHistory_Pages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	for i := range 210 {
		w.says(ada.Visitor, strconv.Itoa(i), send.Text(strconv.Itoa(i)))
	}
	last := w.history(ada, "?limit=2")
	require.Equal(t, "bot: 208, bot: 209", textsOf(last.Events))
	require.True(t, last.More)
	number, query := 2, "?limit=50&before="
	for last.More {
		last = w.history(ada, query+strconv.FormatInt(last.Events[0].Seq, 10))
		number += len(last.Events)
	}
	require.Equal(t, 200, number, "no more than 200 in all")
	require.Equal(t, "bot: 10", textsOf(last.Events[:1]))
}

func TestPayloads_OnlyOfferedOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *webchat.Config) { c.SignsPayloads = true })
	var got []botctx.Inbound
	w.handler = w.Handler(func(_ context.Context, event botctx.Inbound) error { got = append(got, event); return nil })
	ada, bob := w.session(), w.session()
	w.says(ada.Visitor, "m1", send.QuickReplies("?", send.QuickReply{Title: "Yes", Payload: "yes~1"}))
	w.says(ada.Visitor, "m2", send.Carousel(send.Card{Title: "T", Buttons: []send.Button{send.PostbackValue("Buy", "buy", 7)}}))
	events := w.history(ada, "").Events
	reply := events[0].Response["quickReplies"].([]any)[0].(map[string]any)["payload"]
	button := events[1].Response["carousel"].([]any)[0].(map[string]any)["buttons"].([]any)[0].(map[string]any)["payload"].(map[string]any)
	tap := func(by started, payload any) int {
		id := strconv.Itoa(len(got)) + "x"
		return w.do(request{path: "messages", token: by.Token, body: fields{"clientId": id, "type": "PAYLOAD", "payload": payload}}).Code
	}
	require.Equal(t, http.StatusOK, tap(ada, reply))
	require.Equal(t, http.StatusOK, tap(ada, button))
	require.Equal(t, "yes~1", got[0].Event.Payload())
	require.Equal(t, "buy", got[1].Event.Payload())
	require.EqualValues(t, 7, got[1].Event.Value())
	for name, refused := range map[string]int{
		"not signed": tap(ada, "yes~1"), "another visitor's": tap(bob, reply), "another value": tap(ada, fields{"payload": button["payload"], "value": 8}),
		"a signature alone": tap(ada, "~"),
	} {
		require.Equal(t, http.StatusBadRequest, refused, name)
	}
}

func TestErase_RemovesLogAndFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.session(), w.session()
	for _, by := range []started{ada, bob} {
		w.writes(by, "c1", "hi")
		for range 25 {
			require.Equal(t, http.StatusOK, w.uploads(by, "a.png", png).Code)
		}
	}
	require.NoError(t, w.EraseMember(t.Context(), memberOf(ada)))
	require.Empty(t, w.history(ada, "").Events)
	require.Len(t, w.history(bob, "").Events, 1)
	require.Equal(t, 25, w.files.number())
	require.NoError(t, w.EraseMember(t.Context(), memberOf(ada)), "a repeat")
	require.ErrorIs(t, w.EraseMember(t.Context(), &member.Member{App: app}), boterr.InvalidArgument)
}

func TestErase_FilesThatStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	require.Equal(t, http.StatusOK, w.uploads(ada, "a.png", png).Code)
	w.files.failing = errors.New("away")
	require.Error(t, w.EraseMember(t.Context(), memberOf(ada)))
	w.files.failing = nil
	require.NoError(t, w.EraseMember(t.Context(), memberOf(ada)))
	require.Zero(t, w.files.number())
	require.Zero(t, w.fileRecords())
}

func TestErase_WithTheRuntime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runtime.HandleFunc(func(context.Context, *botctx.Context) error { return nil })
	ada := w.session()
	w.writes(ada, "c1", "hi")
	w.runs()
	var all []*member.Member
	for m, err := range w.runtime.Members(t.Context(), app, member.Selection{Channel: channelID}) {
		require.NoError(t, err)
		all = append(all, m)
	}
	require.Len(t, all, 1)
	require.Equal(t, ada.Visitor, all[0].ExternalID)
	_, err := w.runtime.EraseMember(t.Context(), app, all[0].ID)
	require.NoError(t, err)
	require.Empty(t, w.history(ada, "").Events)
}
