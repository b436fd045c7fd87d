package document

import (
	"iter"
	"slices"
	"sync/atomic"
)

// Edit is changes of an object's fields that are made in one step: the object is
// copied once, however many fields change.
type Edit struct {
	from    Object
	changes []fieldChange
	// memory remembers the shapes of such edits, where it is not nil.
	memory *EditMemory
}

// NewEdit begins an edit of o, with room for a number of changes. With the memory of earlier edits,
// which may be nil, objects that are changed alike share their shapes.
func NewEdit(o Object, changes int, memory *EditMemory) Edit {
	return Edit{from: o, changes: make([]fieldChange, 0, min(changes, fewChanges)), memory: memory}
}

// Before returns the object without the changes.
func (e *Edit) Before() Object { return e.from }

// IsEmpty reports whether nothing changes.
func (e *Edit) IsEmpty() bool { return len(e.changes) == 0 }

// Changes returns the fields that change with their new values, Missing for one that goes.
func (e *Edit) Changes() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for i := range e.changes {
			if !yield(e.changes[i].name, e.changes[i].value) {
				return
			}
		}
	}
}

// Withdraw takes the changes of certain fields back.
func (e *Edit) Withdraw(isWithdrawn func(field string) bool) {
	e.changes = slices.DeleteFunc(e.changes, func(c fieldChange) bool { return isWithdrawn(c.name) })
}

// fewChanges is the number of changes for which an edit makes room at once.
const fewChanges = 4

// fieldChange is the new value of a field.
type fieldChange struct {
	name string
	// at is its place in the object, -1 where it is new.
	at int
	// value is missing where the field is removed.
	value any
}

// Value returns the value that a field has now, or missing.
func (e *Edit) Value(name string) any {
	for i := range e.changes {
		if e.changes[i].name == name {
			return e.changes[i].value
		}
	}
	return e.from.Value(name)
}

// Set gives a field a value, which may be missing, unless it has it.
func (e *Edit) Set(name string, value any) {
	for i := range e.changes {
		if e.changes[i].name == name {
			e.changes[i].value = value
			return
		}
	}
	at, old := -1, any(Missing)
	if e.from.node != nil {
		if at = e.from.node.shape.Position(name); at >= 0 {
			old = e.from.node.at(at)
		}
	}
	if !Identical(old, value) {
		e.changes = append(e.changes, fieldChange{name: name, at: at, value: value})
	}
}

// Object returns the object with the changes.
func (e *Edit) Object() Object {
	switch {
	case len(e.changes) == 0:
		return e.from
	case len(e.changes) == 1 && !e.changes[0].changesKeys():
		return e.from.Put(e.changes[0].name, e.changes[0].value)
	case e.from.node == nil, e.from.node.wide != nil, e.from.node.len()+len(e.changes) > wideFields:
		o := e.from
		for _, c := range e.changes {
			o = o.Put(c.name, c.value)
		}
		return o
	}
	return e.copied()
}

// copied is object for one that is not wide.
func (e *Edit) copied() Object {
	from := e.from.node
	shape := e.memory.edited(from.shape, e.changes)
	next := newObjectNode(max(len(shape.names), len(from.values)))
	next.values = append(next.values, from.values...)
	removed := 0
	for i := range e.changes {
		switch c := &e.changes[i]; {
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
	next.err = from.err
	next.complete(shape)
	for i := range e.changes {
		if e.changes[i].at < 0 {
			next.refuseNUL(e.changes[i].name)
		}
	}
	next.checkDepth(e.changes[0].name)
	return Object{next}
}

// edited returns the shape of an object of this shape after changes.
func (s *Shape) edited(changes []fieldChange) *Shape {
	keys := make([]string, 0, len(s.names)+len(changes))
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
	return NewShape(keys)
}

// changesKeys reports whether a change adds or removes a field.
func (c fieldChange) changesKeys() bool { return c.at < 0 || c.value == Missing }

// EditMemory remembers which shapes followed from which: documents of one kind change
// alike. So the new ones share their keys, too. Its zero value is ready, and safe for
// concurrent use.
type EditMemory struct{ known atomic.Pointer[[]*transition] }

// maxTransitions is the number of transitions that are remembered.
const maxTransitions = 8

// edited is shape.edited.
func (m *EditMemory) edited(from *Shape, changes []fieldChange) *Shape {
	if !slices.ContainsFunc(changes, fieldChange.changesKeys) {
		return from
	}
	if m == nil {
		return from.edited(changes)
	}
	var known []*transition
	if list := m.known.Load(); list != nil {
		known = *list
	}
	for _, t := range known {
		if t.from == from && t.isBy(changes) {
			return t.to
		}
	}
	if len(known) == maxTransitions {
		known = known[1:]
	}
	made := newTransition(from, changes)
	list := append(slices.Clip(slices.Clone(known)), made)
	m.known.Store(&list)
	return made.to
}

// transition is a shape that follows from another one by the fields at some places being removed
// and others added.
type transition struct {
	from, to *Shape
	removed  []int
	added    []string
}

func newTransition(from *Shape, changes []fieldChange) *transition {
	t := &transition{from: from, to: from.edited(changes)}
	for _, c := range changes {
		switch {
		case c.at < 0 && c.value != Missing:
			t.added = append(t.added, c.name)
		case c.at >= 0 && c.value == Missing:
			t.removed = append(t.removed, c.at)
		}
	}
	return t
}

// isBy reports whether changes lead to the same shape.
func (t *transition) isBy(changes []fieldChange) bool {
	removed, added := t.removed, t.added
	for i := range changes {
		switch c := &changes[i]; {
		case c.at < 0 && c.value != Missing:
			if len(added) == 0 || added[0] != c.name {
				return false
			}
			added = added[1:]
		case c.at >= 0 && c.value == Missing:
			if len(removed) == 0 || removed[0] != c.at {
				return false
			}
			removed = removed[1:]
		}
	}
	return len(removed) == 0 && len(added) == 0
}
