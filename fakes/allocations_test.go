package fakes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

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
	for name, c := range map[string]struct {
		call func() error
		most float64
	}{
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
