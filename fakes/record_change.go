package fakes

import (
	"fmt"
	"iter"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// RecordChange is a record that was made, changed or removed.
type RecordChange[R any] struct {
	// ID is the record's id as text.
	ID string
	// In is the data source of an entry, with the app and a slash before it where that is not the default one, and the
	// account of a payment. It is "" for other records.
	In string
	// Before is what it was, nil where there was none; After is what it is, nil where there is none any more.
	Before, After *R
	// Fields are what differs, in the order of After; none where Before or After is nil.
	Fields []FieldChange
}

// IsNew reports whether there was no such record before.
func (r RecordChange[R]) IsNew() bool { return r.Before == nil }

// IsGone reports whether there is no such record any more.
func (r RecordChange[R]) IsGone() bool { return r.After == nil }

// Field returns what became of a path, and whether it differs.
func (r RecordChange[R]) Field(path string) (FieldChange, bool) {
	for _, field := range r.Fields {
		if field.Path == path {
			return field, true
		}
	}
	return FieldChange{}, false
}

// FieldChange is one value of a record that differs.
type FieldChange struct {
	// Path leads to it, such as "meta.coupon".
	Path string
	// Before and After are the values, as package document has them; nil also for none.
	Before, After any
	// WasThere and IsThere tell none from null.
	WasThere, IsThere bool
}

// String returns the path and both values: meta.coupon: none -> "SPRING".
func (f FieldChange) String() string {
	before, after := "none", "none"
	if f.WasThere {
		before = jsonOf(f.Before)
	}
	if f.IsThere {
		after = jsonOf(f.After)
	}
	return f.Path + ": " + before + " -> " + after
}

// jsonOf is a value as JSON.
func jsonOf(value any) string {
	text, err := document.EncodeJSON(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// changedFields returns what differs between two objects, but for the fields of these names at the top: objects are compared
// field by field, other values whole. The order of fields is no difference.
func changedFields(before, after document.Object, but ...string) []FieldChange {
	var c comparison
	for _, name := range but {
		before, after = before.Without(name), after.Without(name)
	}
	c.objects(before, after)
	return c.fields
}

// comparison collects what differs.
type comparison struct {
	path   []string
	fields []FieldChange
}

func (c *comparison) objects(before, after document.Object) {
	if before == after {
		return
	}
	for name, value := range after.All() {
		old, wasThere := before.Field(name)
		c.at(name, func() { c.values(FieldChange{Before: old, After: value, WasThere: wasThere, IsThere: true}) })
	}
	for name, old := range before.All() {
		if !after.Has(name) {
			c.at(name, func() { c.values(FieldChange{Before: old, WasThere: true}) })
		}
	}
}

// values compares what is at one path.
func (c *comparison) values(f FieldChange) {
	before, wasObject := f.Before.(document.Object)
	after, isObject := f.After.(document.Object)
	switch {
	case wasObject && isObject, wasObject && !f.IsThere && before.Len() > 0, isObject && !f.WasThere && after.Len() > 0:
		c.objects(before, after)
	case f.WasThere != f.IsThere || !document.Equal(f.Before, f.After):
		f.Path = strings.Join(c.path, ".")
		c.fields = append(c.fields, f)
	}
}

func (c *comparison) at(name string, visit func()) {
	c.path = append(c.path, name)
	visit()
	c.path = c.path[:len(c.path)-1]
}

// stamps are what each write renews: by themselves they are no change.
func stamps() []string {
	return []string{record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag}
}

// compareRecords compares two lists of documents by their _id: what is new and what has changed, in the order of after, and
// then what is gone, in the order of before. What a write renews, and the fields of these names, are no change. read
// makes a record of a document.
func compareRecords[R any](
	before, after iter.Seq[document.Object], read func(document.Object) (*R, error), but ...string,
) ([]RecordChange[R], error) {
	but = append(stamps(), but...)
	old, isLeft := map[string]document.Object{}, map[string]bool{}
	for one := range before {
		old[idOf(one)] = one
	}
	var all []RecordChange[R]
	for one := range after {
		id := idOf(one)
		isLeft[id] = true
		was, wasThere := old[id]
		change := RecordChange[R]{ID: id}
		if wasThere {
			if change.Fields = changedFields(was, one, but...); len(change.Fields) == 0 {
				continue
			}
		}
		if err := change.read(was, one, read); err != nil {
			return nil, err
		}
		all = append(all, change)
	}
	for one := range before {
		if id := idOf(one); !isLeft[id] {
			change := RecordChange[R]{ID: id}
			if err := change.read(one, document.Object{}, read); err != nil {
				return nil, err
			}
			all = append(all, change)
		}
	}
	return all, nil
}

// read sets Before and After.
func (r *RecordChange[R]) read(before, after document.Object, read func(document.Object) (*R, error)) (err error) {
	if !before.IsZero() {
		if r.Before, err = read(before); err != nil {
			return err
		}
	}
	if !after.IsZero() {
		r.After, err = read(after)
	}
	return err
}

// idOf returns the id of a document as text.
func idOf(one document.Object) string {
	id, _ := one.Field(record.FieldID)
	if text, ok := id.(string); ok {
		return text
	}
	return jsonOf(id)
}
