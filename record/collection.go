package record

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
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
// "filter", "patch", "sortBy" and "arrayFilters", as the operations do.
type Collection struct {
	env   Env
	kind  Kind
	store document.Collection
	// scope is what every filter is narrowed to; fields is the same as the fields
	// of a new record.
	scope  *document.Filter
	fields document.Object
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
	filter, _ := document.CompileFilter(document.O(field, value)) // A field and a string always compile.
	narrowed.scope = document.And(c.scope, filter)
	narrowed.fields = c.fields.With(field, value)
	narrowed.kind.Fixed = append(append([]string{}, c.kind.Fixed...), field)
	return &narrowed
}

// Query says which records Find returns.
type Query struct {
	Filter document.Object
	SortBy document.Object
	Skip   int64
	// Limit is the most records to return; 0 is all.
	Limit int64
}

// Get returns the record with that id, or NotFound.
func (c *Collection) Get(ctx context.Context, id any) (document.Object, error) {
	found, err := c.Find(ctx, Query{Filter: document.O(FieldID, document.O("$eq", id)), Limit: 1})
	if err != nil {
		return document.Object{}, err
	}
	if len(found) == 0 {
		return document.Object{}, c.notFound(id)
	}
	return found[0], nil
}

// notFound is the error for a record that does not exist in this scope.
func (c *Collection) notFound(id any) error {
	return boterr.New(boterr.NotFound, "", "there is no %s %v here", c.kind.Name, id)
}

// Find returns the records that match, or an empty slice.
func (c *Collection) Find(ctx context.Context, query Query) ([]document.Object, error) {
	filter, err := c.filter(query.Filter)
	if err != nil {
		return nil, err
	}
	sort, err := sortOf(query.SortBy)
	if err != nil {
		return nil, err
	}
	return c.store.Find(ctx, filter, document.FindOptions{Sort: sort, Skip: query.Skip, Limit: query.Limit})
}

// Count returns the number of records that match.
func (c *Collection) Count(ctx context.Context, filter document.Object) (int64, error) {
	compiled, err := c.filter(filter)
	if err != nil {
		return 0, err
	}
	return c.store.Count(ctx, compiled)
}

// Distinct returns the different values at a dotted path.
func (c *Collection) Distinct(ctx context.Context, path string, filter document.Object) ([]any, error) {
	compiled, err := c.filter(filter)
	if err != nil {
		return nil, err
	}
	return c.store.Distinct(ctx, path, compiled)
}

// GeoNear returns the records near a point, nearest first. near is the argument of
// document.CompileGeoNear; the Field of an error about it is the path in it.
func (c *Collection) GeoNear(ctx context.Context, near document.Object) ([]document.GeoResult, error) {
	query, err := document.CompileGeoNear(near)
	if err != nil {
		return nil, err
	}
	return c.store.GeoNear(ctx, query.Within(c.scope))
}

// Insert adds a record and returns it as it is stored: with an _id, where it has
// none, and with the scope and the stamps.
func (c *Collection) Insert(ctx context.Context, o document.Object) (document.Object, error) {
	stored, err := c.newRecord(o)
	if err != nil {
		return document.Object{}, err
	}
	return stored, c.store.Insert(ctx, stored)
}

// newRecord completes the fields of a new record: _id, scope and stamps first.
func (c *Collection) newRecord(o document.Object) (document.Object, error) {
	id, _ := o.Field(FieldID)
	record := c.onInsert(id)
	pairs := make([]any, 0, 2*(record.Len()+o.Len()))
	for field, value := range record.All() {
		pairs = append(pairs, field, value)
	}
	for field, value := range o.All() {
		if scoped, ok := c.fields.Field(field); ok && !document.Equal(scoped, value) {
			return record, boterr.Invalid(field, "the %s belongs to another %s", c.kind.Name, field)
		}
		if _, ok := record.Field(field); !ok {
			pairs = append(pairs, field, value)
		}
	}
	return document.O(pairs...), o.Err()
}

// onInsert returns the fields that a new record has: its _id, a new one where it is
// nil, the scope and the stamps.
func (c *Collection) onInsert(id any) document.Object {
	if id == nil {
		id = c.env.NewID()
	}
	pairs := make([]any, 0, 2*(1+c.fields.Len()+len(c.kind.Stamps)))
	pairs = append(pairs, FieldID, id)
	for field, value := range c.fields.All() {
		pairs = append(pairs, field, value)
	}
	now := document.At(c.env.Now())
	for _, stamp := range c.kind.Stamps {
		switch stamp {
		case FieldCreatedAt, FieldUpdatedAt:
			pairs = append(pairs, stamp, int64(now))
		case FieldVersion:
			pairs = append(pairs, stamp, 1)
		case FieldEtag:
			pairs = append(pairs, stamp, c.env.NewEtag())
		}
	}
	return document.O(pairs...)
}

// Patch is a caller's change of records.
type Patch struct {
	Filter document.Object
	// Patch is an update document or a replacement with WithModifier, else fields to
	// set.
	Patch        document.Object
	WithModifier bool
	ArrayFilters []document.Object
	SortBy       document.Object
	Upsert       bool
	// Multi changes all records that match; FindAndModify ignores it.
	Multi bool
}

