package document_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// list parses a JSON array.
func list(t *testing.T, text string) document.Array {
	t.Helper()
	value, err := document.ParseJSON([]byte(text))
	require.NoError(t, err)
	array, ok := value.(document.Array)
	require.True(t, ok, text)
	return array
}

// runStages applies a pipeline in JSON to a document in JSON.
func runStages(t *testing.T, doc, stages string) (string, bool, error) {
	t.Helper()
	update, err := document.CompilePipeline(list(t, stages))
	if err != nil {
		return "", false, err
	}
	after, modified, err := document.Change{Update: update, Now: now}.Apply(nil, parse(t, doc))
	return after.String(), modified, err
}

func TestPipelinesComputeTheNewDocument(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"a":{"b":1,"c":2},"l":[{"x":1},2,[{"x":3}]],"n":5}`
	for _, test := range []struct{ name, stages, want string }{
		{"no stage", `[]`, doc},
		{"$set adds behind and replaces in place", `[{"$set":{"m":"$n","n":{"$add":["$n",1]}}}]`, `{"_id":1,"a":{"b":1,"c":2},"l":[{"x":1},2,[{"x":3}]],"n":6,"m":5}`},
		{"$addFields is $set", `[{"$addFields":{"n":7}}]`, `{"_id":1,"a":{"b":1,"c":2},"l":[{"x":1},2,[{"x":3}]],"n":7}`},
		{"dotted", `[{"$set":{"a.b":9}},{"$unset":["l"]}]`, `{"_id":1,"a":{"b":9,"c":2},"n":5}`},
		{"nested objects are paths", `[{"$set":{"a":{"b":9,"d":{"e":1}}}},{"$unset":"l"}]`, `{"_id":1,"a":{"b":9,"c":2,"d":{"e":1}},"n":5}`},
		{"a literal object replaces", `[{"$set":{"a":{"$literal":{"b":9}}}},{"$unset":"l"}]`, `{"_id":1,"a":{"b":9},"n":5}`},
		{"through arrays into each element", `[{"$set":{"l.y":"$n"}}]`, `{"_id":1,"a":{"b":1,"c":2},"l":[{"x":1,"y":5},{"y":5},[{"x":3,"y":5}]],"n":5}`},
		{"in the place of a scalar", `[{"$set":{"n.x":1}},{"$unset":["a","l"]}]`, `{"_id":1,"n":{"x":1}}`},
		{"all expressions see the document before the stage", `[{"$set":{"n":1,"m":"$n"}},{"$unset":["a","l"]}]`, `{"_id":1,"n":1,"m":5}`},
		{"the next stage sees the one before", `[{"$set":{"n":1}},{"$set":{"m":"$n"}},{"$unset":["a","l"]}]`, `{"_id":1,"n":1,"m":1}`},
		{"missing removes", `[{"$set":{"n":"$none","a":"$$REMOVE","l":1}}]`, `{"_id":1,"l":1}`},
		{"missing leaves an empty object", `[{"$set":{"new.x":"$none"}},{"$unset":["a","l"]}]`, `{"_id":1,"n":5,"new":{}}`},
		{"the time of the change", `[{"$replaceWith":{"at":"$$NOW"}}]`, `{"_id":1,"at":"2023-11-14T22:13:20.000Z"}`},
		{"$unset in arrays", `[{"$unset":["l.x","a.b"]}]`, `{"_id":1,"a":{"c":2},"l":[{},2,[{}]],"n":5}`},
		{"$unset of what is not there", `[{"$unset":["none.x","n.x"]}]`, doc},
		{"$unset of the _id", `[{"$unset":["_id","l","a"]}]`, `{"_id":1,"n":5}`},
		{"$replaceWith", `[{"$replaceWith":"$a"}]`, `{"_id":1,"b":1,"c":2}`},
		{"$replaceRoot", `[{"$replaceRoot":{"newRoot":{"$mergeObjects":[{"z":0},"$a"]}}}]`, `{"_id":1,"z":0,"b":1,"c":2}`},
		{"$project includes", `[{"$project":{"n":1,"a.c":true}}]`, `{"_id":1,"a":{"c":2},"n":5}`},
		{"$project excludes", `[{"$project":{"l":0,"a":{"b":0}}}]`, `{"_id":1,"a":{"c":2},"n":5}`},
		{"$project of the _id alone", `[{"$project":{"_id":1}}]`, `{"_id":1}`},
		{"$project without the _id keeps it, since it cannot be removed", `[{"$project":{"_id":0,"n":1}}]`, `{"_id":1,"n":5}`},
		{"$project computes", `[{"$project":{"n":"$a.b","twice":{"$multiply":["$n",2]},"t":"text"}}]`, `{"_id":1,"n":1,"twice":10,"t":"text"}`},
		{"$project computes inside", `[{"$project":{"a":{"c":1,"d":"$n"}}}]`, `{"_id":1,"a":{"c":2,"d":5}}`},
		{"$project computes where there is nothing", `[{"$project":{"q.r":"$n"}}]`, `{"_id":1,"q":{"r":5}}`},
		{"$project in arrays", `[{"$project":{"l.x":1}}]`, `{"_id":1,"l":[{"x":1},[{"x":3}]]}`},
		{"$project computes in each element", `[{"$project":{"l":{"y":"$n"}}}]`, `{"_id":1,"l":[{"y":5},{"y":5},[{"y":5}]]}`},
		{"$project leaves out a scalar that should hold a field", `[{"$project":{"n.x":1}}]`, `{"_id":1}`},
		{"$project excludes beside the _id", `[{"$project":{"_id":1,"l":0,"a":0}}]`, `{"_id":1,"n":5}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			after, modified, err := runStages(t, doc, test.stages)
			require.NoError(t, err)
			require.Equal(t, test.want, after)
			require.Equal(t, test.want != doc, modified)
		})
	}
}

