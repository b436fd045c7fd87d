package record

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
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

// Fields of members that only the SDK uses. Operations do not show them.
const (
	// FieldLaneFence is set on the member of a lost run. It is the fencing token of the lease that replaced the
	// lease of the run. If the run is still alive, its write-back then finds no member.
	FieldLaneFence = "laneFence"
	// FieldHandledEvent is the inbox event of the last run that was written back. If the process dies before the
	// inbox stores the event as handled, the next run recognises the event by this field.
	FieldHandledEvent = "handledEvent"
)

// Schema describes one kind of record.
type Schema struct {
	// Name is the name of a record in errors, such as "member".
	Name string
	// Collection is the name of the collection in the store.
	Collection string
	// Stamps are the stamps of the record: some of createdAt, updatedAt, _version and etag.
	Stamps []string
	// Fixed are the fields that no update can change, in addition to _id, createdAt and the fields of the scope. If
	// they include createdAt and the scope's fields, no list is built for each patch.
	Fixed []string

	// renewedShape caches the result of renewed, or nil before the first call.
	renewedShape atomic.Pointer[document.Shape]
}

// renewed returns the stamps that each change of a record renews: updatedAt, and etag if the record has one.
func (s *Schema) renewed() *document.Shape {
	if known := s.renewedShape.Load(); known != nil {
		return known
	}
	made := document.NewShape(slices.DeleteFunc(slices.Clone(s.Stamps), func(stamp string) bool {
		return stamp != FieldUpdatedAt && stamp != FieldEtag
	}))
	s.renewedShape.Store(made)
	return made
}

// fixes reports whether createdAt and the fields of a scope are among the fixed fields.
func (s *Schema) fixes(scope []query.FieldValue) bool {
	for i := range scope {
		if !slices.Contains(s.Fixed, scope[i].Name) {
			return false
		}
	}
	return slices.Contains(s.Fixed, FieldCreatedAt)
}

// Collection is a collection as seen by one app. It never finds records of other apps, whatever the filter.
//
// Filters, patches and sorts come from callers of operations. Errors name them as the operations do: "filter",
// "patch", "sortBy", "arrayFilters" and "projection".
type Collection struct {
	now     func() time.Time
	newID   func() string
	newEtag func() string
	schema  *Schema
	stored  store.Collection
	// fields begins with the results of scope. narrowed is their number.
	fields   [4]query.FieldValue
	narrowed int
	// err is the reason for an invalid scope. Every method returns it.
	err error
}

// Open returns the collection of a kind of records, for all apps. A panic of the store becomes an error, as with
// store.Wrap. The schema must not change afterwards.
func Open(env Env, schema *Schema) *Collection { return OpenNamed(env, schema, schema.Collection) }

// OpenNamed is like Open, for records in another collection of the store than schema.Collection.
func OpenNamed(env Env, schema *Schema, collection string) *Collection {
	c := open(env, schema, collection)
	return &c // The compiler inlines this, so that a collection that the caller does not keep needs no allocation.
}

func open(env Env, schema *Schema, collection string) Collection {
	env = env.WithDefaults()
	return Collection{
		now: env.Now, newID: env.NewID, newEtag: env.NewEtag, schema: schema, stored: store.Wrap(env.Store, nil).Collection(collection),
	}
}

// OfApp returns the collection of a kind of records as seen by an app.
func OfApp(env Env, schema *Schema, app string) *Collection {
	c := ofApp(env, schema, app)
	return &c
}

func ofApp(env Env, schema *Schema, app string) Collection {
	c := open(env, schema, schema.Collection)
	c.narrow(FieldApp, app)
	return c
}

// Where narrows the collection to the records whose field has a value. Other records are not found. New records get
// the value, and updates cannot change it. A collection can be narrowed four times, and OfApp is the first.
func (c *Collection) Where(field, value string) *Collection {
	narrowed := *c
	narrowed.narrow(field, value)
	return &narrowed
}

