package document

import (
	"context"
	"math/bits"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

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
	// now is what the match is given for $$NOW.
	now time.Time
}

// arrayPosition is the index of the outermost array element through which the last condition
// of a filter matched, which is what "$" in an update stands for.
type arrayPosition struct {
	index int
	found bool
}

// NewEvaluation returns the evaluation of a call whose context is ctx.
func NewEvaluation(ctx context.Context) *Evaluation {
	return &Evaluation{budget: budget{ctx: ctx, left: baseWork, room: baseRoom}}
}

// Visit tells that the call looks at a document that it asks no filter about, because an
// index tells that it matches or another process asked. The methods that are given a filter
// count it themselves.
func (e *Evaluation) Visit(document Object) {
	e.budget.visit(1)
	if e.budget.isBehind() {
		e.budget.measure(document.Size())
	}
}

// visitAll is Visit for the documents whose bit is set in among.
func (e *Evaluation) visitAll(documents []Object, among uint32) {
	e.budget.visit(bits.OnesCount32(among))
	if !e.budget.isBehind() {
		return
	}
	for ; among != 0; among &= among - 1 {
		e.budget.measure(documents[bits.TrailingZeros32(among)].Size())
	}
}

// Err returns the error that ended the evaluation: Canceled where the context of the call has
// ended, ResourceExhausted where it did too much, or nil.
func (e *Evaluation) Err() error {
	e.budget.look()
	return e.budget.failure
}

// Check is Filter.Check within the evaluation.
func (e *Evaluation) Check(filter *Filter, document Object) (bool, error) {
	if filter == nil || filter.root == nil {
		e.Visit(document)
		return true, e.budget.failure
	}
	e.Visit(document)
	e.begin(filter)
	matched := filter.root.match(document, e)
	return matched && e.failure == nil, e.failure
}

// Select tells which of up to BatchSize documents match, of those whose bit is set in
// among: bit i stands for documents[i]. It asks for less than Check does for one document
// after the other. Where a filter can fail, the error is that of the first document for which
// it does, and matched are those before it.
func (e *Evaluation) Select(filter *Filter, documents []Object, among uint32) (matched uint32, err error) {
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
	e.position, e.failure, e.now = arrayPosition{}, e.budget.failure, filter.now
}

// positionOf returns the array element of a document through which it matches a filter.
func (e *Evaluation) positionOf(filter *Filter, document Object) (arrayPosition, error) {
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

// at records the array element of a match. A walk that unwinds records the outer one after
// the inner.
func (e *Evaluation) at(index int) {
	if e != nil {
		e.position = arrayPosition{index: index, found: true}
	}
}

// outside begins a match of which the position is not that of the whole, and returns the
// position so far, to which inside goes back.
func (e *Evaluation) outside() (before arrayPosition) {
	if e != nil {
		before, e.position = e.position, arrayPosition{}
	}
	return before
}

func (e *Evaluation) inside(before arrayPosition) {
	if e != nil {
		e.position = before
	}
}

// spend counts work of a match, and reports whether there was enough left for it. A nil
// evaluation is that of work which the size of one document bounds.
func (e *Evaluation) spend(work int) bool {
	if e == nil || e.budget.spend(work) {
		return true
	}
	e.fail(e.budget.failure)
	return false
}

// charge is spend for what ends with an error.
func (e *Evaluation) charge(work int) error {
	if e.spend(work) {
		return nil
	}
	return e.failure
}

// steps counts looking at n elements.
func (e *Evaluation) steps(n int) bool { return e.spend(n * stepWork) }

// budget is the work that a call may do, in about nanoseconds, and the bytes that it may
// keep.
type budget struct {
	ctx context.Context //nolint:containedctx // It belongs to the one call that the budget is for.
	// portion is the work until the context is looked at again, left what there is beside it.
	portion, left int
	// room is the number of bytes that may still be kept.
	room int
	// failure is what ended the call.
	failure error
}

// The budget of a call. That of work is what a processor does in about a quarter of a second, and
// as much again for each 15 MB of documents: a plain condition takes 32 on a document.
const (
	// baseWork and baseRoom are what every call has.
	baseWork = 256 << 20
	baseRoom = 64 << 20
	// workPerDocument is what each document that is looked at adds, and workPerByte what its
	// bytes do where that is not enough.
	workPerDocument = 1 << 10
	workPerByte     = 16
	// roomPerDocument and roomPerByte are what they add to what may be kept.
	roomPerDocument = 1 << 7
	roomPerByte     = 4
	// lookEvery is the work after which the context is looked at.
	lookEvery = 1 << 14
	// mostAtOnce is more than any budget has.
	mostAtOnce = 1 << 50
)

// visit adds what so many documents are worth by their number.
func (b *budget) visit(documents int) {
	b.left += documents * workPerDocument
	b.room += documents * roomPerDocument
}

// isBehind reports whether the call has done or kept more than its documents are worth by
// their number. As long as it has not, nobody reads their sizes: to a plain scan that would
// be as much work as its condition.
func (b *budget) isBehind() bool { return b.left < baseWork || b.room < baseRoom }

// measure adds what documents of so many bytes in all are worth beside their number.
func (b *budget) measure(bytes int) {
	b.left += bytes * workPerByte
	b.room += bytes * roomPerByte
}

// spend counts work, and reports whether there was enough left for it.
func (b *budget) spend(work int) bool {
	b.portion -= min(work, mostAtOnce)
	return b.portion >= 0 || b.nextPortion()
}

// nextPortion takes the next portion of the work that is left, and looks at the context.
func (b *budget) nextPortion() bool {
	if b.failure == nil {
		b.left += b.portion
		b.portion = min(lookEvery, b.left)
		b.left -= b.portion
	}
	if b.portion < 0 {
		b.fail(boterr.New(boterr.ResourceExhausted, "", "the call does too much: more than is allowed for the number and "+
			"size of the documents that it looks at; use fewer or simpler conditions and expressions, or ask for fewer documents"))
	}
	b.look()
	return b.failure == nil
}

// keep counts bytes that the call holds until its end, and reports whether there was enough
// room left for them.
func (b *budget) keep(bytes int) bool {
	b.room -= min(bytes, mostAtOnce)
	if b.room < 0 {
		b.fail(boterr.New(boterr.ResourceExhausted, "", "the call makes too much: more than is allowed for the number and "+
			"size of the documents that it looks at; let it write or compute less, or do it in parts"))
	}
	return b.failure == nil
}

// look fails where the context has ended.
func (b *budget) look() {
	if b.failure == nil && b.ctx.Err() != nil {
		b.fail(boterr.New(boterr.Canceled, "", "the context ended: %w", context.Cause(b.ctx)))
	}
}

// fail ends the call.
func (b *budget) fail(err error) {
	if b.failure == nil {
		b.failure = err
	}
	b.portion, b.left = 0, 0
}
