package query

import (
	"cmp"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Sort is a compiled sort. It is safe for concurrent use. A nil *Sort and the zero Sort keep
// documents in their order.
type Sort struct {
	source document.Object
	keys   []sortKey
	// shares is true if two keys may lead through one array.
	shares bool
}

type sortKey struct {
	path       *fieldPath
	descending bool
}

// maxSortKeys is the maximum number of paths in a sort, as in MongoDB.
const maxSortKeys = 32

// CompileSort compiles a sort: an object of dotted paths, most significant first, each with 1 for ascending or
// -1 for descending. The zero Object and O() give nil.
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

// Keys returns the paths of the sort, most significant first.
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

// Compare orders two documents. A missing field counts as null. An array counts as its least element in
// ascending order, and as its greatest in descending order; an empty array sorts below null. If two paths lead
// through the same array, both values come from the element that sorts first. A number in a path names an
// element of an array that is long enough, and only that element.
//
// Once the budget is spent all documents compare equal, and Err returns the reason.
func (e *Evaluation) Compare(sort *Sort, a, b document.Object) int {
	if sort == nil || sort.shares && !e.spend(len(sort.keys)*conditionWork) {
		return 0
	}
	if sort.shares && sort.arraysIn(a)+sort.arraysIn(b) > 0 {
		return sort.compareTuples(sort.valuesOf(a, e), sort.valuesOf(b, e), e)
	}
	for i := range sort.keys {
		if !e.spend(conditionWork) {
			return 0
		}
		key := &sort.keys[i]
		if order := e.order(key.of(a, e), key.of(b, e)); order != 0 {
			return key.signed(order)
		}
	}
	return 0
}

// order is document.Compare, and counts its work. It returns 0 once the budget is spent.
func (e *Evaluation) order(a, b any) int {
	if !e.comparing(a, b) {
		return 0
	}
	return document.Compare(a, b)
}

func (k *sortKey) of(o document.Object, e *Evaluation) any {
	value, part := k.path.descend(o, 0)
	if array, ok := value.(document.Array); ok {
		extreme := extremeValue{evaluation: e, descending: k.descending}
		k.ofItems(array, part, &extreme)
		return extreme.value
	}
	return k.settled(value, part)
}

// settled returns the value of a path that has led to value, which is not an array. It is null if parts of the
// path remain.
func (k *sortKey) settled(value any, part int) any {
	if value == document.Missing || part < len(k.path.parts) {
		return nil
	}
	return value
}

// ofItems collects the values of the path in the elements of an array, starting at a part. A value that is not an
// object gives null.
func (k *sortKey) ofItems(array document.Array, part int, extreme *extremeValue) {
	if part == len(k.path.parts) {
		extreme.takeItems(array)
		return
	}
	if !extreme.evaluation.steps(array.Len()) {
		return
	}
	if item, ok := k.path.parts[part].itemOf(array); ok {
		if part+1 == len(k.path.parts) {
			extreme.take(item) // An array that the path selects by its index counts as one value.
		} else {
			k.ofValue(item, part+1, extreme)
		}
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

// ofValue collects the values of the path, starting at value with the given part.
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

// takeItems considers the elements of an array at the end of a path.
func (e *extremeValue) takeItems(array document.Array) {
	if array.Len() == 0 {
		e.take(document.Missing) // An empty array sorts below null.
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

// keyOrder sorts items by several keys, most significant first. Items are numbered from 0. Equal items keep
// their order.
//
// The value of a key is computed once for an item, and only for items that equal another item by all earlier
// keys.
type keyOrder struct {
	keys []sortKey
	// value returns the value of a key of an item.
	value func(item, key int) any
	// spend counts work. After it has returned false, the order is undefined.
	spend func(work int) bool
}

func (o *keyOrder) compare(a, b any, key int) int {
	if !o.spend(stepWork + comparisonWork(a, b)) {
		return 0
	}
	return o.keys[key].signed(document.Compare(a, b))
}

// keyedItem is an item with its value of the current sort key.
type keyedItem struct {
	value any
	item  int
}

// of returns count items in order.
func (o *keyOrder) of(count int) []keyedItem {
	items := make([]keyedItem, count)
	for i := range items {
		items[i].item = i
	}
	o.sort(items, 0)
	return items
}

// sort sorts items that are equal by all earlier keys.
func (o *keyOrder) sort(items []keyedItem, key int) {
	for i := range items {
		items[i].value = o.value(items[i].item, key)
	}
	slices.SortFunc(items, func(a, b keyedItem) int {
		if order := o.compare(a.value, b.value, key); order != 0 {
			return order
		}
		return a.item - b.item
	})
	if key+1 < len(o.keys) {
		o.sortEqual(items, key)
	}
}

// sortEqual sorts each group of items with an equal key by the later keys.
func (o *keyOrder) sortEqual(items []keyedItem, key int) {
	for len(items) > 0 {
		equal := 1
		for equal < len(items) && o.compare(items[0].value, items[equal].value, key) == 0 {
			equal++
		}
		if equal > 1 {
			o.sort(items[:equal], key+1)
		}
		items = items[equal:]
	}
}

// inOrder returns values in the order of items, whose numbers are the indexes of the values.
func inOrder[T any](values []T, order []keyedItem) []T {
	sorted := make([]T, len(values))
	for i, o := range order {
		sorted[i] = values[o.item]
	}
	return sorted
}

// Sort sorts documents in place. Documents that compare equal keep their order. Once the budget is spent the order is
// undefined, and Err returns the reason.
func (e *Evaluation) Sort(s *Sort, documents []document.Object) {
	if s == nil || len(s.keys) == 0 || len(documents) < 2 {
		return
	}
	e.measureVisited(documents)
	tuples := s.tuplesOf(documents, e)
	order := keyOrder{
		keys:  s.keys,
		spend: e.spend,
		value: func(item, key int) any {
			if s.shares && tuples[item] != nil {
				return tuples[item][key]
			}
			if !e.spend(conditionWork) {
				return nil
			}
			return s.keys[key].of(documents[item], e)
		},
	}
	copy(documents, inOrder(documents, order.of(len(documents))))
}

// tuplesOf returns the values of all keys for each document with arrays on their paths. Only a sort with two
// keys that may lead through one array needs them.
func (s *Sort) tuplesOf(documents []document.Object, e *Evaluation) [][]any {
	if !s.shares {
		return nil
	}
	tuples := make([][]any, len(documents))
	for i, o := range documents {
		if !e.spend(len(s.keys) * conditionWork) {
			break
		}
		if s.arraysIn(o) > 0 {
			tuples[i] = s.valuesOf(o, e)
		}
	}
	return tuples
}

// signed reverses an order of two values if the key is descending.
func (k *sortKey) signed(order int) int {
	if k.descending {
		return -order
	}
	return order
}

// itemOrder is an order of array elements for $push and $sortArray: by fields or by whole elements. Unlike in the
// sort of a find, an array at a path is compared as a whole.
type itemOrder struct {
	// keys are the fields. For whole elements there is one key without a path.
	keys []sortKey
}

func wholeOrder(descending bool) itemOrder {
	return itemOrder{keys: []sortKey{{descending: descending}}}
}

// compileItemOrder compiles 1 or -1 for whole elements, or an object of fields.
func compileItemOrder(operand any) (itemOrder, error) {
	if fields, ok := operand.(document.Object); ok {
		order, err := CompileSort(fields)
		switch {
		case err != nil:
			return itemOrder{}, err
		case order == nil:
			return itemOrder{}, boterr.Invalid("", "must name at least one field")
		default:
			return itemOrder{keys: order.keys}, nil
		}
	}
	direction, ok := document.WholeNumber(operand)
	if !ok || direction != 1 && direction != -1 {
		return itemOrder{}, boterr.Invalid("", "must be 1, -1 or an object of fields, got %s", document.Excerpt(operand))
	}
	return wholeOrder(direction < 0), nil
}

// sorted sorts items stably. It counts its work, and returns the error of spend.
func (o itemOrder) sorted(items []any, spend func(work int) error) ([]any, error) {
	var failure error
	isPaid := func(work int) bool {
		if failure == nil {
			failure = spend(work)
		}
		return failure == nil
	}
	order := keyOrder{
		keys:  o.keys,
		spend: isPaid,
		value: func(item, key int) any {
			if path := o.keys[key].path; path != nil && isPaid(conditionWork) {
				return fieldIn(items[item], path.text)
			}
			return items[item]
		},
	}
	places := order.of(len(items))
	if failure != nil {
		return nil, failure
	}
	return inOrder(items, places), nil
}

// fieldIn returns the value at a path in an element, or null if there is none.
func fieldIn(item any, path string) any {
	o, _ := item.(document.Object)
	value, _ := o.Lookup(path)
	return value
}

// If two paths of a sort lead through the same array, each element gives a value for both paths, and the values of
// one element are used. If they lead through two separate arrays, no element has values for both, so the sort is
// refused, as an index on the paths is. A sort is also refused if a number in a path is both the index of an element
// and a field name in an element.

// settledPart marks a path that is fully resolved.
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

// CheckSort returns InvalidArgument for a document that the sort cannot order: it has separate arrays at two paths,
// or an element of an array has a field whose name is the index of another element. The Field of the error is
// the path, or the later of the two paths.
func (e *Evaluation) CheckSort(sort *Sort, document document.Object) error {
	if sort == nil || len(sort.keys) == 1 && !sort.keys[0].path.hasIndex() || sort.arraysIn(document) == 0 {
		return nil
	}
	_, err := sort.tuple(document, e)
	if e.budget.failure != nil {
		return e.budget.failure
	}
	return err
}

// arraysIn returns the number of keys with an array on their path.
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

// tuple returns the values by which a document is sorted: from the array elements that come first in the order of the
// sort.
func (s *Sort) tuple(document document.Object, e *Evaluation) ([]any, error) {
	w := tupleWalk{sort: s, evaluation: e}
	start := make([]tuplePlace, len(s.keys))
	for i := range s.keys {
		start[i].value = document
	}
	err := w.from(start)
	return w.first, err
}

// valuesOf is like tuple. If tuple fails, it returns the extreme value at each path separately.
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

// tupleWalk finds the tuple of a document that sorts first.
type tupleWalk struct {
	sort       *Sort
	evaluation *Evaluation
	first      []any
	// apart is a path through an array that is separate from all other arrays of the walk, or "".
	apart string
	// met is the path of a key that led through an array, or "".
	met string
}

// tuplePlace is the position of the walk on the path of one key.
type tuplePlace struct {
	value any
	part  int
	// item is the index of the array element that the path names, if any. began is the number of the part after that
	// index.
	item, began int
	// named is true if the value itself was named by an index. An array at the end of the path is then a single
	// value.
	named bool
}

func (p *tuplePlace) settle(value any) { p.value, p.part = value, settledPart }

// from follows the paths of the keys until each key has a value or reaches an array.
func (w *tupleWalk) from(places []tuplePlace) error {
	places = slices.Clone(places)
	var through []int // Keys that lead through the same array.
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
			return twoArrays(key.path.text, w.sort.keys[through[0]].path.text)
		}
		through = append(through, i)
	}
	if len(through) == 0 {
		w.take(places)
		return nil
	}
	if w.met = w.sort.keys[through[0]].path.text; w.apart != "" {
		return twoArrays(w.met, w.apart)
	}
	return w.through(places, through)
}

func twoArrays(path, other string) error {
	return boterr.Invalid(path, "cannot sort by this path and by %s: both paths have an array at the same level", other)
}

// sameArray reports whether two keys that started at the same place have reached the same array.
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

// through continues in an array that some keys reached. Keys with an index continue in the element with that
// index, the others in each element.
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

// intoNamed continues in the element with the index that is the next part of a key's path, and reports whether
// there is one.
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
				"cannot sort by this path: %s is both the index of an element and a field of an element", part.name)
		}
	}
	place.value, place.item, place.named = item, part.index, true
	place.part++
	return true, nil
}

// settleNamed resolves the keys that name an element by its index. Their values do not depend on the elements
// of the other keys.
func (w *tupleWalk) settleNamed(places []tuplePlace, others []int) error {
	named := tupleWalk{sort: w.sort, evaluation: w.evaluation, apart: w.apart}
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
	w.apart = cmp.Or(w.apart, named.met)
	return nil
}

func (w *tupleWalk) throughEach(places []tuplePlace, keys []int, array document.Array) error {
	items := array.Items()
	if len(items) == 0 {
		items = []any{document.Missing} // An empty array sorts below null.
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

func (w *tupleWalk) take(places []tuplePlace) {
	values := make([]any, len(places))
	for i := range places {
		values[i] = places[i].value
	}
	if w.first == nil || w.sort.compareTuples(values, w.first, w.evaluation) < 0 {
		w.first = values
	}
}

func (s *Sort) compareTuples(a, b []any, e *Evaluation) int {
	for i := range s.keys {
		if order := e.order(a[i], b[i]); order != 0 {
			return s.keys[i].signed(order)
		}
	}
	return 0
}