// narrow narrows a collection that is not used concurrently yet.
func (c *Collection) narrow(field, value string) {
	if isLong(value) && c.err == nil { // No record has such a large value.
		_, err := query.CompileFilter(document.O(field, value))
		c.err = boterr.PrefixField(field, err)
	}
	c.fields[c.narrowed] = query.FieldValue{Name: field, Value: strings.ToValidUTF8(value, "\uFFFD")}
	c.narrowed++
}

// scope returns the field values that all records of the collection have.
func (c *Collection) scope() []query.FieldValue { return c.fields[:c.narrowed] }

// isLong reports whether a text may be too long for a query document.
func isLong(text string) bool { return len(text) > document.MaxSize/2 }

// scoped returns the value that a field has in all records of the collection, if there is one.
func (c *Collection) scoped(field string) (any, bool) {
	for _, fixed := range slices.Backward(c.scope()) {
		if fixed.Name == field {
			return fixed.Value, true
		}
	}
	return nil, false
}

// Query selects the records that Find returns.
type Query struct {
	Filter document.Object
	SortBy document.Object
	Skip   int64
	// Limit is the maximum number of records. 0 means all.
	Limit int64
}

// Get returns the record with an id, or NotFound.
func (c *Collection) Get(ctx context.Context, id any) (document.Object, error) {
	if text, isText := id.(string); isText && isLong(text) {
		if _, err := c.filter(document.O(FieldID, id)); err != nil {
			return document.Object{}, err
		}
	}
	if c.err != nil {
		return document.Object{}, c.err
	}
	found, exists, err := c.stored.Get(ctx, id)
	for _, fixed := range c.scope() {
		exists = exists && found.Value(fixed.Name) == fixed.Value
	}
	switch {
	case err != nil:
		return document.Object{}, err
	case !exists:
		return document.Object{}, NotFound(c.schema.Name, id)
	default:
		return found, nil
	}
}

// First returns the first record whose fields have the given values, and reports whether there is one.
func (c *Collection) First(ctx context.Context, fields ...query.FieldValue) (document.Object, bool, error) {
	filter, err := c.whereEqual(fields)
	if err != nil {
		return document.Object{}, false, err
	}
	found, err := c.stored.Find(ctx, filter, store.FindOptions{Limit: 1})
	if err != nil || len(found) == 0 {
		return document.Object{}, false, err
	}
	return found[0], true, nil
}

// FindEqual returns the records whose fields have the given values, or an empty slice.
func (c *Collection) FindEqual(ctx context.Context, fields ...query.FieldValue) ([]document.Object, error) {
	filter, err := c.whereEqual(fields)
	if err != nil {
		return nil, err
	}
	return c.stored.Find(ctx, filter, store.FindOptions{})
}

// FindEqual returns the records of a kind in an app whose fields have the given values, or an empty slice. It
// saves opening a Collection for one look-up.
func FindEqual(ctx context.Context, env Env, schema *Schema, app string, fields ...query.FieldValue) ([]document.Object, error) {
	var room [6]query.FieldValue
	all := append(append(room[:0], fields...), query.FieldValue{Name: FieldApp, Value: app})
	if !areShort(all) {
		return OfApp(env, schema, app).FindEqual(ctx, fields...)
	}
	return store.Wrap(env.Store, nil).Collection(schema.Collection).Find(ctx, query.FieldsEqual(all...), store.FindOptions{})
}

// whereEqual returns a filter for records whose fields have the given values. Short texts and booleans need no query
// document.
func (c *Collection) whereEqual(fields []query.FieldValue) (*query.Filter, error) {
	var room [6]query.FieldValue
	all := append(room[:0], fields...)
	if !areShort(all) {
		return c.filter(equalTo(fields))
	}
	return query.FieldsEqual(append(all, c.scope()...)...), c.err
}

// areShort reports whether all values are booleans, or texts that fit into a query document. It converts texts
// to valid UTF-8.
func areShort(fields []query.FieldValue) bool {
	for i, field := range fields {
		switch value := field.Value.(type) {
		case bool:
		case string:
			if isLong(value) {
				return false
			}
			if !utf8.ValidString(value) {
				fields[i].Value = strings.ToValidUTF8(value, "\uFFFD")
			}
		default:
			return false
		}
	}
	return true
}

