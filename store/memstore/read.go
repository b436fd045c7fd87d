package memstore

import (
	"container/heap"
	"context"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// checkEvery is the number of documents after which a read looks whether its
// context has ended.
const checkEvery = 512

// visit yields the documents that match, in the order of insertion or of the filter's $near, until yield
// returns false.
func (c *content) visit(
	call *query.Evaluation, filter *query.Filter, yield func(position uint64, o document.Object) bool,
) error {
	p := c.planFor(filter, nil)
	return c.visitPlan(call, filter, &p, yield)
}

// visitPlan yields the documents that match, in the order of a plan for the filter or of the filter's $near,
// until yield returns false.
func (c *content) visitPlan(
	call *query.Evaluation, filter *query.Filter, p *plan, yield func(position uint64, o document.Object) bool,
) error {
	if filter.Near() != nil {
		return inParameter("filter", c.visitNear(call, filter, p, yield))
	}
	return inParameter("filter", c.search(call, filter, p, yield))
}

// inParameter puts the path that an InvalidArgument names behind the parameter of the call that it is in.
func inParameter(name string, err error) error {
	if e, ok := boterr.AsError(err); ok && e.Code == boterr.InvalidArgument && e.Field != "" {
		return boterr.PrefixField(name, err)
	}
	return err
}

// search yields the documents that match, in the order of a plan for the filter, until
// yield returns false.
func (c *content) search(
	call *query.Evaluation, filter *query.Filter, p *plan, yield func(position uint64, o document.Object) bool,
) error {
	err := call.Err()
	if err != nil {
		return err
	}
	if p.isScan() {
		return c.scan(call, filter, p, yield)
	}
	p.candidates(c, func(position uint64, o document.Object) bool {
		p.examined++
		if p.examined%checkEvery == 0 {
			if err = call.Err(); err != nil {
				return false
			}
		}
		matched := p.exact
		if matched {
			call.Visit(o)
		} else if matched, err = call.Check(filter, o); err != nil {
			return false
		}
		return !matched || yield(position, o)
	})
	return err
}

// A batch of the sequence is no more than a filter takes.
const _ = uint(query.BatchSize - persistent.Batch)

func (c *content) scan(
	call *query.Evaluation, filter *query.Filter, p *plan, yield func(position uint64, o document.Object) bool,
) (err error) {
	batches := 0
	c.documents.Batches(func(from uint64, documents []document.Object, used uint32) bool {
		batches++
		if batches%(checkEvery/persistent.Batch) == 0 {
			if err = call.Err(); err != nil {
				return false
			}
		}
		p.examined += int64(bits.OnesCount32(used))
		var matched uint32
		matched, err = call.Select(filter, documents, used)
		for ; matched != 0; matched &= matched - 1 {
			i := bits.TrailingZeros32(matched)
			if !yield(from+uint64(i), documents[i]) {
				err = nil // The search ended before.
				return false
			}
		}
		return err == nil
	})
	return err
}

type placed struct {
	document document.Object
	position uint64
}

// first returns the first document that matches, in the order of a sort; a nil
// sort is the order of insertion.
func (c *content) first(
	call *query.Evaluation, filter *query.Filter, sort *query.Sort,
) (found placed, ok bool, err error) {
	if sort == nil {
		if id, isID := idOf(filter); isID {
			return c.byID(call, filter, id)
		}
	}
	p := c.planFor(filter, sort)
	inOrder := sort == nil || p.sorted
	var unsorted error
	err = c.visitPlan(call, filter, &p, func(position uint64, o document.Object) bool {
		if unsorted = call.CheckSort(sort, o); unsorted != nil {
			return false
		}
		if !ok || call.Compare(sort, o, found.document) < 0 {
			found, ok = placed{document: o, position: position}, true
		}
		return !inOrder
	})
	if err == nil {
		err = boterr.PrefixField("sort", unsorted)
	}
	if err == nil && sort != nil {
		err = call.Err()
	}
	return found, ok && err == nil, err
}

func (c *content) find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	if options.Sort == nil && options.Skip == 0 && options.Projection == nil {
		if found, isTold, err := c.lookUp(ctx, filter, options.Limit); isTold || err != nil {
			return found, err
		}
	}
	if c.documents.Len() == 0 && filter.Near() == nil { // Which needs its index even so.
		return []document.Object{}, checkEnded(ctx)
	}
	call := query.NewEvaluation(ctx)
	if options.Sort == nil && options.Skip == 0 {
		if id, isID := idOf(filter); isID {
			one, ok, err := c.byID(call, filter, id)
			found := []document.Object{}
			if ok {
				found = []document.Object{one.document}
			}
			return allProjected(call, found, filter, options.Projection, err)
		}
	}
	p := c.planFor(filter, options.Sort)
	return c.findBy(call, filter, &p, options)
}

