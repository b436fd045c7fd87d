package document

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// objectNode is one version of an object. It is never changed once it is reachable
// through an Object.
type objectNode struct {
	shape *Shape
	// values are in the order of the shape's keys. A wide object has none here.
	values []any
	// rare has the properties of few objects, nil for the others. It is never changed, since nodes share it.
	rare *rareParts
	// depth is the number of levels of nesting, this one included, size what Size returns. They
	// are small numbers, so that the many objects of a store are.
	depth, size int32
}

// rareParts are the parts of an object that few have.
type rareParts struct {
	// wide has the values of a wide object.
	wide *wideValues
	// err is the result of Err.
	err error
}

// wide returns the values of a wide object, nil for others.
func (n *objectNode) wide() *wideValues {
	if n.rare == nil {
		return nil
	}
	return n.rare.wide
}

// err returns the error that the object was made with, or nil.
func (n *objectNode) err() error {
	if n.rare == nil {
		return nil
	}
	return n.rare.err
}

// newObjectNode returns a node whose values, none as yet, have room for a number of fields. Node
// and room are one piece of memory, which saves a cache miss when a field is read.
func newObjectNode(fields int) *objectNode {
	switch {
	case fields <= 1:
		return nodeIn(func(r *[1]any) []any { return r[:0] })
	case fields <= 2:
		return nodeIn(func(r *[2]any) []any { return r[:0] })
	case fields <= 4:
		return nodeIn(func(r *[4]any) []any { return r[:0] })
	case fields <= 6:
		return nodeIn(func(r *[6]any) []any { return r[:0] })
	case fields <= 8:
		return nodeIn(func(r *[8]any) []any { return r[:0] })
	case fields <= 12:
		return nodeIn(func(r *[12]any) []any { return r[:0] })
	case fields <= 16:
		return nodeIn(func(r *[16]any) []any { return r[:0] })
	default:
		return &objectNode{values: make([]any, 0, fields)}
	}
}

// nodeIn returns a node in one piece of memory with an array for its values.
func nodeIn[R any](sliced func(*R) []any) *objectNode {
	n := &struct {
		objectNode

		room R
	}{}
	n.values = sliced(&n.room)
	return &n.objectNode
}

// setRare sets the rare parts, none in most objects.
func (n *objectNode) setRare(wide *wideValues, err error) {
	if n.rare = nil; wide != nil || err != nil {
		n.rare = &rareParts{wide: wide, err: err}
	}
}

// fail records an error, of several the first.
func (n *objectNode) fail(err error) {
	if err != nil && n.err() == nil {
		n.setRare(n.wide(), err)
	}
}

// emptyNode is the node of the object without fields.
var emptyNode = &objectNode{values: []any{}, shape: emptyShape, depth: 1, size: emptySize}

// An object of more than wideFields fields keeps its values in pages, so that changing
// one field copies one page and the list of them, and not all values.
const (
	wideFields = 64
	pageFields = 32
)

type wideValues struct {
	pages []*[pageFields]any
	// shared is the Shapes with which all objects among the values share their keys, nil if that is not
	// known.
	shared *Shapes
}

// at returns the value of field i.
func (n *objectNode) at(i int) any {
	if i < len(n.values) {
		return n.values[i]
	}
	return n.rare.wide.pages[i/pageFields][i%pageFields]
}

// len returns the number of fields.
func (n *objectNode) len() int { return len(n.shape.names) }

func (n *objectNode) appendValues(values []any) []any {
	if n.wide() == nil {
		return append(values, n.values...)
	}
	for i := range n.len() {
		values = append(values, n.at(i))
	}
	return values
}

// allValues returns all values, which must not be changed.
func (n *objectNode) allValues() []any {
	if n.wide() == nil {
		return n.values
	}
	return n.appendValues(nil)
}