func TestAPipelineThatIsNoneIsInvalidWithItsPath(t *testing.T) {
	t.Parallel()
	for stages, field := range map[string]string{
		`[1]`:                                    "[0]",
		`[{}]`:                                   "[0]",
		`[{"$set":{"a":1},"$unset":"b"}]`:        "[0]",
		`[{"$set":{"a":1}},{"$match":{}}]`:       "[1].$match",
		`[{"set":{"a":1}}]`:                      "[0].set",
		`[{"$set":{}}]`:                          "[0].$set",
		`[{"$set":1}]`:                           "[0].$set",
		`[{"$set":{"a":1,"a.b":2}}]`:             "[0].$set.a.b",
		`[{"$set":{"a.b":1,"a":2}}]`:             "[0].$set.a",
		`[{"$set":{"a":{"b":1},"a.b":2}}]`:       "[0].$set.a.b",
		`[{"$set":{"a.b":1,"a":{"b":{"c":1}}}}]`: "[0].$set.a.b",
		`[{"$set":{"a":{}}}]`:                    "[0].$set.a",
		`[{"$set":{"$a":1}}]`:                    "[0].$set.$a",
		`[{"$set":{"a..b":1}}]`:                  "[0].$set.a..b",
		`[{"$set":{"a.$.b":1}}]`:                 "[0].$set.a.$.b",
		`[{"$set":{"a.$[].b":1}}]`:               "[0].$set.a.$[].b",
		`[{"$set":{"a":{"$inc":1}}}]`:            "[0].$set.a.$inc",
		`[{"$inc":{"a":1}}]`:                     "[0].$inc",
		`[{"$unset":{"a":1}}]`:                   "[0].$unset",
		`[{"$unset":[]}]`:                        "[0].$unset",
		`[{"$unset":["a",1]}]`:                   "[0].$unset[1]",
		`[{"$unset":["a.b","a"]}]`:               "[0].$unset[1]",
		`[{"$unset":["a","a.b"]}]`:               "[0].$unset[1]",
		`[{"$unset":"$a"}]`:                      "[0].$unset",
		`[{"$unset":""}]`:                        "[0].$unset",
		`[{"$replaceRoot":"$a"}]`:                "[0].$replaceRoot",
		`[{"$replaceRoot":{"root":"$a"}}]`:       "[0].$replaceRoot.root",
		`[{"$project":{}}]`:                      "[0].$project",
		`[{"$project":1}]`:                       "[0].$project",
		`[{"$project":{"a":1,"b":0}}]`:           "[0].$project.b",
		`[{"$project":{"b":0,"a":"$c"}}]`:        "[0].$project.a",
		`[{"$project":{"a":{}}}]`:                "[0].$project.a",
		`[{"$project":{"a":1,"a.b":1}}]`:         "[0].$project.a.b",
		`[{"$project":{"a.$":1}}]`:               "[0].$project.a.$",
		`[{"$project":{"a":{"$elemMatch":{}}}}]`: "[0].$project.a.$elemMatch",
	} {
		_, err := document.CompilePipeline(list(t, stages))
		requireInvalid(t, err, field)
	}
	_, err := document.CompilePipeline(document.Array{})
	requireInvalid(t, err, "")
}

