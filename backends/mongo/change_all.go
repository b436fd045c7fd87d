package mongo

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// changeOfMany is a change of all documents that matched when it began.
type changeOfMany struct {
	*collection

	filter *document.Filter
	change document.Change
	result document.UpdateResult
	// revision is that of every document which the change has written.
	revision bson.ObjectID
	// written are the documents that may have been written, as they were before.
	written []found
}

// edit is a document that was read, and what it becomes.
type edit struct {
	before found
	after  document.Object
}

// updateAll reads all documents that match, changes them here, and writes them in one
// command, each if it is still what was read; those that are not are read again. Where
// the change fails on one of them nothing is written; where the server refuses one, as a
// unique index does, those before it are written back.
func (c *collection) updateAll(
	ctx context.Context, filter *document.Filter, change document.Change, upsert bool,
) (document.UpdateResult, error) {
	results, err := c.find(ctx, filter, document.FindOptions{})
	if err != nil {
		return document.UpdateResult{}, err
	}
	if len(results) == 0 && upsert {
		inserted, err := c.insertUpsert(ctx, first{filter: filter, change: change, upsert: true})
		return document.UpdateResult{UpsertedID: inserted.UpsertedID}, err
	}
	m := changeOfMany{collection: c, filter: filter, change: change, revision: bson.NewObjectID()}
	for len(results) > 0 {
		edits, err := m.edits(results)
		if err == nil {
			results, err = m.write(ctx, edits)
		}
		if err != nil {
			return document.UpdateResult{}, m.undo(ctx, err)
		}
	}
	return m.result, nil
}

// edits changes documents, and counts those that need not be written.
func (m *changeOfMany) edits(results []found) ([]edit, error) {
	edits := make([]edit, 0, len(results))
	for _, before := range results {
		after, modified, err := m.change.Apply(m.filter, before.document)
		if err != nil {
			return nil, err
		}
		m.result.Matched++
		if modified {
			m.result.Modified++
		}
		if after != before.document {
			edits = append(edits, edit{before: before, after: after})
		}
	}
	return edits, nil
}

// write writes documents, and returns those that somebody else changed meanwhile and
// that still match, as they are now.
func (m *changeOfMany) write(ctx context.Context, edits []edit) (again []found, err error) {
	if len(edits) == 0 {
		return nil, nil
	}
	models := make([]mongo.WriteModel, 0, len(edits))
	for _, e := range edits {
		where, b, err := m.replacement(e.before, e.after, m.revision)
		if err != nil {
			return nil, err
		}
		models = append(models, mongo.NewReplaceOneModel().SetFilter(where).SetReplacement(b))
	}
	for _, e := range edits {
		m.written = append(m.written, e.before)
	}
	result, err := m.stored.BulkWrite(ctx, models)
	if err != nil {
		return nil, failure(ctx, err)
	}
	if result.MatchedCount == int64(len(edits)) {
		return nil, nil
	}
	return m.missed(ctx, edits)
}

// missed returns the documents that were not written and still match.
func (m *changeOfMany) missed(ctx context.Context, edits []edit) (again []found, err error) {
	for _, e := range edits {
		id, _ := e.before.document.Field(document.IDField)
		byID, err := document.CompileFilter(document.O(document.IDField, document.O("$eq", id)))
		if err != nil {
			return nil, err
		}
		results, err := m.find(ctx, document.And(byID, m.filter), document.FindOptions{})
		if err != nil {
			return nil, err
		}
		if len(results) == 1 && results[0].hidden.revision == m.revision {
			continue
		}
		written, err := m.find(ctx, byID, document.FindOptions{})
		if err != nil {
			return nil, err
		}
		if len(written) == 1 && written[0].hidden.revision == m.revision {
			continue
		}
		m.uncount(e)
		again = append(again, results...)
	}
	return again, nil
}

// uncount takes back what edits counted for a document that was not written.
func (m *changeOfMany) uncount(e edit) {
	m.result.Matched--
	m.result.Modified--
	for i := range m.written {
		if m.written[i].document == e.before.document {
			m.written = append(m.written[:i], m.written[i+1:]...)
			return
		}
	}
}

// undo writes documents back that the change has written.
func (m *changeOfMany) undo(ctx context.Context, failed error) error {
	if len(m.written) == 0 {
		return failed
	}
	models := make([]mongo.WriteModel, 0, len(m.written))
	for _, before := range m.written {
		now := before
		now.hidden = hidden{revision: m.revision}
		where, err := unchanged(now)
		if err != nil {
			return failed
		}
		h := before.hidden
		if h.isAbsent {
			h.order = m.store.order.take(1)
		}
		h.revision = bson.NewObjectID() // Nobody else may take it for what it was in between.
		b, err := stored(before.document, h)
		if err != nil {
			return failed
		}
		models = append(models, mongo.NewReplaceOneModel().SetFilter(where).SetReplacement(b))
	}
	_, err := m.stored.BulkWrite(context.WithoutCancel(ctx), models, options.BulkWrite().SetOrdered(false))
	if err != nil {
		return boterr.New(boterr.Unavailable, "",
			"some of the documents may have changed, because writing them back failed (%w) after: %w", err, failed)
	}
	return failed
}
