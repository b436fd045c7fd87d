package query

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Projection is a compiled projection. It selects the fields of a document that a reader gets. It is safe for
// concurrent use. A nil *Projection and the zero Projection return whole documents.
type Projection struct {
	source document.Object
	tree   *projectionNode
	// slices shorten arrays after the selection of fields.
	slices []fieldSlice
	// positional is the path of the array that is shortened to the element through which the filter matched, or nil.
	positional []string
}

// CompileProjection compiles a projection: the fields to include, each with 1 or true, or the fields to
// exclude, each with 0 or false, as dotted paths or as nested objects. The _id is included unless it is
// excluded, and is the only field that may be excluded together with inclusions. $slice and $elemMatch shorten
// arrays, and the path "list.$" gives the element through which the filter matched. Any other value is an
// aggregation expression that computes the field. It cannot use $$NOW.
//
// The zero Object and O() give nil, which returns whole documents. Projections that MongoDB refuses, and projections
// that this package does not support, are InvalidArgument. The Field is the path in the projection.
func CompileProjection(source document.Object) (*Projection, error) {
	if err := checkSource(source); err != nil {
		return nil, err
	}
	if source.Len() == 0 {
		return nil, nil //nolint:nilnil // No projection is a nil *Projection.
	}
	c := projectionCompiler{root: &projectionNode{}, expressions: expressionCompiler{timeless: true, costs: new(costs)}}
	if err := c.compile(source); err != nil {
		return nil, err
	}
	return &Projection{source: source, tree: c.root, slices: c.slices, positional: c.positional}, nil
}

// Source returns the object that the projection was compiled from.
func (p *Projection) Source() document.Object {
	if p == nil {
		return document.Object{}
	}
	return p.source
}

// IsPositional reports whether the projection has a path that ends in "$". Such a projection needs the document
// as it was when the filter matched.
func (p *Projection) IsPositional() bool { return p != nil && p.positional != nil }

// Project returns the projection of a document that filter matches. Fields keep the order of the document;
// computed fields follow.
//
// The error is InvalidArgument if an expression fails, if the result is larger than MaxSize, or if a path ends
// in "$" and the filter has no condition that matched an element of that array, or has an $expr, $near or
// $nearSphere.
func (e *Evaluation) Project(projection *Projection, filter *Filter, doc document.Object) (document.Object, error) {
	if projection == nil || projection.tree == nil {
		return doc, nil
	}
	if projection.tree.computes {
		e.budget.spend(sourceWork(projection.source.Size()))
	}
	o, err := projection.apply(e, filter, doc)
	e.budget.keep(grownBy(doc, o))
	if e.budget.failure != nil {
		return document.Object{}, e.budget.failure
	}
	return o, err
}

func (p *Projection) apply(e *Evaluation, filter *Filter, doc document.Object) (document.Object, error) {
	projected, err := p.projected(e, doc)
	if err != nil {
		return document.Object{}, err
	}
	if p.positional != nil {
		if projected, err = p.atPosition(e, filter, doc, projected); err != nil {
			return document.Object{}, err
		}
	}
	for i := range p.slices {
		projected = p.slices[i].apply(e, projected, p.slices[i].path)
	}
	return projected, projected.Err()
}

// projected returns the kept and the computed fields. Without expressions it needs no preparation.
func (p *Projection) projected(e *Evaluation, doc document.Object) (document.Object, error) {
	if !p.tree.computes {
		return p.tree.chosen(doc), nil
	}
	run := &e.makeRare().projecting
	run.root, run.limits.call = doc, e
	projected, err := p.tree.withComputed(p.tree.chosen(doc), run)
	run.reset()
	if err == nil && projected.Size() > document.MaxSize {
		err = tooLarge()
	}
	return projected, err
}

// firstMatch is $elemMatch: an array with only the first matching element, or missing if none matches.
type firstMatch struct {
	field    string
	elements elemMatch
}

func (m firstMatch) evaluate(run *expressionRun) (any, error) {
	value := run.root.Value(m.field)
	i, ok := m.elements.find(value, run.limits.call)
	if !ok {
		return document.Missing, nil
	}
	return document.ArrayOf([]any{value.(document.Array).At(i)}), nil
}

// fieldSlice implements $slice: a part of the array at a path.
type fieldSlice struct {
	path []string
	// part returns the wanted elements of an array.
	part func(items []any) []any
}