// complete sets the shape, and what follows from it and the values, which are there already. It
// puts the values of a wide object into pages.
func (n *objectNode) complete(s *Shape) {
	n.shape = s
	depth, size := 1, emptySize
	for i, value := range n.values {
		depth = max(depth, 1+depthOf(value))
		size = addSizes(size, fieldSize(s.names[i], value))
		if err := errOf(value); err != nil {
			n.fail(boterr.PrefixField(s.names[i], err))
		}
	}
	n.measured(depth, size)
	if len(n.values) > wideFields {
		n.setRare(widened(n.values), n.err())
		n.values = nil
	}
}

// measured sets the depth, which is a small number, and the size, which addSizes bounds.
func (n *objectNode) measured(depth, size int) {
	n.depth, n.size = int32(depth), int32(size)
}

// widened puts the values of a wide object into pages.
func widened(values []any) *wideValues {
	wide := &wideValues{}
	for part := range slices.Chunk(values, pageFields) {
		page := new([pageFields]any)
		copy(page[:], part)
		wide.pages = append(wide.pages, page)
	}
	return wide
}

// withValue returns the node with another value of field i.
func (n *objectNode) withValue(i int, value any) *objectNode {
	old := n.at(i)
	var next *objectNode
	if n.wide() == nil {
		next = newObjectNode(len(n.values))
		next.values = append(next.values, n.values...)
		next.values[i] = value
	} else {
		next = &objectNode{}
		next.setRare(n.wide().with(i, value), nil)
	}
	next.shape = n.shape
	next.fail(n.err())
	next.measured(n.depthWith(old, value, next), n.sizeWith(old, value, next))
	return next
}

// sizeWith returns the size of the node after this one, in which a value is in the place of an old one.
func (n *objectNode) sizeWith(old, value any, next *objectNode) int {
	if n.size != largestSize {
		return addSizes(int(n.size)-SizeOf(old), SizeOf(value))
	}
	size := emptySize // How large it was is not known.
	for i, key := range next.shape.names {
		size = addSizes(size, fieldSize(key, next.at(i)))
	}
	return size
}

func (n *objectNode) depthWith(old, value any, next *objectNode) int {
	depth := max(int(n.depth), 1+depthOf(value))
	if depth != 1+depthOf(old) || depthOf(value) >= depthOf(old) {
		return depth
	}
	depth = 1 // The old value may have been the deepest.
	for i := range next.len() {
		depth = max(depth, 1+depthOf(next.at(i)))
	}
	return depth
}

// copied returns the node with other values, and a shape of the same keys. It is not
// for wide ones.
func (n *objectNode) copied(s *Shape, values []any) *objectNode {
	next := newObjectNode(len(values))
	values = append(next.values, values...)
	*next = *n
	next.shape, next.values = s, values
	return next
}

// with returns the values with another one in the place of value i.
func (w *wideValues) with(i int, value any) *wideValues {
	next := &wideValues{pages: slices.Clone(w.pages)}
	page := *w.pages[i/pageFields]
	page[i%pageFields] = value
	next.pages[i/pageFields] = &page
	if sharesKeysWith(w.shared, value) {
		next.shared = w.shared
	}
	return next
}

func sharesKeysWith(shapes *Shapes, value any) bool {
	if o, ok := value.(Object); ok {
		return o.node != nil && o.node.wide() != nil && o.node.wide().shared == shapes
	}
	return depthOf(value) == 0
}

// refuseNUL records an error if a name holds a NUL, which no database can keep.
func (n *objectNode) refuseNUL(name string) {
	if strings.IndexByte(name, 0) >= 0 {
		n.fail(nulInName(name))
	}
}

func nulInName(name string) error {
	return boterr.Invalid("", "the name %q of a field holds a NUL", name)
}

// checkDepth records an error if the node is nested too deep.
func (n *objectNode) checkDepth(key string) {
	if n.depth > MaxNesting {
		n.fail(boterr.Invalid(key, "is nested deeper than %d levels", MaxNesting))
	}
}
