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

func TestRounds_Part(t *testing.T) {
	t.Setenv(rounds.Variable, "thorough/4")
	var test witness

	require.Equal(t, 10, rounds.Of(&test, 3, 40))
	require.Equal(t, 3, rounds.Of(&test, 3, 8), "at least the usual ones")

	rounds.OnlyThorough(&test)
	require.Empty(t, test.skipped)
}

func TestRounds_WrongValue(t *testing.T) {
	t.Setenv(rounds.Variable, "")
	for _, value := range []string{"thorogh", "thorough/", "thorough/0", "thorough/x", "usual"} {
		t.Setenv(rounds.Variable, value)
		var test witness

		rounds.Of(&test, 3, 40)

		require.Contains(t, test.failed, fmt.Sprintf(`BOTCTX_TESTS is %q; set it to "thorough", to "thorough/4"`, value))
	}
}
