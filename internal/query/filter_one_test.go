package query_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/arbitrary"
	"github.com/botctx/go-sdk/internal/query"
)

// fieldSets are fields with their values, as a scope has them.
func fieldSets() [][]query.FieldValue {
	return [][]query.FieldValue{
		{{Name: "app", Value: "a1"}},
		{{Name: "app", Value: "a1"}, {Name: "channel", Value: "c1"}},
		{{Name: "_id", Value: "m1"}, {Name: "app", Value: "a1"}},
		{{Name: "app", Value: "a1"}, {Name: "app", Value: "a2"}},
		{{Name: "app", Value: "a1"}, {Name: "0", Value: int64(1)}, {Name: "channel", Value: nil}},
	}
}

// recordsOfScopes are documents that some of the fields match, arrays among them.
func recordsOfScopes() []document.Object {
	return []document.Object{
		document.O(),
		document.O("_id", "m1", "app", "a1", "channel", "c1", "age", 7),
		document.O("_id", "m2", "app", "a1", "channel", "c2", "age", 7),
		document.O("_id", "m3", "app", "a2", "channel", "c1"),
		document.O("_id", "m4", "app", document.A("a1", "a2"), "channel", document.A("c1"), "age", document.A(7, 8)),
		document.O("_id", "m5", "app", "a1", "0", 1),
		document.O("_id", "m1", "app", document.A("a1"), "age", 8),
	}
}

// documentOf is the query document of fields.
func documentOf(fields []query.FieldValue) document.Object {
	clauses := make([]any, 0, len(fields))
	for _, field := range fields {
		clauses = append(clauses, document.O(field.Name, field.Value))
	}
	return document.O("$and", document.A(clauses...))
}

func compiled(t *testing.T, source document.Object) *query.Filter {
	t.Helper()
	filter, err := query.CompileFilter(source)
	require.NoError(t, err)
	return filter
}

func TestFieldsEqual_MatchesAsItsQueryDocument(t *testing.T) {
	t.Parallel()
	require.Nil(t, query.FieldsEqual())
	for _, fields := range fieldSets() {
		made, want := query.FieldsEqual(fields...), compiled(t, documentOf(fields))
		again := compiled(t, made.Source())
		for _, record := range recordsOfScopes() {
			require.Equal(t, want.Match(record), made.Match(record), "%v of %v", fields, record)
			require.Equal(t, want.Match(record), again.Match(record), "the source of %v of %v", fields, record)
		}
	}
}

func TestFieldsEqual_HasTheBoundsOfItsQueryDocument(t *testing.T) {
	t.Parallel()
	for _, fields := range fieldSets() {
		for _, path := range []string{"app", "channel", "_id", "0", "age"} {
			require.Equal(t, boundsOf(compiled(t, documentOf(fields)), path), boundsOf(query.FieldsEqual(fields...), path),
				"%v at %s", fields, path)
		}
	}
}

// boundsOf returns the bounds that the conditions of a filter have at a path.
func boundsOf(filter *query.Filter, path string) []query.Bounds {
	var all []query.Bounds
	for condition := range filter.Conditions() {
		if bounds, ok := condition.Bounds(path); ok {
			all = append(all, bounds)
		}
	}
	return all
}

func TestFilterWhere_MatchesWhereBothDo(t *testing.T) {
	t.Parallel()
	sources := []document.Object{
		document.O(), document.O("_id", "m1"), document.O("_id", "m1", "age", 8), document.O("age", 7),
		document.O("age", document.O("$gt", 7)), document.O("app", "a1", "_id", document.O("$in", document.A("m1", "m2"))),
		document.O("$or", document.A(document.O("age", 7), document.O("channel", "c1"))),
	}
	for _, source := range sources {
		for _, fields := range fieldSets() {
			filter, narrow := compiled(t, source), compiled(t, documentOf(fields))
			both := filter.Where(fields...)
			twice := both.Where(query.FieldValue{Name: "app", Value: "a1"})
			again := compiled(t, both.Source())
			for _, record := range recordsOfScopes() {
				want := filter.Match(record) && narrow.Match(record)
				require.Equal(t, want, both.Match(record), "%v where %v of %v", source, fields, record)
				require.Equal(t, want, again.Match(record), "the source of %v where %v of %v", source, fields, record)
				require.Equal(t, want, twice.Match(record), "%v where %v, twice, of %v", source, fields, record)
			}
		}
	}
}

