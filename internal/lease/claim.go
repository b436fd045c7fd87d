package lease

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// The fields of a record that is claimed.
const (
	// FieldFence is the fencing token of its last claim: whoever claims it later has a greater one.
	FieldFence = "fence"
	// FieldUntil is when the claim ends, in milliseconds of the store's clock, unless it is renewed.
	// It is missing where nobody holds the record.
	FieldUntil = "leaseUntil"
)

// Fence returns the fencing token of the last claim of a record as it is stored.
func Fence(stored document.Object) int64 { return document.Get(stored, FieldFence, int64(0)) }

// Until returns when the claim of a record as it is stored ends; the zero time where it has none.
func Until(stored document.Object) time.Time {
	return document.Get(stored, FieldUntil, document.Timestamp(0)).Time()
}

// IsHeld reports whether a record as it is stored is held at a time of the store's clock.
func IsHeld(stored document.Object, now time.Time) bool {
	return document.Get(stored, FieldUntil, int64(0)) > int64(document.TimestampOf(now))
}

// Holds is the filter that finds a record while the claim of a fencing token holds.
func Holds(id any, fence int64) document.Object {
	return document.O(document.IDField, id, FieldFence, fence, FieldUntil, document.O("$gt", 0))
}

// Renewal is the change that renews claims until a time.
func Renewal(until time.Time) (query.Change, error) {
	update, err := query.CompileUpdate(document.O("$set", document.O(FieldUntil, int64(document.TimestampOf(until)))))
	return query.Change{Update: update}, err
}

// Renew renews the claim of a fencing token by what Renewal returned, and reports whether it
// holds. The errors are those of the store.
func Renew(ctx context.Context, records store.Collection, id any, fence int64, renewal query.Change) (bool, error) {
	filter, err := query.CompileFilter(Holds(id, fence))
	if err != nil {
		return false, err
	}
	renewed, err := records.Update(ctx, filter, renewal, store.UpdateOptions{})
	return renewed.Matched > 0, err
}
