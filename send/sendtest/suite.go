// Package sendtest holds every send.Connector to the contract of the port, and of the further
// ports of packages send and livechat that it offers: one small function for each rule, which
// quotes the rule where a connector breaks it.
//
//   - To test a connector, call [RunConnector] with what makes a [Harness] for it.
//   - To stand in for its platform, use [NewServer], which has the faults that the rules need.
//   - To run the rules by a runner of your own, use [Rules].
//
// The test of a connector:
//
//	func TestConnector(t *testing.T) {
//		sendtest.RunConnector(t, newHarness)
//	}
//
// A Harness says how to reach the connector, and what the test's platform got. NewServer makes a
// platform over HTTP of the handler that such a test has, and gives it the faults that the rules
// need.
package sendtest

import (
	"slices"
	"testing"

	"github.com/botctx/go-sdk/internal/conformance"
)

// T is what a rule needs of *testing.T.
type T = conformance.T

// Rule is one rule of the contract.
type Rule struct {
	// Name is short, in the form of a test's name.
	Name string
	// Text is the rule in words.
	Text string

	// applies reports whether there is something to check, nil for always.
	applies func(h *Harness) bool
	check   func(*trial)
}

// RunConnector checks a connector against every rule, each in a subtest of its own with a new
// harness. Rules about ports that the connector does not offer are left out, and those about what
// the harness says that its platform lacks.
func RunConnector(t *testing.T, newHarness func(t *testing.T) *Harness) {
	t.Helper()
	for _, rule := range Rules(newHarness(t)) {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			rule.Check(t, newHarness(t))
		})
	}
}

// Rules returns the rules that apply to the connector of a harness.
func Rules(h *Harness) []Rule {
	rules := slices.Concat(
		messageRules, deliveryRules, safetyRules, contextRules, faultRules(),
		labelRules, receptionRules, broadcastRules, contactRules, changeRules, batchRules, groupRules, ticketRules,
	)
	return slices.DeleteFunc(rules, func(rule Rule) bool { return rule.applies != nil && !rule.applies(h) })
}

// Check checks a connector against the rule. Nothing was sent with the harness before.
func (r Rule) Check(t T, h *Harness) {
	t.Helper()
	checked := newTrial(t, r, h)
	checked.requireComplete()
	r.check(checked)
}
