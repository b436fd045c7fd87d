package document

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

// Shape is the names of an object's fields in their order. Objects may share one, by its address,
// so that what is known of a shape holds for all of them. Equal objects have equal shapes, shared
// or not.
type Shape struct {
	names []string
	// places are those of the keys of a wide object, made when the first is looked for.
	places atomic.Pointer[map[string]int]
}

// emptyShape is the shape of the object without fields. It is never changed.
var emptyShape = &Shape{}

// NewShape returns the shape of different names. The caller does not change the slice afterwards.
func NewShape(names []string) *Shape { return &Shape{names: names} }

// newShape returns a shape whose names, none as yet, have room for a number of fields. Shape and room
// are one piece of memory.
func newShape(fields int) *Shape {
	switch {
	case fields <= 2:
		return shapeFor2()
	case fields <= 4:
		return shapeFor4()
	case fields <= 8:
		return shapeFor8()
	default:
		return &Shape{names: make([]string, 0, fields)}
	}
}

func shapeFor2() *Shape {
	s := &struct {
		Shape

		room [2]string
	}{}
	s.names = s.room[:0]
	return &s.Shape
}

func shapeFor4() *Shape {
	s := &struct {
		Shape

		room [4]string
	}{}
	s.names = s.room[:0]
	return &s.Shape
}

func shapeFor8() *Shape {
	s := &struct {
		Shape

		room [8]string
	}{}
	s.names = s.room[:0]
	return &s.Shape
}

// Names returns the names. They must not be changed.
func (s *Shape) Names() []string { return s.names }

// Object returns an object whose values a function gives. A field that is Missing is left
// out.
func (s *Shape) Object(value func(i int) any) Object {
	node := newObjectNode(len(s.names))
	isComplete := true
	for i := range s.names {
		v := value(i)
		isComplete = isComplete && v != Missing
		node.values = append(node.values, v)
	}
	if !isComplete {
		b := Builder{shape: s, node: node}
		return b.ObjectWithoutMissing()
	}
	node.complete(s)
	return Object{node}
}

// withKey returns the shape with a further key at the end.
func (s *Shape) withKey(key string) *Shape {
	with := newShape(len(s.names) + 1)
	with.names = append(append(with.names, s.names...), key)
	return with
}

// without returns the shape without its name number at.
func (s *Shape) without(at int) *Shape {
	rest := newShape(len(s.names) - 1)
	rest.names = append(append(rest.names, s.names[:at]...), s.names[at+1:]...)
	return rest
}

// Position returns the place of a name, or -1.
func (s *Shape) Position(key string) int {
	if len(s.names) <= wideFields {
		return slices.Index(s.names, key)
	}
	places := s.places.Load()
	if places == nil {
		found := s.findPlaces()
		places = &found
		s.places.Store(places)
	}
	if i, ok := (*places)[key]; ok {
		return i
	}
	return -1
}

func (s *Shape) findPlaces() map[string]int {
	places := make(map[string]int, len(s.names))
	for i, key := range s.names {
		places[key] = i
	}
	return places
}

// maxShapes bounds what a Shapes remembers. Documents whose keys are data would
// fill it without end otherwise.
const maxShapes = 1024

// Shapes lets objects with the same keys in the same order share one list of
// them, which saves memory and lets a compiled filter find a field by its
// position. A store keeps one for each collection. The zero Shapes is ready, and
// safe for concurrent use.
type Shapes struct {
	mu      sync.Mutex
	seed    maphash.Seed
	byHash  map[uint64][]*Shape
	shared  map[*Shape]struct{}
	repeats interner
}

// Share returns o with the list of keys that the earlier objects of the same keys
// have, objects inside it included.
func (s *Shapes) Share(o Object) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.object(o)
}

// Keep returns a copy of o as Share does, for a document that will stay: its parts lie together in
// memory, and its short values are interned.
func (s *Shapes) Keep(o Object) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keptObject(o)
}

func (s *Shapes) keptObject(o Object) Object {
	if o.node == nil || o.node.wide != nil {
		return s.object(o)
	}
	node := o.node.copied(s.shape(o.node.shape), o.node.values)
	s.keepAll(node.values)
	return Object{node}
}

// keepAll replaces values by those that are kept.
func (s *Shapes) keepAll(values []any) {
	for i, value := range values {
		switch v := value.(type) {
		case Object:
			values[i] = s.keptObject(v)
		case Array:
			values[i] = s.keptArray(v)
		default:
			values[i] = s.repeats.intern(value)
		}
	}
}

func (s *Shapes) keptArray(a Array) Array {
	if a.node == nil {
		return a
	}
	node := *a.node
	node.items = slices.Clone(node.items)
	s.keepAll(node.items)
	return Array{&node}
}

func (s *Shapes) object(o Object) Object {
	if o.node == nil || o.node.wide != nil && o.node.wide.shared == s {
		return o
	}
	if o.node.wide != nil {
		return s.wideObject(o)
	}
	shared := s.shape(o.node.shape)
	values, changed := s.values(o.node.values)
	if shared == o.node.shape && !changed {
		return o
	}
	return Object{o.node.copied(shared, values)}
}

// wideObject is object for a wide one, which it marks as shared.
func (s *Shapes) wideObject(o Object) Object {
	node := *o.node
	node.shape = s.shape(node.shape)
	node.wide = &wideValues{pages: slices.Clone(node.wide.pages), shared: s}
	for i, page := range node.wide.pages {
		if values, changed := s.values(page[:]); changed {
			node.wide.pages[i] = (*[pageFields]any)(values)
		}
	}
	return Object{&node}
}

// values shares the shapes of the objects among values. It copies the slice only
// where one of them changed.
func (s *Shapes) values(values []any) ([]any, bool) {
	changed := false
	for i, v := range values {
		next := v
		same := true
		switch v := v.(type) {
		case Object:
			o := s.object(v)
			next, same = o, o == v
		case Array:
			a := s.array(v)
			next, same = a, a == v
		}
		if same {
			continue
		}
		if !changed {
			values, changed = slices.Clone(values), true
		}
		values[i] = next
	}
	return values, changed
}

func (s *Shapes) array(a Array) Array {
	if a.node == nil {
		return a
	}
	items, changed := s.values(a.node.items)
	if !changed {
		return a
	}
	node := *a.node
	node.items = items
	return Array{&node}
}

// shape returns the shared shape with the same keys.
func (s *Shapes) shape(of *Shape) *Shape {
	if _, ok := s.shared[of]; ok || len(of.names) == 0 {
		return of
	}
	if s.byHash == nil {
		s.byHash, s.shared, s.seed = map[uint64][]*Shape{}, map[*Shape]struct{}{}, maphash.MakeSeed()
	}
	hash := s.hash(of.names)
	for _, known := range s.byHash[hash] {
		if slices.Equal(known.names, of.names) {
			return known
		}
	}
	if len(s.shared) == maxShapes {
		return of
	}
	s.shared[of] = struct{}{}
	s.byHash[hash] = append(s.byHash[hash], of)
	return of
}

func (s *Shapes) hash(keys []string) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	for _, key := range keys {
		_, _ = h.WriteString(key) // A Hash never fails.
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}
