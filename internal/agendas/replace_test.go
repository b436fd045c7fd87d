package agendas_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/agendas"
)

func TestNewAgenda_ReplaceAtEachCrash(t *testing.T) {
	t.Parallel()
	const repeated = `{"memberId": "ada", "nodeCompositeId": "new", "nextRunAt": 5, "replace": true, "tag": "x"}`
	const updated = `{"memberId": "ada", "nodeCompositeId": "new", "nextRunAt": 5, "replace": true, "tag": "x"}`
	for name, repeat := range map[string]func(a *apps) error{
		"newAgenda":    func(a *apps) error { _, err := call(t, a.mine.NewAgenda, repeated); return err },
		"updateAgenda": func(a *apps) error { _, err := call(t, a.mine.UpdateAgenda, updated); return err },
	} {
		crashes := 0
		for {
			store := newWriting()
			a := newAppsOver(t, store, agendas.Ports{})
			seed(t, a)
			writes := 0
			store.before = func(string) error {
				writes++
				if writes > crashes {
					return boterr.New(boterr.Unavailable, "", "the store is gone")
				}
				return nil
			}
			err := repeat(a)
			require.NotEmpty(t, records(t, a.mine, "tag", "x", "member", "ada", "completed", false), "%s: %d", name, crashes)
			store.before = nil
			if err == nil {
				break
			}
			require.ErrorIs(t, err, boterr.Unavailable)
			require.NoError(t, repeat(a))
			require.Equal(t, "new", only(t, a.mine, "tag", "x", "member", "ada", "completed", false).NodeCompositeID, "%s: %d", name, crashes)
			require.Len(t, records(t, a.mine, "completed", false), 3)
			crashes++
		}
		require.Equal(t, 2, crashes, "%s writes twice", name)
	}
}

func TestNewAgenda_ReplaceAfterDeletion(t *testing.T) {
	t.Parallel()
	store := newWriting()
	a := newAppsOver(t, store, agendas.Ports{})
	replace := func(node string) {
		must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "`+node+`", "nextRunAt": 5, "replace": true, "tag": "x"}`)
	}
	replace("first")
	store.once(func() {
		must(t, a.mine.DeleteMemberAgenda, `{"memberId": "ada", "tag": "x"}`)
		replace("last")
	}, "delete")
	replace("second")
	require.Equal(t, []string{"last"}, nodes(records(t, a.mine)))
}
