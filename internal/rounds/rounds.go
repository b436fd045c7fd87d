// Package rounds sets the length of tests that could search forever: the number of seeds, kills or mutations
// that they try. There are usual numbers for every run, and thorough ones for CI.
package rounds

import "os"

// Variable is the environment variable that selects thorough tests if its value is "thorough". An empty value
// selects the usual tests.
const Variable = "BOTCTX_TESTS"

const thorough = "thorough"

// T is the common part of *testing.T, *testing.B and *testing.F.
type T interface {
	// Helper marks its caller as a test helper.
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

// Of returns the number of rounds of a test: the usual one, or the thorough one if thorough tests are on. It
// logs the number for `make thorough`, which lists it.
func Of(t T, usual, thorough int) int {
	t.Helper()
	count := usual
	if Thorough(t) {
		count = thorough
	}
	t.Logf("rounds: %s: %d", t.Name(), count)
	return count
}

// Thorough reports whether thorough tests are on. It fails the test if Variable has an unknown value.
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

// OnlyThorough skips a test unless thorough tests are on. Use it for long tests that search the same ground
// as shorter ones.
func OnlyThorough(t T) {
	t.Helper()
	if Of(t, 0, 1) == 0 {
		t.Skipf("runs with %s=%s", Variable, thorough)
	}
}
