package engine

import (
	"cmp"
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
)

// checkEvery is the number of documents between two checks of ctx.
const checkEvery = 512

// search finds the documents that match a filter, in the order of its plan or of the filter's $near.
type search struct {
	call   *query.Evaluation
	filter *query.Filter
	plan   plan
	to     Visitor
	err    error
}

// visit visits the documents that match, in the order of insertion or of the filter's $near.
func (v View) visit(call *query.Evaluation, filter *query.Filter, to Visitor) error {
	return v.run(&search{call: call, filter: filter, plan: v.planFor(filter, nil), to: to})
}

func (v View) run(s *search) error {
	if s.filter.Near() != nil {
		return inParameter("filter", v.visitNear(s))
	}
	if s.err = s.call.Err(); s.err != nil {
		return inParameter("filter", s.err)
	}
	s.call.Seek(s.plan.keys())
	err := s.plan.candidates(v, s)
	if s.err != nil {
		err = s.err
	}
	return inParameter("filter", err)
}

// inParameter prefixes the field of an InvalidArgument error with the parameter's name.
func inParameter(name string, err error) error {
	if e, ok := boterr.AsError(err); ok && e.Code == boterr.InvalidArgument && e.Field != "" {
		return boterr.PrefixField(name, err)
	}
	return err
}

// Visit implements Visitor for the candidates of a plan.
func (s *search) Visit(position uint64, o document.Object) bool {
	s.plan.examined++
	if s.plan.examined%checkEvery == 0 {
		if s.err = s.call.Err(); s.err != nil {
			return false
		}
	}
	matched := s.plan.exact
	if matched {
		s.call.Visit(o)
	} else if matched, s.err = s.call.Check(s.filter, o); s.err != nil {
		return false
	}
	return !matched || s.to.Visit(position, o)
}

// VisitBatch implements BatchVisitor for all documents.
func (s *search) VisitBatch(b *Batch) bool {
	before := s.plan.examined / checkEvery
	s.plan.examined += int64(bits.OnesCount32(b.Used))
	if s.plan.examined/checkEvery != before {
		if s.err = s.call.Err(); s.err != nil {
			return false
		}
	}
	var matched uint32
	matched, s.err = s.call.Select(s.filter, b.Documents, b.Used)
	for ; matched != 0; matched &= matched - 1 {
		i := bits.TrailingZeros32(matched)
		if !s.to.Visit(b.From+uint64(i), b.Documents[i]) {
			s.err = nil // The search ended before the document with the error.
			return false
		}
	}
	return s.err == nil
}

// firstOf finds the first document in the order of a sort.
type firstOf struct {
	search

	sort *query.Sort
	// inOrder is true if the documents come in the order of the sort.
	inOrder  bool
	found    Placed
	exists   bool
	unsorted error
}

// first returns the first document that matches, in the order of a sort. A nil sort means the order of
// insertion.
func (v View) first(
	call *query.Evaluation, filter *query.Filter, sort *query.Sort,
) (found Placed, ok bool, err error) {
	if sort == nil {
		if id, isID := idOf(filter); isID {
			return v.byID(call, filter, id)
		}
	}
	f := &firstOf{search: search{call: call, filter: filter, plan: v.planFor(filter, sort)}, sort: sort}
	f.to = (*firstTaken)(f)
	f.inOrder = sort == nil || f.plan.sorted
	if f.inOrder {
		f.plan.hint = 1
	}
	err = v.run(&f.search)
	if err == nil {
		err = boterr.PrefixField("sort", f.unsorted)
	}
	if err == nil && sort != nil {
		err = call.Err()
	}
	return f.found, f.exists && err == nil, err
}

// firstTaken is the Visitor of a firstOf.
type firstTaken firstOf

// Visit implements Visitor.
func (f *firstTaken) Visit(position uint64, o document.Object) bool {
	if f.unsorted = f.call.CheckSort(f.sort, o); f.unsorted != nil {
		return false
	}
	if !f.exists || f.call.Compare(f.sort, o, f.found.Document) < 0 {
		f.found, f.exists = Placed{Document: o, Position: position}, true
	}
	return !f.inOrder
}

func (v View) find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	if options.Sort == nil && options.Skip == 0 && options.Projection == nil {
		if found, isKey := v.lookUp(filter, options.Limit); isKey {
			return found, nil
		}
	}
	call := query.NewEvaluation(ctx)
	if options.Sort == nil && options.Skip == 0 {
		if id, isID := idOf(filter); isID {
			one, ok, err := v.byID(call, filter, id)
			found := []document.Object{}
			if ok {
				found = []document.Object{one.Document}
			}
			return allProjected(call, found, filter, options.Projection, err)
		}
	}
	found, _, err := v.findPlanned(call, filter, options)
	return found, err
}

