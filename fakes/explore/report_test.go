package explore_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
)

// enough returns how many rounds a report says are enough.
func enough(t *testing.T, report string) int {
	t.Helper()
	found := regexp.MustCompile(`for which (\d+) (plans|orders) are enough`).FindStringSubmatch(report)
	require.NotNil(t, found, report)
	rounds, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	return rounds
}

func TestReport_NamesFaultsThatWereNeverTried(t *testing.T) {
	t.Parallel()
	run := func(plans int) string {
		found := search(func(t fakes.TB) { explore.Faults(t, plans, notedOnce(noteOnce)) })
		require.Empty(t, found.failed)
		require.Len(t, found.logged, 1)
		return found.logged[0]
	}
	few := run(4)
	require.Regexp(t, `^explore: the property holds under 4 plans. They had \d+ different faults, of which calls met \d+`, few)
	require.Regexp(t, `Of the \d+ faults of its calls \d+ were never tried, for which \d+ plans are enough:\n`, few)
	require.Contains(t, few, "\n\tsendResponse#1=", "each by the name that BOTCTX_EXPLORE takes")
	require.Contains(t, few, "\n\tMessages#1=")
	require.NotContains(t, run(enough(t, few)), "faults of its calls")
}

// Faults that were planned, and that nothing came to, are named, too.
func TestReport_NamesFaultsThatNoCallMet(t *testing.T) {
	t.Parallel()
	found := search(func(t fakes.TB) { explore.Faults(t, 200, notedOnce(noteOnce)) })
	require.Empty(t, found.failed)
	report := found.logged[0]
	numbers := regexp.MustCompile(`They had (\d+) different faults, of which calls met (\d+)\. No call met (\d+):\n`).FindStringSubmatch(report)
	require.NotNil(t, numbers, report)
	number := func(i int) int {
		n, err := strconv.Atoi(numbers[i])
		require.NoError(t, err)
		return n
	}
	require.Equal(t, number(1), number(2)+number(3))
	_, unmet, _ := strings.Cut(report, "No call met")
	require.Regexp(t, `\n\t[A-Za-z]+#\d+=[a-zA-Z,]+`, unmet)
}

func TestReport_NamesChangesThatWereNeverTried(t *testing.T) {
	t.Parallel()
	run := func(orders int) string {
		found := search(func(t fakes.TB) { explore.Orders(t, orders, soldOnce(modify)) })
		require.Empty(t, found.failed)
		return found.logged[0]
	}
	few := run(2)
	require.Regexp(t, `^explore: the property holds in 2 orders of \d+ points. Of its \d+ single changes of turns \d+ were never tried, `+
		`for which \d+ orders are enough:\n\t\d+>\d+`, few)
	require.NotContains(t, run(enough(t, few)), "never tried")
}
