package botctx

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// writeBack stores the run's changes to its member: in the fields that are written back, the paths whose
// values differ from those read. Concurrent changes at other paths are kept.
func (r *run) writeBack(ctx context.Context) error {
	after := r.bot.Member
	if after == nil || after.ID != r.bot.scope.Member {
		return boterr.New(boterr.FailedPrecondition, "Member",
			"the run of member %s replaced it by another member: use an operation to change another member", r.bot.scope.Member)
	}
	patch, err := r.read.before(after).Changes(members.WrittenBackOf(after))
	if err != nil {
		return boterr.PrefixField("Member", err)
	}
	if patch.IsZero() {
		return nil
	}
	ctx, cancel := r.toEnd(ctx)
	defer cancel()
	written, err := r.bot.members().PatchMembers(ctx, member.PatchParams{
		MemberID: after.ID, Patch: r.andHandled(patch), WithModifier: true, Filter: r.unlessTakenOver(),
	})
	if boterr.CodeOf(err) == boterr.InvalidArgument {
		return boterr.New(boterr.Conflict, "Member",
			"the run's changes no longer fit the member, because another writer has changed it: %w", err)
	}
	if err != nil {
		return boterr.PrefixField("Member", err)
	}
	if written.Result == nil {
		if lost := r.Refusal(); lost != nil {
			return lost
		}
		return boterr.New(boterr.NotFound, "Member", "the member %s was removed during its run", after.ID)
	}
	return nil
}

// toEnd returns a ctx for storing results at the end of a run. It does not end with the run's ctx, because
// messages and other effects of the run cannot be undone. If runs have a limit, it ends after the time of a
// lease, in case the store does not answer.
func (r *run) toEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = context.WithoutCancel(ctx)
	if r.runtime.config.MaxRun < 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, r.runtime.leases.Duration())
}

// andHandled returns a change of the member that also names the event of the inbox that led to it.
func (r *run) andHandled(patch document.Object) document.Object {
	if !r.hasOwnEvent() || r.bot.host.Members != nil {
		return patch
	}
	set := document.Get(patch, "$set", document.O())
	return patch.With("$set", set.With(record.FieldHandledEvent, handled(r.delivery)))
}

// isHandled reports whether the run's event was handled, including the write-back, by a process that died
// before it told the inbox.
func (r *run) isHandled() bool {
	return r.delivery != nil && r.bot.Member.HasHandled(handled(r.delivery))
}

// handled names a delivered event. The name includes the time, because a repetition that arrives after the
// event was forgotten has the same id but is a new event.
func handled(d *inbox.Delivery) string { return fmt.Sprintf("%s %d", d.ID, d.AcceptedAt.UnixMilli()) }

// unlessTakenOver returns a filter for a member whose lane was not taken over from the run. It is the zero
// Object if the run has no lease in the store, or if members are the host's own, which may not know the
// field: there, only the host's clock stops a run.
func (r *run) unlessTakenOver() document.Object {
	lane := r.laneLease()
	if lane == nil || r.bot.host.Members != nil {
		return document.Object{}
	}
	return document.O(record.FieldLaneFence, document.O("$not", document.O("$gt", lane.Fence())))
}

// takeOver marks the member of a run that follows a run that never returned.
func (r *run) takeOver(ctx context.Context, memberID string) error {
	lane := r.laneLease()
	if lane == nil || !lane.IsOvertaken() || r.bot.host.Members != nil {
		return nil
	}
	_, err := r.bot.members().PatchMembers(ctx, member.PatchParams{
		MemberID: memberID, WithModifier: true, Patch: document.O("$set", document.O(record.FieldLaneFence, lane.Fence())),
		Filter: r.unlessTakenOver(),
	})
	if err == nil {
		lane.Mark()
	}
	return err
}

// readings holds a copy of the run's own member from each read. Comparing them with the final record gives
// the run's changes.
type readings struct {
	memberID string

	mu  sync.Mutex
	all []reading
	// room is the memory for the first readings.
	room [3]reading
	// stored is the whole record at its last reading. isKnown is true while the run has not written since.
	stored  member.Member
	isKnown bool
}

// reading is a record, which the run may change, and its content when it was read.
type reading struct {
	record *member.Member
	etag   string
	kept   members.WrittenBack
}

// add stores a record in its current state if it is the run's member.
func (r *readings) add(m *member.Member) {
	if m == nil || m.ID != r.memberID {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = r.room[:0]
	}
	r.all = append(r.all, reading{record: m, etag: m.Etag, kept: members.WrittenBackOf(m)})
}

