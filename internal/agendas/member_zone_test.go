package agendas_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store/memstore"
)

// zones are the time zones of members by their ids. A member without one has a zone that cannot be
// told.
type zones map[string]string

func (z zones) of(_ context.Context, m *member.Member) (string, error) {
	name, ok := z[m.ID]
	if !ok {
		return "", errNoZone
	}
	return name, nil
}

var errNoZone = boterr.New(boterr.Unavailable, "", "no zone for now")

func TestMemberZone_EachMemberHasHers(t *testing.T) {
	t.Parallel()
	a := newAppsOver(t, memstore.New(), agendas.Ports{Zone: zones{"ada": "Asia/Taipei", "bob": ""}.of})
	daily := `"nodeCompositeId": "n", "pattern": "0 9 * * *", "runUntil": 1719298000000`
	must(t, a.mine.NewAgenda, `{"memberId": "ada", `+daily+`}`)
	must(t, a.mine.NewAgenda, `{"memberId": "bob", `+daily+`}`)
	hers, his := only(t, a.mine, "member", "ada"), only(t, a.mine, "member", "bob")
	require.EqualValues(t, noon+13*hour, hers.NextRunAt, "09:00 in Taipei is 01:00 in UTC")
	require.EqualValues(t, noon+21*hour, his.NextRunAt)
	require.Equal(t, "Asia/Taipei", hers.Zone)
	require.Empty(t, his.Zone)

	changed := must(t, a.mine.UpdateAgenda, `{"memberId": "ada", "pattern": "0 10 * * *"}`)
	require.Contains(t, changed.String(), `"nextRunAt":1709344800000`, "the update shows 10:00 in Taipei, which is 02:00 in UTC")
}

func TestMemberZone_PatternNamesItsOwn(t *testing.T) {
	t.Parallel()
	a := newAppsOver(t, memstore.New(), agendas.Ports{Zone: zones{}.of})
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "n", "pattern": "CRON_TZ=Asia/Taipei 0 9 * * *", "runUntil": 1719298000000}`)
	made := only(t, a.mine)
	require.EqualValues(t, noon+13*hour, made.NextRunAt)
	require.Equal(t, "CRON_TZ=Asia/Taipei 0 9 * * *", made.Pattern)
	require.Empty(t, made.Zone, "the host was not asked")
	must(t, a.mine.UpdateAgenda, `{"memberId": "ada", "pattern": "CRON_TZ=Europe/London 0 9 * * *"}`)
	require.EqualValues(t, noon+21*hour, only(t, a.mine).NextRunAt)
}

func TestMemberZone_NotToldOrNone(t *testing.T) {
	t.Parallel()
	a := newAppsOver(t, memstore.New(), agendas.Ports{Zone: zones{"bob": "Berlin"}.of})
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 1709298000000, "runUntil": 1719298000000}`)
	must(t, a.mine.NewAgenda, `{"memberId": "bob", "nodeCompositeId": "n", "nextRunAt": 1709298000000, "runUntil": 1719298000000}`)
	before := a.stored(t)
	for _, pattern := range []string{`"pattern": "0 9 * * *"`, `"pattern": "0 9 * * *", "nextRunAt": 1709298000000`} {
		for _, operation := range []func(params string) error{
			func(params string) error { _, err := call(t, a.mine.NewAgenda, params); return err },
			func(params string) error { _, err := call(t, a.mine.UpdateAgenda, params); return err },
		} {
			err := operation(`{"memberId": "ada", "nodeCompositeId": "n", "runUntil": 1719298000000, ` + pattern + `}`)
			require.ErrorIs(t, err, boterr.Unavailable, "the code of what the host says")
			require.ErrorIs(t, err, errNoZone)
			requireField(t, err, "zone")

			err = operation(`{"memberId": "bob", "nodeCompositeId": "n", "runUntil": 1719298000000, ` + pattern + `}`)
			requireRefused(t, err, "zone")
			require.ErrorContains(t, err, `the host gives the member bob a time zone that is none: "Berlin" is not in the time-zone database; give a name such as`)
			require.Equal(t, before, a.stored(t), "nothing is stored")
		}
	}
	_, err := call(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "n", "runUntil": 1719298000000, "pattern": "never"}`)
	requireRefused(t, err, "pattern", "what the call gives is checked before the host is asked")
}

func TestUpdateAgenda_ZoneOfUnknownMember(t *testing.T) {
	t.Parallel()
	a := newAppsOver(t, memstore.New(), agendas.Ports{Zone: zones{}.of})
	result := must(t, a.mine.UpdateAgenda, `{"memberId": "none", "pattern": "0 9 * * *", "runUntil": 1719298000000}`)
	require.Contains(t, result.String(), `"updated":[]`)
}

func TestZone_Location(t *testing.T) {
	t.Parallel()
	ada := &member.Member{ID: "ada"}
	for name, want := range map[string]string{"": "UTC", "Europe/London": "Europe/London"} {
		location, err := inZone(name).Location(t.Context(), ada)
		require.NoError(t, err)
		require.Equal(t, want, location.String())
	}
	location, err := agendas.Zone(nil).Location(t.Context(), ada)
	require.NoError(t, err)
	require.Equal(t, "UTC", location.String())
	_, err = inZone("Local").Location(t.Context(), ada)
	requireRefused(t, err, "zone")
	_, err = agendas.Zone(zones{}.of).Location(t.Context(), ada)
	require.ErrorIs(t, err, errNoZone)
}
