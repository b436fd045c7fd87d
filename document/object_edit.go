package document

import (
	"slices"
	"sync/atomic"
)

// objectEdit is changes of an object's fields that are made in one step: the object is
// copied once, however many fields change.
type objectEdit struct {
	from    Object
	changes []fieldChange
	// memory remembers the shapes of such edits, where it is not nil.
	memory *shapeMemory
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

// value returns the value that a field has now, or missing.
func (e *objectEdit) value(name string) any {
	for i := range e.changes {
		if e.changes[i].name == name {
			return e.changes[i].value
		}
	}
	return fieldOrMissing(e.from, name)
}

// set gives a field a value, which may be missing, unless it has it.
func (e *objectEdit) set(name string, value any) {
	for i := range e.changes {
		if e.changes[i].name == name {
			e.changes[i].value = value
			return
		}
	}
	at, old := -1, any(missing)
	if e.from.node != nil {
		if at = e.from.node.shape.position(name); at >= 0 {
			old = e.from.node.at(at)
		}
	}
	if !identical(old, value) {
		e.changes = append(e.changes, fieldChange{name: name, at: at, value: value})
	}
}

// object returns the object with the changes.
func (e *objectEdit) object() Object {
	switch {
	case len(e.changes) == 0:
		return e.from
	case len(e.changes) == 1 && !e.changes[0].changesKeys():
		return e.from.with(e.changes[0].name, e.changes[0].value)
	case e.from.node == nil, e.from.node.wide != nil, e.from.node.len()+len(e.changes) > wideFields:
		o := e.from
		for _, c := range e.changes {
			o = o.withOrWithout(c.name, c.value)
		}
		return o
	}
	return e.copied()
}

// copied is object for one that is not wide.
func (e *objectEdit) copied() Object {
	from := e.from.node
	shape := e.memory.edited(from.shape, e.changes)
	next := newObjectNode(max(len(shape.keys), len(from.values)))
	next.values = append(next.values, from.values...)
	removed := 0
	for i := range e.changes {
		switch c := &e.changes[i]; {
		case c.at < 0 && c.value != missing:
			next.values = append(next.values, c.value)
		case c.at >= 0:
			next.values[c.at] = c.value
			if c.value == missing {
				removed++
			}
		}
	}
	if removed > 0 {
		next.values = slices.DeleteFunc(next.values, func(value any) bool { return value == missing })
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
func (s *shape) edited(changes []fieldChange) *shape {
	keys := make([]string, 0, len(s.keys)+len(changes))
	for i, key := range s.keys {
		if !slices.ContainsFunc(changes, func(c fieldChange) bool { return c.at == i && c.value == missing }) {
			keys = append(keys, key)
		}
	}
	for _, c := range changes {
		if c.at < 0 && c.value != missing {
			keys = append(keys, c.name)
		}
	}
	return newShape(keys)
}

// changesKeys reports whether a change adds or removes a field.
func (c fieldChange) changesKeys() bool { return c.at < 0 || c.value == missing }

// shapeMemory remembers which shapes followed from which: documents of one kind change
// alike. So the new ones share their keys, too. Its zero value is ready, and safe for
// concurrent use.
type shapeMemory struct{ known atomic.Pointer[[]*transition] }

// mostTransitions is the number of transitions that are remembered.
const mostTransitions = 8

// edited is shape.edited.
func (m *shapeMemory) edited(from *shape, changes []fieldChange) *shape {
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
	if len(known) == mostTransitions {
		known = known[1:]
	}
	made := newTransition(from, changes)
	list := append(slices.Clip(slices.Clone(known)), made)
	m.known.Store(&list)
	return made.to
}

// transition is a shape that follows from another one by fields that are removed, whose
// places these are, and fields that are added.
type transition struct {
	from, to *shape
	removed  []int
	added    []string
}

func newTransition(from *shape, changes []fieldChange) *transition {
	t := &transition{from: from, to: from.edited(changes)}
	for _, c := range changes {
		switch {
		case c.at < 0 && c.value != missing:
			t.added = append(t.added, c.name)
		case c.at >= 0 && c.value == missing:
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
		case c.at < 0 && c.value != missing:
			if len(added) == 0 || added[0] != c.name {
				return false
			}
			added = added[1:]
		case c.at >= 0 && c.value == missing:
			if len(removed) == 0 || removed[0] != c.at {
				return false
			}
			removed = removed[1:]
		}
	}
	return len(removed) == 0 && len(added) == 0
}
