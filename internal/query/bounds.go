package query

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// KeyRange is a range of AppendKey's keys, from From up to but not including To.
type KeyRange struct {
	From, To []byte
	// Point is true if every key in the range is From or begins with From.
	Point bool
}

// Bounds are the ranges of keys, in an ordered index on a path, that contain all documents that meet a condition.
type Bounds struct {
	// Ranges are in ascending order and do not overlap. If a document meets the condition, the key of at least one of
	// its values at the path (see Values) is in one of the ranges. A missing value counts as null.
	Ranges []KeyRange
	// Exact is true if, conversely, every document with a value in the ranges meets the condition.
	Exact bool
}

// Condition is one of the conditions that a matching document must all meet.
type Condition struct{ matcher matcher }

// Conditions returns the top-level conditions of a filter, including the conditions inside a top-level $and.
func (f *Filter) Conditions() iter.Seq[Condition] {
	return func(yield func(Condition) bool) {
		if f != nil {
			eachCondition(f.root, yield)
		}
	}
}

func eachCondition(m matcher, yield func(Condition) bool) bool {
	switch m := m.(type) {
	case allOf:
		for _, inner := range m {
			if !eachCondition(inner, yield) {
				return false
			}
		}
	case *fieldsEqual:
		for i := range *m {
			if !yield(Condition{&(*m)[i]}) {
				return false
			}
		}
	default:
		return yield(Condition{m})
	}
	return true
}

// Bounds returns the bounds of the condition at a path, and whether it has any. A path with a numeric name has
// none: the name may be an array index, and a filter then finds more values than Values returns.
func (c Condition) Bounds(path string) (Bounds, bool) { return boundsAt(c.matcher, path) }

func boundsAt(m matcher, path string) (Bounds, bool) {
	switch m := m.(type) {
	case *pathMatcher:
		if m.path.text == path && !m.path.hasIndex() {
			return boundsOfTest(m.test)
		}
	case *elementMatcher:
		return m.boundsAt(path)
	case *equality:
		return m.boundsAt(path)
	case allOf:
		return m.boundsAt(path)
	case anyOf:
		return unitedBounds(m, func(m matcher) (Bounds, bool) { return boundsAt(m, path) })
	case noneOf:
		return m.boundsAt(path)
	}
	return Bounds{}, false
}

// boundsAt returns the bounds of $exists: false. These are the bounds of null, because the field is missing.
func (none noneOf) boundsAt(path string) (Bounds, bool) {
	for _, m := range none {
		if m, ok := m.(*pathMatcher); ok && m.path.text == path && m.test == (exists{}) && !m.path.hasIndex() {
			return boundsOfEqual(nil)
		}
	}
	return Bounds{}, false
}

// boundsAt returns the bounds of an array's elements, or of values within them.
func (m *elementMatcher) boundsAt(path string) (bounds Bounds, ok bool) {
	if m.path.hasIndex() {
		return bounds, false
	}
	switch finder := m.finder.(type) {
	case valuesOf:
		if m.path.text == path {
			bounds, ok = boundsOfTest(finder.condition)
		}
	case elementsOf:
		if inner, below := strings.CutPrefix(path, m.path.text+"."); below {
			bounds, ok = boundsAt(finder.query, inner)
		}
	}
	bounds.Exact = false // The bounds also contain values outside arrays.
	return bounds, ok
}

// boundsAt returns the bounds of the first matcher that has any. Bounds of two matchers cannot be intersected,
// because different elements of an array may meet them.
func (all allOf) boundsAt(path string) (Bounds, bool) {
	for _, m := range all {
		if bounds, ok := boundsAt(m, path); ok {
			bounds.Exact = bounds.Exact && len(all) == 1
			return bounds, true
		}
	}
	return Bounds{}, false
}

