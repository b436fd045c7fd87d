package memstore_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// model is a simple model of a collection: a list of documents, no two with the same _id or the same u. Each
// operation follows its definition, without optimizations.
type model struct{ documents []document.Object }

// matches returns the indexes of the matching documents, in the order of a sort.
func (m *model) matches(filter *query.Filter, sort *query.Sort) []int {
	var places []int
	for i, o := range m.documents {
		if filter.Match(o) {
			places = append(places, i)
		}
	}
	call := query.NewEvaluation(context.Background())
	slices.SortStableFunc(places, func(i, j int) int { return call.Compare(sort, m.documents[i], m.documents[j]) })
	return places
}

func (m *model) find(filter *query.Filter, options store.FindOptions) []document.Object {
	found := []document.Object{}
	for number, place := range m.matches(filter, options.Sort) {
		if int64(number) >= options.Skip && (options.Limit == 0 || int64(len(found)) < options.Limit) {
			found = append(found, m.documents[place])
		}
	}
	return found
}

func (m *model) distinct(path string, filter *query.Filter) []any {
	different := []any{}
	for _, place := range m.matches(filter, nil) {
		for _, value := range query.Values(m.documents[place], path) {
			if !slices.ContainsFunc(different, func(v any) bool { return document.Equal(v, value) }) {
				different = append(different, value)
			}
		}
	}
	return different
}

// clashes reports whether two documents have the same _id or the same u.
func clashes(documents []document.Object) bool {
	for _, field := range []string{"_id", "u"} {
		var seen []any
		for _, o := range documents {
			value, ok := o.Field(field)
			if ok && slices.ContainsFunc(seen, func(v any) bool { return document.Equal(v, value) }) {
				return true
			}
			if ok {
				seen = append(seen, value)
			}
		}
	}
	return false
}

// become replaces the model's documents, unless the new ones clash.
func (m *model) become(documents []document.Object) boterr.Code {
	if clashes(documents) {
		return boterr.AlreadyExists
	}
	m.documents = documents
	return ""
}

func (m *model) insert(documents []document.Object) boterr.Code {
	return m.become(slices.Concat(m.documents, documents))
}

func (m *model) update(
	filter *query.Filter, change query.Change, places []int,
) (modified []bool, code boterr.Code) {
	next := slices.Clone(m.documents)
	for _, place := range places {
		after, changed, err := query.NewEvaluation(context.Background()).Change(change, filter, next[place])
		if err != nil {
			return nil, boterr.CodeOf(err)
		}
		next[place] = after
		modified = append(modified, changed)
	}
	return modified, m.become(next)
}

func (m *model) upsert(filter *query.Filter, change query.Change) (document.Object, boterr.Code) {
	o, err := query.NewEvaluation(context.Background()).Insert(change, filter)
	if err != nil {
		return o, boterr.CodeOf(err)
	}
	return o, m.insert([]document.Object{o})
}

// remove deletes the documents at some indexes.
func (m *model) remove(places []int) {
	var left []document.Object
	for i, o := range m.documents {
		if !slices.Contains(places, i) {
			left = append(left, o)
		}
	}
	m.documents = left
}

// game plays random operations on a collection and its model.
type game struct {
	*rand.Rand

	t          *testing.T
	collection store.Collection
	model      model
	inserted   int
	// isFlat is true if the fields of documents are scalars. Then an index with two fields can give the order of a sort.
	isFlat bool
}

func pick[V any](g *game, choices ...V) V { return choices[g.IntN(len(choices))] }

// value draws one of a few values, so that documents are often alike.
func (g *game) value() any {
	if g.isFlat || g.IntN(2) == 0 {
		return pick[any](g, 0, 1, 1.0, 1.5, 2, "a", "b", nil, true, math.NaN(), math.Inf(1))
	}
	return pick[any](g, document.A(), document.A(1, "a"), document.A(2, document.A(1)), document.O("c", g.IntN(3)),
		document.A(document.O("c", g.IntN(3)), document.O("c", "a")), document.O("c", document.A(1, g.IntN(3))))
}

// index draws an index. If documents have arrays, only one of its fields can be an array.
func (g *game) index() store.Index {
	index := pick(g, keys("a"), keys("a.c", "k"), keys("k", "-n"), keys("-k", "b.c"), keys("-b"))
	if g.isFlat {
		index = pick(g, keys("a", "b"), keys("b", "-n"), keys("-n", "k"), keys("-a"), keys("k", "a", "n"))
	}
	index.Sparse = g.IntN(4) == 0
	return index
}

