package query_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/arbitrary"
	"github.com/botctx/go-sdk/internal/query"
)

// now is the time of changes in these tests.
var now = time.UnixMilli(1_700_000_000_000).UTC()

// apply applies an update in JSON to a document in JSON.
func apply(t *testing.T, doc, filter, update string, arrayFilters ...document.Object) (string, bool, error) {
	t.Helper()
	compiled, err := query.CompileUpdate(parse(t, update), arrayFilters...)
	if err != nil {
		return "", false, err
	}
	matching := query.Must(query.CompileFilter(parse(t, filter)))
	after, modified, err := newCall(t).Change(query.Change{Update: compiled, Now: now}, matching, parse(t, doc))
	return after.String(), modified, err
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"n":5,"s":"x","o":{"a":1},"list":[1,2,3],"items":[{"q":1},{"q":5}]}`
	for _, c := range []struct{ update, want string }{
		{`{"$set":{"n":6,"new.deep":true}}`, `{"_id":1,"n":6,"s":"x","o":{"a":1},"list":[1,2,3],"items":[{"q":1},{"q":5}],"new":{"deep":true}}`},
		{`{"$set":{"b":1,"a":2}}`, `{"_id":1,"n":5,"s":"x","o":{"a":1},"list":[1,2,3],"items":[{"q":1},{"q":5}],"a":2,"b":1}`},
		{`{"$unset":{"s":"","o.a":"","list.1":"","none.at.all":""}}`, `{"_id":1,"n":5,"o":{},"list":[1,null,3],"items":[{"q":1},{"q":5}]}`},
		{`{"$inc":{"n":2,"fresh":1}}`, `{"_id":1,"n":7,"s":"x","o":{"a":1},"list":[1,2,3],"items":[{"q":1},{"q":5}],"fresh":1}`},
		{`{"$inc":{"n":0.5}}`, `{"_id":1,"n":5.5,"s":"x","o":{"a":1},"list":[1,2,3],"items":[{"q":1},{"q":5}]}`},
		{`{"$mul":{"n":3,"fresh":2}}`, `{"_id":1,"n":15,"s":"x","o":{"a":1},"list":[1,2,3],"items":[{"q":1},{"q":5}],"fresh":0}`},
		{`{"$min":{"n":3},"$max":{"o.a":4}}`, `{"_id":1,"n":3,"s":"x","o":{"a":4},"list":[1,2,3],"items":[{"q":1},{"q":5}]}`},
		{`{"$rename":{"s":"o.s"}}`, `{"_id":1,"n":5,"o":{"a":1,"s":"x"},"list":[1,2,3],"items":[{"q":1},{"q":5}]}`},
		{`{"$bit":{"n":{"or":2}}}`, `{"_id":1,"n":7,"s":"x","o":{"a":1},"list":[1,2,3],"items":[{"q":1},{"q":5}]}`},
		{`{"$push":{"list":4}}`, `{"_id":1,"n":5,"s":"x","o":{"a":1},"list":[1,2,3,4],"items":[{"q":1},{"q":5}]}`},
		{
			`{"$push":{"list":{"$each":[9,0],"$position":1,"$sort":-1,"$slice":3}}}`,
			`{"_id":1,"n":5,"s":"x","o":{"a":1},"list":[9,3,2],"items":[{"q":1},{"q":5}]}`,
		},
		{`{"$addToSet":{"list":{"$each":[2.0,7,7]}}}`, `{"_id":1,"n":5,"s":"x","o":{"a":1},"list":[1,2,3,7],"items":[{"q":1},{"q":5}]}`},
		{
			`{"$addToSet":{"list":{"x":1,"$each":[7]}}}`,
			`{"_id":1,"n":5,"s":"x","o":{"a":1},"list":[1,2,3,{"x":1,"$each":[7]}],"items":[{"q":1},{"q":5}]}`,
		},
		{`{"$pull":{"list":{"$gte":2},"items":{"q":5}}}`, `{"_id":1,"n":5,"s":"x","o":{"a":1},"list":[1],"items":[{"q":1}]}`},
		{`{"$pullAll":{"list":[1,3]}}`, `{"_id":1,"n":5,"s":"x","o":{"a":1},"list":[2],"items":[{"q":1},{"q":5}]}`},
		{`{"$pop":{"list":-1}}`, `{"_id":1,"n":5,"s":"x","o":{"a":1},"list":[2,3],"items":[{"q":1},{"q":5}]}`},
		{`{"$set":{"items.$[].q":0}}`, `{"_id":1,"n":5,"s":"x","o":{"a":1},"list":[1,2,3],"items":[{"q":0},{"q":0}]}`},
		{`{"$inc":{"items.$.q":10}}`, `{"_id":1,"n":5,"s":"x","o":{"a":1},"list":[1,2,3],"items":[{"q":1},{"q":15}]}`},
		{
			`{"$currentDate":{"at":true}}`,
			`{"_id":1,"n":5,"s":"x","o":{"a":1},"list":[1,2,3],"items":[{"q":1},{"q":5}],"at":"2023-11-14T22:13:20.000Z"}`,
		},
		{`{"z":1,"_id":1}`, `{"_id":1,"z":1}`},
		{`{}`, `{"_id":1}`},
	} {
		after, modified, err := apply(t, doc, `{"items.q":5}`, c.update)
		require.NoError(t, err, c.update)
		require.Equal(t, c.want, after, c.update)
		require.True(t, modified)
	}
}

func TestArrayFilter_SelectsElements(t *testing.T) {
	t.Parallel()
	after, _, err := apply(t, `{"_id":1,"g":[{"n":1},{"n":8}],"v":[1,9]}`, `{}`,
		`{"$set":{"g.$[high].n":0,"v.$[e]":5}}`, document.O("high.n", document.O("$gt", 5)), document.O("e", 9))
	require.NoError(t, err)
	require.JSONEq(t, `{"_id":1,"g":[{"n":1},{"n":0}],"v":[1,5]}`, after)
}

func TestUpdate_NothingModified(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"n":5,"list":[1],"o":{"a":1}}`
	for _, update := range []string{
		`{"$set":{"n":5}}`, `{"$set":{"o":{"a":1}}}`, `{"$unset":{"x":""}}`, `{"$inc":{"n":0}}`, `{"$min":{"n":9}}`,
		`{"$addToSet":{"list":1}}`, `{"$pull":{"list":7}}`, `{"$pop":{"x":1}}`, `{"$setOnInsert":{"n":9}}`, `{"$rename":{"x":"y"}}`,
		`{"$push":{"list":{"$each":[]}}}`, `{"_id":1,"n":5,"list":[1],"o":{"a":1}}`, `{"_id":1.0,"n":5,"list":[1],"o":{"a":1}}`,
		`{"$pull":{"n.a":1}}`, `{"$pull":{"list.a":1}}`, `{"$pullAll":{"n.a":[1]}}`, `{"$unset":{"n.a":""}}`, `{"$unset":{"list.a":""}}`,
		`{"$pop":{"list.7.a":1}}`, `{"$pop":{"x.y.z":1}}`, `{"$setOnInsert":{"n.a":1,"$x":1}}`, `{"$unset":{"$x":""}}`,
		`{"$rename":{"$x":"y"}}`, `{"$rename":{"x":"$y"}}`, `{"$rename":{"list.7":"y"}}`,
		`{"$rename":{"x":"n.y"}}`, `{"$rename":{"x":"list.y"}}`, `{"$set":{"_id":1.0}}`,
	} {
		after, modified, err := apply(t, doc, `{}`, update)
		require.NoError(t, err, update)
		require.False(t, modified, update)
		require.JSONEq(t, doc, after, update)
	}
	_, modified, err := apply(t, doc, `{}`, `{"$set":{"n":5.0}}`)
	require.NoError(t, err)
	require.True(t, modified, "a different type of number is a different value")
}

