package botctx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// panicking is a host's part that panics in one operation.
type panicking struct{ channel.Operations }

func (panicking) GetChannel(context.Context, channel.GetChannelParams) (*channel.Reference, error) {
	panic("no channels today")
}

func TestPanic_Operation(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]fakes.Option{
		"of an operation": {overriddenBy(func(record.Scope, botctx.Services) botctx.Services { return botctx.Services{Channels: panicking{}} })},
		"of an interceptor": {interceptedBy(func(context.Context, *botctx.Call, botctx.Next) (any, error) {
			panic("no channels today")
		})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes.New(append(options, fakes.For(t))...)
			bot := p.Operations(record.Scope{})
			found, err := bot.GetChannel(t.Context(), channel.GetChannelParams{ChannelID: "channel-1"})
			requireFailure(t, err, "getChannel", boterr.Internal, "")
			require.ErrorContains(t, err, "panic: no channels today")
			requireStack(t, err)
			require.Nil(t, found)
			_, err = bot.Call(t.Context(), "getChannel", []byte(`{"channelId": "channel-1"}`))
			requireFailure(t, err, "getChannel", boterr.Internal, "")
		})
	}
}

func TestPanic_NoInterceptors(t *testing.T) {
	t.Parallel()
	runtime := newRuntime(t, botctx.Config{
		Override: func(record.Scope, botctx.Services) botctx.Services { return botctx.Services{Channels: panicking{}} },
	})
	_, err := runtime.Operations(record.Scope{App: "shop"}).GetChannel(t.Context(), channel.GetChannelParams{ChannelID: "web"})
	requireFailure(t, err, "getChannel", boterr.Internal, "")
}

func TestPanic_Action(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(func(_ context.Context, bot *botctx.Context) error {
		bot.Values["third"] = []string{"one"}[len(bot.MessageEvent.Text())]
		return nil
	})
	err := p.AddMember(member.Member{}).TrySends(send.MessageEvent{Type: send.TypeText, Data: document.O("text", "hi")})
	require.ErrorIs(t, err, boterr.Internal)
	require.ErrorContains(t, err, "index out of range")
	requireStack(t, err)
}

func TestPanic_Cause(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(func(context.Context, *botctx.Context) error { panic(context.DeadlineExceeded) })
	err := p.AddMember(member.Member{}).TrySends(send.MessageEvent{Type: send.TypeText, Data: document.O("text", "hi")})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, boterr.Internal, boterr.CodeOf(err))
}

// requireStack fails unless err says where a panic in this file happened, and keeps it
// out of its text, which is the same each time.
func requireStack(t *testing.T, err error) {
	t.Helper()
	var panicked *boterr.PanicError
	require.ErrorAs(t, err, &panicked)
	require.Contains(t, string(panicked.Stack), "panic_test.go")
	require.NotContains(t, err.Error(), "panic_test.go")
}
