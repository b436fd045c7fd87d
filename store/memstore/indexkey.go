package memstore

import (
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// The values in a key for a field that has no value.
type (
	// missingField is a field that is not there. It is null in a key.
	missingField struct{}
	// emptyArray is an array without elements. It is below null.
	emptyArray struct{}
)

// isPresent reports whether there is something at the path of a key's value.
func isPresent(value any) bool {
	_, missing := value.(missingField)
	return !missing
}

// appendIndexed appends the key of one value. AppendKey makes no key that begins
// with a zero byte.
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

// invert turns each byte of a key into its opposite, and with it the order of keys.
func invert(key []byte) {
	for i := range key {
		key[i] = ^key[i]
	}
}

// invertedKey is invert on a copy.
func invertedKey(key []byte) []byte {
	opposite := slices.Clone(key)
	invert(opposite)
	return opposite
}

// keyValues returns the lists of values, one value for each path, under which an
// index holds a document: one list, or one for each element of an array that the
// paths meet. As in MongoDB the paths may meet one array at a time only, so that
// the number of lists is not the product of the lengths of several.
func keyValues(o document.Object, paths [][]string) ([][]any, error) {
	branches := make([]branch, len(paths))
	for i, path := range paths {
		branches[i] = branch{value: o, path: path}
	}
	return appendKeyValues(nil, branches)
}

// branch is the way of one path into a document: to an array, or to its end.
type branch struct {
	path []string
	// used is the number of parts of the path that lead to value.
	used  int
	value any
	// element is true if value is an element of an array at the end of the path: an array there is one value,
	// and its elements are not.
	element bool
}

// descend goes on to the next array or to the end.
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
			// An array that an index names at the end of the path is one value.
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

// elementIndex reads a part of a path as the index of an element: digits alone, as
// filters read it.
func elementIndex(part string) (int, bool) {
	i, err := strconv.Atoi(part)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == part
}

func (b *branch) end(value any) {
	b.value, b.used, b.element = value, len(b.path), true
}

// atArray reports whether the branch goes on in the elements of an array.
func (b *branch) atArray() bool {
	_, ok := b.value.(document.Array)
	return ok && !b.element
}

// into returns the branch as it goes on in an element of its array.
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

// intoEmpty returns the branch as it ends at an array without elements.
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
				"is an array beside the array %s, and a document can have only one of the two in an index of both",
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

// onward returns the branches, and replaces the ones at the array.
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
