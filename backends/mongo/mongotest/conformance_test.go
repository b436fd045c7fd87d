package mongotest_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	if !isStandIn() {
		botctxtest.RunConformance(t, newHarness)
		return
	}
	rules := botctxtest.Rules()
	t.Logf("the stand-in is not held to %d of %d rules", len(operationDefects), len(rules))
	for _, rule := range rules {
		check := func(t *testing.T, to witnessed) { t.Helper(); rule.Check(to, newHarness(t)) }
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			hold(t, operationDefects[rule.Name], check)
		})
	}
}

// newHarness lets the suite reach a Runtime over a store.
func newHarness(t *testing.T) *botctxtest.Harness {
	t.Helper()
	w := &world{test: t}
	w.now.Store(time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).UnixMilli())
	store := clocked{Store: newStore(t), now: w.time}
	runtime, err := botctx.New(botctx.Config{
		Store: store, Connectors: w.connectors(), Now: w.time,
	})
	require.NoError(t, err)
	require.NoError(t, botctx.EnsureIndexes(t.Context(), store))
	w.runtime = runtime
	return &botctxtest.Harness{
		Operations: func(scope record.Scope) botctx.Operations { return runtime.Operations(scope) },
		AddChannel: w.addChannel,
		AddMember:  w.addMember,
		Sent:       w.allSent,
		Advance:    w.advance,
		Handle:     func(nodes ...*botctx.Node) { require.NoError(t, runtime.Handle(nodes...)) },
	}
}

// clocked is a store whose clock is that of a test.
type clocked struct {
	document.Store

	now func() time.Time
}

// Now returns the time of the test.
func (c clocked) Now(context.Context) (time.Time, error) { return c.now(), nil }

// world is what is around a Runtime.
type world struct {
	test    *testing.T
	runtime *botctx.Runtime
	now     atomic.Int64
	ids     atomic.Int64

	mutex sync.Mutex
	sent  []botctxtest.Sent
}

func (w *world) time() time.Time { return time.UnixMilli(w.now.Load()).UTC() }

// next returns a new id.
func (w *world) next(prefix string) string { return prefix + "-" + strconv.FormatInt(w.ids.Add(1), 10) }

// connectors returns the world as the connector to every platform.
func (w *world) connectors() map[channel.Type]send.Connector {
	connectors := map[channel.Type]send.Connector{}
	for _, platform := range []channel.Type{
		channel.Alpha, channel.Bravo, channel.Charlie, channel.Delta, channel.Echo, channel.Foxtrot, channel.Hotel,
		channel.Custom, channel.Webchat,
	} {
		connectors[platform] = w
	}
	return connectors
}

// Send notes what arrived.
func (w *world) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := ctx.Err(); err != nil {
		return send.Delivery{}, err
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.sent = append(w.sent, botctxtest.Sent{Channel: message.Channel.ID, To: message.To, Response: message.Response})
	id := w.next("message")
	return send.Delivery{
		Reply: reply(message, id), MessageID: id, ChatID: "chat-" + message.To, Timestamp: document.At(w.time()),
	}, nil
}

// reply is what a platform answers.
func reply(message send.Message, id string) document.Object {
	switch message.Channel.Type {
	case channel.Charlie:
		return document.O("ok", true, "channel", message.To, "ts", id, "message", message.Response.Object())
	case channel.Echo:
		return message.Response.Data().With("msgType", strings.ToLower(string(message.Response.Type())))
	default:
		return document.O("id", id)
	}
}

func (w *world) allSent() []botctxtest.Sent {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return append([]botctxtest.Sent{}, w.sent...)
}

func (w *world) addChannel(added channel.Channel) *channel.Channel {
	added.ID, added.On = w.next("channel"), true
	stored, err := channel.New(w.runtime.Env(), record.Scope{App: added.App}).Save(w.test.Context(), &added)
	require.NoError(w.test, err)
	return stored
}

func (w *world) addMember(added member.Member) *member.Member {
	added.ID = w.next("member")
	scope := record.Scope{App: added.App, Channel: added.Channel, Member: added.ID}
	service := member.New(w.runtime.Env(), scope, channel.New(w.runtime.Env(), scope))
	stored, err := service.Insert(w.test.Context(), added)
	require.NoError(w.test, err)
	return stored
}

// advance moves the time forward, and runs what falls due on the way.
func (w *world) advance(by time.Duration) {
	to := w.time().Add(by)
	scheduler := w.runtime.Scheduler()
	for {
		at, ok, err := scheduler.Next(w.test.Context())
		require.NoError(w.test, err)
		if !ok || at.After(to) {
			break
		}
		if at.After(w.time()) {
			w.now.Store(at.UnixMilli())
		}
		_, err = scheduler.RunNext(w.test.Context())
		require.NoError(w.test, err)
	}
	w.now.Store(to.UnixMilli())
}
