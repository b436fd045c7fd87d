package sendtest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/chatplatform"
	"github.com/botctx/go-sdk/internal/chatplatform/chatplatformtest"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

// Some rules differ between types of channels, so the correct connector runs with each of them.
func TestRunConnector_EveryPort(t *testing.T) {
	t.Parallel()
	for _, in := range []channel.Type{channel.Webchat, channel.Hotel, channel.Alpha} {
		t.Run(string(in), func(t *testing.T) {
			t.Parallel()
			sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
				t.Helper()
				return newHarness(t, in)
			})
		})
	}
}

func TestRunConnector_AroundAnotherOne(t *testing.T) {
	t.Parallel()
	sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
		t.Helper()
		h := newHarness(t, channel.Webchat)
		h.Connector = send.Limited(h.Connector, send.Rate{Messages: 10_000, Burst: 10_000, MaxPause: 1})
		return h
	})
}

// newHarness returns the harness of a connector that keeps every rule.
func newHarness(tb testing.TB, in channel.Type) *sendtest.Harness {
	tb.Helper()
	h := chatplatformtest.NewHarness(tb, in)
	h.Odd = func() []sendtest.Reception {
		if broken, isBroken := h.Connector.(interface{ odd() sendtest.Reception }); isBroken {
			return []sendtest.Reception{broken.odd()}
		}
		return []sendtest.Reception{
			{Name: "a drop", Status: http.StatusOK, Dropped: 1},
			{Name: "a sticker", Status: http.StatusOK, Accepted: []send.MessageEvent{{Type: send.TypeMisc, From: "ada"}}},
		}
	}
	return h
}

// violations returns the failures that a rule reports for a harness.
func violations(ctx context.Context, rule sendtest.Rule, h *sendtest.Harness) []string {
	return conformance.Violations(ctx, func(t sendtest.T) { rule.Check(t, h) })
}

func TestSuite_NoticesWhatIsBroken(t *testing.T) {
	t.Parallel()
	for name, broken := range mutants {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := broken.in
			if in == "" {
				in = channel.Webchat
			}
			rules := map[string]sendtest.Rule{}
			for _, rule := range sendtest.Rules(newHarness(t, in)) {
				rules[rule.Name] = rule
			}
			for _, breaks := range broken.breaks {
				rule, isThere := rules[breaks]
				require.True(t, isThere, "there is no rule %s", breaks)
				h := sendtest.Impatient(newHarness(t, in))
				h.Connector = broken.connector(h.Connector.(*chatplatform.Connector))
				reports := violations(t.Context(), rule, h)
				require.NotEmpty(t, reports, "%s is not noticed", breaks)
				require.True(t, strings.HasPrefix(reports[0], "rule broken: "+rule.Text), reports[0])
			}
		})
	}
}

// A rule that no mutant breaks may detect nothing.
func TestSuite_EachRuleNoticesSomething(t *testing.T) {
	t.Parallel()
	noticed := map[string]bool{}
	for _, broken := range mutants {
		for _, rule := range broken.breaks {
			noticed[rule] = true
		}
	}
	for _, in := range []channel.Type{channel.Webchat, channel.Hotel} {
		for _, rule := range sendtest.Rules(newHarness(t, in)) {
			require.True(t, noticed[rule.Name], "no mutant breaks %s", rule.Name)
		}
	}
}

func TestRules_NamedAndQuoted(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, rule := range sendtest.Rules(newHarness(t, channel.Hotel)) {
		require.False(t, seen[rule.Name], "%s appears twice", rule.Name)
		seen[rule.Name] = true
		require.Regexp(t, `^([A-Z]+[a-z]*)+$`, rule.Name)
		require.NotEmpty(t, rule.Text, rule.Name)
	}
}

func TestRules_WhatIsLackedIsLeftOut(t *testing.T) {
	t.Parallel()
	h := newHarness(t, channel.Webchat)
	all := len(sendtest.Rules(h))
	h.HasNoKeys, h.Lacks = true, []sendtest.Fault{sendtest.Garbled, sendtest.Silent}
	require.Len(t, sendtest.Rules(h), all-4)
	h.Connector = struct{ send.Connector }{h.Connector}
	for _, rule := range sendtest.Rules(h) {
		require.NotContains(t, rule.Name, "Label")
		require.NotContains(t, rule.Name, "Ticket")
	}
}

func TestHarness_IncompleteIsTold(t *testing.T) {
	t.Parallel()
	for field, without := range map[string]func(h *sendtest.Harness){
		"Connector": func(h *sendtest.Harness) { h.Connector = nil },
		"Other":     func(h *sendtest.Harness) { h.Other = nil },
		"Members":   func(h *sendtest.Harness) { h.Members = h.Members[:1] },
		"Arrived":   func(h *sendtest.Harness) { h.Arrived = nil },
		"Labels":    func(h *sendtest.Harness) { h.Labels = nil },
		"Tags":      func(h *sendtest.Harness) { h.Tags = nil },
		"Thread":    func(h *sendtest.Harness) { h.Thread = nil },
		"Archived":  func(h *sendtest.Harness) { h.Archived = nil },
		"Group":     func(h *sendtest.Harness) { h.Group = "" },
	} {
		h := newHarness(t, channel.Webchat)
		rule := sendtest.Rules(h)[0]
		without(h)
		reports := violations(t.Context(), rule, h)
		require.Len(t, reports, 1, field)
		require.Contains(t, reports[0], "Harness."+field)
	}
}