func equalTo(fields []query.FieldValue) document.Object {
	filter := document.NewBuilder(len(fields))
	for _, field := range fields {
		filter.Set(field.Name, document.O("$eq", field.Value))
	}
	return filter.Object()
}

// Find returns the matching records, or an empty slice.
func (c *Collection) Find(ctx context.Context, query Query) ([]document.Object, error) {
	filter, err := c.filter(query.Filter)
	if err != nil {
		return nil, err
	}
	sort, err := c.sort(query.SortBy)
	if err != nil {
		return nil, err
	}
	found, err := c.stored.Find(ctx, filter, store.FindOptions{Sort: sort, Skip: query.Skip, Limit: query.Limit})
	return found, RenameField(err, "sort", "sortBy")
}

// Count returns the number of matching records.
func (c *Collection) Count(ctx context.Context, filter document.Object) (int64, error) {
	compiled, err := c.filter(filter)
	if err != nil {
		return 0, err
	}
	count, err := c.stored.Count(ctx, compiled)
	return count, err
}

// Distinct returns the distinct values at a dotted path.
func (c *Collection) Distinct(ctx context.Context, path string, filter document.Object) ([]any, error) {
	compiled, err := c.filter(filter)
	if err != nil {
		return nil, err
	}
	values, err := c.stored.Distinct(ctx, path, compiled)
	return values, err
}

// GeoNear returns the records near a point, nearest first. near is the argument of query.CompileGeoNear. The Field of
// an error is a path in near.
func (c *Collection) GeoNear(ctx context.Context, near document.Object) ([]query.GeoResult, error) {
	search, err := query.CompileGeoNear(near)
	if err == nil {
		err = c.err
	}
	if err != nil {
		return nil, err
	}
	return c.stored.GeoNear(ctx, search.Within(query.FieldsEqual(c.scope()...)))
}

// filter compiles a caller's filter and narrows it to the scope.
func (c *Collection) filter(source document.Object) (*query.Filter, error) {
	if c.err != nil {
		return nil, c.err
	}
	if source.IsZero() {
		return query.FieldsEqual(c.scope()...), nil
	}
	filter, err := query.CompileFilterWhere(source, c.scope()...)
	if err != nil {
		return nil, boterr.PrefixField("filter", err)
	}
	return filter, nil
}

func (c *Collection) sort(source document.Object) (*query.Sort, error) {
	if source.IsZero() {
		return nil, nil
	}
	sort, err := query.CompileSort(source)
	return sort, boterr.PrefixField("sortBy", err)
}

func (c *Collection) projection(source document.Object) (*query.Projection, error) {
	if source.IsZero() {
		return nil, nil
	}
	projection, err := query.CompileProjection(source)
	return projection, boterr.PrefixField("projection", err)
}

// Read decodes a stored record. The error is FailedPrecondition if the record does not fit the type R.
func Read[R any](schema *Schema, stored document.Object) (*R, error) {
	r := new(R)
	if err := document.Decode(stored, r); err != nil {
		return nil, Unreadable(schema, stored, err)
	}
	return r, nil
}

