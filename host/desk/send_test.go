package desk_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/host/desk"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// failing is a store with the faults that the suite of connectors expects of a platform.
type failing struct {
	store.Store

	mu    sync.Mutex
	fault sendtest.Fault
}

func (f *failing) fail(fault sendtest.Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// around fails the calls. After a lost answer, a write has had its effect.
func (f *failing) around(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
	f.mu.Lock()
	fault := f.fault
	f.mu.Unlock()
	down := boterr.New(boterr.Unavailable, "", "the store does not answer")
	switch {
	case fault == sendtest.Broken, fault == sendtest.NoAnswer:
		return ctx, nil, down
	case fault == sendtest.LostAnswer && (call.Method == "insert" || call.Method == "update"):
		return ctx, func(_ int, err error) error { return cmp.Or(err, error(down)) }, nil
	case fault == sendtest.Silent:
		<-ctx.Done()
		return ctx, nil, ctx.Err()
	default:
		return ctx, nil, nil
	}
}

func newFailing(inner store.Store) *failing {
	f := &failing{}
	f.Store = store.Wrap(struct{ store.Store }{inner}, f.around)
	return f
}

// harness is a desk for the suite of connectors.
func harness(t *testing.T) *sendtest.Harness {
	t.Helper()
	c := newClock()
	inner := memstore.New(memstore.WithNow(c.now))
	failing := newFailing(inner)
	connector, err := desk.New(desk.Config{Store: failing, Now: c.now})
	require.NoError(t, err)
	in := func(id string) *channel.Channel {
		return &channel.Channel{ID: id, App: "shop", Type: desk.Type, BroadcastGroups: []channel.BroadcastGroup{
			{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support"}, {ID: "m1"}, {ID: "m2"}}},
		}}
	}
	return &sendtest.Harness{
		Connector: connector, Channel: in("first"), Other: in("second"),
		Members: []*member.Member{{ID: "1", ExternalID: "m1"}, {ID: "2", ExternalID: "m2"}},
		Group:   "support",
		Arrived: func() []sendtest.Arrival { return arrivals(t, inner) },
		Fail:    failing.fail,
		Lacks: []sendtest.Fault{
			sendtest.RateLimited, sendtest.BadCredentials, sendtest.UnknownRecipient, sendtest.Blocked, sendtest.Rejected, sendtest.Garbled,
		},
		Archived: func(id string) bool {
			_, err := connector.Send(t.Context(), send.Message{ID: "x", Channel: in("first"), To: id, Response: send.Typing(1)})
			return errors.Is(err, boterr.FailedPrecondition)
		},
	}
}

// arrivals returns the tickets and the messages in conversations, in the order of their times.
func arrivals(t *testing.T, database store.Store) []sendtest.Arrival {
	t.Helper()
	type dated struct {
		sendtest.Arrival

		at int64
	}
	var all []dated
	names := map[string]document.Object{}
	for _, o := range allOf(t, database, "desk_conversations") {
		names[`"shop" "`+document.Get(o, "channel", "")+`" "`+document.Get(o, "to", "")+`"`] = o
	}
	for _, collection := range []string{"desk_tickets", "desk_chats"} {
		for _, o := range allOf(t, database, collection) {
			response := document.Get(o, "response", document.Get(o, "body.response", document.O()))
			one := sendtest.Arrival{
				Channel: document.Get(o, "channel", ""), To: document.Get(o, "to", ""), Key: document.Get(o, "message", ""),
				Text: document.Get(o, "shown", document.Get(response, "text", "")), Body: response.String(),
				IsRecalled: document.Get(o, "isRecalled", false),
			}
			if in, isEntry := names[document.Get(o, "log", "")]; isEntry {
				one.Channel, one.To = document.Get(in, "channel", ""), document.Get(in, "to", "")
				one.Key = document.Get(o, "key", "")[len("sent "):]
			}
			all = append(all, dated{one, document.Get(o, "createdAt", document.Get(o, "at", int64(0)))})
		}
	}
	slices.SortStableFunc(all, func(a, b dated) int { return cmp.Compare(a.at, b.at) })
	shown := make([]sendtest.Arrival, len(all))
	for i, one := range all {
		shown[i] = one.Arrival
	}
	return shown
}

func TestConnector(t *testing.T) {
	t.Parallel()
	sendtest.RunConnector(t, harness)
}

// Messages to conversations follow the same rules as messages to members. A conversation belongs to one channel, so
// both channels of the suite are the same one.
func TestConnector_InConversations(t *testing.T) {
	t.Parallel()
	sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
		t.Helper()
		h := harness(t)
		h.Other = h.Channel
		for i, key := range []string{"one", "two"} {
			made, err := h.Connector.(livechat.GroupCreator).CreateGroup(t.Context(), h.Channel, livechat.NewGroup{Key: key})
			require.NoError(t, err)
			h.Members[i].ExternalID = made.ExternalID
		}
		return h
	})
}

func TestSend_UnknownRecipients(t *testing.T) {
	t.Parallel()
	h := harness(t)
	for _, to := range []string{"nobody", "chat-", "Support", "\x00", "second"} {
		_, err := h.Connector.Send(t.Context(), send.Message{ID: "1", Channel: h.Channel, To: to, Response: send.Text("x")})
		require.ErrorIs(t, err, boterr.NotFound, to)
		require.True(t, send.IsGone(err))
	}
}

func TestSend_WithoutID(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	in, err := h.runtime.LoadChannel(t.Context(), "shop", "shop-desk")
	require.NoError(t, err)
	for _, text := range []string{"one", "two"} {
		_, err = h.desk.Send(t.Context(), send.Message{Channel: in, To: "support", Response: send.Text(text)})
		require.NoError(t, err)
	}
	require.Len(t, allOf(t, h.store, "desk_tickets"), 2)
}
