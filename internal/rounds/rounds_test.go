package rounds_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/rounds"
)

// witness is a rounds.T that records the calls of its methods.
type witness struct{ logged, failed, skipped string }

func (*witness) Helper() {}

func (*witness) Name() string { return "TestSearch" }

func (w *witness) Logf(format string, args ...any) { w.logged = fmt.Sprintf(format, args...) }

func (w *witness) Fatalf(format string, args ...any) { w.failed = fmt.Sprintf(format, args...) }

func (w *witness) Skipf(format string, args ...any) { w.skipped = fmt.Sprintf(format, args...) }

func TestRounds_Usual(t *testing.T) {
	t.Setenv(rounds.Variable, "")
	var test witness

	require.Equal(t, 3, rounds.Of(&test, 3, 40))
	require.Equal(t, "rounds: TestSearch: 3", test.logged)

	rounds.OnlyThorough(&test)
	require.Equal(t, "runs with BOTCTX_TESTS=thorough", test.skipped)
}

func TestRounds_Thorough(t *testing.T) {
	t.Setenv(rounds.Variable, "thorough")
	var test witness

	require.Equal(t, 40, rounds.Of(&test, 3, 40))
	require.Equal(t, "rounds: TestSearch: 40", test.logged)

	rounds.OnlyThorough(&test)
	require.Empty(t, test.skipped)
}

func TestRounds_WrongWord(t *testing.T) {
	t.Setenv(rounds.Variable, "thorogh")
	var test witness

	rounds.Of(&test, 3, 40)

	require.Equal(t, `BOTCTX_TESTS is "thorogh"; set it to "thorough", or to nothing for the usual tests`, test.failed)
}
