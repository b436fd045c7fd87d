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

// violations returns what is reported where a store is checked against a rule.
func violations(ctx context.Context, rule storetest.Rule, store store.Store) []string {
	return conformance.Violations(ctx, func(t storetest.T) { rule.Check(t, store) })
}

func TestSuite_ReportsWhatIsBroken(t *testing.T) {
	t.Parallel()
	for name, test := range breakages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken := []string{}
			for _, rule := range storetest.Rules() {
				if test.only && !slices.Contains(test.breaks, rule.Name) {
					continue
				}
				if reports := violations(t.Context(), rule, test.newStore()); len(reports) > 0 {
					require.True(t, strings.HasPrefix(reports[0], "rule broken: "+rule.Text), reports[0])
					broken = append(broken, rule.Name)
				}
			}
			if test.others {
				require.Subset(t, broken, test.breaks)
			} else {
				require.ElementsMatch(t, test.breaks, broken)
			}
		})
	}
}

func TestRules_NamedAndQuoted(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, rule := range storetest.Rules() {
		require.False(t, seen[rule.Name], "%s comes twice", rule.Name)
		seen[rule.Name] = true
		require.Regexp(t, `^([A-Z]+[a-z]*)+$`, rule.Name)
		require.NotEmpty(t, rule.Text, rule.Name)
	}
}

func TestRules_LackOfACapability(t *testing.T) {
	t.Parallel()
	for _, capability := range []storetest.Capability{
		storetest.GeoQueries, storetest.GeoIndexes, storetest.UniqueIndexes, storetest.SparseIndexes,
		storetest.ArrayFilters, storetest.UpdateSort, storetest.GeoFilters, storetest.Expressions,
		storetest.NestedArrays, storetest.Infinity,
	} {
		t.Run(string(capability), func(t *testing.T) {
			t.Parallel()
			rules := storetest.Rules(capability)
			for _, rule := range rules {
				require.NotContains(t, rule.Needs, capability)
			}
			lack := rules[len(rules)-1]
			require.Equal(t, "LackOf"+string(capability)+"IsUnsupported", lack.Name)
			require.NotEmpty(t, violations(t.Context(), lack, memstore.New()), "a store that does not lack it")
			lacking := breaking(func(c collection) collection { return unsupporting{c} })
			require.Empty(t, violations(t.Context(), lack, lacking()))
		})
	}

	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		rules := storetest.Rules("Telepathy")
		reports := violations(t.Context(), rules[len(rules)-1], memstore.New())
		require.Len(t, reports, 1)
		require.Contains(t, reports[0], `"Telepathy" is no capability`)
	})
}
