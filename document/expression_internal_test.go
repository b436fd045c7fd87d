package document

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACompiledExpressionKeepsNothingMuchLargerThanItsSource(t *testing.T) {
	t.Parallel()
	for source, kept := range map[any]bool{
		O("$range", A(0, 20)):        true,
		O("$range", A(0, 1_000_000)): false,
		O("$concatArrays", A(A(1, true, nil), O("$range", A(0, 100_000)))): false,
		O("$split", A("a,b", ",")): true,
	} {
		e, err := compileExpression(source)
		require.NoError(t, err)
		_, isConstant := e.(constant)
		require.Equal(t, kept, isConstant, "%v", source)
	}
	items := make([]any, 10_000)
	e, err := compileExpression(A(items...))
	require.NoError(t, err)
	require.IsType(t, constant{}, e, "a long list is as long in its source")
}
