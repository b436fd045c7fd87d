package agendas_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store/memstore"
)

// env is the environment of both apps.
func (a *apps) env() record.Env { return record.Env{Store: a.store} }

func TestEraseMember(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	seed(t, a)
	a.change(t, document.O("nodeCompositeId", "daily"), document.Set("completed", true))
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "idle", "nextRunAt": 5, "tag": "livechat:idle"}`)
	for _, want := range []int64{5, 0} {
		removed, err := agendas.EraseMember(t.Context(), a.env(), "mine", "ada")
		require.NoError(t, err)
		require.Equal(t, want, removed)
	}
	require.Equal(t, []string{"bobs"}, nodes(records(t, a.mine)))
	removed, err := agendas.EraseMember(t.Context(), a.env(), "mine", "tom")
	require.NoError(t, err)
	require.Zero(t, removed, "he is a member of another app")
}

func TestEraseMember_Many(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	for range 1200 {
		must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 5}`)
	}
	removed, err := agendas.EraseMember(t.Context(), a.env(), "mine", "ada")
	require.NoError(t, err)
	require.EqualValues(t, 1200, removed)
	require.Empty(t, records(t, a.mine))
}

func TestEraseMember_Refuses(t *testing.T) {
	t.Parallel()
	env := record.Env{Store: memstore.New()}
	_, err := agendas.EraseMember(t.Context(), env, "", "ada")
	requireRefused(t, err, "app")
	_, err = agendas.EraseMember(t.Context(), env, "mine", "")
	requireRefused(t, err, "memberId")
}
