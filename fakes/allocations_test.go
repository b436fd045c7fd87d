package fakes_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

// What operations, runs and platforms allocate has a bound each, a little above what is reached, which tells
// when the way of an operation has become longer; that of a turn and of getMember is the goal.
//
//nolint:paralleltest // What other tests allocate at the same time would be counted.
func TestAllocations_OfATurnAndALookUp(t *testing.T) {
	const runs = 200
	turn, credentials := newTurn(t, webchat, 100), newTurn(t, withCredentials, 100)
	bot := recordless(t, 0)
	lookUp := func() error {
		_, err := bot.GetMember(t.Context(), member.GetMemberParams{MemberID: bot.Scope().Member})
		return err
	}
	entry := recordless(t, 100)
	byID := func() error {
		_, err := entry.FetchDataFromDataSource(t.Context(), datasource.FetchDataFromDataSourceParams{
			DataSourceID: "places", Filter: document.O("_id", "e50"),
		})
		return err
	}
	p := platformWith(t, 100)
	fork := func() error { p.Fork(); return nil }
	fresh := func() error { fakes.New().AddMember(member.Member{}); return nil }
	agendas := platformWithAgendas(t, 2*runs)
	advance := func() error { agendas.Advance(time.Second); return nil }
	for name, c := range map[string]struct {
		call func() error
		most float64
	}{
		"an entry by id": {byID, 9}, "a fork": {fork, 85}, "a fresh platform": {fresh, 205},
		"a turn": {turn, 120}, "a turn on a channel with credentials": {credentials, 125}, "an agenda's run": {advance, 133}, "getMember": {lookUp, 5},
	} {
		var failed error
		allocated := testing.AllocsPerRun(runs, func() {
			if err := c.call(); err != nil {
				failed = err
			}
		})
		require.NoError(t, failed, name)
		require.LessOrEqual(t, allocated, c.most, name)
	}
}

// What a turn allocates is a goal in bytes, too.
//
//nolint:paralleltest // What other tests allocate at the same time would be counted.
func TestAllocations_BytesOfATurn(t *testing.T) {
	const runs, most = 500, 10_200
	turn := newTurn(t, webchat, 10_000)
	require.NoError(t, turn())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		require.NoError(t, turn())
	}
	runtime.ReadMemStats(&after)
	require.LessOrEqual(t, (after.TotalAlloc-before.TotalAlloc)/runs, uint64(most))
}