// unitedBounds returns the union of the bounds of all conditions, or false if one of them has none.
func unitedBounds[C any](conditions []C, boundsOfOne func(C) (Bounds, bool)) (Bounds, bool) {
	together := Bounds{Exact: true}
	for _, condition := range conditions {
		bounds, ok := boundsOfOne(condition)
		if !ok {
			return Bounds{}, false
		}
		together.Ranges = append(together.Ranges, bounds.Ranges...)
		together.Exact = together.Exact && bounds.Exact
	}
	together.Ranges = united(together.Ranges)
	return together, true
}

func boundsOfTest(test candidateTest) (Bounds, bool) {
	switch test := test.(type) {
	case equalTo:
		return boundsOfEqual(test.value)
	case equalToString:
		return boundsOfEqual(string(test))
	case longList:
		return test.bounds()
	case *oneOf:
		return unitedBounds(test.values, boundsOfEqual)
	case oneOfStrings:
		return unitedBounds(slices.Collect(maps.Keys(test)), func(s string) (Bounds, bool) { return boundsOfEqual(s) })
	case *ordered:
		return boundsOfOrder(test)
	case likePattern:
		return boundsOfPattern(test.pattern)
	case every:
		return boundsOfEvery(test)
	case some:
		return unitedBounds(test, boundsOfTest)
	default:
		return Bounds{}, false
	}
}

// boundsOfEqual returns the bounds of $eq. A whole array has none, because an index contains the elements of an array
// instead. The bounds of null are not exact: a document with a scalar on the path also has the key of null, but does
// not match.
func boundsOfEqual(value any) (Bounds, bool) {
	if document.ClassOf(value) == document.ClassArray {
		return Bounds{}, false
	}
	return Bounds{Ranges: []KeyRange{pointOf(value)}, Exact: value != nil}, true
}

// boundsOfOrder returns the bounds of $gt, $gte, $lt and $lte. They contain only values of the operand's type.
func boundsOfOrder(c *ordered) (Bounds, bool) {
	switch {
	case c.class == document.ClassArray:
		return Bounds{}, false
	case c.class == document.ClassNull, isNaN(c.operand):
		if !c.equal {
			return Bounds{Exact: true}, true
		}
		return boundsOfEqual(c.operand)
	}
	point := pointOf(c.operand)
	bounds := KeyRange{From: point.From, To: point.To}
	if !c.equal {
		bounds.From, bounds.To = point.To, point.From
	}
	if c.greater {
		bounds.To = []byte{byte(c.class) + 1}
	} else {
		bounds.From = lowestOf(c.class)
	}
	return Bounds{Ranges: []KeyRange{bounds}, Exact: true}, true
}

// lowestOf returns the lowest key in a class that $gt and $lt can match. For numbers it is the key of negative
// infinity, since NaN is neither greater nor less than a number.
func lowestOf(class int) []byte {
	if class == document.ClassNumber {
		return document.AppendKey(nil, math.Inf(-1))
	}
	return []byte{byte(class)}
}

// boundsOfPattern returns the bounds of a pattern that starts with ^ and plain text.
func boundsOfPattern(pattern *pattern) (Bounds, bool) {
	prefix := pattern.indexPrefix()
	if prefix == "" {
		return Bounds{}, false
	}
	from := append([]byte{document.ClassString}, prefix...)
	return Bounds{Ranges: []KeyRange{{From: from, To: KeyAfter(from)}}}, true
}

// boundsOfEvery returns the intersection of the conditions' bounds. Conditions without bounds are left out.
func boundsOfEvery(conditions every) (Bounds, bool) {
	var together Bounds
	found := false
	for _, condition := range conditions {
		bounds, ok := boundsOfTest(condition)
		if !ok {
			continue
		}
		if found {
			bounds.Ranges = CommonRanges(together.Ranges, bounds.Ranges)
		}
		together, found = bounds, true
	}
	together.Exact = false
	return together, found
}