func TestAPipelineThatFailsSaysWhere(t *testing.T) {
	t.Parallel()
	for stages, field := range map[string]string{
		`[{"$set":{"a":1}},{"$set":{"x":{"y":{"$divide":[1,"$n"]}}}}]`: "update[1].$set.x.y.$divide",
		`[{"$set":{"l.y":{"$divide":[1,"$n"]}}}]`:                      "update[0].$set.l.1.y.$divide",
		`[{"$replaceWith":"$n"}]`:                                      "update[0].$replaceWith",
		`[{"$replaceWith":"$none"}]`:                                   "update[0].$replaceWith",
		`[{"$replaceWith":["$$ROOT"]}]`:                                "update[0].$replaceWith",
		`[{"$project":{"x":{"$toInt":"$s"}}}]`:                         "update[0].$project.x.$toInt",
		`[{"$set":{"_id":2}}]`:                                         "update._id",
		`[{"$replaceWith":{"_id":{"$add":["$_id",1]}}}]`:               "update._id",
	} {
		_, _, err := runStages(t, `{"_id":1,"n":0,"s":"x","l":[[],{}]}`, stages)
		requireInvalid(t, err, field)
	}
}

func TestAPipelineKnowsWhatItIs(t *testing.T) {
	t.Parallel()
	stages := list(t, `[{"$set":{"a":1}}]`)
	update, err := document.CompilePipeline(stages)
	require.NoError(t, err)
	require.True(t, update.IsPipeline())
	require.False(t, update.IsReplacement())
	require.Equal(t, stages, update.Pipeline())
	require.True(t, update.Source().IsZero())
	operators, err := document.CompileUpdate(document.Set("a", 1))
	require.NoError(t, err)
	require.False(t, operators.IsPipeline())
}

func TestAPipelineCannotChangeWhatIsFixed(t *testing.T) {
	t.Parallel()
	before := parse(t, `{"_id":1,"app":"one","n":1,"etag":"old","_version":3}`)
	change := func(stages string) document.Change {
		update, err := document.CompilePipeline(list(t, stages))
		require.NoError(t, err)
		return document.Change{
			Update: update, Now: now, Fixed: []string{"app"},
			Stamps: document.Stamps{Set: document.O("etag", "new"), Increment: []string{"_version"}},
		}
	}
	for stages, want := range map[string]string{
		`[{"$replaceWith":{"m":2}}]`:                           `{"_id":1,"app":"one","etag":"new","_version":4,"m":2}`,
		`[{"$unset":["app","_id","etag"]}]`:                    "",
		`[{"$set":{"etag":"mine","_version":99}}]`:             "",
		`[{"$set":{"app":"one","_id":1.0}}]`:                   "",
		`[{"$replaceWith":"$$ROOT"}]`:                          "",
		`[{"$project":{"app":1,"n":1}}]`:                       "",
		`[{"$set":{"n":{"$add":["$n",1]}}},{"$unset":"etag"}]`: `{"_id":1,"app":"one","n":2,"etag":"new","_version":4}`,
	} {
		after, modified, err := change(stages).Apply(nil, before)
		require.NoError(t, err, stages)
		if want == "" {
			require.False(t, modified, stages)
			want = before.String()
		}
		require.Equal(t, want, after.String(), stages)
	}
	for _, stages := range []string{
		`[{"$set":{"app":"two"}}]`, `[{"$replaceWith":{"app":"two"}}]`, `[{"$set":{"app.x":1}}]`, `[{"$set":{"_id":7}}]`,
	} {
		_, _, err := change(stages).Apply(nil, before)
		require.ErrorIs(t, err, boterr.InvalidArgument, stages)
	}
}

func TestAnUpsertRunsThePipelineOverWhatTheFilterRequires(t *testing.T) {
	t.Parallel()
	filter, err := document.CompileFilter(parse(t, `{"_id":7,"a.b":2,"n":{"$gt":1},"$expr":{"$eq":["$x",1]}}`))
	require.NoError(t, err)
	for stages, want := range map[string]string{
		`[{"$set":{"c":{"$add":["$a.b",1]}}}]`: `{"_id":7,"at":0,"a":{"b":2},"c":3}`,
		`[{"$replaceWith":{"c":"$_id"}}]`:      `{"_id":7,"at":0,"c":7}`,
		`[{"$unset":"_id"}]`:                   `{"_id":7,"at":0,"a":{"b":2}}`,
	} {
		update, err := document.CompilePipeline(list(t, stages))
		require.NoError(t, err)
		inserted, err := document.Change{Update: update, OnInsert: document.O("at", 0)}.Insert(filter)
		require.NoError(t, err)
		require.Equal(t, want, inserted.String(), stages)
	}
	update, err := document.CompilePipeline(list(t, `[{"$set":{"_id":8}}]`))
	require.NoError(t, err)
	_, err = document.Change{Update: update}.Insert(filter)
	requireInvalid(t, err, "update._id")
}
