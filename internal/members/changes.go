package members

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/member"
)

// WrittenBack is a snapshot of the fields of a member that a run writes back.
type WrittenBack struct {
	BotMeta, Meta       document.Object
	CustomLocale, Group string
}

// WrittenBackOf returns a snapshot of m.
func WrittenBackOf(m *member.Member) WrittenBack {
	return WrittenBack{BotMeta: m.BotMeta.Object, Meta: m.Meta, CustomLocale: m.CustomLocale, Group: m.Group}
}

// Changes returns the update document for PatchMembers with WithModifier that turns before into after. If these are
// equal, it returns the zero Object. The order of fields does not matter; the type of a number does.
//
// The update names only the paths that differ, so that other writers' changes survive. Objects are
// compared field by field, even if before lacks the object. These values are set whole:
//
//   - arrays, scalars and empty objects
//   - an object with a changed field whose name cannot appear in a path, because it is empty, has a
//     dot or begins with $
//   - botMeta and meta, if the update with all paths would be too large
//
// An empty customLocale or group counts as missing.
//
// The update can be applied to the stored member unless another writer has replaced an object on one of the paths by
// null, a scalar or an array.
//
// Changes returns InvalidArgument if an object of after carries an error, is nested too deeply or is too large for a
// document.
func (before WrittenBack) Changes(after WrittenBack) (document.Object, error) {
	if before == after {
		return document.Object{}, nil
	}
	objects := []changedObject{
		{"botMeta", before.BotMeta, after.BotMeta},
		{"meta", before.Meta, after.Meta},
	}
	for _, object := range objects {
		if err := object.check(); err != nil {
			return document.Object{}, err
		}
	}
	var changes changeList
	for _, object := range objects {
		changes.at(object.name, func() { changes.fields(object.before, object.after) })
	}
	changes.texts(before, after)
	update := changes.update()
	if !changes.isTooLong() && update.Size() <= document.MaxSize {
		return update, update.Err()
	}
	changes = changeList{}
	for _, object := range objects {
		if !isSame(object.before, object.after) {
			changes.at(object.name, func() { changes.setTo(present(object.after)) })
		}
	}
	changes.texts(before, after)
	update = changes.update()
	return update, update.Err()
}

// Merged returns a copy of stored with the changes from before to after. Other fields of stored stay. The errors are those
// of Changes, and of changes that no longer fit the stored member.
func (before WrittenBack) Merged(after WrittenBack, stored *member.Member) (*member.Member, error) {
	patch, err := before.Changes(after)
	if err != nil || patch.IsZero() {
		return stored, err
	}
	update, err := query.CompileUpdate(patch)
	if err != nil {
		return stored, err
	}
	call := query.NewEvaluation(context.Background()) // Small records need no more than the budget of one call.
	fields, _, err := call.Change(query.Change{Update: update}, nil, document.O(
		"botMeta", present(stored.BotMeta.Object), "meta", present(stored.Meta), "customLocale", stored.CustomLocale, "group", stored.Group,
	))
	if err != nil {
		return stored, err
	}
	merged := *stored
	merged.BotMeta = member.BotMeta{Object: document.Get(fields, "botMeta", document.O())}
	merged.Meta = document.Get(fields, "meta", document.O())
	merged.CustomLocale, merged.Group = document.Get(fields, "customLocale", ""), document.Get(fields, "group", "")
	return &merged, nil
}

type changedObject struct {
	name          string
	before, after document.Object
}

// check returns an error if a stored member cannot have the new value.
func (o changedObject) check() error {
	if o.before == o.after {
		return nil
	}
	err := o.after.Err()
	if err == nil { // The member adds one level of nesting.
		err = document.CheckExtent(document.O(o.name, o.after), document.MaxSize)
	}
	return boterr.PrefixField(o.name, err)
}

// changeList collects the differences of two members.
type changeList struct {
	// path is the path of the current value.
	path []string
	// set alternates paths and values. unset has paths.
	set   []any
	unset []string
	// length is the total length of all paths.
	length int
}

