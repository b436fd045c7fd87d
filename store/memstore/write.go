package memstore

import (
	"context"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// Insert implements store.Collection. The field of an error begins with the
// number of the document at fault: "[2]._id".
func (c *collection) Insert(ctx context.Context, documents ...document.Object) error {
	return c.write(ctx, &inserting{documents: documents})
}

type inserting struct {
	attempted

	documents []document.Object
}

func (w *inserting) run(call *query.Evaluation, t *transaction) error {
	for i, o := range w.documents {
		call.Visit(o)
		if err := t.insert(o); err != nil {
			return boterr.PrefixField("["+strconv.Itoa(i)+"]", err)
		}
	}
	return nil
}

func (*inserting) matches(*query.Evaluation, document.Object) (bool, error) { return false, nil }

// matched is program.matches for a write on what a filter matches.
type matched struct {
	attempted

	filter *query.Filter
}

func (m *matched) matches(call *query.Evaluation, o document.Object) (bool, error) {
	matches, err := call.Check(m.filter, o)
	return matches, inParameter("filter", err)
}

func (c *collection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	if err := options.Check(change); err != nil {
		return store.UpdateResult{}, err
	}
	w := &updating{matched: matched{filter: c.at(filter)}, change: change, options: options}
	if err := c.write(ctx, w); err != nil {
		return store.UpdateResult{}, err
	}
	return w.result, nil
}

type updating struct {
	matched

	change  query.Change
	options store.UpdateOptions
	result  store.UpdateResult
}

func (w *updating) run(call *query.Evaluation, t *transaction) (err error) {
	if w.options.Multi {
		w.result, err = t.updateAll(call, w.filter, w.change)
	} else {
		w.result, err = t.updateFirst(call, w.filter, w.change, w.options.Sort)
	}
	if err == nil && w.result.Matched == 0 && w.options.Upsert {
		var inserted document.Object
		inserted, err = t.upsert(call, w.filter, w.change)
		w.result.UpsertedID, _ = inserted.Field(document.IDField)
	}
	return err
}

// updateAll changes all documents that match. Which ones do is judged by what
// stood there before the update.
func (t *transaction) updateAll(
	call *query.Evaluation, filter *query.Filter, change query.Change,
) (result store.UpdateResult, err error) {
	ended := t.before.visit(call, filter, func(position uint64, o document.Object) bool {
		var modified bool
		_, modified, err = t.change(call, filter, change, placed{document: o, position: position})
		result.Matched++
		if modified {
			result.Modified++
		}
		return err == nil
	})
	if err == nil {
		err = ended
	}
	return result, err
}

// updateFirst changes the first document that matches.
func (t *transaction) updateFirst(
	call *query.Evaluation, filter *query.Filter, change query.Change, sort *query.Sort,
) (result store.UpdateResult, err error) {
	found, ok, err := t.before.first(call, filter, sort)
	if err != nil || !ok {
		return result, err
	}
	_, modified, err := t.change(call, filter, change, found)
	result.Matched = 1
	if modified {
		result.Modified = 1
	}
	return result, err
}

// change changes one document, and returns what it is afterwards and whether that
// differs.
func (t *transaction) change(
	call *query.Evaluation, filter *query.Filter, change query.Change, found placed,
) (after document.Object, modified bool, err error) {
	after, modified, err = call.Change(change, filter, found.document)
	if err != nil || !modified {
		return after, false, err
	}
	if err := document.CheckExtent(after, document.MaxSize); err != nil {
		return after, false, boterr.PrefixField("update", err)
	}
	return after, true, inParameter("update", t.replace(found.position, found.document, after))
}

// upsert inserts the document that filter and change make.
func (t *transaction) upsert(
	call *query.Evaluation, filter *query.Filter, change query.Change,
) (document.Object, error) {
	o, err := call.Insert(change, filter)
	if err != nil {
		return o, err
	}
	return o, inParameter("update", t.insert(o))
}

func (c *collection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	if err := options.Check(change); err != nil {
		return store.FindAndModifyResult{}, err
	}
	w := &modifying{matched: matched{filter: c.at(filter)}, change: change, options: options}
	if err := c.write(ctx, w); err != nil {
		return store.FindAndModifyResult{}, err
	}
	return w.result, nil
}

type modifying struct {
	matched

	change  query.Change
	options store.FindAndModifyOptions
	result  store.FindAndModifyResult
}

func (w *modifying) run(call *query.Evaluation, t *transaction) (err error) {
	if w.result, err = t.findAndModify(call, w.filter, w.change, w.options); err == nil {
		w.result.Document, err = projected(call, w.result.Document, w.filter, w.options.Projection)
	}
	return err
}

// projected returns what a projection leaves of a document, which may be absent.
func projected(
	call *query.Evaluation, o document.Object, filter *query.Filter, projection *query.Projection,
) (document.Object, error) {
	if o.IsZero() {
		return o, nil
	}
	o, err := call.Project(projection, filter, o)
	return o, boterr.PrefixField("projection", err)
}

func (t *transaction) findAndModify(
	call *query.Evaluation, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (result store.FindAndModifyResult, err error) {
	found, ok, err := t.before.first(call, filter, options.Sort)
	if err != nil {
		return result, err
	}
	var after document.Object
	switch {
	case ok:
		result.Document, result.Matched = found.document, true
		after, result.Modified, err = t.change(call, filter, change, found)
	case options.Upsert:
		after, err = t.upsert(call, filter, change)
		result.UpsertedID, _ = after.Field(document.IDField)
	}
	if options.New {
		result.Document = after
	}
	return result, err
}

func (c *collection) Delete(
	ctx context.Context, filter *query.Filter, options store.DeleteOptions,
) (int64, error) {
	w := &deleting{matched: matched{filter: c.at(filter)}, options: options}
	if err := c.write(ctx, w); err != nil {
		return 0, err
	}
	return w.removed, nil
}

type deleting struct {
	matched

	options store.DeleteOptions
	removed int64
}

func (w *deleting) run(call *query.Evaluation, t *transaction) (err error) {
	w.removed = 0
	if !w.options.Multi {
		found, ok, err := t.before.first(call, w.filter, nil)
		if err != nil || !ok {
			return err
		}
		w.removed = 1
		return t.remove(found.position, found.document)
	}
	ended := t.before.visit(call, w.filter, func(position uint64, o document.Object) bool {
		w.removed++
		err = t.remove(position, o)
		return err == nil
	})
	if err == nil {
		err = ended
	}
	return err
}
