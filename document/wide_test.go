package document_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/query"
)

// wide returns an object with a number of fields: "f0", "f1" and so on.
func wide(fields int) document.Object {
	pairs := make([]any, 0, 2*fields)
	for i := range fields {
		pairs = append(pairs, "f"+strconv.Itoa(i), i)
	}
	return document.O(pairs...)
}

// TestObject_AnyWidth changes objects around the width at which their form in memory changes, and compares
// them with a list of pairs.
func TestObject_AnyWidth(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1, 16, 17, 63, 64, 65, 96, 97, 200} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(7, uint64(width)))
			o := wide(width)
			var pairs []any
			for i := range width {
				pairs = append(pairs, "f"+strconv.Itoa(i), int64(i))
			}
			for step := range 200 {
				before, text := o, o.String()
				key := "f" + strconv.Itoa(random.IntN(width+3))
				if random.IntN(4) == 0 {
					o = o.Without(key)
					pairs = withoutPair(pairs, key)
				} else {
					value := any(int64(step))
					if random.IntN(4) == 0 {
						value = document.O("deep", document.A(step))
					}
					o = o.With(key, value)
					pairs = withPair(pairs, key, value)
				}
				model := document.O(pairs...)
				require.Equal(t, model.String(), o.String())
				require.True(t, document.Equal(model, o))
				require.Equal(t, model.Size(), o.Size())
				require.Equal(t, text, before.String(), "an earlier version has changed")
			}
		})
	}
}

func withPair(pairs []any, key string, value any) []any {
	pairs = append([]any{}, pairs...)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == key {
			pairs[i+1] = value
			return pairs
		}
	}
	return append(pairs, key, value)
}

func withoutPair(pairs []any, key string) []any {
	var kept []any
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] != key {
			kept = append(kept, pairs[i], pairs[i+1])
		}
	}
	return kept
}

func TestSet_WideObject(t *testing.T) {
	t.Parallel()
	var shapes document.Shapes
	before := shapes.Keep(wide(1_000).With("in", document.O("x", 1)))
	u, err := query.CompileUpdate(document.O("$set", document.O("f500", "new", "in.y", 2)))
	require.NoError(t, err)
	after, modified, err := query.NewEvaluation(t.Context()).Change(query.Change{Update: u}, nil, before)
	require.NoError(t, err)
	require.True(t, modified)
	require.Equal(t, before.With("f500", "new").With("in", document.O("x", 1, "y", 2)).String(), shapes.Share(after).String())

	same, modified, err := query.NewEvaluation(t.Context()).Change(query.Change{Update: u}, nil, after)
	require.NoError(t, err)
	require.False(t, modified)
	require.Equal(t, after, same)
}

func TestSize_OfBSON(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		o    document.Object
		size int
	}{
		{document.Object{}, 5},
		{document.O(), 5},
		{document.O("hello", "world"), 22},
		{document.O("a", nil), 5 + 3},
		{document.O("a", true), 5 + 3 + 1},
		{document.O("a", 1, "b", 1.5), 5 + (3 + 4) + (3 + 8)},
		{document.O("a", int64(math.MaxInt32), "b", int64(math.MaxInt32)+1), 5 + (3 + 4) + (3 + 8)},
		{document.O("a", document.O("b", "")), 5 + 3 + 5 + 3 + 5},
		{document.O("BSON", document.A("awesome", 5.05, 1986)), 49}, // The example of the BSON specification.
	} {
		require.Equal(t, test.size, test.o.Size(), "%v", test.o)
	}
	doubled := document.A("x")
	for range 90 {
		doubled = document.A(doubled, doubled)
	}
	require.Equal(t, math.MaxInt32, document.O("a", doubled).Size())
	require.Equal(t, math.MaxInt32, document.O("a", doubled, "b", doubled).With("a", 1).Size())
	require.Equal(t, 5+2*(3+4), document.O("a", doubled, "b", 1).With("a", 1).Size())
}

func TestKept_RoundTrip(t *testing.T) {
	t.Parallel()
	var shapes document.Shapes
	for i := range 2_000 {
		o := document.O("a", i%300, "b", float64(i%300), "c", strconv.Itoa(i%7), "d", []any{math.Copysign(0, -1), 0.0}[i%2],
			"e", document.A(1_000, "x", document.O("f", 1_000.0)), "g", i%2 == 0, "h", nil)
		kept := shapes.Keep(o)
		require.Equal(t, o.String(), kept.String())
		for key, value := range o.All() {
			got, _ := kept.Field(key)
			require.IsType(t, value, got)
		}
	}
}

func TestShapes_NotSeen(t *testing.T) {
	t.Parallel()
	var shapes document.Shapes
	for i := range 3 {
		o := document.O("_id", i, "list", document.A(document.O("x", i), i), "deep", document.O("y", document.O("z", i)))
		shared := shapes.Share(o)
		require.Equal(t, o.String(), shared.String())
		require.True(t, document.Equal(o, shared))
		require.Equal(t, o, shared, "reflect.DeepEqual, which tests use, sees no difference")
		shared.Set("list.0.x", "changed")
		require.NotEqual(t, o.String(), shared.String())
		require.Equal(t, i, document.Get(o, "list.0.x", -1))
	}
}
