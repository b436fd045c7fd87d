package query_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// What compiling and changing allocates has a bound each, which tells when one of them has become longer.
//
//nolint:paralleltest // What other tests allocate at the same time would be counted.
func TestAllocations_OfCompilingAndChanging(t *testing.T) {
	const runs = 100
	patch, known := document.O("$set", document.O("meta.seats", 7)), document.O("$inc", document.O("seats", 1))
	var compiler query.Compiler
	update, err := compiler.Update(known)
	require.NoError(t, err)
	scope := query.FieldValue{Name: "app", Value: "a1"}
	age, area := compiled(t, document.O("age", document.O("$gt", 7))), compiled(t, document.O("area", "north"))
	record := document.O("_id", "m1", "app", "a1", "seats", 2)
	evaluation := query.NewEvaluation(t.Context())
	change := query.Change{Update: update, Fixed: []string{"app"}}
	byID := document.O("_id", "m1")
	filter := query.FieldsEqual(query.FieldValue{Name: "_id", Value: "m1"}, scope)
	for name, c := range map[string]struct {
		call func() error
		most float64
	}{
		"an update of a path":              {func() error { _, err := query.CompileUpdate(patch); return err }, 2},
		"an update that is known":          {func() error { _, err := compiler.Update(known); return err }, 0},
		"a filter by id, narrowed":         {func() error { _, err := compiler.FilterWhere(byID, scope); return err }, 1},
		"two filters":                      {func() error { query.And(age, area); return nil }, 2},
		"a change of a field":              {func() error { _, _, err := evaluation.Change(change, filter, record); return err }, 2},
		"whether a record is what it says": {func() error { filter.HasFields(record); return nil }, 0},
	} {
		var failed error
		allocated := testing.AllocsPerRun(runs, func() {
			if err := c.call(); err != nil {
				failed = err
			}
		})
		require.NoError(t, failed, name)
		require.LessOrEqual(t, allocated, c.most, name)
	}
}