// Update changes the first record that matches, or all of them with Multi.
func (c *Collection) Update(ctx context.Context, p Patch) (document.UpdateResult, error) {
	compiled, err := c.compile(p)
	if err != nil {
		return document.UpdateResult{}, err
	}
	if p.Multi && compiled.change.Update.IsReplacement() {
		return document.UpdateResult{}, boterr.Invalid("patch", "a replacement changes one record; use operators such as $set with multi")
	}
	result, err := c.store.Update(ctx, compiled.filter, compiled.change, document.UpdateOptions{
		Multi: p.Multi, Sort: compiled.sort, Upsert: p.Upsert,
	})
	return result, patchError(err)
}

// FindAndModify changes the first record that matches, and returns it as it was
// before, or as it is now with returnNew, in one atomic step.
func (c *Collection) FindAndModify(ctx context.Context, p Patch, returnNew bool) (document.FindAndModifyResult, error) {
	compiled, err := c.compile(p)
	if err != nil {
		return document.FindAndModifyResult{}, err
	}
	result, err := c.store.FindAndModify(ctx, compiled.filter, compiled.change, document.FindAndModifyOptions{
		Sort: compiled.sort, Upsert: p.Upsert, New: returnNew,
	})
	return result, patchError(err)
}

// Delete removes the records that match and returns how many they were.
func (c *Collection) Delete(ctx context.Context, filter document.Object) (int64, error) {
	compiled, err := c.filter(filter)
	if err != nil {
		return 0, err
	}
	return c.store.Delete(ctx, compiled, document.DeleteOptions{Multi: true})
}

// compiledPatch is a Patch, compiled and narrowed to the scope.
type compiledPatch struct {
	filter *document.Filter
	sort   *document.Sort
	change document.Change
}

func (c *Collection) compile(p Patch) (compiledPatch, error) {
	filter, err := c.filter(p.Filter)
	if err != nil {
		return compiledPatch{}, err
	}
	sort, err := sortOf(p.SortBy)
	if err != nil {
		return compiledPatch{}, err
	}
	update, err := p.update()
	if err != nil {
		return compiledPatch{}, err
	}
	change := c.change(update)
	if p.Upsert {
		id, _ := filter.Equality(FieldID)
		change.OnInsert = c.onInsert(id)
	}
	return compiledPatch{filter: filter, sort: sort, change: change}, nil
}

// update compiles the update of a patch.
func (p Patch) update() (*document.Update, error) {
	if p.Patch.IsZero() {
		return nil, boterr.Invalid("patch", "is missing: give the fields to set, or operators with withModifier")
	}
	source, prefix := p.Patch, ""
	if !p.WithModifier {
		source, prefix = document.O("$set", p.Patch), "$set"
	}
	update, err := document.CompileUpdate(source, p.ArrayFilters...)
	if err == nil {
		return update, nil
	}
	if e, ok := boterr.AsError(err); ok && strings.HasPrefix(e.Field, "arrayFilters") {
		return nil, err
	}
	return nil, boterr.In("patch", withoutPrefix(err, prefix))
}

// change returns the change that an update makes, with what this layer adds.
func (c *Collection) change(update *document.Update) document.Change {
	now := c.env.Now()
	change := document.Change{
		Update: update,
		Now:    now,
		Fixed:  append([]string{FieldCreatedAt}, c.kind.Fixed...),
	}
	var renewed []any
	for _, stamp := range c.kind.Stamps {
		switch stamp {
		case FieldUpdatedAt:
			renewed = append(renewed, stamp, int64(document.At(now)))
		case FieldEtag:
			renewed = append(renewed, stamp, c.env.NewEtag())
		case FieldVersion:
			change.Stamps.Increment = []string{stamp}
		}
	}
	change.Stamps.Set = document.O(renewed...)
	return change
}

// filter compiles a caller's filter and narrows it to the scope.
func (c *Collection) filter(source document.Object) (*document.Filter, error) {
	if source.IsZero() {
		return c.scope, nil
	}
	filter, err := document.CompileFilter(source)
	if err != nil {
		return nil, boterr.In("filter", err)
	}
	return document.And(c.scope, filter), nil
}

func sortOf(source document.Object) (*document.Sort, error) {
	sort, err := document.CompileSort(source)
	return sort, boterr.In("sortBy", err)
}

// patchError names the parameter where a store's error names the update.
func patchError(err error) error {
	e, ok := boterr.AsError(err)
	if !ok || !strings.HasPrefix(e.Field, "update") {
		return err
	}
	return boterr.In("patch", withoutPrefix(e, "update"))
}

// withoutPrefix returns err with the first part of its field cut off.
func withoutPrefix(err error, prefix string) error {
	e, ok := boterr.AsError(err)
	if !ok || prefix == "" || !strings.HasPrefix(e.Field, prefix) {
		return err
	}
	cut := *e
	cut.Field = strings.TrimPrefix(strings.TrimPrefix(e.Field, prefix), ".")
	return &cut
}

// millis is a time in milliseconds as text.
func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }
