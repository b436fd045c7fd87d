package query

import (
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// projectionNode is one level of a compiled projection. It is applied to objects
// and, element by element, to arrays, nested ones included.
type projectionNode struct {
	// includes tells that fields which the level does not name are left out, else
	// they are kept.
	includes bool
	fields   []projectedField
	// byName are the positions in fields where they are many.
	byName map[string]int
	// computes tells that the level or one inside it computes fields.
	computes bool
	// planned is the plan for the shape that came last.
	planned atomic.Pointer[projectionPlan]
}

// projectedField is a field that a projection names.
type projectedField struct {
	name string
	// inner is applied to what the field holds.
	inner *projectionNode
	// computed gives the field its value.
	computed expression
	// kept tells that the field stays as it is.
	kept bool
}

// compiled returns the level as it is applied.
func (s *projectionSpec) compiled(includes bool) *projectionNode {
	n := &projectionNode{includes: includes, fields: make([]projectedField, 0, len(s.fields))}
	for _, field := range s.fields {
		f := projectedField{name: field.name, computed: field.computed}
		switch {
		case field.inner != nil:
			f.inner = field.inner.compiled(includes)
			n.computes = n.computes || f.inner.computes
		case field.computed != nil:
			n.computes = true
			f.kept = !includes // It takes its new value where it stands.
		default:
			f.kept = includes || field.cut
		}
		n.fields = append(n.fields, f)
	}
	if len(n.fields) > fewFields {
		n.byName = make(map[string]int, len(n.fields))
		for i := range n.fields {
			n.byName[n.fields[i].name] = i
		}
	}
	return n
}

// find returns the field of that name, or nil.
func (n *projectionNode) find(name string) *projectedField {
	if n.byName != nil {
		if i, ok := n.byName[name]; ok {
			return &n.fields[i]
		}
		return nil
	}
	for i := range n.fields {
		if n.fields[i].name == name {
			return &n.fields[i]
		}
	}
	return nil
}

// projectionPlan is what a level does to all objects of one shape.
type projectionPlan struct {
	shape *document.Shape
	// positions are those of the fields that are kept; inner, at the same places, is
	// what is applied to them, nil where they stay as they are.
	positions []int
	inner     []*projectionNode
	// kept is the shape of the fields that are kept.
	kept *document.Shape
}

// planFor returns the plan for a shape.
func (n *projectionNode) planFor(s *document.Shape) *projectionPlan {
	if known := n.planned.Load(); known != nil && known.shape == s {
		return known
	}
	plan := &projectionPlan{shape: s}
	var names []string
	for i, name := range s.Names() {
		field := n.find(name)
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

// project returns what the projection leaves of the document of a run, with the fields
// that it computes.
func (n *projectionNode) project(run *expressionRun) (document.Object, error) {
	projected := n.chosen(run.root)
	if !n.computes {
		return projected, nil
	}
	return n.withComputed(projected, run)
}

// chosen returns the fields of an object that are kept.
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

// chosenOf returns what is kept of a value. A value without fields is dropped by an inclusion, or
// replaced by an object where fields are computed inside it.
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

// withComputed sets the fields that are computed, in their order: in their place
// where they exist, else at the end.
func (n *projectionNode) withComputed(o document.Object, run *expressionRun) (document.Object, error) {
	for i := range n.fields {
		field := &n.fields[i]
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

// withComputedIn sets the fields that are computed inside a value. What holds no
// fields becomes an object of them.
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
