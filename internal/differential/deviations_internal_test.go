package differential

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/storetest"
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
			source, _ = read(source).(document.Object)
			var c storetest.Case
			require.NoError(t, document.Decode(source, &c))
			require.NoError(t, c.Check(c.Run(t.Context(), memstore.New().Collection("cases"))), "memstore: %s", known.reason)

			source = source.Without("expect")
			require.Error(t, judgeWith(t.Context(), source, nil).difference, "lungo has this now: %s", known.reason)
			require.Equal(t, known.name, judgeWith(t.Context(), source, []deviation{known}).skipped)
		})
	}
}

// TestDeviations_HideNothingElse holds the deviations to cases that are of no kind
// of theirs: one that concerns these hides what nobody knows.
func TestDeviations_HideNothingElse(t *testing.T) {
	t.Parallel()
	for _, plain := range []string{
		`{"kind":"find","docs":[{"_id":1,"a":[1,2]},{"_id":2,"a":{"b":1}}],"filter":{"a":{"$gt":1}},"sort":[["a",-1]]}`,
		`{"kind":"count","docs":[{"_id":1,"a":[{"b":1}]}],"filter":{"a.b":1}}`,
		`{"kind":"count","docs":[{"_id":1,"a":[1,2],"b":[[3]],"c":{"d":1}}],"filter":{"a.1":2,"c.d":1}}`,
		`{"kind":"replace","docs":[{"_id":1,"a":1}],"filter":{},"update":{"a":2}}`,
		`{"kind":"update","docs":[{"_id":1,"a":1}],"filter":{},"update":{"$mul":{"a":2}}}`,
		`{"kind":"update","docs":[{"_id":1,"a":1}],"filter":{},"update":{"$bit":{"a":{"or":2}}}}`,
		`{"kind":"distinct","docs":[{"_id":1,"a":[1,2]}],"filter":{},"key":"a"}`,
		`{"kind":"update","docs":[{"_id":1,"a":[1]}],"filter":{},"update":{"$push":{"a":{"$each":[2],"$sort":1}}}}`,
		`{"kind":"update","docs":[{"_id":1,"a":[1]}],"filter":{},"update":{"$addToSet":{"a":3}},"upsert":true}`,
		`{"kind":"findAndModify","docs":[{"_id":1,"a":1}],"filter":{"a":1},"update":{"$inc":{"a":1}},"new":true}`,
	} {
		var source document.Object
		require.NoError(t, document.DecodeJSON([]byte(plain), &source))
		var c storetest.Case
		require.NoError(t, document.Decode(source, &c))
		for _, known := range deviations {
			require.False(t, known.concerns(shape{source: source, c: &c}), "%s: %s", known.name, plain)
		}
	}
}

// TestDeviations_AreDecisions compares the rules with the table in docs/decisions.md.
func TestDeviations_AreDecisions(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/decisions.md")
	require.NoError(t, err)
	plain := strings.ReplaceAll(string(text), "`", "")
	for _, known := range deviations {
		require.Contains(t, plain, "| "+known.name+" | "+known.reason+" |", "a row of docs/decisions.md")
	}
}
