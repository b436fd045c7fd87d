package livechats

import (
	"context"
	"slices"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// Removed counts the records that RemoveEnded or EraseMember removed.
type Removed struct {
	// Assignments and Groups are the numbers of removed records.
	Assignments, Groups int64
}

// RemoveEnded removes, for all apps, assignments that ended longer ago than olderThan by the store's clock, with
// their groups, and groups that have been inactive for as long. A negative olderThan keeps everything.
//
// It may run during live chats, and in several processes at once. It keeps the groups of open assignments, and
// an assignment that was handed on to an open one. It works in batches, and needs the indexes from
// EnsureIndexes. After an error, a repeated call removes the rest. Errors come from the store.
func RemoveEnded(ctx context.Context, env record.Env, olderThan time.Duration) (removed Removed, err error) {
	if olderThan < 0 {
		return Removed{}, nil
	}
	now, err := env.Store.Now(ctx)
	if err != nil {
		return Removed{}, err
	}
	before := document.O("$lt", int64(document.TimestampOf(now.Add(-olderThan))))
	sweep := sweeper{env: env}
	removed.Assignments, err = record.Open(env, assignmentSchema).Remove(ctx, record.Removal{
		Filter: document.O(fieldEndedAt, before), OldestBy: fieldEndedAt, Spare: sweep.parents,
	})
	if err == nil {
		removed.Groups, err = record.Open(env, groupSchema).Remove(ctx, record.Removal{
			Filter: document.O(fieldActive, false, record.FieldUpdatedAt, before), OldestBy: record.FieldUpdatedAt, Spare: sweep.groupsInUse,
		})
	}
	removed.Groups += sweep.groups
	return removed, err
}

// EraseMember removes the assignments and groups of a member of an app, including open ones: call EndErased first, so
// that the agent gets a text. It works in batches; after an error, the same call removes the rest. It
// returns InvalidArgument if the id of the app or the member is missing. Other errors come from the store.
func EraseMember(ctx context.Context, env record.Env, app, memberID string) (removed Removed, err error) {
	switch {
	case app == "":
		return Removed{}, boterr.Missing("app", "the id of the member's app")
	case memberID == "":
		return Removed{}, boterr.Missing("memberId", "the id of the member to erase")
	}
	groups := record.OfApp(env, groupSchema, app)
	which := record.Removal{Filter: document.O(fieldMember, memberID)}
	// The groups of an assignment are removed first, so that after a crash the assignment still leads to
	// them.
	sweep := sweeper{env: env, all: true}
	removed.Assignments, err = record.OfApp(env, assignmentSchema, app).Remove(ctx, record.Removal{
		Filter: which.Filter, OldestBy: record.FieldCreatedAt, Spare: sweep.parents,
	})
	if err == nil {
		removed.Groups, err = groups.Remove(ctx, which)
	}
	removed.Groups += sweep.groups
	return removed, err
}

// sweeper removes the groups of assignments that are about to be removed. It also finds the records that open
// assignments still need.
type sweeper struct {
	env record.Env
	// all is true if records that open assignments need must be removed, too.
	all bool
	// groups is the number of removed groups.
	groups int64
}

// parents returns the ids of the assignments in a batch that were handed on to an open one. It removes the
// groups of the other assignments.
func (s *sweeper) parents(ctx context.Context, batch []document.Object) (map[string]bool, error) {
	spare := map[string]bool{}
	for app, ids := range idsByApp(batch) {
		if !s.all {
			if err := s.addNeeded(ctx, spare, app, fieldParentAssignment, ids); err != nil {
				return nil, err
			}
		}
		ended := slices.DeleteFunc(ids, func(id string) bool { return spare[id] })
		removal := record.Removal{Filter: document.O(fieldAssignment, document.O("$in", ended))}
		if !s.all {
			removal.OldestBy, removal.Spare = record.FieldCreatedAt, s.groupsInUse
		}
		removed, err := record.OfApp(s.env, groupSchema, app).Remove(ctx, removal)
		s.groups += removed
		if err != nil {
			return nil, err
		}
	}
	return spare, nil
}

// groupsInUse returns the ids of the groups in a batch that belong to open assignments.
func (s *sweeper) groupsInUse(ctx context.Context, batch []document.Object) (map[string]bool, error) {
	spare := map[string]bool{}
	for app, ids := range idsByApp(batch) {
		if err := s.addNeeded(ctx, spare, app, fieldGroup, ids); err != nil {
			return nil, err
		}
	}
	return spare, nil
}

// addNeeded adds the ids to spare that an app's open assignments have in a field.
func (s *sweeper) addNeeded(ctx context.Context, spare map[string]bool, app, field string, ids []string) error {
	open, err := record.OfApp(s.env, assignmentSchema, app).Find(ctx, record.Query{
		Filter: document.O(field, document.O("$in", ids), fieldEndedAt, isAbsent),
	})
	for _, o := range open {
		spare[document.Get(o, field, "")] = true
	}
	return err
}

func idsByApp(records []document.Object) map[string][]string {
	ids := map[string][]string{}
	for _, o := range records {
		app := document.Get(o, record.FieldApp, "")
		ids[app] = append(ids[app], document.Get(o, record.FieldID, ""))
	}
	return ids
}
