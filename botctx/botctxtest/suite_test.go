package botctxtest_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/fakestest"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/rounds"
)

// violations returns what is reported where an implementation is checked against a
// rule.
func violations(ctx context.Context, rule botctxtest.Rule, h *botctxtest.Harness) []string {
	return conformance.Violations(ctx, func(t botctxtest.T) { rule.Check(t, h) })
}

// newHarness returns a harness of the fakes, which keep every rule, with interceptors
// that break some.
func newHarness(breaking ...botctx.Interceptor) *botctxtest.Harness {
	return fakestest.Harness(fakes.New(fakes.Config(func(c *botctx.Config) { c.Interceptors = breaking })))
}

// tally counts what the broken implementations show.
type tally struct{ tried, found, breaches, checks atomic.Int64 }

// report logs the counts, once all broken implementations have been tried.
func (c *tally) report(t *testing.T) {
	t.Helper()
	defaults := 0
	for _, by := range showing {
		defaults += len(by.defaults)
	}
	t.Cleanup(func() {
		t.Logf("%d rules, %d broken implementations, %d of them found, by %d breaches in %d checks; %d operations, %d defaults",
			len(botctxtest.Rules()), c.tried.Load(), c.found.Load(), c.breaches.Load(), c.checks.Load(), len(showing), defaults)
	})
}

func TestSuiteReportsWhatIsBroken(t *testing.T) {
	t.Parallel()
	var counts tally
	counts.report(t)
	isThorough := rounds.Thorough(t)
	for _, table := range tables {
		for name, test := range table.breakages {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				requireReported(t, test, table.checked(test, isThorough), &counts)
			})
		}
	}
}

// checked returns the rules against which a defect of a table is checked: those that it breaks,
// and in thorough tests those, too, that must not be broken by it.
func (t table) checked(test breakage, isThorough bool) []botctxtest.Rule {
	return slices.DeleteFunc(botctxtest.Rules(), func(rule botctxtest.Rule) bool {
		mayBeBroken := test.only || test.others || !isThorough
		return !slices.Contains(test.breaks, rule.Name) && (mayBeBroken || !t.concerns(test, rule))
	})
}

// requireReported checks what the suite says of a broken implementation: that of some rules it
// breaks those that it breaks, and no others.
func requireReported(t *testing.T, test breakage, rules []botctxtest.Rule, counts *tally) {
	t.Helper()
	counts.tried.Add(1)
	broken := []string{}
	for _, rule := range rules {
		counts.checks.Add(1)
		if reports := violations(t.Context(), rule, test.harness()); len(reports) > 0 {
			require.True(t, strings.HasPrefix(reports[0], "rule broken: "+rule.Text), reports[0])
			broken = append(broken, rule.Name)
		}
	}
	require.ElementsMatch(t, test.breaks, broken)
	counts.found.Add(1)
	counts.breaches.Add(int64(len(broken)))
}

func TestRulesAreNamedAndQuoted(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, rule := range botctxtest.Rules() {
		require.False(t, seen[rule.Name], "%s comes twice", rule.Name)
		seen[rule.Name] = true
		require.Regexp(t, `^([A-Z]+[a-z]*)+$`, rule.Name)
		require.NotEmpty(t, rule.Text, rule.Name)
	}
}

func TestEveryRuleIsBrokenBySomething(t *testing.T) {
	t.Parallel()
	broken := brokenByTables()
	unbroken := []string{}
	for _, rule := range botctxtest.Rules() {
		op, _ := ruleOf(rule)
		_, hasRow := showing[string(op)]
		if !broken[rule.Name] && (op == "" || hasRow) { // The others are broken anyhow.
			unbroken = append(unbroken, rule.Name)
		}
	}
	require.Empty(t, unbroken, "no broken implementation shows that these rules work")
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
			lacking.Operations = func(record.Scope) botctx.Operations { return nothing() }
			require.Empty(t, violations(t.Context(), lack, lacking))
		})
	}

	t.Run("unknown", func(t *testing.T) {
		t.Parallel()
		rules := botctxtest.Rules("Telepathy")
		reports := violations(t.Context(), rules[len(rules)-1], newHarness())
		require.Len(t, reports, 1)
		require.Contains(t, reports[0], `"Telepathy" is no capability`)
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
		h.Made = nil
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
		h.Operations = func(scope record.Scope) botctx.Operations { return membersAlone{whole(scope), others{nothing()}} }
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

// harnessOfPlatforms makes harnesses of an implementation that sends on some platforms alone.
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
