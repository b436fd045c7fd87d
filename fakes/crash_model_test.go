package fakes_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// answerTwice answers a message with two.
func answerTwice(ctx context.Context, bot *botctx.Context) error {
	said := bot.MessageEvent.Text()
	return bot.Reply(ctx, send.Text(said+", first"), send.Text(said+", second"))
}

// crashModel is what members should be answered: what was accepted, in its order.
type crashModel struct {
	t        *testing.T
	random   *rand.Rand
	platform *fakes.Platform
	members  []*fakes.Actor
	// answers are what each member is answered in the end. last is what each wrote last, and isAccepted
	// whether that was accepted.
	answers    [][]string
	last       []string
	isAccepted []bool
	// said is the number of messages, amid that of crashes as a message went out.
	said, amid int
}

func newCrashModel(t *testing.T, seed uint64) *crashModel {
	t.Helper()
	p := fakes.New(fakes.For(t), fakes.WithInbox(), fakes.Config(func(c *botctx.Config) { c.Inbox.Limit = 1000 }))
	p.HandleFunc(answerTwice)
	m := &crashModel{t: t, random: rand.New(rand.NewPCG(seed, 0)), platform: p}
	for range 3 {
		m.members = append(m.members, p.AddMember(member.Member{}))
	}
	m.answers, m.last, m.isAccepted = [][]string{{}, {}, {}}, make([]string, 3), make([]bool, 3)
	return m
}

// step does one thing at random, and compares.
func (m *crashModel) step() {
	who := m.random.IntN(len(m.members))
	nth := 1 + m.random.IntN(3)
	p := m.platform
	switch m.random.IntN(12) {
	case 0, 1, 2, 3:
		m.said++
		m.last[who], m.isAccepted[who] = fmt.Sprintf("message %d", m.said), false
		m.arrives(who, func() error { return m.members[who].TrySays(m.last[who]) })
	case 4:
		if m.last[who] != "" {
			m.arrives(who, m.members[who].TrySaysAgain)
		}
	case 5:
		p.FailNext(botctx.OpSendResponse, boterr.Unavailable).Optional()
	case 6:
		p.TimeOutNext(botctx.OpSendResponse).Optional()
	case 7:
		p.Crash()
	case 8:
		p.CrashNext(botctx.OpSendResponse).Optional()
	case 9:
		p.CrashAfterNext(botctx.OpSendResponse).Optional()
		m.amid++
	case 10:
		p.Restart()
	default:
		m.advance(time.Duration(nth*nth) * time.Second)
	}
	for i, ada := range m.members {
		got := textsOf(ada.Messages())
		require.LessOrEqual(m.t, len(got), len(m.answers[i]))
		require.Equal(m.t, m.answers[i][:len(got)], got, "each answer once, in the order of the messages")
	}
}

// arrives lets a member write, and notes it, unless the process is down, or it was accepted before.
func (m *crashModel) arrives(who int, says func() error) {
	_, down := m.members[who].Context().GetMember(m.t.Context(), member.GetMemberParams{MemberID: m.members[who].ID()})
	if err := says(); err != nil {
		require.ErrorIs(m.t, err, boterr.Unavailable)
	}
	if down == nil && !m.isAccepted[who] {
		m.isAccepted[who] = true
		m.answers[who] = append(m.answers[who], m.last[who]+", first", m.last[who]+", second")
	}
}

func (m *crashModel) advance(by time.Duration) {
	if err := m.platform.TryAdvance(by); err != nil {
		require.ErrorIs(m.t, err, boterr.Unavailable)
	}
}

// ends lets all that was accepted be handled, and compares.
func (m *crashModel) ends() {
	for range 50 { // Faults that are still planned may come up.
		m.platform.Restart()
		m.advance(2 * time.Minute)
	}
	for i, ada := range m.members {
		require.Equal(m.t, m.answers[i], textsOf(ada.Messages()))
	}
	require.LessOrEqual(m.t, len(repeated(m.platform)), m.amid, "only what went out as the process died was sent twice")
	require.Empty(m.t, m.platform.DeadLetters())
	stats, err := m.platform.Runtime().Inbox().Stats(m.t.Context())
	require.NoError(m.t, err)
	require.Zero(m.t, stats.Pending)
}

func TestCrash_RandomHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds.Of(t, 40, 1000)) {
		m := newCrashModel(t, seed)
		for range 60 {
			m.step()
		}
		m.ends()
	}
}