func TestCompileUpdate_RefusesWithPath(t *testing.T) {
	t.Parallel()
	for update, field := range map[string]string{
		`{"$foo":{"a":1}}`:                             "$foo",
		`{"$set":1}`:                                   "$set",
		`{"$set":{"a":1},"b":2}`:                       "b",
		`{"b":2,"$set":{"a":1}}`:                       "$set",
		`{"$set":{"a":1,"a.b":2}}`:                     "$set.a.b",
		`{"$set":{"a.b":1},"$inc":{"a":2}}`:            "$inc.a",
		`{"$set":{"a":1},"$unset":{"a":1}}`:            "$unset.a",
		`{"$set":{"":1}}`:                              "$set",
		`{"$set":{"a..b":1}}`:                          "$set.a..b",
		`{"$set":{"$":1}}`:                             "$set.$",
		`{"$set":{"$[].a":1}}`:                         "$set.$[].a",
		`{"$rename":{"a":"b.$"}}`:                      "$rename.a",
		`{"$rename":{"a.$[].b":"c"}}`:                  "$rename.a.$[].b",
		`{"$inc":{"a":"1"}}`:                           "$inc.a",
		`{"$inc":{"a":null}}`:                          "$inc.a",
		`{"$mul":{"a":true}}`:                          "$mul.a",
		`{"$rename":{"a":1}}`:                          "$rename.a",
		`{"$rename":{"a":"a"}}`:                        "$rename.a",
		`{"$rename":{"a":"_id"}}`:                      "$rename.a",
		`{"$pop":{"a":2}}`:                             "$pop.a",
		`{"$pullAll":{"a":1}}`:                         "$pullAll.a",
		`{"$pull":{"a":{"$foo":1}}}`:                   "$pull.a.$foo",
		`{"$push":{"a":{"$each":1}}}`:                  "$push.a.$each",
		`{"$push":{"a":{"$each":[],"$slice":1.5}}}`:    "$push.a.$slice",
		`{"$push":{"a":{"$each":[],"$sort":2}}}`:       "$push.a.$sort",
		`{"$push":{"a":{"$each":[],"$foo":2}}}`:        "$push.a.$foo",
		`{"$addToSet":{"a":{"$each":1}}}`:              "$addToSet.a.$each",
		`{"$addToSet":{"a":{"$each":[1],"x":1}}}`:      "$addToSet.a",
		`{"$bit":{"a":{"and":1.5}}}`:                   "$bit.a.and",
		`{"$bit":{"a":{"nand":1}}}`:                    "$bit.a.nand",
		`{"$currentDate":{"a":{"$type":"timestamp"}}}`: "$currentDate.a",
		`{"$set":{"a.$[x]":1}}`:                        "$set.a.$[x]",
		`{"$set":{"a.$.b.$":1}}`:                       "$set.a.$.b.$",
		`{"$set":{"a.3":1,"a.$[]":1}}`:                 "$set.a.$[]",
		`{"$set":{"a.$[].b":1,"a.name.c":1}}`:          "$set.a.name.c",
		`{"$set":{"a.$[].b":1,"a.$.c":1}}`:             "$set.a.$.c",
	} {
		requireInvalid(t, failure(query.CompileUpdate(parse(t, update))), field)
	}
}

