package record

import (
	"context"
	"maps"
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// RemovalBatch is how many records one write of Remove removes, so that other writes come between.
const RemovalBatch = 500

// Removal says which records Remove removes.
type Removal struct {
	// Filter matches the records. It is checked again when they are removed, so a record that changed
	// meanwhile stays.
	Filter document.Object
	// OldestBy is the path of a time: the oldest records go first. With an index for the filter and this
	// path, each batch costs the same, however many records there are. "" is the order of insertion.
	OldestBy string
	// Spare returns the ids of those records of a batch that stay. nil spares none. It needs OldestBy.
	Spare func(ctx context.Context, batch []document.Object) (map[string]bool, error)
}

// Remove removes records in batches, and returns how many it removed. After an error or a crash, the same
// call removes the rest. The errors are those of the store and of Spare.
func (c *Collection) Remove(ctx context.Context, r Removal) (removed int64, err error) {
	which, err := c.filter(r.Filter)
	if err != nil {
		return 0, err
	}
	options := store.FindOptions{Limit: RemovalBatch}
	if r.OldestBy != "" {
		if options.Sort, err = c.sort(document.O(r.OldestBy, 1)); err != nil {
			return 0, err
		}
	}
	for at := (place{path: r.OldestBy, spared: map[string]bool{}}); ; {
		found, deleted, err := c.removeBatch(ctx, r, which, options, &at)
		removed += deleted
		if err != nil || found < RemovalBatch {
			return removed, err
		}
	}
}

// removeBatch removes a batch of the records that a filter matches, from a place on, and moves the place behind it.
func (c *Collection) removeBatch(
	ctx context.Context, r Removal, which *query.Filter, options store.FindOptions, from *place,
) (found int, deleted int64, err error) {
	batch, err := c.stored.Find(ctx, query.And(which, from.rest), options)
	if err != nil || len(batch) == 0 {
		return 0, 0, err
	}
	var spare map[string]bool
	if r.Spare != nil {
		if spare, err = r.Spare(ctx, batch); err == nil {
			err = from.move(batch, spare)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	chosen, err := query.CompileFilter(document.O(FieldID, document.O("$in", idsWithout(batch, spare))))
	if err != nil {
		return 0, 0, err
	}
	deleted, err = c.stored.Delete(ctx, query.And(which, chosen), store.DeleteOptions{Multi: true})
	return len(batch), deleted, err
}

// place is how far a removal that spares records has come.
type place struct {
	path string
	// last is the time of the last record that was looked at, and spared are the records of that time that stay.
	last   any
	spared map[string]bool
	// rest matches what comes next, nil for all.
	rest *query.Filter
}

// move moves the place behind a batch.
func (p *place) move(batch []document.Object, spare map[string]bool) (err error) {
	if last := document.Get[any](batch[len(batch)-1], p.path, nil); !document.Equal(last, p.last) {
		p.last = last
		clear(p.spared)
	}
	maps.Copy(p.spared, spare)
	p.rest, err = query.CompileFilter(document.O(
		p.path, document.O("$gte", p.last), FieldID, document.O("$nin", slices.AppendSeq([]string{}, maps.Keys(p.spared)))))
	return err
}

// idsWithout returns the ids of records but those to spare.
func idsWithout(records []document.Object, spare map[string]bool) document.Array {
	ids := make([]any, 0, len(records))
	for _, o := range records {
		id, _ := o.Field(FieldID)
		if name, isText := id.(string); !isText || !spare[name] {
			ids = append(ids, id)
		}
	}
	return document.A(ids...)
}
