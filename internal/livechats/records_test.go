package livechats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
)

func TestEnsureIndexes_OneOpenAssignment(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putOpen(t, "a1", 1, ``)
	insert := func(text string) error { return s.store.Collection("assignments").Insert(t.Context(), object(t, text)) }
	require.ErrorIs(t, insert(`{"_id": "a2", "app": "mine", "slot": "member/member of a1"}`), boterr.AlreadyExists)
	require.NoError(t, insert(`{"_id": "a3", "app": "theirs", "slot": "member/member of a1"}`))
	require.NoError(t, insert(`{"_id": "a4", "app": "mine", "slot": "ended/a4"}`))
}
