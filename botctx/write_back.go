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

// writeBack stores the run's changes of its member: of the fields that are written back, the paths that
// differ from the values that were read. Changes of others at other paths stay.
func (r *run) writeBack(ctx context.Context) error {
	after := r.bot.Member
	if after == nil || after.ID != r.bot.scope.Member {
		return boterr.New(boterr.FailedPrecondition, "Member",
			"the run of member %s put another one in its place: use an operation to change another member", r.bot.scope.Member)
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
			"what the run changed does not fit the member any more, as another writer changed it meanwhile: %w", err)
	}
	if err != nil {
		return boterr.PrefixField("Member", err)
	}
	if written.Result == nil {
		if lost := r.Refusal(); lost != nil {
			return lost
		}
		return boterr.New(boterr.NotFound, "Member", "the member %s was removed while its run was under way", after.ID)
	}
	return nil
}

// toEnd returns a ctx for what is stored at the end of a run: it goes on when the run's ctx ends, since
// what was said and done stays. A store that does not answer ends it after the time of a lease, if
// runs have a limit.
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

// isHandled reports whether the run's event was handled, up to what was written back, by a process that
// died before the inbox knew it.
func (r *run) isHandled() bool {
	return r.delivery != nil && r.bot.Member.HasHandled(handled(r.delivery))
}

// handled names what is delivered. The time is in it, since a repetition that comes after the event was
// forgotten has the same id, and is another one.
func handled(d *inbox.Delivery) string { return fmt.Sprintf("%s %d", d.ID, d.AcceptedAt.UnixMilli()) }

// unlessTakenOver is the filter of a member whose lane was not taken over from the run: the zero Object if
// the run has no lease in the store, and if members are the host's own, which need not know the field: there
// only its own clock stops a run.
func (r *run) unlessTakenOver() document.Object {
	lane := r.laneLease()
	if lane == nil || r.bot.host.Members != nil {
		return document.Object{}
	}
	return document.O(record.FieldLaneFence, document.O("$not", document.O("$gt", lane.Fence())))
}

// takeOver marks the member of a run that follows one which never came back.
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

// readings are the run's own member as it was each time that it was read, which tells
// what the run changed of the record that it has in the end.
type readings struct {
	memberID string

	mu  sync.Mutex
	all []reading
	// room is the memory of the first ones.
	room [3]reading
	// stored is the whole record as it was read last, and isKnown whether the run has not written since.
	stored  member.Member
	isKnown bool
}

// reading is a record, which the run may change, and what it was when it was read.
type reading struct {
	record *member.Member
	etag   string
	kept   members.WrittenBack
}

// add keeps a record as it is now, if it is the run's member.
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

// whole notes the whole record as it is stored, or with nil or another member's that the run may have changed its own.
func (r *readings) whole(m *member.Member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isKnown = m != nil && m.ID == r.memberID; r.isKnown {
		r.stored = *m
	}
}

// own returns the run's member as it is stored as far as the run knows, nil if it does not, and for another id.
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

// before returns the record as it was when it was read: by its etag, which a copy has, too, and
// of several with that etag the one that it differs least from, so that what a projection left
// out counts neither as new nor as removed; if there are no etags the same one, as it was read
// last; or else the one that it differs least from.
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

// closest returns the reading that meets a condition and is the fewest changes from a record, the first of
// several, or nil if none meets it.
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

// changesTo returns how many changes lead to a record, -1 for one that cannot be stored: writing it back
// returns the error.
func (one *reading) changesTo(m *member.Member) int {
	patch, err := one.kept.Changes(members.WrittenBackOf(m))
	if err != nil {
		return -1
	}
	return leaves(patch)
}

// leaves returns the number of values in an object that are no objects themselves.
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

// readMembers are operations on members whose results a run keeps as readings. It embeds nothing, so that a
// new operation on members does not compile before it is listed here.
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
