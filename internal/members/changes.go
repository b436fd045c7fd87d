package members

import (
	"math"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// Changes returns the update document, for PatchMembers with WithModifier, that turns before into
// after, in the fields that a run of bot logic writes back: botMeta, meta, customLocale and group.
// It is the zero Object where they do not differ. Another order of fields is no difference; another
// type of number is one.
//
// Only paths that differ are named, so that what another writer changes beside them survives:
// objects are compared field by field, also where before has none, while an array, a scalar and an
// empty object are set whole. An object with a name that cannot stand in a path (one that is empty,
// has a dot or begins with $) is set whole, too, and so are botMeta and meta where the paths would
// need more room than an update has. An empty customLocale or group counts as none, and so does an
// absent object.
//
// The update fits the stored member, unless another writer has replaced an object on the way to a
// path by null, a scalar or an array.
//
// InvalidArgument: an object of after carries an error, is nested too deep or is larger
// than a document may be; or a member is nil.
func Changes(before, after *member.Member) (document.Object, error) {
	if before == nil || after == nil {
		return document.Object{}, boterr.Invalid("", "a member is missing: give the member before and after the run")
	}
	return WrittenBackOf(before).Changes(WrittenBackOf(after))
}

// WrittenBack are the fields of a member that a run of bot logic writes back. What is in them never
// changes, so that it is that of the moment, whatever becomes of the member.
type WrittenBack struct {
	BotMeta, Meta       document.Object
	CustomLocale, Group string
}

// WrittenBackOf returns the fields of a member that are written back.
func WrittenBackOf(m *member.Member) WrittenBack {
	return WrittenBack{BotMeta: m.BotMeta.Object, Meta: m.Meta, CustomLocale: m.CustomLocale, Group: m.Group}
}

// Changes is Changes of members with these fields. What nobody has touched is not compared.
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

// changedObject is a field of a member that is an object.
type changedObject struct {
	name          string
	before, after document.Object
}

// check refuses what no stored member can have.
func (o changedObject) check() error {
	if o.before == o.after {
		return nil
	}
	err := o.after.Err()
	if err == nil { // The member is a level of its own.
		err = document.CheckExtent(document.O(o.name, o.after), document.MaxSize)
	}
	return boterr.PrefixField(o.name, err)
}

// changeList collects what differs between two members.
type changeList struct {
	// path leads to what is compared.
	path []string
	// set holds paths and values in turn, unset paths.
	set   []any
	unset []string
	// length is that of all paths together.
	length int
}

// update returns the update document, the zero Object where there are no changes.
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

// isTooLong reports whether the paths alone fill an update.
func (c *changeList) isTooLong() bool { return c.length > document.MaxSize }

// at calls visit with the path led on to a field.
func (c *changeList) at(name string, visit func()) {
	c.path = append(c.path, name)
	visit()
	c.path = c.path[:len(c.path)-1]
}

// texts compares the fields that are texts.
func (c *changeList) texts(before, after WrittenBack) {
	c.at("customLocale", func() { c.text(before.CustomLocale, after.CustomLocale) })
	c.at("group", func() { c.text(before.Group, after.Group) })
}

// text compares a text, which is none where it is empty.
func (c *changeList) text(before, after string) {
	switch {
	case before == after:
	case after == "":
		c.remove()
	default:
		c.setTo(after)
	}
}

// fields compares the fields of two objects.
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

// value compares a value with the one before, where that is known.
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

// setTo notes a new value.
func (c *changeList) setTo(value any) { c.set = append(c.set, c.name(), value) }

// remove notes that there is no value any more.
func (c *changeList) remove() { c.unset = append(c.unset, c.name()) }

// name returns the path as text. Once the list is too long, its texts do not matter.
func (c *changeList) name() string {
	if c.isTooLong() {
		return ""
	}
	text := strings.Join(c.path, ".")
	c.length += len(text)
	return text
}

// present returns an object, empty where it is absent: a member always has its objects.
func present(o document.Object) document.Object {
	if o.IsZero() {
		return document.O()
	}
	return o
}

// canStandInPath reports whether a path can lead through a field of this name.
func canStandInPath(name string) bool {
	return name != "" && name[0] != '$' && !strings.Contains(name, ".")
}

// hasUnnamableChange reports whether a field differs whose name cannot stand in a path.
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

// isSame reports whether two values are the same but for the order of fields.
func isSame(a, b any) bool {
	switch a := a.(type) {
	case document.Object:
		b, ok := b.(document.Object)
		return ok && (a == b || hasSameFields(a, b))
	case document.Array:
		b, ok := b.(document.Array)
		return ok && (a == b || hasSameItems(a, b))
	case float64: // A negative zero is another value, and NaN is the same.
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
