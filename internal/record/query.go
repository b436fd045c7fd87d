package record

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
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
	found, ok, err := c.First(ctx, query.FieldValue{Name: FieldID, Value: id})
	if err == nil && !ok {
		err = NotFound(c.kind.Name, id)
	}
	return found, err
}

// First returns the first record whose fields have values, and whether there is one.
func (c *Collection) First(ctx context.Context, fields ...query.FieldValue) (document.Object, bool, error) {
	found, err := c.findEqual(ctx, fields, 1)
	if err != nil || len(found) == 0 {
		return document.Object{}, false, err
	}
	return found[0], true, nil
}

// FindEqual returns the records whose fields have values, or an empty slice.
func (c *Collection) FindEqual(ctx context.Context, fields ...query.FieldValue) ([]document.Object, error) {
	return c.findEqual(ctx, fields, 0)
}

// FindEqual returns the records of a kind in an app whose fields have values, or an empty slice. It is that of the
// Collection, for a look-up after which nobody needs one.
func FindEqual(ctx context.Context, env Env, kind *Kind, app string, fields ...query.FieldValue) ([]document.Object, error) {
	var room [6]query.FieldValue
	all := append(append(room[:0], fields...), query.FieldValue{Name: FieldApp, Value: app})
	if !areShort(all) {
		return OfApp(env, kind, app).FindEqual(ctx, fields...)
	}
	return guardedIn(env.Store, kind.Collection).Find(ctx, query.FieldsEqual(all...), store.FindOptions{})
}

func (c *Collection) findEqual(ctx context.Context, fields []query.FieldValue, limit int64) ([]document.Object, error) {
	filter, err := c.whereEqual(fields)
	if err != nil {
		return nil, err
	}
	return c.stored.Find(ctx, filter, store.FindOptions{Limit: limit})
}

// whereEqual returns the filter for the records whose fields have values. Texts and truth values need no
// query document.
func (c *Collection) whereEqual(fields []query.FieldValue) (*query.Filter, error) {
	var room [6]query.FieldValue
	all := append(room[:0], fields...)
	if !areShort(all) {
		return c.filter(equalTo(fields))
	}
	return query.FieldsEqual(append(all, c.scope...)...), c.err
}

// areShort reports whether the values of fields are truth values and texts of no more than a query document may
// hold. The texts become valid UTF-8.
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

// equalTo is the query document for the records whose fields have values.
func equalTo(fields []query.FieldValue) document.Object {
	filter := document.NewBuilder(len(fields))
	for _, field := range fields {
		filter.Set(field.Name, document.O("$eq", field.Value))
	}
	return filter.Object()
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
	count, err := c.stored.Count(ctx, compiled)
	return count, err
}

// Distinct returns the different values at a dotted path.
func (c *Collection) Distinct(ctx context.Context, path string, filter document.Object) ([]any, error) {
	compiled, err := c.filter(filter)
	if err != nil {
		return nil, err
	}
	values, err := c.stored.Distinct(ctx, path, compiled)
	return values, err
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
		return nil, boterr.PrefixField("filter", err)
	}
	return filter, nil
}

func (c *Collection) sort(source document.Object) (*query.Sort, error) {
	if source.IsZero() {
		return nil, nil
	}
	sort, err := c.compiler.Sort(source)
	return sort, boterr.PrefixField("sortBy", err)
}

func (c *Collection) projection(source document.Object) (*query.Projection, error) {
	if source.IsZero() {
		return nil, nil
	}
	projection, err := c.compiler.Projection(source)
	return projection, boterr.PrefixField("projection", err)
}