func (g *game) document() document.Object {
	g.inserted++
	o := document.O("_id", pick[any](g, g.inserted, strconv.Itoa(g.inserted), g.IntN(g.inserted)))
	for _, field := range []string{"a", "b", "n"} {
		if g.IntN(4) > 0 {
			o = o.With(field, g.value())
		}
	}
	o = o.With("k", g.IntN(3))
	if g.IntN(4) == 0 {
		o = o.With("u", g.IntN(200))
	}
	return o
}

// condition draws a condition on a field. Indexes can serve most of them.
func (g *game) condition() any {
	o, a := document.O, document.A
	order := func() string { return pick(g, "$gt", "$gte", "$lt", "$lte", "$eq") }
	pattern := o("$regex", pick(g, "^a", "^b"))
	switch g.IntN(10) {
	case 0:
		return o("$in", a(g.value(), g.value(), pick(g, g.value(), any(pattern))))
	case 1:
		return o("$elemMatch", pick(g, o(order(), g.value()), o("c", g.value()), o("$gte", 0, "$lt", 2)))
	case 2:
		return o("$ne", g.value())
	case 3:
		return pattern
	case 4, 5, 6:
		return o(order(), g.value(), order(), pick[any](g, 0, 1, "a"))
	default:
		return g.value()
	}
}

func (g *game) filter() *query.Filter {
	source := document.O()
	for range g.IntN(3) {
		source = source.With(pick(g, "a", "b", "n", "a.c", "b.c", "a.0"), g.condition())
	}
	if g.IntN(3) == 0 {
		source = source.With("k", pick[any](g, g.IntN(3), document.O("$in", document.A(0, g.IntN(3)))))
	}
	if g.IntN(6) == 0 {
		source = source.With("_id", g.IntN(g.inserted+1))
	}
	if g.IntN(6) == 0 {
		source = source.With("$or", document.A(document.O("a", g.condition()), document.O(pick(g, "a", "b"), g.condition())))
	}
	return sharedtest.FilterOf(g.t, source)
}

func (g *game) sort() *query.Sort {
	source := document.O()
	if g.IntN(3) > 0 {
		source = source.With(pick(g, "a", "b", "n", "a.c", "k"), pick(g, 1, -1))
	}
	if g.isFlat && g.IntN(2) == 0 {
		source = source.With(pick(g, "a", "b", "n", "k"), pick(g, 1, -1))
	} else if g.IntN(3) > 0 { // The second field is never an array, because a sort refuses arrays in two fields.
		source = source.With("_id", pick(g, 1, -1))
	}
	s, err := query.CompileSort(source)
	require.NoError(g.t, err)
	return s
}

func (g *game) change() query.Change {
	source := pick(g,
		document.O("$set", document.O(pick(g, "a", "b", "n"), g.value())),
		document.O("$inc", document.O(pick(g, "n", "a.c"), 1)),
		document.O("$unset", document.O(pick(g, "a", "u"), "")),
		document.O("$push", document.O("b", g.value())),
		document.O("$set", document.O("u", g.IntN(200), "k", g.IntN(3))),
		document.O("a", g.value(), "n", g.IntN(9)),
	)
	u, err := query.CompileUpdate(source)
	require.NoError(g.t, err)
	return query.Change{Update: u, OnInsert: document.O("_id", fmt.Sprint("upserted ", g.inserted))}
}

// move makes one random operation on the collection and the model, and compares the results.
func (g *game) move() {
	switch g.IntN(8) {
	case 0, 1:
		documents := make([]document.Object, g.IntN(4))
		for i := range documents {
			documents[i] = g.document()
		}
		require.Equal(g.t, g.model.insert(documents), boterr.CodeOf(g.collection.Insert(g.t.Context(), documents...)))
	case 2:
		g.update()
	case 3:
		g.findAndModify()
	case 4:
		if g.IntN(3) == 0 {
			g.remove()
		}
	default:
		g.read()
		g.read()
	}
}