// idOf returns the _id of the only document that a filter can match, if it gives one.
func idOf(filter *query.Filter) (id any, ok bool) {
	if filter.Near() != nil {
		return nil, false
	}
	return filter.Equality(document.IDField)
}

// byID returns the only document that a filter with an _id can match. It finds the same as a plan, without
// one.
func (c *content) byID(call *query.Evaluation, filter *query.Filter, id any) (found placed, ok bool, err error) {
	if err := call.Err(); err != nil {
		return found, false, err
	}
	found.position, found.document, ok = c.ids.find(&c.documents, id)
	if ok && !filter.IsEquality() {
		ok, err = call.Check(filter, found.document)
	}
	return found, ok && err == nil, inParameter("filter", err)
}

func (c *content) findBy(
	call *query.Evaluation, filter *query.Filter, p *plan, options store.FindOptions,
) ([]document.Object, error) {
	found, err := c.findWhole(call, filter, p, options)
	return allProjected(call, found, filter, options.Projection, err)
}

// allProjected applies a projection to what was found, unless finding it failed.
func allProjected(
	call *query.Evaluation, found []document.Object, filter *query.Filter, projection *query.Projection, err error,
) ([]document.Object, error) {
	if err != nil || projection == nil {
		return found, err
	}
	for i, o := range found {
		if found[i], err = projected(call, o, filter, projection); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// findWhole is findBy without the projection.
func (c *content) findWhole(
	call *query.Evaluation, filter *query.Filter, p *plan, options store.FindOptions,
) ([]document.Object, error) {
	if options.Sort != nil && !p.sorted {
		return c.findSorted(call, filter, p, options)
	}
	found := []document.Object{}
	skip := options.Skip
	err := c.visitPlan(call, filter, p, func(_ uint64, o document.Object) bool {
		if skip > 0 {
			skip--
			return true
		}
		if len(found) == 0 {
			found = p.roomFor(options.Limit)
		}
		found = append(found, o)
		return int64(len(found)) != options.Limit
	})
	return found, err
}

// maxTopItems is the number of documents up to which it is faster to keep only those that
// come first than to sort all.
const maxTopItems = 256

// findSorted is findWhole for a sort that the plan does not give.
func (c *content) findSorted(
	call *query.Evaluation, filter *query.Filter, p *plan, options store.FindOptions,
) ([]document.Object, error) {
	size := options.Skip + options.Limit
	if options.Limit == 0 || size < options.Limit { // The sum may overflow.
		size = math.MaxInt64
	}
	var found []document.Object
	var err error
	if size <= maxTopItems {
		found, err = c.firstSorted(call, filter, p, options.Sort, size)
	} else {
		found, err = c.allSorted(call, filter, p, options.Sort)
	}
	if err == nil {
		err = call.Err()
	}
	there := int64(len(found))
	return found[min(options.Skip, there):min(size, there)], err
}

// firstSorted returns the documents that match and come first in the order of a sort.
func (c *content) firstSorted(
	call *query.Evaluation, filter *query.Filter, p *plan, sort *query.Sort, size int64,
) ([]document.Object, error) {
	compare := func(a, b document.Object) int { return call.Compare(sort, a, b) }
	first := topItems[document.Object]{compare: compare, size: size}
	err := c.visitSortable(call, filter, p, sort, first.add)
	return first.sorted(), err
}

// allSorted returns all documents that match, in the order of a sort.
func (c *content) allSorted(
	call *query.Evaluation, filter *query.Filter, p *plan, sort *query.Sort,
) ([]document.Object, error) {
	found := []document.Object{}
	err := c.visitSortable(call, filter, p, sort, func(o document.Object) { found = append(found, o) })
	if err == nil {
		call.Sort(sort, found)
	}
	return found, err
}

// visitSortable yields the documents that match. The error comes from a document that the sort cannot order.
func (c *content) visitSortable(
	call *query.Evaluation, filter *query.Filter, p *plan, sort *query.Sort, take func(document.Object),
) error {
	var unsorted error
	err := c.visitPlan(call, filter, p, func(_ uint64, o document.Object) bool {
		if unsorted = call.CheckSort(sort, o); unsorted != nil {
			return false
		}
		take(o)
		return true
	})
	if err == nil {
		err = boterr.PrefixField("sort", unsorted)
	}
	return err
}

// count returns the number of documents that match.
func (c *content) count(call *query.Evaluation, filter *query.Filter) (int, error) {
	if filter == nil {
		return c.documents.Len(), call.Err()
	}
	p := c.planFor(filter, nil)
	if count, ok := p.count(); ok {
		return count, call.Err()
	}
	count := 0
	err := c.visitPlan(call, filter, &p, func(uint64, document.Object) bool {
		count++
		return true
	})
	return count, err
}

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

// placeOfField is a field that is read from one document after the other: its place is the same in all
// documents of one shape.
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
	// buffer is the memory in which keys are made.
	buffer []byte
	// grown is the memory that the set took since that was asked for.
	grown int
}

// memoryOfEntry is the memory of a key in a set or an index, without its bytes.
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

// topItems keeps the first of the items that it is given, in the order of
// compare; items that compare equal stay in the order in which they came.
type topItems[T any] struct {
	compare func(a, b T) int
	// size is the most items to keep; 0 keeps all.
	size int64
	came int
	kept []ranked[T]
}

// ranked is an item and its number in the order in which they came.
type ranked[T any] struct {
	item   T
	number int
}

// add takes an item in, and drops the last one where there are too many.
func (t *topItems[T]) add(item T) {
	r := ranked[T]{item: item, number: t.came}
	t.came++
	switch {
	case t.size == 0:
		t.kept = append(t.kept, r)
	case int64(len(t.kept)) < t.size:
		heap.Push(t, r)
	case t.order(r, t.kept[0]) < 0:
		t.kept[0] = r
		heap.Fix(t, 0)
	}
}

// order orders two items.
func (t *topItems[T]) order(a, b ranked[T]) int {
	if order := t.compare(a.item, b.item); order != 0 {
		return order
	}
	return a.number - b.number
}

// sorted returns the items in order. Nothing can be added any more.
func (t *topItems[T]) sorted() []T {
	slices.SortFunc(t.kept, t.order)
	items := make([]T, len(t.kept))
	for i, r := range t.kept {
		items[i] = r.item
	}
	return items
}

// The methods of heap.Interface make kept a heap with the last item at its root.

// Len returns the number of items kept.
func (t *topItems[T]) Len() int { return len(t.kept) }

// Less reports whether item i comes after item j.
func (t *topItems[T]) Less(i, j int) bool { return t.order(t.kept[i], t.kept[j]) > 0 }

func (t *topItems[T]) Swap(i, j int) { t.kept[i], t.kept[j] = t.kept[j], t.kept[i] }

func (t *topItems[T]) Push(item any) { t.kept = append(t.kept, item.(ranked[T])) }

// Pop takes the last item off.
func (t *topItems[T]) Pop() any {
	last := len(t.kept) - 1
	item := t.kept[last]
	t.kept = t.kept[:last]
	return item
}
