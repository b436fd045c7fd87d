package document_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
)

func TestEdit_EndsInTheSharedShape(t *testing.T) {
	t.Parallel()
	for name, earlier := range map[string]document.Object{
		"of an earlier edit":   document.O(),
		"of an earlier object": document.O("b", 0, "c", 0),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memory, shapes := &document.EditMemory{}, &document.Shapes{}
			shapes.Keep(earlier)
			first := shapes.Share(withCForA(shapes.Keep(document.O("a", 1, "b", 2)), memory))
			second := withCForA(shapes.Keep(document.O("a", 3, "b", 4)), memory)
			require.Same(t, first.Shape(), second.Shape())
			require.Equal(t, document.O("b", 4, "c", 5), second)
			require.Equal(t, second, shapes.Share(second))
		})
	}
}

func TestEdit_SharedShapesOfSeveralStores(t *testing.T) {
	t.Parallel()
	memory, one, other := &document.EditMemory{}, &document.Shapes{}, &document.Shapes{}
	before := one.Keep(document.O("a", 1, "b", 2))
	inOne := one.Share(withCForA(before, memory))
	inOther := other.Share(withCForA(before, memory))
	require.Equal(t, inOne, inOther)
	require.NotSame(t, inOne.Shape(), inOther.Shape())
	require.Same(t, inOther.Shape(), other.Share(withCForA(before, memory)).Shape())
	require.Same(t, inOne.Shape(), one.Share(withCForA(before, memory)).Shape())
}

// withCForA removes a and adds c, with the memory of earlier edits.
func withCForA(o document.Object, memory *document.EditMemory) document.Object {
	edit := document.NewEdit(o, memory)
	edit.Set("a", document.Missing)
	edit.Set("c", int64(5))
	return edit.Object()
}
