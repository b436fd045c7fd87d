package storetest

import (
	"errors"
	"fmt"
	"math"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Outcome is what an operation gave: the fields that its kind has.
type Outcome struct {
	Docs     []document.Object // find, geoNear
	Count    int64             // count
	Values   []any             // distinct
	Matched  int64             // update, replace
	Modified int64             // update, replace
	Upserted bool              // update, replace, findAndModify
	Doc      document.Object   // findAndModify; zero where there is none
	After    []document.Object // the whole collection afterwards, for all that write
}

// Check compares an outcome with what the case expects and returns what differs.
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

// checkRefused wants the error of an operation that is refused.
func checkRefused(err error) error {
	switch {
	case errors.Is(err, boterr.InvalidArgument), errors.Is(err, boterr.AlreadyExists):
		return nil
	case err == nil:
		return errors.New("must be refused")
	default:
		return fmt.Errorf("must be refused, and failed otherwise: %w", err)
	}
}

// part returns the part of an outcome that an expectation is about. The server's
// number of matches, which is its n for what was written, counts a document that was
// inserted as well.
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

// agrees compares one part of an outcome.
func (c *Case) agrees(key string, want any, got Outcome) bool {
	wanted, _ := want.(document.Array)
	switch key {
	case "ids":
		if c.Sort != nil || c.ofServer() && !c.AnyOrder {
			return sameList(wanted, document.A(ids(got.Docs)...))
		}
		return sameSet(wanted, document.A(ids(got.Docs)...))
	case "values":
		return sameSet(wanted, document.A(got.Values...))
	case "docs":
		return sameList(wanted, objects(got.Docs))
	case "after":
		return sameSet(wanted, objects(got.After))
	case "afterSome":
		return contains(objects(got.After), wanted)
	default:
		value, err := document.ValueOf(c.part(got, key))
		return err == nil && sameValue(want, value)
	}
}

func objects(docs []document.Object) document.Array {
	items := make([]any, 0, len(docs))
	for _, doc := range docs {
		items = append(items, doc)
	}
	return document.A(items...)
}

func ids(docs []document.Object) []any {
	values := make([]any, 0, len(docs))
	for _, doc := range docs {
		id, _ := doc.Field(document.IDField)
		values = append(values, id)
	}
	return values
}

// sameList compares two lists in order.
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

// sameSet compares two lists whatever their order.
func sameSet(want, got document.Array) bool {
	return want.Len() == got.Len() && contains(got, want)
}

// contains reports whether each of the items is in a list, each in a place of its
// own.
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

// distancePrecision is the part by which distances may differ.
const distancePrecision = 1e-6

// sameValue compares values: numbers by what they are worth, to one part in a
// million, and the order of fields does not matter.
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
