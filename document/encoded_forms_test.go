package document_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
)

func TestValueOf_PointerKeepsDates(t *testing.T) {
	t.Parallel()
	held := document.O("at", time.UnixMilli(5).UTC(), "list", document.A(math.Inf(1)))
	value, err := document.ValueOf(struct {
		Held *document.Object `json:"held"`
	}{&held})
	require.NoError(t, err)
	require.Equal(t, document.O("held", held), value)
}

// Names that are not UTF-8 are converted like texts, because indexes, JSON and databases need a single form.
func TestNames_AreUTF8(t *testing.T) {
	t.Parallel()
	var set document.Object
	set.Set("a\xff", 1)
	mapped, err := document.ValueOf(map[string]int{"a\xff": 1})
	require.NoError(t, err)
	for name, made := range map[string]any{
		"O": document.O("a\xff", 1), "With": document.O().With("a\xff", 1), "Set": set, "a map": mapped,
	} {
		require.Equal(t, document.O("a\uFFFD", 1), made, name)
	}
	require.Equal(t, document.O("$unset", document.O("a\uFFFD", "")), document.Unset("a\xff"))
	require.Equal(t, document.O("a\uFFFD", 2), document.O("a\xff", 1, "a\xfe", 2), "the last value counts, as for any duplicate name")
}
