package botctx_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// seen keeps the contexts of runs.
type seen struct{ runs []*botctx.Context }

func (s *seen) look(_ context.Context, bot *botctx.Context) error {
	s.runs = append(s.runs, bot)
	return nil
}

func TestReceive_NewMember(t *testing.T) {
	t.Parallel()
	var logic seen
	p := fakes.New(fakes.For(t))
	page := p.AddChannel(channel.Channel{Type: channel.Alpha, Info: channel.AlphaInfo{PageID: "page-1"}})
	p.HandleFunc(logic.look)
	require.NoError(t, p.Runtime().Receive(t.Context(), hello(page.ID)))
	require.Equal(t, "alpha", logic.runs[0].Member.Platform)
	require.Equal(t, "page-1", logic.runs[0].Member.BotID)
	given := hello(page.ID)
	given.Event.From, given.Profile = "visitor-8", member.Member{Platform: "alpha lite", BotID: "page-2"}
	require.NoError(t, p.Runtime().Receive(t.Context(), given))
	require.Equal(t, "alpha lite", logic.runs[1].Member.Platform, "the host knows better")
	require.Equal(t, "page-2", logic.runs[1].Member.BotID)
}

// hello is an event from a visitor of a channel.
func hello(channelID string) botctx.Inbound {
	return botctx.Inbound{
		App: fakes.DefaultApp, Channel: channelID,
		Event: send.MessageEvent{From: "visitor-7", Type: send.TypeText, Data: document.O("text", "hi")},
	}
}

func TestReceive_UnknownSender(t *testing.T) {
	t.Parallel()
	var logic seen
	p := fakes.New(fakes.For(t))
	web := p.AddChannel(channel.Channel{})
	p.HandleFunc(logic.look)
	arrived := hello(web.ID)
	arrived.Profile = member.Member{FirstName: "Vera", Locale: "de_CH"}
	require.NoError(t, p.Runtime().Receive(t.Context(), arrived))
	arrived.Profile.FirstName = "Another"
	require.NoError(t, p.Runtime().Receive(t.Context(), arrived))

	require.Len(t, logic.runs, 2)
	first, second := logic.runs[0], logic.runs[1]
	require.Equal(t, "Vera", first.Member.FirstName)
	require.Equal(t, "de_CH", first.Member.Locale)
	require.Equal(t, "visitor-7", first.Member.ExternalID)
	require.Equal(t, web.ID, first.Member.Channel)
	require.Equal(t, fakes.DefaultApp, first.Member.App)
	require.Equal(t, web.ID, first.Channel.ID)
	require.Equal(t, "hi", first.MessageEvent.Text())
	require.Equal(t, first.Member.ID, first.Scope().Member)
	require.Equal(t, first.Member.ID, second.Member.ID, "the second time the member is known")
	require.Equal(t, "Vera", second.Member.FirstName, "a member who is known stays as it is")
	first.Values["cart"] = "tea"
	require.Empty(t, second.Values, "each run has a bag of its own")
}

func TestReceive_OtherChannel(t *testing.T) {
	t.Parallel()
	var logic seen
	p := fakes.New(fakes.For(t))
	p.HandleFunc(logic.look)
	for range 2 {
		require.NoError(t, p.Runtime().Receive(t.Context(), hello(p.AddChannel(channel.Channel{}).ID)))
	}
	require.NotEqual(t, logic.runs[0].Member.ID, logic.runs[1].Member.ID)
}

func TestReceive_Refuses(t *testing.T) {
	t.Parallel()
	var logic seen
	p := fakes.New(fakes.For(t))
	web := p.AddChannel(channel.Channel{})
	foreign := p.AddChannel(channel.Channel{App: "app-2"})
	p.HandleFunc(logic.look)
	for name, test := range map[string]struct {
		alter func(*botctx.Inbound)
		code  boterr.Code
		field string
	}{
		"no app":                   {func(i *botctx.Inbound) { i.App = "" }, boterr.InvalidArgument, "App"},
		"no channel":               {func(i *botctx.Inbound) { i.Channel = "" }, boterr.InvalidArgument, "Channel"},
		"no sender":                {func(i *botctx.Inbound) { i.Event.From = "" }, boterr.InvalidArgument, "Event.From"},
		"a type in small letters":  {func(i *botctx.Inbound) { i.Event.Type = "text" }, boterr.InvalidArgument, "Event.Type"},
		"a channel of nobody":      {func(i *botctx.Inbound) { i.Channel = "nowhere" }, boterr.NotFound, "Channel"},
		"a channel of another app": {func(i *botctx.Inbound) { i.Channel = foreign.ID }, boterr.NotFound, "Channel"},
		"another app":              {func(i *botctx.Inbound) { i.App = "app-2" }, boterr.NotFound, "Channel"},
	} {
		inbound := hello(web.ID)
		test.alter(&inbound)
		err := p.Runtime().Receive(t.Context(), inbound)
		e, ok := boterr.AsError(err)
		require.True(t, ok, "%s: %v", name, err)
		require.Equal(t, test.code, e.Code, name)
		require.Equal(t, test.field, e.Field, name)
	}
	require.Empty(t, logic.runs)
}

func TestReceive_NoLogic(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	web := p.AddChannel(channel.Channel{})
	require.ErrorIs(t, p.Runtime().Receive(t.Context(), hello(web.ID)), boterr.FailedPrecondition)
	var first, last seen
	p.HandleFunc(first.look)
	p.HandleFunc(last.look)
	require.NoError(t, p.Runtime().Receive(t.Context(), hello(web.ID)))
	require.Empty(t, first.runs)
	require.Len(t, last.runs, 1, "the last logic counts")
}

func TestReceive_Error(t *testing.T) {
	t.Parallel()
	failed := errors.New("out of tea")
	p := fakes.New(fakes.For(t))
	p.HandleFunc(func(context.Context, *botctx.Context) error { return failed })
	err := p.AddMember(member.Member{}).TrySends(send.MessageEvent{Type: send.TypeText, Data: document.O("text", "hi")})
	require.ErrorIs(t, err, failed)
}
