package query

import (
	"context"
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/document"
)

// Compiler compiles filters, updates, sorts and projections, and caches some hundred of the last
// ones. Finding a compiled one takes less than compiling it, and a filter that was used before
// knows where its fields stand in the documents of a store.
//
// The zero Compiler is ready, and so is a nil one, which remembers nothing. It is safe
// for concurrent use, and what it needs in memory is bounded.
type Compiler struct {
	once        sync.Once
	seed        maphash.Seed
	filters     cache[*Filter]
	updates     cache[*Update]
	sorts       cache[*Sort]
	projections cache[*Projection]
}

// Filter is CompileFilter. A filter on one field alone, such as an _id, is compiled each
// time, which takes no longer than looking for it.
func (c *Compiler) Filter(source document.Object) (*Filter, error) {
	if isOneField(source) || !c.remembers(source) {
		return CompileFilter(source)
	}
	return c.filters.get(c.hash(source), func() (*Filter, error) { return CompileFilter(source) }, source)
}

// FilterWhere is Filter, narrowed as by Filter.Where. What names a record is compiled in one step.
func (c *Compiler) FilterWhere(source document.Object, fields ...FieldValue) (*Filter, error) {
	if len(fields) > 0 && namesRecord(source) && checkSource(source) == nil {
		return compileRecord(source, fields), nil
	}
	filter, err := c.Filter(source)
	if err != nil {
		return nil, err
	}
	return filter.Where(fields...), nil
}

// Update is CompileUpdate.
func (c *Compiler) Update(source document.Object, arrayFilters ...document.Object) (*Update, error) {
	var room [4]document.Object
	sources := append(append(room[:0], source), arrayFilters...)
	if !c.remembers(sources...) {
		return CompileUpdate(source, arrayFilters...)
	}
	compile := func() (*Update, error) { return CompileUpdate(source, arrayFilters...) }
	return c.updates.get(c.hash(sources...), compile, sources...)
}

// Sort is CompileSort.
func (c *Compiler) Sort(source document.Object) (*Sort, error) {
	if !c.remembers(source) {
		return CompileSort(source)
	}
	return c.sorts.get(c.hash(source), func() (*Sort, error) { return CompileSort(source) }, source)
}

// Projection is CompileProjection.
func (c *Compiler) Projection(source document.Object) (*Projection, error) {
	if !c.remembers(source) {
		return CompileProjection(source)
	}
	return c.projections.get(c.hash(source), func() (*Projection, error) { return CompileProjection(source) }, source)
}

// maxSourceSize is the size up to which sources are cached: comparing a larger one takes as long as
// compiling it.
const maxSourceSize = 2048

func (c *Compiler) remembers(sources ...document.Object) bool {
	if c == nil {
		return false
	}
	size := 0
	for _, source := range sources {
		if source.Err() != nil {
			return false
		}
		size += source.Size()
	}
	return size <= maxSourceSize && !slices.ContainsFunc(sources, func(o document.Object) bool { return mayRepeat(o) })
}

// mayRepeat reports whether a value holds a text that may be a pattern with a counted
// repetition, such as "a{900}": what is compiled of it may be a thousand times larger.
func mayRepeat(value any) bool {
	switch v := value.(type) {
	case string:
		return strings.ContainsRune(v, '{')
	case document.Object:
		for _, inner := range v.All() {
			if mayRepeat(inner) {
				return true
			}
		}
	case document.Array:
		return slices.ContainsFunc(v.Items(), mayRepeat)
	}
	return false
}

// hash returns a hash of documents that is the same for those that are identical.
func (c *Compiler) hash(sources ...document.Object) uint64 {
	c.once.Do(func() { c.seed = maphash.MakeSeed() })
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, source := range sources {
		hashObject(&h, source)
	}
	return h.Sum64()
}

// A Hash never fails.
func hashObject(h *maphash.Hash, o document.Object) {
	for key, value := range o.All() {
		_, _ = h.WriteString(key)
		hashValue(h, value)
	}
	_ = h.WriteByte(document.KeyEnd)
}

func hashValue(h *maphash.Hash, value any) {
	_ = h.WriteByte(byte(document.ClassOf(value)))
	switch v := value.(type) {
	case document.Object:
		hashObject(h, v)
	case document.Array:
		for _, item := range v.Items() {
			hashValue(h, item)
		}
		_ = h.WriteByte(document.KeyEnd)
	case string:
		_, _ = h.WriteString(v)
	case int64:
		hashBits(h, uint64(v))
	case float64:
		hashBits(h, math.Float64bits(v))
	case time.Time:
		hashBits(h, uint64(v.UnixMilli()))
	case bool:
		if v {
			_ = h.WriteByte(1)
		}
	}
}

