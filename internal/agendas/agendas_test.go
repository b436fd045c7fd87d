package agendas_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestNewAgenda_TreeFromHost(t *testing.T) {
	t.Parallel()
	a := newAppsOver(t, memstore.New(), agendas.Ports{
		Tree: func(_ context.Context, m *member.Member, node string) (string, error) { return m.ID + "/" + node, nil },
	})
	made := must(t, a.mine.NewAgenda, `{"memberId": "bob", "nodeCompositeId": "n", "nextRunAt": 5}`)
	require.Equal(t, "bob/n", document.Get(made, "tree", ""))
	made = must(t, a.mine.NewAgenda, `{"memberId": "bob", "nodeCompositeId": "n", "nextRunAt": 5, "treeId": "own"}`)
	require.Equal(t, "own", document.Get(made, "tree", ""))
}

func TestNewAgenda_MetaNoStoreKeeps(t *testing.T) {
	t.Parallel()
	deep := document.A()
	for range document.MaxDepth - 2 { // The agenda and its meta take one level each.
		deep = document.A(deep)
	}
	a := newApps(t)
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 5, "tag": "`+strings.Repeat("t", 4<<10)+`"}`)
	before := a.stored(t)
	for _, meta := range []document.Object{
		document.O("a", make(chan int)), document.O("a\x00", 1), document.O("a", deep), document.O("a", strings.Repeat("x", 17<<20)),
		document.O("a", strings.Repeat("x", document.MaxSize-1<<10)), // This leaves no room for the fields of claims.
	} {
		_, err := a.mine.NewAgenda(t.Context(), agenda.NewParams{MemberID: "ada", NodeCompositeID: "n", NextRunAt: 5, Meta: meta})
		requireMeta(t, err)
		require.Equal(t, before, a.stored(t))
		_, err = a.mine.UpdateAgenda(t.Context(), agenda.UpdateParams{MemberID: "ada", Meta: meta})
		requireMeta(t, err)
		require.Equal(t, before, a.stored(t))
	}
	// With the tag of the agenda, this meta leaves no room, either.
	_, err := a.mine.UpdateAgenda(t.Context(), agenda.UpdateParams{
		MemberID: "ada", Meta: document.O("a", strings.Repeat("x", document.MaxSize-5<<10)),
	})
	requireMeta(t, err)
}

// requireMeta asserts that an error is about meta.
func requireMeta(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, boterr.InvalidArgument)
	e, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Regexp(t, `^meta(\.|$)`, e.Field)
}

// env is the environment that both apps share.
func (a *apps) env() record.Env { return record.Env{Store: a.store} }

func TestEraseMember(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	seed(t, a)
	a.change(t, document.O("nodeCompositeId", "daily"), document.Set("completed", true))
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "idle", "nextRunAt": 5, "tag": "livechat:idle"}`)
	for _, want := range []int64{5, 0} {
		removed, err := agendas.EraseMember(t.Context(), a.env(), "mine", "ada")
		require.NoError(t, err)
		require.Equal(t, want, removed)
	}
	require.Equal(t, []string{"bobs"}, nodes(records(t, a.mine)))
	removed, err := agendas.EraseMember(t.Context(), a.env(), "mine", "tom")
	require.NoError(t, err)
	require.Zero(t, removed, "he is a member of another app")
}

func TestEraseMember_Refuses(t *testing.T) {
	t.Parallel()
	env := record.Env{Store: memstore.New()}
	_, err := agendas.EraseMember(t.Context(), env, "", "ada")
	requireRefused(t, err, "app")
	_, err = agendas.EraseMember(t.Context(), env, "mine", "")
	requireRefused(t, err, "memberId")
}

func TestFind_AsTheyAreKept(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	seed(t, a)
	a.change(t, document.O("nodeCompositeId", "once"), document.Set("failed", true, "error", "no such node", "failures", 5))
	failed := only(t, a.mine, "failed", true)
	require.Equal(t, "once", failed.NodeCompositeID)
	require.Equal(t, "no such node", failed.Error)
	found, err := a.mine.Find(t.Context(), record.Query{SortBy: document.O("nodeCompositeId", -1), Skip: 1, Limit: 2})
	require.NoError(t, err)
	require.Equal(t, []string{"other", "once"}, nodes(found))
	found, err = a.mine.Find(t.Context(), record.Query{Filter: document.O("nodeCompositeId", "none")})
	require.NoError(t, err)
	require.NotNil(t, found)
	require.Empty(t, found)
}

func TestFind_UnreadableAgenda(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	seed(t, a)
	a.change(t, document.O("nodeCompositeId", "once"), document.Set("priority", "high"))
	_, err := a.mine.Find(t.Context(), record.Query{})
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "id2")
	must(t, a.mine.DeleteMemberAgenda, `{"memberId": "ada"}`)
	require.Equal(t, []string{"past", "bobs"}, nodes(records(t, a.mine)), "what cannot be read can be deleted")
}

// zones maps member ids to time zones. For other members, the zone is unavailable.
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
	require.Equal(t, "0 9 * * *", hers.Pattern)
	require.EqualValues(t, 1719298000000, hers.RunUntil)
	require.EqualValues(t, noon, hers.CreatedAt)

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
			require.ErrorContains(t, err, `the host returned an invalid time zone for the member bob: "Berlin" is not in the time-zone database; give a name such as`)
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
