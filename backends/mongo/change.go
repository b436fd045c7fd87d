package mongo

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"golang.org/x/sync/errgroup"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// first is a call that changes the first document that matches a filter.
type first struct {
	// call is the budget of the call for work in this process.
	call   *query.Evaluation
	filter *query.Filter
	change query.Change
	sort   *query.Sort
	upsert bool
	// documents is true if the caller wants the document, with the projection. The caller gets the document as
	// it was before the change, or the changed document if after is true.
	documents  bool
	after      bool
	projection *query.Projection
}

func (c *collection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, opts store.UpdateOptions,
) (store.UpdateResult, error) {
	var result store.UpdateResult
	if err := c.checkChange(ctx, change, opts.Check(change)); err != nil {
		return result, err
	}
	f := first{call: query.NewEvaluation(ctx), filter: filter, change: change, upsert: opts.Upsert}
	if opts.Multi && !isPinned(filter) {
		return c.updateAll(ctx, f)
	}
	f.sort = opts.Sort
	changed, err := c.changeFirst(ctx, f)
	if err != nil {
		return result, err
	}
	return store.UpdateResult{
		Matched: counted[changed.Matched], Modified: counted[changed.Modified], UpsertedID: changed.UpsertedID,
	}, nil
}

func (c *collection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, opts store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	if err := c.checkChange(ctx, change, opts.Check(change)); err != nil {
		return store.FindAndModifyResult{}, err
	}
	return c.changeFirst(ctx, first{
		call: query.NewEvaluation(ctx), filter: filter, change: change, sort: opts.Sort, upsert: opts.Upsert,
		documents: true, after: opts.New, projection: opts.Projection,
	})
}

// checkChange returns an error if a change must not start. invalid is the error of its options.
func (c *collection) checkChange(ctx context.Context, change query.Change, invalid error) error {
	if invalid != nil {
		return invalid
	}
	if err := checkUpdatePaths(change.Update); err != nil {
		return boterr.PrefixField("update", err)
	}
	return c.check(ctx)
}

// checkUpdatePaths returns InvalidArgument for an update of the hidden field.
func checkUpdatePaths(update *query.Update) error {
	for key, operand := range update.Source().All() {
		if isHidden(key) {
			return reserved(key)
		}
		paths, _ := operand.(document.Object)
		for path, argument := range paths.All() {
			to, _ := argument.(string)
			if strings.HasPrefix(key, "$") && (isHidden(path) || key == "$rename" && isHidden(to)) {
				return boterr.PrefixField(key, reserved(path))
			}
		}
	}
	return nil
}

// changeFirst changes the first matching document. If there is a plan, the server changes it in one command.
// Otherwise this process reads the document, computes the change, and writes it if the document has not changed
// meanwhile.
func (c *collection) changeFirst(ctx context.Context, f first) (store.FindAndModifyResult, error) {
	p, ok := planned(f.filter, f.change)
	if !ok || f.filter.Near() != nil || !isPlainProjection(f.projection) {
		return c.changeRead(ctx, f)
	}
	result, outcome, err := c.changeByPlan(ctx, f, p)
	for lost := 1; err == nil && outcome == isOvertaken; lost++ {
		if err = backOff(ctx, lost); err == nil {
			result, outcome, err = c.changeByPlan(ctx, f, p)
		}
	}
	if err != nil || outcome == isDone {
		return result, err
	}
	if outcome == isOpen || !f.upsert {
		return c.changeRead(ctx, f)
	}
	result, err = c.insertUpsert(ctx, f) // Probably there is no such document.
	if err != nil && isRefusedInsert(err) {
		return c.changeRead(ctx, f)
	}
	return result, err
}

// isRefusedInsert reports whether the server refused to insert the document of an upsert, because the document
// already exists or because of its content. The error does not matter if another document matches the filter by
// now.
func isRefusedInsert(err error) bool {
	code := boterr.CodeOf(err)
	return code == boterr.AlreadyExists || code == boterr.InvalidArgument
}

// outcome is the result of a plan.
type outcome int

const (
	// isDone: the document was changed, or no document matches.
	isDone outcome = iota
	// isMissing: no document matches the filter and the plan's condition.
	isMissing
	// isOpen: the server refused the change. Reading the document shows why.
	isOpen
	// isOvertaken: another client changed the document first, but another document matches.
	isOvertaken
)

