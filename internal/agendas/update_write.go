package agendas

import (
	"context"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
)

// write changes the agendas that were found open, where they are so still and the update
// still fits their schedules, in one write.
func (u *update) write(ctx context.Context, open []*agenda.Record) (store.UpdateResult, error) {
	set, unset := u.fields()
	if u.params.Replace {
		number, err := u.replacementNumber(ctx, open[0])
		if err != nil {
			return store.UpdateResult{}, err
		}
		if number != 0 {
			set = append(set, fieldReplaces, number)
		}
	}
	filter := append(u.fits(), record.FieldID, document.O("$in", document.A(ids(open)...)), fieldCompleted, false)
	written, err := u.agendas().Update(ctx, record.Patch{
		Filter:       document.O(filter...),
		Patch:        document.O("$set", document.O(set...), "$unset", document.O(unset...)),
		WithModifier: true,
		Multi:        true,
	})
	return written, inMeta(err)
}

// fits returns the conditions of check as pairs of a filter: after the update an agenda must have
// no pattern, or no end, or its next run no later than the end. What the update itself gives needs
// no condition.
func (u *update) fits() []any {
	next, until := u.planned.next, u.planned.until
	if next == 0 && until == 0 || next != 0 && next <= until {
		return nil
	}
	var fit []any
	if u.given.pattern == "" {
		fit = append(fit, document.O(fieldPattern, document.O("$exists", false)))
	}
	if until == 0 && u.given.next != 0 {
		fit = append(fit, document.O(fieldRunUntil, document.O("$exists", false)))
	}
	switch {
	case next == 0:
		fit = append(fit, document.O(fieldNextRunAt, document.O("$lte", int64(until))))
	case until == 0:
		fit = append(fit, document.O(fieldRunUntil, document.O("$gte", int64(next))))
	}
	return []any{"$or", document.A(fit...)}
}

// fields returns what the update sets, as pairs of a name and a value, and what it
// removes, as pairs as well.
func (u *update) fields() (set, unset []any) {
	if !u.params.Meta.IsZero() {
		set = append(set, fieldMeta, u.params.Meta)
	}
	if u.params.NodeCompositeID != "" {
		set = append(set, fieldNodeCompositeID, u.params.NodeCompositeID)
	}
	if u.params.TreeID != "" {
		set = append(set, fieldTree, u.params.TreeID)
	}
	if u.params.Priority != nil {
		set = append(set, fieldPriority, *u.params.Priority)
	}
	if u.given.pattern != "" {
		set = append(set, fieldPattern, u.given.pattern)
		if u.planned.zone == "" {
			unset = append(unset, fieldZone, true)
		} else {
			set = append(set, fieldZone, u.planned.zone)
		}
	}
	if u.given.until != 0 {
		set = append(set, fieldRunUntil, int64(u.given.until))
	}
	if u.planned.next != 0 {
		set = append(set, fieldNextRunAt, int64(u.planned.next))
		unset = append(unset, resetAttempts()...)
	}
	return set, unset
}

// resetAttempts returns what is removed of an agenda that is scheduled anew: all of its
// earlier attempts. The lease of one that is running stays, and its run learns from the missing
// attempts, and that it has not Begun, that it has another schedule.
func resetAttempts() []any {
	return []any{
		fieldAttempts, true, fieldFailures, true, fieldRetryAt, true, fieldFailed, true, fieldError, true,
		fieldFailedAt, true, fieldLost, true, fieldBegun, true,
	}
}

// replacementNumber returns the number with which an agenda takes the place of the
// others of its tag, or 0 where it came last as it is.
func (u *update) replacementNumber(ctx context.Context, r *agenda.Record) (int64, error) {
	others, err := u.service.lastOf(ctx, u.params.MemberID, u.params.Tag,
		openFilter(u.params.Tag).With(record.FieldID, document.O("$ne", r.ID)))
	if err != nil || others.id == nil || others.number < r.Replaces {
		return 0, err
	}
	return others.number + 1, nil
}

// result removes what the update replaced, and returns what it changed.
func (u *update) result(
	ctx context.Context, open []*agenda.Record, written store.UpdateResult,
) (agenda.UpdateAgendaResult, error) {
	if u.params.Replace {
		if err := u.service.removeReplaced(ctx, u.params.MemberID, u.params.Tag); err != nil {
			return agenda.UpdateAgendaResult{}, err
		}
	}
	found, err := u.service.Find(ctx, record.Query{
		Filter: document.O(record.FieldID, document.O("$in", document.A(ids(open)...))),
	})
	if err != nil {
		return agenda.UpdateAgendaResult{}, err
	}
	result := emptyUpdate()
	result.Modified = written.Modified
	for _, r := range found {
		if written.Matched < int64(len(open)) && !r.Completed {
			// It may be one whose schedule has changed so that the update does not fit any more.
			if err := u.check(r); err != nil {
				return agenda.UpdateAgendaResult{}, err
			}
		}
		result.DocsIDs.Updated = append(result.DocsIDs.Updated, r.ID)
		result.Docs = append(result.Docs, &r.Agenda)
	}
	return result, nil
}

// emptyUpdate is the result of an update that matched nothing.
func emptyUpdate() agenda.UpdateAgendaResult {
	return agenda.UpdateAgendaResult{DocsIDs: agenda.DocsIDs{Updated: []string{}}, Docs: []*agenda.Agenda{}}
}

// ids returns the ids of agendas.
func ids(records []*agenda.Record) []any {
	all := make([]any, len(records))
	for i, r := range records {
		all[i] = r.ID
	}
	return all
}
