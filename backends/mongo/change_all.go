package mongo

import (
	"context"
	"errors"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// writers is the number of documents that a change of many writes at once. Each is a
// command of its own: the answer to a command for many tells how many it found as they
// were read, and not which.
const writers = 8

// edit is a document that was read, what it becomes, and its new revision.
type edit struct {
	before   found
	after    document.Object
	revision bson.ObjectID
}

// updateMany is updateAll where some of the documents may stay changed after an error. Where a plan is
// certain to change each document that matches, and to change it once, the server makes the change
// in one command. Where it refuses, a look at the documents tells why.
func (c *collection) updateMany(ctx context.Context, f first) (store.UpdateResult, error) {
	p, ok := planned(f.filter, f.change)
	if !ok || !p.contradicts || f.upsert || f.filter.Near() != nil {
		return c.updateAll(ctx, f)
	}
	where, err := p.where(f.filter)
	if err != nil {
		return store.UpdateResult{}, err
	}
	done, err := c.stored.UpdateMany(ctx, where, p.update)
	switch {
	case err != nil && isRefused(f.filter, err):
		return c.updateAll(ctx, f)
	case err != nil:
		return store.UpdateResult{}, filterFailure(ctx, f.filter, err)
	default:
		return store.UpdateResult{Matched: done.MatchedCount, Modified: done.MatchedCount}, nil
	}
}

// updateAll reads all documents that match, changes them here, and writes each if it is
// still what was read; else that one is read again. Where the change fails on one of them
// nothing is written; where one cannot be written, as with a unique index, those before
// it are written back.
func (c *collection) updateAll(ctx context.Context, f first) (store.UpdateResult, error) {
	results, err := c.newest().find(ctx, f.filter, store.FindOptions{})
	if err == nil && len(results) == 0 && f.upsert {
		inserted, err := c.insertUpsert(ctx, f)
		if boterr.CodeOf(err) != boterr.AlreadyExists {
			return store.UpdateResult{UpsertedID: inserted.UpsertedID}, err
		}
		clash := err
		if results, err = c.newest().find(ctx, f.filter, store.FindOptions{}); err == nil && len(results) == 0 {
			return store.UpdateResult{}, clash // No other upsert has inserted the document meanwhile.
		}
	}
	if err != nil {
		return store.UpdateResult{}, err
	}
	result, err := c.updateFound(ctx, f, results, writers)
	if boterr.CodeOf(err) != boterr.AlreadyExists {
		return result, err
	}
	// Written one after the other, a document may take the key that one before it has given up.
	if results, err = c.newest().find(ctx, f.filter, store.FindOptions{}); err != nil {
		return store.UpdateResult{}, err
	}
	return c.updateFound(ctx, f, results, 1)
}

// updateFound changes documents that were read, so many at once: all of them or none.
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

// changeOfMany is a change of all documents that matched when it began.
type changeOfMany struct {
	*collection

	first first
	// atOnce is the number of documents that are written at once.
	atOnce int

	// evaluating is held by who evaluates within the call, which serves one at a time.
	evaluating sync.Mutex

	mutex  sync.Mutex
	result store.UpdateResult
	// written are the edits that were made.
	written []edit
}

// edits changes documents, and counts those that need not be written.
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

// count adds to what the change has done.
func (m *changeOfMany) count(matched, modified int64) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.result.Matched += matched
	m.result.Modified += modified
}

// counted is the number that a truth counts for.
var counted = map[bool]int64{true: 1}

// writeAll writes documents, some at once, until one of them fails. It waits for those that
// are under way: one that the server does after the others were written back would stay.
func (m *changeOfMany) writeAll(ctx context.Context, edits []edit) error {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	waiting := make(chan edit)
	var group sync.WaitGroup
	for range min(m.atOnce, len(edits)) {
		group.Go(func() {
			for e := range waiting {
				if within.Err() != nil {
					continue
				}
				if err := m.write(ctx, e); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, e := range edits {
		if within.Err() != nil {
			break
		}
		waiting <- e
	}
	close(waiting)
	group.Wait()
	if within.Err() == nil {
		return nil
	}
	return failure(ctx, context.Cause(within))
}

// write writes one document, by what it is now where somebody changed it meanwhile.
func (m *changeOfMany) write(ctx context.Context, e edit) error {
	for lost := 1; ; lost++ {
		isWritten, err := m.replaceRead(ctx, e)
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

// replaceRead writes a document if it is still what was read, and notes that it did.
func (m *changeOfMany) replaceRead(ctx context.Context, e edit) (bool, error) {
	where, b, err := m.replacement(e.before, e.after, e.revision)
	if err != nil {
		return false, err
	}
	if err := store.Refusal(ctx); err != nil {
		return false, err
	}
	result, err := m.stored.ReplaceOne(ctx, where, b)
	if err != nil && !isDuplicate(err) {
		m.note(e) // It may have been written.
	}
	if err != nil {
		return false, failure(ctx, err)
	}
	if result.MatchedCount == 0 {
		return false, nil
	}
	m.note(e)
	return true, nil
}

func (m *changeOfMany) note(e edit) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.written = append(m.written, e)
}

// again reads a document again, if it still matches.
func (m *changeOfMany) again(ctx context.Context, e edit) ([]found, error) {
	id, _ := e.before.document.Field(document.IDField)
	byID, err := query.CompileFilter(document.O(document.IDField, document.O("$eq", id)))
	if err != nil {
		return nil, err
	}
	return m.newest().find(ctx, query.And(byID, m.first.filter), store.FindOptions{})
}

// undo writes back the documents that the change has written and nobody has changed since, the last
// one first. It repeats that for those whose key another one of them still has, as long as it makes
// progress.
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
				"some of the documents may have changed, because writing them back failed (%w) after: %s", why, failed.Error())
		}
		left = unwritten
	}
}

// writeBack makes one document what it was, unless somebody has changed it since.
func (m *changeOfMany) writeBack(ctx context.Context, e edit) error {
	before := e.before
	if before.hidden.isAbsent {
		before.hidden = hidden{order: m.store.order.take(1)}
	}
	before.hidden.revision = bson.NewObjectID() // It was another document in between.
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
