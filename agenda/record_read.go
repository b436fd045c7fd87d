package agenda

import (
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// fastRead reads an agenda whose fields have the types that Encode gives them, as those
// have that a Service or a Scheduler wrote. It reports false for any other, which
// document.Decode may still read.
func (r *Record) fastRead(o document.Object) bool {
	for field, value := range o.All() {
		if !r.readText(field, value) && !r.readNumber(field, value) && !r.readOther(field, value) {
			return false
		}
	}
	return true
}

// readText reads a field that is a text, and reports whether it is one.
func (r *Record) readText(field string, value any) bool {
	text, ok := value.(string)
	if !ok {
		return false
	}
	switch field {
	case record.FieldID:
		r.ID = text
	case record.FieldApp:
		r.App = text
	case record.FieldChannel:
		r.Channel = text
	case fieldMember:
		r.Member = text
	case fieldTree:
		r.Tree = text
	case fieldNodeCompositeID:
		r.NodeCompositeID = text
	case fieldTag:
		r.Tag = text
	case fieldGroupExternalID:
		r.GroupExternalID = text
	case fieldPattern:
		r.Pattern = text
	case fieldZone:
		r.Zone = text
	case fieldClaim:
		r.Claim = text
	case fieldError:
		r.Error = text
	default:
		return false
	}
	return true
}

// readNumber reads a field that is an integer, and reports whether it is one.
func (r *Record) readNumber(field string, value any) bool {
	number, ok := value.(int64)
	if !ok {
		return false
	}
	switch field {
	case fieldNextRunAt:
		r.NextRunAt = document.Timestamp(number)
	case fieldRunUntil:
		r.RunUntil = document.Timestamp(number)
	case record.FieldCreatedAt:
		r.CreatedAt = document.Timestamp(number)
	case record.FieldUpdatedAt:
		r.UpdatedAt = document.Timestamp(number)
	case fieldLeaseUntil:
		r.LeaseUntil = document.Timestamp(number)
	case fieldRetryAt:
		r.RetryAt = document.Timestamp(number)
	case fieldPriority:
		r.Priority = number
	case fieldReplaces:
		r.Replaces = number
	case fieldFence:
		r.Fence = number
	case fieldAttempts:
		r.Attempts = number
	case fieldFailures:
		r.Failures = number
	default:
		return false
	}
	return true
}

// readOther reads a field of another type, and reports whether it is one.
func (r *Record) readOther(field string, value any) bool {
	var ok bool
	switch field {
	case fieldCompleted:
		r.Completed, ok = value.(bool)
	case fieldFailed:
		r.Failed, ok = value.(bool)
	case fieldMeta:
		r.Meta, ok = value.(document.Object)
	}
	return ok
}
