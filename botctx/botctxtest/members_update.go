package botctxtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

var updateMemberRules = []Rule{
	{
		Name:  "UpdateMemberSetsTheGivenFields",
		Text:  "updateMember sets the given fields, an empty one to what is empty; those that are not given stay",
		check: updateMemberSetsTheGivenFields,
	},
	{
		Name:  "UpdateMemberTellsWhatItDid",
		Text:  "updateMember returns the id, the member after the change, and modified: 1, or 0 where nothing changed",
		check: updateMemberTellsWhatItDid,
	},
	{
		Name:  "UpdateMemberTakesWhatWasRead",
		Text:  "a member that was read and changed can be given back whole",
		check: updateMemberTakesWhatWasRead,
	},
	{
		Name:  "UpdateMemberAndStaleEtags",
		Text:  "the last write wins, unless the host asked for etag checks: then a stale etag is Conflict",
		check: updateMemberAndStaleEtags,
	},
	{
		Name:  "UpdateMemberStampsChanges",
		Text:  "a change of a member renews _version and etag, and keeps createdAt; what changes nothing renews none",
		check: updateMemberStampsChanges,
	},
	{
		Name:  "MembersTellWhenTheyChanged",
		Text:  "a change renews updatedAt to the time of the change and keeps createdAt; what changes nothing renews none",
		Needs: []Capability{moveClock},
		check: membersTellWhenTheyChanged,
	},
}

// update updates a member, without an error.
func (t *trial) update(pairs ...any) member.UpdateMemberResult {
	t.Helper()
	result, err := t.home.UpdateMember(t.ctx(), member.UpdateMemberParams{Member: document.O(pairs...)})
	require.NoError(t, err)
	return result
}

func updateMemberSetsTheGivenFields(t *trial) {
	m := t.neighbour(member.Member{FirstName: "Eve", LastName: "Low", Gender: "f", Meta: document.O("n", 1)})
	t.update("_id", m.ID, "firstName", "Eva", "gender", "", "meta", document.O("m", 2))
	after := t.load(m)
	require.Equal(t, "Eva", after.FirstName)
	require.Equal(t, "Low", after.LastName, "a field that is not given stays")
	require.Empty(t, after.Gender, "a field that is given empty")
	require.JSONEq(t, `{"m": 2}`, after.Meta.String(), "an object is set as a whole")
	require.Empty(t, t.load(t.home.member).LastName, "another member")
}

func updateMemberTellsWhatItDid(t *trial) {
	m := t.neighbour(member.Member{})
	for _, modified := range []int64{1, 0} {
		result := t.update("_id", m.ID, "firstName", "Eva")
		require.Equal(t, []string{m.ID}, result.DocsIDs.Updated)
		require.Equal(t, textOf(t, t.load(m)), textOf(t, result.Docs))
		require.Equal(t, modified, result.Modified)
	}
	t.update("_id", m.ID)
}

func updateMemberTakesWhatWasRead(t *trial) {
	read := t.load(t.neighbour(member.Member{FirstName: "Eve", Unknown: document.O("loyalty", 7)}))
	read.FirstName = "Eva"
	read.Meta.Set("order.id", 5)
	whole, err := document.Encode(read)
	require.NoError(t, err)
	result, err := t.home.UpdateMember(t.ctx(), member.UpdateMemberParams{Member: whole})
	require.NoError(t, err)
	require.Equal(t, int64(1), result.Modified)
	after := t.load(read)
	requireSamePlace(t, read, after)
	read.Version, read.Etag, read.UpdatedAt = after.Version, after.Etag, after.UpdatedAt
	require.JSONEq(t, textOf(t, read), textOf(t, after))
}

func updateMemberAndStaleEtags(t *trial) {
	m := t.load(t.neighbour(member.Member{}))
	t.update("_id", m.ID, "gender", "f")
	before := t.state()
	result, err := t.home.UpdateMember(t.ctx(), member.UpdateMemberParams{
		Member: document.O("_id", m.ID, "etag", m.Etag, "gender", "m"),
	})
	if t.ChecksEtags {
		t.requireError(botctx.OpUpdateMember, boterr.Conflict, "member.etag", err)
		require.Zero(t, result)
		require.Equal(t, before, t.state())
		return
	}
	require.NoError(t, err)
	require.Equal(t, "m", t.load(m).Gender)
	require.NotEqual(t, m.Etag, t.load(m).Etag, "an etag that is given is not written")
}

func updateMemberStampsChanges(t *trial) {
	m := t.neighbour(member.Member{})
	requireStamps(t, m, func(to string) error {
		return errorOf(t.home.UpdateMember(t.ctx(), member.UpdateMemberParams{
			Member: document.O("_id", m.ID, "gender", to, "_version", 99, "updatedAt", 1),
		}))
	})
}

func membersTellWhenTheyChanged(t *trial) {
	m := t.home.member
	before := t.load(m)
	t.Advance(time.Hour)
	t.update("_id", m.ID, "gender", "f")
	changed := t.load(m)
	require.Equal(t, before.CreatedAt, changed.CreatedAt)
	require.GreaterOrEqual(t, changed.UpdatedAt.Time(), before.UpdatedAt.Time().Add(time.Hour))
	t.Advance(time.Hour)
	t.update("_id", m.ID, "gender", "f")
	require.Equal(t, changed.UpdatedAt, t.load(m).UpdatedAt)
}
