// Package datasources implements the operations on data sources. Each data source of an app is a collection of the
// store.
package datasources

import (
	"context"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Service implements datasource.Operations over a store. It is safe for concurrent use.
type Service struct {
	env record.Env
	app string
}

var _ datasource.Operations = (*Service)(nil)

// New returns the operations on the data sources of the scope's app.
func New(env record.Env, scope record.Scope) *Service {
	return &Service{env: env.WithDefaults(), app: scope.App}
}

// maxCollectionName is the maximum length of a collection's name in bytes. Every store accepts names up to this
// length.
const maxCollectionName = 200

// collection returns the collection of the data source that collectionName or dataSourceID names.
func (s *Service) collection(collectionName, dataSourceID string) (record.Collection, error) {
	switch {
	case collectionName != "" && dataSourceID != "" && collectionName != dataSourceID:
		return record.Collection{}, boterr.Invalid("collectionName", "differs from dataSourceId; give only one of them")
	case collectionName != "":
		return s.open("collectionName", collectionName)
	default:
		return s.open("dataSourceId", dataSourceID)
	}
}

// open returns the collection of a data source. Errors have the given field.
func (s *Service) open(field, id string) (record.Collection, error) {
	name, err := collectionOf(s.app, field, id)
	if err != nil {
		return record.Collection{}, err
	}
	return *record.OpenNamed(s.env, entrySchema, name), nil
}

var entrySchema = &record.Schema{
	Name:   "entry",
	Stamps: []string{record.FieldCreatedAt, record.FieldUpdatedAt},
	Fixed:  []string{record.FieldCreatedAt},
}

// collectionOf returns the name of a data source's collection. Errors have the given field.
func collectionOf(app, field, id string) (string, error) {
	if id == "" {
		return "", boterr.Missing(field, "the id of the data source")
	}
	// Escaping both parts keeps the names of different pairs different.
	name := "data/" + url.QueryEscape(app) + "/" + url.QueryEscape(id)
	if len(name) > maxCollectionName {
		return "", boterr.Invalid(field, "is too long: with the app's id it has %d bytes, at most %d are allowed",
			len(name), maxCollectionName)
	}
	return name, nil
}

// checkID returns an error if id cannot be the _id of an entry.
func checkID(id any) error {
	switch id := id.(type) {
	case string, int64, bool, time.Time:
		return nil
	case float64:
		if !math.IsNaN(id) && !math.IsInf(id, 0) {
			return nil
		}
	}
	return boterr.Invalid(record.FieldID, "must be a string, a number, a boolean or a date, got %s", document.JSONType(id))
}

// checkUpsert refuses a patch that would insert an entry with an invalid _id. The collection
// reports all other faults of the patch.
func (s *Service) checkUpsert(ctx context.Context, p record.Patch) error {
	if !p.Upsert {
		return nil
	}
	filter, err := query.CompileFilter(p.Filter)
	if err != nil {
		return nil //nolint:nilerr // The collection reports the faulty parameter.
	}
	source := p.Patch
	if !p.WithModifier {
		source = document.O("$set", p.Patch)
	}
	update, err := query.CompileUpdate(source, p.ArrayFilters...)
	if err != nil {
		return nil //nolint:nilerr // The collection reports the faulty parameter.
	}
	inserted, err := query.NewEvaluation(ctx).Insert(query.Change{Update: update}, filter)
	if err != nil {
		return nil //nolint:nilerr // The store reports the error if it inserts an entry.
	}
	id, given := inserted.Field(record.FieldID)
	if !given {
		return nil
	}
	return boterr.PrefixField(idSource(p), checkID(id))
}

// idSource returns the path of the parameter that would set the _id of an inserted entry.
func idSource(p record.Patch) string {
	if setsID(p.Patch) {
		return "patch"
	}
	for operator, operand := range p.Patch.All() {
		if fields, _ := operand.(document.Object); p.WithModifier && setsID(fields) {
			return "patch." + operator
		}
	}
	return "filter"
}

// setsID reports whether one of the paths is _id or inside it.
func setsID(paths document.Object) bool {
	for path := range paths.All() {
		if path == record.FieldID || strings.HasPrefix(path, record.FieldID+".") {
			return true
		}
	}
	return false
}

// EnsureIndex implements botctx.EnsureDataSourceIndex.
func EnsureIndex(ctx context.Context, database store.Store, app, dataSourceID string, index store.Index) error {
	name, err := collectionOf(app, "dataSourceId", dataSourceID)
	if err != nil {
		return err
	}
	return database.Collection(name).EnsureIndex(ctx, index)
}

// EraseEntries implements botctx.Runtime.EraseEntries.
func EraseEntries(ctx context.Context, env record.Env, app string, p datasource.EraseEntriesParams) (int64, error) {
	switch {
	case app == "":
		return 0, boterr.Missing("app", "the app of the data source")
	case p.OlderThan < 0:
		return 0, boterr.Invalid("olderThan", "must not be negative, got %s", p.OlderThan)
	case p.OlderThan == 0 && p.Filter.Len() == 0:
		return 0, boterr.Missing("filter", "which entries to erase: a filter, or an age as olderThan")
	}
	entries, err := New(env, record.Scope{App: app}).open("dataSourceId", p.DataSourceID)
	if err != nil {
		return 0, err
	}
	if p.OlderThan == 0 {
		return entries.Remove(ctx, record.Removal{Filter: p.Filter})
	}
	now, err := env.Store.Now(ctx)
	if err != nil {
		return 0, err
	}
	which := document.O(record.FieldUpdatedAt, document.O("$lt", int64(document.TimestampOf(now.Add(-p.OlderThan)))))
	if p.Filter.Len() > 0 {
		which = document.O("$and", document.A(which, p.Filter))
	}
	return entries.Remove(ctx, record.Removal{Filter: which, OldestBy: record.FieldUpdatedAt})
}
