package query_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/rounds"
)

func nulls(n int) document.Array { return document.A(make([]any, n)...) }

// overNulls returns an expression that evaluates in for each of n nulls.
func overNulls(n int, in any) document.Object {
	return document.O("$map", document.O("input", document.O("$range", document.A(0, n)), "in", in))
}

// hostileFilters returns filters that would take long, or much memory, on large documents.
func hostileFilters() map[string]document.Object {
	many := func(n int, condition document.Object) []any {
		clauses := make([]any, n)
		for i := range clauses {
			clauses[i] = condition
		}
		return clauses
	}
	loop := overNulls(1_000_000, document.O("$anyElementTrue", "$l"))
	return map[string]document.Object{
		"the greatest of many nulls, many times": document.O("$expr", document.O("$let", document.O(
			"vars", document.O("x", "$l"),
			"in", overNulls(400_000, document.O("$maxN", document.O("n", 1, "input", "$$x")))))),
		"the field of many nulls, many times":   document.O("$expr", overNulls(10_000, "$l.x")),
		"the truth of many nulls, many times":   document.O("$expr", loop),
		"the maximum of many nulls, many times": document.O("$expr", overNulls(10_000, document.O("$max", "$l"))),
		"long texts compared many times":        document.O("$expr", overNulls(100_000, document.O("$eq", document.A("$s", "$t")))),
		"many expressions": document.O("$and", document.A(many(600,
			document.O("$expr", document.O("$gte", document.A(document.O("$size", overNulls(100_000, 1)), 0))))...)),
		"many conditions on a long array": document.O("$nor", document.A(many(3_000, document.O("l", document.O("$gt", 1)))...)),
		"many conditions on an element": document.O("o", document.O("$elemMatch", document.O("$nor",
			document.A(append(many(1_000, document.O("a", document.O("$gt", 1))), document.O("a", 1))...)))),
		"conversions that fail": document.O("$expr", overNulls(200_000, document.O("$convert",
			document.O("input", "$s", "to", "int", "onError", 0)))),
		"objects": document.O("$expr", overNulls(1_000_000, document.O("a", 1))),
		"sets":    document.O("$expr", overNulls(100, document.O("$setUnion", document.A("$l", document.A(1))))),
	}
}

// parts is the number of equal parts of largeDocuments and of the budget.
const parts = 32

// partOf returns the number of parts that a test uses: one, or all in a thorough run.
func partOf(t *testing.T) int {
	t.Helper()
	return rounds.Of(t, 1, parts)
}

// largeDocuments returns documents with long arrays and texts, of about 20 MB if part equals parts, else
// proportionally less.
func largeDocuments(part int) []document.Object {
	long := strings.Repeat("x", part<<15)
	items := make([]any, part*625)
	for i := range items {
		items[i] = document.O("a", 1)
	}
	objects := document.A(items...)
	var documents []document.Object
	for i := range 8 {
		documents = append(documents, document.O(
			"_id", i, "l", nulls(part*6_250), "s", long, "t", strings.Clone(long),
			"o", objects))
	}
	return documents
}

func TestFilter_IsBounded(t *testing.T) {
	t.Parallel()
	part := partOf(t)
	documents := largeDocuments(part)
	for name, source := range hostileFilters() {
		filter, err := query.CompileFilter(source)
		if err == nil {
			call := query.NewPartialEvaluation(t.Context(), part, parts)
			for _, o := range documents {
				if _, err = call.Check(filter, o); err != nil {
					break
				}
			}
		}
		requireTooMuch(t, err, name)
	}
}

// requireTooMuch requires the error of a call, or of an expression on one document, that does too much.
func requireTooMuch(t *testing.T, err error, name string) {
	t.Helper()
	require.Error(t, err, name)
	require.Contains(t, []boterr.Code{boterr.ResourceExhausted, boterr.InvalidArgument}, boterr.CodeOf(err), name)
	require.Contains(t, err.Error(), "does too much", name)
	require.Less(t, len(err.Error()), 1_000, name)
}

