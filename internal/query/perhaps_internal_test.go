package query

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
)

func TestPerhaps_NamesOperatorsThatAreThere(t *testing.T) {
	t.Parallel()
	for _, operator := range fieldOperators {
		_, err := CompileFilter(document.O("field", document.O(operator, "no operand of most")))
		if err != nil {
			require.NotContains(t, err.Error(), "is no operator", operator)
		}
	}
	for _, operator := range logicalOperators {
		_, err := CompileFilter(document.O(operator, "no operand of most"))
		if err != nil {
			require.NotContains(t, err.Error(), "is no operator", operator)
		}
	}
}