func hashBits(h *maphash.Hash, bits uint64) {
	var buffer [8]byte
	_, _ = h.Write(binary.LittleEndian.AppendUint64(buffer[:0], bits))
}

// cache holds what was compiled, each in the slot that the hash of its sources gives. A later one
// evicts the one in its slot.
type cache[T any] struct {
	// slots are made for the first one: most programs that are short compile few kinds of things.
	slots atomic.Pointer[cacheSlots[T]]
}

type cacheSlots[T any] [256]atomic.Pointer[compiled[T]]

func (r *cache[T]) slot(hash uint64) *atomic.Pointer[compiled[T]] {
	slots := r.slots.Load()
	if slots == nil {
		r.slots.CompareAndSwap(nil, &cacheSlots[T]{})
		slots = r.slots.Load()
	}
	return &slots[hash%uint64(len(slots))]
}

type compiled[T any] struct {
	hash    uint64
	sources []document.Object
	// room is that of sources while there is one.
	room   [1]document.Object
	result T
}

func (r *cache[T]) get(hash uint64, compile func() (T, error), sources ...document.Object) (T, error) {
	place := r.slot(hash)
	if known := place.Load(); known != nil && known.hash == hash && sameSources(known.sources, sources) {
		return known.result, nil
	}
	result, err := compile()
	if err == nil {
		kept := &compiled[T]{hash: hash, result: result}
		kept.sources = append(kept.room[:0], sources...)
		place.Store(kept)
	}
	return result, err
}

func sameSources(a, b []document.Object) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].IsZero() != b[i].IsZero() || !document.Identical(a[i], b[i]) {
			return false
		}
	}
	return true
}

// Evaluation is what one call of a Store evaluates: it asks filters, makes changes and
// projections and orders documents, all of that within one budget, and looks at the context
// of the call now and then, wherever it is. A store makes one for each call.
//
// The budget is counted and not timed, so that the same call over the same documents always
// comes as far. It grows with the documents that are looked at: what is usual passes however
// many they are. Beyond it every method is ResourceExhausted, and Canceled where the context
// ended.
//
// It serves one goroutine.
type Evaluation struct {
	budget budget

	// What follows belongs to the check that is under way.

	// position is the array element through which the document matched.
	position arrayPosition
	// failure is the error of an $expr, or that of the budget. The match is void then.
	failure error
	// now is what the match is given for $$NOW, nil where that is nothing.
	now *time.Time

	// updating is the change of a document that is under way.
	updating updateRun
}

// arrayPosition is the index of the outermost array element through which the last condition
// of a filter matched, which is what "$" in an update stands for.
type arrayPosition struct {
	index int32 // A document holds fewer elements.
	found bool
}

// NewEvaluation returns the evaluation of a call whose context is ctx.
func NewEvaluation(ctx context.Context) *Evaluation {
	return &Evaluation{budget: budget{ctx: ctx, left: baseWork, room: baseRoom}}
}

// Resume goes on with another attempt of the call, under a context of its own, after one that
// its own context ended or that came to nothing. What was spent stays spent.
func (e *Evaluation) Resume(ctx context.Context) {
	e.budget.ctx, e.budget.failure = ctx, nil //nolint:fatcontext // The attempt before is over, and so is its context.
}

// Visit counts a document that the call looks at without asking a filter, because an index or
// another process has found that it matches. The methods that are given a filter count it
// themselves.
func (e *Evaluation) Visit(document document.Object) {
	e.budget.visit(1)
	if e.budget.isBehind() {
		e.budget.measure(document.Size())
	}
}

// visitAll is Visit for the documents whose bit is set in among.
func (e *Evaluation) visitAll(documents []document.Object, among uint32) {
	e.budget.visit(bits.OnesCount32(among))
	if !e.budget.isBehind() {
		return
	}
	for ; among != 0; among &= among - 1 {
		e.budget.measure(documents[bits.TrailingZeros32(among)].Size())
	}
}

// measureVisited adds the sizes of visited documents that were not added when they were visited.
// Work on all documents at once, such as a sort, needs them only after the last visit.
func (e *Evaluation) measureVisited(documents []document.Object) {
	for _, o := range documents[:min(len(documents), e.budget.unmeasured)] {
		e.budget.measure(o.Size())
	}
}