func TestUpdate_DocumentRefusesWithPath(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"s":"x","n":9223372036854775807,"list":[1],"null":null,"f":1.5}`
	for update, field := range map[string]string{
		`{"$inc":{"s":1}}`:            "update.s",
		`{"$inc":{"null":1}}`:         "update.null",
		`{"$inc":{"n":1}}`:            "update.n",
		`{"$mul":{"n":2}}`:            "update.n",
		`{"$mul":{"f":1.7e308}}`:      "update.f",
		`{"$push":{"s":1}}`:           "update.s",
		`{"$push":{"null":1}}`:        "update.null",
		`{"$addToSet":{"s":1}}`:       "update.s",
		`{"$pull":{"s":1}}`:           "update.s",
		`{"$pop":{"s":1}}`:            "update.s",
		`{"$pop":{"s.a":1}}`:          "update.s.a",
		`{"$pop":{"s.a.b":1}}`:        "update.s.a",
		`{"$pop":{"null.a":1}}`:       "update.null.a",
		`{"$pop":{"list.a":1}}`:       "update.list.a",
		`{"$pop":{"list.0.a":1}}`:     "update.list.0.a",
		`{"$pop":{"list.$[].a":1}}`:   "update.list.0.a",
		`{"$set":{"$x":1}}`:           "update.$x",
		`{"$set":{"$x.y":1}}`:         "update.$x.y",
		`{"$rename":{"s":"$x"}}`:      "update.$x",
		`{"$rename":{"list.0":"y"}}`:  "update.y",
		`{"$rename":{"s.deep":"y"}}`:  "update.y",
		`{"$rename":{"s":"list.0"}}`:  "update.list.0",
		`{"$rename":{"s":"list.7"}}`:  "update.list.7",
		`{"$bit":{"f":{"or":1}}}`:     "update.f",
		`{"$set":{"s.deep":1}}`:       "update.s.deep",
		`{"$set":{"null.deep":1}}`:    "update.null.deep",
		`{"$set":{"list.name":1}}`:    "update.list.name",
		`{"$set":{"list.9999999":1}}`: "update.list.9999999",
		`{"$set":{"s.$[]":1}}`:        "update.s.$[]",
		`{"$set":{"none.$[].a":1}}`:   "update.none.$[]",
		`{"$unset":{"none.$[].a":1}}`: "update.none.$[]",
		`{"$unset":{"s.b.$[]":1}}`:    "update.s.b",
		`{"$pull":{"s.b.c.$[]":1}}`:   "update.s.b",
		`{"$unset":{"list.b.$[]":1}}`: "update.list.b",
		`{"$unset":{"list.7.$[]":1}}`: "update.list.7.$[]",
		`{"$set":{"list.$":1}}`:       "update.list",
		`{"$set":{"_id":2}}`:          "update._id",
		`{"$unset":{"_id":""}}`:       "update._id",
		`{"_id":2}`:                   "update._id",
		`{"$rename":{"list.0":"x"}}`:  "update.x",
	} {
		after, modified, err := apply(t, doc, `{}`, update)
		require.Error(t, err, update)
		require.False(t, modified)
		require.Equal(t, "null", after)
		found, _ := boterr.AsError(err)
		require.Equal(t, boterr.InvalidArgument, found.Code, update)
		require.Equal(t, field, found.Field, "%s: %v", update, err)
	}
	_, _, err := newCall(t).Change(query.Change{Update: query.MustUpdate("$set", document.O("list.$", 1))}, nil, parse(t, doc))
	requireInvalid(t, err, "update.list")
}

func TestUpdate_DollarFields(t *testing.T) {
	t.Parallel()
	for update, want := range map[string]string{
		`{"$setOnInsert":{"$x":1}}`:                `{"$x":1}`,
		`{"$set":{"$x":{"y":2}}}`:                  `{"$x":{"y":2}}`,
		`{"$setOnInsert":{"$x.y":1}}`:              `{"$x":{"y":1}}`,
		`{"$setOnInsert":{"a":1},"$pop":{"$x":1}}`: `{"a":1}`,
	} {
		compiled := query.Must(query.CompileUpdate(parse(t, update)))
		inserted, err := newCall(t).Insert(query.Change{Update: compiled}, nil)
		require.NoError(t, err)
		require.JSONEq(t, want, inserted.String())
	}
	const doc = `{"_id":1,"$x":[1]}`
	for update, want := range map[string]string{
		`{"$unset":{"$x":""}}`:      `{"_id":1}`,
		`{"$rename":{"$x":"y"}}`:    `{"_id":1,"y":[1]}`,
		`{"$set":{"$x":[1]}}`:       doc,
		`{"$set":{"a":{"$x":[1]}}}`: `{"_id":1,"$x":[1],"a":{"$x":[1]}}`,
	} {
		after, _, err := apply(t, doc, `{}`, update)
		require.NoError(t, err)
		require.JSONEq(t, want, after)
	}
	for _, update := range []string{`{"$set":{"$x":2}}`, `{"$push":{"$x":2}}`, `{"$set":{"$x.0":2}}`, `{"$max":{"$x":true}}`} {
		_, _, err := apply(t, doc, `{}`, update)
		require.ErrorIs(t, err, boterr.InvalidArgument, update)
	}
}

func TestArrayFilter_Unused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		field   string
		filters []document.Object
	}{
		{"arrayFilters[0]", []document.Object{document.O("x", 1)}},
		{"arrayFilters[1]", []document.Object{document.O("e", 1), document.O("e.a", 2)}},
		{"arrayFilters[0]", []document.Object{document.O("e", 1, "f", 2)}},
		{"arrayFilters[0]", []document.Object{document.O("E", 1)}},
		{"arrayFilters[0].e.$foo", []document.Object{document.O("e", document.O("$foo", 1))}},
		{"arrayFilters[0]", []document.Object{document.O()}},
	} {
		update := `{"$set":{"a.$[e]":1}}`
		if c.filters[0].Has("x") {
			update = `{"$set":{"a":1}}`
		}
		requireInvalid(t, failure(query.CompileUpdate(parse(t, update), c.filters...)), c.field)
	}
}

func TestUpdate_MisspeltOperator(t *testing.T) {
	t.Parallel()
	_, err := query.CompileUpdate(document.O("$incr", document.O("count", 1)))
	require.ErrorContains(t, err, "$incr is not an update operator, or is not supported: did you mean $inc?")
}

// aSide is a document with a field "a" that an operator changes, and fields that it must leave alone.
type aSide struct {
	*testing.T

	random *rand.Rand
	before document.Object
}

// eachASide tries an operator on documents with every kind of value at "a", or none.
func eachASide(t *testing.T, seed uint64, try func(s *aSide)) {
	t.Helper()
	s := &aSide{T: t, random: rand.New(rand.NewPCG(seed, seed))}
	for range samples {
		s.before = randomDocument(s.random)
		try(s)
	}
}

// apply applies an update, and checks that it left everything but "a" unchanged, that it counts as modified
// if anything changed, and that there is no result after an error.
func (s *aSide) apply(pairs ...any) (after any, ok bool, err error) {
	s.Helper()
	update := query.Must(query.CompileUpdate(document.O(pairs...)))
	o, modified, err := newCall(s.T).Change(query.Change{Update: update}, nil, s.before)
	if err != nil {
		require.ErrorIs(s, err, boterr.InvalidArgument)
		require.True(s, o.IsZero())
		require.False(s, modified)
		return nil, false, err
	}
	if wasText, isText := s.before.String(), o.String(); wasText[0] == '{' && isText[0] == '{' { // NaN has no JSON.
		require.Equal(s, wasText != isText, modified, "%s of %s", update.Source(), s.before)
	}
	require.True(s, document.Equal(s.before.Without("a"), o.Without("a")), "%s of %s", update.Source(), s.before)
	again, _, err := newCall(s.T).Change(query.Change{Update: update}, nil, s.before)
	require.NoError(s, err)
	require.True(s, document.Equal(o, again), "the same again")
	after, ok = o.Field("a")
	return after, ok, nil
}

// old returns the value at "a".
func (s *aSide) old() (value any, ok bool) { return s.before.Field("a") }

// list returns the elements at "a", and whether it is an array or missing.
func (s *aSide) list() ([]any, bool) {
	value, ok := s.old()
	array, isArray := value.(document.Array)
	return elements(array), isArray || !ok
}

func elements(array document.Array) []any {
	items := []any{}
	for _, item := range array.All() {
		items = append(items, item)
	}
	return items
}

func (s *aSide) requireEqual(want, got any) {
	s.Helper()
	require.Zero(s, document.Compare(want, got), "of %s: want %v, got %v", s.before, want, got)
}

func TestSetAndUnset_AsDefined(t *testing.T) {
	t.Parallel()
	eachASide(t, 10, func(s *aSide) {
		v := arbitrary.Value(s.random, 2)
		after, ok, err := s.apply("$set", document.O("a", v))
		require.NoError(s, err)
		require.True(s, ok)
		s.requireEqual(v, after)
		_, ok, err = s.apply("$unset", document.O("a", v))
		require.NoError(s, err)
		require.False(s, ok)
		old, had := s.old()
		after, ok, err = s.apply("$setOnInsert", document.O("a", v))
		require.NoError(s, err)
		require.Equal(s, had, ok)
		s.requireEqual(old, after)
	})
}

func TestMinAndMax_AsDefined(t *testing.T) {
	t.Parallel()
	eachASide(t, 11, func(s *aSide) {
		v := arbitrary.Value(s.random, 2)
		old, had := s.old()
		if !had {
			old = v
		}
		least, err := lesserOf(s, "$min", v)
		require.NoError(s, err)
		greatest, err := lesserOf(s, "$max", v)
		require.NoError(s, err)
		if document.Compare(v, old) < 0 {
			s.requireEqual(v, least)
			s.requireEqual(old, greatest)
		} else {
			s.requireEqual(old, least)
			s.requireEqual(v, greatest)
		}
	})
}

func lesserOf(s *aSide, operator string, v any) (any, error) {
	after, _, err := s.apply(operator, document.O("a", v))
	return after, err
}

func TestPush_AsDefined(t *testing.T) {
	t.Parallel()
	eachASide(t, 13, func(s *aSide) {
		v, w := arbitrary.Value(s.random, 2), arbitrary.Value(s.random, 2)
		items, fits := s.list()
		after, _, err := s.apply("$push", document.O("a", document.O("$each", document.A(v, w))))
		if !fits {
			require.Error(s, err)
			return
		}
		require.NoError(s, err)
		s.requireEqual(document.A(append(slices.Clone(items), v, w)...), after)
		place := s.random.IntN(len(items) + 1)
		after, _, err = s.apply("$push", document.O("a", document.O("$each", document.A(v, w), "$position", place)))
		require.NoError(s, err)
		s.requireEqual(document.A(slices.Insert(slices.Clone(items), place, v, w)...), after)
		size := s.random.IntN(4)
		after, _, err = s.apply("$push", document.O("a", document.O("$each", document.A(v, w), "$sort", 1, "$slice", size)))
		require.NoError(s, err)
		ordered := append(slices.Clone(items), v, w)
		slices.SortStableFunc(ordered, document.Compare)
		s.requireEqual(document.A(ordered[:min(size, len(ordered))]...), after)
	})
}

func TestAddToSet_AsDefined(t *testing.T) {
	t.Parallel()
	eachASide(t, 14, func(s *aSide) {
		v, w := arbitrary.Value(s.random, 1), arbitrary.Value(s.random, 1)
		items, fits := s.list()
		add := document.O("a", document.O("$each", document.A(v, w, v)))
		after, _, err := s.apply("$addToSet", add)
		if !fits {
			require.Error(s, err)
			return
		}
		require.NoError(s, err)
		for _, value := range []any{v, w} {
			if !slices.ContainsFunc(items, func(item any) bool { return document.Equal(item, value) }) {
				items = append(items, value)
			}
		}
		s.requireEqual(document.A(items...), after)
		s.before = s.before.With("a", after)
		again, _, err := s.apply("$addToSet", add)
		require.NoError(s, err)
		s.requireEqual(after, again)
	})
}

func TestPull_AsDefined(t *testing.T) {
	t.Parallel()
	eachASide(t, 15, func(s *aSide) {
		v, w := arbitrary.Value(s.random, 1), arbitrary.Value(s.random, 1)
		items, fits := s.list()
		if len(items) > 0 && s.random.IntN(2) == 0 {
			v = items[s.random.IntN(len(items))]
		}
		without := func(values ...any) document.Array {
			return document.A(slices.DeleteFunc(slices.Clone(items), func(item any) bool {
				return slices.ContainsFunc(values, func(value any) bool { return document.Equal(item, value) })
			})...)
		}
		after, had, err := s.apply("$pullAll", document.O("a", document.A(v, w)))
		pulled, _, errPull := s.apply("$pull", document.O("a", document.O("$in", document.A(v, w))))
		require.Equal(s, err == nil, errPull == nil)
		if !fits {
			require.Error(s, err)
			return
		}
		require.NoError(s, err)
		if had {
			s.requireEqual(without(v, w), after)
		}
		if _, isArray := v.(document.Array); !isArray && had {
			if _, isArray := w.(document.Array); !isArray && !holdsArrays(items) {
				s.requireEqual(after, pulled)
			}
		}
	})
}

// holdsArrays reports whether an array is among items; $in looks at its elements, too.
func holdsArrays(items []any) bool {
	return slices.ContainsFunc(items, func(item any) bool {
		_, ok := item.(document.Array)
		return ok
	})
}

func TestPop_AsDefined(t *testing.T) {
	t.Parallel()
	eachASide(t, 16, func(s *aSide) {
		items, fits := s.list()
		last, had, err := s.apply("$pop", document.O("a", 1))
		first, _, _ := s.apply("$pop", document.O("a", -1))
		if !fits {
			require.Error(s, err)
			return
		}
		require.NoError(s, err)
		if had && len(items) > 0 {
			s.requireEqual(document.A(items[:len(items)-1]...), last)
			s.requireEqual(document.A(items[1:]...), first)
		}
	})
}

func TestRename_IsSetAndUnset(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(17, 17))
	for range samples {
		before := randomDocument(random)
		after, err := changed(t, before, document.O("$rename", document.O("a", "b")))
		require.NoError(t, err)
		moved, had := before.Field("a")
		if !had {
			require.Equal(t, before.String(), after.String())
			continue
		}
		want, err := changed(t, before, document.O("$set", document.O("b", moved), "$unset", document.O("a", "")))
		require.NoError(t, err)
		require.True(t, document.Equal(want, after), "%s: want %s, got %s", before, want, after)
	}
}
