package agendas_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// manyAgendas is how many agendas a member has in tests of what they cost.
const manyAgendas = 8000

// fill adds agendas of ada's with the tag "x" to the store, as a scheduler leaves them.
func (a *apps) fill(tb testing.TB, number int, isCompleted bool) {
	tb.Helper()
	all := make([]document.Object, number)
	for i := range all {
		all[i] = document.O("_id", "past"+strconv.Itoa(i), "app", "mine", "channel", "c1", "member", "ada",
			"nodeCompositeId", "past", "nextRunAt", 1+i, "priority", 0, "meta", document.O(), "tag", "x",
			"completed", isCompleted, "createdAt", 1+i, "updatedAt", 1+i)
	}
	require.NoError(tb, a.store.Collection("agendas").Insert(tb.Context(), all...))
}

func TestNewAgenda_ReplaceAfterManyCompleted(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	a.fill(t, manyAgendas, true)
	for _, node := range []string{"first", "second"} {
		_, err := a.mine.NewAgenda(t.Context(), agenda.NewAgendaParams{
			MemberID: "ada", NodeCompositeID: node, NextRunAt: 5, Replace: true, Tag: "x",
		})
		require.NoError(t, err)
		require.Equal(t, node, only(t, a.mine, "completed", false).NodeCompositeID)
	}
}

func TestNewAgenda_ReplaceOfManyOpen(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	a.fill(t, manyAgendas, false)
	_, err := a.mine.NewAgenda(t.Context(), agenda.NewAgendaParams{
		MemberID: "ada", NodeCompositeID: "new", NextRunAt: 5, Replace: true, Tag: "x",
	})
	require.NoError(t, err)
	require.Equal(t, "new", only(t, a.mine).NodeCompositeID)
}

func TestUpdateAgenda_ReplaceOfMany(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	a.fill(t, manyAgendas, false)
	_, err := a.mine.UpdateAgenda(t.Context(), agenda.UpdateAgendaParams{MemberID: "ada", NextRunAt: 7, Replace: true, Tag: "x"})
	require.NoError(t, err)
	require.EqualValues(t, 7, only(t, a.mine).NextRunAt)
}

func TestAgendas_WithoutReplaceOfMany(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	a.fill(t, manyAgendas, false)
	result, err := a.mine.UpdateAgenda(t.Context(), agenda.UpdateAgendaParams{MemberID: "ada", NextRunAt: noon})
	require.NoError(t, err)
	require.EqualValues(t, manyAgendas, result.Modified)
	_, err = a.mine.DeleteMemberAgenda(t.Context(), agenda.DeleteMemberAgendaParams{MemberID: "ada"})
	require.NoError(t, err)
	require.Empty(t, records(t, a.mine))
}

// examined counts the documents that the searches, changes and deletions of a store look at.
func examined(t *testing.T, memory *memstore.Store, filter, sort document.Object, limit int64) int64 {
	t.Helper()
	which, err := query.CompileFilter(filter)
	require.NoError(t, err)
	options := store.FindOptions{Limit: limit}
	if !sort.IsZero() {
		options.Sort, err = query.CompileSort(sort)
		require.NoError(t, err)
	}
	explained, err := memory.Explain(t.Context(), "agendas", which, options)
	require.NoError(t, err)
	return explained.Examined
}

func TestEnsureIndexes_OpenAgendasApart(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	a.fill(t, manyAgendas, true)
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "open", "nextRunAt": 5, "tag": "x"}`)
	memory := a.store.(*memstore.Store)
	ofMember := document.O("app", "mine", "member", "ada", "completed", false)
	for _, filter := range []document.Object{
		ofMember.With("tag", "x"),
		ofMember.With("tag", document.O("$not", document.O("$regex", "^livechat:"))),
	} {
		require.EqualValues(t, 1, examined(t, memory, filter, document.Object{}, 0), filter)
	}
}

// BenchmarkReplaceAfterCompleted shows that a replacement costs the same whatever has been completed.
func BenchmarkReplaceAfterCompleted(b *testing.B) {
	for _, completed := range []int{0, 1_000, 10_000, 100_000} {
		b.Run(strconv.Itoa(completed), func(b *testing.B) {
			a := newAppsOver(b, memstore.New(), agendas.Ports{})
			a.fill(b, completed, true)
			for b.Loop() {
				_, err := a.mine.NewAgenda(b.Context(), agenda.NewAgendaParams{
					MemberID: "ada", NodeCompositeID: "n", NextRunAt: 1, Tag: "x", Replace: true,
				})
				require.NoError(b, err)
			}
		})
	}
}
