package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Case is a test case: a collection, an operation on it, and the expected outcome. A file of cases has a Case
// in JSON on each line.
type Case struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Kind is find, count, distinct, update, replace, findAndModify or geoNear.
	Kind string `json:"kind"`
	// Docs are the documents of the collection, in the order of their insertion.
	Docs         []document.Object `json:"docs"`
	Indexes      [][][]any         `json:"indexes"`
	Filter       any               `json:"filter"`
	Sort         any               `json:"sort"`
	Projection   any               `json:"projection"`
	Skip         any               `json:"skip"`
	Limit        any               `json:"limit"`
	Key          any               `json:"key"`
	Update       any               `json:"update"`
	ArrayFilters any               `json:"arrayFilters"`
	Multi        bool              `json:"multi"`
	Upsert       any               `json:"upsert"`
	New          any               `json:"new"`
	GeoNear      any               `json:"geoNear"`
	// AnyOrder is true if the ids may come in any order. In the other cases of the file, their order counts.
	AnyOrder bool            `json:"anyOrder"`
	Expect   document.Object `json:"expect"`

	// given is the case as written in the file.
	given document.Object
}

// String returns the case as written in the file.
func (c *Case) String() string { return c.given.String() }

// ofServer reports whether the case comes from the file that was verified against MongoDB. Only its cases have
// names.
func (c *Case) ofServer() bool { return c.Name != "" }

// Arguments returns the arguments of the operation. An argument of a wrong type is InvalidArgument.
func (c *Case) Arguments() (arguments Arguments, err error) {
	var sort [][]any
	if err := c.checkNull(); err != nil {
		return arguments, err
	}
	for _, argument := range []struct {
		field string
		given any
		into  any
	}{
		{"filter", c.Filter, &arguments.Filter},
		{"sort", c.Sort, &sort},
		{"projection", c.Projection, &arguments.Projection},
		{"skip", truncated(c.Skip), &arguments.Skip},
		{"limit", c.limit(), &arguments.Limit},
		{"update", c.Update, &arguments.Update},
		{"arrayFilters", c.ArrayFilters, &arguments.ArrayFilters},
		{"geoNear", c.GeoNear, &arguments.GeoNear},
		{"key", c.Key, &arguments.Key},
		{"upsert", c.Upsert, &arguments.Upsert},
		{"new", c.New, &arguments.New},
	} {
		if err := document.DecodeValue(argument.given, argument.into); err != nil {
			return arguments, boterr.PrefixField(argument.field, err)
		}
	}
	for _, key := range sort {
		path, _ := key[0].(string)
		arguments.Sort = arguments.Sort.With(path, key[1])
	}
	return arguments, nil
}

// checkNull returns an error for a null argument that the operation does not accept. Null is not the same as
// an absent argument.
func (c *Case) checkNull() error {
	for field, operations := range map[string][]string{
		"filter": {"find", "update", "replace", "findAndModify"},
		"key":    {"distinct"},
		"limit":  {"count"},
	} {
		if value, ok := c.given.Field(field); ok && value == nil && slices.Contains(operations, c.Kind) {
			return boterr.Invalid(field, "must not be null")
		}
	}
	return nil
}

// limit returns the limit for the operation. The limit of count may be negative, which means the same as its
// absolute value.
func (c *Case) limit() any {
	switch limit := c.Limit.(type) {
	case int64:
		if c.Kind == "count" && limit < 0 {
			return -limit
		}
	case float64:
		if c.Kind != "count" {
			return truncated(limit)
		}
	}
	return c.Limit
}

// truncated returns a number without its fraction. Other values are returned unchanged.
func truncated(value any) any {
	if f, ok := value.(float64); ok {
		return math.Trunc(f)
	}
	return value
}

// Arguments are the arguments of a case's operation.
type Arguments struct {
	Filter       document.Object
	Sort         document.Object
	Projection   document.Object
	Skip         int64
	Limit        int64
	Key          string
	Upsert       bool
	New          bool
	Update       document.Object
	ArrayFilters []document.Object
	GeoNear      document.Object
}

// ReadCases reads a file of cases.
func ReadCases(file io.Reader) ([]Case, error) {
	const longestLine = 16 << 20
	var cases []Case
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, longestLine)
	for lines.Scan() {
		var c Case
		if err := document.DecodeJSON(lines.Bytes(), &c); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(cases)+1, err)
		}
		if err := c.given.UnmarshalJSON(lines.Bytes()); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(cases)+1, err)
		}
		cases = append(cases, c)
	}
	return cases, lines.Err()
}

// Outcome is the result of an operation: the fields of its kind.
type Outcome struct {
	Docs     []document.Object // find, geoNear
	Count    int64             // count
	Values   []any             // distinct
	Matched  int64             // update, replace
	Modified int64             // update, replace
	Upserted bool              // update, replace, findAndModify
	Doc      document.Object   // findAndModify; zero if there is none
	After    []document.Object // the whole collection afterwards, for operations that write
}

