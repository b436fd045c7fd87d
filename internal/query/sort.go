package query

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Sort is a compiled sort. It is safe for concurrent use. A nil *Sort orders
// nothing.
type Sort struct {
	source document.Object
	keys   []sortKey
	// shares tells that two keys may lead through one array.
	shares bool
}

// sortKey is one field of a sort.
type sortKey struct {
	path       *fieldPath
	descending bool
}

// maxSortKeys is the most paths that a sort may have, as in MongoDB.
const maxSortKeys = 32

// CompileSort compiles a sort: an object of dotted paths, each with 1 for ascending
// or -1 for descending, in the order in which they decide. The zero Object and O()
// give nil.
func CompileSort(source document.Object) (*Sort, error) {
	if err := checkSource(source); err != nil {
		return nil, err
	}
	if source.Len() == 0 {
		return nil, nil //nolint:nilnil // No sort is a nil *Sort.
	}
	s := &Sort{source: source}
	for path, direction := range source.All() {
		if err := document.CheckPath(path); err != nil {
			return nil, boterr.PrefixField(path, err)
		}
		if isOperator(path) {
			return nil, boterr.Invalid(path, "a path to sort by cannot begin with $")
		}
		step, ok := document.WholeNumber(direction)
		if !ok || step != 1 && step != -1 {
			return nil, boterr.Invalid(path, "the direction must be 1 or -1, got %s", document.Excerpt(direction))
		}
		s.keys = append(s.keys, sortKey{path: compilePath(path), descending: step < 0})
	}
	if len(s.keys) > maxSortKeys {
		return nil, boterr.Invalid("", "a sort has at most %d paths, got %d", maxSortKeys, len(s.keys))
	}
	s.shares = s.sharesArrays()
	return s, nil
}

// Source returns the object that the sort was compiled from.
func (s *Sort) Source() document.Object {
	if s == nil {
		return document.Object{}
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
// below null, and a missing field is null. Where two paths lead through the same array,
// the values are those of one of its elements: of the one that comes first. A number in
// a path names an element of an array that has so many, and that one alone.
//
// A store compares within the Evaluation of its call, which bounds what it does in all.
func (s *Sort) Compare(a, b document.Object) int { return s.compare(a, b, nil) }

// Compare is Sort.Compare within the evaluation. Once the budget is spent all documents
// compare equal, and Err tells why.
func (e *Evaluation) Compare(sort *Sort, a, b document.Object) int { return sort.compare(a, b, e) }

// compare is Compare. A nil evaluation bounds nothing.
func (s *Sort) compare(a, b document.Object, e *Evaluation) int {
	if s == nil || s.shares && !e.spend(len(s.keys)*conditionWork) {
		return 0
	}
	if s.shares && s.arraysIn(a)+s.arraysIn(b) > 0 {
		return s.compareTuples(s.valuesOf(a, e), s.valuesOf(b, e), e)
	}
	for i := range s.keys {
		if !e.spend(conditionWork) {
			return 0
		}
		key := &s.keys[i]
		if order := e.order(key.of(a, e), key.of(b, e)); order != 0 {
			return key.signed(order)
		}
	}
	return 0
}

// order is the package's Compare within the evaluation.
func (e *Evaluation) order(a, b any) int {
	if !e.comparing(a, b) {
		return 0
	}
	return document.Compare(a, b)
}

// of returns the value by which a document is sorted.
func (k *sortKey) of(o document.Object, e *Evaluation) any {
	value, part := k.path.descend(o, 0)
	if array, ok := value.(document.Array); ok {
		extreme := extremeValue{evaluation: e, descending: k.descending}
		k.ofItems(array, part, &extreme)
		return extreme.value
	}
	return k.settled(value, part)
}

// settled returns the value of a path that has come to a value at a part and meets no array from
// there on.
func (k *sortKey) settled(value any, part int) any {
	if value == document.Missing || part < len(k.path.parts) {
		return nil
	}
	return value
}

// ofItems looks at the values to which the path leads through the elements of an array,
// from a part on. What is no object leads to none, which counts as null.
func (k *sortKey) ofItems(array document.Array, part int, extreme *extremeValue) {
	if part == len(k.path.parts) {
		extreme.takeItems(array)
		return
	}
	if !extreme.evaluation.steps(array.Len()) {
		return
	}
	if item, ok := k.path.parts[part].itemOf(array); ok {
		k.ofItem(item, part+1, extreme)
		return
	}
	if array.Len() == 0 {
		extreme.take(nil)
	}
	for _, item := range array.Items() {
		if o, ok := item.(document.Object); ok {
			k.ofValue(o, part, extreme)
		} else {
			extreme.take(nil)
		}
	}
}

// ofItem goes on in the element that the part before names by its index. An array that
// the path ends with is one value then, and not looked into.
func (k *sortKey) ofItem(item any, part int, extreme *extremeValue) {
	if part == len(k.path.parts) {
		extreme.take(item)
		return
	}
	k.ofValue(item, part, extreme)
}

// ofValue goes on from a value that a path has come to.
func (k *sortKey) ofValue(value any, part int, extreme *extremeValue) {
	value, part = k.path.descend(value, part)
	if array, ok := value.(document.Array); ok {
		k.ofItems(array, part, extreme)
		return
	}
	extreme.take(k.settled(value, part))
}

// extremeValue finds the least or greatest of the values at a path.
type extremeValue struct {
	evaluation *Evaluation
	descending bool
	found      bool
	value      any
}

// takeItems looks at the elements of an array at the end of a path.
func (e *extremeValue) takeItems(array document.Array) {
	if array.Len() == 0 {
		e.take(document.Missing) // Below null.
	}
	if !e.evaluation.steps(array.Len()) {
		return
	}
	for _, item := range array.Items() {
		e.take(item)
	}
}

func (e *extremeValue) take(value any) {
	order := e.evaluation.order(value, e.value)
	if !e.found || e.descending && order > 0 || !e.descending && order < 0 {
		e.value, e.found = value, true
	}
}
