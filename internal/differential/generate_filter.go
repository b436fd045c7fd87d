package differential

import (
	"strconv"

	"github.com/botctx/go-sdk/document"
)

// filter returns a query document of at most so many levels of $and and the like.
func (g *generator) filter(levels int) document.Object {
	query := document.O()
	for range g.random.IntN(3) {
		if levels > 0 && g.chance(4) {
			clauses := make([]any, 0, 2)
			for range 1 + g.random.IntN(2) {
				clauses = append(clauses, g.filter(levels-1))
			}
			query = query.With(choose(g, "$and", "$or", "$nor"), document.A(clauses...))
			continue
		}
		path := g.path()
		g.near = g.found[path]
		query = query.With(path, g.condition(1))
		g.near = nil
	}
	return query
}

// condition returns what a field must meet.
func (g *generator) condition(levels int) any {
	if g.chance(3) {
		return g.operandValue()
	}
	return g.operators(levels)
}

// operators returns a range, or one or two operators with their operands.
func (g *generator) operators(levels int) document.Object {
	if g.chance(8) {
		return document.O(choose(g, "$gt", "$gte"), g.operandValue(), choose(g, "$lt", "$lte"), g.operandValue())
	}
	condition := g.with(document.O(), levels)
	if g.chance(4) {
		condition = g.with(condition, levels)
	}
	return condition
}

// with adds an operator to a condition.
func (g *generator) with(condition document.Object, levels int) document.Object {
	switch operator := choose(g, "compare", "compare", "compare", "$in", "$nin", "$exists", "$type", "$mod", "$size",
		"$all", "$elemMatch", "$elemMatch", "$not", "bits"); operator {
	case "compare":
		return condition.With(choose(g, "$eq", "$ne", "$gt", "$gte", "$lt", "$lte"), g.operandValue())
	case "$in", "$nin", "$all":
		return condition.With(operator, g.operandList())
	case "$exists":
		return condition.With(operator, choose[any](g, true, false, true, false, 0, 1, nil))
	case "$type":
		return condition.With(operator, g.typeOperand())
	case "$mod":
		return condition.With(operator, document.A(g.small(), g.small()))
	case "$size":
		return condition.With(operator, g.small())
	case "bits":
		return condition.With(choose(g, "$bitsAllSet", "$bitsAllClear", "$bitsAnySet", "$bitsAnyClear"), g.mask())
	case "$not":
		if levels == 0 {
			return condition.With("$ne", g.operandValue())
		}
		return condition.With(operator, g.operators(levels-1))
	default:
		return condition.With("$elemMatch", g.elemMatch(levels))
	}
}

// operandList returns a list of values to compare with.
func (g *generator) operandList() document.Array {
	items := make([]any, 0, 3)
	for range g.random.IntN(4) {
		items = append(items, g.operandValue())
	}
	return document.A(items...)
}

// small returns a small integer, seldom one that is negative, and seldom another
// number.
func (g *generator) small() any {
	if g.chance(12) {
		return choose[any](g, 1.5, 2.5, "1", nil)
	}
	return g.random.IntN(5) - 1
}

func (g *generator) typeOperand() any {
	one := func() any {
		return choose[any](g, "null", "bool", "int", "int", "long", "long", "double", "number", "string", "array", "object", "date",
			1, 2, 3, 4, 8, 9, 10, 16, 18)
	}
	if g.chance(4) {
		return document.A(one(), one())
	}
	return one()
}

func (g *generator) mask() any {
	if g.chance(2) {
		return g.random.IntN(8)
	}
	positions := make([]any, 0, 2)
	for range g.random.IntN(3) {
		positions = append(positions, choose(g, 0, 1, 2, 31, 63, 70))
	}
	return document.A(positions...)
}

func (g *generator) elemMatch(levels int) document.Object {
	if levels == 0 || g.chance(2) {
		return g.operators(0)
	}
	query := document.O()
	for range 1 + g.random.IntN(2) {
		name := choose(g, "a", "b", "x", strconv.Itoa(g.random.IntN(2)))
		query = query.With(name, g.condition(0))
	}
	return query
}
