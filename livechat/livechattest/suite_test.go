package livechattest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/livechat/livechattest"
)

func TestRunOutlet_Whole(t *testing.T) {
	t.Parallel()
	for name, isHelpdesk := range map[string]bool{"with tickets": false, "a helpdesk": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			livechattest.RunOutlet(t, func(t *testing.T) *livechattest.Harness {
				t.Helper()
				return newHarness(t, defect{isHelpdesk: isHelpdesk})
			})
		})
	}
}

// violations returns the reports of a rule about an outlet.
func violations(ctx context.Context, rule livechattest.Rule, h *livechattest.Harness) []string {
	return conformance.Violations(ctx, func(t livechattest.T) { rule.Check(t, h) })
}

func TestSuite_NoticesWhatIsBroken(t *testing.T) {
	t.Parallel()
	for name, defective := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := map[string]livechattest.Rule{}
			for _, rule := range livechattest.Rules(newHarness(t, defect{isHelpdesk: defective.isHelpdesk})) {
				rules[rule.Name] = rule
			}
			for _, breaks := range defective.breaks {
				rule, isThere := rules[breaks]
				require.True(t, isThere, "there is no rule %s", breaks)
				reports := violations(t.Context(), rule, newHarness(t, defective))
				require.NotEmpty(t, reports, "%s is not noticed", breaks)
				require.True(t, strings.HasPrefix(reports[0], "rule broken: "+rule.Text), reports[0])
			}
		})
	}
}

// Each rule must be broken by one of the defects, to find rules that detect nothing.
func TestSuite_EachRuleNoticesSomething(t *testing.T) {
	t.Parallel()
	noticed := map[string]bool{}
	for _, defective := range broken {
		for _, rule := range defective.breaks {
			noticed[rule] = true
		}
	}
	for _, isHelpdesk := range []bool{false, true} {
		for _, rule := range livechattest.Rules(newHarness(t, defect{isHelpdesk: isHelpdesk})) {
			require.True(t, noticed[rule.Name], "no defect breaks %s", rule.Name)
		}
	}
}

func TestRules_NamedAndQuoted(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, rule := range livechattest.Rules(newHarness(t, defect{})) {
		require.False(t, seen[rule.Name], "%s comes twice", rule.Name)
		seen[rule.Name] = true
		require.Regexp(t, `^([A-Z]+[a-z]*)+$`, rule.Name)
		require.NotEmpty(t, rule.Text, rule.Name)
	}
}

func TestRules_WhatIsLackedIsLeftOut(t *testing.T) {
	t.Parallel()
	h := newHarness(t, defect{})
	all := len(livechattest.Rules(h))
	h.Outlet.Repeat, h.Outlet.SendsFile, h.Outlet.Fail = nil, nil, nil
	require.Len(t, livechattest.Rules(h), all-5)
}

func TestHarness_IncompleteIsTold(t *testing.T) {
	t.Parallel()
	for field, without := range map[string]func(h *livechattest.Harness){
		"Host":           func(h *livechattest.Harness) { h.Host = nil },
		"Inlet.Channel":  func(h *livechattest.Harness) { h.Inlet.Channel = "" },
		"Inlet.Says":     func(h *livechattest.Harness) { h.Inlet.Says = nil },
		"Inlet.Shown":    func(h *livechattest.Harness) { h.Inlet.Shown = nil },
		"Outlet.Channel": func(h *livechattest.Harness) { h.Outlet.Channel = "" },
		"Outlet.Agents":  func(h *livechattest.Harness) { h.Outlet.Agents[1].ExternalID = "" },
		"Outlet.Ticket":  func(h *livechattest.Harness) { h.Outlet.Ticket = nil },
		"Outlet.Says":    func(h *livechattest.Harness) { h.Outlet.Says = nil },
		"Outlet.Shown":   func(h *livechattest.Harness) { h.Outlet.Shown = nil },
	} {
		h := newHarness(t, defect{})
		rule := livechattest.Rules(h)[0]
		without(h)
		reports := violations(t.Context(), rule, h)
		require.Len(t, reports, 1, field)
		require.Contains(t, reports[0], "Harness."+field)
	}
}
