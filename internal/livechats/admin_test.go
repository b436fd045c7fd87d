package livechats_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// addAdmin saves an agent.
func (a *app) addAdmin(t *testing.T, adminID, externalID, name string) {
	t.Helper()
	_, err := a.SaveAdmin(t.Context(), livechat.Admin{AdminID: adminID, ExternalID: externalID, Name: name})
	require.NoError(t, err)
}

func TestGetAdmin_ByBothIDs(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.addAdmin(t, "eve", "E1", "")
	s.mine.addAdmin(t, "max", "E2", "Max")
	for _, shown := range []string{
		must(t, s.mine.GetAdmin, `{"adminId": "eve"}`),
		must(t, s.mine.GetAdminByExternalID, `{"externalId": "E1"}`),
	} {
		require.JSONEq(t, `{"appId": "mine", "adminId": "eve", "externalId": "E1"}`, shown)
	}
	require.JSONEq(t, `{"appId": "mine", "adminId": "max", "externalId": "E2", "name": "Max"}`,
		must(t, s.mine.GetAdminByExternalID, `{"externalId": "E2"}`))
}

func TestSaveAdmin_SameIDInTwoApps(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.addAdmin(t, "eve", "E1", "mine")
	s.theirs.addAdmin(t, "eve", "E1", "theirs")
	require.Equal(t, "mine", withField(t, must(t, s.mine.GetAdmin, `{"adminId": "eve"}`), "name"))
	require.Equal(t, "theirs", withField(t, must(t, s.theirs.GetAdmin, `{"adminId": "eve"}`), "name"))
	require.Equal(t, "theirs", withField(t, must(t, s.theirs.GetAdminByExternalID, `{"externalId": "E1"}`), "name"))
}

func TestGetAdmin_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.theirs.addAdmin(t, "eve", "E1", "")
	requireRefused(t, s, s.mine.GetAdmin,
		refused{`{}`, boterr.InvalidArgument, "adminId"},
		refused{`{"adminId": "eve"}`, boterr.NotFound, "adminId"},
		refused{`{"adminId": "theirs/eve"}`, boterr.NotFound, "adminId"})
	requireRefused(t, s, s.mine.GetAdminByExternalID,
		refused{`{}`, boterr.InvalidArgument, "externalId"},
		refused{`{"externalId": "E1"}`, boterr.NotFound, "externalId"})
}

func TestSaveAdmin_Replaces(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	saved, err := s.mine.SaveAdmin(t.Context(), livechat.Admin{AdminID: "eve", ExternalID: "E1", Name: "Eve", Unknown: document.O("desk", 4)})
	require.NoError(t, err)
	require.Equal(t, livechat.Admin{AppID: "mine", AdminID: "eve", ExternalID: "E1", Name: "Eve", Unknown: document.O("desk", 4)}, *saved)
	saved, err = s.mine.SaveAdmin(t.Context(), livechat.Admin{AppID: "mine", AdminID: "eve", ExternalID: "E2"})
	require.NoError(t, err)
	require.Equal(t, livechat.Admin{AppID: "mine", AdminID: "eve", ExternalID: "E2"}, *saved)
	requireRefused(t, s, s.mine.GetAdminByExternalID, refused{`{"externalId": "E1"}`, boterr.NotFound, "externalId"})
	require.JSONEq(t, `{"appId": "mine", "adminId": "eve", "externalId": "E2"}`, must(t, s.mine.GetAdmin, `{"adminId": "eve"}`))
}

func TestSaveAdmin_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.addAdmin(t, "max", "E1", "")
	before := s.stored(t)
	for field, c := range map[string]struct {
		given livechat.Admin
		code  boterr.Code
	}{
		"adminId":    {livechat.Admin{ExternalID: "E2"}, boterr.InvalidArgument},
		"appId":      {livechat.Admin{AdminID: "eve", ExternalID: "E2", AppID: "theirs"}, boterr.InvalidArgument},
		"externalId": {livechat.Admin{AdminID: "eve"}, boterr.InvalidArgument},
	} {
		_, err := s.mine.SaveAdmin(t.Context(), c.given)
		require.ErrorIs(t, err, c.code)
		require.Equal(t, field, fieldOf(t, err))
	}
	_, err := s.mine.SaveAdmin(t.Context(), livechat.Admin{AdminID: "eve", ExternalID: "E1"})
	require.ErrorIs(t, err, boterr.AlreadyExists)
	require.Equal(t, "externalId", fieldOf(t, err))
	require.Equal(t, before, s.stored(t))
}

func TestSaveAdmin_OneOfManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	const many = 8
	errs := make([]error, many)
	var saving sync.WaitGroup
	for i := range many {
		saving.Go(func() {
			_, errs[i] = s.mine.SaveAdmin(t.Context(), livechat.Admin{AdminID: string(rune('a' + i)), ExternalID: "E1"})
		})
	}
	saving.Wait()
	var refusals int
	for _, err := range errs {
		if err != nil {
			require.ErrorIs(t, err, boterr.AlreadyExists)
			refusals++
		}
	}
	require.Equal(t, many-1, refusals)
	require.NotEmpty(t, must(t, s.mine.GetAdminByExternalID, `{"externalId": "E1"}`))
}
