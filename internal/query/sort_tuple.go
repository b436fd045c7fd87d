package query

import (
	"cmp"
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Where two paths of a sort lead through the same array, each of its elements gives a
// value for both, and the element decides whose values come first. Where they lead
// through two arrays side by side, no element has values for both, and the sort is
// refused, as an index on the paths would be. So it is where a number in a path is the
// index of an element and a name in an element as well.

// settledPart stands for the part of a path where there is no way to go on.
const settledPart = -1

// sharesArrays reports whether two keys may lead through one array.
func (s *Sort) sharesArrays() bool {
	for i := range s.keys {
		for j := range i {
			if s.keys[i].path.parts[0].name == s.keys[j].path.parts[0].name {
				return true
			}
		}
	}
	return false
}

// Check returns InvalidArgument for a document that the sort cannot order: it has arrays side by
// side at two paths, or an element of an array has a field whose name is the index of another. Its
// Field is the path, of two the later one.
func (s *Sort) Check(document document.Object) error {
	return NewEvaluation(context.Background()).CheckSort(s, document)
}

// CheckSort is Sort.Check within the evaluation.
func (e *Evaluation) CheckSort(sort *Sort, document document.Object) error {
	if sort == nil || !sort.mayRefuse() || sort.arraysIn(document) == 0 {
		return nil
	}
	_, err := sort.tuple(document, e)
	if e.budget.failure != nil {
		return e.budget.failure
	}
	return err
}

// mayRefuse reports whether there can be a document that Check refuses.
func (s *Sort) mayRefuse() bool { return len(s.keys) > 1 || s.keys[0].path.hasIndex() }

// arraysIn returns the number of keys that meet an array.
func (s *Sort) arraysIn(doc document.Object) int {
	arrays := 0
	for i := range s.keys {
		value, _ := s.keys[i].path.descend(doc, 0)
		if _, ok := value.(document.Array); ok {
			arrays++
		}
	}
	return arrays
}

// tuple returns the values by which a document is sorted: those of the elements that
// come first in the order of the sort.
func (s *Sort) tuple(document document.Object, e *Evaluation) ([]any, error) {
	w := tupleWalk{sort: s, evaluation: e}
	start := make([]tuplePlace, len(s.keys))
	for i := range s.keys {
		start[i].value = document
	}
	err := w.from(start)
	return w.first, err
}

// valuesOf is tuple, and where there is none the extreme at each path by itself.
func (s *Sort) valuesOf(document document.Object, e *Evaluation) []any {
	values, err := s.tuple(document, e)
	if err == nil {
		return values
	}
	values = make([]any, len(s.keys))
	for i := range s.keys {
		values[i] = s.keys[i].of(document, e)
	}
	return values
}

// tupleWalk looks for the first tuple.
type tupleWalk struct {
	sort       *Sort
	evaluation *Evaluation
	first      []any
	// beside is a path through an array that lies beside every other array of the walk, "" where
	// there is none.
	beside string
	// met is the path of a key that led through an array, "" where none did.
	met string
}

// tuplePlace is how far the walk is along one key.
type tuplePlace struct {
	value any
	part  int
	// item is the index of the element in which the way to the value began where the path
	// names one, and began the part from there.
	item, began int
	// named tells that an index named the value itself: an array at the end of the path is
	// one value then.
	named bool
}

// settle ends the way with a value.
func (p *tuplePlace) settle(value any) { p.value, p.part = value, settledPart }

// from goes on until all keys have their values.
func (w *tupleWalk) from(places []tuplePlace) error {
	places = slices.Clone(places)
	var through []int // The keys that lead through an array, which is the same for all.
	for i := range places {
		place, key := &places[i], &w.sort.keys[i]
		if place.part == settledPart {
			continue
		}
		place.began = place.part
		place.value, place.part = key.path.descend(place.value, place.part)
		place.named = place.named && place.part == place.began
		if _, ok := place.value.(document.Array); !ok {
			place.settle(key.settled(place.value, place.part))
			continue
		}
		if len(through) > 0 && !w.sameArray(places, through[0], i) {
			return besideArray(key.path.text, w.sort.keys[through[0]].path.text)
		}
		through = append(through, i)
	}
	if len(through) == 0 {
		w.take(places)
		return nil
	}
	if w.met = w.sort.keys[through[0]].path.text; w.beside != "" {
		return besideArray(w.met, w.beside)
	}
	return w.through(places, through)
}

// besideArray is the error for two paths through arrays side by side.
func besideArray(path, other string) error {
	return boterr.Invalid(path, "cannot sort by this path and by %s: both lead through arrays, side by side", other)
}

// sameArray reports whether two keys, which were in the same place before, came to the
// same one again.
func (w *tupleWalk) sameArray(places []tuplePlace, i, j int) bool {
	a := w.sort.keys[i].path.parts[places[i].began:places[i].part]
	b := w.sort.keys[j].path.parts[places[j].began:places[j].part]
	if len(a) != len(b) || places[i].item != places[j].item {
		return false
	}
	for n := range a {
		if a[n].name != b[n].name {
			return false
		}
	}
	return true
}

// through goes on in the array to which some keys came: in the elements that an index
// names, and in each element.
func (w *tupleWalk) through(places []tuplePlace, keys []int) error {
	array := places[keys[0]].value.(document.Array)
	next := slices.Clone(places)
	var inEach []int
	for _, i := range keys {
		isNamed, err := w.intoNamed(&next[i], i, array)
		if err != nil {
			return err
		}
		if !isNamed {
			inEach = append(inEach, i)
		}
	}
	if len(inEach) == 0 {
		return w.from(next)
	}
	if len(inEach) < len(keys) {
		if err := w.settleNamed(next, inEach); err != nil {
			return err
		}
	}
	return w.throughEach(next, inEach, array)
}

// intoNamed goes on in the element that the next part of a key's path names by its index,
// and reports whether it names one.
func (w *tupleWalk) intoNamed(place *tuplePlace, key int, array document.Array) (bool, error) {
	path := w.sort.keys[key].path
	if place.part == len(path.parts) {
		if place.named {
			place.settle(array)
		}
		return place.named, nil
	}
	part := &path.parts[place.part]
	item, ok := part.itemOf(array)
	if !ok {
		return false, nil
	}
	if !w.evaluation.steps(array.Len()) {
		return false, w.evaluation.budget.failure
	}
	for _, other := range array.Items() {
		if o, isObject := other.(document.Object); isObject && part.of(o) != document.Missing {
			return false, boterr.Invalid(path.text,
				"cannot sort by this path: %s is the index of an element and a field of an element, too", part.name)
		}
	}
	place.value, place.item, place.named = item, part.index, true
	place.part++
	return true, nil
}

// settleNamed settles the keys that went on in elements that they name: their values are
// the same whatever the element of the others.
func (w *tupleWalk) settleNamed(places []tuplePlace, others []int) error {
	named := tupleWalk{sort: w.sort, evaluation: w.evaluation, beside: w.beside}
	alone := slices.Clone(places)
	for _, i := range others {
		alone[i].settle(nil)
	}
	if err := named.from(alone); err != nil {
		return err
	}
	for i := range places {
		if !slices.Contains(others, i) {
			places[i].settle(named.first[i])
		}
	}
	w.beside = cmp.Or(w.beside, named.met)
	return nil
}

// throughEach goes on in each element of an array.
func (w *tupleWalk) throughEach(places []tuplePlace, keys []int, array document.Array) error {
	items := array.Items()
	if len(items) == 0 {
		items = []any{document.Missing} // Below null.
	}
	if !w.evaluation.spend(len(items) * (arrayWork + len(w.sort.keys)*tupleWork)) {
		return w.evaluation.budget.failure
	}
	next := slices.Clone(places)
	for _, item := range items {
		for _, i := range keys {
			next[i] = places[i]
			next[i].value, next[i].item, next[i].named = item, 0, false
			_, isObject := item.(document.Object)
			switch {
			case places[i].part == len(w.sort.keys[i].path.parts):
				next[i].settle(item)
			case !isObject:
				next[i].settle(nil)
			}
		}
		if err := w.from(next); err != nil {
			return err
		}
	}
	return nil
}

// take keeps the values where they come first.
func (w *tupleWalk) take(places []tuplePlace) {
	values := make([]any, len(places))
	for i := range places {
		values[i] = places[i].value
	}
	if w.first == nil || w.sort.compareTuples(values, w.first, w.evaluation) < 0 {
		w.first = values
	}
}

// compareTuples orders two lists of the values of the keys.
func (s *Sort) compareTuples(a, b []any, e *Evaluation) int {
	for i := range s.keys {
		if order := e.order(a[i], b[i]); order != 0 {
			return s.keys[i].signed(order)
		}
	}
	return 0
}
