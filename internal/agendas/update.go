package agendas

import (
	"cmp"
	"context"
	"slices"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
)

// UpdateAgenda implements Operations.
func (s *Service) UpdateAgenda(ctx context.Context, p agenda.UpdateParams) (agenda.UpdateResult, error) {
	u, err := s.newUpdate(ctx, p)
	if err != nil {
		return agenda.UpdateResult{}, err
	}
	// tries is the number of attempts of an update. If all agendas that were read as open have ended before the
	// write, the open ones are read again.
	const tries = 8
	for range tries {
		open, err := u.open(ctx)
		if err != nil {
			return agenda.UpdateResult{}, err
		}
		if len(open) == 0 {
			return emptyUpdate(), nil
		}
		written, err := u.write(ctx, open)
		if err != nil {
			return agenda.UpdateResult{}, err
		}
		if written.Matched > 0 {
			return u.result(context.WithoutCancel(ctx), open, written) // The change is already made.
		}
	}
	return agenda.UpdateResult{}, boterr.New(boterr.Conflict, "", "the member's agendas kept changing: try again")
}

type update struct {
	service *Service
	params  agenda.UpdateParams
	// given is the schedule in the call. planned is the same schedule with its zone and next run.
	given, planned schedule
}

// newUpdate checks the parameters that do not depend on the stored agendas, and returns them as an update.
func (s *Service) newUpdate(ctx context.Context, p agenda.UpdateParams) (*update, error) {
	given := schedule{next: p.NextRunAt, pattern: p.Pattern, until: p.RunUntil}
	if _, err := members.ByRequiredID(p.MemberID).Resolve(); err != nil {
		return nil, err
	}
	switch {
	case p.Replace && p.Tag == "":
		return nil, errNoTag
	case p.Meta.Err() != nil:
		return nil, boterr.PrefixField("meta", p.Meta.Err())
	}
	if err := given.checkGiven(); err != nil {
		return nil, err
	}
	planned, err := s.planUpdate(ctx, p.MemberID, given)
	if err != nil {
		return nil, err
	}
	return &update{service: s, params: p, given: given, planned: planned}, planned.checkEnd(given)
}

// planUpdate is like plan, but allows a removed member, whose agendas can still be changed although they do not run.
func (s *Service) planUpdate(ctx context.Context, memberID string, given schedule) (schedule, error) {
	if !s.asksZone(given) {
		return s.planIn("", given)
	}
	m, err := members.Load(ctx, s.ports.Members, members.ByRequiredID(memberID))
	switch {
	case boterr.CodeOf(err) == boterr.NotFound:
		return s.planIn("", given)
	case err != nil:
		return given, err
	default:
		return s.plan(ctx, m, given)
	}
}

// open returns the agendas to update in the order of their creation. With Replace, it returns only the newest, which
// replaces the others.
func (u *update) open(ctx context.Context) ([]*agenda.Record, error) {
	found, err := u.service.ofMember(u.params.MemberID, u.params.Tag).Find(ctx, record.Query{Filter: openFilter(u.params.Tag)})
	if err != nil {
		return nil, err
	}
	if u.params.Replace && len(found) > 1 {
		found = found[len(found)-1:]
	}
	open := make([]*agenda.Record, len(found))
	for i, o := range found {
		if !u.params.Meta.IsZero() {
			if err := document.CheckExtent(o.With(fieldMeta, u.params.Meta), maxRecord); err != nil {
				return nil, boterr.WithField("meta", err)
			}
		}
		if open[i], err = fromDocument(o); err != nil {
			return nil, err
		}
		if err := u.check(open[i]); err != nil {
			return nil, err
		}
		if err := u.checkNode(open[i]); err != nil {
			return nil, err
		}
	}
	return open, nil
}

// checkNode returns an error if the node that an agenda would have does not exist. Callers of UpdateAgenda have checked
// a node that is given with its tree.
func (u *update) checkNode(r *agenda.Record) error {
	p := u.params
	if (p.TreeID == "") == (p.NodeCompositeID == "") {
		return nil
	}
	err := u.service.ports.CheckNode(cmp.Or(p.TreeID, r.Tree), cmp.Or(p.NodeCompositeID, r.NodeCompositeID))
	if e, ok := boterr.AsError(err); ok && p.TreeID != "" {
		return boterr.New(e.Code, "treeId", "agenda %s: %w", r.ID, e.Err)
	}
	return err
}

// check returns an error if the update does not fit the stored schedule of an agenda.
func (u *update) check(r *agenda.Record) error {
	if u.given == (schedule{}) {
		return nil
	}
	after := schedule{
		next:    cmp.Or(u.planned.next, r.NextRunAt),
		pattern: cmp.Or(u.given.pattern, r.Pattern),
		until:   cmp.Or(u.given.until, r.RunUntil),
	}
	err := after.check(u.given)
	if e, ok := boterr.AsError(err); ok {
		return boterr.New(e.Code, e.Field, "agenda %s: %s", r.ID, e.Message())
	}
	return err
}

// write changes the given agendas in a single write, if they are still open and the update still fits their
// schedules.
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
	written, err := u.service.ofMember(u.params.MemberID, u.params.Tag).Update(ctx, record.Patch{
		Filter:       document.O(filter...),
		Patch:        document.O("$set", document.O(set...), "$unset", document.O(unset...)),
		WithModifier: true,
		Multi:        true,
	})
	if err == nil && u.planned.next != 0 {
		notify(u.service.env.Store, u.planned.next.Time())
	}
	return written, inMeta(err)
}

