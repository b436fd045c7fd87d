package engine

import (
	"context"
	"errors"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// Op is a write. It may run several times in one evaluation; only the last run counts.
type Op interface {
	// Run carries out the write in a transaction.
	Run(call *query.Evaluation, t Transaction) error
	// Matches reports whether a document, before or after another write, affects the result of Run.
	Matches(call *query.Evaluation, o document.Object) (bool, error)
	// ID returns the _id of the only document that the write can affect, and whether it is known before the
	// write runs.
	ID() (id any, isKnown bool)
}

// RunMissing runs a write to a collection that does not exist. If the write does not insert, it is done, and the
// collection need not be created. Otherwise inserts is true, and the write must run again in the new collection.
func RunMissing(ctx context.Context, name string, op Op) (inserts bool, err error) {
	err = op.Run(query.NewEvaluation(ctx), missing{name: name})
	if errors.Is(err, errMissing) {
		return true, nil
	}
	return false, err
}

// errMissing ends a write that inserts into a collection that does not exist.
var errMissing = errors.New("the collection does not exist")

// missing is the transaction for a collection that does not exist.
type missing struct{ name string }

var _ Transaction = missing{}

func (m missing) View() View                                           { return EmptyView(m.name) }
func (missing) Insert(document.Object) error                           { return errMissing }
func (missing) Replace(uint64, document.Object, document.Object) error { return errMissing }
func (missing) Remove(uint64, document.Object) error                   { return errMissing }

// Inserting is the write of Insert.
type Inserting struct{ documents []document.Object }

// Run implements Op.
func (w *Inserting) Run(call *query.Evaluation, t Transaction) error {
	for i, o := range w.documents {
		call.Visit(o)
		call.Write()
		err := document.CheckInsert(o)
		if err == nil {
			err = t.Insert(o)
		}
		if err != nil {
			return boterr.PrefixField("["+strconv.Itoa(i)+"]", err)
		}
	}
	return nil
}

// Matches implements Op. Only the keys of other documents affect an insert.
func (*Inserting) Matches(*query.Evaluation, document.Object) (bool, error) { return false, nil }

// ID implements Op.
func (w *Inserting) ID() (id any, isKnown bool) {
	if len(w.documents) != 1 {
		return nil, false
	}
	return w.documents[0].Field(document.IDField)
}

// matched is a write to the documents that match a filter.
type matched struct {
	filter *query.Filter
	// isMany is true for a write on all matching documents. Otherwise the write is on the first one in the order
	// of sort.
	isMany  bool
	sort    *query.Sort
	locking locking
}

// ID implements Op.
func (m *matched) ID() (id any, isKnown bool) {
	if m.isMany || m.sort != nil {
		return nil, false
	}
	return idOf(m.filter)
}

// IsMany implements Many.
func (m *matched) IsMany() bool { return m.isMany }

// Matches implements Op.
func (m *matched) Matches(call *query.Evaluation, o document.Object) (bool, error) {
	matches, err := call.Check(m.filter, o)
	return matches, inParameter("filter", err)
}

// change changes one document. It returns the document after the change, and whether it differs.
func (m *matched) change(
	call *query.Evaluation, t Transaction, change query.Change, found Placed,
) (after document.Object, modified bool, err error) {
	after, modified, err = call.Change(change, m.filter, found.Document)
	if err != nil || !modified {
		return after, false, err
	}
	if err := document.CheckExtent(after, document.MaxSize); err != nil {
		return after, false, boterr.PrefixField("update", err)
	}
	return after, true, inParameter("update", t.Replace(found.Position, found.Document, after))
}

// upsert inserts the document that results from the filter and the change.
func (m *matched) upsert(call *query.Evaluation, t Transaction, change query.Change) (document.Object, error) {
	o, err := call.Insert(change, m.filter)
	if err == nil {
		err = inParameter("update", document.CheckInsert(o))
	}
	if err != nil {
		return o, err
	}
	return o, inParameter("update", t.Insert(o))
}

// Updating is the write of Update.
type Updating struct {
	matched

	change  query.Change
	options store.UpdateOptions
	result  store.UpdateResult
}

// Run implements Op.
func (w *Updating) Run(call *query.Evaluation, t Transaction) (err error) {
	w.result = store.UpdateResult{}
	if w.isMany {
		err = w.each(call, t, func(found Placed) error { return w.update(call, t, found) })
	} else {
		err = w.updateFirst(call, t)
	}
	if err == nil && w.result.Matched == 0 && w.options.Upsert {
		var inserted document.Object
		inserted, err = w.upsert(call, t, w.change)
		w.result.UpsertedID, _ = inserted.Field(document.IDField)
	}
	return err
}

func (w *Updating) updateFirst(call *query.Evaluation, t Transaction) error {
	found, ok, err := w.first(call, t, &w.change)
	if err != nil || !ok {
		return err
	}
	return w.update(call, t, found)
}

func (w *Updating) update(call *query.Evaluation, t Transaction, found Placed) error {
	_, modified, err := w.matched.change(call, t, w.change, found)
	w.result.Matched++
	if modified {
		w.result.Modified++
	}
	return err
}

// Modifying is the write of FindAndModify.
type Modifying struct {
	matched

	change  query.Change
	options store.FindAndModifyOptions
	result  store.FindAndModifyResult
}

// Run implements Op.
func (w *Modifying) Run(call *query.Evaluation, t Transaction) (err error) {
	w.result = store.FindAndModifyResult{}
	found, ok, err := w.first(call, t, &w.change)
	if err != nil {
		return err
	}
	var after document.Object
	switch {
	case ok:
		w.result.Document, w.result.Matched = found.Document, true
		after, w.result.Modified, err = w.matched.change(call, t, w.change, found)
	case w.options.Upsert:
		after, err = w.upsert(call, t, w.change)
		w.result.UpsertedID, _ = after.Field(document.IDField)
	}
	if err != nil {
		return err
	}
	if w.options.New {
		w.result.Document = after
	}
	w.result.Document, err = projected(call, w.result.Document, w.filter, w.options.Projection)
	return err
}

// projected applies a projection to a document. It returns the zero Object unchanged.
func projected(
	call *query.Evaluation, o document.Object, filter *query.Filter, projection *query.Projection,
) (document.Object, error) {
	if o.IsZero() {
		return o, nil
	}
	o, err := call.Project(projection, filter, o)
	return o, boterr.PrefixField("projection", err)
}

// Deleting is the write of Delete.
type Deleting struct {
	matched

	removed int64
}

// Run implements Op.
func (w *Deleting) Run(call *query.Evaluation, t Transaction) error {
	w.removed = 0
	if w.isMany {
		return w.each(call, t, func(found Placed) error { return w.remove(call, t, found) })
	}
	found, ok, err := w.first(call, t, nil)
	if err != nil || !ok {
		return err
	}
	return w.remove(call, t, found)
}

func (w *Deleting) remove(call *query.Evaluation, t Transaction, found Placed) error {
	call.Write()
	w.removed++
	return t.Remove(found.Position, found.Document)
}

// Many is a write that a database may carry out document by document. First the database runs the write in a
// Transaction that only records the matching documents. Then it calls Apply for each of them.
type Many interface {
	Op

	// IsMany reports whether the write changes all matching documents.
	IsMany() bool
	// Apply carries out the write on the current version of one document, and corrects the result if the
	// document no longer matches. The zero Object means that the document was removed.
	Apply(call *query.Evaluation, t Transaction, now Placed) error
}

var (
	_ Many = (*Updating)(nil)
	_ Many = (*Deleting)(nil)
)

// Apply implements Many.
func (w *Updating) Apply(call *query.Evaluation, t Transaction, now Placed) error {
	matches, err := w.stillMatches(call, now)
	if err != nil {
		return err
	}
	if !matches {
		w.result.Matched--
		w.result.Modified--
		return nil
	}
	_, modified, err := w.matched.change(call, t, w.change, now)
	if !modified {
		w.result.Modified--
	}
	return err
}

// Apply implements Many.
func (w *Deleting) Apply(call *query.Evaluation, t Transaction, now Placed) error {
	matches, err := w.stillMatches(call, now)
	if err != nil {
		return err
	}
	if !matches {
		w.removed--
		return nil
	}
	return t.Remove(now.Position, now.Document)
}

// Partly adds the number of written documents to the error of a write in parts. Its code is Unavailable or Canceled,
// because every other code means that nothing was written.
func Partly(written, all int, err error) error {
	e, ok := boterr.AsError(err)
	if written == 0 || !ok {
		return err
	}
	code := boterr.Unavailable
	if e.Code == boterr.Canceled {
		code = boterr.Canceled
	}
	return boterr.New(code, e.Field, "%d of %d documents were already written, and stay written: %w", written, all, err)
}

func (m *matched) stillMatches(call *query.Evaluation, now Placed) (bool, error) {
	if now.Document.IsZero() {
		return false, nil
	}
	return m.Matches(call, now.Document)
}
