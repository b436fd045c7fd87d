package agendas_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// seed adds the agendas that the tests update. ada has "once" and "daily" with the tag x, "other" without a tag, and
// "past", which is completed and has the tag x. bob has "bobs" with the tag x.
func seed(t *testing.T, a *apps) {
	t.Helper()
	for _, params := range []string{
		`{"memberId": "ada", "nodeCompositeId": "past", "nextRunAt": 1, "tag": "x"}`,
		`{"memberId": "ada", "nodeCompositeId": "once", "nextRunAt": 1709298000000, "tag": "x", "meta": {"a": 1}}`,
		`{"memberId": "ada", "nodeCompositeId": "daily", "pattern": "0 9 * * *", "runUntil": 1719298000000, "tag": "x"}`,
		`{"memberId": "ada", "nodeCompositeId": "other", "nextRunAt": 1709298000000}`,
		`{"memberId": "bob", "nodeCompositeId": "bobs", "nextRunAt": 1709298000000, "tag": "x"}`,
	} {
		must(t, a.mine.NewAgenda, params)
	}
	a.change(t, document.O("nodeCompositeId", "past"), document.Set("completed", true))
	a.advance()
}

func TestUpdateAgenda_ScheduleWithOldPattern(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]schedule{
		`"pattern": "30 13 * * *"`:     {"30 13 * * *", noon + hour + hour/2, 1719298000000},
		`"runUntil": 1709370000000`:    {"0 9 * * *", noon + 21*hour, 1709370000000},
		`"runUntil": 8640000000000000`: {"0 9 * * *", noon + 21*hour, 8640000000000000},
	} {
		a := newApps(t)
		seed(t, a)
		must(t, a.mine.DeleteMemberAgenda, `{"memberId": "bob"}`)
		must(t, a.mine.NewAgenda, `{"memberId": "bob", "nodeCompositeId": "n", "pattern": "0 9 * * *", "runUntil": 1719298000000}`)
		must(t, a.mine.UpdateAgenda, `{"memberId": "bob", `+given+`}`)
		r := only(t, a.mine, "member", "bob")
		require.Equal(t, want, schedule{r.Pattern, r.NextRunAt, r.RunUntil}, given)
	}
}

// schedule holds the stored fields of an agenda that decide when it runs.
type schedule struct {
	pattern     string
	next, until document.Timestamp
}

func TestUpdateAgenda_PatternInServiceZone(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "n", "pattern": "0 9 * * *", "runUntil": 1719298000000}`)
	inTaipei := a.in("mine", agendas.Ports{Zone: inZone("Asia/Taipei")}, member.Member{ID: "ada"})
	must(t, inTaipei.UpdateAgenda, `{"memberId": "ada", "priority": 1}`)
	require.Empty(t, only(t, a.mine).Zone, "what stays is read as before")
	must(t, inTaipei.UpdateAgenda, `{"memberId": "ada", "pattern": "0 9 * * *"}`)
	changed := only(t, a.mine)
	require.Equal(t, "Asia/Taipei", changed.Zone)
	require.EqualValues(t, noon+13*hour, changed.NextRunAt)
	must(t, a.mine.UpdateAgenda, `{"memberId": "ada", "pattern": "0 9 * * *"}`)
	require.Empty(t, only(t, a.mine).Zone)
}

func TestUpdateAgenda_Refuses(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	seed(t, a)
	before := a.stored(t)
	for params, field := range map[string]string{
		`{"memberId": "ada", "nextRunAt": 8640000000000001}`:                          "nextRunAt",
		`{"memberId": "none", "pattern": "0 9 * * *", "runUntil": 5}`:                 "pattern",
		`{"memberId": "none", "pattern": "0 9 * * *", "nextRunAt": 6, "runUntil": 5}`: "nextRunAt",
	} {
		_, err := call(t, a.mine.UpdateAgenda, params)
		requireRefused(t, err, field, params)
		require.Equal(t, before, a.stored(t), "%s changes nothing", params)
	}
}

func TestUpdateAgenda_EndsBeforeItFires(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	must(t, a.mine.NewAgenda, `{"memberId": "bob", "nodeCompositeId": "n", "pattern": "0 13 * * *", "runUntil": 1709298000000}`)
	before := a.stored(t)
	_, err := call(t, a.mine.UpdateAgenda, `{"memberId": "bob", "pattern": "1 13 * * *"}`)
	requireRefused(t, err, "pattern")
	require.ErrorContains(t, err, "id1", "the error names the agenda")
	require.Equal(t, before, a.stored(t))
	must(t, a.mine.UpdateAgenda, `{"memberId": "bob", "pattern": "59 12 * * *"}`)
}

// notes are the fields that a scheduler writes to agendas.
type notes struct {
	fence, attempts, failures int64
	leaseUntil, retryAt       document.Timestamp
	failed                    bool
	message                   string
}

func notesOf(r *agenda.Record) notes {
	return notes{
		fence: r.Fence, attempts: r.Attempts, failures: r.Failures, leaseUntil: r.LeaseUntil, retryAt: r.RetryAt,
		failed: r.Failed, message: r.Error,
	}
}

// newNoted returns apps whose only agenda, a daily agenda of ada, has the given fields of a scheduler.
func newNoted(t *testing.T, noted ...any) *apps {
	t.Helper()
	a := newApps(t)
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "n", "pattern": "0 13 * * *", "runUntil": 1719298000000}`)
	a.change(t, document.O(), document.Set(noted...))
	return a
}