func TestChange_IsBounded(t *testing.T) {
	t.Parallel()
	part := partOf(t)
	documents := largeDocuments(part)
	paths := document.O()
	var arrayFilters []document.Object
	for i := range 100 {
		name := "f" + strings.Repeat("a", i)
		paths = paths.With("l.$["+name+"].x"+name, "")
		arrayFilters = append(arrayFilters, document.O(name, document.O("$gt", 5)))
	}
	update := query.Must(query.CompileUpdate(document.O("$unset", paths), arrayFilters...))
	call := query.NewPartialEvaluation(t.Context(), part, parts)
	var err error
	for range 20 { // The budget grows as if there were 20 times as many documents.
		for _, o := range documents {
			if _, _, err = call.Change(query.Change{Update: update}, nil, o); err != nil {
				break
			}
		}
	}
	requireTooMuch(t, err, "many array filters")
}

// A call may not keep much more than the documents that it looks at, however small they are.
func TestEvaluation_ResultsAreBounded(t *testing.T) {
	t.Parallel()
	change := func(pairs ...any) func(*query.Evaluation) error {
		update, o := query.MustUpdate(pairs...), document.O("_id", 1, "l", document.A())
		return func(call *query.Evaluation) error {
			call.Visit(o)
			_, _, err := call.Change(query.Change{Update: update}, nil, o)
			return err
		}
	}
	project := func(shown document.Object) func(*query.Evaluation) error {
		projection, o := query.Must(query.CompileProjection(document.O("x", shown))), document.O("_id", 1)
		return func(call *query.Evaluation) error {
			call.Visit(o)
			return failure(call.Project(projection, nil, o))
		}
	}
	many := append(make([]any, 9_999), strings.Repeat("x", 20_000))
	near := query.Must(query.CompileGeoNear(document.O("near", document.A(0, 0), "key", "at", "distanceField", "found.distance")))
	part := partOf(t)
	for name, do := range map[string]func(*query.Evaluation) error{
		"an index far behind the end":    change("$set", document.O("l.1499999", 1)),
		"a long text":                    change("$set", document.O("l", strings.Repeat("x", 60_000))),
		"many elements":                  change("$push", document.O("l", document.O("$each", document.A(many...)))),
		"a long array for each document": project(document.O("$range", document.A(0, 100_000))),
		"a long text for each document": project(document.O("$reduce", document.O(
			"input", document.O("$range", document.A(0, 16)), "initialValue", "xxxxxxxxxxxxxxxx",
			"in", document.O("$concat", document.A("$$value", "$$value"))))),
		"the distance of each document": func(call *query.Evaluation) error {
			_, _, err := call.Measure(near, document.O("at", document.A(1, 1)))
			return err
		},
	} {
		call := query.NewPartialEvaluation(t.Context(), part, parts)
		var err error
		for made := 0; err == nil && made < 10_000_000; made++ {
			err = do(call)
		}
		require.ErrorIs(t, err, boterr.ResourceExhausted, name)
	}
}

func TestProjection_ManySlices(t *testing.T) {
	t.Parallel()
	const many = 4_000
	slices, wide := document.NewBuilder(many), document.NewBuilder(many)
	for i := range many {
		name := fmt.Sprint("f", i)
		slices.Set("x."+name, document.O("$slice", 1))
		wide.Set(name, document.A(1, 2))
	}
	projection := query.Must(query.CompileProjection(slices.Object()))
	for name, inner := range map[string]any{
		"of a wide object": wide.Object(), "in a long array": repeated(many, document.O("f1", 1)),
	} {
		call := query.NewPartialEvaluation(t.Context(), 1, parts)
		requireTooMuch(t, failure(call.Project(projection, nil, document.O("x", inner))), name)
	}
}

func TestSort_IsBounded(t *testing.T) {
	t.Parallel()
	part := partOf(t)
	documents := largeDocuments(part)
	sort := query.Must(query.CompileSort(document.O("l", 1)))
	call := query.NewPartialEvaluation(t.Context(), part, parts)
	for range 1_000 {
		call.Compare(sort, documents[0], documents[1])
	}
	require.ErrorIs(t, call.Err(), boterr.ResourceExhausted)
	require.Zero(t, call.Compare(sort, documents[0], document.O()), "nothing is compared any more")
}

func TestSort_ChargesKeysThatDecide(t *testing.T) {
	t.Parallel()
	keys := document.O()
	for i := range 32 {
		keys = keys.With(fmt.Sprint("k", i), 1)
	}
	sort := query.Must(query.CompileSort(keys))
	lesser, greater := document.O("k0", 1), document.O("k0", 2)
	call := query.NewEvaluation(t.Context())
	for range 20_000 {
		call.Visit(lesser)
		for range 20 {
			call.Compare(sort, lesser, greater)
		}
	}
	require.NoError(t, call.Err())
}

