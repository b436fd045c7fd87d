package agendas_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestNewAgenda_Record(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]string{
		`{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 1709298000000}`: `{
			"_id": "id1", "app": "mine", "channel": "c1", "member": "ada", "tree": "t1", "nodeCompositeId": "n",
			"nextRunAt": 1709298000000, "priority": 0, "meta": {}, "completed": false}`,
		`{"memberId": "ada", "treeId": "t2", "nodeCompositeId": "n", "nextRunAt": 1709298000000, "pattern": "0 9 * * *",
			"runUntil": 1719298000000, "priority": -3, "meta": {"a": {"$b": "$c"}}, "replace": true, "tag": "x"}`: `{
			"_id": "id1", "app": "mine", "channel": "c1", "member": "ada", "tree": "t2", "nodeCompositeId": "n",
			"nextRunAt": 1709298000000, "priority": -3, "meta": {"a": {"$b": "$c"}}, "tag": "x", "completed": false}`,
		`{"memberId": "bob", "nodeCompositeId": "n", "pattern": "0 9 * * *", "runUntil": 1719298000000, "replace": false, "tag": "y"}`: `{
			"_id": "id1", "app": "mine", "channel": "c1", "member": "bob", "nodeCompositeId": "n",
			"nextRunAt": 1709370000000, "priority": 0, "meta": {}, "tag": "y", "completed": false}`,
		`{"memberId": "bob", "nodeCompositeId": "n", "nextRunAt": 1, "tag": "livechat:idle", "meta": null, "unknown": 1}`: `{
			"_id": "id1", "app": "mine", "channel": "c1", "member": "bob", "nodeCompositeId": "n",
			"nextRunAt": 1, "priority": 0, "meta": {}, "tag": "livechat:idle", "completed": false}`,
	} {
		a := newApps(t)
		require.JSONEq(t, want, must(t, a.mine.NewAgenda, params).String(), params)
		stored := only(t, a.mine)
		require.JSONEq(t, want, shown(t, stored.Agenda), "%s is stored as it is returned", params)
	}
}

// shown returns an agenda as JSON.
func shown(t *testing.T, shownAgenda agenda.Agenda) string {
	t.Helper()
	text, err := document.EncodeJSON(shownAgenda)
	require.NoError(t, err)
	return string(text)
}

func TestNewAgenda_KeepsSchedule(t *testing.T) {
	t.Parallel()
	a := newAppsOver(t, memstore.New(), agendas.Ports{Zone: inZone("Asia/Taipei")})
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "daily", "pattern": "0 9 * * *", "runUntil": 1719298000000}`)
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "once", "nextRunAt": 1709298000000}`)
	daily := only(t, a.mine, "nodeCompositeId", "daily")
	require.Equal(t, "0 9 * * *", daily.Pattern)
	require.Equal(t, "Asia/Taipei", daily.Zone)
	require.EqualValues(t, 1719298000000, daily.RunUntil)
	require.EqualValues(t, noon, daily.CreatedAt)
	require.EqualValues(t, noon, daily.UpdatedAt)
	require.EqualValues(t, noon+13*hour, daily.NextRunAt, "09:00 in Taipei is 01:00 in UTC")
	once := only(t, a.mine, "nodeCompositeId", "once")
	require.Empty(t, once.Pattern+once.Zone)
	require.Zero(t, once.RunUntil)
}

