package agendas

import (
	"context"
	"errors"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Several agendas are claimed by one write, which finds those of them that are due and that nobody
// holds, counts up the fencing token of each, and marks all of them as this claim's. A search by the
// mark tells which these are. So a database is asked twice, for any number of them.
//
// An agenda whose lease has passed, or whose record somebody has edited, is claimed alone, since what follows
// from that depends on it.

// together are agendas that are claimed by one write: by id the claim, or nil where an agenda was
// changed since it was found, or somebody else has it.
type together map[string]*Claim

// claimTogether claims those of the agendas that were found due which can be claimed by one write.
// Those that it says nothing of are to be claimed alone, as are all after a write that the store
// refuses: one of them may be the cause.
func (s *Scheduler) claimTogether(ctx context.Context, found []document.Object, now time.Time) (together, error) {
	free, err := query.CompileFilter(isDue(now).With(fieldLeaseUntil, nil))
	if err != nil {
		return nil, err
	}
	listed := make([]string, 0, len(found))
	for _, seen := range found {
		if id := idOf(seen); id != "" && free.Match(seen) {
			listed = append(listed, id)
		}
	}
	if len(listed) < fewestTogether {
		return nil, nil
	}
	b := batch{Scheduler: s, mark: s.name() + markSeparator + s.newID(), at: now, claims: together{}}
	return b.claims, b.claim(ctx, listed, free)
}

// fewestTogether is the number of agendas from which on they are claimed together: one is claimed by
// one command, and several by two.
const fewestTogether = 2

// batch is one claim of several agendas.
type batch struct {
	*Scheduler

	mark   string
	at     time.Time
	claims together
}

// claim claims the agendas of a list that a filter finds.
func (b *batch) claim(ctx context.Context, listed []string, free *query.Filter) error {
	ids := make([]any, len(listed))
	for i, id := range listed {
		ids[i] = id
	}
	among, err := query.CompileFilter(document.O(record.FieldID, document.O("$in", document.A(ids...))))
	if err != nil {
		return err
	}
	update, err := query.CompileUpdate(document.O(
		"$set", document.O(fieldLeaseUntil, millis(b.at.Add(b.lease)), fieldHeldAt, millis(b.at),
			fieldClaim, b.mark, fieldBegun, true),
		"$inc", document.O(fieldFence, 1, fieldAttempts, 1),
		"$unset", document.O(fieldRetryAt, true),
	))
	if err != nil {
		return err
	}
	options := store.UpdateOptions{Multi: true, Partly: true}
	written, refused := b.agendas.Update(ctx, query.And(among, free), query.Change{Update: update}, options)
	marked, err := query.CompileFilter(document.O(fieldClaim, b.mark))
	if err != nil {
		return err
	}
	shown, unread := b.agendas.Find(ctx, query.And(among, marked), store.FindOptions{})
	for _, stored := range shown {
		b.take(ctx, stored)
	}
	if refused == nil && unread == nil && written.Matched == int64(len(shown)) {
		b.leave(listed)
		return nil
	}
	unconfirmed := b.confirm(ctx, listed)
	if refused == nil {
		b.leave(listed)
	}
	return errors.Join(refused, unread, unconfirmed)
}

// take takes note of an agenda that has the mark. One that was given another schedule since it was
// claimed is given back.
func (b *batch) take(ctx context.Context, stored document.Object) {
	c := b.claimed(stored, b.at, b.mark)
	if c.unreadable == nil && wasRescheduled(&c.record) {
		b.claims[c.id] = nil
		_, _ = b.abandon(ctx, c, nil, b.released) // Where that fails the lease passes.
		return
	}
	b.claims[c.id] = c
}

// leave takes note that all others of a list are not claimed.
func (b *batch) leave(listed []string) {
	for _, id := range listed {
		if _, ok := b.claims[id]; !ok {
			b.claims[id] = nil
		}
	}
}

// confirm asks for those of a list that the search has not shown, one by one, by a write, which sees
// what a search may not see yet.
func (b *batch) confirm(ctx context.Context, listed []string) error {
	renewal, err := query.CompileUpdate(document.O("$set", document.O(
		fieldLeaseUntil, millis(b.at.Add(b.lease)), fieldHeldAt, millis(b.at))))
	if err != nil {
		return err
	}
	var failed []error
	for _, id := range listed {
		if _, ok := b.claims[id]; ok {
			continue
		}
		filter, err := query.CompileFilter(document.O(record.FieldID, id, fieldClaim, b.mark))
		if err != nil {
			return err
		}
		found, err := b.agendas.FindAndModify(ctx, filter, query.Change{Update: renewal}, store.FindAndModifyOptions{New: true})
		failed = append(failed, err)
		if err == nil && found.Matched {
			b.take(ctx, found.Document)
		}
	}
	return errors.Join(failed...)
}
