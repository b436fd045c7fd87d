package query

import (
	"strings"
	"sync/atomic"

	"github.com/botctx/go-sdk/document"
)

// fieldPath is a compiled dotted path.
type fieldPath struct {
	text  string
	parts []pathPart
	// manyIndexes is true if a walk must remember the places that it visited, because many parts can be both an
	// index and a name. Each of these parts can double the number of ways through the document.
	manyIndexes bool
}

// fewIndexes is the number of numeric parts up to which a walk does not remember the places that it visited.
const fewIndexes = 6

type pathPart struct {
	name string
	// index is the name as an array index, or -1 if the name is not a number.
	index int
	// known caches the position of the name in the last shape that appeared twice in a row. missed is the last
	// shape that was not in the cache.
	known  atomic.Pointer[knownPosition]
	missed atomic.Pointer[document.Shape]
}

// knownPosition is the position of a name in a shape, or -1 if the shape lacks the name.
type knownPosition struct {
	shape    *document.Shape
	position int
}

func compilePath(text string) *fieldPath {
	names := strings.Split(text, ".")
	path := &fieldPath{text: text, parts: make([]pathPart, len(names))}
	indexes := 0
	for i, name := range names {
		path.parts[i].name, path.parts[i].index = name, -1
		if index, ok := document.ParseIndex(name); ok {
			path.parts[i].index = index
			indexes++
		}
	}
	path.manyIndexes = indexes > fewIndexes
	return path
}

// of returns the field with the name in an object, or missing.
func (p *pathPart) of(o document.Object) any {
	position := p.positionIn(o.Shape())
	if position < 0 {
		return document.Missing
	}
	return o.At(position)
}

// itemOf returns the array element that the name is the index of, if there is one.
func (p *pathPart) itemOf(array document.Array) (any, bool) {
	if p.index < 0 || p.index >= array.Len() {
		return nil, false
	}
	return array.At(p.index), true
}

// positionIn caches the position in a shape that occurs twice in a row: documents of a store share a few shapes,
// while other objects have their own.
func (p *pathPart) positionIn(s *document.Shape) int {
	if known := p.known.Load(); known != nil && known.shape == s {
		return known.position
	}
	position := s.Position(p.name)
	if p.missed.Load() == s {
		p.known.Store(&knownPosition{shape: s, position: position})
	} else {
		p.missed.Store(s)
	}
	return position
}

// candidateTest tests one of the values at a path, and reports whether the walk can stop.
type candidateTest interface {
	// test is given a value, or missing.
	test(value any, e *Evaluation) bool
}

// leafMode determines how an array at the end of a path is tested.
type leafMode bool

const (
	// leafExpanded tests the elements of the array, and then the array itself.
	leafExpanded leafMode = false
	// leafWhole only tests the array itself.
	leafWhole leafMode = true
)

// singleValue returns the only value at the path, which may be missing or an array. ok is false if there is an array
// on the path, which is less common.
func (p *fieldPath) singleValue(root any) (any, bool) {
	o, ok := root.(document.Object)
	if !ok {
		return nil, false
	}
	last := len(p.parts) - 1
	for i := range last {
		value := p.parts[i].of(o)
		if o, ok = value.(document.Object); !ok {
			_, isArray := value.(document.Array)
			return document.Missing, !isArray
		}
	}
	return p.parts[last].of(o), true
}

// descend follows the path through objects from a value and a part. It returns the value that it reaches, and the
// next part.
func (p *fieldPath) descend(value any, part int) (any, int) {
	for part < len(p.parts) {
		o, ok := value.(document.Object)
		if !ok {
			break
		}
		value = p.parts[part].of(o)
		part++
	}
	return value, part
}

// walk tests the values at the path in root, in MongoDB's order, until a test succeeds. At an array on the way
// it continues in each element that is an object and, if the next name is a number, in the element with that
// index. A nil evaluation has no budget and records nothing.
func (p *fieldPath) walk(root any, mode leafMode, test candidateTest, e *Evaluation) bool {
	w := pathWalk{path: p, mode: mode, test: test, evaluation: e}
	if p.manyIndexes {
		w.seen = map[visit]struct{}{}
	}
	return w.from(root, 0)
}

type pathWalk struct {
	path       *fieldPath
	mode       leafMode
	test       candidateTest
	evaluation *Evaluation
	// seen are the places from which the walk failed, or nil if it need not remember them.
	seen map[visit]struct{}
}

// visit is a container with the part of the path to look up in it.
type visit struct {
	container any
	part      int
}

// from continues with part i in a container.
func (w *pathWalk) from(container any, i int) bool {
	if w.seen != nil {
		here := visit{container: container, part: i}
		if _, again := w.seen[here]; again {
			return false
		}
		w.seen[here] = struct{}{}
	}
	switch c := container.(type) {
	case document.Object:
		return w.value(w.path.parts[i].of(c), i+1)
	case document.Array:
		return w.array(c, i)
	default:
		return w.test.test(document.Missing, w.evaluation)
	}
}

// value continues from the value of part i-1.
func (w *pathWalk) value(value any, i int) bool {
	if i == len(w.path.parts) {
		return w.leaf(value)
	}
	return w.from(value, i)
}

// leaf tests a value at the end of the path.
func (w *pathWalk) leaf(value any) bool {
	if array, ok := value.(document.Array); ok && w.mode == leafExpanded {
		if !w.evaluation.steps(array.Len()) {
			return false
		}
		for index, item := range array.Items() {
			if w.test.test(item, w.evaluation) {
				w.evaluation.recordPosition(index)
				return true
			}
		}
	}
	return w.test.test(value, w.evaluation)
}

// array continues with part i in an array.
func (w *pathWalk) array(array document.Array, i int) bool {
	if !w.evaluation.steps(array.Len()) {
		return false
	}
	wanted := w.path.parts[i].index
	for index, item := range array.Items() {
		if _, ok := item.(document.Object); ok && w.from(item, i) {
			w.evaluation.recordPosition(index)
			return true
		}
		if index == wanted && w.element(item, i+1) {
			return true // The path names this element, so "$" does not mean it.
		}
	}
	return false
}

// element continues in the element that part i-1 selects by its index.
func (w *pathWalk) element(item any, i int) bool {
	if i == len(w.path.parts) {
		return w.test.test(item, w.evaluation) // An array that an index selects is a single value.
	}
	switch item.(type) {
	case document.Object, document.Array:
		return w.from(item, i)
	default:
		return false
	}
}

// collector collects all values at the end of a walk.
type collector struct{ values []any }

func (c *collector) test(value any, _ *Evaluation) bool {
	if value != document.Missing {
		c.values = append(c.values, value)
	}
	return false
}

// Values returns the values at a dotted path, as a query for distinct values uses them. An array counts as its
// elements, and a path through an array continues in each of its objects, or in the element that the next name
// is the index of. A missing field gives no value.
func Values(o document.Object, path string) []any {
	return compilePath(path).appendValues(nil, o, 0)
}

func (p *fieldPath) appendValues(values []any, value any, part int) []any {
	value, part = p.descend(value, part)
	array, isArray := value.(document.Array)
	switch {
	case !isArray:
		if value != document.Missing && part == len(p.parts) {
			values = append(values, value)
		}
	case part == len(p.parts):
		values = append(values, array.Items()...)
	case p.parts[part].index >= 0:
		if item, ok := p.parts[part].itemOf(array); ok {
			values = p.appendValues(values, item, part+1)
		}
	default:
		for _, item := range array.Items() {
			if _, ok := item.(document.Object); ok {
				values = p.appendValues(values, item, part)
			}
		}
	}
	return values
}
