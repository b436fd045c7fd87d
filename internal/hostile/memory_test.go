package hostile //nolint:testpackage // It tests the parts of the search.

import (
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// made is where tests keep what they make, so that it is on the heap.
type made struct{ kept [][]byte }

// memoryOf is what a function takes as a call's memory.
func memoryOf(run func(*made)) uint64 {
	var m meter
	m.rest()
	usual := m.pace()
	defer usual()
	watch := m.watch()
	run(&made{})
	return watch.end()
}

//nolint:paralleltest // The heap is that of the process.
func TestWhatIsLetGoIsCollectedBelowTheBound(t *testing.T) {
	lowest := uint64(math.MaxUint64)
	for range 2 * attempts { // On a busy machine the collector may come too late once.
		lowest = min(lowest, memoryOf(func(in *made) {
			for range 1 << 10 {
				in.kept = [][]byte{make([]byte, 1<<20)}
				runtime.Gosched() // The collector gets a processor, too.
			}
		}))
	}
	require.Less(t, lowest, uint64(MostMemory))
}

//nolint:paralleltest // The heap is that of the process.
func TestWhatIsKeptBetweenCollectionsIsSeen(t *testing.T) {
	taken := memoryOf(func(in *made) {
		for range 300 {
			in.kept = append(in.kept, make([]byte, 1<<20))
		}
		in.kept = nil
	})
	require.Greater(t, taken, uint64(MostMemory))
}
