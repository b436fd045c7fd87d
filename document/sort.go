package document

import (
	"slices"

	"github.com/botctx/go-sdk/boterr"
)

// Sort is a compiled sort. It is safe for concurrent use. A nil *Sort orders
// nothing.
type Sort struct {
	source Object
	keys   []sortKey
}

// sortKey is one field of a sort.
type sortKey struct {
	path       *fieldPath
	descending bool
}

// CompileSort compiles a sort: an object of dotted paths, each with 1 for ascending
// or -1 for descending, in the order in which they decide. The zero Object and O()
// give nil.
func CompileSort(source Object) (*Sort, error) {
	if err := checkSource(source); err != nil {
		return nil, err
	}
	if source.Len() == 0 {
		return nil, nil //nolint:nilnil // No sort is a nil *Sort.
	}
	s := &Sort{source: source}
	for path, direction := range source.All() {
		if err := CheckPath(path); err != nil {
			return nil, boterr.In(path, err)
		}
		if isOperator(path) {
			return nil, boterr.Invalid(path, "a path to sort by cannot begin with $")
		}
		step, ok := wholeNumber(direction)
		if !ok || step != 1 && step != -1 {
			return nil, boterr.Invalid(path, "the direction must be 1 or -1, got %s", textOf(direction))
		}
		s.keys = append(s.keys, sortKey{path: compilePath(path), descending: step < 0})
	}
	return s, nil
}

// Source returns the object that the sort was compiled from.
func (s *Sort) Source() Object {
	if s == nil {
		return Object{}
	}
	return s.source
}

// SortKey is one path of a sort.
type SortKey struct {
	Path       string
	Descending bool
}

// Keys returns the paths of the sort, the one that decides first in front.
func (s *Sort) Keys() []SortKey {
	if s == nil {
		return nil
	}
	keys := make([]SortKey, len(s.keys))
	for i := range s.keys {
		keys[i] = SortKey{Path: s.keys[i].path.text, Descending: s.keys[i].descending}
	}
	return keys
}

// Compare orders two documents. An array counts as its least element where the
// order is ascending, as its greatest where it is descending; an empty array is
// below null, and a missing field is null.
func (s *Sort) Compare(a, b Object) int {
	if s == nil {
		return 0
	}
	for i := range s.keys {
		key := &s.keys[i]
		if order := Compare(key.of(a), key.of(b)); order != 0 {
			if key.descending {
				return -order
			}
			return order
		}
	}
	return 0
}

// Sort sorts documents in place; those that compare equal keep their order.
func (s *Sort) Sort(documents []Object) {
	if s != nil {
		slices.SortStableFunc(documents, s.Compare)
	}
}

// of returns the value by which a document is sorted.
func (k *sortKey) of(o Object) any {
	if len(k.path.parts) == 1 {
		value := k.path.parts[0].of(o)
		if value == missing {
			return nil
		}
		if _, ok := value.(Array); !ok {
			return value
		}
	}
	extreme := extremeValue{descending: k.descending}
	k.path.walk(o, leafWhole, &extreme, nil)
	if !extreme.found {
		return nil
	}
	return extreme.value
}

// extremeValue finds the least or greatest of the values at a path.
type extremeValue struct {
	descending bool
	found      bool
	value      any
}

func (e *extremeValue) test(value any) bool {
	array, ok := value.(Array)
	switch {
	case value == missing:
		e.take(nil)
	case ok && array.Len() == 0:
		e.take(missing)
	case ok:
		for _, item := range array.items() {
			e.take(item)
		}
	default:
		e.take(value)
	}
	return false
}

func (e *extremeValue) take(value any) {
	order := Compare(value, e.value)
	if !e.found || e.descending && order > 0 || !e.descending && order < 0 {
		e.value, e.found = value, true
	}
}
