package record

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
)

// The fields that records share.
const (
	FieldID        = document.IDField
	FieldApp       = "app"
	FieldChannel   = "channel"
	FieldCreatedAt = "createdAt"
	FieldUpdatedAt = "updatedAt"
	FieldVersion   = "_version"
	FieldEtag      = "etag"
)

// Kind describes one kind of record.
type Kind struct {
	// Name is what errors call a record, such as "member".
	Name string
	// Collection is the name of the collection in the store.
	Collection string
	// Stamps are those of createdAt, updatedAt, _version and etag that the record
	// has.
	Stamps []string
	// Fixed are the fields that no update can change, beside _id and createdAt.
	Fixed []string
}

// Collection is one collection as one app sees it. Records of other apps do not
// exist for it, whatever a filter says.
//
// Filters, patches and sorts are those of a caller: InvalidArgument names them
// "filter", "patch", "sortBy", "arrayFilters" and "projection", as the operations do.
type Collection struct {
	env   Env
	kind  Kind
	store store.Collection
	// scope is what every filter is narrowed to; fields is the same as the fields
	// of a new record.
	scope  *query.Filter
	fields document.Object
	// err is why there is no such scope. Every method returns it.
	err error
}

// Open returns the collection of a kind of records, not narrowed to an app yet.
func Open(env Env, kind Kind) *Collection {
	env = env.WithDefaults()
	return &Collection{env: env, kind: kind, store: env.Store.Collection(kind.Collection), fields: document.O()}
}

// Where returns the collection narrowed to the records whose field has a value:
// others are not found, and new ones get it. The field of a narrowed collection is
// fixed.
func (c *Collection) Where(field, value string) *Collection {
	narrowed := *c
	filter, err := query.CompileFilter(document.O(field, value))
	if err != nil && narrowed.err == nil {
		narrowed.err = boterr.In(field, err) // A value that is too large is that of no record.
	}
	narrowed.scope = query.And(c.scope, filter)
	narrowed.fields = c.fields.With(field, value)
	narrowed.kind.Fixed = append(append([]string{}, c.kind.Fixed...), field)
	return &narrowed
}
