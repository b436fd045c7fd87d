// Package rounds says how long a test searches that could search for ever: how many seeds,
// kills or mutations it tries. There are the usual ones, for which one waits gladly, and
// the thorough ones, which CI runs besides.
package rounds

import "os"

// Variable is the environment variable that asks for thorough tests: it is "thorough", or
// empty for the usual ones.
const Variable = "BOTCTX_TESTS"

// thorough is the value of Variable that asks for thorough tests.
const thorough = "thorough"

// T is what *testing.T, *testing.B and *testing.F have alike.
type T interface {
	// Helper marks its caller as a helper of tests.
	Helper()
	// Fatalf ends the test as failed.
	Fatalf(format string, args ...any)
	// Logf logs a line of the test.
	Logf(format string, args ...any)
	// Name returns the name of the test.
	Name() string
	// Skipf ends the test as skipped.
	Skipf(format string, args ...any)
}

// Of returns how many rounds a test runs: the usual number, or the thorough one where
// thorough tests are asked for. It logs the number, for `make thorough`, which says what ran
// how often.
func Of(t T, usual, thorough int) int {
	t.Helper()
	count := usual
	if Thorough(t) {
		count = thorough
	}
	t.Logf("rounds: %s: %d", t.Name(), count)
	return count
}

// Thorough reports whether thorough tests are asked for. It ends the test if Variable says
// what nobody knows.
func Thorough(t T) bool {
	t.Helper()
	switch asked := os.Getenv(Variable); asked {
	case "":
		return false
	case thorough:
		return true
	default:
		t.Fatalf("%s is %q; set it to %q, or to nothing for the usual tests", Variable, asked, thorough)
		return false
	}
}

// OnlyThorough skips a test that runs only where thorough tests are asked for: one that
// looks, at length, for what shorter tests look for already.
func OnlyThorough(t T) {
	t.Helper()
	if Of(t, 0, 1) == 0 {
		t.Skipf("runs with %s=%s", Variable, thorough)
	}
}
