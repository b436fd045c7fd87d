package document_test

import (
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
