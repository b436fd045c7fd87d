// Package inboxtest holds inboxes over any store.Store to what package inbox promises: one small
// function for each rule, which quotes the rule where it is broken.
//
//   - To hold inboxes over a store to all rules, use [RunInbox].
//   - To check one rule, use [Rules] and [Rule.Check].
//   - To measure inboxes over a store, use [Benchmark].
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
	// needsProcesses tells that it is about processes that work at once; isAlone that it is held to a
	// store that one process has to itself.
	needsProcesses, isAlone bool
}

// Applies reports whether a rule is about a store such as this one: those whose names begin with "Alone"
// are about one that a process has to itself (store.Watcher).
func (r Rule) Applies(database store.Store) bool {
	_, isAlone := database.(store.Watcher)
	return isAlone || !r.isAlone
}

// RunInbox checks inboxes over a store against every rule, each in a subtest of its own with a new
// store. Where a rule needs time, it goes by a clock of its own in the place of the store's.
func RunInbox(t *testing.T, newStore func(t *testing.T) store.Store) {
	t.Helper()
	for _, rule := range Rules() {
		database := newStore(t)
		if !rule.Applies(database) {
			continue
		}
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			rule.Check(t, database)
		})
	}
}

// Rules returns the rules. Those of a store that processes share are held to every store, as if others
// worked on it; most of them also to a store that one process has to itself, where another process is
// one that begins when the one before has ended.
func Rules() []Rule {
	rules := slices.Concat(
		acceptRules, laneRules, shareRules, failureRules, deadLetterRules, crashRules, eraseRules, editedRules)
	for _, rule := range slices.Clone(rules) {
		if !rule.needsProcesses {
			rule.Name, rule.isAlone = "Alone"+rule.Name, true
			rules = append(rules, rule)
		}
	}
	for _, rule := range slices.Concat(aloneRules, atOnceRules) {
		rule.Name, rule.isAlone = "Alone"+rule.Name, true
		rules = append(rules, rule)
	}
	return rules
}

// Check checks inboxes over a store against the rule. The store must hold nothing in the collections
// "inbox" and "turns".
func (r Rule) Check(t T, database store.Store) {
	t.Helper()
	r.check(newTrial(t, r, database))
}
