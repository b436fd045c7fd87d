// Package inboxtest holds inboxes over any store.Store to what package inbox promises: one small
// function for each rule, which quotes the rule where it is broken.
//
//   - To hold inboxes over a store to all rules, use [RunInbox].
//   - To check one rule, use [Rules] and [Rule.Check].
//
// The test of inboxes over a store:
//
//	func TestInbox(t *testing.T) {
//		inboxtest.RunInbox(t, func(t *testing.T) store.Store { return memstore.New() })
//	}
package inboxtest

import (
	"slices"
	"testing"

	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/store"
)

// T is what a rule needs of *testing.T.
type T = conformance.T

// Rule is one rule of the contract.
type Rule struct {
	// Name is short, in the form of a test's name.
	Name string
	// Text is the rule in words.
	Text string

	check func(*trial)
}

// RunInbox checks inboxes over a store against every rule, each in a subtest of its own with a new
// store. Where a rule needs time, it goes by a clock of its own in the place of the store's.
func RunInbox(t *testing.T, newStore func(t *testing.T) store.Store) {
	t.Helper()
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			rule.Check(t, newStore(t))
		})
	}
}

// Rules returns the rules.
func Rules() []Rule {
	return slices.Concat(acceptRules, laneRules, failureRules, deadLetterRules)
}

// Check checks inboxes over a store against the rule. The store must hold nothing in the collections
// "inbox" and "turns".
func (r Rule) Check(t T, database store.Store) {
	t.Helper()
	r.check(newTrial(t, r, database))
}
