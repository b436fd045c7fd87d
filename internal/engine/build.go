package engine

import (
	"cmp"
	"context"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

// IndexDraft is a transaction that changes the indexes of a collection.
type IndexDraft interface {
	// Indexes returns the indexes that writes maintain. Searches only use the ones of Schema.Ready.
	Indexes() *Schema
	// SetIndexes replaces what Indexes returns.
	SetIndexes(all *Schema)
	// Page returns the first documents after a position. isLast is true if there are no more.
	Page(after uint64) (page []Placed, isLast bool, err error)
	// Add adds keys to the incomplete index, unless it already has them. of has the document of each key. AlreadyExists:
	// another document has a unique key.
	Add(keys []Key, of []Placed) error
	// Clear removes the entries of an index. isClear is false if some remain for another transaction.
	Clear(x *Index) (isClear bool, err error)
	// HasTime reports whether the transaction may take another page.
	HasTime() bool
}

// ChangeIndexes calls a function in a transaction, again if the database needs that. If isAlone is true, nothing else
// writes to the collection meanwhile.
type ChangeIndexes func(ctx context.Context, isAlone bool, do func(d IndexDraft) error) error

// BuildIndex creates an index, unless Schema.Existing finds it. Many documents are indexed in several transactions, and
// other writes run between them. Writes maintain the index from the start, and searches use it once it is complete. If
// the process dies before that, another BuildIndex of the same index continues, and one of another index removes it.
func BuildIndex(ctx context.Context, spec store.Index, change ChangeIndexes) error {
	b := indexBuilder{spec: spec}
	run := func(isAlone bool, step func(*indexBuilder, IndexDraft) error) error {
		var next indexBuilder
		err := change(ctx, isAlone, func(d IndexDraft) error {
			next = b
			return step(&next, d)
		})
		if err == nil {
			b = next
		}
		b.number = cmp.Or(b.number, next.number) // The index of a process that has died must be removed after an error, too.
		return err
	}
	err := run(true, (*indexBuilder).begin)
	for err == nil && !b.isDone {
		switch {
		case b.number == 0:
			err = run(true, (*indexBuilder).begin)
		case b.isAll:
			err = run(true, (*indexBuilder).finish)
		default:
			err = run(false, (*indexBuilder).fill)
		}
	}
	if err != nil && b.number != 0 {
		ctx = context.WithoutCancel(ctx)
		for isClear := false; !isClear; {
			failed := change(ctx, true, func(d IndexDraft) (err error) {
				isClear, err = clearIncomplete(d)
				return err
			})
			if failed != nil {
				break // The next BuildIndex removes the index.
			}
		}
	}
	return err
}

// indexBuilder is the state of BuildIndex after a transaction.
type indexBuilder struct {
	spec store.Index
	// number is the number of the index, or 0 if it is not in the description yet.
	number int
	// after is the position of the last indexed document. isAll is true once all documents are indexed, and isDone once
	// searches may use the index.
	after         uint64
	isAll, isDone bool
}

// begin adds the index to the description, so that writes maintain it, and indexes the first documents. If an index of a
// process that has died is in the way, begin removes it, and may have to run again.
func (b *indexBuilder) begin(d IndexDraft) error {
	all := d.Indexes()
	if at := all.Building(); at >= 0 && b.isSame(&all.Indexes[at]) {
		b.number = all.Indexes[at].Number
		return b.fill(d)
	}
	if isClear, err := clearIncomplete(d); err != nil || !isClear {
		return err
	}
	all = d.Indexes()
	exists, err := all.Existing(b.spec)
	if b.isDone = exists; exists || err != nil {
		return err
	}
	x := NewIndex(all.Name, b.spec)
	x.Number, x.Building = all.NextNumber(), true
	b.number = x.Number
	d.SetIndexes(all.WithIndex(x))
	if err := b.fill(d); err != nil || !b.isAll {
		return err
	}
	return b.finish(d)
}

func (b *indexBuilder) isSame(x *Index) bool {
	exists, err := (&Schema{Indexes: []Index{*x}}).Existing(b.spec)
	return exists && err == nil
}

// fill indexes the next documents.
func (b *indexBuilder) fill(d IndexDraft) error {
	for {
		page, isLast, err := d.Page(b.after)
		if err != nil {
			return err
		}
		all := d.Indexes()
		var keys []Key
		var of []Placed
		for _, one := range page {
			changes, err := all.ChangesIn(all.IndexOf(b.number), document.Object{}, one.Document)
			if err != nil {
				return err
			}
			if changes.Schema != nil {
				all = changes.Schema
			}
			for i := range changes.Add {
				keys, of = append(keys, changes.Add[i]), append(of, one)
			}
			b.after = one.Position
		}
		d.SetIndexes(all)
		if err := d.Add(keys, of); err != nil {
			return err
		}
		if b.isAll = isLast; isLast || !d.HasTime() {
			return nil
		}
	}
}

// finish makes searches use the index.
func (b *indexBuilder) finish(d IndexDraft) error {
	all := d.Indexes().clone()
	all.Indexes[all.IndexOf(b.number)].Building = false
	d.SetIndexes(all)
	b.isDone = true
	return nil
}

// clearIncomplete removes the incomplete index, if there is one.
func clearIncomplete(d IndexDraft) (isClear bool, err error) {
	all := d.Indexes()
	at := all.Building()
	if at < 0 {
		return true, nil
	}
	if isClear, err = d.Clear(&all.Indexes[at]); err == nil && isClear {
		d.SetIndexes(all.WithoutIndex(at))
	}
	return isClear, err
}