// sliceOperand reads the operand of $slice in a projection: a number, or [skip, limit] with a limit above 0. Other
// operands are expressions.
func sliceOperand(operand any) (fieldSlice, bool) {
	if list, ok := operand.(document.Array); ok && list.Len() == 2 {
		skip, ok1 := clampedInt(list.At(0))
		limit, ok2 := clampedInt(list.At(1))
		part := func(items []any) []any { return sliced(items, skip, limit) }
		return fieldSlice{part: part}, ok1 && ok2 && limit > 0
	}
	n, ok := clampedInt(operand)
	return fieldSlice{part: func(items []any) []any { return firstOrLast(items, n) }}, ok
}

// isSliceExpression reports whether the operand of $slice has the form of the expression: an array, or
// something that may give an array, and one or two numbers.
func isSliceExpression(operand any) bool {
	list, ok := operand.(document.Array)
	if !ok || list.Len() != 2 && list.Len() != 3 {
		return false
	}
	switch first := list.At(0).(type) {
	case string:
		return isOperator(first)
	case document.Object:
		return isOperatorObject(first)
	case nil, document.Array:
		return true
	default:
		return list.At(1) == nil // Any null gives null.
	}
}

// clampedInt converts a number to 32 bits like MongoDB: it truncates the fraction, clamps to the bounds, and converts
// NaN to 0.
func clampedInt(value any) (int64, bool) {
	f, ok := document.FloatNumber(value)
	if math.IsNaN(f) {
		return 0, ok
	}
	return int64(min(max(f, math.MinInt32), math.MaxInt32)), ok
}

// apply slices the arrays at a path in o. A path continues through objects and through the objects in arrays, but not
// through arrays in arrays.
func (s *fieldSlice) apply(e *Evaluation, o document.Object, path []string) document.Object {
	value, ok := o.Field(path[0])
	if !ok || !e.spend(arrayWork+o.Len()) { // A slice copies the object.
		return o
	}
	switch v := value.(type) {
	case document.Object:
		if len(path) > 1 {
			return o.Put(path[0], s.apply(e, v, path[1:]))
		}
	case document.Array:
		if len(path) == 1 {
			return o.Put(path[0], document.ArrayOf(s.part(v.Items())))
		}
		if !e.steps(v.Len()) {
			return o
		}
		items := slices.Clone(v.Items())
		for i, item := range items {
			if inner, ok := item.(document.Object); ok {
				items[i] = s.apply(e, inner, path[1:])
			}
		}
		return o.Put(path[0], document.ArrayOf(items))
	}
	return o
}

// atPosition cuts the first array on the positional path down to the element through which the filter matched.
// Without an array on the path it cuts nothing.
func (p *Projection) atPosition(e *Evaluation, filter *Filter, doc, projected document.Object) (document.Object, error) {
	field := strings.Join(p.positional, ".") + ".$"
	if filter != nil && (filter.canFail || filter.Near() != nil) {
		return document.Object{}, boterr.Invalid(field, "a path that ends in $ cannot be used with $expr, $near or $nearSphere in the filter")
	}
	position, err := e.positionOf(filter, doc)
	if err != nil {
		return document.Object{}, err
	}
	var current any = projected
	for i, name := range p.positional {
		o, ok := current.(document.Object)
		if !ok {
			break
		}
		current, _ = o.Field(name)
		array, ok := current.(document.Array)
		if !ok {
			continue
		}
		if !position.found || int(position.index) >= array.Len() {
			return document.Object{}, boterr.Invalid(field, "the filter has no condition that matched an element of this array")
		}
		only := document.ArrayOf([]any{array.At(int(position.index))})
		return putAt(projected, p.positional[:i+1], only), nil
	}
	return projected, nil
}

// specialOperator returns an operator of a query that matches without a known array element, or "" if there is
// none.
func specialOperator(query any) string {
	switch q := query.(type) {
	case document.Array:
		for _, item := range q.Items() {
			if special := specialOperator(item); special != "" {
				return special
			}
		}
	case document.Object:
		for key, operand := range q.All() {
			switch key {
			case "$expr", "$near", "$nearSphere", "$text", "$where", "$jsonSchema":
				return key
			case "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin":
				continue
			}
			if special := specialOperator(operand); special != "" {
				return special
			}
		}
	}
	return ""
}

