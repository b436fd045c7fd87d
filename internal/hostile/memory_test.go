package hostile //nolint:testpackage // It tests the parts of the search.

import (
	"crypto/sha512"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// made is where tests keep what they make, so that it is on the heap.
type made struct {
	kept [][]byte
	sum  [sha512.Size]byte
}

// memoryOf is what a function takes as a call's memory.
func memoryOf(run func(*made)) uint64 {
	var m meter
	m.rest()
	usual := m.pace()
	defer usual()
	watch := m.watch()
	var in made
	run(&in)
	defer runtime.KeepAlive(&in)
	return watch.end()
}

//nolint:paralleltest // The heap is that of the process.
func TestMemory_LetGo(t *testing.T) {
	taken := memoryOf(func(in *made) {
		for range 512 {
			in.kept = [][]byte{make([]byte, 1<<20)}
			in.sum = sha512.Sum512(in.kept[0]) // The collector keeps up with who does something beside.
		}
	})
	require.Less(t, taken, uint64(MostMemory))
}

//nolint:paralleltest // The heap is that of the process.
func TestMemory_Kept(t *testing.T) {
	require.Greater(t, memoryOf(func(in *made) { in.kept = [][]byte{make([]byte, 300<<20)} }), uint64(MostMemory))
}
