package agendas

import (
	"math"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// entry is an open agenda in a queue.
type entry struct {
	// seen is the document as it was seen last.
	seen document.Object
	// The fields that decide when, and in which order, it is claimed. Times are Unix milliseconds.
	nextRunAt int64
	// heldUntil is the later one of leaseUntil and retryAt, as far as they count, written at heldAt.
	heldUntil, heldAt int64
	// deferredUntil is until when this process leaves it alone.
	deferredUntil int64

	priority, createdAt int64
	// arrival is its number in the order of insertion.
	arrival uint64
	// index is its place in the heap that it is in.
	index int32
	place place
	// due is the heap that it is in while it is due.
	due *heap
}

// place is where in a queue an entry is.
type place uint8

const (
	// nowhere is the place of an entry that is not in a heap: somebody tries to claim it.
	nowhere place = iota
	// waiting entries are not due yet, or kept from being claimed by a lease, or by the pause after a
	// failure.
	waiting
	// due entries can be claimed.
	due
	// parked entries have failed for good. They keep their number until updateAgenda
	// gives them another schedule.
	parked
)

// dueAt is when it can be claimed.
func (e *entry) dueAt() int64 { return max(e.nextRunAt, e.heldUntil, e.deferredUntil) }

// slot returns the slot of the entry in a heap. In the heap of a channel, an agenda that is tried again
// stands behind those that fell due before its pause ended.
func (e *entry) slot(h *heap) slot {
	switch {
	case h.place != due:
		return slot{first: e.dueAt(), entry: e}
	case h.isFair:
		return slot{first: e.priority, second: e.dueAt(), entry: e}
	default:
		return slot{first: e.priority, second: e.nextRunAt, entry: e}
	}
}

// read reads from a document what decides when it is claimed, and reports whether the
// agenda is completed, or has failed for good.
func (e *entry) read(o document.Object) (completed, stopped bool) { //nolint:cyclop // It is one table of fields.
	*e = entry{seen: o, arrival: e.arrival, index: e.index, place: e.place}
	var failed, forGood, hasPattern, hasEnd bool // As isAlive has it.
	var leaseUntil, retryAt int64
	for field, value := range o.All() {
		switch field {
		case fieldNextRunAt:
			e.nextRunAt = integer(value)
		case fieldLeaseUntil:
			leaseUntil = integer(value)
		case fieldRetryAt:
			retryAt = integer(value)
		case fieldHeldAt:
			e.heldAt = max(0, integer(value))
		case fieldPriority:
			e.priority = integer(value)
		case record.FieldCreatedAt:
			e.createdAt = integer(value)
		case fieldCompleted:
			is, isBool := value.(bool)
			completed = is || !isBool
		case fieldFailed:
			failed, _ = value.(bool)
		case fieldFailedAt:
			forGood = value != nil
		case fieldPattern:
			hasPattern = value != ""
		case fieldRunUntil:
			hasEnd = integer(value) > 0
		}
	}
	e.hold(leaseUntil, retryAt)
	return completed, forGood || failed && !(hasPattern && hasEnd)
}

// hold notes until when the agenda cannot be claimed, as isHeld has it.
func (e *entry) hold(leaseUntil, retryAt int64) {
	if e.heldAt > 0 && leaseUntil <= e.heldAt+longestLease.Milliseconds() {
		e.heldUntil = max(0, leaseUntil)
	}
	if retryAt <= int64(latestTime) {
		e.heldUntil = max(e.heldUntil, retryAt)
	}
}

// integer returns a number as an integer, the nearest one for one that is out of range. It returns 0 for what is
// no number.
func integer(value any) int64 {
	switch v := value.(type) {
	case int64:
		return v
	case float64:
		switch {
		case v >= math.MaxInt64:
			return math.MaxInt64
		case v <= math.MinInt64:
			return math.MinInt64
		case !math.IsNaN(v):
			return int64(v)
		}
	}
	return 0
}

// idOf returns the _id of an agenda.
func idOf(o document.Object) string {
	id, _ := o.Field(record.FieldID)
	text, _ := id.(string)
	return text
}

// millis is a time as records hold it. What is below a millisecond is cut off.
func millis(t time.Time) int64 { return int64(document.TimestampOf(t)) }