// isPlainProjection reports whether a projection can never fail. A failure would come too late, after the
// change.
func isPlainProjection(projection *query.Projection) bool {
	if projection == nil {
		return true
	}
	for path, value := range projection.Source().All() {
		if _, isPath := value.(string); isPath || !isScalar(value) || strings.Contains(path, "$") {
			return false
		}
	}
	return true
}

// changeByPlan sends the plan's update to the server.
func (c *collection) changeByPlan(
	ctx context.Context, f first, p plan,
) (result store.FindAndModifyResult, _ outcome, err error) {
	where, err := p.where(f.filter)
	if err != nil {
		return result, isOpen, err
	}
	if err := store.Refusal(ctx); err != nil {
		return result, isOpen, err
	}
	var seen found
	if isPinned(f.filter) && !f.documents {
		result.Matched, err = c.updateOne(ctx, where, p.update)
	} else {
		seen, result.Matched, err = c.findOneAndUpdate(ctx, f, where, p.update)
	}
	switch {
	case err != nil && isRefused(f.filter, err):
		return store.FindAndModifyResult{}, isOpen, nil
	case err != nil:
		return store.FindAndModifyResult{}, isOpen, failure(ctx, f.filter, err)
	case result.Matched:
		result.Modified = true
		if f.documents {
			result.Document, err = projected(f.call, seen.document, f.filter, f.projection)
		}
		return result, isDone, err
	case !isPinned(f.filter):
		outcome, err := c.missing(ctx, f, where)
		return result, outcome, err
	case p.condition.IsZero() && !f.upsert:
		return result, isDone, nil
	default:
		return result, isMissing, nil
	}
}

// missing returns the outcome of a change that found no document.
func (c *collection) missing(ctx context.Context, f first, where any) (outcome, error) {
	isThere, err := c.matches(ctx, f.filter, where)
	switch {
	case err != nil:
		return isOpen, err
	case isThere:
		return isOvertaken, nil
	case f.upsert:
		return isMissing, nil
	default:
		return isDone, nil
	}
}

func (c *collection) updateOne(ctx context.Context, where any, update bson.Raw) (matched bool, err error) {
	result, err := c.stored.UpdateOne(ctx, where, update)
	return err == nil && result.MatchedCount == 1, err
}

// findOneAndUpdate changes one document. result is the document that the caller wants, if it wants one.
func (c *collection) findOneAndUpdate(
	ctx context.Context, f first, where any, update bson.Raw,
) (result found, matched bool, err error) {
	set := options.FindOneAndUpdate().SetReturnDocument(options.Before)
	if f.after {
		set.SetReturnDocument(options.After)
	}
	order, err := sorting(f.filter, f.sort)
	if err != nil {
		return result, false, err
	}
	if order != nil {
		set.SetSort(order)
	}
	b, err := c.stored.FindOneAndUpdate(ctx, where, update, set).Raw()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return result, false, nil
	}
	if err != nil {
		return result, false, err
	}
	if !f.documents {
		return result, true, nil
	}
	result, err = c.read(b)
	return result, err == nil, err
}

// changeRead reads the first matching document, computes the change, and replaces the document if it has not
// changed on the server. If it has changed, changeRead starts again with the first document that matches then.
func (c *collection) changeRead(ctx context.Context, f first) (store.FindAndModifyResult, error) {
	var clash error
	for lost := 0; ; {
		results, err := c.newest().find(ctx, f.filter, store.FindOptions{Sort: f.sort, Limit: 1})
		switch {
		case err != nil:
			return store.FindAndModifyResult{}, err
		case len(results) > 0:
			result, isDone, err := c.replace(ctx, f, results[0])
			if err != nil || isDone {
				return result, err
			}
			lost++
			if err := backOff(ctx, lost); err != nil {
				return store.FindAndModifyResult{}, err
			}
		case !f.upsert:
			return store.FindAndModifyResult{}, nil
		case clash != nil: // There is a document with this key, but it does not match.
			return store.FindAndModifyResult{}, clash
		default:
			result, err := c.insertUpsert(ctx, f)
			if boterr.CodeOf(err) != boterr.AlreadyExists {
				return result, err
			}
			clash = err
		}
	}
}