func (g *game) read() {
	filter := g.filter()
	options := store.FindOptions{Sort: g.sort(), Skip: int64(max(0, g.IntN(8)-4)), Limit: int64(g.IntN(10))}
	found, err := g.collection.Find(g.t.Context(), filter, options)
	require.NoError(g.t, err)
	g.requireSame(g.model.find(filter, options), found, "%s sorted by %s", filter.Source(), options.Sort.Source())

	count, err := g.collection.Count(g.t.Context(), filter)
	require.NoError(g.t, err)
	require.Equal(g.t, int64(len(g.model.matches(filter, nil))), count)

	path := pick(g, "a", "b", "a.c", "_id")
	values, err := g.collection.Distinct(g.t.Context(), path, filter)
	require.NoError(g.t, err)
	require.Equal(g.t, document.A(g.model.distinct(path, filter)...).String(), document.A(values...).String())
}

func (g *game) update() {
	filter, change := g.filter(), g.change()
	options := store.UpdateOptions{Multi: g.IntN(2) == 0 && !change.Update.IsReplacement(), Upsert: g.IntN(4) == 0}
	if !options.Multi {
		options.Sort = g.sort()
	}
	places := g.model.matches(filter, options.Sort)
	if !options.Multi {
		places = places[:min(1, len(places))]
	}
	result, err := g.collection.Update(g.t.Context(), filter, change, options)
	modified, code := g.model.update(filter, change, places)
	if len(places) == 0 && options.Upsert {
		_, code = g.model.upsert(filter, change)
	}
	require.Equal(g.t, code, boterr.CodeOf(err), "%s where %s: %v", change.Update.Source(), filter.Source(), err)
	if code == "" {
		require.Equal(g.t, int64(len(places)), result.Matched)
		changed := len(modified) - len(slices.DeleteFunc(modified, func(m bool) bool { return m }))
		require.Equal(g.t, int64(changed), result.Modified)
	}
}

func (g *game) findAndModify() {
	filter, change := g.filter(), g.change()
	options := store.FindAndModifyOptions{Sort: g.sort(), Upsert: g.IntN(4) == 0, New: g.IntN(2) == 0}
	places := g.model.matches(filter, options.Sort)
	result, err := g.collection.FindAndModify(g.t.Context(), filter, change, options)
	var before, after document.Object
	var code boterr.Code
	switch {
	case len(places) > 0:
		before = g.model.documents[places[0]]
		_, code = g.model.update(filter, change, places[:1])
		after = g.model.documents[places[0]]
	case options.Upsert:
		after, code = g.model.upsert(filter, change)
	}
	require.Equal(g.t, code, boterr.CodeOf(err), "%s where %s: %v", change.Update.Source(), filter.Source(), err)
	expected := before
	if options.New {
		expected = after
	}
	if code == "" {
		require.Equal(g.t, expected.String(), result.Document.String())
	}
}

func (g *game) remove() {
	filter, multi := g.filter(), g.IntN(8) == 0
	places := g.model.matches(filter, nil)
	if !multi {
		places = places[:min(1, len(places))]
	}
	removed, err := g.collection.Delete(g.t.Context(), filter, store.DeleteOptions{Multi: multi})
	require.NoError(g.t, err)
	require.Equal(g.t, int64(len(places)), removed)
	g.model.remove(places)
}

func (g *game) requireSame(expected, actual []document.Object, doing ...any) {
	g.t.Helper()
	require.Equal(g.t, texts(expected), texts(actual), doing...)
}

func texts(documents []document.Object) []string {
	all := make([]string, 0, len(documents))
	for _, o := range documents {
		all = append(all, o.String())
	}
	return all
}

func TestStore_AgreesWithModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds.Of(t, 6, 120)) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			g := &game{
				Rand: rand.New(rand.NewPCG(seed, 1)), t: t, collection: memstore.New().Collection("c"), inserted: 1, isFlat: seed%2 == 0,
			}
			unique := store.Index{Keys: ascending("u"), Unique: true, Sparse: true}
			require.NoError(t, g.collection.EnsureIndex(t.Context(), unique))
			for i := range 400 {
				if i%50 == 25 {
					if err := g.collection.EnsureIndex(t.Context(), g.index()); err != nil {
						require.ErrorIs(t, err, boterr.FailedPrecondition, "the index exists with other options")
					}
				}
				g.move()
				all := find(t, g.collection, nil, store.FindOptions{})
				g.requireSame(g.model.documents, all)
			}
		})
	}
}
