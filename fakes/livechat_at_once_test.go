package fakes_test

import (
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/livechat"
)

// rush is what one of many does at once.
type rush struct {
	*play

	mutex    sync.Mutex
	failures []error
}

// try notes the error of a call, unless it is one that others can cause.
func (r *rush) try(err error) {
	switch boterr.CodeOf(err) {
	case boterr.FailedPrecondition, boterr.Conflict, boterr.NotFound:
	default:
		r.mutex.Lock()
		defer r.mutex.Unlock()
		if err != nil {
			r.failures = append(r.failures, err)
		}
	}
}

// member lets a member do one thing.
func (r *rush) member(random *rand.Rand) {
	who := r.members[memberNames[random.IntN(len(memberNames))]]
	bot, ctx := who.Context(), r.Context()
	var err error
	switch random.IntN(6) {
	case 0, 1:
		_, err = bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{})
	case 2, 3:
		err = who.TrySays("text")
	case 4:
		_, err = bot.InletEndLiveChat(ctx, livechat.InletEndLiveChatParams{})
	default:
		_, err = bot.RemovePendingAssignmentByMemberID(ctx, livechat.RemovePendingAssignmentByMemberIDParams{MemberID: who.ID()})
	}
	r.try(err)
}

// agent lets an agent do one thing.
func (r *rush) agent(random *rand.Rand) {
	agent := r.agents[agentNames[random.IntN(len(agentNames))]]
	switch random.IntN(5) {
	case 0, 1:
		if tickets := agent.Tickets(); len(tickets) > 0 {
			r.try(agent.TryTakes(tickets[len(tickets)-1]))
		}
	case 2:
		r.try(agent.TrySays("text"))
	case 3:
		r.try(agent.TrySays("/done"))
	default:
		r.try(agent.TrySays("/sales"))
	}
}

// open returns the open assignments of a member.
func (r *rush) open(name string) []*livechat.AssignmentRecord {
	found, err := r.platform.Runtime().LiveChats(fakes.DefaultApp).FindAssignments(r.Context(), record.Query{
		Filter: document.O("member", r.members[name].ID(), "endedAt", document.O("$exists", false)),
	})
	require.NoError(r, err)
	return found
}

func TestLiveChats_AtOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds.Of(t, 3, 12)) {
		t.Run("seed "+strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			r := &rush{play: newPlay(t, map[string]channel.Type{"desk": channel.Charlie, "team": channel.Delta}, seed)}
			var working sync.WaitGroup
			for worker := range uint64(6) {
				working.Go(func() {
					random := rand.New(rand.NewPCG(seed, worker))
					for range 25 {
						if worker%2 == 0 {
							r.member(random)
						} else {
							r.agent(random)
						}
					}
				})
			}
			working.Go(func() {
				for range 10 {
					r.try(r.platform.TryAdvance(7 * time.Minute))
				}
			})
			working.Wait()
			require.Empty(t, r.failures)
			for _, name := range memberNames {
				r.settled(name)
			}
		})
	}
}

// settled requires that the flag and the agendas of a member are as the assignments say.
func (r *rush) settled(name string) {
	open := r.open(name)
	require.LessOrEqual(r, len(open), 1, name)
	require.Equal(r, len(open) == 1, r.members[name].Member().BotMeta.LiveChat(), name)
	var alarms []document.Timestamp
	for _, alarm := range r.members[name].Agendas() {
		alarms = append(alarms, alarm.NextRunAt)
	}
	if len(open) == 0 {
		require.Empty(r, alarms, name)
		return
	}
	require.NotEqual(r, livechat.Sending, open[0].State(), name)
	require.NotEmpty(r, alarms, name)
	require.LessOrEqual(r, alarms[0], open[0].Expiry, name)
	require.Greater(r, open[0].Expiry, document.TimestampOf(r.platform.Now()), name)
}
