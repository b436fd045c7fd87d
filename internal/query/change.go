package query

import (
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Change is a change of a document: the caller's update, and what the layer above the store adds.
type Change struct {
	// Update is the caller's update.
	Update *Update
	// Now is the time that $currentDate writes.
	Now time.Time
	// Fixed are the fields that no update can change; _id is always fixed. A replacement without a fixed field
	// keeps its value. An update that would give it another value fails with InvalidArgument.
	Fixed []string
	// Stamps are fields that are renewed in each document in which the update changes another field. Changes
	// that the caller's update makes to them have no effect and do not count as a change.
	Stamps Stamps
	// OnInsert are fields that an upsert adds to the document that it inserts. If the filter or the update also
	// gives a field, the caller's value is kept, unless the field is stamped; for a fixed field, a different
	// value is InvalidArgument. OnInsert gives the _id if neither filter nor update does.
	OnInsert document.Object
}

// Stamps are the fields that identify the version of a document.
type Stamps struct {
	// Set are fields that get a new value, such as updatedAt and etag.
	Set document.Object
	// Increment are the names of fields to increment by one, such as _version. A field that is missing or not a
	// number becomes 1. An upserted document only has such a field if OnInsert has it.
	Increment []string
}

// Check returns InvalidArgument for a change that cannot be applied to any document.
func (c Change) Check() error {
	if c.Update.isMissing() {
		return boterr.Invalid("update", "an update is required")
	}
	if err := c.Stamps.Set.Err(); err != nil {
		return boterr.PrefixField("stamps", err)
	}
	for from, to := range document.Get(c.Update.source, "$rename", document.Object{}).All() {
		if to, _ := to.(string); !c.Update.IsReplacement() && c.isStamped(to) {
			return boterr.Invalid("update.$rename."+from, "each change sets %s and would overwrite the moved value; rename to another field", to)
		}
	}
	return boterr.PrefixField("onInsert", c.OnInsert.Err())
}

// Change applies a change to a document that filter matches. modified is true if the document differs
// afterwards, and always for a replacement without _id, as in MongoDB.
// The Field of an error is "update" followed by the path in the document.
func (e *Evaluation) Change(change Change, filter *Filter, before document.Object) (after document.Object, modified bool, err error) {
	e.Write()
	e.budget.spend(change.Update.work())
	after, modified, err = change.applied(e, filter, before)
	grown := grownBy(before, after)
	e.budget.keep(grown)
	e.budget.spend(grown * growthWork)
	if e.budget.failure != nil {
		return document.Object{}, false, e.budget.failure
	}
	return after, modified, boterr.PrefixField("update", err)
}

func (c Change) applied(e *Evaluation, filter *Filter, before document.Object) (after document.Object, modified bool, err error) {
	if c.Update.isMissing() {
		return before, false, boterr.Invalid("", "an update is required")
	}
	e.updating = updateRun{call: e, document: before, now: c.Now}
	run := &e.updating
	if c.Update.usesPosition {
		if run.position, err = e.positionOf(filter, before); err != nil {
			return document.Object{}, false, err
		}
	}
	if c.Update.IsReplacement() {
		return c.replaced(e, before)
	}
	edit := document.NewEdit(before, e.shapes)
	if err := c.Update.tree.editFields(&edit, run); err != nil {
		return document.Object{}, false, err
	}
	for field, value := range edit.Changes() {
		if c.isFixed(field) && !document.Equal(before.Value(field), value) {
			return document.Object{}, false, boterr.Invalid(field, fixedField)
		}
	}
	// Replacing a fixed 1 by 1.0 is not a change.
	edit.Withdraw(func(field string) bool { return c.isFixed(field) || c.isStamped(field) })
	if edit.IsEmpty() {
		return before, false, before.Err()
	}
	return c.stamped(&edit)
}

// replaced applies a replacement. The fixed and stamped fields of before keep their order and come before the
// others, so that replacing a document by an equal one changes nothing.
func (c Change) replaced(e *Evaluation, before document.Object) (document.Object, bool, error) {
	replacement := c.Update.source
	b := document.NewBuilder(before.Len() + replacement.Len())
	for field, value := range before.All() {
		if c.isFixed(field) || c.isStamped(field) {
			b.Set(field, value)
		}
	}
	for field, value := range replacement.All() {
		switch {
		case c.isStamped(field):
		case !c.isFixed(field):
			b.Set(field, value)
		case !document.Equal(before.Value(field), value):
			return document.Object{}, false, boterr.Invalid(field, fixedField)
		}
	}
	after := b.Object()
	if document.Identical(before, after) {
		return before, !replacement.Has(document.IDField), nil // As in MongoDB, one without _id counts as a change.
	}
	edit := document.NewEdit(after, e.shapes)
	return c.stamped(&edit)
}

// stamped sets the stamps in a document that differs from the one before.
func (c Change) stamped(edit *document.Edit) (document.Object, bool, error) {
	for field, value := range c.Stamps.Set.All() {
		edit.Set(field, value)
	}
	for _, field := range c.Stamps.Increment {
		edit.Set(field, nextVersion(edit.Value(field)))
	}
	after := edit.Object()
	return after, true, after.Err()
}

func (c Change) isFixed(field string) bool {
	return field == document.IDField || slices.Contains(c.Fixed, field)
}

func (c Change) isStamped(field string) bool {
	_, ok := c.Stamps.Set.Field(field)
	return ok || slices.Contains(c.Stamps.Increment, field)
}

const fixedField = "the field is fixed and cannot be changed"

// nextVersion returns version plus one, or 1 if version is not a number.
func nextVersion(version any) any {
	if _, isNumber := document.FloatNumber(version); isNumber {
		if next, ok := addNumbers(version, int64(1)); ok {
			return next
		}
	}
	return int64(1)
}

// Insert returns the document that an upsert inserts if nothing matches: the values that the filter requires,
// changed by the update and completed by OnInsert. The Field of an error is "filter" or "update" followed by a
// path.
func (e *Evaluation) Insert(change Change, filter *Filter) (document.Object, error) {
	e.budget.spend(change.Update.work())
	o, err := change.insert(e, filter)
	e.budget.keep(grownBy(document.Object{}, o))
	if e.budget.failure != nil {
		return document.Object{}, e.budget.failure
	}
	return o, err
}

func (c Change) insert(e *Evaluation, filter *Filter) (document.Object, error) {
	if c.Update.isMissing() {
		return document.Object{}, boterr.Invalid("update", "an update is required")
	}
	base, err := c.requiredFields(e, filter)
	if err != nil {
		return document.Object{}, boterr.PrefixField("filter", err)
	}
	after, err := c.inserted(e, base)
	if err != nil {
		return after, boterr.PrefixField("update", err)
	}
	return c.completed(base, after)
}

// inserted applies the update to the fields that the filter requires.
func (c Change) inserted(e *Evaluation, base document.Object) (document.Object, error) {
	run := updateRun{call: e, document: base, inserting: true, now: c.Now}
	after, err := c.Update.apply(&run)
	if err != nil {
		return document.Object{}, err
	}
	if id, ok := base.Field(document.IDField); ok {
		if !after.Has(document.IDField) && c.Update.IsReplacement() {
			after = after.Put(document.IDField, id)
		}
		if !document.Equal(id, after.Value(document.IDField)) {
			return document.Object{}, boterr.Invalid(document.IDField, fixedField)
		}
	}
	return after, nil
}

// requiredFields makes an object of the values that a filter requires. For a replacement it has only the _id.
func (c Change) requiredFields(e *Evaluation, filter *Filter) (document.Object, error) {
	if filter == nil {
		return document.O(), nil
	}
	required := newUpdateCompiler(document.Object{}, arrayFilterSet{})
	values := map[string]any{}
	for _, e := range filter.equalities {
		if c.Update.IsReplacement() && strings.HasPrefix(e.path, document.IDField+".") {
			return document.O(), boterr.Invalid(e.path, "a new document needs its whole _id, and this is only a part of it")
		}
		if c.Update.IsReplacement() && e.path != document.IDField {
			continue
		}
		if known, ok := values[e.path]; ok && document.Identical(known, e.value) {
			continue
		}
		values[e.path] = e.value
		if err := required.add(e.path, set{}, e.value); err != nil {
			return document.O(), boterr.Invalid(e.path, "the filter requires two values here, so no document can be made from it")
		}
	}
	required.update.tree.sort()
	return required.update.apply(&updateRun{call: e, document: document.O()})
}

// completed adds OnInsert and the stamps to the document that an upsert inserts. The order is _id, the fields
// of OnInsert, then the caller's fields.
func (c Change) completed(required, o document.Object) (document.Object, error) {
	b := document.NewBuilder(o.Len() + c.OnInsert.Len())
	if id, ok := o.Field(document.IDField); ok {
		b.Set(document.IDField, id)
	}
	for field, value := range c.OnInsert.All() {
		given, ok := o.Field(field)
		switch {
		case !ok || c.isStamped(field):
			b.Set(field, value)
		case c.isFixed(field) && field != document.IDField && !document.Equal(given, value):
			refusal := boterr.Invalid(field, "a new document gets its own value, not %s; leave the field out", document.Excerpt(given))
			return document.Object{}, boterr.PrefixField(giverOf(field, required, o), refusal)
		default:
			b.Set(field, given)
		}
	}
	for field, value := range o.All() {
		if _, ok := c.OnInsert.Field(field); !ok && !c.isStamped(field) {
			b.Set(field, value)
		}
	}
	for field, value := range c.Stamps.Set.All() {
		if _, ok := c.OnInsert.Field(field); !ok {
			b.Set(field, value)
		}
	}
	o = b.Object()
	return o, boterr.PrefixField("update", o.Err())
}

// giverOf returns the parameter that set a field of an upsert's document: "filter" if the update did not change
// the field, else "update".
func giverOf(field string, required, made document.Object) string {
	if required.Has(field) && document.Identical(required.Value(field), made.Value(field)) {
		return "filter"
	}
	return "update"
}
