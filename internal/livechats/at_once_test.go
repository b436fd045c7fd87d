package livechats_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// Whatever members, agents and hosts do at once, what is left agrees: the member is in live
// chat and has an idle agenda if an assignment is open, and a group is live if an agent has
// that assignment.
func TestService_ManyCallsAtOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds.Of(t, 10, 80)) {
		s := newFixture(t)
		var all sync.WaitGroup
		for worker := range uint64(6) {
			random := rand.New(rand.NewPCG(seed, worker))
			all.Go(func() {
				for range 6 {
					if err := s.doSomething(t, random, "agent-"+strconv.FormatUint(worker, 10)); err != nil {
						t.Errorf("seed %d: %v", seed, err)
					}
				}
			})
		}
		all.Wait()
		s.requireAgreement(t, fmt.Sprintf("seed %d", seed))
	}
}

// doSomething does one of the things that can happen to ada's live chat. That it comes too
// late is no error.
func (s *fixture) doSomething(t *testing.T, random *rand.Rand, agent string) error {
	t.Helper()
	open, err := s.mine.FindAssignments(t.Context(), record.Query{Filter: document.O("slot", "member/ada")})
	if err != nil {
		return err
	}
	switch what := random.IntN(5); {
	case what == 0:
		_, err = s.mine.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{Member: &member.Member{ID: "ada"}})
	case what == 1:
		_, err = s.mine.InletEndLiveChat(t.Context(), livechat.InletEndLiveChatParams{})
	case what == 2:
		_, err = s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "hi"))
	case what == 3 && len(open) > 0:
		_, err = s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: open[0].ID, ChannelID: "desk", AdminExternalID: agent})
	case what == 4 && len(open) > 0 && open[0].Group != "":
		_, err = s.mine.EndLiveChat(t.Context(), livechat.EndLiveChatParams{
			Channel:      &channel.Channel{ID: "desk"},
			MessageEvent: event(agent, document.Get(open[0].GroupInfo, "externalId", ""), "done"),
		})
	}
	if code := boterr.CodeOf(err); code == boterr.FailedPrecondition || code == boterr.Conflict {
		return nil
	}
	return err
}

// requireAgreement asserts that what is stored of ada's live chats agrees.
func (s *fixture) requireAgreement(t *testing.T, when string) {
	t.Helper()
	open, err := s.mine.FindAssignments(t.Context(), record.Query{Filter: document.O("slot", "member/ada")})
	require.NoError(t, err)
	live := s.groups(t, document.O("active", true))
	if len(open) == 0 {
		require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat(), when)
		require.Empty(t, s.mine.openAgendas(t, "ada"), when)
		require.Empty(t, live, when)
		return
	}
	require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat(), when)
	require.Equal(t, open[0].Expiry, s.mine.onlyAgenda(t, "ada").NextRunAt, when)
	if open[0].State() == livechat.Pending {
		require.Empty(t, live, when)
		return
	}
	require.Equal(t, livechat.Taken, open[0].State(), when)
	require.Len(t, live, 1, when)
	require.Equal(t, open[0].Group, live[0].ID, when)
}
