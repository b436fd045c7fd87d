package document

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// Builder collects the fields of a new object. The zero Builder is ready to use; NewBuilder preallocates
// memory.
type Builder struct {
	// shape and node belong to the object. They are nil before the first field, unless memory is
	// preallocated.
	shape *Shape
	node  *objectNode
	// at maps keys to positions if there are more than linearKeys.
	at  map[string]int
	err error
}

// linearKeys is the largest number of keys for which a linear search is used, because it is faster than a
// map.
const linearKeys = 16

// NewBuilder returns a builder with memory for a number of fields.
func NewBuilder(fields int) *Builder {
	b := &Builder{}
	b.makeRoom(fields)
	return b
}

// makeRoom allocates memory for the first fields. Object, shape and their arrays are one allocation.
func (b *Builder) makeRoom(fields int) {
	switch {
	case fields <= 1:
		makeRoomIn(b, func(n *[1]string, v *[1]any) ([]string, []any) { return n[:0], v[:0] })
	case fields <= 2:
		makeRoomIn(b, func(n *[2]string, v *[2]any) ([]string, []any) { return n[:0], v[:0] })
	case fields <= 4:
		makeRoomIn(b, func(n *[4]string, v *[4]any) ([]string, []any) { return n[:0], v[:0] })
	case fields <= 8:
		makeRoomIn(b, func(n *[8]string, v *[8]any) ([]string, []any) { return n[:0], v[:0] })
	case fields <= 12:
		makeRoomIn(b, func(n *[12]string, v *[12]any) ([]string, []any) { return n[:0], v[:0] })
	default:
		b.shape, b.node = newShape(fields), newObjectNode(fields)
	}
}

// makeRoomIn allocates memory in arrays for the names and the values.
func makeRoomIn[N, V any](b *Builder, sliced func(*N, *V) ([]string, []any)) {
	o := &struct {
		node   objectNode
		shape  Shape
		names  N
		values V
	}{}
	b.shape, b.node = &o.shape, &o.node
	o.shape.names, o.node.values = sliced(&o.names, &o.values)
}

func (b *Builder) names() []string {
	if b.shape == nil {
		return nil
	}
	return b.shape.names
}

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *Builder) setAny(key string, v any) {
	value, err := ValueOf(v)
	if err != nil {
		b.fail(boterr.PrefixField(key, err))
		return
	}
	b.Set(key, value)
}

// Set sets a field to a value. An existing field keeps its place.
func (b *Builder) Set(key string, value any) {
	if i := b.position(key); i >= 0 {
		b.node.values[i] = value
		return
	}
	if b.node == nil {
		b.makeRoom(1)
	}
	if strings.IndexByte(key, 0) >= 0 {
		b.fail(nulInName(key))
	}
	if b.at != nil {
		b.at[key] = len(b.shape.names)
	}
	b.shape.names = append(b.shape.names, key)
	b.node.values = append(b.node.values, value)
}

func (b *Builder) position(key string) int {
	names := b.names()
	if len(names) <= linearKeys {
		return slices.Index(names, key)
	}
	if b.at == nil {
		b.at = make(map[string]int, len(names))
		for i, known := range names {
			b.at[known] = i
		}
	}
	if i, ok := b.at[key]; ok {
		return i
	}
	return -1
}

// Value returns the value of a field, or Missing.
func (b *Builder) Value(key string) any {
	if i := b.position(key); i >= 0 {
		return b.node.values[i]
	}
	return Missing
}

// Object returns the object. The builder must not be used afterwards.
func (b *Builder) Object() Object {
	if len(b.names()) == 0 && b.err == nil {
		return Object{emptyNode}
	}
	if b.node == nil {
		b.makeRoom(0)
	}
	b.node.fail(b.err)
	b.node.complete(b.shape)
	b.node.checkDepth()
	return Object{b.node}
}