// whole stores the whole record. A nil or another member's record means that the run may have changed its
// own.
func (r *readings) whole(m *member.Member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isKnown = m != nil && m.ID == r.memberID; r.isKnown {
		r.stored = *m
	}
}

// own returns the run's member as stored, or nil if it is unknown or id belongs to another member.
func (r *readings) own(id string) *member.Member {
	if id != r.memberID {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isKnown {
		return nil
	}
	stored := r.stored
	return &stored
}

// before returns the content of the record when it was read. It finds the reading by the etag, which copies
// share, and chooses among readings with that etag the one with the fewest differences, so that fields left
// out by a projection count neither as new nor as removed. Without etags it finds the reading of the same
// record, or else the one with the fewest differences.
func (r *readings) before(m *member.Member) members.WrittenBack {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Etag != "" {
		if alike := r.closest(m, func(one *reading) bool { return one.etag == m.Etag }); alike != nil {
			return alike.kept
		}
	}
	for i := range slices.Backward(r.all) {
		if r.all[i].record == m {
			return r.all[i].kept
		}
	}
	return r.closest(m, func(*reading) bool { return true }).kept
}

// closest returns the first reading that meets a condition with the fewest changes from a record, or nil if
// there is none.
func (r *readings) closest(m *member.Member, meets func(*reading) bool) *reading {
	var best *reading
	fewest := -1
	for i := range r.all {
		one := &r.all[i]
		if !meets(one) {
			continue
		}
		if best == nil {
			best = one
			continue
		}
		if fewest < 0 {
			fewest = best.changesTo(m)
		}
		if changes := one.changesTo(m); changes >= 0 && (fewest < 0 || changes < fewest) {
			best, fewest = one, changes
		}
	}
	return best
}

// changesTo returns the number of changes that lead to a record, or -1 for a record that cannot be stored:
// writing it back returns the error.
func (one *reading) changesTo(m *member.Member) int {
	patch, err := one.kept.Changes(members.WrittenBackOf(m))
	if err != nil {
		return -1
	}
	return leaves(patch)
}

// leaves returns the number of values in an object that are not objects.
func leaves(o document.Object) int {
	number := 0
	for _, value := range o.All() {
		if inner, isObject := value.(document.Object); isObject && inner.Len() > 0 {
			number += leaves(inner)
		} else {
			number++
		}
	}
	return number
}

// readMembers are the operations on members whose results a run keeps as readings. It embeds nothing, so that
// a new operation on members must be listed here to compile.
type readMembers struct{ services *services }

var _ member.Operations = readMembers{}

func (r readMembers) GetMember(ctx context.Context, p member.GetParams) (*member.Member, error) {
	found, err := r.services.allMembers().GetMember(ctx, p)
	r.services.run.read.add(found)
	if found != nil && found.ID == r.services.run.read.memberID {
		r.services.run.read.whole(found)
	}
	return found, err
}

func (r readMembers) PatchMembers(
	ctx context.Context, p member.PatchParams,
) (member.PatchResult, error) {
	patched, err := r.services.allMembers().PatchMembers(ctx, p)
	r.services.run.read.add(patched.Result)
	r.services.run.read.whole(patched.Result)
	return patched, err
}

func (r readMembers) FindAndModifyMember(
	ctx context.Context, p member.FindAndModifyParams,
) (member.FindAndModifyResult, error) {
	found, err := r.services.allMembers().FindAndModifyMember(ctx, p)
	r.services.run.read.add(found.Member)
	if p.Option.New && p.Option.Projection.IsZero() && p.Option.Fields.IsZero() {
		r.services.run.read.whole(found.Member)
	} else {
		r.services.run.read.whole(nil)
	}
	return found, err
}

func (r readMembers) UpdateMember(
	ctx context.Context, p member.UpdateParams,
) (member.UpdateResult, error) {
	updated, err := r.services.allMembers().UpdateMember(ctx, p)
	r.services.run.read.add(updated.Docs)
	r.services.run.read.whole(updated.Docs)
	return updated, err
}

func (r readMembers) CheckAndSaveMemberReferFrom(
	ctx context.Context, p member.CheckAndSaveReferFromParams,
) (*member.Member, error) {
	saved, err := r.services.allMembers().CheckAndSaveMemberReferFrom(ctx, p)
	r.services.run.read.add(saved)
	r.services.run.read.whole(saved)
	return saved, err
}
