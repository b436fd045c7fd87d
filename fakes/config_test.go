package fakes_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func TestConfig_FindsWhatThePlatformGivesARuntime(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	var found botctx.Config
	p := fakes.New(fakes.For(t), fakes.StartAt(monday), fakes.Config(func(c *botctx.Config) { found = *c }))
	require.NotNil(t, found.Store)
	require.NotNil(t, found.Connectors[channel.Charlie])
	require.Empty(t, found.Interceptors)
	p.Advance(time.Hour)
	require.Equal(t, monday.Add(time.Hour), found.Now(), "the clock that it finds is the virtual one")
}

func TestConfig_ChangesAreMadeInTheirOrder(t *testing.T) {
	t.Parallel()
	var found int
	fakes.New(fakes.For(t),
		fakes.Config(func(c *botctx.Config) { c.MaxRedirects = 7 }),
		fakes.Config(func(c *botctx.Config) { found = c.MaxRedirects }))
	require.Equal(t, 7, found)
}

// twice is a connector that sends every message twice.
type twice struct{ send.Connector }

func (c twice) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if delivery, err := c.Connector.Send(ctx, message); err != nil {
		return delivery, err
	}
	return c.Connector.Send(ctx, message)
}

func TestConfig_MayWrapAPortOfThePlatform(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Connectors[channel.Webchat] = twice{c.Connectors[channel.Webchat]}
	}))
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("Hello")) })
	ada := p.AddMember(member.Member{})
	ada.Says("hi")
	require.Len(t, p.Sent(), 2)
}

func TestConfig_InterceptorsStandWithinThoseOfThePlatform(t *testing.T) {
	t.Parallel()
	var seen int
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Interceptors = []botctx.Interceptor{func(ctx context.Context, _ *botctx.Call, next botctx.Next) (any, error) {
			seen++
			return next(ctx)
		}}
	}))
	ada := p.AddMember(member.Member{})
	p.FailNext(botctx.OpGetMember, boterr.Unavailable)
	_, err := ada.Context().GetMember(t.Context(), member.GetMemberParams{MemberID: ada.ID()})
	require.ErrorIs(t, err, boterr.Unavailable)
	require.Zero(t, seen, "what fails on demand does not reach the host's")
	_, err = ada.Context().GetMember(t.Context(), member.GetMemberParams{MemberID: ada.ID()})
	require.NoError(t, err)
	require.Equal(t, 1, seen)
	require.Len(t, p.Calls(botctx.OpGetMember), 2)
}

func TestConfig_HoldsForAForkToo(t *testing.T) {
	t.Parallel()
	fork := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.Strict = true })).Fork()
	_, err := fork.AddMember(member.Member{}).Context().Call(t.Context(), "getMember", []byte(`{"memberId": "x", "memberID": "x"}`))
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestConfig_WithoutAStoreEndsTheTest(t *testing.T) {
	t.Parallel()
	tb := &recordedTB{}
	tb.runOn(func() { fakes.New(fakes.For(tb), fakes.Config(func(c *botctx.Config) { c.Store = nil })) })
	require.Len(t, tb.failures, 1)
	require.Contains(t, tb.failures[0], "a Runtime needs a store")
}
