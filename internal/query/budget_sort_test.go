package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/rounds"
)

// longList is a document with a list of so many objects of about 90 bytes.
func longList(count int) document.Object {
	items := make([]any, count)
	for i := range items {
		items[i] = document.O("at", (i*7919)%count, "text", fmt.Sprintf("entry %d of a list that is rather long", i))
	}
	return document.O("_id", 1, "l", document.A(items...))
}

// sortsOfLists sort the list of a document by an update and by an expression.
func sortsOfLists(
	t *testing.T, by document.Object,
) map[string]func(*query.Evaluation, document.Object) (document.Object, error) {
	t.Helper()
	push, err := query.CompileUpdate(document.O("$push", document.O("l", document.O("$each", document.A(), "$sort", by))))
	require.NoError(t, err)
	shown, err := query.CompileProjection(document.O("l", document.O("$sortArray", document.O("input", "$l", "sortBy", by))))
	require.NoError(t, err)
	return map[string]func(*query.Evaluation, document.Object) (document.Object, error){
		"$push": func(call *query.Evaluation, o document.Object) (document.Object, error) {
			after, _, err := call.Change(query.Change{Update: push}, nil, o)
			return after, err
		},
		"$sortArray": func(call *query.Evaluation, o document.Object) (document.Object, error) {
			call.Visit(o)
			return call.Project(shown, nil, o)
		},
	}
}

func TestSort_LongListByField(t *testing.T) {
	t.Parallel()
	many := rounds.Of(t, 15_000, 150_000)
	o := longList(many)
	for _, by := range []document.Object{document.O("at", 1), document.O("text", -1), document.O("none", 1, "at", -1)} {
		for name, sorted := range sortsOfLists(t, by) {
			after, err := sorted(query.NewPartialEvaluation(t.Context(), many, 150_000), o)
			require.NoError(t, err, "%s by %s", name, by)
			list := document.Get(after, "l", document.Array{})
			require.Equal(t, many, list.Len())
			require.NotEqual(t, document.Get(o, "l.1.at", -1), document.Get(after, "l.1.at", -1), "%s by %s", name, by)
		}
	}
}

func TestSort_LongListOfEqualValues(t *testing.T) {
	t.Parallel()
	many := rounds.Of(t, 15_000, 150_000)
	o := longList(many)
	by := document.O()
	for i := range 32 {
		by = by.With(fmt.Sprint("none", i), 1)
	}
	for name, sorted := range sortsOfLists(t, by) {
		call := query.NewPartialEvaluation(t.Context(), many, 150_000)
		var err error
		for i := 0; err == nil && i < 3; i++ {
			_, err = sorted(call, o)
		}
		requireTooMuch(t, err, name)
	}
}

// sortedIn sorts documents in a call that has looked at them.
func sortedIn(call *query.Evaluation, sort *query.Sort, documents []document.Object) error {
	for _, o := range documents {
		call.Visit(o)
	}
	call.Sort(sort, documents)
	return call.Err()
}

func TestSort_MostlyEqualPaths(t *testing.T) {
	t.Parallel()
	documents := make([]document.Object, rounds.Of(t, 30_000, 300_000))
	for i := range documents {
		documents[i] = document.O("a", i%2, "b", i%3, "c", "same", "d", nil, "at", (i*7919)%len(documents))
	}
	sort, err := query.CompileSort(document.O("a", 1, "b", -1, "c", 1, "d", 1, "e", 1, "at", 1))
	require.NoError(t, err)
	require.NoError(t, sortedIn(query.NewPartialEvaluation(t.Context(), len(documents), 300_000), sort, documents))
	require.Equal(t, 2, document.Get(documents[0], "b", 0))
}

func TestSort_ChargesSizes(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 10_000)
	documents := make([]document.Object, rounds.Of(t, 2_000, 20_000))
	for i := range documents {
		documents[i] = document.O("s", text, "at", (i*7919)%len(documents))
	}
	sort, err := query.CompileSort(document.O("at", 1, "s", 1))
	require.NoError(t, err)
	call := query.NewPartialEvaluation(t.Context(), len(documents), 20_000)
	require.NoError(t, sortedIn(call, sort, documents))
	byText, err := query.CompileSort(document.O("s", 1, "at", 1))
	require.NoError(t, err)
	for range 10 { // Each of them compares all their texts, and all together read the documents once.
		call.Sort(byText, documents)
	}
	require.NoError(t, call.Err())
	for i := 0; call.Err() == nil && i < 1_000; i++ {
		call.Sort(byText, documents)
	}
	require.ErrorIs(t, call.Err(), boterr.ResourceExhausted)
}

func TestSort_ManyFieldsOfLongLists(t *testing.T) {
	t.Parallel()
	by := document.O()
	for i := range 32 {
		by = by.With(fmt.Sprint("l.k", i), 1)
	}
	sort, err := query.CompileSort(by)
	require.NoError(t, err)
	many := rounds.Of(t, 2_000, 20_000)
	documents := slices.Repeat([]document.Object{longList(many)}, 32)
	err = sortedIn(query.NewPartialEvaluation(t.Context(), many, 20_000), sort, documents)
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	byTwo, err := query.CompileSort(document.O("l.text", 1, "l.at", -1))
	require.NoError(t, err)
	require.NoError(t, sortedIn(query.NewPartialEvaluation(t.Context(), many, 20_000), byTwo, documents))
}
