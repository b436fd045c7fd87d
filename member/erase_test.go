package member_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

func TestErase_OnlyOne(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "ada"}`, `{"_id": "bob"}`)
	insert(t, a.theirs, `{"_id": "tom"}`)
	env := record.Env{Store: a.store}
	for _, erased := range []struct {
		id    string
		isOne bool
	}{{"ada", true}, {"ada", false}, {"tom", false}} {
		isOne, err := member.Erase(t.Context(), env, "mine", erased.id)
		require.NoError(t, err)
		require.Equal(t, erased.isOne, isOne, erased.id)
	}
	_, err := a.mine.Load(t.Context(), "ada")
	require.ErrorIs(t, err, boterr.NotFound)
	load(t, a.mine, "bob")
	load(t, a.theirs, "tom")
	_, err = member.Erase(t.Context(), env, "mine", "")
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = member.Erase(t.Context(), env, "", "ada")
	require.ErrorIs(t, err, boterr.InvalidArgument)
}