func TestUpdateAgenda_StartsFailedAfresh(t *testing.T) {
	t.Parallel()
	failed := []any{"fence", 7, "attempts", 3, "failures", 3, "failed", true, "error", "no", "retryAt", noon + hour}
	for _, params := range []string{
		`{"memberId": "ada", "nextRunAt": 1709299999999}`,
		`{"memberId": "ada", "nextRunAt": 1709298000000}`, // This is the stored time.
		`{"memberId": "ada", "pattern": "0 14 * * *"}`,
		`{"memberId": "ada", "pattern": "0 13 * * *"}`,
	} {
		a := newNoted(t, failed...)
		result := must(t, a.mine.UpdateAgenda, params)
		require.Equal(t, 1, document.Get(result, "modified", 0), params)
		require.Equal(t, notes{fence: 7}, notesOf(only(t, a.mine)), params)
	}
	for _, params := range []string{
		`{"memberId": "ada", "meta": {"a": 1}}`, `{"memberId": "ada", "priority": 1, "nodeCompositeId": "m", "treeId": "t"}`,
		`{"memberId": "ada", "runUntil": 1729298000000}`,
	} {
		a := newNoted(t, failed...)
		before := notesOf(only(t, a.mine))
		must(t, a.mine.UpdateAgenda, params)
		require.Equal(t, before, notesOf(only(t, a.mine)), params)
	}
}

func TestUpdateAgenda_LeavesLeaseOfARun(t *testing.T) {
	t.Parallel()
	running := []any{"fence", 7, "attempts", 2, "failures", 1, "leaseUntil", noon + hour}
	for params, want := range map[string]notes{
		`{"memberId": "ada", "nextRunAt": 1709299999999}`: {fence: 7, leaseUntil: noon + hour},
		`{"memberId": "ada", "nextRunAt": 1709298000000}`: {fence: 7, leaseUntil: noon + hour},
		`{"memberId": "ada", "pattern": "0 14 * * *"}`:    {fence: 7, leaseUntil: noon + hour},
		`{"memberId": "ada", "meta": {"a": 1}}`:           {fence: 7, leaseUntil: noon + hour, attempts: 2, failures: 1},
		`{"memberId": "ada", "priority": 1}`:              {fence: 7, leaseUntil: noon + hour, attempts: 2, failures: 1},
		`{"memberId": "ada", "runUntil": 1729298000000}`:  {fence: 7, leaseUntil: noon + hour, attempts: 2, failures: 1},
	} {
		a := newNoted(t, running...)
		result := must(t, a.mine.UpdateAgenda, params)
		require.Equal(t, 1, document.Get(result, "modified", 0), params)
		require.Equal(t, want, notesOf(only(t, a.mine)), params)
		result = must(t, a.mine.UpdateAgenda, params)
		require.Zero(t, document.Get(result, "modified", 1), "%s again", params)
	}
}

