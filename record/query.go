package record

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
)

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
	found, ok, err := c.First(ctx, FieldID, id)
	if err == nil && !ok {
		err = NotFound(c.kind.Name, id)
	}
	return found, err
}

// First returns the first record whose field has a value, and whether there is one.
func (c *Collection) First(ctx context.Context, field string, value any) (document.Object, bool, error) {
	filter, err := c.whereEqual(field, value)
	if err != nil {
		return document.Object{}, false, err
	}
	found, err := c.stored.Find(ctx, filter, store.FindOptions{Limit: 1})
	if err != nil || len(found) == 0 {
		return document.Object{}, false, err
	}
	return found[0], true, nil
}

// whereEqual returns the filter for the records whose field has a value. A text needs no query
// document.
func (c *Collection) whereEqual(field string, value any) (*query.Filter, error) {
	text, isText := value.(string)
	if !isText || isLong(text) {
		return c.filter(document.O(field, document.O("$eq", value)))
	}
	if !utf8.ValidString(text) {
		value = strings.ToValidUTF8(text, "\uFFFD")
	}
	var room [4]query.FieldValue
	fields := append(room[:0], query.FieldValue{Name: field, Value: value})
	return query.FieldsEqual(append(fields, c.scope...)...), c.err
}

// Find returns the records that match, or an empty slice.
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

// Count returns the number of records that match.
func (c *Collection) Count(ctx context.Context, filter document.Object) (int64, error) {
	compiled, err := c.filter(filter)
	if err != nil {
		return 0, err
	}
	return c.stored.Count(ctx, compiled)
}

// Distinct returns the different values at a dotted path.
func (c *Collection) Distinct(ctx context.Context, path string, filter document.Object) ([]any, error) {
	compiled, err := c.filter(filter)
	if err != nil {
		return nil, err
	}
	return c.stored.Distinct(ctx, path, compiled)
}

// GeoNear returns the records near a point, nearest first. near is the argument of
// query.CompileGeoNear; the Field of an error about it is the path in it.
func (c *Collection) GeoNear(ctx context.Context, near document.Object) ([]query.GeoResult, error) {
	search, err := query.CompileGeoNear(near)
	if err == nil {
		err = c.err
	}
	if err != nil {
		return nil, err
	}
	return c.stored.GeoNear(ctx, search.Within(query.FieldsEqual(c.scope...)))
}

// filter compiles a caller's filter and narrows it to the scope.
func (c *Collection) filter(source document.Object) (*query.Filter, error) {
	if c.err != nil {
		return nil, c.err
	}
	if source.IsZero() {
		return query.FieldsEqual(c.scope...), nil
	}
	filter, err := c.compiler.FilterWhere(source, c.scope...)
	if err != nil {
		return nil, boterr.In("filter", err)
	}
	return filter, nil
}

func (c *Collection) sort(source document.Object) (*query.Sort, error) {
	if source.IsZero() {
		return nil, nil
	}
	sort, err := c.compiler.Sort(source)
	return sort, boterr.In("sortBy", err)
}

func (c *Collection) projection(source document.Object) (*query.Projection, error) {
	if source.IsZero() {
		return nil, nil
	}
	projection, err := c.compiler.Projection(source)
	return projection, boterr.In("projection", err)
}
