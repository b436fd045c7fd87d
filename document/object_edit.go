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
	switch {
	case len(changes) == 0:
		return e.from
	case len(changes) == 1 && !changes[0].changesKeys():
		return e.from.Put(changes[0].name, changes[0].value)
	case e.from.Len()+len(changes) <= wideFields && e.from.node != nil:
		return e.from.edited(changes, e.shapes)
	case len(changes) > linearKeys, slices.ContainsFunc(changes, fieldChange.changesKeys):
		return e.from.rebuilt(changes)
	}
	o := e.from
	for _, c := range changes {
		o = o.Put(c.name, c.value)
	}
	return o
}

// rebuilt returns an object of any width, with changes applied.
func (o Object) rebuilt(changes []fieldChange) Object {
	b := NewBuilder(o.Len() + len(changes))
	for name, value := range o.All() {
		b.Set(name, value)
	}
	for _, c := range changes {
		if c.at >= 0 || c.value != Missing {
			b.Set(c.name, c.value)
		}
	}
	if err := o.Err(); err != nil {
		b.fail(err)
	}
	return b.ObjectWithoutMissing()
}

// edited returns an object that is not wide, with changes applied.
func (o Object) edited(changes []fieldChange, shapes *Shapes) Object {
	from := o.node
	shape := from.shape.edited(changes, shapes)
	next := newObjectNode(max(len(shape.names), len(from.values)))
	next.values = append(next.values, from.values...)
	removed := 0
	for i := range changes {
		switch c := &changes[i]; {
		case c.at < 0 && c.value != Missing:
			next.values = append(next.values, c.value)
		case c.at >= 0:
			next.values[c.at] = c.value
			if c.value == Missing {
				removed++
			}
		}
	}
	if removed > 0 {
		next.values = slices.DeleteFunc(next.values, func(value any) bool { return value == Missing })
	}
	next.fail(from.err())
	next.complete(shape)
	for i := range changes {
		if changes[i].at < 0 {
			next.refuseNUL(changes[i].name)
		}
	}
	next.checkDepth()
	return Object{next}
}

// edited returns the shape of an object with this shape after changes: one of shapes if possible.
func (s *Shape) edited(changes []fieldChange, shapes *Shapes) *Shape {
	if !slices.ContainsFunc(changes, fieldChange.changesKeys) {
		return s
	}
	var room [32]string
	keys := room[:0]
	for i, key := range s.names {
		if !slices.ContainsFunc(changes, func(c fieldChange) bool { return c.at == i && c.value == Missing }) {
			keys = append(keys, key)
		}
	}
	for _, c := range changes {
		if c.at < 0 && c.value != Missing {
			keys = append(keys, c.name)
		}
	}
	if known := shapes.find(keys); known != nil {
		return known
	}
	return NewShape(slices.Clone(keys))
}

// changesKeys reports whether a change adds or removes a field.
func (c fieldChange) changesKeys() bool { return c.at < 0 || c.value == Missing }
