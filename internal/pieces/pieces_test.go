package pieces_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/pieces"
)

func TestObjects_SkipsOtherValues(t *testing.T) {
	t.Parallel()
	one, two := document.O("a", 1), document.O("a", 2)
	from := document.O("list", document.A(one, 7, "x", nil, document.A(), two), "text", "x")
	require.Equal(t, []document.Object{one, two}, pieces.Objects(from, "list"))
	for _, other := range []string{"text", "nothing", "list.a"} {
		require.Empty(t, pieces.Objects(from, other))
	}
}

func TestEach_NamesTheFaultyObject(t *testing.T) {
	t.Parallel()
	from := document.O("list", document.A(document.O("a", 1), document.O("b", 2)))
	_, err := pieces.Each(from, "list", func(one document.Object) (document.Object, error) {
		if !one.Has("a") {
			return document.Object{}, boterr.Missing("a", "it")
		}
		return one, nil
	})
	refused, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, "list[1].a", refused.Field)
}
