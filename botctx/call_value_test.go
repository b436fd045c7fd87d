package botctx_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

// Times and 64-bit integers keep their types on the way in and out.
func TestCallValue_KeepsTypes(t *testing.T) {
	t.Parallel()
	bot := fakes.New(fakes.For(t)).AddMember(member.Member{}).Context()
	call := func(name string, args document.Object) any {
		result, err := bot.CallValue(t.Context(), name, args)
		require.NoError(t, err)
		return result
	}
	at := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	row := document.O("z", at, "a", int64(1<<62+1), "f", 0.5, "list", document.A(at, nil))
	call("upsertDataToDataSource", document.O("dataSourceId", "visits", "data", row))
	filter := document.O("z", document.O("$gte", at), "a", int64(1<<62+1))
	require.Equal(t, document.A(at), call("fetchDistinctDataFromDataSource",
		document.O("dataSourceId", "visits", "key", "z", "filter", filter)))
	changed := call("findAndModifyDataFromDataSource",
		document.O("dataSourceId", "visits", "filter", filter, "patch", document.Set("seen", at), "option", document.O("new", true)))
	require.Equal(t, at, document.Get(changed.(document.Object), "value.seen", time.Time{}))

	found := call("fetchDataFromDataSource", document.O("dataSourceId", "visits", "filter", filter)).(document.Array)
	require.Equal(t, 1, found.Len())
	for name, value := range row.All() {
		require.Equal(t, value, found.At(0).(document.Object).Value(name), name)
	}

	call("patchMembers", document.O("memberIds", document.A(bot.Member.ID), "patch", document.O("meta.born", at)))
	ada := call("getMember", document.O("memberId", bot.Member.ID)).(document.Object)
	require.Equal(t, at, document.Get(ada, "meta.born", time.Time{}))
}

// A parameter that is a time in milliseconds may be a time.
func TestCallValue_TimeAsMilliseconds(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(&botctx.Node{ID: "remind", Responses: botctx.Say("Hello")})
	bot := p.AddMember(member.Member{}).Context()
	at := p.Now().Add(time.Hour).Truncate(time.Millisecond)
	made, err := bot.CallValue(t.Context(), "newAgenda", document.O("nodeCompositeId", "remind", "memberId", bot.Member.ID, "nextRunAt", at))
	require.NoError(t, err)
	require.Equal(t, at.UnixMilli(), made.(document.Object).Value("nextRunAt"))
}

func TestCallValue_NoResult(t *testing.T) {
	t.Parallel()
	bot := fakes.New(fakes.For(t)).AddMember(member.Member{}).Context()
	result, err := bot.CallValue(t.Context(), "getMember", document.O("memberId", "nobody"))
	require.ErrorIs(t, err, boterr.NotFound)
	require.Equal(t, document.Missing, result)
}
