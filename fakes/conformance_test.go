package fakes_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

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
)

func TestConformance(t *testing.T) {
	t.Parallel()
	botctxtest.RunConformance(t, newHarness)
}

func TestConformance_FromCaller(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	botctxtest.RunConformance(t, botctxtest.FromCaller(newHarness))
}

func TestConformance_EtagChecks(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	botctxtest.RunConformance(t, func(t *testing.T) *botctxtest.Harness {
		t.Helper()
		h := fakestest.Harness(fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.CheckEtags = true })))
		h.ChecksEtags = true
		return h
	})
}

func TestConformance_StrictMode(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	botctxtest.RunConformance(t, botctxtest.FromCaller(func(t *testing.T) *botctxtest.Harness {
		t.Helper()
		return fakestest.Harness(fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.Strict = true })))
	}))
}

// Errors cross a wire in their JSON form; the operations are the same behind it.
func TestConformance_OverAWire(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	botctxtest.RunConformance(t, func(t *testing.T) *botctxtest.Harness {
		t.Helper()
		h := newHarness(t)
		near := h.Operations
		h.Operations = func(scope record.Scope) botctx.Operations {
			return botctx.FromCaller(wire{near(scope).(botctx.Caller)})
		}
		return h
	})
}

// A host's own parts, behind a wire, and the SDK's work together.
func TestConformance_MixedParts(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	botctxtest.RunConformance(t, func(t *testing.T) *botctxtest.Harness {
		t.Helper()
		own := fakes.New(fakes.For(t))
		mixed := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
			c.Override = func(scope record.Scope, _ botctx.Services) botctx.Services {
				far := botctx.FromCaller(wire{own.Operations(scope)})
				return botctx.Services{Channels: far, Members: far}
			}
			c.Arrive = func(ctx context.Context, in botctx.Inbound) (*member.Member, error) {
				scope := record.Scope{App: in.App, Channel: in.Channel}
				arrived, err := members.New(own.Runtime().Env(), scope, own.Operations(scope)).
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
		h.Refuse = func(refused *member.Member) { mixed.RefuseSends(boterr.FailedPrecondition, actors[refused.ID]) }
		h.Advance = func(by time.Duration) {
			own.Advance(by)
			_ = mixed.TryAdvance(by) // Runs may fail.
		}
		return h
	})
}

// Parts that the host has of the SDK, and gives back, are as good as none of the host's.
func TestConformance_OwnPartsGivenBack(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	botctxtest.RunConformance(t, func(t *testing.T) *botctxtest.Harness {
		t.Helper()
		return fakestest.Harness(fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
			c.Override = func(_ record.Scope, own botctx.Services) botctx.Services { return own }
		})))
	})
}

// wire is a door at which errors arrive as JSON.
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
	return fakestest.Harness(fakes.New(fakes.For(t)))
}