// idOf returns the _id of the only document that a filter can match, if the filter requires an _id.
func idOf(filter *query.Filter) (id any, ok bool) {
	if filter.Near() != nil {
		return nil, false
	}
	return filter.Equality(document.IDField)
}

// byID returns the document with an _id if the filter matches it. It saves making a plan.
func (v View) byID(call *query.Evaluation, filter *query.Filter, id any) (found Placed, ok bool, err error) {
	if err := call.Err(); err != nil {
		return found, false, err
	}
	if found, ok, err = v.ByID(id); err != nil {
		return found, false, err
	}
	if ok && !filter.IsEquality() {
		ok, err = call.Check(filter, found.Document)
	}
	return found, ok && err == nil, inParameter("filter", err)
}

// page is a part of the matching documents in order.
type page struct {
	search

	skip, limit int64
	found       []document.Object
}

// findPlanned finds documents, and returns the plan that it used.
func (v View) findPlanned(
	call *query.Evaluation, filter *query.Filter, options store.FindOptions,
) (found []document.Object, by *plan, err error) {
	p := &page{search: search{call: call, filter: filter, plan: v.planFor(filter, options.Sort)}}
	if options.Sort != nil && !p.plan.sorted {
		found, err = v.findSorted(&p.search, options)
	} else {
		found, err = v.findPage(p, options)
	}
	found, err = allProjected(call, found, filter, options.Projection, err)
	return found, &p.plan, err
}