// insertUpsert inserts the document of an upsert that matches nothing.
func (c *collection) insertUpsert(ctx context.Context, f first) (result store.FindAndModifyResult, err error) {
	o, err := f.call.Insert(f.change, f.filter)
	if err != nil {
		return result, err
	}
	shown, err := projected(f.call, o, f.filter, f.projection)
	if err != nil {
		return result, err
	}
	if f.after {
		result.Document = shown
	}
	result.UpsertedID, _ = o.Field(document.IDField)
	b, err := newDocument(o, hidden{order: c.store.order.take(1), revision: bson.NewObjectID()})
	if err != nil {
		return store.FindAndModifyResult{}, err
	}
	if err := store.Refusal(ctx); err != nil {
		return store.FindAndModifyResult{}, err
	}
	if _, err := c.stored.InsertOne(ctx, b); err != nil {
		return store.FindAndModifyResult{}, failure(ctx, nil, err)
	}
	return result, nil
}

// replace computes the change of a document that was read, and writes it. It returns false if the document has
// changed on the server.
func (c *collection) replace(
	ctx context.Context, f first, before found,
) (result store.FindAndModifyResult, isDone bool, err error) {
	f.call.Visit(before.document)
	if err := f.call.CheckSort(f.sort, before.document); err != nil {
		return result, false, boterr.PrefixField("sort", err)
	}
	after, modified, err := f.call.Change(f.change, f.filter, before.document)
	if err != nil {
		return result, false, err
	}
	result.Matched, result.Modified, result.Document = true, modified, before.document
	if f.after {
		result.Document = after
	}
	if result.Document, err = projected(f.call, result.Document, f.filter, f.projection); err != nil {
		return store.FindAndModifyResult{}, false, err
	}
	if after == before.document {
		return result, true, nil
	}
	isDone, _, err = c.put(ctx, edit{before: before, after: after, revision: bson.NewObjectID()})
	if err != nil {
		return store.FindAndModifyResult{}, false, err
	}
	return result, isDone, nil
}

// put replaces a document if it has not changed on the server, and reports whether it did. mayBe is true if the server
// may have replaced it although there is an error.
func (c *collection) put(ctx context.Context, e edit) (isWritten, mayBe bool, err error) {
	where, b, err := c.replacement(e.before, e.after, e.revision)
	if err == nil {
		err = store.Refusal(ctx)
	}
	if err != nil {
		return false, false, err
	}
	result, err := c.stored.ReplaceOne(ctx, where, b)
	if err != nil {
		return false, !isDuplicate(err), failure(ctx, nil, err)
	}
	return result.MatchedCount == 1, false, nil
}

// replacement returns the new document for the server, and a filter that matches the old one if it has not
// changed.
func (c *collection) replacement(before found, after document.Object, revision bson.ObjectID) (bson.D, bson.Raw, error) {
	if err := document.CheckExtent(after, maxSize); err != nil {
		return nil, nil, boterr.PrefixField("update", err)
	}
	for key := range after.All() {
		if key == hiddenField {
			return nil, nil, boterr.PrefixField("update", reserved(key))
		}
		if strings.HasPrefix(key, "$") {
			return nil, nil, boterr.New(boterr.Unsupported, "update."+key,
				"MongoDB cannot replace a document with a field whose name starts with $; rename the field")
		}
	}
	where, err := unchanged(before)
	if err != nil {
		return nil, nil, err
	}
	order := before.hidden.order
	if before.hidden.isAbsent {
		order = c.store.order.take(1)
	}
	b, err := stored(after, hidden{order: order, revision: revision})
	return where, b, err
}

// unchanged returns a filter that matches a document only if it has not changed since it was read.
func unchanged(before found) (bson.D, error) {
	id, _ := before.document.Field(document.IDField)
	value, err := rawValue(id)
	if err != nil {
		return nil, err
	}
	where := bson.D{{Key: document.IDField, Value: bson.D{{Key: "$eq", Value: value}}}}
	if before.hidden.isAbsent {
		return append(where, bson.E{Key: revisionPath, Value: bson.D{{Key: "$exists", Value: false}}}), nil
	}
	return append(where, bson.E{Key: revisionPath, Value: before.hidden.revision}), nil
}

// writers is the number of documents that updateAll writes at the same time. Each is a separate command,
// because the answer to a command for many documents only counts the failures and does not name them.
const writers = 8

// edit is a document that was read, with its new content and its new revision.
type edit struct {
	before   found
	after    document.Object
	revision bson.ObjectID
}