// pointOf returns the range of a single value. Both ends share one allocation.
func pointOf(value any) KeyRange {
	room := make([]byte, 0, 2*(document.SizeOf(value)+len("class and ends")))
	key := document.AppendKey(room, value)
	end := len(key)
	after := append(key, key...)[end:]
	return KeyRange{From: key[:end:end], To: afterAll(after), Point: true}
}

// KeyAfter returns the lowest key above all keys that start with key. key must not consist only of 0xff bytes.
func KeyAfter(key []byte) []byte { return afterAll(slices.Clone(key)) }

func afterAll(key []byte) []byte {
	last := len(key) - 1
	for key[last] == math.MaxUint8 {
		last--
	}
	key[last]++
	return key[:last+1]
}

// CommonRanges returns the intersection of two lists of ranges. The lists and the result are in ascending order
// without overlap.
func CommonRanges(a, b []KeyRange) []KeyRange {
	var common []KeyRange
	for len(a) > 0 && len(b) > 0 {
		from, to := a[0].From, a[0].To
		if bytes.Compare(b[0].From, from) > 0 {
			from = b[0].From
		}
		aEndsFirst := bytes.Compare(a[0].To, b[0].To) <= 0
		if !aEndsFirst {
			to = b[0].To
		}
		if bytes.Compare(from, to) < 0 {
			point := a[0].Point || b[0].Point
			common = append(common, KeyRange{From: from, To: to, Point: point})
		}
		if aEndsFirst {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return common
}

// NewRanges returns the parts of ranges that are not in known, and the union of both. known must be such a union, or nil.
func NewRanges(ranges, known []KeyRange) (added, all []KeyRange) {
	var unknown []KeyRange
	var from []byte
	for _, r := range known {
		unknown = append(unknown, KeyRange{From: from, To: r.From})
		from = r.To
	}
	unknown = append(unknown, KeyRange{From: from, To: []byte{math.MaxUint8}}) // No key starts with this byte.
	added = CommonRanges(united(ranges), unknown)
	return added, united(slices.Concat(known, added))
}

// united sorts ranges and joins overlapping ones.
func united(ranges []KeyRange) []KeyRange {
	slices.SortFunc(ranges, func(a, b KeyRange) int { return bytes.Compare(a.From, b.From) })
	apart := ranges[:0]
	for _, next := range ranges {
		if len(apart) == 0 || bytes.Compare(apart[len(apart)-1].To, next.From) <= 0 {
			apart = append(apart, next)
			continue
		}
		last := &apart[len(apart)-1]
		if bytes.Compare(next.To, last.To) > 0 {
			*last = KeyRange{From: last.From, To: next.To}
		}
	}
	return apart
}

// hasIndex reports whether a name in the path may be an array index.
func (p *fieldPath) hasIndex() bool {
	for i := range p.parts {
		if p.parts[i].index >= 0 {
			return true
		}
	}
	return false
}

// budget limits the work of a call, in units of about a nanosecond, and the bytes that the call may keep.
type budget struct {
	ctx context.Context //nolint:containedctx // It belongs to the one call that the budget is for.
	// portion is the work that may be done before the context is checked again. left is the rest of the budget.
	portion, left int
	// unmeasured is the number of visited documents whose sizes have not been added to the budget yet.
	unmeasured int
	// room is the number of bytes that the call may still keep.
	room int
	// granted is the size of the last portion. uncounted is work that AddWork has not added yet.
	granted, uncounted int
	// failure is the error that ended the call.
	failure error
}

// The budget of a call is about a quarter of a second of processor time, and the same again for each 15 MB of
// documents. Testing a document against a plain condition costs 32 units.
const (
	// baseWork and baseRoom are the budget without documents.
	baseWork = 256 << 20
	baseRoom = 64 << 20
	// Each visited document adds workPerDocument to the budget. If that is not enough, each of its bytes adds
	// workPerByte.
	workPerDocument = 1 << 10
	workPerByte     = 16
	// Each visited document adds roomPerDocument to the room, and each of its bytes roomPerByte.
	roomPerDocument = 1 << 7
	roomPerByte     = 4
	// lookEvery is the work between two checks of the context.
	lookEvery = 1 << 14
	// readWork and writeWork are the work of reading and of writing a document in memory, and seekWork is for finding a
	// key in an index. The budget does not limit them.
	readWork  = 1 << 4
	seekWork  = 1 << 8
	writeWork = 1 << 11
	// maxAtOnce caps a single charge, so that sums do not overflow. It exceeds every budget.
	maxAtOnce = 1 << 50
)

// visit extends the budget for documents that are read.
func (b *budget) visit(documents int) {
	b.count(documents * readWork)
	b.unmeasured += documents
	b.left += documents * workPerDocument
	b.room += documents * roomPerDocument
}

// count adds work that the budget does not limit to the counter of CountWork.
func (b *budget) count(work int) {
	b.uncounted += work
	if b.uncounted >= 2*lookEvery { // A call that tests nothing takes no portions.
		AddWork(b.ctx, b.uncounted)
		b.uncounted = 0
	}
}

// isBehind reports whether the call has used more than the budget that its number of documents grants. Only
// then are the sizes of documents read, because in a plain scan that takes as long as testing the condition.
func (b *budget) isBehind() bool { return b.left < baseWork || b.room < baseRoom }

// measure extends the budget by the size of a visited document.
func (b *budget) measure(bytes int) {
	b.unmeasured--
	b.left += bytes * workPerByte
	b.room += bytes * roomPerByte
}

// spend counts work and reports whether the budget is sufficient.
func (b *budget) spend(work int) bool {
	b.portion -= min(work, maxAtOnce)
	return b.portion >= 0 || b.nextPortion()
}

// nextPortion takes the next portion of the remaining work and checks the context.
func (b *budget) nextPortion() bool {
	if b.failure == nil {
		b.left += b.portion
		if b.left >= 0 {
			b.uncounted += b.granted - b.portion
			if b.uncounted >= lookEvery { // A short call does not look for a counter.
				AddWork(b.ctx, b.uncounted)
				b.uncounted = 0
			}
		}
		b.portion = min(lookEvery, b.left)
		b.granted = b.portion
		b.left -= b.portion
	}
	if b.portion < 0 {
		b.fail(boterr.New(boterr.ResourceExhausted, "", "the call does too much: more than is allowed for the number and "+
			"size of the documents that it looks at; use fewer or simpler conditions and expressions, or ask for fewer documents"))
	}
	b.look()
	return b.failure == nil
}

// keep counts bytes that the call keeps until its end. It fails if there is not enough room.
func (b *budget) keep(bytes int) {
	b.room -= min(bytes, maxAtOnce)
	if b.room < 0 {
		b.fail(boterr.New(boterr.ResourceExhausted, "", "the call uses too much memory: more than is allowed for the number and "+
			"size of the documents that it looks at; write or compute less, or split the call"))
	}
}

func (b *budget) look() {
	if b.failure == nil && b.ctx.Err() != nil {
		b.fail(boterr.New(boterr.Canceled, "", "the context ended: %w", context.Cause(b.ctx)))
	}
}

// fail ends the call. The remaining budget is kept for another attempt.
func (b *budget) fail(err error) {
	if b.failure == nil {
		b.failure = err
	}
	b.left += b.portion
	b.portion = 0
}

const (
	// memoryOfByte is the maximum memory of an object or array per byte of its BSON.
	memoryOfByte = 4
	// memoryOfField is the memory of a field of a document, without its value.
	memoryOfField = 16
	// maxComparedFields is the maximum number of fields that are compared one by one.
	maxComparedFields = 64
)

// grownBy estimates the additional memory of a changed document.
func grownBy(before, after document.Object) int {
	grown := after.Size() - before.Size()
	switch {
	case grown <= 0:
		return 0
	case max(before.Len(), after.Len()) > maxComparedFields: // Comparing all fields would take long.
		return grown * memoryOfByte
	default:
		return max(0, memoryOfFields(after)-memoryOfFields(before))
	}
}

// memoryOfFields estimates the memory of an object's fields, without their names, which objects of the same
// shape share.
func memoryOfFields(o document.Object) int {
	memory := o.Len() * memoryOfField
	for _, value := range o.All() {
		switch v := value.(type) {
		case string:
			memory += len(v)
		case document.Object, document.Array:
			memory += document.SizeOf(v) * memoryOfByte
		}
	}
	return memory
}

// Units of work, about a nanosecond each.
const (
	// stepWork is for visiting an element of an array. conditionWork is for testing a condition at a path of a
	// document.
	stepWork      = 16
	conditionWork = 32
	// arrayWork and objectWork are for creating an array or object, without its elements. keyWork is for keeping a
	// key.
	arrayWork  = 64
	objectWork = 256
	keyWork    = 64
	// tupleWork is for reading a value of an element when sorting by several fields.
	tupleWork = 64
	// roundingWork is for rounding to decimal places, zoneWork for looking up a time zone, dateWork for parsing a
	// date, partWork for computing a part of a date, and formatWork for formatting a date, per byte of the format.
	roundingWork = 1 << 12
	zoneWork     = 1 << 10
	dateWork     = 1 << 11
	partWork     = 1 << 8
	formatWork   = 1 << 6
	// conversionWork is for converting a value to another type, failureWork for reporting a failed conversion.
	conversionWork = 1 << 7
	failureWork    = 1 << 11
	// matchWork is for creating the description of a match.
	matchWork = 1 << 9
	// bytesOfWork is the number of bytes of strings that are compared in one unit of work.
	bytesOfWork = 8
	// growthWork is for each byte that an update adds to a document. The memory budget ends before these bytes use
	// half of the work budget.
	growthWork = 2
	// containerWork is for comparing or writing an object or array, per byte of its BSON.
	containerWork = 2
)

func comparisonWork(a, b any) int {
	switch v := a.(type) {
	case string:
		w, _ := b.(string)
		return min(len(v), len(w)) / bytesOfWork
	case document.Object, document.Array:
		return min(readingWork(a), readingWork(b))
	default:
		return 0
	}
}

// readingWork is the work of reading a whole value, for example to make its key.
func readingWork(value any) int {
	switch v := value.(type) {
	case string:
		return len(v) / bytesOfWork
	case document.Object:
		return v.Size() * containerWork
	case document.Array:
		return document.SizeOf(v) * containerWork
	default:
		return 0
	}
}

// comparing counts the work of comparing two values, and reports whether the budget sufficed.
func (e *Evaluation) comparing(a, b any) bool {
	work := comparisonWork(a, b)
	return work == 0 || e.spend(work)
}

func (e *Evaluation) reading(value any) bool {
	work := readingWork(value)
	return work == 0 || e.spend(work)
}

// readingText is like reading, for a string of length bytes.
func (e *Evaluation) readingText(length int) bool {
	return length < bytesOfWork || e.spend(length/bytesOfWork)
}

// sourceWork estimates from its size the work of evaluating a source document once.
func sourceWork(size int) int { return stepWork + size/2 } //nolint:mnd // A step takes ten bytes or more.

func readingAllWork(values []any) int {
	work := 0
	for _, value := range values {
		work = addWork(work, readingWork(value))
	}
	return work
}

func settingWork(items, added []any) int {
	all := len(items) + len(added)
	if all > fewValues {
		return all*keyWork + addWork(readingAllWork(items), readingAllWork(added))
	}
	return all*stepWork + readingAllWork(items)*len(added)
}

// addWork adds work or sizes without overflow. A value that contains the same part many times may count as
// larger than memory.
func addWork(a, b int) int { return min(a+b, math.MaxInt32) }
