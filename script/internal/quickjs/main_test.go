package quickjs_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/botctx/go-sdk/script/internal/quickjs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testMemory = 32 << 20
	testBusy   = 300 * time.Millisecond
)

// codeFolder has the compiled code between two runs of the tests: compiling takes seconds under the race detector.
func codeFolder(tb testing.TB) string {
	tb.Helper()
	folder, err := os.UserCacheDir()
	if err != nil {
		folder = os.TempDir()
	}
	return filepath.Join(folder, "botctx-quickjs-test")
}

// newInstance returns an instance in no snapshot.
func newInstance(tb testing.TB, run quickjs.Run) *quickjs.Instance {
	tb.Helper()
	m, err := quickjs.Open(codeFolder(tb))
	require.NoError(tb, err)
	in, err := m.New(tb.Context(), run, testMemory)
	require.NoError(tb, err)
	return in
}

// newSnapshot returns the state after a script.
func newSnapshot(tb testing.TB, source string) *quickjs.Snapshot {
	tb.Helper()
	in := newInstance(tb, quickjs.Run{Busy: time.Minute})
	_, err := in.Eval("boot.js", source)
	require.NoError(tb, err)
	s, err := in.Snapshot()
	require.NoError(tb, err)
	return s
}

// take returns an instance for one run, which ends with the test.
func take(tb testing.TB, s *quickjs.Snapshot, run quickjs.Run) *quickjs.Instance {
	tb.Helper()
	if run.Busy == 0 {
		run.Busy = time.Minute
	}
	in, err := s.Take(tb.Context(), run)
	require.NoError(tb, err)
	return in
}

// evalText runs a script, and returns its last value as a text.
func evalText(tb testing.TB, in *quickjs.Instance, source string) string {
	tb.Helper()
	value, err := in.Eval("test.js", source)
	require.NoError(tb, err)
	text, err := in.Text(value)
	require.NoError(tb, err)
	return text
}