// Limits of the documents that an update of many holds in memory. maxPartSize is their total size in bytes.
const (
	maxPart     = 500
	maxPartSize = 16 << 20
)

// updateAll changes all matching documents. If the change of any document fails, nothing is written. Few documents
// are written all or none. Others are read and written again in parts; after an error, the earlier parts remain.
func (c *collection) updateAll(ctx context.Context, f first) (store.UpdateResult, error) {
	parts, last, err := c.inParts(ctx, f)
	if err == nil && len(parts)+len(last) == 0 && f.upsert {
		inserted, err := c.insertUpsert(ctx, f)
		if boterr.CodeOf(err) != boterr.AlreadyExists {
			return store.UpdateResult{UpsertedID: inserted.UpsertedID}, err
		}
		clash := err
		if parts, last, err = c.inParts(ctx, f); err == nil && len(parts)+len(last) == 0 {
			return store.UpdateResult{}, clash // There is a document with this key, but it does not match.
		}
	}
	switch {
	case err != nil:
		return store.UpdateResult{}, err
	case len(parts) == 0:
		return c.updatePart(ctx, f, last)
	default:
		return c.updateParts(ctx, f, parts)
	}
}

// updateParts changes the documents whose _ids are in parts, unless they no longer match.
func (c *collection) updateParts(ctx context.Context, f first, parts []document.Array) (result store.UpdateResult, err error) {
	written, all, filter := 0, 0, f.filter
	for _, part := range parts {
		all += part.Len()
	}
	for _, part := range parts {
		only, err := query.CompileFilter(document.O(document.IDField, document.O("$in", part)))
		if err != nil {
			return store.UpdateResult{}, engine.Partly(written, all, err)
		}
		f.filter = query.And(only, filter)
		var changed store.UpdateResult
		results, err := c.newest().find(ctx, f.filter, store.FindOptions{})
		if err == nil {
			changed, err = c.updatePart(ctx, f, results)
		}
		if err != nil {
			return store.UpdateResult{}, engine.Partly(written, all, err)
		}
		result.Matched += changed.Matched
		result.Modified += changed.Modified
		written += part.Len()
	}
	return result, nil
}

// inParts reads the matching documents. If they fit into one part, last has all of them. Otherwise parts has their
// _ids, and computing the changes has not failed.
func (c *collection) inParts(ctx context.Context, f first) (parts []document.Array, last []found, err error) {
	set, err := searching(f.filter, store.FindOptions{})
	if err != nil {
		return nil, nil, err
	}
	size := 0
	end := func() error {
		_, err := (&changeOfMany{collection: c, first: f}).edits(last)
		ids := make([]any, len(last))
		for i := range last {
			ids[i], _ = last[i].document.Field(document.IDField)
		}
		parts, last, size = append(parts, document.A(ids...)), last[:0], 0
		return err
	}
	err = c.newest().searchEach(ctx, f.filter, set, func(result found) error {
		if len(last) == maxPart || len(last) > 0 && size+result.document.Size() > maxPartSize {
			if err := end(); err != nil {
				return err
			}
		}
		last = append(last, result)
		size += result.document.Size()
		return nil
	})
	if err == nil && len(parts) > 0 {
		err = end()
	}
	return parts, last, err
}

// updatePart changes documents that were read, all or none.
func (c *collection) updatePart(ctx context.Context, f first, results []found) (store.UpdateResult, error) {
	result, err := c.updateFound(ctx, f, results, writers)
	if boterr.CodeOf(err) != boterr.AlreadyExists {
		return result, err
	}
	// Try once more, one document after the other: then a document can take a key that an earlier document has
	// given up.
	if results, err = c.newest().find(ctx, f.filter, store.FindOptions{}); err != nil {
		return store.UpdateResult{}, err
	}
	return c.updateFound(ctx, f, results, 1)
}

// updateFound changes documents that were read, at most atOnce at the same time. It changes all of them or
// none.
func (c *collection) updateFound(
	ctx context.Context, f first, results []found, atOnce int,
) (store.UpdateResult, error) {
	m := changeOfMany{collection: c, first: f, atOnce: atOnce}
	edits, err := m.edits(results)
	if err != nil {
		return store.UpdateResult{}, err
	}
	if err := m.writeAll(ctx, edits); err != nil {
		return store.UpdateResult{}, m.undo(ctx, err)
	}
	return m.result, nil
}