// fits returns the conditions of check as pairs of a filter: after the update an agenda must have no pattern,
// or no RunUntil, or a next run that is not after RunUntil. Values that the update sets need no condition.
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

// fields returns the fields that the update sets, and the fields that it removes, both as pairs of name and value.
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

// resetAttempts returns the fields to remove from an agenda with a new schedule: all traces of earlier attempts. The
// lease of a current run stays. That run detects the new schedule by the missing fields Attempts and Begun.
func resetAttempts() []any {
	return []any{
		fieldAttempts, true, fieldFailures, true, fieldRetryAt, true, fieldFailed, true, fieldError, true,
		fieldFailedAt, true, fieldLost, true, fieldBegun, true,
	}
}

// replacementNumber returns the number with which an agenda replaces the others of its tag. It returns 0 if the
// agenda already has the greatest number.
func (u *update) replacementNumber(ctx context.Context, r *agenda.Record) (int64, error) {
	number, exists, err := u.service.lastOf(ctx, u.params.MemberID, u.params.Tag,
		openFilter(u.params.Tag).With(record.FieldID, document.O("$ne", r.ID)))
	if err != nil || !exists || number < r.Replaces {
		return 0, err
	}
	return number + 1, nil
}

// result removes replaced agendas and returns the result of the update.
func (u *update) result(
	ctx context.Context, open []*agenda.Record, written store.UpdateResult,
) (agenda.UpdateResult, error) {
	if u.params.Replace {
		if err := u.service.removeReplaced(ctx, u.params.MemberID, u.params.Tag); err != nil {
			return agenda.UpdateResult{}, err
		}
	}
	found, err := u.service.Find(ctx, record.Query{
		Filter: document.O(record.FieldID, document.O("$in", document.A(ids(open)...))),
	})
	if err != nil {
		return agenda.UpdateResult{}, err
	}
	result := emptyUpdate()
	result.Modified = written.Modified
	for _, r := range found {
		if written.Matched < int64(len(open)) && !r.Completed {
			// The schedule of one agenda may have changed so that the update no longer fits it.
			if err := u.check(r); err != nil {
				return agenda.UpdateResult{}, err
			}
		}
		result.DocsIDs.Updated = append(result.DocsIDs.Updated, r.ID)
		result.Docs = append(result.Docs, &r.Agenda)
	}
	return result, nil
}

// emptyUpdate is the result of an update that matched nothing.
func emptyUpdate() agenda.UpdateResult {
	return agenda.UpdateResult{DocsIDs: agenda.DocsIDs{Updated: []string{}}, Docs: []*agenda.Agenda{}}
}

func ids(records []*agenda.Record) []any {
	all := make([]any, len(records))
	for i, r := range records {
		all[i] = r.ID
	}
	return all
}

// A replacement replaces the open agendas of a member and tag, in three steps: it reads their greatest number,
// writes an agenda with the next number, and removes all agendas but the last. The last is the agenda with the
// greatest number and, if several have that number, with the greatest id. So the agenda of the last replacement
// remains, regardless of clocks. Two concurrent replacements may use the same number; then one of their agendas
// remains. An agenda is removed only after its replacement exists, so there is always one. If a replacement is
// interrupted, the next one completes it.

// lastOf returns the number of the last of the matching open agendas of a member and tag: 0 if it was created without
// replace. exists is false if there is no such agenda.
func (s *Service) lastOf(ctx context.Context, memberID, tag string, filter document.Object) (number int64, exists bool, err error) {
	found, err := s.ofMember(memberID, tag).Find(ctx, record.Query{
		Filter: filter,
		SortBy: document.O(fieldReplaces, -1),
		Limit:  1,
	})
	if err != nil || len(found) == 0 {
		return 0, false, err
	}
	return document.Get(found[0], fieldReplaces, int64(0)), true, nil
}

// removeReplaced removes the open agendas of a member and tag that have been replaced. It only removes agendas whose
// numbers have not changed since it read them: after a deletion, numbers may start again from 1, and an update may
// have made one of the agendas the last.
func (s *Service) removeReplaced(ctx context.Context, memberID, tag string) error {
	found, err := s.ofMember(memberID, tag).Find(ctx, record.Query{
		Filter: openFilter(tag),
		SortBy: document.O(fieldReplaces, -1, record.FieldID, -1),
	})
	if err != nil || len(found) == 0 || document.Get(found[0], fieldReplaces, int64(0)) == 0 {
		return err
	}
	// The cost of a deletion grows with the product of its conditions and documents, so it is done in parts.
	for part := range slices.Chunk(found[1:], record.RemovalBatch) {
		ids, unchanged := make([]any, len(part)), make([]any, len(part))
		for i, o := range part {
			ids[i], _ = o.Field(record.FieldID)
			number, _ := o.Field(fieldReplaces) // nil matches a field that is missing.
			unchanged[i] = document.O(record.FieldID, ids[i], fieldReplaces, number)
		}
		which := document.O(record.FieldID, document.O("$in", document.A(ids...)), "$or", document.A(unchanged...))
		if _, err := s.ofMember(memberID, tag).Delete(ctx, which); err != nil {
			return err
		}
	}
	return nil
}
