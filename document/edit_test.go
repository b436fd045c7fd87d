package document_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
)

func TestEdit_EndsInTheSharedShape(t *testing.T) {
	t.Parallel()
	var shapes document.Shapes
	known := shapes.Keep(document.O("b", 0, "c", 0))
	edit := document.NewEdit(shapes.Keep(document.O("a", 1, "b", 2)), &shapes)
	edit.Set("a", document.Missing)
	edit.Set("c", int64(5))
	edited := edit.Object()
	require.Equal(t, document.O("b", 2, "c", 5), edited)
	require.Same(t, known.Shape(), edited.Shape())
	require.Equal(t, edited, shapes.Share(edited))
}

// However many fields change, a wide object is copied once.
func TestEdit_CopiesAWideObjectOnce(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	const width, changes = 20_000, 24
	wide := document.NewBuilder(width)
	for i := range width {
		wide.Set(fmt.Sprint("f", i), int64(i))
	}
	o := wide.Object()
	allocated := func() uint64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.TotalAlloc
	}
	before := allocated()
	edit := document.NewEdit(o, nil)
	for i := range changes {
		edit.Set(fmt.Sprint("new", i), int64(i))
		edit.Set(fmt.Sprint("f", i), document.Missing)
		edit.Set(fmt.Sprint("f", width-1-i), "x")
	}
	changed := edit.Object()
	require.Less(t, allocated()-before, uint64(500*width))
	require.Equal(t, width, changed.Len())
	require.Equal(t, "f24", changed.NameAt(0))
	require.Equal(t, "x", changed.Value("f19999"))
	require.Equal(t, "new23", changed.NameAt(width-1))
}

func TestEdit_WideObjectKeepsErrors(t *testing.T) {
	t.Parallel()
	wide := document.NewBuilder(0)
	for i := range 100 {
		wide.Set(fmt.Sprint("f", i), int64(i))
	}
	edit := document.NewEdit(wide.Object(), nil)
	edit.Set("a\x00b", int64(1))
	require.ErrorContains(t, edit.Object().Err(), "NUL")
	deep := document.NewEdit(wide.Object(), nil)
	var value any = int64(1)
	for range document.MaxNesting {
		value = document.A(value)
	}
	deep.Set("new", value)
	require.ErrorContains(t, deep.Object().Err(), "nested deeper")
}
