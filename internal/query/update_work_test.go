package query_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// endingContext is a context that ends once it was asked so often: a deadline, counted in work and not in time.
type endingContext struct {
	context.Context

	left int
}

func (c *endingContext) Err() error {
	c.left--
	if c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// manyPaths is how many paths an update has.
const manyPaths = 500

// repeated returns an array of a value, so many times.
func repeated(count int, value any) document.Array {
	items := make([]any, count)
	for i := range items {
		items[i] = value
	}
	return document.ArrayOf(items)
}

// paths returns an operand of an operator for many paths, whose last letter stands for their numbers.
func paths(path string, value any) document.Object {
	b := document.NewBuilder(manyPaths)
	for i := range manyPaths {
		b.Set(path[:len(path)-1]+strconv.Itoa(i), value)
	}
	return b.Object()
}

// filtered returns an update with array filters a0, a1, ... that all elements meet, and a path for each.
func filtered(operator, before, after string, value any) (document.Object, []document.Object) {
	b, filters := document.NewBuilder(manyPaths), []document.Object{}
	for i := range manyPaths {
		name := "a" + strconv.Itoa(i)
		b.Set(before+".$["+name+"]."+after+strconv.Itoa(i), value)
		filters = append(filters, document.O(name, document.O("$exists", true)))
	}
	return document.O(operator, b.Object()), filters
}

// TestUpdate_EndsSoon makes updates that are small, and would do much to a large document, under a context that ends
// after little of that work.
func TestUpdate_EndsSoon(t *testing.T) {
	t.Parallel()
	const many = 20_000
	nulls, objects := document.O("l", repeated(many, nil)), document.O("l", repeated(many, document.O("x", 1)))
	wide := document.NewBuilder(many)
	for i := range many {
		wide.Set("f"+strconv.Itoa(i), int64(i))
	}
	inner := document.O("l", document.A(document.O("m", repeated(many, 1), "w", wide.Object())))
	big := document.O("a", repeated(many, 1))
	sameBig := document.O("l", repeated(200, document.O("x", big)))
	inFilters := func(operator, after string, value any) func() (document.Object, []document.Object) {
		return func() (document.Object, []document.Object) { return filtered(operator, "l", after, value) }
	}
	plain := func(update document.Object) func() (document.Object, []document.Object) {
		return func() (document.Object, []document.Object) { return update, nil }
	}
	for name, test := range map[string]struct {
		before document.Object
		update func() (document.Object, []document.Object)
	}{
		"$unset below nulls":       {nulls, plain(document.O("$unset", paths("l.$[].xN", "")))},
		"$unset far below nulls":   {nulls, plain(document.O("$unset", paths("l.$[].z.y.xN", "")))},
		"$unset by filters":        {nulls, inFilters("$unset", "x", "")},
		"$set in all":              {objects, plain(document.O("$set", paths("l.$[].xN", int64(1))))},
		"$set by filters":          {objects, inFilters("$set", "x", int64(1))},
		"$inc in all":              {objects, plain(document.O("$inc", paths("l.$[].xN", int64(1))))},
		"$bit in all":              {objects, plain(document.O("$bit", paths("l.$[].xN", document.O("or", int64(1)))))},
		"elements of one array":    {inner, inFilters("$set", "m.", int64(2))},
		"a field of a wide object": {inner, inFilters("$set", "w.g", int64(2))},
		"$max with equal objects":  {sameBig, plain(document.O("$max", document.O("l.$[].x", big)))},
		"$push into each":          {sameBig, plain(document.O("$push", document.O("l.$[].x.a", document.O("$each", document.A(1), "$sort", 1, "$slice", 5))))},
		"$pull from each":          {sameBig, plain(document.O("$pull", document.O("l.$[].x.a", document.O("$gt", 1))))},
		"$pullAll from each":       {sameBig, plain(document.O("$pullAll", document.O("l.$[].x.a", document.A(5, 6))))},
		"$addToSet to each":        {sameBig, plain(document.O("$addToSet", document.O("l.$[].x.a", 7)))},
		"$pop from each":           {sameBig, plain(document.O("$pop", document.O("l.$[].x.a", 1)))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, filters := test.update()
			update, err := query.CompileUpdate(source, filters...)
			require.NoError(t, err)
			ctx := &endingContext{Context: t.Context(), left: 20}
			_, _, err = query.NewEvaluation(ctx).Change(query.Change{Update: update}, nil, test.before)
			require.ErrorIs(t, err, boterr.Canceled)
		})
	}
}
