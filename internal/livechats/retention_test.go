package livechats_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/store"
)

const (
	month = 30 * 24 * time.Hour
	year  = 365 * 24 * time.Hour
)

// noonStore is a store whose clock shows noon.
type noonStore struct{ store.Store }

// Now implements store.Store.
func (noonStore) Now(context.Context) (time.Time, error) { return time.UnixMilli(noon), nil }

// history is a store at noon of which old chats are to be removed.
type history struct {
	*fixture

	env record.Env
}

func newHistory(t *testing.T) *history {
	t.Helper()
	s := newFixture(t)
	env := s.mine.env
	env.Store = noonStore{Store: s.store}
	return &history{fixture: s, env: env}
}

// assignment stores an assignment that ended some time ago, 0 for an open one.
func (h *history) assignment(t *testing.T, id string, ago time.Duration, more ...any) {
	t.Helper()
	o := document.O("_id", id, "app", "mine", "member", "m-"+id, "inlet", "web", "createdAt", h.at(-year), "slot", "member/"+id)
	if ago > 0 {
		o = o.With("endedAt", h.at(-ago)).With("slot", "ended/"+id)
	}
	h.insert(t, "assignments", o, more...)
}

// group stores a group of an assignment that was changed last some time ago.
func (h *history) group(t *testing.T, id, assignment string, ago time.Duration, more ...any) {
	t.Helper()
	h.insert(t, "groups", document.O("_id", id, "app", "mine", "assignment", assignment, "member", "m-"+assignment,
		"active", false, "createdAt", h.at(-year), "updatedAt", h.at(-ago)), more...)
}

func (h *history) insert(t *testing.T, collection string, o document.Object, more ...any) {
	t.Helper()
	for i := 0; i < len(more); i += 2 {
		o = o.With(more[i].(string), more[i+1])
	}
	require.NoError(t, h.store.Collection(collection).Insert(t.Context(), o))
}

// left returns the ids that are still in a collection.
func (h *history) left(t *testing.T, collection string) []string {
	t.Helper()
	all, err := h.store.Collection(collection).Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	ids := []string{}
	for _, o := range all {
		ids = append(ids, document.Get(o, "_id", ""))
	}
	return ids
}

func TestRemoveEnded_KeepsWhatIsNeeded(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.assignment(t, "old", 2*month)
	h.assignment(t, "foreign", 2*month, "app", "theirs")
	h.assignment(t, "young", month/2)
	h.assignment(t, "handed on", 2*month, "endedBy", "reassign")
	h.assignment(t, "open", 0, "parentAssignment", "handed on", "group", "in use")
	h.assignment(t, "handed on to what ended", 2*month)
	h.assignment(t, "next, ended", month/2, "parentAssignment", "handed on to what ended")
	h.group(t, "of old", "old", 2*month)
	h.group(t, "left active", "old", 2*month, "active", true)
	h.group(t, "of foreign", "foreign", 2*month, "app", "theirs")
	h.group(t, "of young", "young", month/2)
	h.group(t, "in use", "old", 2*month, "active", true)
	h.group(t, "without an assignment", "", 2*month)
	h.group(t, "live without one", "", 2*month, "active", true)

	for range 2 { // The second time there is nothing left.
		_, err := livechats.RemoveEnded(t.Context(), h.env, month)
		require.NoError(t, err)
		require.Equal(t, []string{"young", "handed on", "open", "next, ended"}, h.left(t, "assignments"))
		require.Equal(t, []string{"of young", "in use", "live without one"}, h.left(t, "groups"))
	}
}

func TestRemoveEnded_Count(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for i := range 3 {
		id := strconv.Itoa(i)
		h.assignment(t, id, 2*month)
		h.group(t, "g"+id, id, 2*month)
	}
	h.group(t, "alone", "", 2*month)
	removed, err := livechats.RemoveEnded(t.Context(), h.env, -1)
	require.NoError(t, err)
	require.Zero(t, removed)
	removed, err = livechats.RemoveEnded(t.Context(), h.env, month)
	require.NoError(t, err)
	require.Equal(t, livechats.Removed{Assignments: 3, Groups: 4}, removed)
	removed, err = livechats.RemoveEnded(t.Context(), h.env, month)
	require.NoError(t, err)
	require.Zero(t, removed)
}

func TestRemoveEnded_ManySpared(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	for i := range record.RemovalBatch + 1 { // More than a batch is spared, all of one time.
		id := strconv.Itoa(i)
		h.assignment(t, id, 3*month)
		h.assignment(t, "open"+id, 0, "parentAssignment", id)
	}
	for i := range 2*record.RemovalBatch + 1 {
		h.assignment(t, "old"+strconv.Itoa(i), 2*month)
	}
	removed, err := livechats.RemoveEnded(t.Context(), h.env, month)
	require.NoError(t, err)
	require.EqualValues(t, 2*record.RemovalBatch+1, removed.Assignments)
	require.Len(t, h.left(t, "assignments"), 2*record.RemovalBatch+2)
}

func TestEraseMember_OnlyTheirs(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	h.assignment(t, "ended", month, "member", "ada")
	h.assignment(t, "open", 0, "member", "ada")
	h.assignment(t, "bob's", month)
	h.assignment(t, "foreign", month, "member", "ada", "app", "theirs")
	h.group(t, "by its assignment", "ended", month, "member", "")
	h.group(t, "by the member", "gone", month, "member", "ada", "active", true)
	h.group(t, "of bob", "bob's", month, "active", true)
	h.group(t, "foreign", "foreign", month, "member", "ada", "app", "theirs", "active", true)

	removed, err := livechats.EraseMember(t.Context(), h.env, "mine", "ada")
	require.NoError(t, err)
	require.Equal(t, livechats.Removed{Assignments: 2, Groups: 2}, removed)
	require.Equal(t, []string{"bob's", "foreign"}, h.left(t, "assignments"))
	require.Equal(t, []string{"of bob", "foreign"}, h.left(t, "groups"))
	removed, err = livechats.EraseMember(t.Context(), h.env, "mine", "ada")
	require.NoError(t, err)
	require.Zero(t, removed)

	_, err = livechats.EraseMember(t.Context(), h.env, "mine", "")
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = livechats.EraseMember(t.Context(), h.env, "", "ada")
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestEraseMember_ChatGoesOnForOthers(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada")
	s.taken(t, "a2", "bob", "U7@desk")
	_, err := livechats.EraseMember(t.Context(), s.mine.env, "mine", "ada")
	require.NoError(t, err)
	require.Empty(t, s.assignments(t, "ada"))
	did, err := s.mine.RelayFromMember(t.Context(), "bob", *event("b", "", "hi"))
	require.NoError(t, err)
	require.Equal(t, livechats.OutcomeDelivered, did)
}

func TestTake_GroupWasRemoved(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) { r.Group = "removed" })
	taken, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: "a1", ChannelID: "desk", AdminExternalID: "U7"})
	require.NoError(t, err)
	require.NotEqual(t, "removed", taken.Group.ID)
}
