package document

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// objectNode is one version of an object. It is never changed once it is reachable
// through an Object.
type objectNode struct {
	shape *Shape
	// values are in the order of the shape's keys. A wide object has none here.
	values []any
	// wide has the values of a wide object.
	wide *wideValues
	// depth is the number of levels of nesting, this one included.
	depth int
	// size is what Size returns.
	size int
	err  error
}

// emptyNode is that of the object without fields.
var emptyNode = &objectNode{values: []any{}, shape: emptyShape, depth: 1, size: emptySize}

// An object of more than wideFields fields keeps its values in pages, so that changing
// one field copies one page and the list of them, and not all values.
const (
	wideFields = 64
	pageFields = 32
)

// wideValues are the values of a wide object.
type wideValues struct {
	pages []*[pageFields]any
	// shared is the Shapes with which all objects among the values share their keys,
	// nil where that is not known.
	shared *Shapes
}

// at returns the value of field i.
func (n *objectNode) at(i int) any {
	if i < len(n.values) {
		return n.values[i]
	}
	return n.wide.pages[i/pageFields][i%pageFields]
}

// len returns the number of fields.
func (n *objectNode) len() int { return len(n.shape.names) }

// appendValues appends all values.
func (n *objectNode) appendValues(values []any) []any {
	if n.wide == nil {
		return append(values, n.values...)
	}
	for i := range n.len() {
		values = append(values, n.at(i))
	}
	return values
}

// allValues returns all values, which must not be changed.
func (n *objectNode) allValues() []any {
	if n.wide == nil {
		return n.values
	}
	return n.appendValues(nil)
}

// newObjectNode returns a node whose values, none as yet, have room for a number of fields. Node
// and room are one piece of memory, which saves a cache miss when a field is read.
func newObjectNode(fields int) *objectNode {
	switch {
	case fields <= 2:
		return roomFor2()
	case fields <= 4:
		return roomFor4()
	case fields <= 6:
		return roomFor6()
	case fields <= 8:
		return roomFor8()
	case fields <= 12:
		return roomFor12()
	case fields <= 16:
		return roomFor16()
	default:
		return &objectNode{values: make([]any, 0, fields)}
	}
}

func roomFor2() *objectNode {
	n := &struct {
		objectNode

		room [2]any
	}{}
	n.values = n.room[:0]
	return &n.objectNode
}

func roomFor4() *objectNode {
	n := &struct {
		objectNode

		room [4]any
	}{}
	n.values = n.room[:0]
	return &n.objectNode
}

func roomFor6() *objectNode {
	n := &struct {
		objectNode

		room [6]any
	}{}
	n.values = n.room[:0]
	return &n.objectNode
}

func roomFor8() *objectNode {
	n := &struct {
		objectNode

		room [8]any
	}{}
	n.values = n.room[:0]
	return &n.objectNode
}

func roomFor12() *objectNode {
	n := &struct {
		objectNode

		room [12]any
	}{}
	n.values = n.room[:0]
	return &n.objectNode
}

func roomFor16() *objectNode {
	n := &struct {
		objectNode

		room [16]any
	}{}
	n.values = n.room[:0]
	return &n.objectNode
}

// complete sets the shape, and what follows from it and the values, which are there already. It
// puts the values of a wide object into pages.
func (n *objectNode) complete(s *Shape) {
	n.shape, n.depth, n.size = s, 1, emptySize
	for i, value := range n.values {
		n.depth = max(n.depth, 1+depthOf(value))
		n.size = addSizes(n.size, fieldSize(s.names[i], value))
		if err := errOf(value); err != nil && n.err == nil {
			n.err = boterr.In(s.names[i], err)
		}
	}
	if len(n.values) > wideFields {
		n.wide = &wideValues{}
		for part := range slices.Chunk(n.values, pageFields) {
			page := new([pageFields]any)
			copy(page[:], part)
			n.wide.pages = append(n.wide.pages, page)
		}
		n.values = nil
	}
}

// withValue returns the node with another value of field i.
func (n *objectNode) withValue(i int, value any) *objectNode {
	old := n.at(i)
	var next *objectNode
	if n.wide == nil {
		next = newObjectNode(len(n.values))
		next.values = append(next.values, n.values...)
		next.values[i] = value
	} else {
		next = &objectNode{wide: n.wide.with(i, value)}
	}
	next.shape, next.err = n.shape, n.err
	next.size = addSizes(n.size-SizeOf(old), SizeOf(value))
	if n.size == largestSize { // How large it was is not known.
		next.size = emptySize
		for i, key := range next.shape.names {
			next.size = addSizes(next.size, fieldSize(key, next.at(i)))
		}
	}
	next.depth = max(n.depth, 1+depthOf(value))
	if next.depth == 1+depthOf(old) && depthOf(value) < depthOf(old) {
		next.depth = 1 // The old value may have been the deepest.
		for i := range next.len() {
			next.depth = max(next.depth, 1+depthOf(next.at(i)))
		}
	}
	return next
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

// sharesKeysWith reports whether a value is known to share its keys.
func sharesKeysWith(shapes *Shapes, value any) bool {
	if o, ok := value.(Object); ok {
		return o.node != nil && o.node.wide != nil && o.node.wide.shared == shapes
	}
	return depthOf(value) == 0
}

// refuseNUL records an error where a name holds a NUL, which no database can keep.
func (n *objectNode) refuseNUL(name string) {
	if n.err == nil && strings.IndexByte(name, 0) >= 0 {
		n.err = nulInName(name)
	}
}

func nulInName(name string) error {
	return boterr.Invalid("", "the name %q of a field holds a NUL", name)
}

// checkDepth records an error where the node is nested too deep.
func (n *objectNode) checkDepth(key string) {
	if n.err == nil && n.depth > MaxNesting {
		n.err = boterr.Invalid(key, "is nested deeper than %d levels", MaxNesting)
	}
}

// Sizes are those of BSON, in which MongoDB keeps documents.
const (
	// emptySize is the size of an object or array without anything in it.
	emptySize = 5
	// largestSize is where adding sizes stops: values that share parts again and again may count
	// for more than there is memory.
	largestSize = math.MaxInt32
)

// Size returns the number of bytes that MongoDB would need for o. Beyond 2 GiB it is
// not exact.
func (o Object) Size() int {
	if o.node == nil {
		return emptySize
	}
	return o.node.size
}

// fieldSize returns what a field adds to the size of an object: a byte for its type,
// its name with an end, its value.
func fieldSize(key string, value any) int { return len(key) + 2 + SizeOf(value) }

// SizeOf returns the number of bytes that MongoDB would need for a value.
func SizeOf(value any) int {
	switch v := value.(type) {
	case nil:
		return 0
	case bool:
		return 1
	case string:
		return len(v) + 5 //nolint:mnd // Four bytes of length and an end.
	case int64:
		if v == int64(int32(v)) {
			return 4 //nolint:mnd // An int, as drivers write it.
		}
		return 8 //nolint:mnd // A long.
	case float64, time.Time:
		return 8 //nolint:mnd // They have 64 bits.
	case Object:
		return v.Size()
	case Array:
		if v.node != nil {
			return v.node.size
		}
	}
	return emptySize
}

func addSizes(a, b int) int { return min(a+b, largestSize) }