// allProjected applies a projection to the found documents, unless err is set.
func allProjected(
	call *query.Evaluation, found []document.Object, filter *query.Filter, projection *query.Projection, err error,
) ([]document.Object, error) {
	if err != nil {
		return nil, err
	}
	if projection == nil {
		return found, nil
	}
	for i, o := range found {
		if found[i], err = projected(call, o, filter, projection); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (v View) findPage(p *page, options store.FindOptions) ([]document.Object, error) {
	p.skip, p.limit, p.found = options.Skip, options.Limit, []document.Object{}
	if p.limit > 0 {
		p.plan.hint = max(p.limit, p.limit+p.skip) // The sum may overflow.
	}
	p.to = (*pageTaken)(p)
	err := v.run(&p.search)
	return p.found, err
}

// pageTaken is the Visitor of a page.
type pageTaken page

// Visit implements Visitor.
func (p *pageTaken) Visit(_ uint64, o document.Object) bool {
	if p.skip > 0 {
		p.skip--
		return true
	}
	p.found = append(p.found, o)
	return int64(len(p.found)) != p.limit
}

// maxTopItems is the size of a page up to which keeping only the first items is faster than sorting all items.
const maxTopItems = 256

// findSorted is like findPage, for a sort that the plan does not provide.
func (v View) findSorted(s *search, options store.FindOptions) ([]document.Object, error) {
	size := options.Skip + options.Limit
	if options.Limit == 0 || size < options.Limit { // The sum may overflow.
		size = math.MaxInt64
	}
	var found []document.Object
	var err error
	if size <= maxTopItems {
		found, err = v.firstSorted(s, options.Sort, size)
	} else {
		found, err = v.allSorted(s, options.Sort)
	}
	if err == nil {
		err = s.call.Err()
	}
	there := int64(len(found))
	return found[min(options.Skip, there):min(size, there)], err
}

// firstSorted returns up to size matching documents: the first ones in the order of a sort.
func (v View) firstSorted(s *search, sort *query.Sort, size int64) ([]document.Object, error) {
	compare := func(a, b document.Object) int { return s.call.Compare(sort, a, b) }
	first := topItems[document.Object]{compare: compare, size: size}
	err := v.visitSortable(s, sort, first.add)
	return first.sorted(), err
}

// allSorted returns all matching documents in the order of a sort.
func (v View) allSorted(s *search, sort *query.Sort) ([]document.Object, error) {
	found := []document.Object{}
	err := v.visitSortable(s, sort, func(o document.Object) { found = append(found, o) })
	if err == nil {
		s.call.Sort(sort, found)
	}
	return found, err
}

// visitSortable visits the matching documents. It returns an error for a document that the sort cannot order.
func (v View) visitSortable(s *search, sort *query.Sort, take func(document.Object)) error {
	var unsorted error
	s.to = Yield(func(_ uint64, o document.Object) bool {
		if unsorted = s.call.CheckSort(sort, o); unsorted != nil {
			return false
		}
		take(o)
		return true
	})
	err := v.run(s)
	if err == nil {
		err = boterr.PrefixField("sort", unsorted)
	}
	return err
}

func (v View) count(call *query.Evaluation, filter *query.Filter) (count int64, err error) {
	if err := call.Err(); err != nil {
		return 0, err
	}
	if filter == nil {
		return v.Len()
	}
	s := &search{call: call, filter: filter, plan: v.planFor(filter, nil)}
	if s.plan.countsAlone() {
		call.Seek(s.plan.keys())
		return v.CountRange(s.plan.rangeOf())
	}
	s.to = Yield(func(uint64, document.Object) bool {
		count++
		return true
	})
	if err := v.run(s); err != nil {
		return 0, err
	}
	return count, nil
}

// distinct returns the distinct values at a path.
func (v View) distinct(call *query.Evaluation, path string, filter *query.Filter) ([]any, error) {
	found := NewDistinct(call, path)
	var spent error
	err := v.visit(call, filter, Yield(func(_ uint64, o document.Object) bool {
		spent = found.Add(o)
		return spent == nil
	}))
	if err := cmp.Or(err, spent); err != nil {
		return nil, err
	}
	return found.Values, nil
}

// Distinct collects the distinct values at a path, in the order of their first occurrence.
type Distinct struct {
	// Values has the values so far.
	Values []any

	call   *query.Evaluation
	path   string
	nested bool
	first  placeOfField
	// texts holds the strings. keys holds the keys of all other values.
	texts, keys map[string]struct{}
	// buffer is reused to create keys.
	buffer []byte
	// grown is the memory that has been allocated since the last call of Keep.
	grown int
}

// NewDistinct returns a Distinct without values. Its work and memory count as the call's.
func NewDistinct(call *query.Evaluation, path string) *Distinct {
	name, _, nested := strings.Cut(path, ".")
	return &Distinct{
		Values: []any{}, call: call, path: path, nested: nested, first: placeOfField{name: name},
		texts: map[string]struct{}{}, keys: map[string]struct{}{},
	}
}

// Add adds the values of a document. It returns an error if the call may not do more work or keep more memory.
func (d *Distinct) Add(o document.Object) error {
	value := d.first.of(o)
	if value == document.Missing {
		return nil
	}
	if isCompound(value) { // Scalars are free: they cost less than visiting the document.
		if err := d.call.Read(value); err != nil {
			return err
		}
	}
	if d.nested {
		for _, value := range query.Values(o, d.path) {
			d.add(value)
		}
	} else {
		d.addElements(value)
	}
	grown := d.grown
	if d.grown = 0; grown == 0 {
		return nil
	}
	return d.call.Keep(grown)
}

// placeOfField reads the same field of many documents. It caches the position of the field, which is the same in all
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

// isCompound reports whether a value contains other values.
func isCompound(value any) bool {
	switch value.(type) {
	case document.Object, document.Array:
		return true
	default:
		return false
	}
}

// memoryOfEntry is the memory of a key in a set or index, without the key's bytes.
const memoryOfEntry = 64

func (d *Distinct) add(value any) {
	if text, ok := value.(string); ok {
		if _, ok := d.texts[text]; !ok {
			d.texts[text] = struct{}{}
			d.grown += memoryOfEntry
			d.Values = append(d.Values, value)
		}
		return
	}
	d.buffer = document.AppendKey(d.buffer[:0], value)
	if _, ok := d.keys[string(d.buffer)]; !ok {
		d.keys[string(d.buffer)] = struct{}{}
		d.grown += memoryOfEntry + len(d.buffer)
		d.Values = append(d.Values, value)
	}
}

func (d *Distinct) addElements(value any) {
	array, ok := value.(document.Array)
	if !ok {
		d.add(value)
		return
	}
	for _, element := range array.All() {
		d.add(element)
	}
}

// topItems keeps the first added items in the order of compare. Equal items keep the order in which they were added.
type topItems[T any] struct {
	compare func(a, b T) int
	// size is the maximum number of items; 0 keeps all.
	size int64
	came int
	kept []ranked[T]
}

// ranked is an item with its number in the order of addition.
type ranked[T any] struct {
	item   T
	number int
}

// add adds an item, and drops the last one if there are too many.
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

func (t *topItems[T]) order(a, b ranked[T]) int {
	if order := t.compare(a.item, b.item); order != 0 {
		return order
	}
	return a.number - b.number
}

// sorted returns the items in order. No items may be added afterwards.
func (t *topItems[T]) sorted() []T {
	slices.SortFunc(t.kept, t.order)
	items := make([]T, len(t.kept))
	for i, r := range t.kept {
		items[i] = r.item
	}
	return items
}

// The methods of heap.Interface make kept a heap whose root is the last item.

// Len returns the number of kept items.
func (t *topItems[T]) Len() int { return len(t.kept) }

// Less reports whether item i sorts after item j.
func (t *topItems[T]) Less(i, j int) bool { return t.order(t.kept[i], t.kept[j]) > 0 }

func (t *topItems[T]) Swap(i, j int) { t.kept[i], t.kept[j] = t.kept[j], t.kept[i] }

func (t *topItems[T]) Push(item any) { t.kept = append(t.kept, item.(ranked[T])) }

// Pop removes and returns the last item.
func (t *topItems[T]) Pop() any {
	last := len(t.kept) - 1
	item := t.kept[last]
	t.kept = t.kept[:last]
	return item
}
