package differential

import (
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// withUpdate adds an update and the array filters that it names.
func (g *generator) withUpdate(c document.Object) document.Object {
	if kind, _ := c.Field("kind"); kind == "findAndModify" && g.chance(6) {
		return c.With("update", g.object(2))
	}
	g.identifiers = nil
	update := document.O()
	for range 1 + g.random.IntN(4)/3 {
		name := choose(g, fieldNames...)
		operator := g.operatorFor(g.fields[name])
		fields, _ := update.Field(operator)
		paths, _ := fields.(document.Object)
		if paths.IsZero() {
			paths = document.O()
		}
		path := g.updatePath(operator, name)
		g.near = g.found[path]
		update = update.With(operator, paths.With(path, g.operand(operator, g.fields[name])))
		g.near = nil
	}
	c = c.With("update", update)
	if len(g.identifiers) == 0 {
		return c
	}
	filters := make([]any, 0, len(g.identifiers))
	for _, name := range slices.Compact(slices.Sorted(slices.Values(g.identifiers))) {
		filters = append(filters, g.arrayFilter(name))
	}
	return c.With("arrayFilters", document.A(filters...))
}

// operatorFor returns an operator that mostly fits a field.
func (g *generator) operatorFor(kind fieldKind) string {
	if g.chance(8) {
		kind = holdsAnything
	}
	switch kind {
	case holdsNumber, holdsMeasure, holdsLarge:
		return choose(g, "$inc", "$mul", "$min", "$max", "$bit", "$bit", "$set", "$rename", "$unset")
	case holdsNumbers, holdsObjects:
		return choose(g, "$push", "$push", "$push", "$push", "$addToSet", "$addToSet", "$pull", "$pull", "$pullAll",
			"$pop", "$set", "$max", "$unset")
	case holdsText, holdsFields, holdsFlag, holdsTime, holdsScalar:
		return choose(g, "$set", "$unset", "$min", "$max", "$rename", "$setOnInsert")
	default:
		return choose(g, "$set", "$set", "$unset", "$setOnInsert", "$inc", "$mul", "$min", "$max", "$rename", "$bit",
			"$push", "$addToSet", "$pull", "$pullAll", "$pop")
	}
}

// arrayFilter returns a filter for the elements that "$[name]" stands for.
func (g *generator) arrayFilter(name string) document.Object {
	if g.chance(2) {
		name += "." + choose(g, "a", "b", "x")
	}
	return document.O(name, g.condition(1))
}

// updatePath returns a path to change: a field of the documents, or one behind it,
// at times through the elements of arrays.
func (g *generator) updatePath(operator, name string) string {
	switch {
	case g.chance(2):
		return name
	case g.chance(6):
		return choose(g, append([]string{"_id", "e"}, g.paths...)...)
	}
	parts := []string{name}
	for range 1 + g.random.IntN(2) {
		parts = append(parts, g.updatePart(operator, g.fields[name]))
	}
	return strings.Join(parts, ".")
}

// updatePart returns a part of a path.
func (g *generator) updatePart(operator string, kind fieldKind) string {
	throughArrays := operator != "$rename" && (kind == holdsNumbers || kind == holdsObjects || g.chance(4))
	switch {
	case throughArrays && g.chance(3):
		return "$[]"
	case throughArrays && g.chance(2):
		name := choose(g, "e", "f")
		g.identifiers = append(g.identifiers, name)
		return "$[" + name + "]"
	case g.chance(2):
		return strconv.Itoa(g.random.IntN(4))
	default:
		return choose(g, "a", "b", "x")
	}
}

// operand returns what an update operator on a field takes.
func (g *generator) operand(operator string, kind fieldKind) any {
	switch operator {
	case "$unset":
		return choose[any](g, "", 1, true)
	case "$inc", "$mul":
		return g.term()
	case "$rename":
		return choose(g, "a", "b", "d", "e", "d.a", "a.b", "b.x")
	case "$bit":
		return document.O(choose(g, "and", "or", "xor"), choose[any](g, 0, 1, 5, -1, 1<<40, 1.5))
	case "$push":
		if g.chance(3) {
			return g.value(2)
		}
		return g.pushModifiers(kind)
	case "$addToSet":
		if g.chance(2) {
			return document.O("$each", document.A(g.element(), g.element()))
		}
		return g.element()
	case "$pull":
		if g.chance(2) {
			return g.element()
		}
		return g.elemMatch(1)
	case "$pullAll":
		return document.A(g.element(), g.element())
	case "$pop":
		return choose[any](g, 1, -1, 1, -1, 0, 2, "1")
	default:
		return g.operandValue()
	}
}

// element returns a value, often one that is an element of an array at the path that
// is being changed.
func (g *generator) element() any {
	var elements []any
	for _, value := range g.near {
		if array, ok := value.(document.Array); ok {
			for _, item := range array.All() {
				elements = append(elements, item)
			}
		}
	}
	if len(elements) == 0 || g.chance(3) {
		return g.operandValue()
	}
	return choose(g, elements...)
}

// term returns what to add or to multiply by.
func (g *generator) term() any {
	if g.chance(12) {
		return g.scalar()
	}
	return choose[any](g, 0, 1, 2, -3, 1.5, int64(1)<<31, int64(1)<<62, int64(1)<<40)
}

// pushModifiers returns the modifiers of a $push, mostly such as fit the field.
func (g *generator) pushModifiers(kind fieldKind) document.Object {
	order := choose[any](g, 1, -1, document.O("a", 1), document.O("x", -1, "a", 1))
	modifiers := document.O("$each", g.array(2))
	if (kind == holdsNumbers || kind == holdsObjects) && !g.chance(4) {
		modifiers = document.O("$each", g.valueOf(kind))
		if kind == holdsNumbers {
			order = choose(g, 1, -1)
		}
	}
	if g.chance(3) {
		modifiers = modifiers.With("$position", g.random.IntN(6)-3)
	}
	if !g.chance(3) {
		modifiers = modifiers.With("$slice", g.random.IntN(6)-3)
	}
	if !g.chance(3) {
		modifiers = modifiers.With("$sort", order)
	}
	return modifiers
}
