package memstore

import (
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// distinct returns the different values at a path.
func (c *content) distinct(call *query.Evaluation, path string, filter *query.Filter) ([]any, error) {
	set := valueSet{values: []any{}, texts: map[string]struct{}{}, keys: map[string]struct{}{}}
	name, _, nested := strings.Cut(path, ".")
	first := placeOfField{name: name}
	var spent error
	err := c.visit(call, filter, func(_ uint64, o document.Object) bool {
		value := first.of(o)
		if value == document.Missing {
			return true
		}
		if isCompound(value) { // One plain value is less than a document is worth.
			if spent = call.Read(value); spent != nil {
				return false
			}
		}
		if nested {
			for _, value := range query.Values(o, path) {
				set.add(value)
			}
		} else {
			set.addElements(value)
		}
		if set.grown > 0 {
			spent = call.Keep(set.takeGrown())
		}
		return spent == nil
	})
	if err == nil {
		err = spent
	}
	return set.values, err
}

// placeOfField is a field that is read from one document after the other: those of one shape have it at one place.
type placeOfField struct {
	name  string
	shape *document.Shape
	place int
}

// of returns the value of the field in a document, or Missing.
func (p *placeOfField) of(o document.Object) any {
	if shape := o.Shape(); shape != p.shape {
		p.shape, p.place = shape, shape.Position(p.name)
	}
	if p.place < 0 {
		return document.Missing
	}
	return o.At(p.place)
}

// isCompound reports whether a value holds others.
func isCompound(value any) bool {
	switch value.(type) {
	case document.Object, document.Array:
		return true
	default:
		return false
	}
}

// valueSet holds values that are different, in the order in which they came.
type valueSet struct {
	values []any
	// texts are those that are strings, keys the keys of all others.
	texts map[string]struct{}
	keys  map[string]struct{}
	// buffer is where keys are made.
	buffer []byte
	// grown is the memory that the set took since that was asked for.
	grown int
}

// memoryOfEntry is what a key takes in a set or an index, beside its bytes.
const memoryOfEntry = 64

// takeGrown returns the memory that the set took since this was called last.
func (s *valueSet) takeGrown() int {
	grown := s.grown
	s.grown = 0
	return grown
}

func (s *valueSet) add(value any) {
	if text, ok := value.(string); ok {
		if _, ok := s.texts[text]; !ok {
			s.texts[text] = struct{}{}
			s.grown += memoryOfEntry
			s.values = append(s.values, value)
		}
		return
	}
	s.buffer = document.AppendKey(s.buffer[:0], value)
	if _, ok := s.keys[string(s.buffer)]; !ok {
		s.keys[string(s.buffer)] = struct{}{}
		s.grown += memoryOfEntry + len(s.buffer)
		s.values = append(s.values, value)
	}
}

// addElements adds a value, or the elements of an array.
func (s *valueSet) addElements(value any) {
	array, ok := value.(document.Array)
	if !ok {
		s.add(value)
		return
	}
	for _, element := range array.All() {
		s.add(element)
	}
}