func TestEvaluation_UsualCallsPass(t *testing.T) {
	t.Parallel()
	o := document.O("_id", "0123456789abcdef", "name", "Ada", "age", 36, "tags", document.A("a", "b"),
		"address", document.O("city", "London"))
	filter, err := query.CompileFilter(document.O(
		"age", document.O("$gt", 18, "$lt", 99), "tags", document.O("$in", document.A("b", "c")),
		"address.city", document.O("$regex", "^Lon"), "$expr", document.O("$gt", document.A("$age", 3))))
	require.NoError(t, err)
	update := query.Must(query.CompileUpdate(document.O("$set", document.O("seen", true), "$inc", document.O("age", 1))))
	projection := query.Must(query.CompileProjection(document.O("name", 1, "older", document.O("$add", document.A("$age", 1)))))
	sort := query.Must(query.CompileSort(document.O("age", -1, "name", 1)))

	many := rounds.Of(t, 2_000, 100_000)
	call := query.NewPartialEvaluation(t.Context(), many, 100_000)
	for range many {
		matched, err := call.Check(filter, o)
		require.NoError(t, err)
		require.True(t, matched)
		for range 18 { // Sorting that many documents takes about 18 comparisons for each.
			call.Compare(sort, o, o)
		}
		_, _, err = call.Change(query.Change{Update: update}, filter, o)
		require.NoError(t, err)
		require.NoError(t, failure(call.Project(projection, filter, o)))
	}
	require.NoError(t, call.Err())
}

func TestEvaluation_UsualPatternPasses(t *testing.T) {
	t.Parallel()
	many := rounds.Of(t, 10_000, 1_000_000)
	o := document.O("_id", 1, "s", "text 1")
	for _, pattern := range []string{"^te", "ext", "(a?)(a?)b", `\d+$`, "T.*1"} {
		filter, err := query.CompileFilter(document.O("s", document.O("$regex", pattern, "$options", "i")))
		require.NoError(t, err)
		call := query.NewPartialEvaluation(t.Context(), many, 1_000_000)
		for range many {
			if _, err = call.Check(filter, o); err != nil {
				break
			}
		}
		require.NoError(t, err, pattern)
	}
}

func TestEvaluation_ManyPatterns(t *testing.T) {
	t.Parallel()
	patterns := make([]any, 500)
	for i := range patterns {
		patterns[i] = document.O("s", document.O("$regex", strings.Repeat("(a?)", i%20)+"b"))
	}
	filter, err := query.CompileFilter(document.O("$or", document.A(patterns...)))
	require.NoError(t, err)
	o := document.O("_id", 1, "s", "text 1")
	many := rounds.Of(t, 100, 5_000)
	call := query.NewPartialEvaluation(t.Context(), many, 5_000)
	for i := 0; err == nil && i < many; i++ {
		_, err = call.Check(filter, o)
	}
	require.ErrorIs(t, err, boterr.ResourceExhausted)
}

func TestEvaluation_ManySmallChanges(t *testing.T) {
	t.Parallel()
	many := rounds.Of(t, 5_000, 500_000)
	fields := document.O()
	for i := range 10 {
		fields = fields.With(fmt.Sprint("field", i), i)
	}
	for name, source := range map[string]document.Object{
		"ten fields": document.O("$set", fields),
		"a text":     document.O("$set", document.O("text", strings.Repeat("y", 100))),
		"an object":  document.O("$set", document.O("address", document.O("street", "Street 1", "city", "London"))),
		"an element": document.O("$push", document.O("tags", "new")),
	} {
		update, err := query.CompileUpdate(source)
		require.NoError(t, err)
		call := query.NewPartialEvaluation(t.Context(), many, 500_000)
		o := document.O("_id", 1)
		for i := 0; err == nil && i < many; i++ {
			call.Visit(o)
			_, _, err = call.Change(query.Change{Update: update}, nil, o)
		}
		require.NoError(t, err, name)
	}
}

func TestChange_ChargesManyParts(t *testing.T) {
	t.Parallel()
	items := make([]any, rounds.Of(t, 2_000, 100_000))
	fields := document.NewBuilder(len(items))
	for i := range items {
		items[i] = document.O("a", 1)
		fields.Set(fmt.Sprint("f", i), int64(i))
	}
	for path, o := range map[string]document.Object{
		"o.$[].a": document.O("o", document.A(items...)),
		"f1":      fields.Object(),
		"o.f1":    document.O("o", fields.Object()),
	} {
		update := query.MustUpdate("$set", document.O(path, 2))
		call := query.NewPartialEvaluation(t.Context(), len(items), 100_000)
		var err error
		for i := 0; err == nil && i < 200; i++ {
			_, _, err = call.Change(query.Change{Update: update}, nil, o)
		}
		require.ErrorIs(t, err, boterr.ResourceExhausted, path)
	}
}

