package storetest_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/storetest"
)

// recorder is a storetest.T that keeps what is reported.
type recorder struct {
	ctx context.Context

	mu      sync.Mutex
	reports []string
}

func (*recorder) Helper()                    {}
func (r *recorder) Context() context.Context { return r.ctx }
func (*recorder) FailNow()                   { runtime.Goexit() }

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, fmt.Sprintf(format, args...))
}

// violations returns what is reported where a store is checked against a rule.
func violations(ctx context.Context, rule storetest.Rule, store store.Store) []string {
	r := &recorder{ctx: ctx}
	done := make(chan struct{})
	go func() {
		defer close(done)
		rule.Check(r, store)
	}()
	<-done
	return r.reports
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
