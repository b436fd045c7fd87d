package agendas

import (
	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
)

// The fields of the documents.
const (
	fieldMember          = "member"
	fieldTree            = "tree"
	fieldNodeCompositeID = "nodeCompositeId"
	fieldNextRunAt       = "nextRunAt"
	fieldPriority        = "priority"
	fieldMeta            = "meta"
	fieldTag             = "tag"
	fieldCompleted       = "completed"
	fieldGroupExternalID = "groupExternalId"
	fieldPattern         = "pattern"
	fieldZone            = "zone"
	fieldRunUntil        = "runUntil"
	fieldReplaces        = "replaces"
	fieldFence           = lease.FieldFence
	fieldLeaseUntil      = lease.FieldUntil
	fieldHeldAt          = "heldAt"
	fieldClaim           = "claim"
	fieldBeside          = "beside"
	fieldLost            = "lost"
	fieldBegun           = "begun"
	fieldAttempts        = "attempts"
	fieldFailures        = "failures"
	fieldRetryAt         = "retryAt"
	fieldFailed          = "failed"
	fieldError           = "error"
	fieldFailedAt        = "failedAt"
)

// kind is how agendas are kept.
var kind = &record.Kind{
	Name:       "agenda",
	Collection: "agendas",
	Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt},
	Fixed:      []string{record.FieldCreatedAt, record.FieldApp, record.FieldChannel, fieldMember},
}

// fromDocument reads an agenda that the store holds.
func fromDocument(o document.Object) (*agenda.Record, error) {
	r := new(agenda.Record)
	if err := read(r, o); err != nil {
		return nil, err
	}
	return r, nil
}

// read makes a record what the store holds.
func read(r *agenda.Record, o document.Object) error {
	*r = agenda.Record{}
	if err := document.Decode(o, r); err != nil {
		return record.Unreadable(kind, o, err)
	}
	if r.Meta.IsZero() {
		r.Meta = document.O()
	}
	return nil
}