// endsLater is a context that ends after a number of checks.
type endsLater struct {
	context.Context

	left int
}

func (c *endsLater) Err() error {
	c.left--
	if c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestEvaluation_Resume(t *testing.T) {
	t.Parallel()
	o := document.O("n", 1)
	filter, err := query.CompileFilter(document.O("$expr", document.O("$size", overNulls(100_000, 1))))
	require.NoError(t, err)
	const all = 8
	call := query.NewPartialEvaluation(t.Context(), rounds.Of(t, 1, all), all)
	attempts := 0
	for ; err == nil && attempts < 1_000; attempts++ {
		call.Resume(&endsLater{Context: t.Context(), left: 5})
		_, err = call.Check(filter, o)
		if !errors.Is(err, boterr.Canceled) {
			break // The budget ends here or in the next check.
		}
		call.Resume(t.Context())
		_, err = call.Check(filter, o)
	}
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	require.Greater(t, attempts, 2, "a canceled attempt leaves its unused budget")
	call.Resume(t.Context())
	require.ErrorIs(t, failure(call.Check(filter, o)), boterr.ResourceExhausted)
}

func TestEvaluation_ContextEnds(t *testing.T) {
	t.Parallel()
	o := largeDocuments(partOf(t))[0]
	loop := overNulls(100_000, 1)
	filter := query.Must(query.CompileFilter(document.O("$expr", loop)))
	update := query.Must(query.CompileUpdate(document.O("$push", document.O("l", document.O("$each", document.A(), "$sort", -1)))))
	projection := query.Must(query.CompileProjection(document.O("x", loop)))
	for name, run := range map[string]func(*query.Evaluation) error{
		"filter": func(call *query.Evaluation) error { return failure(call.Check(filter, o)) },
		"change": func(call *query.Evaluation) error {
			_, _, err := call.Change(query.Change{Update: update}, nil, o)
			return err
		},
		"projection": func(call *query.Evaluation) error { return failure(call.Project(projection, nil, o)) },
	} {
		err := run(query.NewEvaluation(&endsLater{Context: t.Context(), left: 5}))
		require.ErrorIs(t, err, boterr.Canceled, name)
	}
}

// longList returns a document with a list of count objects of about 90 bytes.
func longList(count int) document.Object {
	items := make([]any, count)
	for i := range items {
		items[i] = document.O("at", (i*7919)%count, "text", fmt.Sprintf("entry %d of a list that is rather long", i))
	}
	return document.O("_id", 1, "l", document.A(items...))
}

// sortsOfLists returns functions that sort the list of a document, by an update and by an expression.
func sortsOfLists(
	t *testing.T, by document.Object,
) map[string]func(*query.Evaluation, document.Object) (document.Object, error) {
	t.Helper()
	push := query.Must(query.CompileUpdate(document.O("$push", document.O("l", document.O("$each", document.A(), "$sort", by)))))
	shown := query.Must(query.CompileProjection(document.O("l", document.O("$sortArray", document.O("input", "$l", "sortBy", by)))))
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
	many := rounds.Of(t, 5_000, 150_000)
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
	many := rounds.Of(t, 5_000, 150_000)
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

func sortedIn(call *query.Evaluation, sort *query.Sort, documents []document.Object) error {
	for _, o := range documents {
		call.Visit(o)
	}
	call.Sort(sort, documents)
	return call.Err()
}

func TestSort_MostlyEqualPaths(t *testing.T) {
	t.Parallel()
	documents := make([]document.Object, rounds.Of(t, 6_000, 300_000))
	for i := range documents {
		documents[i] = document.O("a", i%2, "b", i%3, "c", "same", "d", nil, "at", (i*7919)%len(documents))
	}
	sort := query.Must(query.CompileSort(document.O("a", 1, "b", -1, "c", 1, "d", 1, "e", 1, "at", 1)))
	require.NoError(t, sortedIn(query.NewPartialEvaluation(t.Context(), len(documents), 300_000), sort, documents))
	require.Equal(t, 2, document.Get(documents[0], "b", 0))
}

func TestSort_ChargesSizes(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 10_000)
	documents := make([]document.Object, rounds.Of(t, 500, 20_000))
	for i := range documents {
		documents[i] = document.O("s", text, "at", (i*7919)%len(documents))
	}
	sort := query.Must(query.CompileSort(document.O("at", 1, "s", 1)))
	call := query.NewPartialEvaluation(t.Context(), len(documents), 20_000)
	require.NoError(t, sortedIn(call, sort, documents))
	byText := query.Must(query.CompileSort(document.O("s", 1, "at", 1)))
	for range 10 { // Each sort compares all texts. All ten together cost about as much as reading the documents once.
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
	sort := query.Must(query.CompileSort(by))
	many := rounds.Of(t, 500, 20_000)
	documents := slices.Repeat([]document.Object{longList(many)}, 32)
	err := sortedIn(query.NewPartialEvaluation(t.Context(), many, 20_000), sort, documents)
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	byTwo := query.Must(query.CompileSort(document.O("l.text", 1, "l.at", -1)))
	require.NoError(t, sortedIn(query.NewPartialEvaluation(t.Context(), many, 20_000), byTwo, documents))
}

func holds(ranges []query.KeyRange, o document.Object, path string) bool {
	values := query.Values(o, path)
	if len(values) == 0 {
		values = []any{nil}
	}
	return slices.ContainsFunc(values, func(value any) bool {
		key := document.AppendKey(nil, value)
		return slices.ContainsFunc(ranges, func(r query.KeyRange) bool {
			return bytes.Compare(r.From, key) <= 0 && bytes.Compare(key, r.To) < 0
		})
	})
}

// operands are values of all types in ascending order.
var operands = []any{
	nil, math.NaN(), math.Inf(-1), -1, 0, 0.5, 1, int64(1) << 53, int64(1)<<53 + 1, math.Inf(1),
	"", "a", "ab", "b", "b\x00c", document.O(), document.O("a", 1), document.O("b", 1), false, true,
}

// conditions returns one condition of each kind that has bounds, with the operands a and b.
func conditions(a, b any) []any {
	o, list := document.O, document.A
	return []any{
		a, o("$eq", a), o("$gt", a), o("$gte", a), o("$lt", a), o("$lte", a),
		o("$in", list(a, b)), o("$elemMatch", o("$gte", a, "$lt", b)), o("$all", list(a)), o("$all", list(a, b)),
		o("$exists", false), o("$in", list(a, o("$regex", "^a"), o("$regex", "^b"))), o("$all", list(o("$regex", "^a"), b)),
	}
}

func TestBounds_HoldWhatMatches(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	pick := func() any { return operands[random.IntN(len(operands))] }
	checked, exact := 0, 0
	tries := rounds.Of(t, 40, 400)
	for range tries {
		for _, condition := range conditions(pick(), pick()) {
			f := query.Must(query.CompileFilter(document.O("x.y", condition)))
			for c := range f.Conditions() {
				bounds, ok := c.Bounds("x.y")
				require.True(t, ok, "%v", condition)
				for range 20 {
					doc := document.O("x", document.O("y", []any{pick(), document.A(pick(), pick()), document.A()}[random.IntN(3)]))
					if without := []any{document.O(), document.A(document.O()), nil, 7}; random.IntN(4) == 0 {
						doc = document.O("x", without[random.IntN(len(without))])
					}
					held := holds(bounds.Ranges, doc, "x.y")
					alone := len(slices.Collect(f.Conditions())) == 1
					switch {
					case alone && bounds.Exact:
						exact++
						require.Equal(t, f.Match(doc), held, "%v in %v", condition, doc)
					case f.Match(doc):
						checked++
						require.True(t, held, "%v in %v", condition, doc)
					}
				}
			}
		}
	}
	require.Greater(t, checked, tries/4)
	require.Greater(t, exact, 25*tries)
}

func TestBounds_NoneWithoutUse(t *testing.T) {
	t.Parallel()
	o, a := document.O, document.A
	for name, filter := range map[string]document.Object{
		"another path":             o("b", 1),
		"not equal":                o("a", o("$ne", 1)),
		"not in":                   o("a", o("$nin", a(1))),
		"nor":                      o("$nor", a(o("a", 1))),
		"exists":                   o("a", o("$exists", true)),
		"a whole array":            o("a", a(1)),
		"an array in a list":       o("a", o("$in", a(1, a(1)))),
		"a pattern in a list":      o("a", o("$in", a("x", o("$regex", "x")))),
		"a pattern in no list":     o("a", o("$nin", a(o("$regex", "^x")))),
		"a pattern in a long list": o("a", o("$in", numbers(0, 20).Append(o("$regex", "^x", "$options", "i")))),
		"an or of two paths":       o("$or", a(o("a", 1), o("b", 1))),
		"a pattern in the middle":  o("a", o("$regex", "x")),
		"a pattern without case":   o("a", o("$regex", "^x", "$options", "i")),
		"a pattern for every line": o("a", o("$regex", "^x", "$options", "m")),
		"a pattern with a choice":  o("a", o("$regex", "^x|y")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := query.Must(query.CompileFilter(filter))
			for condition := range f.Conditions() {
				_, ok := condition.Bounds("a")
				require.False(t, ok)
			}
		})
	}
}

//nolint:paralleltest // The allocations of other tests would be counted.
func TestAllocations_OfCompilingAndChanging(t *testing.T) {
	const runs = 100
	patch, known := document.O("$set", document.O("meta.seats", 7)), document.O("$inc", document.O("seats", 1))
	update := query.Must(query.CompileUpdate(known))
	scope := query.FieldValue{Name: "app", Value: "a1"}
	age, area := compiled(t, document.O("age", document.O("$gt", 7))), compiled(t, document.O("area", "north"))
	record := document.O("_id", "m1", "app", "a1", "seats", 2)
	evaluation := query.NewEvaluation(t.Context())
	change := query.Change{Update: update, Fixed: []string{"app"}}
	byID := document.O("_id", "m1")
	list := document.O("_id", "m1", "l", document.A(1, 2, 3), "n", 5)
	element := compiled(t, document.O("l", document.O("$gt", 1), "n", document.O("$lt", 7), "_id", document.O("$ne", 1)))
	atElement := query.Change{Update: query.Must(query.CompileUpdate(document.Set("l.$", 7)))}
	numbered := document.O("_id", "m1", "l", numbers(0, 1_000))
	atNone := query.Change{Update: query.Must(query.CompileUpdate(document.Set("l.$[none]", 7), document.O("none", -1)))}
	filter := query.FieldsEqual(query.FieldValue{Name: "_id", Value: "m1"}, scope)
	for name, c := range map[string]struct {
		call func() error
		most float64
	}{
		"an update of a path":      {func() error { _, err := query.CompileUpdate(patch); return err }, 2},
		"a filter by id, narrowed": {func() error { _, err := query.CompileFilterWhere(byID, scope); return err }, 1},
		"two filters":              {func() error { query.And(age, area); return nil }, 2},
		"a change of a field":      {func() error { _, _, err := evaluation.Change(change, filter, record); return err }, 2},
		"a change of an element":   {func() error { _, _, err := evaluation.Change(atElement, element, list); return err }, 4},
		"a look at 1,000 elements": {func() error { _, _, err := evaluation.Change(atNone, nil, numbered); return err }, 1_020},
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

func TestCountWork(t *testing.T) {
	t.Parallel()
	documents := slices.Repeat([]document.Object{document.O("n", 1)}, 10_000)
	filter := query.Must(query.CompileFilter(document.O("n", document.O("$gt", 0))))
	var total atomic.Int64
	ctx := query.CountWork(t.Context(), &total)
	for range 2 {
		call := query.NewEvaluation(ctx)
		for _, o := range documents {
			require.NoError(t, failure(call.Check(filter, o)))
		}
	}
	const perDocument, left = 16 + 32, 3 << 14
	require.InDelta(t, 2*perDocument*len(documents), total.Load(), 2*left)
	require.NoError(t, failure(query.NewEvaluation(ctx).Select(nil, documents[:3], 0b101)))
	require.InDelta(t, 2*perDocument*len(documents)+2*16, total.Load(), 2*left)
	before := total.Load()
	reading := query.NewEvaluation(ctx)
	for _, o := range documents {
		reading.Visit(o) // It tests nothing.
	}
	require.InDelta(t, 16*len(documents), total.Load()-before, 2*left)
	total.Store(before)
	query.AddWork(ctx, 1<<20)
	query.AddWork(t.Context(), 1<<20)
	require.InDelta(t, 2*perDocument*len(documents)+1<<20, total.Load(), 2*left)
}
