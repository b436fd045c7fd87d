package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
)

// Change is a changed value of a record.
type Change struct {
	// Path is the path of the value, such as "meta.coupon".
	Path string
	// Before and After are the values as package document represents them. nil means null or a
	// missing value.
	Before, After any
	// WasThere and IsThere distinguish null from a missing value.
	WasThere, IsThere bool
}

// String returns the path and both values: meta.coupon: none -> "SPRING". Credentials are redacted.
func (c Change) String() string {
	before, after := c.Values()
	return c.Path + ": " + before + " -> " + after
}

// Values returns both values as JSON, or "none" for a missing value. They are redacted if the path contains the name of a
// credential.
func (c Change) Values() (before, after string) {
	isHidden := slices.ContainsFunc(strings.Split(c.Path, "."), display.IsCredential)
	shown := func(value any, isThere bool) string {
		switch {
		case !isThere:
			return "none"
		case isHidden:
			return "[redacted]"
		default:
			return display.Text(Value(value))
		}
	}
	return shown(c.Before, c.WasThere), shown(c.After, c.IsThere)
}

// Value returns a value as JSON.
func Value(value any) string {
	text, err := document.EncodeJSON(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// Comparison finds the changed fields between two objects, in any order. Its zero value compares values with
// document.Equal, and arrays as a whole.
type Comparison struct {
	// AreAlike reports whether two values at a path are equal. It is not called for two objects.
	AreAlike func(path string, before, after any) bool
	// IsByItem compares arrays item by item, with paths such as "tags[1]".
	IsByItem bool

	changes []Change
}

// Changes returns the changes: first the fields of after in their order, then the fields that only before has. path is the
// path of both values in their record, or "" for whole records.
func (c Comparison) Changes(path string, before, after any) []Change {
	c.compare(Change{Path: path, Before: before, After: after, WasThere: true, IsThere: true})
	return c.changes
}

// compare adds the differences between of.Before and of.After.
func (c *Comparison) compare(of Change) {
	before, wasObject := of.Before.(document.Object)
	after, isObject := of.After.(document.Object)
	old, wasArray := of.Before.(document.Array)
	current, isArray := of.After.(document.Array)
	switch {
	case wasObject && isObject, wasObject && !of.IsThere && before.Len() > 0, isObject && !of.WasThere && after.Len() > 0:
		c.objects(of.Path, before, after)
	case wasArray && isArray && c.IsByItem:
		c.arrays(of.Path, old, current)
	case of.WasThere != of.IsThere || !c.areAlike(of):
		c.changes = append(c.changes, of)
	}
}

func (c *Comparison) areAlike(of Change) bool {
	if c.AreAlike == nil {
		return document.Equal(of.Before, of.After)
	}
	return c.AreAlike(of.Path, of.Before, of.After)
}

func (c *Comparison) objects(path string, before, after document.Object) {
	if before == after && c.AreAlike == nil {
		return
	}
	if path != "" {
		path += "."
	}
	for name, value := range after.All() {
		old, wasThere := before.Field(name)
		c.compare(Change{Path: path + name, Before: old, After: value, WasThere: wasThere, IsThere: true})
	}
	for name, old := range before.All() {
		if !after.Has(name) {
			c.compare(Change{Path: path + name, Before: old, WasThere: true})
		}
	}
}

func (c *Comparison) arrays(path string, before, after document.Array) {
	for i := range max(before.Len(), after.Len()) {
		one := Change{Path: fmt.Sprintf("%s[%d]", path, i), WasThere: i < before.Len(), IsThere: i < after.Len()}
		if one.WasThere {
			one.Before = before.At(i)
		}
		if one.IsThere {
			one.After = after.At(i)
		}
		c.compare(one)
	}
}