// changeOfMany is an update of all documents that match at its start.
type changeOfMany struct {
	*collection

	first first
	// atOnce is the number of documents that are written at the same time.
	atOnce int

	// evaluating guards first.call, which is not safe for concurrent use.
	evaluating sync.Mutex

	mutex   sync.Mutex
	result  store.UpdateResult
	written []edit
}

// edits computes the changes of documents. It counts documents that need no write.
func (m *changeOfMany) edits(results []found) ([]edit, error) {
	m.evaluating.Lock()
	defer m.evaluating.Unlock()
	edits := make([]edit, 0, len(results))
	for _, before := range results {
		m.first.call.Visit(before.document)
		after, modified, err := m.first.call.Change(m.first.change, m.first.filter, before.document)
		if err != nil {
			return nil, err
		}
		if after != before.document {
			edits = append(edits, edit{before: before, after: after, revision: bson.NewObjectID()})
			continue
		}
		m.count(1, counted[modified])
	}
	return edits, nil
}

func (m *changeOfMany) count(matched, modified int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.result.Matched += matched
	m.result.Modified += modified
}

var counted = map[bool]int64{true: 1}

// writeAll writes documents, several at the same time, until one fails. It waits for unfinished writes, because
// a write that takes effect after undo would remain.
func (m *changeOfMany) writeAll(ctx context.Context, edits []edit) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(m.atOnce)
	for _, e := range edits {
		group.Go(func() error {
			if within.Err() != nil {
				return engine.CheckEnded(within)
			}
			return m.write(ctx, e)
		})
	}
	return group.Wait()
}

// write writes one document. If the document has changed meanwhile, write reads it and computes its change
// again.
func (m *changeOfMany) write(ctx context.Context, e edit) error {
	for lost := 1; ; lost++ {
		isWritten, mayBe, err := m.put(ctx, e)
		if isWritten || mayBe {
			m.note(e)
		}
		if err != nil {
			return err
		}
		if isWritten {
			m.count(1, 1)
			return nil
		}
		if err := backOff(ctx, lost); err != nil {
			return err
		}
		results, err := m.again(ctx, e)
		if err != nil || len(results) == 0 {
			return err
		}
		edits, err := m.edits(results)
		if err != nil || len(edits) == 0 {
			return err
		}
		e = edits[0]
	}
}

// note records a write for undo.
func (m *changeOfMany) note(e edit) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.written = append(m.written, e)
}

// again reads a document once more. The result is empty if the document no longer matches.
func (m *changeOfMany) again(ctx context.Context, e edit) ([]found, error) {
	id, _ := e.before.document.Field(document.IDField)
	byID, err := query.CompileFilter(document.O(document.IDField, document.O("$eq", id)))
	if err != nil {
		return nil, err
	}
	return m.newest().find(ctx, query.And(byID, m.first.filter), store.FindOptions{})
}

// undo restores the written documents, the last one first, unless they have changed since. A unique key may
// still be used by another document, so undo repeats failed writes as long as there is progress.
func (m *changeOfMany) undo(ctx context.Context, failed error) error {
	ctx = context.WithoutCancel(ctx)
	left := m.written
	slices.Reverse(left)
	for {
		var unwritten []edit
		var why error
		for _, e := range left {
			if err := m.writeBack(ctx, e); err != nil {
				unwritten, why = append(unwritten, e), errors.Join(why, err)
			}
		}
		if len(unwritten) == 0 {
			return failed
		}
		if len(unwritten) == len(left) {
			return boterr.New(boterr.Unavailable, "",
				"some documents may have changed, because restoring them failed (%w) after: %s", why, failed.Error())
		}
		left = unwritten
	}
}

// writeBack restores one document, unless it has changed since its write.
func (m *changeOfMany) writeBack(ctx context.Context, e edit) error {
	before := e.before
	if before.hidden.isAbsent {
		before.hidden = hidden{order: m.store.order.take(1)}
	}
	before.hidden.revision = bson.NewObjectID() // A new revision, because the document was different meanwhile.
	where, err := unchanged(found{document: e.before.document, hidden: hidden{revision: e.revision}})
	if err != nil {
		return err
	}
	b, err := stored(before.document, before.hidden)
	if err != nil {
		return err
	}
	_, err = m.stored.ReplaceOne(ctx, where, b)
	return err
}