// Check compares an outcome with the expected one and returns the difference.
func (c *Case) Check(got Outcome, err error) error {
	if document.Get(c.Expect, "error", false) {
		return checkRefused(err)
	}
	if err != nil {
		return fmt.Errorf("must not be refused: %w", err)
	}
	for key, want := range c.Expect.All() {
		if !c.agrees(key, want, got) {
			return fmt.Errorf("%s: want %s, got %s", key, text(want), text(c.part(got, key)))
		}
	}
	return nil
}

func checkRefused(err error) error {
	switch {
	case errors.Is(err, boterr.InvalidArgument), errors.Is(err, boterr.AlreadyExists):
		return nil
	case err == nil:
		return errors.New("must be refused")
	default:
		return fmt.Errorf("must be refused, but failed for another reason: %w", err)
	}
}

// part returns the part of an outcome with the key of an expectation. For a case of the server, the number of
// matches includes an inserted document.
func (c *Case) part(o Outcome, key string) any {
	if o.Upserted && c.ofServer() {
		o.Matched++
	}
	switch key {
	case "ids":
		return ids(o.Docs)
	case "docs":
		return o.Docs
	case "n":
		if c.Kind != "count" {
			return o.Matched
		}
		return o.Count
	case "values":
		return o.Values
	case "matched":
		return o.Matched
	case "modified":
		return o.Modified
	case "upserted":
		return o.Upserted
	case "doc":
		return o.Doc
	default:
		return o.After
	}
}

func (c *Case) agrees(key string, want any, got Outcome) bool {
	value, err := document.ValueOf(c.part(got, key))
	if err != nil {
		return false
	}
	wanted, _ := want.(document.Array)
	list, _ := value.(document.Array)
	switch {
	case key == "docs", key == "ids" && (c.Sort != nil || c.ofServer() && !c.AnyOrder):
		return sameList(wanted, list)
	case key == "ids", key == "values", key == "after":
		return sameSet(wanted, list)
	case key == "afterSome":
		return contains(list, wanted)
	default:
		return sameValue(want, value)
	}
}

func ids(docs []document.Object) []any {
	values := make([]any, 0, len(docs))
	for _, doc := range docs {
		id, _ := doc.Field(document.IDField)
		values = append(values, id)
	}
	return values
}

func sameList(want, got document.Array) bool {
	if want.Len() != got.Len() {
		return false
	}
	for i, item := range want.All() {
		if !sameValue(item, got.At(i)) {
			return false
		}
	}
	return true
}

// sameSet compares two lists, ignoring their order.
func sameSet(want, got document.Array) bool {
	return want.Len() == got.Len() && contains(got, want)
}

