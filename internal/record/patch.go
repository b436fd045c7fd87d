package record

import (
	"context"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Patch is a change of records by a caller.
type Patch struct {
	Filter document.Object
	// Patch is an update document or a replacement if WithModifier is true, and otherwise has the fields to set.
	Patch        document.Object
	WithModifier bool
	ArrayFilters []document.Object
	SortBy       document.Object
	Upsert       bool
	// Multi changes all matching records. FindAndModify ignores it.
	Multi bool
	// Projection selects the fields of the record that FindAndModify returns. Update ignores it.
	Projection document.Object
}

// Update changes the first matching record, or all matching records if Multi is true.
func (c *Collection) Update(ctx context.Context, p Patch) (store.UpdateResult, error) {
	compiled, err := c.compile(p)
	if err != nil {
		return store.UpdateResult{}, err
	}
	if p.Multi && compiled.change.Update.IsReplacement() {
		return store.UpdateResult{}, boterr.Invalid("patch", "is a replacement of one record: to change several, use operators such as $set")
	}
	result, err := c.stored.Update(ctx, compiled.filter, compiled.change, store.UpdateOptions{
		Multi: p.Multi, Sort: compiled.sort, Upsert: p.Upsert,
	})
	return result, patchError(err)
}

// FindAndModify atomically changes the first matching record. It returns the record before the change, or after it if
// returnNew is true.
func (c *Collection) FindAndModify(ctx context.Context, p Patch, returnNew bool) (store.FindAndModifyResult, error) {
	compiled, err := c.compile(p)
	if err != nil {
		return store.FindAndModifyResult{}, err
	}
	projection, err := c.projection(p.Projection)
	if err != nil {
		return store.FindAndModifyResult{}, err
	}
	result, err := c.stored.FindAndModify(ctx, compiled.filter, compiled.change, store.FindAndModifyOptions{
		Sort: compiled.sort, Upsert: p.Upsert, New: returnNew, Projection: projection,
	})
	return result, patchError(err)
}

// Delete removes the matching records and returns their number.
func (c *Collection) Delete(ctx context.Context, filter document.Object) (int64, error) {
	compiled, err := c.filter(filter)
	if err != nil {
		return 0, err
	}
	deleted, err := c.stored.Delete(ctx, compiled, store.DeleteOptions{Multi: true})
	return deleted, err
}

// compiledPatch is a compiled Patch, narrowed to the scope.
type compiledPatch struct {
	filter *query.Filter
	sort   *query.Sort
	change query.Change
}

func (c *Collection) compile(p Patch) (compiledPatch, error) {
	filter, err := c.filter(p.Filter)
	if err != nil {
		return compiledPatch{}, err
	}
	sort, err := c.sort(p.SortBy)
	if err != nil {
		return compiledPatch{}, err
	}
	update, err := c.update(p)
	if err != nil {
		return compiledPatch{}, err
	}
	change := c.change(update)
	if p.Upsert {
		id, _ := filter.Equality(FieldID)
		change.OnInsert = c.onInsert(id)
	}
	return compiledPatch{filter: filter, sort: sort, change: change}, nil
}

func (c *Collection) update(p Patch) (*query.Update, error) {
	if p.Patch.IsZero() {
		return nil, boterr.Missing("patch", adviceOf(p))
	}
	source, prefix := p.Patch, ""
	if !p.WithModifier {
		if err := requireFields(p.Patch); err != nil {
			return nil, err
		}
		source, prefix = document.O("$set", p.Patch), "$set"
	}
	update, err := query.CompileUpdate(source, p.ArrayFilters...)
	if err == nil {
		return update, nil
	}
	if e, ok := boterr.AsError(err); ok && strings.HasPrefix(e.Field, "arrayFilters") {
		return nil, err
	}
	return nil, boterr.PrefixField("patch", withoutPrefix(err, prefix))
}

// adviceOf returns the remedy for an invalid patch.
func adviceOf(p Patch) string {
	if p.WithModifier {
		return `an update, such as {"$set": {"name": "Ada"}}; fields without an operator replace the whole record`
	}
	return "the fields to set"
}

// requireFields returns an error for operators in a patch of fields to set. If nothing matched, a store would
// ignore them, or an upsert would insert them as fields.
func requireFields(patch document.Object) error {
	for name := range patch.All() {
		if strings.HasPrefix(name, "$") {
			err := boterr.Invalid(name, "looks like an operator, but without withModifier a patch has only fields to set; set withModifier")
			return boterr.PrefixField("patch", err)
		}
	}
	return nil
}

// change returns an update as a change of records, with the fixed fields and stamps.
func (c *Collection) change(update *query.Update) query.Change {
	now := c.now()
	change := query.Change{
		Update: update,
		Now:    now,
		Fixed:  c.fixed(),
	}
	if i := slices.Index(c.schema.Stamps, FieldVersion); i >= 0 {
		change.Stamps.Increment = c.schema.Stamps[i : i+1 : i+1]
	}
	renewed := c.schema.renewed()
	change.Stamps.Set = renewed.Object(func(i int) any {
		if renewed.Names()[i] == FieldEtag {
			return c.newEtag()
		}
		return int64(document.TimestampOf(now))
	})
	return change
}

// fixed returns the fields that no update can change, without _id.
func (c *Collection) fixed() []string {
	if c.schema.fixes(c.scope()) {
		return c.schema.Fixed
	}
	fixed := make([]string, 0, 1+len(c.schema.Fixed)+len(c.scope()))
	fixed = append(append(fixed, FieldCreatedAt), c.schema.Fixed...)
	for _, scoped := range c.scope() {
		fixed = append(fixed, scoped.Name)
	}
	return fixed
}

// patchError renames the parameters in a store's error to fields of a Patch.
func patchError(err error) error {
	return RenameField(RenameField(err, "update", "patch"), "sort", "sortBy")
}

// withoutPrefix removes the first part of the error's field.
func withoutPrefix(err error, prefix string) error {
	e, ok := boterr.AsError(err)
	if !ok || prefix == "" || !strings.HasPrefix(e.Field, prefix) {
		return err
	}
	cut := *e
	cut.Field = strings.TrimPrefix(strings.TrimPrefix(e.Field, prefix), ".")
	return &cut
}
