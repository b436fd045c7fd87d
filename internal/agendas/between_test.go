package agendas_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
)

// newInterposed returns apps with the agendas of seed, and a function that makes their store call a function between a
// read and the following update or insert.
func newInterposed(t *testing.T) (a *apps, between func(func())) {
	t.Helper()
	store := newWriting()
	a = newAppsOver(t, store, agendas.Ports{})
	seed(t, a)
	return a, func(happens func()) { store.once(happens, "update", "insert") }
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
		a, between := newInterposed(t)
		between(func() { a.change(t, document.O("nodeCompositeId", "daily"), c.meanwhile) })
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
		a, between := newInterposed(t)
		between(func() { a.change(t, document.O("nodeCompositeId", "bobs"), document.Set("pattern", "0 9 * * *")) })
		_, err := call(t, a.mine.UpdateAgenda, params)
		requireRefused(t, err, field, params)
		bobs := only(t, a.mine, "nodeCompositeId", "bobs")
		require.EqualValues(t, 1709298000000, bobs.NextRunAt, params)
		require.Zero(t, bobs.RunUntil, params)
	}
}

func TestUpdateAgenda_EndsMeanwhile(t *testing.T) {
	t.Parallel()
	a, between := newInterposed(t)
	between(func() { a.change(t, document.O("nodeCompositeId", "daily"), document.Set("completed", true)) })
	result := must(t, a.mine.UpdateAgenda, `{"memberId": "ada", "tag": "x", "priority": 5}`)
	require.Equal(t, 1, document.Get(result, "modified", 0))
	require.Equal(t, []string{"once"}, nodes(records(t, a.mine, "priority", 5)))

	a, between = newInterposed(t)
	between(func() { must(t, a.mine.DeleteMemberAgenda, `{"memberId": "ada"}`) })
	result = must(t, a.mine.UpdateAgenda, `{"memberId": "ada", "priority": 5}`)
	require.JSONEq(t, `{"_docsIds": {"updated": []}, "_docs": [], "modified": 0}`, result.String())
	require.Equal(t, []string{"past", "bobs"}, nodes(records(t, a.mine)))
}

func TestUpdateAgenda_ReplaceNewestEndsMeanwhile(t *testing.T) {
	t.Parallel()
	a, between := newInterposed(t)
	between(func() { a.change(t, document.O("nodeCompositeId", "daily"), document.Set("completed", true)) })
	result := must(t, a.mine.UpdateAgenda, `{"memberId": "ada", "tag": "x", "replace": true, "priority": 5}`)
	require.Equal(t, "once", document.Get(result, "_docs.0.nodeCompositeId", ""))
	require.Equal(t, []string{"once", "other", "bobs"}, nodes(records(t, a.mine, "completed", false)))
}

func TestUpdateAgenda_AlwaysEndsMeanwhile(t *testing.T) {
	t.Parallel()
	a, between := newInterposed(t)
	var end func()
	end = func() {
		a.change(t, document.O("member", "bob", "completed", false), document.Set("completed", true))
		must(t, a.mine.NewAgenda, `{"memberId": "bob", "nodeCompositeId": "again", "nextRunAt": 5}`)
		between(end)
	}
	between(end)
	_, err := call(t, a.mine.UpdateAgenda, `{"memberId": "bob", "priority": 5}`)
	require.ErrorIs(t, err, boterr.Conflict)
	require.Empty(t, records(t, a.mine, "priority", 5))
}

func TestNewAgenda_ReplacementsOfOneNumber(t *testing.T) {
	t.Parallel()
	const params = `{"memberId": "ada", "nodeCompositeId": "new", "nextRunAt": 5, "tag": "x", "replace": true}`
	for _, lastID := range []int64{10, 98} { // Compared as texts, 12 comes after 11, but 100 comes before 99.
		a, between := newInterposed(t)
		a.ids.Store(lastID)
		var second document.Object
		between(func() { second = must(t, a.mine.NewAgenda, params) })
		first := must(t, a.mine.NewAgenda, params)
		left := only(t, a.mine, "member", "ada", "tag", "x", "completed", false)
		require.EqualValues(t, 1, left.Replaces)
		require.Equal(t, max(document.Get(first, "_id", ""), document.Get(second, "_id", "")), left.ID)
	}
}