// ReadAll decodes stored records with read.
func ReadAll[R any](found []document.Object, read func(document.Object) (*R, error)) ([]*R, error) {
	records := make([]*R, len(found))
	for i, stored := range found {
		var err error
		if records[i], err = read(stored); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// ReadEach is like ReadAll, but one record does not hide the others: if it cannot be decoded, unreadable gets the error,
// and the result has a record with only its _id.
func ReadEach[R any](
	ctx context.Context, found []document.Object, read func(document.Object) (*R, error), unreadable func(context.Context, error),
) ([]*R, error) {
	return ReadAll(found, func(stored document.Object) (*R, error) {
		decoded, err := read(stored)
		if err == nil {
			return decoded, nil
		}
		unreadable(ctx, err)
		return read(document.O(FieldID, document.Get(stored, FieldID, "")))
	})
}

// Unreadable returns the error for a stored record that cannot be decoded.
func Unreadable(schema *Schema, stored document.Object, err error) error {
	return boterr.New(boterr.FailedPrecondition, "", "the stored %s %s cannot be read: %w",
		schema.Name, document.Get(stored, FieldID, "without an _id"), err)
}

// Insert adds a record and returns it as stored, with the scope, the stamps, and a new _id unless it has one.
func (c *Collection) Insert(ctx context.Context, o document.Object) (document.Object, error) {
	stored, err := c.newRecord(o)
	if err == nil {
		err = c.err
	}
	if err != nil {
		return document.Object{}, err
	}
	if err := c.stored.Insert(ctx, stored); err != nil {
		return document.Object{}, RenameField(err, "[0]", "") // The store's error has the index of the document.
	}
	return stored, nil
}

// newRecord completes the fields of a new record. _id, scope and stamps come first.
func (c *Collection) newRecord(o document.Object) (document.Object, error) {
	id, _ := o.Field(FieldID)
	record := c.begin(id, o.Len())
	for field, value := range o.All() {
		if scoped, ok := c.scoped(field); ok && !document.Equal(scoped, value) {
			return o, boterr.Invalid(field, "the %s belongs to another %s", c.schema.Name, field)
		}
		if record.Value(field) == document.Missing {
			record.Set(field, value)
		}
	}
	return record.Object(), o.Err()
}

// onInsert returns the first fields of a new record: the _id (a new one if id is nil), the scope and the stamps.
func (c *Collection) onInsert(id any) document.Object {
	record := c.begin(id, 0)
	return record.Object()
}

// begin returns a record with the fields of onInsert, and with room for more.
func (c *Collection) begin(id any, more int) *document.Builder {
	if id == nil {
		id = strings.ToValidUTF8(c.newID(), "\uFFFD")
	}
	record := document.NewBuilder(1 + len(c.scope()) + len(c.schema.Stamps) + more)
	record.Set(FieldID, id)
	for _, fixed := range c.scope() {
		record.Set(fixed.Name, fixed.Value)
	}
	var now any = int64(document.TimestampOf(c.now()))
	for _, stamp := range c.schema.Stamps {
		switch stamp {
		case FieldCreatedAt, FieldUpdatedAt:
			record.Set(stamp, now)
		case FieldVersion:
			record.Set(stamp, int64(1))
		case FieldEtag:
			record.Set(stamp, c.newEtag())
		}
	}
	return record
}

// RemovalBatch is the maximum number of records that Remove removes in one write. Other writes can run in
// between.
const RemovalBatch = 500

// Removal selects the records that Remove removes.
type Removal struct {
	// Filter matches the records. It is checked again at the removal, so a record that was changed in the meantime is
	// kept.
	Filter document.Object
	// OldestBy is the path of a time. The oldest records are removed first. With an index on the filter's fields and
	// this path, the cost of a batch does not depend on the number of records. "" means the order of insertion.
	OldestBy string
	// Spare returns the ids of the records in a batch that must be kept. If Spare is nil, none are kept. Spare
	// requires OldestBy.
	Spare func(ctx context.Context, batch []document.Object) (map[string]bool, error)
}

// Remove removes records in batches and returns their number. After an error or a crash, the same call removes the
// remaining records. Errors come from the store and from Spare.
func (c *Collection) Remove(ctx context.Context, r Removal) (removed int64, err error) {
	which, err := c.filter(r.Filter)
	if err != nil {
		return 0, err
	}
	options := store.FindOptions{Limit: RemovalBatch}
	if r.OldestBy != "" {
		if options.Sort, err = c.sort(document.O(r.OldestBy, 1)); err != nil {
			return 0, err
		}
	}
	for at := (place{path: r.OldestBy, spared: map[string]bool{}}); ; {
		found, deleted, err := c.removeBatch(ctx, r, which, options, &at)
		removed += deleted
		if err != nil || found < RemovalBatch {
			return removed, err
		}
	}
}

// removeBatch removes one batch of the matching records, starting at from, and advances from.
func (c *Collection) removeBatch(
	ctx context.Context, r Removal, which *query.Filter, options store.FindOptions, from *place,
) (found int, deleted int64, err error) {
	batch, err := c.stored.Find(ctx, query.And(which, from.rest), options)
	if err != nil || len(batch) == 0 {
		return 0, 0, err
	}
	var spare map[string]bool
	if r.Spare != nil {
		if spare, err = r.Spare(ctx, batch); err == nil {
			err = from.move(batch, spare)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	chosen, err := query.CompileFilter(document.O(FieldID, document.O("$in", idsWithout(batch, spare))))
	if err != nil {
		return 0, 0, err
	}
	deleted, err = c.stored.Delete(ctx, query.And(which, chosen), store.DeleteOptions{Multi: true})
	return len(batch), deleted, err
}

// place is the position of a removal that spares records.
type place struct {
	path string
	// last is the time of the last record that was examined. spared are the kept records with that time.
	last   any
	spared map[string]bool
	// rest matches the following records. nil matches all.
	rest *query.Filter
}

func (p *place) move(batch []document.Object, spare map[string]bool) (err error) {
	if last := document.Get[any](batch[len(batch)-1], p.path, nil); !document.Equal(last, p.last) {
		p.last = last
		clear(p.spared)
	}
	maps.Copy(p.spared, spare)
	p.rest, err = query.CompileFilter(document.O(
		p.path, document.O("$gte", p.last), FieldID, document.O("$nin", slices.AppendSeq([]string{}, maps.Keys(p.spared)))))
	return err
}

// idsWithout returns the ids of records that are not in spare.
func idsWithout(records []document.Object, spare map[string]bool) document.Array {
	ids := make([]any, 0, len(records))
	for _, o := range records {
		id, _ := o.Field(FieldID)
		if name, isText := id.(string); !isText || !spare[name] {
			ids = append(ids, id)
		}
	}
	return document.A(ids...)
}

// Attempt is one of several attempts at work with effects outside the store, such as the run of an event. It must be
// safe for concurrent use.
type Attempt interface {
	// Recall returns the stored answer for an id, from this attempt or a previous one.
	Recall(id string) (answer document.Object, isKnown bool)
	// Remember stores the answer for an id until no further attempt follows. document.Encode must accept the
	// answer. The effect has already happened, so an error here is not reported to the caller.
	Remember(ctx context.Context, id string, answer any)
	// IsLast reports whether no further attempt follows if this one fails.
	IsLast() bool
}

// IsPermanent reports whether another attempt at what failed with err cannot help, because the request is at fault and not
// the circumstances. The codes are InvalidArgument, NotFound, AlreadyExists, FailedPrecondition and Unsupported.
func IsPermanent(err error) bool {
	switch boterr.CodeOf(err) {
	case boterr.InvalidArgument, boterr.NotFound, boterr.AlreadyExists, boterr.FailedPrecondition, boterr.Unsupported:
		return true
	default:
		return false
	}
}

// Once carries out an effect outside the store, such as sending a message, under an id made by Env.SendID. If
// an earlier attempt has done so, it returns the stored answer instead. T is a struct that document.Encode and
// document.Decode can convert. Errors come from Env.Attempt and from effect. After an error, the next attempt
// repeats the effect.
func Once[T any](ctx context.Context, env Env, id string, effect func(ctx context.Context) (T, error)) (T, error) {
	var none T
	attempt, err := env.Attempt(ctx)
	if err != nil {
		return none, err
	}
	if attempt != nil {
		if known, isKnown := attempt.Recall(id); isKnown {
			var answer T
			err := document.Decode(known, &answer)
			return answer, err
		}
	}
	answer, err := effect(ctx)
	if err != nil {
		return none, err
	}
	if attempt != nil {
		attempt.Remember(context.WithoutCancel(ctx), id, answer)
	}
	return answer, nil
}
