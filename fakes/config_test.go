package fakes_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/fakestest"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
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
	p.Inject(fakes.Fails(botctx.OpGetMember, boterr.Unavailable))
	_, err := ada.Context().GetMember(t.Context(), member.GetParams{MemberID: ada.ID()})
	require.ErrorIs(t, err, boterr.Unavailable)
	require.Zero(t, seen, "what fails on demand does not reach the host's")
	_, err = ada.Context().GetMember(t.Context(), member.GetParams{MemberID: ada.ID()})
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

func TestNew_NilFunctionsEndTheTest(t *testing.T) {
	t.Parallel()
	for want, option := range map[string]fakes.Option{
		"options[0]": nil, "Config[0]": fakes.Config(nil), "OnRequest[0]": fakes.OnRequest(nil), "OnArrival[0]": fakes.OnArrival(nil),
	} {
		requireFailure(t, want+": is nil: leave it out", func(*fakes.Platform) {}, option)
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	botctxtest.RunConformance(t, newHarness)
}

func TestConformance_Variants(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	for name, harness := range map[string]func(t *testing.T) *botctxtest.Harness{
		"FromCaller": botctxtest.FromCaller(newHarness),
		"EtagChecks": func(t *testing.T) *botctxtest.Harness {
			t.Helper()
			h := configured(func(c *botctx.Config) { c.CheckEtags = true })(t)
			h.ChecksEtags = true
			return h
		},
		"StrictMode": botctxtest.FromCaller(configured(func(c *botctx.Config) { c.Strict = true })),
		"OverAWire": func(t *testing.T) *botctxtest.Harness { // Errors are serialized to JSON and back.
			t.Helper()
			h := newHarness(t)
			near := h.Operations
			h.Operations = func(scope botctx.Scope) botctx.Operations {
				return botctx.FromCaller(wire{near(scope).(botctx.Caller)})
			}
			return h
		},
		"MixedParts": mixedParts,
		"OwnPartsGivenBack": configured(func(c *botctx.Config) { // As if there were no Override.
			c.Override = func(_ botctx.Scope, own botctx.Services) botctx.Services { return own }
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			botctxtest.RunConformance(t, harness)
		})
	}
}

// configured returns a function that returns a harness of a platform with a Config.
func configured(change func(c *botctx.Config)) func(t *testing.T) *botctxtest.Harness {
	return func(t *testing.T) *botctxtest.Harness {
		t.Helper()
		return fakestest.Harness(fakes.New(fakes.For(t), fakes.Config(change)))
	}
}

// mixedParts returns a harness in which a host's own parts, whose errors are serialized to JSON and back, work
// together with the SDK's parts.
func mixedParts(t *testing.T) *botctxtest.Harness {
	t.Helper()
	own := fakes.New(fakes.For(t))
	mixed := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Override = func(scope botctx.Scope, _ botctx.Services) botctx.Services {
			far := botctx.FromCaller(wire{own.Operations(scope)})
			return botctx.Services{Channels: far, Members: far}
		}
		c.Arrive = func(ctx context.Context, in botctx.Inbound) (*member.Member, error) {
			scope := botctx.Scope{App: in.App, Channel: in.Channel}
			arrived, err := members.New(own.Runtime().Env(), record.Scope(scope), own.Operations(scope)).
				Arrive(ctx, member.Member{ExternalID: in.Event.From})
			if err != nil {
				return nil, err
			}
			return arrived.Member, nil
		}
	}))
	h := fakestest.Harness(mixed)
	add := h.AddChannel
	h.AddChannel = func(c channel.Channel) *channel.Channel {
		stored := add(c)
		again := *stored
		again.Etag = ""
		own.AddChannel(again)
		return stored
	}
	actors := map[string]*fakes.Actor{}
	h.AddMember = func(m member.Member) *member.Member {
		actor := own.AddMember(m)
		actors[actor.ID()] = actor
		return actor.Member()
	}
	h.Refuse = func(refused *member.Member) {
		mixed.Inject(fakes.Refuses(actors[refused.ID], boterr.FailedPrecondition))
	}
	h.Advance = func(by time.Duration) {
		own.Advance(by)
		_ = mixed.TryAdvance(by) // A failed run does not fail the harness.
	}
	return h
}

// wire calls operations through JSON, so that errors arrive in their JSON form.
type wire struct{ far botctx.Caller }

func (w wire) Call(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	result, err := w.far.Call(ctx, name, args)
	if err == nil {
		return result, nil
	}
	text, unwritten := json.Marshal(err)
	if unwritten != nil {
		return nil, unwritten
	}
	failure := new(boterr.Error)
	if err := json.Unmarshal(text, failure); err != nil {
		return nil, err
	}
	return result, failure
}

func newHarness(t *testing.T) *botctxtest.Harness {
	t.Helper()
	return fakestest.New(fakes.For(t))
}

// otherStore is a store that cannot be copied.
type otherStore struct{ store.Store }

func TestStore_KeepsRecords(t *testing.T) {
	t.Parallel()
	memory := memstore.New()
	otherwise := fakes.Config(func(c *botctx.Config) {
		require.Equal(t, fakes.Start(), c.Now())
		c.Store = otherStore{memory}
	})
	fakes.New(fakes.For(t), otherwise).AddMember(member.Member{FirstName: "Ada"})
	found, err := memory.Collection("members").Count(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, int64(1), found)

	for name, use := range map[string]func(*fakes.Platform){
		"Snapshot": func(p *fakes.Platform) { p.Snapshot() },
		"Fork":     func(p *fakes.Platform) { p.Fork() },
		"Restore":  func(p *fakes.Platform) { p.Restore(fakes.New(fakes.For(t)).Snapshot()) },
	} {
		tb := &recordedTB{}
		tb.runOn(func() { use(fakes.New(fakes.For(tb), otherwise)) })
		require.Len(t, tb.failures, 1, name)
		require.Contains(t, tb.failures[0], "leave the Store of Config as it is", name)
	}
}