// contains reports whether a list contains all items, each at a different index.
func contains(list, items document.Array) bool {
	taken := make([]bool, list.Len())
	for _, item := range items.All() {
		found := false
		for i, candidate := range list.All() {
			if !taken[i] && sameValue(item, candidate) {
				taken[i], found = true, true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// distancePrecision is the fraction by which distances may differ.
const distancePrecision = 1e-6

// sameValue compares values: numbers by their numeric value, to one part in a million, and objects without
// regard to the order of fields.
func sameValue(want, got any) bool {
	switch w := want.(type) {
	case document.Object:
		g, ok := got.(document.Object)
		if !ok || w.Len() != g.Len() {
			return ok && w.Len() == 0 && g.IsZero()
		}
		for key, value := range w.All() {
			other, ok := g.Field(key)
			if !ok || !sameValue(value, other) {
				return false
			}
		}
		return true
	case document.Array:
		g, ok := got.(document.Array)
		return ok && sameList(w, g)
	case float64:
		var g float64
		if document.DecodeValue(got, &g) != nil || got == nil {
			return false
		}
		return math.Abs(w-g) <= distancePrecision*math.Abs(w)
	default:
		return document.Equal(want, got)
	}
}

func text(value any) string {
	written, err := document.AppendJSON(nil, value)
	if err != nil {
		return err.Error()
	}
	return string(written)
}

// Run runs the case on an empty collection.
func (c *Case) Run(ctx context.Context, collection store.Collection) (Outcome, error) {
	if err := c.EnsureIndexes(ctx, collection); err != nil {
		return Outcome{}, err
	}
	if err := collection.Insert(ctx, c.Docs...); err != nil {
		return Outcome{}, fmt.Errorf("inserting the documents: %w", err)
	}
	arguments, err := c.Arguments()
	if err != nil {
		return Outcome{}, err
	}
	filter, err := query.CompileFilter(arguments.Filter)
	if err != nil {
		return Outcome{}, err
	}
	switch c.Kind {
	case "find", "count", "distinct", "geoNear":
		return c.read(ctx, collection, filter, arguments)
	default:
		return c.write(ctx, collection, filter, arguments)
	}
}

// EnsureIndexes makes the indexes of the case.
func (c *Case) EnsureIndexes(ctx context.Context, collection store.Collection) error {
	for _, index := range c.Indexes {
		if err := collection.EnsureIndex(ctx, indexOf(index)); err != nil {
			return err
		}
	}
	return nil
}

func indexOf(keys [][]any) store.Index {
	var index store.Index
	for _, key := range keys {
		path, _ := key[0].(string)
		kind := query.Ascending
		switch key[1] {
		case int64(-1):
			kind = query.Descending
		case "2d":
			kind = query.Geo2D
		case "2dsphere":
			kind = query.Geo2DSphere
		}
		index.Keys = append(index.Keys, store.IndexKey{Path: path, Kind: kind})
	}
	return index
}

func (c *Case) read(
	ctx context.Context, collection store.Collection, filter *query.Filter, arguments Arguments,
) (out Outcome, err error) {
	switch c.Kind {
	case "count":
		out.Count, err = count(ctx, collection, filter, arguments)
	case "distinct":
		out.Values, err = collection.Distinct(ctx, arguments.Key, filter)
	case "geoNear":
		out.Docs, err = near(ctx, collection, arguments.GeoNear)
	default:
		out.Docs, err = find(ctx, collection, filter, arguments)
	}
	return out, err
}

func find(
	ctx context.Context, collection store.Collection, filter *query.Filter, arguments Arguments,
) ([]document.Object, error) {
	sort, err := query.CompileSort(arguments.Sort)
	if err != nil {
		return nil, err
	}
	projection, err := query.CompileProjection(arguments.Projection)
	if err != nil {
		return nil, err
	}
	return collection.Find(ctx, filter, store.FindOptions{
		Sort: sort, Skip: arguments.Skip, Limit: arguments.Limit, Projection: projection,
	})
}

// count returns the number of matches. With skip or limit it counts the result of Find, because Count has
// neither.
func count(
	ctx context.Context, collection store.Collection, filter *query.Filter, arguments Arguments,
) (int64, error) {
	if arguments.Skip == 0 && arguments.Limit == 0 {
		return collection.Count(ctx, filter)
	}
	docs, err := find(ctx, collection, filter, arguments)
	return int64(len(docs)), err
}

func near(ctx context.Context, collection store.Collection, argument document.Object) ([]document.Object, error) {
	query, err := query.CompileGeoNear(argument)
	if err != nil {
		return nil, err
	}
	found, err := collection.GeoNear(ctx, query)
	docs := make([]document.Object, 0, len(found))
	for _, result := range found {
		docs = append(docs, result.Document)
	}
	return docs, err
}

func (c *Case) write(
	ctx context.Context, collection store.Collection, filter *query.Filter, arguments Arguments,
) (out Outcome, err error) {
	update, err := query.CompileUpdate(arguments.Update, arguments.ArrayFilters...)
	if err != nil {
		return Outcome{}, err
	}
	sort, err := query.CompileSort(arguments.Sort)
	if err != nil {
		return Outcome{}, err
	}
	projection, err := query.CompileProjection(arguments.Projection)
	if err != nil {
		return Outcome{}, err
	}
	change := query.Change{Update: update, OnInsert: document.O(document.IDField, "inserted")}
	if c.Kind == "findAndModify" {
		result, failed := collection.FindAndModify(ctx, filter, change, store.FindAndModifyOptions{
			Sort: sort, Upsert: arguments.Upsert, New: arguments.New, Projection: projection,
		})
		out.Doc, out.Upserted, err = result.Document, result.UpsertedID != nil, failed
	} else {
		result, failed := collection.Update(ctx, filter, change,
			store.UpdateOptions{Multi: c.Multi, Sort: sort, Upsert: arguments.Upsert})
		out.Matched, out.Modified, out.Upserted, err = result.Matched, result.Modified, result.UpsertedID != nil, failed
	}
	if err != nil {
		return out, err
	}
	out.After, err = collection.Find(ctx, nil, store.FindOptions{})
	return out, err
}

// literals returns texts that are equal if the documents are exactly the same.
func literals(documents []document.Object) []string {
	texts := make([]string, 0, len(documents))
	for _, o := range documents {
		texts = append(texts, literal(o))
	}
	return texts
}

// literal formats a value so that values which JSON writes alike differ, such as 1.0 and 1, or a time and a
// string.
func literal(value any) string {
	switch v := value.(type) {
	case string:
		return strconv.Quote(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return "double(" + strconv.FormatFloat(v, 'g', -1, 64) + ")"
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return "date(" + v.Format(time.RFC3339Nano) + ")"
	case document.Array:
		return arrayLiteral(v)
	case document.Object:
		return objectLiteral(v)
	default:
		return "null"
	}
}

func arrayLiteral(a document.Array) string {
	texts := make([]string, 0, a.Len())
	for _, item := range a.All() {
		texts = append(texts, literal(item))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func objectLiteral(o document.Object) string {
	if o.IsZero() {
		return "absent"
	}
	texts := make([]string, 0, o.Len())
	for key, value := range o.All() {
		texts = append(texts, strconv.Quote(key)+": "+literal(value))
	}
	return "{" + strings.Join(texts, ", ") + "}"
}
