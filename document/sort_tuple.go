package document

import (
	"slices"

	"github.com/botctx/go-sdk/boterr"
)

// Where two paths of a sort lead through the same array, each of its elements gives a
// value for both, and the element decides whose values come first. Where they lead
// through two arrays side by side, no element has values for both, and the sort is
// refused, as an index on the paths would be.

// settledPart stands for the part of a path where there is no way to go on.
const settledPart = -1

// sharesArrays reports whether two keys may lead through one array. A path with an index
// names its element itself.
func (s *Sort) sharesArrays() bool {
	for i := range s.keys {
		for j := range i {
			if s.keys[i].path.parts[0].name == s.keys[j].path.parts[0].name &&
				!s.keys[i].hasIndex && !s.keys[j].hasIndex {
				return true
			}
		}
	}
	return false
}

// Check returns InvalidArgument for a document that has arrays side by side at two paths
// of the sort, so that no order of it follows. Its Field is the later path.
func (s *Sort) Check(document Object) error {
	if s == nil || len(s.keys) < 2 || s.arraysIn(document) == 0 {
		return nil
	}
	_, err := s.tuple(document)
	return err
}

// arraysIn returns the number of keys that meet an array.
func (s *Sort) arraysIn(document Object) int {
	arrays := 0
	for i := range s.keys {
		value, _ := s.keys[i].path.descend(document, 0)
		if _, ok := value.(Array); ok && !s.keys[i].hasIndex {
			arrays++
		}
	}
	return arrays
}

// descend goes on from a value at a part of the path, through objects. It returns what it
// comes to, and the part from where that would go on.
func (p *fieldPath) descend(value any, part int) (any, int) {
	for part < len(p.parts) {
		o, ok := value.(Object)
		if !ok {
			break
		}
		value = p.parts[part].of(o)
		part++
	}
	return value, part
}

// tuple returns the values by which a document is sorted: those of the elements that
// come first in the order of the sort.
func (s *Sort) tuple(document Object) ([]any, error) {
	w := tupleWalk{sort: s}
	start := tuplePlace{values: make([]any, len(s.keys)), parts: make([]int, len(s.keys))}
	for i := range s.keys {
		start.values[i] = document
		if s.keys[i].hasIndex {
			start.values[i], start.parts[i] = s.keys[i].of(document), settledPart
		}
	}
	err := w.from(start)
	return w.first, err
}

// valuesOf is tuple, and where there is none the extreme at each path by itself.
func (s *Sort) valuesOf(document Object) []any {
	values, err := s.tuple(document)
	if err == nil {
		return values
	}
	values = make([]any, len(s.keys))
	for i := range s.keys {
		values[i] = s.keys[i].of(document)
	}
	return values
}

// tupleWalk looks for the first tuple.
type tupleWalk struct {
	sort  *Sort
	first []any
}

// tuplePlace is how far the walk is along each key.
type tuplePlace struct {
	values []any
	parts  []int
}

func (p tuplePlace) clone() tuplePlace {
	return tuplePlace{values: slices.Clone(p.values), parts: slices.Clone(p.parts)}
}

// from goes on until all keys have their values.
func (w *tupleWalk) from(at tuplePlace) error {
	at = at.clone()
	var through []int // The keys that lead through an array, which is the same for all.
	for i := range w.sort.keys {
		if at.parts[i] == settledPart {
			continue
		}
		path := w.sort.keys[i].path
		value, part := path.descend(at.values[i], at.parts[i])
		if _, ok := value.(Array); ok {
			if len(through) > 0 && !w.sameStart(through[0], i, at.parts[through[0]], part) {
				return boterr.Invalid(path.text, "cannot sort by this path and by %s: both lead through arrays, side by side",
					w.sort.keys[through[0]].path.text)
			}
			at.values[i], at.parts[i] = value, part
			through = append(through, i)
			continue
		}
		if value == missing || part < len(path.parts) {
			value = nil
		}
		at.values[i], at.parts[i] = value, settledPart
	}
	if len(through) == 0 {
		w.take(at.values)
		return nil
	}
	return w.through(at, through)
}

// sameStart reports whether two keys came to the same place.
func (w *tupleWalk) sameStart(i, j, part, other int) bool {
	if part != other {
		return false
	}
	for n := range part {
		if w.sort.keys[i].path.parts[n].name != w.sort.keys[j].path.parts[n].name {
			return false
		}
	}
	return true
}

// through goes on in each element of the array to which some keys came.
func (w *tupleWalk) through(at tuplePlace, keys []int) error {
	items := at.values[keys[0]].(Array).items()
	if len(items) == 0 {
		items = []any{missing} // Below null.
	}
	for _, item := range items {
		next := at.clone()
		for _, i := range keys {
			next.values[i] = item
			_, isObject := item.(Object)
			switch {
			case at.parts[i] == len(w.sort.keys[i].path.parts):
				next.parts[i] = settledPart
			case !isObject:
				next.values[i], next.parts[i] = nil, settledPart
			}
		}
		if err := w.from(next); err != nil {
			return err
		}
	}
	return nil
}

// take keeps the tuple that comes first.
func (w *tupleWalk) take(values []any) {
	if w.first == nil || w.sort.compareTuples(values, w.first) < 0 {
		w.first = values
	}
}

// compareTuples orders two lists of the values of the keys.
func (s *Sort) compareTuples(a, b []any) int {
	for i := range s.keys {
		if order := Compare(a[i], b[i]); order != 0 {
			if s.keys[i].descending {
				return -order
			}
			return order
		}
	}
	return 0
}
