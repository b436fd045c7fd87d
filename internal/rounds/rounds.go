// Package rounds sets the number of seeds, kills or mutations of tests that can search without end. All runs use the
// usual numbers. CI uses the thorough numbers.
package rounds

import "os"

// Variable is the environment variable for thorough tests. Its value is "thorough", or empty for the usual tests.
const Variable = "BOTCTX_TESTS"

// thorough is the value of Variable for thorough tests.
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

// Of returns the number of rounds of a test: usual, or thorough if thorough tests are on. It logs the number. `make
// thorough` lists it.
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

// OnlyThorough skips a test unless thorough tests are on. It is for long tests that repeat a shorter test's search.
func OnlyThorough(t T) {
	t.Helper()
	if Of(t, 0, 1) == 0 {
		t.Skipf("runs with %s=%s", Variable, thorough)
	}
}
