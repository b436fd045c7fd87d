package livechats_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
)

// everyMoment calls a function with each moment between two writes at which something can
// happen, until it tells that the writes were over before.
func everyMoment(t *testing.T, least int, between func(t *testing.T, writes int) bool) {
	t.Helper()
	for writes := 0; between(t, writes); writes++ {
		least--
	}
	require.LessOrEqual(t, least, 0, "there are more writes than that")
}

func TestTake_DoubleClick(t *testing.T) {
	t.Parallel()
	everyMoment(t, 6, func(t *testing.T, writes int) bool {
		t.Helper()
		s := newFixture(t)
		s.pending(t, "a1", "ada")
		take := livechat.TakeParams{AssignmentID: "a1", ChannelID: "desk", AdminExternalID: "eve"}
		var other *livechat.TakeResult
		mine, hasHappened := s.meanwhile(writes, func() {
			var err error
			other, err = s.mine.Take(t.Context(), take)
			require.NoError(t, err)
		})
		took, err := mine.Take(t.Context(), take)
		require.NoError(t, err)
		groups := s.groups(t, document.O())
		require.Len(t, groups, 1, "after %d writes", writes)
		require.Equal(t, groups[0].ID, s.record(t, "a1").Group)
		require.Equal(t, groups[0].ID, took.Group.ID)
		if other != nil {
			require.Equal(t, groups[0].ID, other.Group.ID)
		}
		return hasHappened()
	})
}

func TestTake_EndsMeanwhile(t *testing.T) {
	t.Parallel()
	everyMoment(t, 6, func(t *testing.T, writes int) bool {
		t.Helper()
		s := newFixture(t)
		s.pending(t, "a1", "ada")
		mine, hasHappened := s.meanwhile(writes, func() { must(t, s.mine.InletEndLiveChat, `{}`) })
		_, err := mine.Take(t.Context(), livechat.TakeParams{AssignmentID: "a1", ChannelID: "desk", AdminExternalID: "eve"})
		if err != nil {
			require.ErrorIs(t, err, boterr.FailedPrecondition, "after %d writes", writes)
			require.Equal(t, "assignmentId", fieldOf(t, err))
		}
		if hasHappened() {
			s.requireOver(t, "a1", "ada", livechat.EndedByInlet)
		}
		return hasHappened()
	})
}

func TestTake_AnotherTicketMeanwhile(t *testing.T) {
	t.Parallel()
	everyMoment(t, 6, func(t *testing.T, writes int) bool {
		t.Helper()
		s := newFixture(t, thatOnlySends(channel.Charlie))
		s.pending(t, "a1", "ada")
		s.pending(t, "a2", "bob")
		take := func(l *livechats.Service, id string) bool {
			_, err := l.Take(t.Context(), livechat.TakeParams{AssignmentID: id, ChannelID: "desk", AdminExternalID: "eve"})
			if err != nil {
				require.ErrorIs(t, err, boterr.FailedPrecondition)
			}
			return err == nil
		}
		tookOther := false
		mine, hasHappened := s.meanwhile(writes, func() { tookOther = take(s.mine.Service, "a2") })
		tookOne := take(mine, "a1")
		require.False(t, tookOne && tookOther, "after %d writes", writes)
		require.LessOrEqual(t, len(s.groups(t, document.O("active", true))), 1, "after %d writes", writes)
		require.Equal(t, tookOne, s.record(t, "a1").State() == livechat.Taken)
		require.Equal(t, tookOther, s.record(t, "a2").State() == livechat.Taken)
		return hasHappened()
	})
}

func TestEndLiveChat_NewRequestMeanwhile(t *testing.T) {
	t.Parallel()
	everyMoment(t, 4, func(t *testing.T, writes int) bool {
		t.Helper()
		s := newFixture(t)
		s.taken(t, "a1", "ada", "eve@desk")
		// The slot is the member's until the first write.
		mine, hasHappened := s.meanwhile(writes+1, func() { s.pending(t, "a2", "ada") })
		_, err := call(t, mine.EndLiveChat, endByEve)
		require.NoError(t, err)
		if hasHappened() {
			require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat(), "after %d writes", writes)
			require.Equal(t, s.record(t, "a2").Expiry, s.mine.onlyAgenda(t, "ada").NextRunAt)
			require.Equal(t, livechat.Pending, s.record(t, "a2").State())
		}
		require.Equal(t, livechat.Ended, s.record(t, "a1").State())
		return hasHappened()
	})
}

func TestEndLiveChat_NewRequestBeingSent(t *testing.T) {
	t.Parallel()
	everyMoment(t, 4, func(t *testing.T, writes int) bool {
		t.Helper()
		s := newFixture(t)
		s.taken(t, "a1", "ada", "eve@desk")
		mine, hasHappened := s.meanwhile(writes+1, func() {
			s.pending(t, "a2", "ada") // With its agenda, which it sets before it is open.
			s.change(t, "assignments", document.O("_id", "a2"), document.Unset("sentAt", "expiry"))
		})
		_, err := call(t, mine.EndLiveChat, endByEve)
		require.NoError(t, err)
		if hasHappened() {
			require.Equal(t, s.at(livechat.IdleTimeout), s.mine.onlyAgenda(t, "ada").NextRunAt, "after %d writes", writes)
		}
		return hasHappened()
	})
}

func TestRelayFromMember_EndsMeanwhile(t *testing.T) {
	t.Parallel()
	everyMoment(t, 2, func(t *testing.T, writes int) bool {
		t.Helper()
		s := newFixture(t)
		s.taken(t, "a1", "ada", "eve@desk")
		s.advance(time.Minute)
		mine, hasHappened := s.meanwhile(writes, func() { must(t, s.mine.EndLiveChat, endByEve) })
		_, err := mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "hi"))
		require.NoError(t, err)
		if hasHappened() {
			s.requireOver(t, "a1", "ada", livechat.EndedByOutlet)
		}
		return hasHappened()
	})
}

func TestExpire_MessageAtTheLastMoment(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	s.advance(livechat.IdleTimeout)
	mine, hasHappened := s.meanwhile(0, func() {
		requireRelayed(t)(s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "wait")))
	})
	require.NoError(t, mine.Expire(t.Context(), idleAgenda()))
	require.True(t, hasHappened())
	require.Equal(t, livechat.Taken, s.record(t, "a1").State())
	require.Equal(t, s.at(livechat.IdleTimeout), s.mine.onlyAgenda(t, "ada").NextRunAt)
}

func TestEndLiveChat_CompletedByOthers(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]func(s *fixture){
		"inlet": func(s *fixture) {
			_, err := call(t, s.mine.InletEndLiveChat, `{}`)
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, "ended in the outlet")
		},
		"agenda": func(s *fixture) { require.NoError(t, s.mine.Expire(t.Context(), idleAgenda())) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyMoment(t, 3, func(t *testing.T, writes int) bool {
				t.Helper()
				s := newFixture(t)
				s.taken(t, "a1", "ada", "eve@desk")
				broken, hasBroken := s.interrupted(writes + 1)
				_, err := call(t, broken.EndLiveChat, endByEve)
				if !hasBroken() {
					require.NoError(t, err)
					return false
				}
				other(s)
				s.requireOver(t, "a1", "ada", livechat.EndedByOutlet)
				return true
			})
		})
	}
}