func TestNewAgenda_FirstRunByPattern(t *testing.T) {
	t.Parallel()
	for params, next := range map[string]int64{
		`"pattern": "0 13 * * *", "runUntil": 1719298000000`:                        noon + hour,
		`"pattern": "0 12 * * *", "runUntil": 1719298000000`:                        noon + 24*hour,
		`"pattern": "0 13 * * *", "runUntil": 1709298000000`:                        noon + hour, // runUntil is inclusive.
		`"pattern": "0 13 * * *", "runUntil": 1719298000000, "nextRunAt": 5`:        5,
		`"pattern": "0 13 * * *", "runUntil": 5, "nextRunAt": 5`:                    5,
		`"pattern": "0 13 * * *", "nextRunAt": 5`:                                   5,
		`"nextRunAt": 5, "runUntil": 6`:                                             5,
		`"nextRunAt": 5, "runUntil": 4`:                                             5,
		`"pattern": "0 13 * * *", "runUntil": 1709299000000, "nextRunAt": 1.709e12`: 1709000000000,
		`"nextRunAt": 8640000000000000`:                                             8640000000000000,
	} {
		a := newApps(t)
		made := must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "n", `+params+`}`)
		require.Equal(t, next, document.Get(made, "nextRunAt", int64(0)), params)
	}
}

func TestNewAgenda_TreeFromHost(t *testing.T) {
	t.Parallel()
	a := newAppsOver(t, memstore.New(), agendas.Ports{
		Tree: func(m *member.Member, node string) string { return m.ID + "/" + node },
	})
	made := must(t, a.mine.NewAgenda, `{"memberId": "bob", "nodeCompositeId": "n", "nextRunAt": 5}`)
	require.Equal(t, "bob/n", document.Get(made, "tree", ""))
	made = must(t, a.mine.NewAgenda, `{"memberId": "bob", "nodeCompositeId": "n", "nextRunAt": 5, "treeId": "own"}`)
	require.Equal(t, "own", document.Get(made, "tree", ""))
}

func TestNewAgenda_Refuses(t *testing.T) {
	t.Parallel()
	for params, field := range map[string]string{
		`{}`: "memberId",
		`{"nodeCompositeId": "n", "nextRunAt": 5}`:                                                                                   "memberId",
		`{"memberId": "", "nodeCompositeId": "n", "nextRunAt": 5}`:                                                                   "memberId",
		`{"memberId": ["ada"], "nodeCompositeId": "n", "nextRunAt": 5}`:                                                              "memberId",
		`{"memberId": {"$ne": ""}, "nodeCompositeId": "n", "nextRunAt": 5}`:                                                          "memberId",
		`{"memberId": "ada", "nextRunAt": 5}`:                                                                                        "nodeCompositeId",
		`{"memberId": "ada", "nodeCompositeId": 5, "nextRunAt": 5}`:                                                                  "nodeCompositeId",
		`{"memberId": "ada", "nodeCompositeId": "n"}`:                                                                                "nextRunAt",
		`{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 0}`:                                                                "nextRunAt",
		`{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": -1}`:                                                               "nextRunAt",
		`{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": "5"}`:                                                              "nextRunAt",
		`{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 8640000000000001}`:                                                 "nextRunAt",
		`{"memberId": "ada", "nodeCompositeId": "n", "runUntil": 1719298000000}`:                                                     "nextRunAt",
		`{"memberId": "ada", "nodeCompositeId": "n", "pattern": "0 9 * * *"}`:                                                        "runUntil",
		`{"memberId": "ada", "nodeCompositeId": "n", "pattern": "0 9 * * *", "runUntil": 0}`:                                         "runUntil",
		`{"memberId": "ada", "nodeCompositeId": "n", "pattern": "0 9 * * *", "runUntil": -5}`:                                        "runUntil",
		`{"memberId": "ada", "nodeCompositeId": "n", "pattern": "0 9 * * *", "runUntil": "2030"}`:                                    "runUntil",
		`{"memberId": "ada", "nodeCompositeId": "n", "pattern": "0 9 * * *", "runUntil": 1709369999999}`:                             "pattern",
		`{"memberId": "ada", "nodeCompositeId": "n", "pattern": "0 9 * * *", "runUntil": 5}`:                                         "pattern",
		`{"memberId": "ada", "nodeCompositeId": "n", "pattern": "every day", "runUntil": 1719298000000}`:                             "pattern",
		`{"memberId": "ada", "nodeCompositeId": "n", "pattern": "61 9 * * *", "runUntil": 9, "nextRunAt": 5}`:                        "pattern",
		`{"memberId": "ada", "nodeCompositeId": "n", "pattern": 5, "runUntil": 1719298000000}`:                                       "pattern",
		`{"memberId": "ada", "nodeCompositeId": "n", "pattern": "0 9 * * *", "runUntil": 1709369999999, "nextRunAt": 1709370000000}`: "nextRunAt",
		`{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 5, "replace": true}`:                                               "tag",
		`{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 5, "replace": true, "tag": ""}`:                                    "tag",
		`{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 5, "tag": 5}`:                                                      "tag",
		`{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 5, "replace": "yes"}`:                                              "replace",
		`{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 5, "priority": "high"}`:                                            "priority",
		`{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 5, "priority": 1.5}`:                                               "priority",
		`{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 5, "meta": "x"}`:                                                   "meta",
		`{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 5, "meta": [1]}`:                                                   "meta",
		`{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 5, "treeId": 5}`:                                                   "treeId",
	} {
		a := newApps(t)
		_, err := call(t, a.mine.NewAgenda, params)
		requireRefused(t, err, field, params)
		require.Equal(t, `[]`, a.stored(t), params)
	}
}

func TestNewAgenda_MetaNoStoreKeeps(t *testing.T) {
	t.Parallel()
	deep := document.A()
	for range document.MaxDepth - 2 { // The agenda and its meta are a level each.
		deep = document.A(deep)
	}
	a := newApps(t)
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 5}`)
	before := a.stored(t)
	for _, meta := range []document.Object{
		document.O("a", make(chan int)), document.O("a\x00", 1), document.O("a", deep), document.O("a", strings.Repeat("x", 17<<20)),
	} {
		_, err := a.mine.NewAgenda(t.Context(), agenda.NewAgendaParams{MemberID: "ada", NodeCompositeID: "n", NextRunAt: 5, Meta: meta})
		requireMeta(t, err)
		_, err = a.mine.UpdateAgenda(t.Context(), agenda.UpdateAgendaParams{MemberID: "ada", Meta: meta})
		requireMeta(t, err)
		require.Equal(t, before, a.stored(t))
	}
}

// requireMeta asserts that an error is about meta.
func requireMeta(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, boterr.InvalidArgument)
	e, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Regexp(t, `^meta(\.|$)`, e.Field)
}

func TestNewAgenda_MemberOfAnotherApp(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	for _, id := range []string{"tom", "nobody"} {
		_, err := call(t, a.mine.NewAgenda, `{"memberId": "`+id+`", "nodeCompositeId": "n", "nextRunAt": 5, "replace": true, "tag": "x"}`)
		require.ErrorIs(t, err, boterr.NotFound)
		requireField(t, err, "memberId")
	}
	require.Equal(t, `[]`, a.stored(t))
}
