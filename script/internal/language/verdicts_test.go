package language_test

import (
	"bufio"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// verdicts are the stored results of tests, one line of a file each.
type verdicts struct {
	mu    sync.Mutex
	known map[string]verdict
	// file is nil if results are not stored.
	file *os.File
}

// openVerdicts reads the stored verdicts, and opens their file to append more.
func openVerdicts(t *testing.T) *verdicts {
	t.Helper()
	kept := &verdicts{known: map[string]verdict{}}
	path := os.Getenv(verdictsAt)
	if path == "" {
		return kept
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var came verdict
		var of string
		_, err := fmt.Sscan(lines.Text(), &came, &of)
		require.NoError(t, err, lines.Text())
		kept.known[of] = came
	}
	kept.file = file
	return kept
}

// of returns the stored result of a test. If there is none, it runs the test.
func (v *verdicts) of(path string, run func() verdict) verdict {
	v.mu.Lock()
	came, isKnown := v.known[path]
	v.mu.Unlock()
	if isKnown {
		return came
	}
	came = run()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.file != nil {
		_, _ = fmt.Fprintln(v.file, came, path) // If writing fails, the test runs again next time.
	}
	return came
}
