package fakes_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// rush performs one goroutine's actions while other goroutines act.
type rush struct {
	*play

	mutex    sync.Mutex
	failures []error
}

// try records the error of a call, unless concurrent calls can cause it.
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

// member does one random action of a member.
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
		_, err = bot.InletEndLiveChat(ctx, livechat.InletEndParams{})
	default:
		_, err = bot.RemovePendingAssignmentByMemberID(ctx, livechat.RemovePendingAssignmentByMemberIDParams{MemberID: who.ID()})
	}
	r.try(err)
}

// agent does one random action of an agent.
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

func (r *rush) open(name string) []*livechat.AssignmentRecord {
	found, err := r.platform.Runtime().FindAssignments(r.Context(), fakes.DefaultApp, botctx.Query{
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

// settled requires that a member's flag and agendas match the assignments.
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

func TestThreads_AnsweredInThem(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie})
	ada, bob := p.AddMember(member.Member{Channel: "desk"}), p.AddMember(member.Member{Channel: "desk"})
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		if err := bot.Reply(ctx, send.Text("here"), send.Text("there").With("thread_ts", "2.2")); err != nil {
			return err
		}
		_, err := bot.SendResponse(ctx, send.SendResponseParams{MemberID: []string{bob.ID()}, Response: send.Text("to Bob")})
		return err
	})
	ada.Sends(send.MessageEvent{Type: send.TypeText, Data: document.O("text", "hi", "thread_ts", "1.1")})
	ada.InGroup("C000001").Sends(send.MessageEvent{Type: send.TypeText, Data: document.O("text", "hi", "thread_ts", "1.1")})
	ada.Sends(send.MessageEvent{Type: send.TypeText, Data: document.O("text", "hi")})
	require.Equal(t, []string{"here 1.1", "there 2.2", "here ", "there 2.2"}, inThreads(ada.Messages()))
	require.Equal(t, []string{"here 1.1", "there 2.2"}, inThreads(ada.InGroup("C000001").Messages()))
	require.Equal(t, []string{"to Bob ", "to Bob ", "to Bob "}, inThreads(bob.Messages()), "another member is in no thread")
}

func inThreads(messages []send.Response) []string {
	shown := make([]string, len(messages))
	for i, message := range messages {
		shown[i] = message.Text() + " " + document.Get(message, "thread_ts", "")
	}
	return shown
}

// thousandWorlds is the number of concurrent platforms in thorough tests.
const thousandWorlds = 1000

// worldsAlone is set in the test's separate process, in which no other test has goroutines.
const worldsAlone = "BOTCTX_WORLDS_ALONE"

// Each of many concurrent platforms gives the same result as a platform that runs alone, and none leaves a goroutine
// behind. The test runs itself in a separate process, so that it sees only its own goroutines.
func TestWorlds_ThousandAtOnceLeaveNoGoroutine(t *testing.T) {
	t.Parallel()
	worlds := rounds.Of(t, 25, thousandWorlds)
	if os.Getenv(worldsAlone) == "" {
		alone := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		alone.Env = append(os.Environ(), worldsAlone+"=1")
		printed, err := alone.CombinedOutput()
		require.NoError(t, err, string(printed))
		require.Contains(t, string(printed), fmt.Sprintf("%d worlds, no goroutine left", worlds))
		return
	}
	want := inWorld(t)
	all := make([]string, worlds)
	var at sync.WaitGroup
	for i := range all {
		at.Go(func() { all[i] = inWorld(t) })
	}
	at.Wait()
	for _, transcript := range all {
		require.Equal(t, want, transcript)
	}
	require.Empty(t, goroutinesOfSDK(), "goroutines are left")
	t.Logf("%d worlds, no goroutine left", worlds)
}

// inWorld uses a platform for something of each kind: a turn, agendas, a fork, a crash, a live chat. It returns
// the transcript.
func inWorld(t *testing.T) string {
	t.Helper()
	p := fakes.New(fakes.For(t), fakes.WithInbox())
	p.Handle(nodes()...)
	p.AddData("coupons", document.O("code", "SPRING", "taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	fork := p.Fork()
	ada.Says("coupon")
	ada.In(fork).Says("coupon")
	ada.Sees("Your code: SPRING")
	p.Advance(24 * time.Hour)
	bob, grace := desk(p)
	grace.AddConversation(bob)
	bob.Says("Help!")
	grace.Sees("Help!")
	p.Crash()
	p.Restart()
	p.Advance(time.Hour)
	return p.Transcript() + fork.Transcript()
}

// goroutinesOfSDK returns the stacks of goroutines that run SDK code, except for the caller's. Goroutines
// that are about to end get time to do so.
func goroutinesOfSDK() (left []string) {
	for range 1000 {
		if left = stacksOfSDK(); len(left) == 0 {
			return nil
		}
		runtime.Gosched()
	}
	return left
}

// goroutinesOfSDK must find a goroutine that is left behind.
func TestWorlds_GoroutineThatIsLeftIsSeen(t *testing.T) {
	t.Parallel()
	end := make(chan struct{})
	var left sync.WaitGroup
	left.Go(func() { waitFor(end) })
	isSeen := func(stack string) bool { return strings.Contains(stack, "waitFor") }
	for !slices.ContainsFunc(stacksOfSDK(), isSeen) {
		runtime.Gosched() // Until the goroutine has started.
	}
	close(end)
	left.Wait()
}

func waitFor(end chan struct{}) { <-end }

func stacksOfSDK() (left []string) {
	var profile bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 2)
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(stack, "botctx/go-sdk") && !strings.Contains(stack, "stacksOfSDK") && !strings.Contains(stack, "testing.tRunner") &&
			!strings.Contains(stack, "testing.(*T).Run") {
			left = append(left, stack)
		}
	}
	return left
}
