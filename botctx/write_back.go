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

// writeBack stores the run's changes to its member: the paths in botMeta, meta, customLocale and group whose values
// differ from the values that the run read. Concurrent changes at other paths are kept.
func (r *run) writeBack(ctx context.Context) error {
	after := r.bot.Member
	if after == nil || after.ID != r.bot.scope.Member {
		return boterr.New(boterr.FailedPrecondition, "Member",
			"bot.Member is no longer the member %s of the run: to change another member, use an operation", r.bot.scope.Member)
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
	write := r.bot.members().PatchMembers
	if r.bot.host.Members == nil {
		write = r.bot.own.members.PatchByRun
	}
	written, err := write(ctx, member.PatchParams{
		MemberID: after.ID, Patch: r.andHandled(patch), WithModifier: true, Filter: r.unlessTakenOver(),
	})
	if boterr.CodeOf(err) == boterr.InvalidArgument {
		return boterr.New(boterr.Conflict, "Member",
			"another writer changed the member, and the run's changes no longer fit; run it again: %w", err)
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

// toEnd returns a ctx for storing the results of a run. It outlives the run's ctx, because messages and other effects
// of the run cannot be undone. If runs have a time limit, it ends after the length of a lease, so that a store that
// does not answer cannot block the run forever.
func (r *run) toEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = context.WithoutCancel(ctx)
	if r.runtime.config.MaxRun < 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, r.runtime.leases.Duration())
}

// andHandled returns a patch that also stores the event of the inbox that the run handled.
func (r *run) andHandled(patch document.Object) document.Object {
	if !r.hasOwnEvent() || r.bot.host.Members != nil {
		return patch
	}
	set := document.Get(patch, "$set", document.O())
	return patch.With("$set", set.With(record.FieldHandledEvent, handled(r.delivery)))
}

// isHandled reports whether an earlier attempt handled the run's event and wrote back the member, but its process died
// before the inbox stored the result.
func (r *run) isHandled() bool {
	return r.delivery != nil && r.bot.Member.HasHandled(handled(r.delivery))
}

// isErased reports whether an inbox's event was erased with its member while it waited.
func isErased(d *inbox.Delivery) bool { return d != nil && d.IsErased() }

// handled returns a name for a delivered event. It includes the time: if the platform repeats an event after
// Retention.HandledEvents, the repetition has the same id but counts as a new event.
func handled(d *inbox.Delivery) string { return fmt.Sprintf("%s %d", d.ID, d.AcceptedAt.UnixMilli()) }

// unlessTakenOver returns a filter that does not match the member if another run has taken over the lane. It is the
// zero Object if the run has no lease. It is also zero if the host replaces the operations on members, because the
// host's implementation may not know the field of the fence; then only the expiry of the lease stops the run.
func (r *run) unlessTakenOver() document.Object {
	lane := r.laneLease()
	if lane == nil || r.bot.host.Members != nil {
		return document.Object{}
	}
	return document.O(record.FieldLaneFence, document.O("$not", document.O("$gt", lane.Fence())))
}

// takeOver stores the fence of the run's lease in the member if an earlier run lost the lane without releasing it. The
// write-back of that run then fails.
func (r *run) takeOver(ctx context.Context, memberID string) error {
	lane := r.laneLease()
	if lane == nil || !lane.IsOvertaken() || r.bot.host.Members != nil {
		return nil
	}
	_, err := r.bot.own.members.PatchByRun(ctx, member.PatchParams{
		MemberID: memberID, WithModifier: true, Patch: document.O("$set", document.O(record.FieldLaneFence, lane.Fence())),
		Filter: r.unlessTakenOver(),
	})
	if err == nil {
		lane.Mark()
	}
	return err
}

// readings holds a copy of the run's member from each read. The run's changes are the differences between a reading and
// the final record.
type readings struct {
	memberID string

	mu  sync.Mutex
	all []reading
	// room is the memory for the first readings, which saves an allocation.
	room [3]reading
	// stored is the whole record from the last read. isKnown is false if the stored record may have changed since.
	stored  member.Member
	isKnown bool
}

// reading is a record that a run read, and a copy of its content at that time. The run may change the record.
type reading struct {
	record *member.Member
	etag   string
	kept   members.WrittenBack
}

// add adds a reading if m is the run's member.
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

// whole sets stored. If m is nil or another member, the run's member may have changed in the store, and stored becomes
// unknown.
func (r *readings) whole(m *member.Member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isKnown = m != nil && m.ID == r.memberID; r.isKnown {
		r.stored = *m
	}
}

// own returns a copy of stored, or nil if it is unknown or if id is not the run's member.
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

// before returns the content of m when the run read it. It looks for readings with the same etag, because m may be a
// copy of a record. Among several with that etag, before chooses the one with the fewest differences, so that fields
// left out by a projection do not count as changes. If no reading has the etag, it chooses the reading of the same
// pointer, or else the one with the fewest differences.
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

// closest returns the reading with the fewest differences from m among the readings that meet a condition. It returns
// nil if none meets it. If several are equally close, it returns the first.
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

// changesTo returns the number of changes from the reading to m, or -1 if m cannot be stored. writeBack returns the
// error then.
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

// readMembers wraps the operations on members and adds their results to the run's readings. It embeds no interface, so
// that the compiler requires a method here for each new operation.
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