// Err returns the error that ended the evaluation: Canceled where the context of the call has
// ended, ResourceExhausted where it did too much, or nil.
func (e *Evaluation) Err() error {
	e.budget.look()
	return e.budget.failure
}

// Check is Filter.Check within the evaluation.
func (e *Evaluation) Check(filter *Filter, document document.Object) (bool, error) {
	if filter == nil || filter.root == nil {
		e.Visit(document)
		return true, e.budget.failure
	}
	e.Visit(document)
	e.begin(filter)
	matched := filter.root.match(document, e)
	return matched && e.failure == nil, e.failure
}

// Select tells which of up to BatchSize documents match, of those whose bit is set in among: bit i
// stands for documents[i]. That takes less than a Check for each document. Where a filter can fail,
// the error is that of the first document for which it does, and matched are those before it.
func (e *Evaluation) Select(filter *Filter, documents []document.Object, among uint32) (matched uint32, err error) {
	e.visitAll(documents, among)
	if filter == nil || filter.root == nil {
		return among, e.budget.failure
	}
	e.begin(filter)
	if !filter.canFail {
		matched = selectBy(filter.root, documents, among, e)
		return matched, e.failure
	}
	for ; among != 0 && e.failure == nil; among &= among - 1 {
		i := bits.TrailingZeros32(among)
		if filter.root.match(documents[i], e) && e.failure == nil {
			matched |= 1 << i
		}
	}
	return matched, e.failure
}

// begin prepares the evaluation for a check by a filter.
func (e *Evaluation) begin(filter *Filter) {
	e.position, e.failure, e.now = arrayPosition{}, e.budget.failure, nil
	if filter.UsesNow() {
		e.now = filter.rare.now
	}
}

// positionOf returns the array element of a document through which it matches a filter.
func (e *Evaluation) positionOf(filter *Filter, document document.Object) (arrayPosition, error) {
	if filter == nil || filter.root == nil {
		return arrayPosition{}, nil
	}
	e.begin(filter)
	inOrderOfPositions(filter.root).match(document, e)
	return e.position, e.failure
}

// fail records a failure, of several the first.
func (e *Evaluation) fail(err error) {
	if e != nil && e.failure == nil {
		e.failure = err
	}
}

// recordPosition records the array element of a match. As a walk returns, it records the element of
// the outer array after that of the inner one, so that the outer one counts.
func (e *Evaluation) recordPosition(index int) {
	if e != nil {
		e.position = arrayPosition{index: int32(index), found: true}
	}
}

// savePosition begins a match whose position does not count for the whole filter. It returns the
// position so far, for restorePosition.
func (e *Evaluation) savePosition() (before arrayPosition) {
	if e != nil {
		before, e.position = e.position, arrayPosition{}
	}
	return before
}

func (e *Evaluation) restorePosition(before arrayPosition) {
	if e != nil {
		e.position = before
	}
}

// spend counts work of a match, and reports whether enough was left for it. A nil evaluation has no
// budget: the size of one document bounds its work.
func (e *Evaluation) spend(work int) bool {
	if e == nil || e.budget.spend(work) {
		return true
	}
	e.fail(e.budget.failure)
	return false
}

// hasEnded reports whether the budget is used up or the context has ended. A match is void then. Whatever
// asks many conditions asks no more of them, and is not met, so that what asks it ends as well.
func (e *Evaluation) hasEnded() bool { return e != nil && e.budget.failure != nil }

// charge is spend for what ends with an error.
func (e *Evaluation) charge(work int) error {
	if e.spend(work) {
		return nil
	}
	return e.failure
}

// steps counts looking at n elements.
func (e *Evaluation) steps(n int) bool { return e.spend(n * stepWork) }

// keepByteWork is making keys of what is in a value, and looking for them, for each of its
// bytes in BSON.
const keepByteWork = 8

// Read counts that the call reads all of a value of a document, and makes keys of what is in
// it, to see which values are different.
func (e *Evaluation) Read(value any) error {
	return e.charge(document.SizeOf(value) * keepByteWork)
}

// Keep counts bytes that the call holds until its end, beside documents. It serves stores,
// for what they make of documents.
func (e *Evaluation) Keep(bytes int) error {
	e.budget.keep(bytes)
	return e.budget.failure
}
