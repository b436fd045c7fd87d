package query

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
)

func TestExpression_KeepsLittle(t *testing.T) {
	t.Parallel()
	for source, kept := range map[any]bool{
		document.O("$range", document.A(0, 20)):        true,
		document.O("$range", document.A(0, 1_000_000)): false,
		document.O("$concatArrays", document.A(document.A(1, true, nil), document.O("$range", document.A(0, 100_000)))): false,
		document.O("$split", document.A("a,b", ",")): true,
	} {
		e, err := compileExpression(source)
		require.NoError(t, err)
		_, isConstant := e.(constant)
		require.Equal(t, kept, isConstant, "%v", source)
	}
	items := make([]any, 10_000)
	e, err := compileExpression(document.A(items...))
	require.NoError(t, err)
	require.IsType(t, constant{}, e, "a long list is as long in its source")
}
