package mongotest_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
)

// TestMessage_RoundTrips counts the commands that docs/scaling.md tells of a message which is accepted, and
// answered by one node that changes the member.
func TestMessage_RoundTrips(t *testing.T) {
	t.Parallel()
	const members = 10
	counted := newCounted(t)
	told := &counter{}
	rt, err := botctx.New(botctx.Config{
		Store: counted.Store, Connectors: map[channel.Type]send.Connector{channel.Webchat: told},
		// However long the server takes, no look is repeated, and no turn renewed.
		Inbox: inbox.Config{Poll: time.Hour}, TurnLease: time.Hour,
	})
	require.NoError(t, err)
	require.NoError(t, botctx.EnsureIndexes(t.Context(), counted.Store))
	_, err = channel.New(rt.Env(), record.Scope{App: "app"}).Save(t.Context(), &channel.Channel{ID: "web", Type: channel.Webchat, On: true})
	require.NoError(t, err)
	require.NoError(t, rt.Handle(&botctx.Node{
		ID: "count", Trigger: botctx.AnyText(), Responses: []send.Response{send.Text("counted")},
		Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
			bot.Member.Meta.Set("count", document.Get(bot.Member.Meta, "count", 0)+1)
			return nil
		}},
	}))
	write := func(id string) {
		for m := range members {
			from := strconv.Itoa(m)
			require.NoError(t, rt.Accept(t.Context(), botctx.Inbound{App: "app", Channel: "web", Event: send.MessageEvent{
				From: from, Type: send.TypeText, Data: document.O("text", "hi"), MessageID: id + from,
			}}))
		}
	}
	handle := func() {
		ctx, stop := context.WithCancel(t.Context())
		told.await(members, stop)
		require.NoError(t, rt.Inbox().Run(ctx))
	}
	write("first") // It makes the members.
	handle()

	began := counted.commands.Load()
	write("second")
	require.EqualValues(t, members, counted.commands.Load()-began, "to accept")
	began = counted.commands.Load()
	handle()
	used := counted.commands.Load() - began
	t.Logf("%d commands for %d messages", used, members)
	const each, ofALook = 10, 4
	require.LessOrEqual(t, used, int64(each*members+2*ofALook+sweepTrips))
}

// counter is a connector that calls a function when it has sent so many messages.
type counter struct {
	left atomic.Int64
	done func()
}

// await says what to call after so many messages.
func (c *counter) await(messages int64, done func()) {
	c.left.Store(messages)
	c.done = done
}

// Send implements send.Connector.
func (c *counter) Send(context.Context, send.Message) (send.Delivery, error) {
	if c.left.Add(-1) == 0 {
		c.done()
	}
	return send.Delivery{}, nil
}
