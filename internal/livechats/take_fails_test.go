package livechats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/livechat"
)

func TestTake_IsWatchedWhereverItBreaks(t *testing.T) {
	t.Parallel()
	for writes := 0; ; writes++ {
		s := newFixture(t)
		r := s.mustAsk(t, `{"setLiveChatAgenda": false}`)
		broken, hasBroken := s.interrupted(writes)
		_, _ = broken.Take(t.Context(), livechat.TakeParams{AssignmentID: r.ID, ChannelID: "desk", AdminExternalID: "eve"})
		if !hasBroken() {
			require.Greater(t, writes, 6)
			return
		}
		if s.record(t, r.ID).State() == livechat.Pending {
			continue
		}
		s.advance(livechat.IdleTimeout)
		for _, due := range s.mine.openAgendas(t, "ada") {
			require.NoError(t, s.afterCrash().Expire(t.Context(), due.Agenda))
		}
		require.Equal(t, livechat.Ended, s.record(t, r.ID).State(), "after %d writes", writes)
	}
}

func TestTake_GroupRefusedByThePlatform(t *testing.T) {
	t.Parallel()
	for name, isWatched := range map[string]string{"watched": "true", "not watched": "false"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			r := s.mustAsk(t, `{"setLiveChatAgenda": `+isWatched+`, "assignmentDetails": {"groupName": "VIP"}}`)
			s.platform.fail("VIP", boterr.New(boterr.InvalidArgument, "name", "is not allowed"))
			_, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: r.ID, ChannelID: "desk", AdminExternalID: "eve"})
			require.ErrorIs(t, err, boterr.InvalidArgument)
			given := s.record(t, r.ID)
			require.Equal(t, livechat.Pending, given.State(), "others may try")
			require.Equal(t, r.Expiry.IsZero(), given.Expiry.IsZero())
			s.platform.work("VIP")
			_, err = s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: r.ID, ChannelID: "team", AdminExternalID: "mallory"})
			require.NoError(t, err)
			require.Equal(t, s.record(t, r.ID).Expiry, s.mine.onlyAgenda(t, "ada").NextRunAt)
		})
	}
}

func TestTake_PlatformGaveNoAnswer(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) { r.GroupName = "VIP" })
	s.platform.fail("VIP", boterr.New(boterr.Unavailable, "", "no answer"))
	_, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: "a1", ChannelID: "desk", AdminExternalID: "eve"})
	require.ErrorIs(t, err, boterr.Unavailable)
	require.Equal(t, "eve", s.record(t, "a1").Assignee, "the same agent goes on")
}
