package agendas_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// interposed is a store that runs a function between a read and the following update or insert.
type interposed struct {
	store.Store

	between func()
}

type interposedCollection struct {
	store.Collection

	store *interposed
}

func (s *interposed) Collection(name string) store.Collection {
	return interposedCollection{Collection: s.Store.Collection(name), store: s}
}

func (c interposedCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	c.store.interpose()
	return c.Collection.Update(ctx, filter, change, options)
}

func (c interposedCollection) Insert(ctx context.Context, documents ...document.Object) error {
	c.store.interpose()
	return c.Collection.Insert(ctx, documents...)
}

// interpose runs the function, if any, and clears it.
func (s *interposed) interpose() {
	if between := s.between; between != nil {
		s.between = nil
		between()
	}
}

// newInterposed returns apps on an interposed store with the agendas of seed.
func newInterposed(t *testing.T) (*apps, *interposed) {
	t.Helper()
	store := &interposed{Store: memstore.New()}
	a := newAppsOver(t, store, agendas.Ports{})
	seed(t, a)
	return a, store
}

func TestUpdateAgenda_ScheduleChangedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		params, field string
		meanwhile     document.Object
	}{
		"the pattern went on past the new end": {
			`{"memberId": "ada", "tag": "x", "runUntil": 1709370000000, "replace": true}`, "runUntil",
			document.Set("nextRunAt", 1709456400000),
		},
		"the end came nearer than the new run": {
			`{"memberId": "ada", "tag": "x", "nextRunAt": 1709456400000}`, "nextRunAt",
			document.Set("runUntil", 1709370000000),
		},
		"the end came nearer than the new pattern": {
			`{"memberId": "ada", "tag": "x", "pattern": "0 15 * * *", "replace": true}`, "pattern",
			document.Set("runUntil", 1709300000000),
		},
	} {
		a, store := newInterposed(t)
		store.between = func() { a.change(t, document.O("nodeCompositeId", "daily"), c.meanwhile) }
		_, err := call(t, a.mine.UpdateAgenda, c.params)
		requireRefused(t, err, c.field, name)
		daily := only(t, a.mine, "nodeCompositeId", "daily")
		for field, value := range document.Get(c.meanwhile, "$set", document.Object{}).All() {
			stored, err := document.Encode(daily)
			require.NoError(t, err)
			require.Equal(t, value, document.Get(stored, field, int64(0)), "%s: what came meanwhile stays", name)
		}
		require.EqualValues(t, noon, daily.UpdatedAt, "%s: the update changed nothing", name)
	}
}

func TestUpdateAgenda_PatternGivenMeanwhile(t *testing.T) {
	t.Parallel()
	for params, field := range map[string]string{
		`{"memberId": "bob", "nextRunAt": 1709456400000, "runUntil": 1709370000000}`: "nextRunAt",
		`{"memberId": "bob", "runUntil": 1709290000000}`:                             "runUntil",
	} {
		a, store := newInterposed(t)
		store.between = func() { a.change(t, document.O("nodeCompositeId", "bobs"), document.Set("pattern", "0 9 * * *")) }
		_, err := call(t, a.mine.UpdateAgenda, params)
		requireRefused(t, err, field, params)
		bobs := only(t, a.mine, "nodeCompositeId", "bobs")
		require.EqualValues(t, 1709298000000, bobs.NextRunAt, params)
		require.Zero(t, bobs.RunUntil, params)
	}
}

func TestUpdateAgenda_EndsMeanwhile(t *testing.T) {
	t.Parallel()
	a, store := newInterposed(t)
	store.between = func() { a.change(t, document.O("nodeCompositeId", "daily"), document.Set("completed", true)) }
	result := must(t, a.mine.UpdateAgenda, `{"memberId": "ada", "tag": "x", "priority": 5}`)
	require.Equal(t, 1, document.Get(result, "modified", 0))
	require.Equal(t, []string{"once"}, nodes(records(t, a.mine, "priority", 5)))

	a, store = newInterposed(t)
	store.between = func() { must(t, a.mine.DeleteMemberAgenda, `{"memberId": "ada"}`) }
	result = must(t, a.mine.UpdateAgenda, `{"memberId": "ada", "priority": 5}`)
	require.JSONEq(t, `{"_docsIds": {"updated": []}, "_docs": [], "modified": 0}`, result.String())
	require.Equal(t, []string{"past", "bobs"}, nodes(records(t, a.mine)))
}

func TestUpdateAgenda_ReplaceNewestEndsMeanwhile(t *testing.T) {
	t.Parallel()
	a, store := newInterposed(t)
	store.between = func() { a.change(t, document.O("nodeCompositeId", "daily"), document.Set("completed", true)) }
	result := must(t, a.mine.UpdateAgenda, `{"memberId": "ada", "tag": "x", "replace": true, "priority": 5}`)
	require.Equal(t, "once", document.Get(result, "_docs.0.nodeCompositeId", ""))
	require.Equal(t, []string{"once", "other", "bobs"}, nodes(records(t, a.mine, "completed", false)))
}

func TestUpdateAgenda_AlwaysEndsMeanwhile(t *testing.T) {
	t.Parallel()
	a, store := newInterposed(t)
	var end func()
	end = func() {
		a.change(t, document.O("member", "bob", "completed", false), document.Set("completed", true))
		must(t, a.mine.NewAgenda, `{"memberId": "bob", "nodeCompositeId": "again", "nextRunAt": 5}`)
		store.between = end
	}
	store.between = end
	_, err := call(t, a.mine.UpdateAgenda, `{"memberId": "bob", "priority": 5}`)
	require.ErrorIs(t, err, boterr.Conflict)
	require.Empty(t, records(t, a.mine, "priority", 5))
}

func TestNewAgenda_ReplacementsOfOneNumber(t *testing.T) {
	t.Parallel()
	const params = `{"memberId": "ada", "nodeCompositeId": "new", "nextRunAt": 5, "tag": "x", "replace": true}`
	for _, lastID := range []int64{10, 98} { // Compared as texts, 12 comes after 11, but 100 comes before 99.
		a, store := newInterposed(t)
		a.ids.Store(lastID)
		var second document.Object
		store.between = func() { second = must(t, a.mine.NewAgenda, params) }
		first := must(t, a.mine.NewAgenda, params)
		left := only(t, a.mine, "member", "ada", "tag", "x", "completed", false)
		require.EqualValues(t, 1, left.Replaces)
		require.Equal(t, max(document.Get(first, "_id", ""), document.Get(second, "_id", "")), left.ID)
	}
}
