package botctxtest_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/internal/fakestest"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// violations returns the failures of a rule for an implementation.
func violations(ctx context.Context, rule botctxtest.Rule, h *botctxtest.Harness) []string {
	return conformance.Violations(ctx, func(t botctxtest.T) { rule.Check(t, h) })
}

// newHarness returns a harness of the fakes, which pass every rule, with interceptors that break some rules.
func newHarness(breaking ...botctx.Interceptor) *botctxtest.Harness {
	return fakestest.New(fakes.Config(func(c *botctx.Config) { c.Interceptors = breaking }))
}

func TestRulesAreNamedAndQuoted(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, rule := range botctxtest.Rules() {
		require.False(t, seen[rule.Name], "%s appears twice", rule.Name)
		seen[rule.Name] = true
		require.Regexp(t, `^([A-Z]+[a-z]*)+$`, rule.Name)
		require.NotEmpty(t, rule.Text, rule.Name)
	}
}

func TestLackOfACapability(t *testing.T) {
	t.Parallel()
	for _, capability := range []botctxtest.Capability{
		botctxtest.Channels, botctxtest.Members, botctxtest.DataSources, botctxtest.Agendas, botctxtest.Nodes,
		botctxtest.Sends, botctxtest.LiveChats, botctxtest.GeoQueries, botctxtest.ArrayFilters, botctxtest.PatchSort,
		botctxtest.Histories, botctxtest.OutletLookups, botctxtest.On(channel.Echo), botctxtest.Utilities, botctxtest.Batches, botctxtest.Broadcasts,
		botctxtest.Attachments, botctxtest.Threads, botctxtest.Labels, botctxtest.Comments, botctxtest.Archives,
		botctxtest.MessageUpdates, botctxtest.Tags, botctxtest.Mails, botctxtest.Uploads,
	} {
		t.Run(string(capability), func(t *testing.T) {
			t.Parallel()
			rules := botctxtest.Rules(capability)
			for _, rule := range rules {
				require.NotContains(t, rule.Needs, capability)
			}
			lack := rules[len(rules)-1]
			require.Equal(t, "LackOf"+strings.ReplaceAll(string(capability), " ", "")+"IsUnsupported", lack.Name)
			require.NotEmpty(t, violations(t.Context(), lack, newHarness()), "an implementation that does not lack it")
			lacking := newHarness()
			lacking.Operations = func(botctx.Scope) botctx.Operations { return nothing() }
			require.Empty(t, violations(t.Context(), lack, lacking))
		})
	}

	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		rules := botctxtest.Rules("Telepathy")
		reports := violations(t.Context(), rules[len(rules)-1], newHarness())
		require.Len(t, reports, 1)
		require.Contains(t, reports[0], `"Telepathy" in Lacks is not a capability`)
	})
}

func TestWhatTheHarnessLacksIsLeftOut(t *testing.T) {
	t.Parallel()
	bare := func(t *testing.T) *botctxtest.Harness {
		t.Helper()
		h := newHarness()
		h.Sent, h.Advance, h.Handle, h.Receive = nil, nil, nil, nil
		h.Pair, h.Agent, h.SwitchOff, h.Asked = nil, nil, nil, nil
		h.Refuse, h.Comments, h.Mails, h.Serve, h.Files, h.AddAccount = nil, nil, nil, nil, nil, nil
		h.Made, h.FailStore = nil, nil
		return h
	}
	botctxtest.RunConformance(t, bare)
}

func TestAnImplementationOfOneDomain(t *testing.T) {
	t.Parallel()
	botctxtest.RunConformance(t, func(t *testing.T) *botctxtest.Harness {
		t.Helper()
		h := newHarness()
		h.Lacks = []botctxtest.Capability{
			botctxtest.Channels, botctxtest.DataSources, botctxtest.Agendas, botctxtest.Nodes, botctxtest.Sends,
			botctxtest.LiveChats, botctxtest.Utilities,
		}
		whole := h.Operations
		h.Operations = func(scope botctx.Scope) botctx.Operations { return membersAlone{whole(scope), others{nothing()}} }
		return h
	})
}

func TestPlatformsThatAreLackedAreNotUsed(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	for name, offered := range map[string][]channel.Type{
		"with words of their own": {channel.Charlie, channel.Echo},
		"that recall no tickets":  {channel.Bravo},
		"without tickets":         {channel.Foxtrot},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			botctxtest.RunConformance(t, harnessOfPlatforms(offered))
		})
	}
}

// harnessOfPlatforms returns a function for RunConformance. Its implementation can send only on some platforms.
func harnessOfPlatforms(offered []channel.Type) func(t *testing.T) *botctxtest.Harness {
	return func(t *testing.T) *botctxtest.Harness {
		t.Helper()
		h := sendingOnlyOn(offered)
		for _, platform := range channel.Types() {
			if !slices.Contains(offered, platform) {
				h.Lacks = append(h.Lacks, botctxtest.On(platform))
			}
		}
		return h
	}
}

// nothing is an implementation that supports no operation.
func nothing() botctx.Operations { return botctx.FromCaller(unsupported{}) }

// unsupported is a Caller that supports no operation.
type unsupported struct{}

func (unsupported) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, boterr.New(boterr.Unsupported, "", "there is nothing here")
}

// membersAlone supports only the operations on members. The methods of member.Operations hide the methods of the same
// name in others, because others embeds its operations one level deeper.
type membersAlone struct {
	member.Operations
	others
}

type others struct{ botctx.Operations }

// sendingOnlyOn returns a harness whose sends return Unsupported on all platforms except the offered ones.
func sendingOnlyOn(offered []channel.Type) *botctxtest.Harness {
	types := map[string]channel.Type{}
	h := newHarness(func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		through := call.Context.Scope().Channel
		if p, ok := call.Params.(send.SendResponseParams); ok && p.ChannelID != "" {
			through = p.ChannelID
		}
		specified, _ := operations.ByName(string(call.Op))
		if specified.Package == "send" && types[through] != "" && !slices.Contains(offered, types[through]) {
			return nil, boterr.New(boterr.Unsupported, "", "there is no connector")
		}
		return next(ctx)
	})
	add := h.AddChannel
	h.AddChannel = func(c channel.Channel) *channel.Channel {
		stored := add(c)
		types[stored.ID] = stored.Type
		return stored
	}
	return h
}
