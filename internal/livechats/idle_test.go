package livechats_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
)

// idleAgenda is the agenda of ada's live chat when it is due.
func idleAgenda() agenda.Agenda {
	return agenda.Agenda{App: "mine", Channel: "web", Member: "ada", Tag: livechats.TagPrefix + "idle"}
}

func TestExpire(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]func(s *fixture){
		"taken":   func(s *fixture) { s.taken(t, "a1", "ada", "eve@desk") },
		"pending": func(s *fixture) { s.pending(t, "a1", "ada") },
	} {
		s := newFixture(t)
		request(s)
		s.advance(livechat.IdleTimeout - time.Millisecond)
		require.NoError(t, s.mine.Expire(t.Context(), idleAgenda()))
		require.NotEqual(t, livechat.Ended, s.record(t, "a1").State(), name)
		s.advance(time.Millisecond)
		due := s.mine.onlyAgenda(t, "ada")
		require.Equal(t, s.at(0), due.NextRunAt)
		require.NoError(t, s.mine.Expire(t.Context(), due.Agenda))
		s.requireOver(t, "a1", "ada", livechat.EndedByIdle)
		before := s.stored(t)
		require.NoError(t, s.mine.Expire(t.Context(), due.Agenda), "an agenda may run twice")
		require.Equal(t, before, s.stored(t))
		requireRefused(t, s, s.mine.InletEndLiveChat, refused{`{}`, boterr.FailedPrecondition, "member"})
	}
}

func TestExpire_IdleTimeoutOfHost(t *testing.T) {
	t.Parallel()
	s := newFixture(t, func(p *livechats.Ports) { p.IdleTimeout = time.Hour })
	s.taken(t, "a1", "bob", "eve@desk")
	require.Equal(t, s.at(time.Hour), s.record(t, "a1").Expiry)
	require.Equal(t, s.at(time.Hour), s.mine.onlyAgenda(t, "bob").NextRunAt)
}

func TestExpire_TooEarly(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	s.advance(10 * time.Minute)
	broken, _ := s.interrupted(1) // The message is sent and the expiry moved, the agenda is not.
	isRelayed, err := broken.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "hi"))
	require.ErrorIs(t, err, errInterrupted)
	require.Equal(t, livechats.OutcomeNone, isRelayed)
	require.Equal(t, []string{"desk: send to group1: hi"}, s.platform.did())
	expiry := s.at(livechat.IdleTimeout)
	require.Equal(t, expiry, s.record(t, "a1").Expiry)
	require.Equal(t, s.at(20*time.Minute), s.mine.onlyAgenda(t, "ada").NextRunAt)

	s.advance(20 * time.Minute)
	require.NoError(t, s.mine.Expire(t.Context(), s.mine.onlyAgenda(t, "ada").Agenda))
	require.Equal(t, livechat.Taken, s.record(t, "a1").State())
	require.Equal(t, expiry, s.mine.onlyAgenda(t, "ada").NextRunAt)
}

func TestExpire_NothingOpen(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	before := s.stored(t)
	require.NoError(t, s.mine.Expire(t.Context(), idleAgenda()))
	require.Equal(t, before, s.stored(t))
	s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) { r.LiveChatAgenda, r.Expiry = false, 0 })
	before = s.stored(t)
	s.advance(24 * time.Hour)
	require.NoError(t, s.mine.Expire(t.Context(), idleAgenda()))
	require.Equal(t, before, s.stored(t), "idle time is not watched")
}
