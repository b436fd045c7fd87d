package document

import (
	"hash/maphash"
	"math"
	"slices"
	"sync"
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
		s = NewShape(node.dropMissing(slices.Clone(s.names)))
	}
	node.complete(s)
	return Object{node}
}

func (s *Shape) withKey(key string) *Shape {
	with := newShape(len(s.names) + 1)
	with.names = append(append(with.names, s.names...), key)
	return with
}

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

// maxShapes and maxShapeMemory bound the size of a Shapes. Documents whose keys are data would otherwise fill it
// without end.
const (
	maxShapes      = 1024
	maxShapeMemory = 1 << 20
)

// fewShapes is the number of shapes that are searched linearly: most collections have no more.
const fewShapes = 4

// Shapes lets objects with the same keys in the same order share one list of keys, which saves memory and lets
// a compiled filter find a field by its position. A store keeps one Shapes for each collection. The zero Shapes
// is ready to use, and safe for concurrent use.
type Shapes struct {
	mu sync.Mutex
	// few are the first shapes, followed by nil.
	few [fewShapes]*Shape
	// memory is the size of all shapes in bytes.
	memory int
	// others are the shapes beyond the first few. byHash finds them.
	others  map[*Shape]struct{}
	byHash  map[uint64][]*Shape
	seed    maphash.Seed
	repeats interner
}

// Share returns o with the shape shared by earlier objects with the same keys. It does the same for nested
// objects.
func (s *Shapes) Share(o Object) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.object(o)
}

// Keep returns a copy of o with shared shapes, for a document that stays in memory for long. Its parts are
// close together in memory, and its short values are interned.
func (s *Shapes) Keep(o Object) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keptObject(o)
}

func (s *Shapes) keptObject(o Object) Object {
	if o.node == nil || o.node.wide() != nil {
		return s.object(o)
	}
	node := o.node.copied(s.shape(o.node.shape), o.node.values)
	s.keepAll(node.values)
	return Object{node}
}

// keepAll replaces values by their kept copies.
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
	if o.node == nil || o.node.wide() != nil && o.node.wide().shared == s {
		return o
	}
	if o.node.wide() != nil {
		return s.wideObject(o)
	}
	shared := s.shape(o.node.shape)
	values, changed := s.values(o.node.values)
	if shared == o.node.shape && !changed {
		return o
	}
	return Object{o.node.copied(shared, values)}
}

// wideObject is object for a wide object, which it marks as shared.
func (s *Shapes) wideObject(o Object) Object {
	node := *o.node
	node.shape = s.shape(node.shape)
	wide := &wideValues{pages: slices.Clone(node.wide().pages), shared: s}
	for i, page := range wide.pages {
		if values, changed := s.values(page[:]); changed {
			wide.pages[i] = (*[pageFields]any)(values)
		}
	}
	node.setRare(wide, node.err())
	return Object{&node}
}

// values shares the shapes of objects among values. It copies the slice only if one of them changed.
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

func (s *Shapes) isShared(shape *Shape) bool {
	if len(shape.names) == 0 || slices.Contains(s.few[:], shape) {
		return true
	}
	_, ok := s.others[shape]
	return ok
}

// shape returns the shared shape with the same keys. If there are too many shapes, it returns an unshared one that has
// no memory in common with an object.
func (s *Shapes) shape(of *Shape) *Shape {
	if s.isShared(of) {
		return of
	}
	if known := s.known(of.names); known != nil {
		return known
	}
	memory := of.memory()
	if s.memory+memory > maxShapeMemory || len(s.others) == maxShapes-fewShapes {
		if len(of.names) > wideFields {
			return of // It has its own memory.
		}
		return of.apart()
	}
	s.memory += memory
	for i, known := range s.few {
		if known == nil {
			s.few[i] = of.apart()
			return s.few[i]
		}
	}
	if s.byHash == nil {
		s.byHash, s.others, s.seed = map[uint64][]*Shape{}, map[*Shape]struct{}{}, maphash.MakeSeed()
	}
	shared, hash := of.apart(), s.hash(of.names)
	s.others[shared] = struct{}{}
	s.byHash[hash] = append(s.byHash[hash], shared)
	return shared
}

// find returns the shared shape with these names, or nil if there is none.
func (s *Shapes) find(names []string) *Shape {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known(names)
}

// known is find for a caller that holds the lock.
func (s *Shapes) known(names []string) *Shape {
	for _, known := range s.few {
		if known != nil && slices.Equal(known.names, names) {
			return known
		}
	}
	if s.byHash == nil {
		return nil
	}
	for _, known := range s.byHash[s.hash(names)] {
		if slices.Equal(known.names, names) {
			return known
		}
	}
	return nil
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

// interner makes equal values in many documents share memory, if they were seen recently. That saves space,
// and speeds up filters, which then compare values in the processor's cache.
type interner struct {
	seed maphash.Seed
	// came is the number of values seen.
	came int
	// strings and numbers hold each value in the slot of its hash; a later value evicts the earlier one. They
	// are allocated once interning is likely to pay off.
	strings *[internSlots]any
	numbers *[internSlots]any
}

const (
	// internBits is the number of bits of a slot's number. internSlots is the number of slots.
	internBits  = 10
	internSlots = 1 << internBits
	// internAfter is the number of values after which interning begins.
	internAfter = 512
	// maxInternedLength is the length in bytes up to which a text is interned.
	maxInternedLength = 40
)

// intern returns an identical earlier value, or value itself.
func (r *interner) intern(value any) any {
	switch v := value.(type) {
	case string:
		if len(v) <= maxInternedLength && r.isWorth() {
			return r.stringOf(v, value)
		}
	case int64:
		if v != int64(uint8(v)) && r.isWorth() { // Go already has a shared value for each byte.
			return r.numberOf(uint64(v), value)
		}
	case float64:
		if r.isWorth() {
			return r.numberOf(math.Float64bits(v), value)
		}
	}
	return value
}

func (r *interner) isWorth() bool {
	r.came++
	if r.came <= internAfter {
		return false
	}
	if r.strings == nil {
		r.seed, r.strings, r.numbers = maphash.MakeSeed(), new([internSlots]any), new([internSlots]any)
	}
	return true
}

func (r *interner) stringOf(text string, value any) any {
	place := &r.strings[maphash.String(r.seed, text)%internSlots]
	if kept, ok := (*place).(string); ok && kept == text {
		return *place
	}
	*place = value
	return value
}

// numberOf finds the slot by multiplying the bits of the number by a large odd number, which mixes the
// highest bits best.
func (r *interner) numberOf(bits uint64, value any) any {
	const mixer = 0x9e3779b97f4a7c15
	place := &r.numbers[bits*mixer>>(64-internBits)]
	if Identical(*place, value) {
		return *place
	}
	*place = value
	return value
}
