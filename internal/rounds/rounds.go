// Package rounds sets the length of tests that could search forever: the number of seeds, kills or mutations
// that they try. Every run uses the usual numbers, a release the thorough numbers, and CI a part of the thorough
// numbers.
package rounds

import (
	"os"
	"strconv"
	"strings"
)

// Variable is the environment variable that selects thorough tests. It is "thorough"; "thorough/4" for a
// quarter of the rounds, or another part; or empty for the usual tests.
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

// Of returns the number of rounds of a test: the usual one, or the thorough one if thorough tests are on. If only
// a part of them is on, the number is that part of the thorough one, but at least the usual one. The number
// is logged for `make thorough`, which lists it.
func Of(t T, usual, thorough int) int {
	t.Helper()
	count := usual
	if n := part(t); n > 0 {
		count = max(usual, thorough/n)
	}
	t.Logf("rounds: %s: %d", t.Name(), count)
	return count
}

// Thorough reports whether thorough tests, or a part of them, are on. It fails the test if Variable has an
// unknown value.
func Thorough(t T) bool {
	t.Helper()
	return part(t) > 0
}

// part returns the divisor of the thorough rounds, such as 4 for "thorough/4", or 0 for the usual rounds.
func part(t T) int {
	t.Helper()
	value := os.Getenv(Variable)
	word, text, hasPart := strings.Cut(value, "/")
	n := 1
	if hasPart {
		n, _ = strconv.Atoi(text)
	}
	switch {
	case value == "":
		return 0
	case word != thorough || n < 1:
		t.Fatalf(`%s is %q; set it to "thorough", to "thorough/4" for a quarter of the rounds, `+
			"or to nothing for the usual tests", Variable, value)
		return 0
	}
	return n
}

// OnlyThorough skips a test unless thorough tests are on. Use it for long tests that search the same ground
// as shorter ones.
func OnlyThorough(t T) {
	t.Helper()
	if !Thorough(t) {
		t.Skipf("runs with %s=%s", Variable, thorough)
	}
	t.Logf("rounds: %s: 1", t.Name())
}
