package document

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// Builder collects the fields of an object that nobody else sees yet. Make one with
// NewBuilder.
type Builder struct {
	names []string
	// node is the object's, whose room values begin in.
	node   *objectNode
	values []any
	// at is the position of each key where there are more than linearKeys.
	at  map[string]int
	err error
}

// linearKeys is the number of keys that are searched one by one, which is faster than
// a map for so few.
const linearKeys = 16

// NewBuilder returns a builder with room for so many fields.
func NewBuilder(fields int) *Builder {
	node := newObjectNode(fields)
	return &Builder{names: make([]string, 0, fields), node: node, values: node.values}
}

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// setAny sets a field to what ValueOf takes.
func (b *Builder) setAny(key string, v any) {
	value, err := ValueOf(v)
	if err != nil {
		b.fail(boterr.In(key, err))
		return
	}
	b.Set(key, value)
}

// Set sets a field to a value, in its place where it is set already.
func (b *Builder) Set(key string, value any) {
	if i := b.position(key); i >= 0 {
		b.values[i] = value
		return
	}
	if strings.IndexByte(key, 0) >= 0 {
		b.fail(nulInName(key))
	}
	if b.at != nil {
		b.at[key] = len(b.names)
	}
	b.names = append(b.names, key)
	b.values = append(b.values, value)
}

// position returns the place of a key, or -1.
func (b *Builder) position(key string) int {
	if len(b.names) <= linearKeys {
		return slices.Index(b.names, key)
	}
	if b.at == nil {
		b.at = make(map[string]int, len(b.names))
		for i, known := range b.names {
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
		return b.values[i]
	}
	return Missing
}

// ObjectWithoutMissing returns the object without the fields whose value is missing.
func (b *Builder) ObjectWithoutMissing() Object {
	kept := NewBuilder(len(b.names))
	for i, value := range b.values {
		if value != Missing {
			kept.names = append(kept.names, b.names[i])
			kept.values = append(kept.values, value)
		}
	}
	return kept.Object()
}

// Object returns the object, after which the builder must not be used any more.
func (b *Builder) Object() Object {
	node := b.node
	node.values, node.err = b.values, b.err
	s := emptyShape
	if len(b.names) > 0 {
		s = NewShape(b.names)
	}
	node.complete(s)
	node.checkDepth("")
	return Object{node}
}
