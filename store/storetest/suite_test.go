package storetest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/storetest"
)

// violations returns the reports of a rule about a store.
func violations(ctx context.Context, rule storetest.Rule, store store.Store) []string {
	return conformance.Violations(ctx, func(t storetest.T) { rule.Check(t, store) })
}

// noticing reports whether a rule notices the defect of a store.
func noticing(t *testing.T, rule storetest.Rule, store store.Store) bool {
	t.Helper()
	reports := violations(t.Context(), rule, store)
	if len(reports) > 0 {
		hasPanicked := strings.HasPrefix(reports[0], "the check panicked: ")
		require.True(t, hasPanicked || strings.HasPrefix(reports[0], "rule broken: "+rule.Text), reports[0])
	}
	return len(reports) > 0
}

// TestSuite_NoticesDefects breaks a store in every way. The rules named for a defect must notice it, or else
// some rule must.
func TestSuite_NoticesDefects(t *testing.T) {
	t.Parallel()
	for name, d := range allDefects() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := storetest.Rules()
			notices := func(rule storetest.Rule) bool { return noticing(t, rule, newBroken(d)) }
			if len(d.breaks) == 0 {
				require.True(t, slices.ContainsFunc(rules, notices), "no rule notices it")
			}
			for _, breaks := range d.breaks {
				at := slices.IndexFunc(rules, func(rule storetest.Rule) bool { return rule.Name == breaks })
				require.GreaterOrEqual(t, at, 0, "there is no rule %s", breaks)
				require.True(t, notices(rules[at]), breaks)
			}
		})
	}
}

func TestRunBeside_NoticesADifference(t *testing.T) {
	t.Parallel()
	beside := func(tested store.Store) []string {
		return conformance.Violations(t.Context(), func(t storetest.T) { storetest.RunBeside(t, 1, 200, memstore.New(), tested) })
	}
	require.Empty(t, beside(memstore.New()))
	for name, d := range defects {
		if name == "unstable sort" || name == "updates one" || name == "deletes all" {
			require.NotEmpty(t, beside(newBroken(d)), name)
		}
	}
}

func TestSuite_NoticesDefectsOfTheStore(t *testing.T) {
	t.Parallel()
	for breaks, newStore := range map[string]func() store.Store{
		"BadCollectionNamesAreRefused": func() store.Store { return looseNames{memstore.New()} },
		"CollectionsAreApart":          func() store.Store { return looseNames{memstore.New()} },
		"LongCollectionNamesAreTaken":  func() store.Store { return looseNames{memstore.New()} },
		"NowIsTheStoresClock":          func() store.Store { return noClock{memstore.New()} },
		"ExprKnowsTheStoresTime":       func() store.Store { return noClock{memstore.New()} },
		"NothingStoredIsAliased":       func() store.Store { return newBroken(sharingSlices()) },
		"FindAndModifyIsOneStep":       func() store.Store { return newBroken(modifyInTwoSteps()) },
		"ClaimsAreDisjoint":            func() store.Store { return newBroken(modifyInTwoSteps()) },
	} {
		rules := storetest.Rules()
		at := slices.IndexFunc(rules, func(rule storetest.Rule) bool { return rule.Name == breaks })
		require.True(t, noticing(t, rules[at], newStore()), breaks)
	}
}

// TestRules_NoticeADefect finds rules that notice no defect.
func TestRules_NoticeADefect(t *testing.T) {
	t.Parallel()
	all := allDefects()
	for _, rule := range storetest.Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			for _, d := range all {
				if noticing(t, rule, newBroken(d)) {
					return
				}
			}
			require.True(t, noticing(t, rule, looseNames{memstore.New()}) || noticing(t, rule, noClock{memstore.New()}))
		})
	}
}

func TestRules_NamedAndQuoted(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, rule := range storetest.Rules() {
		require.False(t, seen[rule.Name], "%s appears twice", rule.Name)
		seen[rule.Name] = true
		require.Regexp(t, `^([A-Z]+[a-z]*)+$`, rule.Name)
		require.NotEmpty(t, rule.Text, rule.Name)
	}
}
