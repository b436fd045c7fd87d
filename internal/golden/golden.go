// Package golden compares the output of a test with a file, or rewrites the file if the test runs with the flag
// -update.
package golden

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/botctx/go-sdk/internal/textdiff"
)

// TB is the part of *testing.T that golden needs.
type TB interface {
	// Helper marks the calling function as a helper, as in testing.TB.
	Helper()
	// Name returns the name of the test.
	Name() string
	// Fatalf reports a failure and ends the test.
	Fatalf(format string, args ...any)
	// Logf adds to the test's log.
	Logf(format string, args ...any)
}

// flagName is the name of the flag. It is looked up, not defined, because packages define the flag themselves and a
// program can only define a flag once.
const flagName = "update"

// declaration is the Go code that declares the flag.
const declaration = `var _ = flag.Bool("update", false, "write the files that tests compare with")`

// isUpdated reports whether the flag -update is set.
func isUpdated() bool {
	found := flag.Lookup(flagName)
	if found == nil {
		return false
	}
	getter, isGetter := found.Value.(flag.Getter)
	if !isGetter {
		return false
	}
	set, isBool := getter.Get().(bool)
	return isBool && set
}

// Compare fails the test and shows the difference if got does not equal the content of the file at path, or if there is
// no such file. With the flag -update it writes the file instead. CR LF, which git may write in a checkout, equals LF.
func Compare(t TB, path, got string) {
	t.Helper()
	file, err := os.ReadFile(path) //nolint:gosec // The test names the path.
	want, got := lineEnds.Replace(string(file)), lineEnds.Replace(got)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		t.Fatalf("%v", err)
	case err != nil || want != got:
		Replace(t, path, want, got)
	}
}

var lineEnds = strings.NewReplacer("\r\n", "\n")

// Replace fails the test and shows the difference between a file and the output, or with the flag -update writes the
// file. want is the content of the file, or "" if there is no such file.
func Replace(t TB, path, want, got string) {
	t.Helper()
	switch {
	case isUpdated():
		if err := write(path, got); err != nil {
			t.Fatalf("%v", err)
			return
		}
		t.Logf("%s is rewritten", path)
	case want == got:
		t.Fatalf("there is no file %s, and there is no output to compare with it. %s", path, advice(t))
	default:
		t.Fatalf("%s differs: - is the file, + is the output\n%s\n%s", path, textdiff.Unified(want, got), advice(t))
	}
}

// advice returns the command that rewrites the files of a test.
func advice(t TB) string {
	text := fmt.Sprintf("If the output is right, rewrite the file with: go test -run '^%s$' -update", t.Name())
	if flag.Lookup(flagName) == nil {
		text += "; the test's package must declare the flag: " + declaration
	}
	return text
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644) //nolint:gosec // It is source, which everybody may read.
}