func TestFilterWhere_NamesTheRecordThatEitherNames(t *testing.T) {
	t.Parallel()
	id := query.FieldValue{Name: "_id", Value: "m1"}
	app := query.FieldValue{Name: "app", Value: "a1"}
	for name, filter := range map[string]*query.Filter{
		"the filter": compiled(t, document.O("_id", "m1")).Where(app),
		"a field":    compiled(t, document.O("age", 7)).Where(id, app),
		"no filter":  (*query.Filter)(nil).Where(app, id),
	} {
		named, ok := filter.Equality("_id")
		require.True(t, ok, name)
		require.Equal(t, "m1", named, name)
	}
	require.Nil(t, (*query.Filter)(nil).Where())
}

func TestFilter_FieldCountOfScalarsAlone(t *testing.T) {
	t.Parallel()
	app, name := query.FieldValue{Name: "app", Value: "a"}, query.FieldValue{Name: "name", Value: "b"}
	require.Zero(t, (*query.Filter)(nil).FieldCount())
	require.Equal(t, 2, query.FieldsEqual(app, name).FieldCount())
	require.Equal(t, 1, query.FieldsEqual(app).FieldCount())
	require.Equal(t, 1, compiled(t, document.O("app", "a")).FieldCount())
	require.Zero(t, compiled(t, document.O("app", document.O("name", "a"))).FieldCount(), "an object")
	require.Zero(t, compiled(t, document.O("app.name", "a")).FieldCount(), "a path")
	require.Zero(t, compiled(t, document.O("app", document.A("a"))).FieldCount(), "an array")
	larger, err := query.CompileFilter(document.O("n", document.O("$gt", 1)))
	require.NoError(t, err)
	require.Zero(t, larger.FieldCount())
	require.Zero(t, larger.Where(app, name).FieldCount())
}

func TestFilter_HasFieldsAsItMatches(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	told := 0
	for range 20 * samples {
		record := randomDocument(random)
		fields := []query.FieldValue{{Name: "_id", Value: int64(random.IntN(3))}}
		for _, name := range []string{"a", "b"} {
			value := arbitrary.Value(random, 1)
			if kept, ok := record.Field(name); ok && random.IntN(3) > 0 {
				value = kept
			}
			if !isScalar(value) {
				continue
			}
			fields = append(fields, query.FieldValue{Name: name, Value: value})
		}
		filter := query.FieldsEqual(append(fields, query.FieldValue{Name: "_id", Value: fields[0].Value})...)
		matched, isTold := filter.HasFields(record)
		if isTold {
			told++
			require.Equal(t, compiled(t, documentOf(fields)).Match(record), matched, "%v of %v", fields, record)
		}
	}
	require.Greater(t, told, samples, "records without arrays")
}

// isScalar reports whether a value has no parts.
func isScalar(value any) bool {
	switch value.(type) {
	case document.Object, document.Array:
		return false
	default:
		return true
	}
}

func TestFilter_HasFieldsTellsNothingOfOtherFilters(t *testing.T) {
	t.Parallel()
	record := document.O("_id", "m1", "app", document.A("a1"))
	for name, filter := range map[string]*query.Filter{
		"none":     nil,
		"a range":  compiled(t, document.O("age", document.O("$gt", 1))),
		"an array": query.FieldsEqual(query.FieldValue{Name: "_id", Value: "m1"}, query.FieldValue{Name: "app", Value: "a1"}),
	} {
		_, isTold := filter.HasFields(record)
		require.False(t, isTold, name)
	}
}
