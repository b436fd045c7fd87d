package query

import (
	"context"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/document"
)

// Evaluation evaluates filters, changes, projections and sorts for one call of a Store within one budget, and
// regularly checks the call's context. A store creates an Evaluation for each call.
//
// The budget counts work instead of time, so that the same call over the same documents always gets equally
// far. It grows with each document that is read, so that common calls succeed over any number of documents.
// Once it is spent, every method returns ResourceExhausted, or Canceled if the context has ended.
//
// An Evaluation must not be used by several goroutines at once.
type Evaluation struct {
	budget budget
	// shapes are the shapes that changed documents share, or nil if there are none.
	shapes *document.Shapes

	// rare holds the parts that few calls need. It is nil for all others.
	rare *rareOfEvaluation

	// The following fields are for the current check.

	// position is the array element through which the document matched.
	position arrayPosition
	// failure is the error of an $expr or of the budget. If it is set, the result of the match is invalid.
	failure error
	// now is the time for $$NOW, or nil if there is none.
	now *time.Time

	// updating is the current change of a document.
	updating updateRun
}

type rareOfEvaluation struct {
	// ordered is the last filter that was asked for a position. root has its conditions in the order of positions.
	ordered *Filter
	root    matcher
	// projecting runs the expressions of projections.
	projecting expressionRun
}

// makeRare returns rare and creates it if necessary.
func (e *Evaluation) makeRare() *rareOfEvaluation {
	if e.rare == nil {
		e.rare = &rareOfEvaluation{}
	}
	return e.rare
}

// arrayPosition is the index of the outermost array element through which the last condition of a filter matched. "$"
// in an update means this element.
type arrayPosition struct {
	index int32 // No array has more elements.
	found bool
}

// NewEvaluation returns the evaluation of a call whose context is ctx.
func NewEvaluation(ctx context.Context) *Evaluation {
	return &Evaluation{budget: budget{ctx: ctx, left: baseWork, room: baseRoom}}
}

// totalKey is the key of the counter of CountWork in a context.
type totalKey struct{}

// CountWork returns a context for calls of a store in this process. They add their work to total, in units of about
// a nanosecond. Each evaluation leaves out its last units, about 50,000 at most.
func CountWork(ctx context.Context, total *atomic.Int64) context.Context {
	return context.WithValue(ctx, totalKey{}, total)
}

// AddWork adds work to the total of CountWork, if ctx has one. Stores call it for the work that evaluations do not
// see, such as reading files.
func AddWork(ctx context.Context, work int) {
	if total, ok := ctx.Value(totalKey{}).(*atomic.Int64); ok {
		total.Add(int64(work))
	}
}

// Resume starts another attempt of the call under another context, after an attempt that was canceled or had no
// effect. It does not restore the budget.
func (e *Evaluation) Resume(ctx context.Context) {
	e.budget.ctx, e.budget.failure = ctx, nil //nolint:fatcontext // The previous attempt and its context have ended.
}

// Share makes the changed documents of the call share the shapes of a store.
func (e *Evaluation) Share(shapes *document.Shapes) { e.shapes = shapes }

// Visit counts a document that the call reads without testing a filter, because an index or another process has found
// that it matches. Methods with a filter count documents themselves.
func (e *Evaluation) Visit(document document.Object) {
	e.budget.visit(1)
	if e.budget.isBehind() {
		e.budget.measure(document.Size())
	}
}

// Write counts a document that the call inserts or removes. Change counts the documents that it changes.
func (e *Evaluation) Write() { e.budget.count(writeWork) }

// Seek counts keys that the call looks up in an index.
func (e *Evaluation) Seek(keys int) { e.budget.count(keys * seekWork) }

// visitAll calls Visit for each document whose bit in among is set.
func (e *Evaluation) visitAll(documents []document.Object, among uint32) {
	e.budget.visit(bits.OnesCount32(among))
	if !e.budget.isBehind() {
		return
	}
	for ; among != 0; among &= among - 1 {
		e.budget.measure(documents[bits.TrailingZeros32(among)].Size())
	}
}

// measureVisited adds the sizes of visited documents that have not been added. Work on all documents at once, such as
// a sort, only needs them after the last visit.
func (e *Evaluation) measureVisited(documents []document.Object) {
	for _, o := range documents[:min(len(documents), e.budget.unmeasured)] {
		e.budget.measure(o.Size())
	}
}

// Err returns the error that ended the evaluation: Canceled if the context of the call has ended,
// ResourceExhausted if the budget is spent, or nil.
func (e *Evaluation) Err() error {
	e.budget.look()
	return e.budget.failure
}

// Check is like Filter.Check, within the budget of the evaluation.
func (e *Evaluation) Check(filter *Filter, document document.Object) (bool, error) {
	e.Visit(document)
	if filter == nil || filter.root == nil {
		return true, e.budget.failure
	}
	e.begin(filter)
	matched := filter.root.match(document, e)
	return matched && e.failure == nil, e.failure
}

// Select tests up to BatchSize documents, and returns the matching ones as bits: bit i is for documents[i]. It
// tests only documents whose bit is set in among. It is cheaper than a Check for each document. If the filter
// fails on a document, err is the first such error, and matched covers the documents before it.
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

// begin prepares the evaluation for a check of a filter.
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
	rare := e.makeRare()
	if rare.ordered != filter {
		rare.ordered, rare.root = filter, inOrderOfPositions(filter.root)
	}
	e.begin(filter)
	rare.root.match(document, e)
	return e.position, e.failure
}

func (e *Evaluation) fail(err error) {
	if e.failure == nil {
		e.failure = err
	}
}

// recordPosition records the array element of a match. Inner elements are recorded before outer ones, so the
// outermost element is kept.
func (e *Evaluation) recordPosition(index int) {
	if e != nil {
		e.position = arrayPosition{index: int32(index), found: true}
	}
}

// savePosition starts a match whose position must not affect the filter's. It returns the position for
// restorePosition.
func (e *Evaluation) savePosition() (before arrayPosition) {
	before, e.position = e.position, arrayPosition{}
	return before
}

func (e *Evaluation) restorePosition(before arrayPosition) { e.position = before }

// spend counts work of a match and reports whether the budget is sufficient. A nil evaluation has no budget, because
// the size of a single document limits the work.
func (e *Evaluation) spend(work int) bool {
	if e == nil || e.budget.spend(work) {
		return true
	}
	e.fail(e.budget.failure)
	return false
}

// hasEnded reports whether the budget is used up or the context has ended. The result of the match is then
// invalid: a loop over many conditions stops and reports no match, so that its caller stops as well.
func (e *Evaluation) hasEnded() bool { return e.budget.failure != nil }

// charge is like spend, but returns the error if the budget did not suffice.
func (e *Evaluation) charge(work int) error {
	if e.spend(work) {
		return nil
	}
	return e.failure
}

func (e *Evaluation) steps(n int) bool { return e.spend(n * stepWork) }

// keepByteWork is the work per BSON byte for creating keys of a value's parts and looking them up.
const keepByteWork = 8

// Read charges for reading a whole value of a document and creating keys of its parts, in a search for distinct
// values.
func (e *Evaluation) Read(value any) error {
	return e.charge(document.SizeOf(value) * keepByteWork)
}

// Keep counts bytes other than documents that the call keeps until its end. Stores call it for values that they
// derive from documents.
func (e *Evaluation) Keep(bytes int) error {
	e.budget.keep(bytes)
	return e.budget.failure
}
