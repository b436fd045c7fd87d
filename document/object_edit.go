package document

import (
	"iter"
	"slices"
)

// Edit is a set of changes to an object's fields. It copies the object only once, however many fields change.
type Edit struct {
	from Object
	// few holds the first changes without a separate allocation, and count is their number. If there are
	// more, all are in many.
	few   [6]fieldChange
	count int
	many  []fieldChange
	// byName holds the indexes of the changes if there are many.
	byName map[string]int
	// shapes are the shapes shared by objects of the same store, or nil.
	shapes *Shapes
}

// NewEdit begins an edit of o. shapes, which may be nil, are the shapes of a store; the result shares one of
// them if possible.
func NewEdit(o Object, shapes *Shapes) Edit { return Edit{from: o, shapes: shapes} }

func (e *Edit) changes() []fieldChange {
	if e.many != nil {
		return e.many
	}
	return e.few[:e.count]
}

// add adds the change of a field that has none yet.
func (e *Edit) add(c fieldChange) {
	if e.many == nil && e.count < len(e.few) {
		e.few[e.count] = c
		e.count++
		return
	}
	if e.many == nil {
		e.many = append(make([]fieldChange, 0, 2*len(e.few)), e.few[:]...)
	}
	e.many = append(e.many, c)
	switch count := len(e.many); {
	case e.byName != nil:
		e.byName[c.name] = count - 1
	case count == linearKeys:
		e.byName = make(map[string]int, 2*linearKeys)
		for i := range e.many {
			e.byName[e.many[i].name] = i
		}
	}
}

// Before returns the object without the changes.
func (e *Edit) Before() Object { return e.from }

// IsEmpty reports whether there are no changes.
func (e *Edit) IsEmpty() bool { return len(e.changes()) == 0 }

// Changes returns the changed fields with their new values, or Missing for a removed field.
func (e *Edit) Changes() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, c := range e.changes() {
			if !yield(c.name, c.value) {
				return
			}
		}
	}
}

// Withdraw drops the changes of some fields.
func (e *Edit) Withdraw(isWithdrawn func(field string) bool) {
	kept := slices.DeleteFunc(e.changes(), func(c fieldChange) bool { return isWithdrawn(c.name) })
	if e.many != nil {
		e.many, e.byName = e.many[:len(kept)], nil
	} else {
		e.count = len(kept)
	}
}

type fieldChange struct {
	name string
	// at is its position in the object, or -1 if it is new.
	at int
	// value is missing if the field is removed.
	value any
}

func (e *Edit) changeOf(name string) *fieldChange {
	changes := e.changes()
	if e.byName != nil {
		if i, ok := e.byName[name]; ok {
			return &changes[i]
		}
		return nil
	}
	for i := range changes {
		if changes[i].name == name {
			return &changes[i]
		}
	}
	return nil
}

// Value returns the current value of a field, or Missing.
func (e *Edit) Value(name string) any {
	if c := e.changeOf(name); c != nil {
		return c.value
	}
	return e.from.Value(name)
}

// Set sets a field to a value, which may be Missing. It records no change if the field already has the value.
func (e *Edit) Set(name string, value any) {
	if c := e.changeOf(name); c != nil {
		c.value = value
		return
	}
	at, old := -1, any(Missing)
	if e.from.node != nil {
		if at = e.from.node.shape.Position(name); at >= 0 {
			old = e.from.node.at(at)
		}
	}
	if !Identical(old, value) {
		e.add(fieldChange{name: name, at: at, value: value})
	}
}

// Object returns the object with the changes.
func (e *Edit) Object() Object {
	changes := e.changes()
	keepsKeys := !slices.ContainsFunc(changes, fieldChange.changesKeys)
	if keepsKeys && (len(changes) <= 1 || len(changes) <= linearKeys && e.from.Len() > wideFields) {
		o := e.from
		for _, c := range changes {
			o = o.Put(c.name, c.value)
		}
		return o
	}
	from := e.from.node
	if from == nil {
		from = emptyNode
	}
	added := 0
	for _, c := range changes {
		if c.at < 0 && c.value != Missing {
			added++
		}
	}
	next := newObjectNode(len(from.shape.names) + added)
	next.values = from.appendValues(next.values)
	next.fail(from.err())
	var room [32]string
	names := append(room[:0], from.shape.names...)
	for _, c := range changes {
		switch {
		case c.at >= 0:
			next.values[c.at] = c.value
		case c.value != Missing:
			next.refuseNUL(c.name)
			names, next.values = append(names, c.name), append(next.values, c.value)
		}
	}
	shape := from.shape
	if !keepsKeys {
		names = next.dropMissing(names)
		if shape = e.shapes.find(names); shape == nil {
			shape = NewShape(slices.Clone(names))
		}
	}
	next.complete(shape)
	next.checkDepth()
	return Object{next}
}

// dropMissing removes the missing values with their names, and returns the other names.
func (n *objectNode) dropMissing(names []string) []string {
	kept := 0
	for i, value := range n.values {
		if value != Missing {
			names[kept], n.values[kept] = names[i], value
			kept++
		}
	}
	clear(n.values[kept:])
	n.values = n.values[:kept]
	return names[:kept]
}

// changesKeys reports whether a change adds or removes a field.
func (c fieldChange) changesKeys() bool { return c.at < 0 || c.value == Missing }
