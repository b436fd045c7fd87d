package query

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// budget is the work that a call may do, in about nanoseconds, and the bytes that it may
// keep.
type budget struct {
	ctx context.Context //nolint:containedctx // It belongs to the one call that the budget is for.
	// portion is the work that may be done before the context is checked again, left what remains
	// after it.
	portion, left int
	// unmeasured are the documents that were visited and added no bytes.
	unmeasured int
	// room is the number of bytes that may still be kept.
	room int
	// failure is what ended the call.
	failure error
}

// The budget of a call: work for about a quarter of a second of a processor, and as much again for
// each 15 MB of documents. A plain condition on a document takes 32.
const (
	// baseWork and baseRoom are what every call has.
	baseWork = 256 << 20
	baseRoom = 64 << 20
	// workPerDocument is what each document that is looked at adds to the budget. Where that is not
	// enough, workPerByte is added for each of its bytes.
	workPerDocument = 1 << 10
	workPerByte     = 16
	// roomPerDocument and roomPerByte are what they add to what may be kept.
	roomPerDocument = 1 << 7
	roomPerByte     = 4
	// lookEvery is the work after which the context is looked at.
	lookEvery = 1 << 14
	// maxAtOnce is more than any budget has.
	maxAtOnce = 1 << 50
)

// visit adds what so many documents are worth by their number.
func (b *budget) visit(documents int) {
	b.unmeasured += documents
	b.left += documents * workPerDocument
	b.room += documents * roomPerDocument
}

// isBehind reports whether the call has used up what the number of its documents allows. Only then
// are their sizes read: in a plain scan that would be as much work as the condition itself.
func (b *budget) isBehind() bool { return b.left < baseWork || b.room < baseRoom }

// measure adds what a document that was visited is worth by its size.
func (b *budget) measure(bytes int) {
	b.unmeasured--
	b.left += bytes * workPerByte
	b.room += bytes * roomPerByte
}

// spend counts work, and reports whether there was enough left for it.
func (b *budget) spend(work int) bool {
	b.portion -= min(work, maxAtOnce)
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

// keep counts bytes that the call holds until its end, and fails where too little room is left for
// them.
func (b *budget) keep(bytes int) {
	b.room -= min(bytes, maxAtOnce)
	if b.room < 0 {
		b.fail(boterr.New(boterr.ResourceExhausted, "", "the call makes too much: more than is allowed for the number and "+
			"size of the documents that it looks at; let it write or compute less, or do it in parts"))
	}
}

// look fails where the context has ended.
func (b *budget) look() {
	if b.failure == nil && b.ctx.Err() != nil {
		b.fail(boterr.New(boterr.Canceled, "", "the context ended: %w", context.Cause(b.ctx)))
	}
}

// fail ends the call. What was left is there for another attempt.
func (b *budget) fail(err error) {
	if b.failure == nil {
		b.failure = err
	}
	b.left += b.portion
	b.portion = 0
}

const (
	// memoryOfByte is how much memory a byte of an object or array in a document may take,
	// by its size in BSON.
	memoryOfByte = 4
	// memoryOfField is what a field of a document takes beside its value.
	memoryOfField = 16
	// maxComparedFields is the number of fields that are looked at one by one.
	maxComparedFields = 64
)

// grownBy estimates the memory that a changed document takes in addition to the one before.
func grownBy(before, after document.Object) int {
	grown := after.Size() - before.Size()
	switch {
	case grown <= 0:
		return 0
	case max(before.Len(), after.Len()) > maxComparedFields: // Looking at all of them would take long.
		return grown * memoryOfByte
	default:
		return max(0, memoryOfFields(after)-memoryOfFields(before))
	}
}

// memoryOfFields estimates the memory of an object's fields, without their names, which objects of
// one kind share.
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
