package document

import (
	"slices"
	"sync/atomic"
)

// Shape holds the names of an object's fields, in order. Many objects may share one *Shape, so that a field's
// position is looked up once for all of them. Objects with the same names may also have separate Shapes.
type Shape struct {
	names []string
	// places maps the names of a wide object to their positions. It is created at the first lookup.
	places atomic.Pointer[map[string]int]
}

// emptyShape is the shape of an object without fields. It never changes.
var emptyShape = &Shape{}

// NewShape returns a shape with these names, which must be distinct. The caller must not change the slice
// afterwards.
func NewShape(names []string) *Shape { return &Shape{names: names} }

// newShape returns a shape without names, with memory for a number of them.
func newShape(fields int) *Shape { return &Shape{names: make([]string, 0, fields)} }

// apart returns a copy of the shape in separate memory. The shape of a new object shares its memory with the
// object.
func (s *Shape) apart() *Shape { return NewShape(slices.Clone(s.names)) }

// memory returns the size of the shape in bytes.
func (s *Shape) memory() int {
	const header, perName = 32, 16
	memory := header
	for _, name := range s.names {
		memory += perName + len(name)
	}
	return memory
}

// Names returns the names. They must not be changed.
func (s *Shape) Names() []string { return s.names }

// Object returns an object with the values that a function returns. Fields whose value is Missing are left
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

// withKey returns the shape with a key appended.
func (s *Shape) withKey(key string) *Shape {
	with := newShape(len(s.names) + 1)
	with.names = append(append(with.names, s.names...), key)
	return with
}

// without returns the shape without the name at a position.
func (s *Shape) without(at int) *Shape {
	rest := newShape(len(s.names) - 1)
	rest.names = append(append(rest.names, s.names[:at]...), s.names[at+1:]...)
	return rest
}

// Position returns the position of a name, or -1.
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
