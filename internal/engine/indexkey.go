package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Key values of fields that have no value.
type (
	// missingField represents a missing field. Its key is the same as the key of null.
	missingField struct{}
	// emptyArray represents an empty array. It sorts before null.
	emptyArray struct{}
)

// isPresent reports whether a key's value comes from the document.
func isPresent(value any) bool {
	_, missing := value.(missingField)
	return !missing
}

// appendIndexed appends the key of one value. An empty array is a zero byte, with which no key of AppendKey
// begins.
func appendIndexed(key []byte, value any) []byte {
	switch value.(type) {
	case missingField:
		return document.AppendKey(key, nil)
	case emptyArray:
		return append(key, 0)
	default:
		return document.AppendKey(key, value)
	}
}

// invert inverts each byte of a key, which reverses the order of keys.
func invert(key []byte) {
	for i := range key {
		key[i] = ^key[i]
	}
}

// invertedKey returns an inverted copy.
func invertedKey(key []byte) []byte {
	opposite := slices.Clone(key)
	invert(opposite)
	return opposite
}

// keyValues returns the lists of values under which an index stores a document, with one value for each path. There
// is one list or, if the paths meet an array, one for each element. As in MongoDB, the paths may only meet one array
// at a time; otherwise, the number of lists would be the product of the lengths.
func keyValues(o document.Object, paths [][]string) ([][]any, error) {
	branches := make([]branch, len(paths))
	for i, path := range paths {
		branches[i] = branch{value: o, path: path}
	}
	return appendKeyValues(nil, branches)
}

// branch is the state of following one path into a document: it has reached an array, or the end.
type branch struct {
	path []string
	// used is the number of parts of the path that lead to value.
	used  int
	value any
	// element is true if value is an element of an array at the end of the path. If the element is an array itself,
	// it counts as a single value.
	element bool
}

// descend follows the path to the next array or to the end.
func (b *branch) descend() {
	for b.used < len(b.path) {
		value, ok := b.value, false
		switch container := b.value.(type) {
		case document.Object:
			value, ok = container.Field(b.path[b.used])
		case document.Array:
			i, isIndex := elementIndex(b.path[b.used])
			if !isIndex || i >= container.Len() {
				return
			}
			// If a path ends in the index of an element that is an array, the array is one value.
			value, ok, b.element = container.At(i), true, b.used == len(b.path)-1
		}
		if !ok {
			b.end(missingField{})
			return
		}
		b.value = value
		b.used++
	}
}

// elementIndex parses a part of a path as an array index. As in filters, it must consist of digits.
func elementIndex(part string) (int, bool) {
	i, err := strconv.Atoi(part)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == part
}

func (b *branch) end(value any) {
	b.value, b.used, b.element = value, len(b.path), true
}

// atArray reports whether the branch is at an array with elements to follow.
func (b *branch) atArray() bool {
	_, ok := b.value.(document.Array)
	return ok && !b.element
}

// into returns the branch that continues with an element of the array.
func (b branch) into(element any) branch {
	if b.used == len(b.path) {
		b.end(element)
		return b
	}
	b.value = element
	if _, ok := element.(document.Object); !ok {
		b.end(missingField{})
	}
	return b
}

// intoEmpty returns the branch that ends at an empty array.
func (b branch) intoEmpty() branch {
	if b.used == len(b.path) {
		b.end(emptyArray{})
	} else {
		b.end(missingField{})
	}
	return b
}

func appendKeyValues(lists [][]any, branches []branch) ([][]any, error) {
	var array *branch
	for i := range branches {
		b := &branches[i]
		b.descend()
		if !b.atArray() {
			continue
		}
		if array != nil && !slices.Equal(array.path[:array.used], b.path[:b.used]) {
			return nil, boterr.Invalid(strings.Join(b.path[:b.used], "."),
				"and %s are both arrays; in an index of both, only one of them can be an array",
				strings.Join(array.path[:array.used], "."))
		}
		array = b
	}
	if array == nil {
		return append(lists, valuesOf(branches)), nil
	}
	elements, _ := array.value.(document.Array)
	if elements.Len() == 0 {
		return appendKeyValues(lists, onward(branches, branch.intoEmpty))
	}
	for _, element := range elements.All() {
		var err error
		next := onward(branches, func(b branch) branch { return b.into(element) })
		if lists, err = appendKeyValues(lists, next); err != nil {
			return nil, err
		}
	}
	return lists, nil
}

// onward returns the branches after a step of each branch that is at an array.
func onward(branches []branch, step func(branch) branch) []branch {
	next := slices.Clone(branches)
	for i := range next {
		if next[i].atArray() {
			next[i] = step(next[i])
		}
	}
	return next
}

func valuesOf(branches []branch) []any {
	values := make([]any, len(branches))
	for i := range branches {
		values[i] = branches[i].value
	}
	return values
}
