package differential

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/document/documenttest"
	"github.com/botctx/go-sdk/document/memstore"
)

// TestDeviations holds each known difference to its example: memstore gives what
// MongoDB documents, lungo does not, and the deviation says so. One that fails
// because lungo has changed is to be deleted.
func TestDeviations(t *testing.T) {
	t.Parallel()
	for _, known := range deviations {
		t.Run(known.name, func(t *testing.T) {
			t.Parallel()
			var source document.Object
			require.NoError(t, document.DecodeJSON([]byte(known.example), &source))
			var c documenttest.Case
			require.NoError(t, document.Decode(source, &c))
			require.NoError(t, c.Check(c.Run(t.Context(), memstore.New().Collection("cases"))), "memstore: %s", known.reason)

			source = source.Without("expect")
			require.Error(t, judgeWith(t.Context(), source, nil).difference, "lungo has this now: %s", known.reason)
			require.Equal(t, known.name, judgeWith(t.Context(), source, []deviation{known}).skipped)
		})
	}
}