// fill adds agendas of ada with the tag "x" to the store, as a scheduler leaves them.
func (a *apps) fill(tb testing.TB, number int, isCompleted bool) {
	tb.Helper()
	all := make([]document.Object, number)
	for i := range all {
		all[i] = document.O("_id", "past"+strconv.Itoa(i), "app", "mine", "channel", "c1", "member", "ada",
			"nodeCompositeId", "past", "nextRunAt", 1+i, "priority", 0, "meta", document.O(), "tag", "x",
			"completed", isCompleted, "createdAt", 1+i, "updatedAt", 1+i)
	}
	require.NoError(tb, a.store.Collection("agendas").Insert(tb.Context(), all...))
}

func TestAgendas_OfMany(t *testing.T) {
	t.Parallel()
	many := rounds.Of(t, 2_000, 8_000)
	replacing := agenda.NewParams{MemberID: "ada", NodeCompositeID: "new", NextRunAt: 5, Replace: true, Tag: "x"}
	for name, test := range map[string]struct {
		isCompleted bool
		call        func(a *apps) error
		left        int
	}{
		"newAgenda replaces, after many completed ones": {
			isCompleted: true, left: 1, call: func(a *apps) error { _, err := a.mine.NewAgenda(t.Context(), replacing); return err },
		},
		"newAgenda replaces many": {left: 1, call: func(a *apps) error { _, err := a.mine.NewAgenda(t.Context(), replacing); return err }},
		"updateAgenda replaces many": {left: 1, call: func(a *apps) error {
			_, err := a.mine.UpdateAgenda(t.Context(), agenda.UpdateParams{MemberID: "ada", NextRunAt: 7, Replace: true, Tag: "x"})
			return err
		}},
		"updateAgenda changes many": {left: many, call: func(a *apps) error {
			result, err := a.mine.UpdateAgenda(t.Context(), agenda.UpdateParams{MemberID: "ada", NextRunAt: noon})
			require.EqualValues(t, many, result.Modified)
			return err
		}},
		"deleteMemberAgenda removes many": {call: func(a *apps) error {
			_, err := a.mine.DeleteMemberAgenda(t.Context(), agenda.DeleteParams{MemberID: "ada"})
			return err
		}},
	} {
		a := newApps(t)
		a.fill(t, many, test.isCompleted)
		require.NoError(t, test.call(a), name)
		require.Len(t, records(t, a.mine, "completed", false), test.left, name)
	}
}

// examined returns the number of documents that a store examines for a search, a change or a deletion.
func examined(t *testing.T, memory *memstore.Store, filter, sort document.Object, limit int64) int64 {
	t.Helper()
	which, err := query.CompileFilter(filter)
	require.NoError(t, err)
	options := store.FindOptions{Limit: limit}
	if !sort.IsZero() {
		options.Sort, err = query.CompileSort(sort)
		require.NoError(t, err)
	}
	explained, err := memory.Explain(t.Context(), "agendas", which, options)
	require.NoError(t, err)
	return explained.Examined
}

func TestEnsureIndexes_OpenAgendasApart(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	a.fill(t, 2_000, true)
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "open", "nextRunAt": 5, "tag": "x"}`)
	memory := a.store.(*memstore.Store)
	ofMember := document.O("app", "mine", "member", "ada", "completed", false)
	for _, filter := range []document.Object{
		ofMember.With("tag", "x"),
		ofMember.With("tag", document.O("$not", document.O("$regex", "^livechat:"))),
	} {
		require.EqualValues(t, 1, examined(t, memory, filter, document.Object{}, 0), filter)
	}
}