// update returns the update document, or the zero Object if there are no changes.
func (c *changeList) update() document.Object {
	var update document.Object
	if len(c.set) > 0 {
		update = document.Set(c.set...)
	}
	if len(c.unset) > 0 {
		unset, _ := document.Unset(c.unset...).Field("$unset")
		update = update.With("$unset", unset)
	}
	return update
}

// isTooLong reports whether the paths alone exceed the maximum size of an update.
func (c *changeList) isTooLong() bool { return c.length > document.MaxSize }

// at calls visit with name appended to the path.
func (c *changeList) at(name string, visit func()) {
	c.path = append(c.path, name)
	visit()
	c.path = c.path[:len(c.path)-1]
}

func (c *changeList) texts(before, after WrittenBack) {
	c.at("customLocale", func() { c.text(before.CustomLocale, after.CustomLocale) })
	c.at("group", func() { c.text(before.Group, after.Group) })
}

// text compares a string; an empty one counts as missing.
func (c *changeList) text(before, after string) {
	switch {
	case before == after:
	case after == "":
		c.remove()
	default:
		c.setTo(after)
	}
}

func (c *changeList) fields(before, after document.Object) {
	if before == after {
		return
	}
	if hasUnnamableChange(before, after) {
		c.setTo(present(after))
		return
	}
	for key := range before.All() {
		if _, kept := after.Field(key); !kept {
			c.at(key, c.remove)
		}
	}
	for key, value := range after.All() {
		if old, known := before.Field(key); canStandInPath(key) {
			c.at(key, func() { c.value(old, known, value) })
		}
	}
}

// value compares two values. known is false if before is missing.
func (c *changeList) value(before any, known bool, after any) {
	from, wasObject := before.(document.Object)
	to, isObject := after.(document.Object)
	switch {
	case isObject && (wasObject || !known && to.Len() > 0):
		c.fields(from, to)
	case !known || !isSame(before, after):
		c.setTo(after)
	}
}

func (c *changeList) setTo(value any) { c.set = append(c.set, c.name(), value) }

func (c *changeList) remove() { c.unset = append(c.unset, c.name()) }

// name returns the current path. It returns "" if the list is too long, because Changes discards
// such a list.
func (c *changeList) name() string {
	if c.isTooLong() {
		return ""
	}
	text := strings.Join(c.path, ".")
	c.length += len(text)
	return text
}

// present returns o, or an empty object if o is absent: stored members always have meta and botMeta.
func present(o document.Object) document.Object {
	if o.IsZero() {
		return document.O()
	}
	return o
}

// canStandInPath reports whether a field name can be part of a path.
func canStandInPath(name string) bool {
	return name != "" && name[0] != '$' && !strings.Contains(name, ".")
}

// hasUnnamableChange reports whether the name of a changed field cannot appear in a path.
func hasUnnamableChange(before, after document.Object) bool {
	for key := range before.All() {
		if _, kept := after.Field(key); !kept && !canStandInPath(key) {
			return true
		}
	}
	for key, value := range after.All() {
		if canStandInPath(key) {
			continue
		}
		if old, known := before.Field(key); !known || !isSame(old, value) {
			return true
		}
	}
	return false
}

// isSame reports whether two values are equal, ignoring the order of fields.
func isSame(a, b any) bool {
	switch a := a.(type) {
	case document.Object:
		b, ok := b.(document.Object)
		return ok && (a == b || hasSameFields(a, b))
	case document.Array:
		b, ok := b.(document.Array)
		return ok && (a == b || hasSameItems(a, b))
	case float64: // -0 and 0 differ, and NaN equals NaN.
		b, ok := b.(float64)
		return ok && math.Float64bits(a) == math.Float64bits(b)
	case time.Time:
		b, ok := b.(time.Time)
		return ok && a.Equal(b)
	default:
		return a == b
	}
}

func hasSameFields(a, b document.Object) bool {
	if a.Len() != b.Len() {
		return false
	}
	for key, value := range a.All() {
		if other, ok := b.Field(key); !ok || !isSame(value, other) {
			return false
		}
	}
	return true
}

func hasSameItems(a, b document.Array) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i, value := range a.All() {
		if !isSame(value, b.At(i)) {
			return false
		}
	}
	return true
}
