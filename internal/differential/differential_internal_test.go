package differential

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
)

// parts is in how many parts side by side a test run compares random cases.
const parts = 4

func TestCases_Random(t *testing.T) {
	t.Parallel()
	count := uint64(rounds.Of(t, 2_000, 10_000))
	for part := range uint64(parts) {
		t.Run(strconv.FormatUint(part, 10), func(t *testing.T) {
			t.Parallel()
			for seed := part; seed < count; seed += parts {
				agree(t, newGenerator(rand.NewPCG(seed, 0)).makeCase())
			}
		})
	}
}

// agree fails where the two engines differ on a case, and shows a small one.
func agree(t *testing.T, source document.Object) {
	t.Helper()
	if judge(t.Context(), source).difference == nil {
		return
	}
	small := shrink(t.Context(), source)
	verdict := judge(t.Context(), small)
	require.NoError(t, verdict.difference, "memstore and lungo differ; with lungo's answer:\n%v",
		shown(small.With("expect", verdict.expected)))
}

// FuzzDifferential makes cases of the bytes that the fuzzer finds.
func FuzzDifferential(f *testing.F) {
	for seed := range byte(50) {
		f.Add([]byte{seed, 3 * seed, 7 * seed, 11 * seed, 5 * seed})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		agree(t, newGenerator(newSource(data)).makeCase())
	})
}
