package query

import (
	"context"
	"math"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

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
	// nameWork is for making the index of an element the name of a field.
	nameWork = 1 << 9
	// tupleWork is for reading a value of an element when sorting by several fields.
	tupleWork = 64
	// roundingWork is for rounding to decimal places, zoneWork for loading a time zone, dateWork for parsing a
	// date, partWork for computing a part of a date, and formatWork for formatting a date, per byte of the format.
	roundingWork = 1 << 12
	zoneWork     = 1 << 15
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