// projectionNode is one level of a compiled projection. It is applied to objects and to each element of arrays,
// including nested arrays.
type projectionNode struct {
	// includes is true if unnamed fields are removed. Otherwise they are kept.
	includes bool
	fields   []*projectedField
	byName   map[string]*projectedField
	// computes is true if this level or a nested one computes fields.
	computes bool
	// planned is the plan for the last shape.
	planned atomic.Pointer[projectionPlan]
}

type projectedField struct {
	name string
	// inner is applied to the field's value.
	inner *projectionNode
	// computed computes the field's value.
	computed expression
	// kept is true if the field keeps its value, which may be cut down later.
	kept bool
}

// decide sets, on all levels, whether unnamed fields are removed.
func (n *projectionNode) decide(includes bool) {
	n.includes = includes
	for _, field := range n.fields {
		switch {
		case field.inner != nil:
			field.inner.decide(includes)
			n.computes = n.computes || field.inner.computes
		case field.computed != nil:
			n.computes = true
			field.kept = !includes // The computed value replaces it.
		default:
			field.kept = field.kept || includes
		}
	}
}

// projectionPlan is the way in which a level projects all objects of one shape.
type projectionPlan struct {
	shape *document.Shape
	// positions are the positions of the kept fields. inner[i], if not nil, is applied to the field at
	// positions[i].
	positions []int
	inner     []*projectionNode
	// kept is the shape of the kept fields.
	kept *document.Shape
}

func (n *projectionNode) planFor(s *document.Shape) *projectionPlan {
	if known := n.planned.Load(); known != nil && known.shape == s {
		return known
	}
	plan := &projectionPlan{shape: s}
	var names []string
	for i, name := range s.Names() {
		field := n.byName[name]
		if field == nil && n.includes || field != nil && !field.kept && field.inner == nil {
			continue
		}
		var inner *projectionNode
		if field != nil {
			inner = field.inner
		}
		names = append(names, name)
		plan.positions = append(plan.positions, i)
		plan.inner = append(plan.inner, inner)
	}
	plan.kept = document.NewShape(names)
	n.planned.Store(plan)
	return plan
}

// chosen returns the kept fields of an object.
func (n *projectionNode) chosen(o document.Object) document.Object {
	if o.IsZero() || o.Err() != nil {
		return o
	}
	plan := n.planFor(o.Shape())
	return plan.kept.Object(func(i int) any {
		value := o.At(plan.positions[i])
		if inner := plan.inner[i]; inner != nil {
			return inner.chosenOf(value)
		}
		return value
	})
}

// chosenOf returns the kept parts of a value. An inclusion drops a value without fields, or replaces it by an
// object if fields are computed inside it.
func (n *projectionNode) chosenOf(value any) any {
	switch v := value.(type) {
	case document.Object:
		return n.chosen(v)
	case document.Array:
		items := make([]any, 0, v.Len())
		for _, item := range v.Items() {
			if kept := n.chosenOf(item); kept != document.Missing {
				items = append(items, kept)
			}
		}
		return document.ArrayOf(items)
	default:
		switch {
		case !n.includes:
			return value
		case n.computes:
			return document.O()
		default:
			return document.Missing
		}
	}
}

// withComputed sets the computed fields in their order: in place if they exist, else at the end.
func (n *projectionNode) withComputed(o document.Object, run *expressionRun) (document.Object, error) {
	for _, field := range n.fields {
		var value any
		var err error
		switch {
		case field.computed != nil:
			value, err = field.computed.evaluate(run)
		case field.inner != nil && field.inner.computes:
			value, err = field.inner.withComputedIn(o.Value(field.name), run)
		default:
			continue
		}
		if err == nil {
			err = run.limits.steps(o.Len())
		}
		if err != nil {
			return document.Object{}, boterr.PrefixField(field.name, err)
		}
		o = o.Put(field.name, value)
	}
	return o, nil
}

// withComputedIn sets the computed fields inside a value. A value without fields becomes an object.
func (n *projectionNode) withComputedIn(value any, run *expressionRun) (any, error) {
	switch v := value.(type) {
	case document.Object:
		return n.withComputed(v, run)
	case document.Array:
		if err := run.limits.items(v.Len()); err != nil {
			return nil, err
		}
		items := make([]any, 0, v.Len())
		for _, item := range v.Items() {
			next, err := n.withComputedIn(item, run)
			if err != nil {
				return nil, err
			}
			items = append(items, next)
		}
		return run.limits.array(items)
	default:
		return n.withComputed(document.O(), run)
	}
}
