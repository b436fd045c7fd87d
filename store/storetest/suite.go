// Package storetest holds every store.Store to the contract of the port:
// one small function for each rule, which quotes the rule where a store breaks it.
//
//   - To test a store, call [RunStore] with what opens one that is empty.
//   - To leave out what it does not offer, name each [Capability] that it lacks.
//   - To run the rules by a runner of your own, use [Rules].
//
// The test of a store:
//
//	func TestStore(t *testing.T) {
//		storetest.RunStore(t, func(t *testing.T) store.Store { return memstore.New() })
//	}
package storetest

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
	// Needs are what a store must offer for the rule to apply.
	Needs []Capability

	check func(*trial)
}

// RunStore checks a store against every rule, each in a subtest of its own with a
// new store. A store names the capabilities that it lacks; it must answer
// Unsupported where they are used.
func RunStore(t *testing.T, newStore func(t *testing.T) store.Store, lacks ...Capability) {
	t.Helper()
	for _, rule := range Rules(lacks...) {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			rule.Check(t, newStore(t))
		})
	}
}

// Rules returns the rules for a store that lacks these capabilities: those that
// need none of them, and for each of them the rule that it is answered with
// Unsupported.
func Rules(lacks ...Capability) []Rule {
	rules := slices.Concat(
		collectionRules, insertRules, valueRules, findRules, sortRules, projectionRules, distinctRules, updateRules, fixedRules,
		expressionRules,
		upsertRules, findAndModifyRules, deleteRules, indexRules, uniqueRules, geoRules, placeRules, concurrencyRules,
		cancelRules,
	)
	rules = slices.DeleteFunc(rules, func(rule Rule) bool { return rule.needsOneOf(lacks) })
	for _, lack := range lacks {
		rules = append(rules, unsupportedRule(lack))
	}
	return rules
}

// needsOneOf reports whether the rule needs one of the capabilities.
func (r Rule) needsOneOf(lacks []Capability) bool {
	return slices.ContainsFunc(r.Needs, func(c Capability) bool { return slices.Contains(lacks, c) })
}

// Check checks a store against the rule. The store must hold nothing in the
// collections whose names begin with "storetest".
func (r Rule) Check(t T, store store.Store) {
	t.Helper()
	r.check(&trial{T: t, rule: r, store: store, Collection: store.Collection("storetest")})
}
