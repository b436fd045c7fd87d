package fakes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// What a turn and a look-up allocate has a bound each, a little above what is reached, which tells
// when the way of an operation has become longer. The goal of a turn is 120.
//
//nolint:paralleltest // What other tests allocate at the same time would be counted.
func TestAllocations_OfATurnAndALookUp(t *testing.T) {
	turn := newTurn(t, 100)
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
	p, _ := platformWith(t, 100)
	fork := func() error { p.Fork(); return nil }
	for name, c := range map[string]struct {
		call func() error
		most float64
	}{
		"an entry by id": {byID, 16}, "a fork": {fork, 200},
		"a turn": {turn, 225}, "getMember": {lookUp, 7},
	} {
		var failed error
		allocated := testing.AllocsPerRun(200, func() {
			if err := c.call(); err != nil {
				failed = err
			}
		})
		require.NoError(t, failed, name)
		require.LessOrEqual(t, allocated, c.most, name)
	}
}
