package record

import (
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
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

// The SDK's own fields of members, which no operation shows.
const (
	// FieldTurnFence is set on a member whose run never came back: the fencing token of the lease that was taken
	// over from it. If that run still lives, what it writes back finds no member.
	FieldTurnFence = "turnFence"
	// FieldHandledEvent is the event of the inbox whose run was written back last. If that run dies before the
	// inbox knows that the event is done, the next run knows it by this field.
	FieldHandledEvent = "handledEvent"
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
	// Fixed are the fields that no update can change, beside _id, createdAt and those of the scope. A kind
	// that names these as well saves each patch the list.
	Fixed []string
	// Kept are fields that a replacement which lacks them leaves as they are.
	Kept []string

	// renewedShape is what renewed returns, nil before it is first asked for.
	renewedShape atomic.Pointer[document.Shape]
}

// renewed returns the stamps that each change of a record sets anew: updatedAt and etag, as far as there are any.
func (k *Kind) renewed() *document.Shape {
	if known := k.renewedShape.Load(); known != nil {
		return known
	}
	made := document.NewShape(slices.DeleteFunc(slices.Clone(k.Stamps), func(stamp string) bool {
		return stamp != FieldUpdatedAt && stamp != FieldEtag
	}))
	k.renewedShape.Store(made)
	return made
}

// fixes reports whether createdAt and the fields of a scope are among the fixed fields.
func (k *Kind) fixes(scope []query.FieldValue) bool {
	for i := range scope {
		if !slices.Contains(k.Fixed, scope[i].Name) {
			return false
		}
	}
	return slices.Contains(k.Fixed, FieldCreatedAt)
}

// Collection is one collection as one app sees it. Records of other apps do not
// exist for it, whatever a filter says.
//
// Filters, patches and sorts are those of a caller: InvalidArgument names them
// "filter", "patch", "sortBy", "arrayFilters" and "projection", as the operations do.
type Collection struct {
	now      func() time.Time
	newID    func() string
	newEtag  func() string
	compiler *query.Compiler
	kind     *Kind
	stored   *guardedCollection
	// scope are the values that fields of its records have. That of the app alone stands in room.
	scope []query.FieldValue
	room  [1]query.FieldValue
	// err is why there is no such scope. Every method returns it.
	err error
}

// Open returns the collection of a kind of records, not narrowed to an app yet. A panic of the store is
// an error, as of one that Guard returns. The kind must not change afterwards.
func Open(env Env, kind *Kind) *Collection { return OpenNamed(env, kind, kind.Collection) }

// OpenNamed is Open for records that are kept in another collection of the store than others of their kind.
func OpenNamed(env Env, kind *Kind, collection string) *Collection {
	env = env.WithDefaults()
	return &Collection{
		now: env.Now, newID: env.NewID, newEtag: env.NewEtag, compiler: env.Compiler,
		kind: kind, stored: guardedIn(env.Store, collection),
	}
}

// OfApp returns the collection of a kind of records as an app sees it.
func OfApp(env Env, kind *Kind, app string) *Collection {
	c := Open(env, kind)
	c.narrow(FieldApp, app)
	return c
}

// Where returns the collection narrowed to the records whose field has a value:
// others are not found, and new ones get it. The field of a narrowed collection is
// fixed.
func (c *Collection) Where(field, value string) *Collection {
	narrowed := &Collection{
		now: c.now, newID: c.newID, newEtag: c.newEtag, compiler: c.compiler, kind: c.kind, stored: c.stored, err: c.err,
	}
	narrowed.scope = append(narrowed.room[:0], c.scope...)
	narrowed.narrow(field, value)
	return narrowed
}

// narrow is Where for a collection that nobody else sees yet.
func (c *Collection) narrow(field, value string) {
	if isLong(value) && c.err == nil { // A value that is too large is that of no record.
		_, err := query.CompileFilter(document.O(field, value))
		c.err = boterr.PrefixField(field, err)
	}
	if c.scope == nil {
		c.scope = c.room[:0]
	}
	c.scope = append(c.scope, query.FieldValue{Name: field, Value: strings.ToValidUTF8(value, "\uFFFD")})
}

// isLong reports whether a text may be too large for a query document.
func isLong(text string) bool { return len(text) > document.MaxSize/2 }

// scoped returns the value that a field has in all records of the collection, and whether there is
// one.
func (c *Collection) scoped(field string) (any, bool) {
	for _, fixed := range slices.Backward(c.scope) {
		if fixed.Name == field {
			return fixed.Value, true
		}
	}
	return nil, false
}
