package document

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// objectNode is one version of an object. It must not change once it is reachable through an Object.
type objectNode struct {
	shape *Shape
	// values are in the order of the shape's keys. The slice is empty for a wide object.
	values []any
	// rare has properties that few objects have, or nil for the others. It never changes, because nodes share
	// it.
	rare *rareParts
	// depth is the number of levels of nesting, including this one. size is the result of Size. They are
	// small types to save memory in a store's many objects.
	depth, size int32
}

// rareParts are the parts that few objects have.
type rareParts struct {
	// wide holds the values of a wide object.
	wide *wideValues
	// err is the result of Err.
	err error
}

func (n *objectNode) wide() *wideValues {
	if n.rare == nil {
		return nil
	}
	return n.rare.wide
}

func (n *objectNode) err() error {
	if n.rare == nil {
		return nil
	}
	return n.rare.err
}

// newObjectNode returns a node with memory for the values of a number of fields. Node and values are one
// allocation, which saves a cache miss when a field is read.
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
	case fields <= 24:
		return nodeIn(func(r *[24]any) []any { return r[:0] })
	default:
		return &objectNode{values: make([]any, 0, fields)}
	}
}

// nodeIn returns a node in one allocation with an array for its values.
func nodeIn[R any](sliced func(*R) []any) *objectNode {
	n := &struct {
		objectNode

		room R
	}{}
	n.values = sliced(&n.room)
	return &n.objectNode
}

// setRare sets the rare parts. Most objects have none.
func (n *objectNode) setRare(wide *wideValues, err error) {
	if n.rare = nil; wide != nil || err != nil {
		n.rare = &rareParts{wide: wide, err: err}
	}
}

func (n *objectNode) fail(err error) {
	if err != nil && n.err() == nil {
		n.setRare(n.wide(), err)
	}
}

// emptyNode is the node of the object without fields.
var emptyNode = &objectNode{values: []any{}, shape: emptyShape, depth: 1, size: emptySize}

// An object with more than wideFields fields keeps its values in pages, so that changing one field copies one
// page and the list of pages, and not all values.
const (
	wideFields = 64
	pageFields = 32
)

type wideValues struct {
	pages []*[pageFields]any
	// shared is the Shapes that contains the shapes of all objects among the values, or nil if that is unknown.
	shared *Shapes
}

func (n *objectNode) at(i int) any {
	if i < len(n.values) {
		return n.values[i]
	}
	return n.rare.wide.pages[i/pageFields][i%pageFields]
}

func (n *objectNode) appendValues(values []any) []any {
	if n.wide() == nil {
		return append(values, n.values...)
	}
	for i := range len(n.shape.names) {
		values = append(values, n.at(i))
	}
	return values
}

// allValues returns all values. They must not be changed.
func (n *objectNode) allValues() []any {
	if n.wide() == nil {
		return n.values
	}
	return n.appendValues(nil)
}

// complete sets the shape, and the properties derived from it and the existing values. It moves the values of
// a wide object into pages.
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
	n.depth, n.size = int32(depth), int32(size)
	if len(n.values) > wideFields {
		n.setRare(widened(n.values), n.err())
		n.values = nil
	}
}

// widened moves the values of a wide object into pages.
func widened(values []any) *wideValues {
	wide := &wideValues{}
	for part := range slices.Chunk(values, pageFields) {
		page := new([pageFields]any)
		copy(page[:], part)
		wide.pages = append(wide.pages, page)
	}
	return wide
}

// withValue returns a copy of the node with a different value of field i.
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
	if err := errOf(value); err != nil {
		next.fail(boterr.PrefixField(next.shape.names[i], err))
	}
	next.depth, next.size = int32(n.depthWith(old, value, next)), int32(n.sizeWith(old, value, next))
	return next
}

// sizeWith returns the size of the node after value has replaced old.
func (n *objectNode) sizeWith(old, value any, next *objectNode) int {
	if n.size != largestSize {
		return addSizes(int(n.size)-SizeOf(old), SizeOf(value))
	}
	size := emptySize // The size is unknown because it has reached the limit.
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
	for i := range len(next.shape.names) {
		depth = max(depth, 1+depthOf(next.at(i)))
	}
	return depth
}

// copied returns a copy of the node with different values, and a shape with the same keys. It must not be
// used for wide nodes.
func (n *objectNode) copied(s *Shape, values []any) *objectNode {
	next := newObjectNode(len(values))
	values = append(next.values, values...)
	*next = *n
	next.shape, next.values = s, values
	return next
}

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

// refuseNUL records an error if a name contains a NUL, which databases cannot store.
func (n *objectNode) refuseNUL(name string) {
	if strings.IndexByte(name, 0) >= 0 {
		n.fail(nulInName(name))
	}
}

func nulInName(name string) error {
	return boterr.Invalid("", "the name %q of a field contains a NUL byte", name)
}

func (n *objectNode) checkDepth() {
	if n.depth <= MaxNesting {
		return
	}
	for i, name := range n.shape.names {
		if depthOf(n.at(i)) >= MaxNesting {
			n.fail(boterr.Invalid(name, "is nested deeper than %d levels", MaxNesting))
		}
	}
}
