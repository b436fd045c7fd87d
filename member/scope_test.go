package member_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
)

func TestOperations_MembersOfAnotherApp(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	insert(t, a.theirs, `{"_id": "t1", "firstName": "Tom"}`)
	before := a.stored(t)
	for _, filter := range []string{
		`{}`, `{"_id": "t1"}`, `{"app": "theirs"}`, `{"app": {"$ne": "mine"}}`, `{"app": {"$in": ["mine", "theirs"]}}`,
		`{"$or": [{"app": "theirs"}, {"_id": "t1"}]}`, `{"$nor": [{"app": "mine"}]}`, `{"$and": [{"$or": [{}, {"app": "theirs"}]}]}`,
	} {
		found := must(t, a.mine.FindAndModifyMember, `{"filter": `+filter+`, "patch": {"$set": {"firstName": "Eve"}}}`)
		require.JSONEq(t, `{"ok": 1, "member": null}`, found.String(), filter)
		patched := must(t, a.mine.PatchMembers, `{"filter": `+filter+`, "patch": {"firstName": "Eve"}}`)
		require.JSONEq(t, `{"result": null}`, patched.String(), filter)
		patched = must(t, a.mine.PatchMembers, `{"memberId": "t1", "filter": `+filter+`, "patch": {"firstName": "Eve"}}`)
		require.JSONEq(t, `{"result": null}`, patched.String(), filter)
	}
	for _, err := range []error{
		refusal(t, a.mine.GetMember, `{"memberId": "t1"}`),
		refusal(t, a.mine.UpdateMember, `{"member": {"_id": "t1", "firstName": "Eve"}}`),
		refusal(t, a.mine.CheckAndSaveMemberReferFrom, `{"memberId": "t1", "referFrom": "c1"}`),
		refusal(t, a.mine.PatchMembers, `{"channel": {"_id": "c3"}, "patch": {"firstName": "Eve"}}`),
	} {
		require.ErrorIs(t, err, boterr.NotFound)
	}
	require.Equal(t, before, a.stored(t))
}

// refusal returns the error of a call.
func refusal[P, R any](t *testing.T, run operation[P, R], params string) error {
	t.Helper()
	_, err := call(t, run, params)
	return err
}

func TestOperations_ForgedRecords(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`)
	insert(t, a.theirs, `{"_id": "t1"}`)
	before := a.stored(t)
	for _, err := range []error{
		refusal(t, a.mine.PatchMembers, `{"channel": {"_id": "c3", "app": "mine"}, "patch": {"firstName": "Eve"}}`),
		refusal(t, a.mine.UpdateMember, `{"member": {"_id": "t1", "app": "mine", "firstName": "Eve"}}`),
	} {
		require.ErrorIs(t, err, boterr.NotFound)
	}
	require.Equal(t, before, a.stored(t))
	must(t, a.mine.PatchMembers, `{"channel": {"_id": "c1", "app": "theirs", "name": "forged", "type": "alpha", "info": {}}, "patch": {"gender": "f"}}`)
	require.Equal(t, "f", load(t, a.mine, "m1").Gender, "a channel is an address, and what else it holds is not looked at")
}

func TestPatches_MoveNoRecord(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1", "firstName": "Ada"}`)
	before := a.stored(t)
	for _, patch := range []string{
		`{"$set": {"app": "theirs"}}`, `{"$set": {"channel": "c2"}}`, `{"$unset": {"app": ""}}`, `{"$rename": {"channel": "was"}}`,
		`{"$rename": {"firstName": "app"}}`, `{"$set": {"app.x": 1}}`, `{"app": "theirs"}`, `{"channel": "c3", "app": "theirs"}`,
		`{"_id": "m2"}`, `{"$inc": {"createdAt": 1}}`, `{"$currentDate": {"createdAt": true}}`,
	} {
		err := refusal(t, a.mine.FindAndModifyMember, `{"filter": {"_id": "m1"}, "patch": `+patch+`}`)
		require.ErrorIs(t, err, boterr.InvalidArgument, patch)
		require.Equal(t, before, a.stored(t), patch)
	}
}

func TestUpdateMember_FixedFieldsAsTheyAre(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1", "firstName": "Ada"}`)
	a.advance()
	m := load(t, a.mine, "m1")
	m.FirstName, m.Version, m.Etag, m.UpdatedAt = "Eve", 99, "mine", 5
	must(t, a.mine.UpdateMember, `{"member": `+shown(t, m)+`}`)
	now := load(t, a.mine, "m1")
	require.Equal(t, "Eve", now.FirstName)
	require.Equal(t, int64(2), now.Version, "versions, etags and times are the SDK's")
	require.NotEqual(t, "mine", now.Etag)
	require.EqualValues(t, 2000, now.UpdatedAt)
}

func TestPatchMembers_OneChannel(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`{"patch": {"gender": "new"}}`:                                             "new/old",
		`{"patch": {"gender": "new"}, "channel": {"_id": "c1"}}`:                   "new/old",
		`{"patch": {"gender": "new"}, "channel": {"_id": "c2"}}`:                   "old/new",
		`{"patch": {"gender": "new"}, "memberId": "m2"}`:                           "old/old",
		`{"patch": {"gender": "new"}, "filter": {"channel": "c2"}}`:                "old/old",
		`{"patch": {"gender": "new"}, "memberId": "m2", "channel": {"_id": "c2"}}`: "old/new",
	} {
		a := newApps(t, `{"_id": "m1", "gender": "old"}`, `{"_id": "m2", "channel": "c2", "gender": "old"}`)
		must(t, a.mine.PatchMembers, params)
		require.Equal(t, want, load(t, a.mine, "m1").Gender+"/"+load(t, a.mine, "m2").Gender, params)
	}
}

func TestPatchMembers_NeedsAChannel(t *testing.T) {
	t.Parallel()
	none := newApps(t).in(t, record.Scope{App: "mine"})
	_, err := call(t, none.PatchMembers, `{"patch": {"gender": "x"}}`)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, "channel")
}

func TestOperations_WholeApp(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m2", "channel": "c2"}`)
	require.Equal(t, "c2", load(t, a.mine, "m2").Channel)
	must(t, a.mine.FindAndModifyMember, `{"filter": {"_id": "m2"}, "patch": {"$set": {"gender": "x"}}}`)
	must(t, a.mine.UpdateMember, `{"member": {"_id": "m2", "lastName": "L"}}`)
	must(t, a.mine.CheckAndSaveMemberReferFrom, `{"memberId": "m2", "referFrom": "c1"}`)
	m := load(t, a.mine, "m2")
	require.Equal(t, "x L", m.Gender+" "+m.LastName)
}
