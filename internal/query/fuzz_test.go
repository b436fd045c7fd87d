package query_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store/storetest"
)

// requireCoded fails where an error has no code of its own.
func requireCoded(t *testing.T, err error) {
	t.Helper()
	require.NotEqual(t, boterr.Internal, boterr.CodeOf(err), "%v", err)
}

func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5,"x",null,{"b":true}]}`, `[[[]]]`, `"\ud800"`, `-0`, `1e400`, `{"a":1,"a":2}`, `100000000000000100.0`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		value, err := document.ParseJSON(text)
		if err != nil {
			requireCoded(t, err)
			return
		}
		written, err := document.AppendJSON(nil, value)
		require.NoError(t, err)
		again, err := document.ParseJSON(written)
		require.NoError(t, err)
		require.True(t, document.Equal(value, again), "%s", written)
	})
}

func FuzzFilter(f *testing.F) {
	f.Add(`{"a":{"$gt":1},"$or":[{"b.0":{"$in":[1]}}]}`, `{"a":2,"b":[1]}`)
	f.Add(`{"a":{"$elemMatch":{"$not":{"$regex":"x","$options":"ix"}}}}`, `{"a":["y"]}`)
	f.Add(`{"a":{"$geoWithin":{"$geometry":{"type":"Polygon","coordinates":[[[0,0],[9,0],[9,9],[0,0]],[[4,3],[6,3],[6,5],[4,3]]]}}}}`, `{"a":[5,1]}`)
	f.Add(`{"a":{"$geoIntersects":{"$geometry":{"type":"LineString","coordinates":[[0,0],[180,0],[-180,1]]}}}}`,
		`{"a":{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[0,90],[0,0]]]]}}`)
	f.Add(`{"a":{"$nearSphere":[0,0],"$maxDistance":1}}`, `{"a":{"type":"GeometryCollection","geometries":[{"type":"MultiPoint","coordinates":[[1,1]]}]}}`)
	f.Add(`{"a":{"$in":["x",{"$regex":"^Y","$options":"i"}],"$all":[{"$regex":"y"},1]}}`, `{"a":["y",1]}`)
	f.Add(`{"a":{"$all":[{"$elemMatch":{"b":1}}],"$size":1,"$mod":[3,1],"$type":["int"]}}`, `{"a":[{"b":1}]}`)
	f.Fuzz(func(t *testing.T, filter, doc string) {
		source, target := object(filter), object(doc)
		compiled, err := query.CompileFilter(source)
		if err != nil {
			requireCoded(t, err)
			return
		}
		matched, err := compiled.Check(target)
		if err != nil {
			requireCoded(t, err)
			require.False(t, compiled.Match(target))
			return
		}
		if source.IsZero() || compiled.Near() != nil { // A search has no opposite.
			return
		}
		negated, err := query.CompileFilter(document.O("$nor", document.A(source)))
		require.NoError(t, err)
		require.NotEqual(t, matched, negated.Match(target))
		_, err = query.CompileGeoNear(source)
		if err != nil {
			requireCoded(t, err)
		}
	})
}

// FuzzEvaluation_IsBounded searches for small filters, changes, sorts and projections that go on after a
// sixteenth of a budget is spent. As a test it runs the known ones.
func FuzzEvaluation_IsBounded(f *testing.F) {
	documents := storetest.HostileDocuments(1)
	for _, call := range storetest.HostileCalls() {
		f.Add(call)
	}
	f.Fuzz(func(t *testing.T, call string) {
		cases, err := storetest.ReadCases(strings.NewReader(call))
		if err != nil || len(cases) != 1 || len(call) > storetest.MaxHostile {
			t.Skip("the text is no small call")
		}
		arguments, err := cases[0].Arguments()
		if err != nil {
			requireCoded(t, err)
			return
		}
		const many = 1 << 40
		ctx := &endsLater{Context: t.Context(), left: many}
		if err := evaluateAll(query.NewPartialEvaluation(ctx, 1, 16), arguments, documents); err != nil {
			requireCoded(t, err)
		}
		const work, ofDocuments, betweenLooks = 1 << 24, 1 << 26, 1 << 14
		require.Less(t, many-ctx.left, (work+ofDocuments)/betweenLooks, "looks at the context")
	})
}

// evaluateAll asks, changes, projects and sorts all documents.
func evaluateAll(e *query.Evaluation, arguments storetest.Arguments, documents []document.Object) error {
	filter, err := query.CompileFilter(arguments.Filter)
	if err != nil {
		return err
	}
	update, err := query.CompileUpdate(arguments.Update, arguments.ArrayFilters...)
	if err != nil {
		return err
	}
	projection, err := query.CompileProjection(arguments.Projection)
	if err != nil {
		return err
	}
	sort, err := query.CompileSort(arguments.Sort)
	if err != nil {
		return err
	}
	for _, o := range documents {
		if _, err := e.Check(filter, o); err != nil {
			return err
		}
		if err := e.CheckSort(sort, o); err != nil {
			return err
		}
		if _, _, err := e.Change(query.Change{Update: update, Now: now}, filter, o); err != nil {
			return err
		}
		if _, err := e.Project(projection, filter, o); err != nil {
			return err
		}
	}
	e.Sort(sort, slices.Clone(documents))
	return e.Err()
}

func FuzzUpdate(f *testing.F) {
	for _, seed := range []string{
		`{"$set":{"a.b":1},"$inc":{"n":1},"$push":{"l":{"$each":[1],"$slice":-2,"$sort":1}}}`,
		`{"$unset":{"l.0":1},"$rename":{"a":"z"},"$pull":{"l":{"$gt":1}}}`,
		`{"$set":{"l.$[].x":1},"$mul":{"n":-1}}`, `{"x":1}`, ``,
	} {
		f.Add(seed, `{"_id":1,"a":{"b":2},"n":9223372036854775807,"l":[3,{"x":1}]}`)
	}
	f.Fuzz(func(t *testing.T, update, doc string) {
		before := object(doc)
		text := before.String()
		compiled, err := query.CompileUpdate(object(update))
		if err != nil {
			requireCoded(t, err)
			return
		}
		after, modified, err := query.Change{Update: compiled, Now: now}.Apply(nil, before)
		require.Equal(t, text, before.String(), "the document before is not touched")
		if err != nil {
			requireCoded(t, err)
			return
		}
		require.NoError(t, after.Err())
		if !modified {
			require.Equal(t, text, after.String())
		}
	})
}

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		`{"$add":["$n",{"$size":"$l"}]}`, `{"$map":{"input":"$l","as":"x","in":{"$mergeObjects":["$$x","$a"]}}}`,
		`{"$let":{"vars":{"x":{"$range":[0,"$n",3]}},"in":{"$reduce":{"input":"$$x","initialValue":[],"in":["$$value","$$this"]}}}}`,
		`{"$switch":{"branches":[{"case":{"$in":["$s","$l"]},"then":{"$split":["$s","b"]}}],"default":{"$toDate":"$s"}}}`,
		`{"$regexFindAll":{"input":"$s","regex":"$p","options":"i"}}`, `{"$setUnion":["$l",["$a.b"]]}`,
		`{"$dateTrunc":{"date":"$$NOW","unit":"week","binSize":2,"timezone":"+01:00"}}`, `{"$convert":{"input":"$s","to":"double","onError":"$$REMOVE"}}`,
		`{"$dateFromString":{"dateString":"$s","format":"%Y-%m-%d"}}`, `{"$zip":{"inputs":["$l","$l"],"useLongestLength":true}}`,
		`{"$round":["$f",{"$subtract":["$n",4]}]}`, `{"$arrayToObject":{"$objectToArray":"$$ROOT"}}`, `{"$sortArray":{"input":"$l","sortBy":{"x":-1}}}`,
	} {
		f.Add(seed, `{"_id":1,"a":{"b":2},"n":5,"f":2.675,"s":"abc","p":"b?","l":[3,{"x":1},"abc",null]}`)
	}
	f.Fuzz(func(t *testing.T, expression, doc string) {
		source, err := document.ParseJSON([]byte(expression))
		if err != nil {
			return
		}
		before := object(doc)
		text := before.String()
		value, isThere, err := query.EvaluateExpression(source, before, now)
		require.Equal(t, text, before.String(), "the document is not touched")
		if err != nil {
			requireCoded(t, err)
			return
		}
		if !isThere {
			return
		}
		made := document.A(value)
		require.NoError(t, made.Err())
		require.LessOrEqual(t, document.O("r", value).Size(), document.MaxSize+100)
		again, _, err := query.EvaluateExpression(source, before, now)
		require.NoError(t, err)
		require.Equal(t, made.String(), document.A(again).String(), "the same document gives the same result")
	})
}

func object(text string) document.Object {
	value, err := document.ParseJSON([]byte(text))
	if err != nil {
		return document.Object{}
	}
	o, _ := value.(document.Object)
	return o
}

func FuzzSort(f *testing.F) {
	f.Add(`{"a":1,"b.0":-1}`, `{"a":[3,1],"b":[{"0":1}]}`, `{"a":null,"b":[]}`)
	f.Add(`{"a.b":-1,"_id":1}`, `{"_id":1,"a":[{"b":1},{"b":[2]}]}`, `{"_id":1.0,"a":[[{"b":1}]]}`)
	f.Fuzz(func(t *testing.T, sort, first, second string) {
		compiled, err := query.CompileSort(object(sort))
		if err != nil {
			requireCoded(t, err)
			return
		}
		a, b := object(first), object(second)
		require.Equal(t, compiled.Compare(a, b), -compiled.Compare(b, a))
		require.Zero(t, compiled.Compare(a, a))
	})
}

func FuzzProjection(f *testing.F) {
	const doc = `{"_id":1,"a":{"b":2,"c":[{"d":1},2]},"l":[3,{"x":1}]}`
	for _, seed := range []string{
		`{"a.b":1,"_id":0}`, `{"a":{"c":{"d":0}}}`, `{"l":{"$slice":[-1,1]}}`, `{"l":{"$elemMatch":{"x":1}},"a":1}`,
		`{"l.$":1}`, `{"n":"text","a":{"b":{"$add":["$a.b",1]}}}`, `{"l":{"x":"$_id"}}`,
	} {
		f.Add(seed, `{"l":3}`, doc)
	}
	f.Fuzz(func(t *testing.T, projection, filter, doc string) {
		compiled, err := query.CompileProjection(object(projection))
		if err != nil {
			requireCoded(t, err)
			return
		}
		matching, err := query.CompileFilter(object(filter))
		if err != nil {
			return
		}
		before := object(doc)
		text := before.String()
		for range 2 {
			after, err := compiled.Apply(matching, before)
			require.Equal(t, text, before.String(), "the document before is not touched")
			if err != nil {
				requireCoded(t, err)
				return
			}
			require.NoError(t, after.Err())
		}
	})
}
