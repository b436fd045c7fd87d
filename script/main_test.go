package script_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that every run has ended. One that could not be interrupted is left behind, and ends by
// itself: on a busy machine that takes longer than goleak waits in one look.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		code = checkAllEnded()
	}
	os.Exit(code)
}

// checkAllEnded returns the code that the tests exit with.
func checkAllEnded() int {
	var left error
	for range 60 {
		// The clock of patterns that are tried back and forth ends by itself some time after the last of them.
		left = goleak.Find(goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
		if left == nil {
			return 0
		}
	}
	fmt.Fprintln(os.Stderr, left)
	return 1
}
