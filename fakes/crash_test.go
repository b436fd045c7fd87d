package fakes_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// confirm answers each message with its text, then with the number of orders so far.
func confirm(ctx context.Context, bot *botctx.Context) error {
	if err := bot.Reply(ctx, send.Text("got "+bot.MessageEvent.Text())); err != nil {
		return err
	}
	return order(ctx, bot)
}

// accepting returns a platform with Ada and an inbox.
func accepting(t fakes.TB, action botctx.Action, options ...fakes.Option) (*fakes.Platform, *fakes.Actor) {
	t.Helper()
	p := fakes.New(append(options, fakes.For(t), fakes.WithInbox())...)
	p.HandleFunc(action)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	return p, ada
}

// accept makes the platform accept a message without running it.
func accept(t *testing.T, p *fakes.Platform, from *fakes.Actor, text string) {
	t.Helper()
	require.NoError(t, p.Runtime().Accept(t.Context(), botctx.Inbound{
		App: from.Scope().App, Channel: from.Scope().Channel,
		Event: send.MessageEvent{Type: send.TypeText, From: from.ExternalID(), MessageID: "m-" + text, Data: document.O("text", text)},
	}))
}

func textsOf(messages []send.Response) []string {
	texts := make([]string, len(messages))
	for i, message := range messages {
		texts[i] = message.Text()
	}
	return texts
}

// repeated returns the texts that were sent again under the same id.
func repeated(p *fakes.Platform) []string {
	var texts []string
	for _, sent := range p.Sent() {
		if sent.IsRepeat {
			texts = append(texts, sent.Response.Text())
		}
	}
	return texts
}

// situation is a crash or a repetition, with the messages that result from it.
type situation struct {
	act func(t *testing.T, p *fakes.Platform, ada *fakes.Actor)
	// gets are Ada's messages at the end. again are the ones that were sent twice.
	gets, again []string
}

func situations() map[string]situation {
	const pause = time.Second // The pause before a lost run is tried again.
	one, two := []string{"got a", "That is order 1."}, []string{"got a", "That is order 1.", "got b", "That is order 2."}
	crashed := func(plan func(p *fakes.Platform)) func(*testing.T, *fakes.Platform, *fakes.Actor) {
		return func(t *testing.T, p *fakes.Platform, ada *fakes.Actor) {
			t.Helper()
			plan(p)
			ada.Says("a")
			p.Restart()
			p.Advance(pause)
		}
	}
	return map[string]situation{
		"a crash before the run": {gets: one, act: func(t *testing.T, p *fakes.Platform, ada *fakes.Actor) {
			t.Helper()
			accept(t, p, ada, "a")
			p.Restart()
			p.Advance(0)
		}},
		"a crash before the first message": {gets: one, act: crashed(func(p *fakes.Platform) { p.Inject(fakes.Crashes(botctx.OpSendResponse)) })},
		"a crash between the messages":     {gets: one, act: crashed(func(p *fakes.Platform) { p.Inject(fakes.Crashes(botctx.OpSendResponse).At(2)) })},
		"a crash as a message has gone out": {
			gets: one, again: []string{"got a"}, act: crashed(func(p *fakes.Platform) { p.Inject(fakes.CrashesAfter(botctx.OpSendResponse)) }),
		},
		"a crash as the last message has gone out": {
			gets: one, again: []string{"That is order 1."}, act: crashed(func(p *fakes.Platform) { p.Inject(fakes.CrashesAfter(botctx.OpSendResponse).At(2)) }),
		},
		"a crash in the run after a crash": {gets: one, act: func(_ *testing.T, p *fakes.Platform, ada *fakes.Actor) {
			p.Inject(fakes.Crashes(botctx.OpSendResponse))
			p.Inject(fakes.Crashes(botctx.OpSendResponse).At(3))
			ada.Says("a")
			p.Restart()
			p.Advance(pause)
			p.Restart()
			p.Advance(4 * time.Second)
		}},
		"a message to a process that is down": {gets: one, act: func(t *testing.T, p *fakes.Platform, ada *fakes.Actor) {
			t.Helper()
			p.Crash()
			require.ErrorIs(t, ada.TrySays("a"), fakes.ErrCrashed)
			p.Restart()
			p.Advance(time.Hour)
			require.Empty(t, ada.Messages(), "it was not accepted")
			ada.SaysAgain()
		}},
		"what is written behind a lost run": {gets: two, act: func(t *testing.T, p *fakes.Platform, ada *fakes.Actor) {
			t.Helper()
			p.Inject(fakes.Crashes(botctx.OpSendResponse))
			ada.Says("a")
			p.Restart()
			ada.Says("b")
			require.Empty(t, ada.Messages(), "it waits for its turn")
			p.Advance(pause)
		}},
		"a repetition at once":         {gets: one, act: func(_ *testing.T, _ *fakes.Platform, ada *fakes.Actor) { ada.Says("a"); ada.SaysAgain() }},
		"a repetition after a restart": {gets: one, act: func(_ *testing.T, p *fakes.Platform, ada *fakes.Actor) { ada.Says("a"); p.Restart(); ada.SaysAgain() }},
		"a repetition before the run is tried again": {gets: one, act: func(t *testing.T, p *fakes.Platform, ada *fakes.Actor) {
			t.Helper()
			p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable))
			require.ErrorIs(t, ada.TrySays("a"), boterr.Unavailable)
			ada.SaysAgain()
			p.Advance(time.Second)
		}},
		"a repetition after a month": {
			// The second run sends its messages under the same ids.
			gets: one, again: []string{"got a", "That is order 2."},
			act: func(_ *testing.T, p *fakes.Platform, ada *fakes.Actor) {
				ada.Says("a")
				p.Advance(31 * 24 * time.Hour)
				ada.SaysAgain()
			},
		},
		"a failure, and what is written behind it": {gets: two, act: func(t *testing.T, p *fakes.Platform, ada *fakes.Actor) {
			t.Helper()
			p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable).At(2))
			require.ErrorIs(t, ada.TrySays("a"), boterr.Unavailable)
			ada.Says("b")
			require.Equal(t, []string{"got a"}, textsOf(ada.Messages()))
			p.Advance(time.Second)
		}},
		"a run that takes an hour": {gets: one, act: func(_ *testing.T, p *fakes.Platform, ada *fakes.Actor) {
			p.Inject(fakes.Delays(botctx.OpSendResponse, time.Hour).At(2))
			ada.Says("a")
			p.Advance(time.Hour)
		}},
	}
}

func TestCrash_EachMessageIsAnsweredOnceInItsOrder(t *testing.T) {
	t.Parallel()
	for name, s := range situations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, ada := accepting(t, confirm)
			s.act(t, p, ada)
			require.Equal(t, s.gets, textsOf(ada.Messages()))
			require.Equal(t, s.again, repeated(p))
			require.Empty(t, p.DeadLetters())
		})
	}
}

func TestCrash_AmidAnActionLetsNothingMoreBeDone(t *testing.T) {
	t.Parallel()
	var p *fakes.Platform
	p, ada := accepting(t, func(ctx context.Context, bot *botctx.Context) error {
		bot.Member.Meta = bot.Member.Meta.With("isWritten", true)
		p.Crash()
		require.ErrorIs(t, context.Cause(ctx), fakes.ErrCrashed)
		require.ErrorIs(t, bot.Reply(context.WithoutCancel(ctx), send.Text("late")), fakes.ErrCrashed)
		_, err := bot.NewAgenda(context.WithoutCancel(ctx), agenda.NewParams{NodeCompositeID: "later"})
		require.ErrorIs(t, err, fakes.ErrCrashed)
		return nil // Returns nil as if nothing had happened.
	})
	ada.Says("hi")
	require.Empty(t, ada.Messages())
	require.Empty(t, ada.Agendas())
	require.False(t, ada.Member().Meta.Has("isWritten"))
	require.ErrorIs(t, ada.TrySays("hello?"), fakes.ErrCrashed)
	p.Crash()
	p.Advance(time.Hour)
	require.Equal(t, fakes.Start().Add(time.Hour), p.Now(), "the time moves all the same")
}

func TestCrash_EndsARunThatWaits(t *testing.T) {
	t.Parallel()
	began := make(chan struct{})
	p, ada := accepting(t, func(ctx context.Context, bot *botctx.Context) error {
		if bot.MessageEvent.Text() == "wait" {
			close(began)
			<-ctx.Done()
			return context.Cause(ctx)
		}
		return confirm(ctx, bot)
	})
	said := make(chan error)
	go func() { said <- ada.TrySays("wait") }()
	<-began
	p.Crash()
	require.ErrorIs(t, <-said, fakes.ErrCrashed)
	p.Restart()
	p.HandleFunc(confirm)
	p.Advance(time.Minute)
	require.Equal(t, "got wait", ada.Messages()[0].Text())
}

func TestCrash_LosesWhatWasNotAccepted(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(confirm)
	ada := p.AddMember(member.Member{})
	p.Inject(fakes.Crashes(botctx.OpSendResponse).At(2))
	ada.Says("a")
	p.Restart()
	p.Advance(time.Hour)
	require.Equal(t, []string{"got a"}, textsOf(ada.Messages()))
	ada.SaysAgain()
	require.Equal(t, []string{"got a", "That is order 1."}, textsOf(ada.Messages()))
	require.Equal(t, []string{"got a"}, repeated(p), "nothing remembers what was sent, but the platform does")
}

func TestCrash_AgendaRunsAgainAfterItsLease(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(&botctx.Node{ID: "remind", Responses: []send.Response{send.Text("Tea!")}, Entry: true})
	ada := p.AddMember(member.Member{})
	_, err := ada.Context().NewAgenda(t.Context(), agenda.NewParams{
		MemberID: ada.ID(), NodeCompositeID: "remind", NextRunAt: document.TimestampOf(p.Now().Add(time.Hour)),
	})
	require.NoError(t, err)
	p.Inject(fakes.Crashes(botctx.OpSendResponse))
	p.Advance(time.Hour)
	require.Empty(t, ada.Messages())
	p.Restart()
	p.Advance(time.Hour)
	require.Equal(t, []string{"Tea!"}, textsOf(ada.Messages()))
}

func TestDeadLetters_AreRetriedWhenTheBotIsMended(t *testing.T) {
	t.Parallel()
	broken := &botctx.Node{ID: "order", Trigger: botctx.AnyEvent(), Pre: botctx.Do(func(context.Context, *botctx.Context) error { panic("no kettles") })}
	p := fakes.New(fakes.For(t), fakes.WithInbox())
	p.Handle(broken)
	ada, bob := p.AddMember(member.Member{FirstName: "Ada"}), p.AddMember(member.Member{FirstName: "Bob"})
	require.ErrorContains(t, ada.TrySays("a"), "no kettles")
	require.Error(t, bob.TrySays("b"))
	require.ErrorContains(t, p.TryAdvance(5*time.Minute), "no kettles")
	letters := p.DeadLetters()
	require.Len(t, letters, 2)
	require.Equal(t, ada.ExternalID(), letters[0].Event.From)
	require.Contains(t, letters[0].Error, "no kettles")
	require.Equal(t, 5, letters[0].Failures)

	p.Restart(&botctx.Node{ID: "order", Trigger: botctx.AnyEvent(), Pre: botctx.Do(confirm)})
	p.RetryDeadLetter(letters[0].ID)
	p.DiscardDeadLetter(letters[1].ID)
	p.Advance(0)
	require.Equal(t, []string{"got a", "That is order 1."}, textsOf(ada.Messages()))
	require.Empty(t, bob.Messages())
	require.Empty(t, p.DeadLetters())
	bob.SaysAgain()
	require.Empty(t, bob.Messages(), "what was discarded is known")
}

// handingOff returns a platform with an inbox, on which Grace answers for the bot.
func handingOff(t *testing.T) (p *fakes.Platform, ada *fakes.Actor, grace *fakes.Agent) {
	t.Helper()
	p = fakes.New(fakes.For(t), fakes.WithInbox(), fakes.PausingAtOnce())
	p.AddChannel(channel.Channel{ID: "shop"})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
		{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
	}})
	p.Pair("shop", "desk")
	p.Handle(handOff()...)
	ada, grace = p.AddMember(member.Member{Channel: "shop", FirstName: "Ada"}), p.AddAgent("desk", "Grace")
	return p, ada, grace
}

func TestCrash_AmidLiveChats(t *testing.T) {
	t.Parallel()
	p, ada, grace := handingOff(t)
	p.Inject(fakes.CrashesAfter(botctx.OpCreateAssignment))
	ada.Says("a person, please")
	p.Restart()
	p.Advance(time.Minute)
	require.Len(t, grace.Tickets(), 1)
	grace.Takes(grace.Ticket())
	p.Crash()
	require.ErrorIs(t, grace.TrySays("Hello."), fakes.ErrCrashed)
	p.Restart()
	grace.SaysAgain()
	require.Equal(t, "Hello.", ada.Last())
	ada.Says("It leaks.")
	p.Inject(fakes.Crashes(botctx.OpEndLiveChat))
	grace.Says("/done")
	p.Restart()
	p.Advance(time.Minute)
	require.Equal(t, "Goodbye!", ada.Last())
	require.Empty(t, ada.Member().Group)
	require.Equal(t, []string{"Somebody will be with you soon.", "Hello.", "Goodbye!"}, textsOf(ada.Messages())[:3])
}

// TestCrash_BeforeTheAnswerOfARequestForAPerson crashes after the request for a person has put the member
// into a live chat, and before the node's response.
func TestCrash_BeforeTheAnswerOfARequestForAPerson(t *testing.T) {
	t.Parallel()
	for _, op := range []botctx.Op{botctx.OpCreateAssignment, botctx.OpSendResponse} {
		for when, crash := range map[string]func(botctx.Op) fakes.Fault{
			"before": fakes.Crashes[botctx.Op], "after": fakes.CrashesAfter[botctx.Op],
		} {
			t.Run(when+" "+string(op), func(t *testing.T) {
				t.Parallel()
				p, ada, grace := handingOff(t)
				p.Inject(crash(op))
				ada.Says("a person, please")
				p.Restart()
				p.Advance(time.Minute)
				require.Len(t, grace.Tickets(), 1)
				require.Equal(t, []string{"Somebody will be with you soon."}, textsOf(ada.Messages()))
			})
		}
	}
}

func TestFork_HasTheInbox(t *testing.T) {
	t.Parallel()
	p, ada := accepting(t, confirm)
	p.Inject(fakes.Crashes(botctx.OpSendResponse))
	ada.Says("a")
	before := p.Snapshot()
	fork := p.Fork()
	require.ErrorIs(t, ada.In(fork).TrySays("b"), fakes.ErrCrashed, "it is down there, too")
	fork.Restart()
	fork.Advance(time.Minute)
	require.Equal(t, []string{"got a", "That is order 1."}, textsOf(ada.In(fork).Messages()))
	require.Empty(t, ada.Messages())

	p.Restart()
	p.Advance(time.Minute)
	require.Len(t, ada.Messages(), 2)
	p.Restore(before)
	require.ErrorIs(t, ada.TrySays("b"), fakes.ErrCrashed)
	require.Empty(t, ada.Messages())
	p.Restore(fork.Snapshot())
	ada.SaysAgain()
	require.Equal(t, []string{"got a", "That is order 1.", "got b", "That is order 2."}, textsOf(ada.Messages()), "it is up there")
}

func TestRestore_CountsWhatWaits(t *testing.T) {
	t.Parallel()
	p, ada := accepting(t, confirm, fakes.Config(func(c *botctx.Config) { c.Inbox.MaxPending = 1 }))
	empty := p.Snapshot()
	accept(t, p, ada, "a")
	require.ErrorIs(t, ada.TrySays("b"), boterr.ResourceExhausted)
	p.Restore(empty)
	ada.Says("b")
	require.Equal(t, "got b", ada.Messages()[0].Text())
}

func TestCrash_OnAStoreThatProcessesShareMessagesWaitForTheLease(t *testing.T) {
	t.Parallel()
	shared := fakes.Config(func(c *botctx.Config) { c.Store = otherStore{memstore.New(memstore.WithNow(c.Now))} })
	p, ada := accepting(t, confirm, shared)
	p.Inject(fakes.Crashes(botctx.OpSendResponse).At(2))
	ada.Says("a")
	p.Restart()
	ada.Says("b")
	p.Advance(lease.DefaultLease - time.Second)
	require.Equal(t, []string{"got a"}, textsOf(ada.Messages()))
	p.Advance(2 * time.Second)
	require.Equal(t, []string{"got a", "That is order 1.", "got b", "That is order 2."}, textsOf(ada.Messages()))
	require.Empty(t, repeated(p))
}

// answerTwice answers a message with two messages.
func answerTwice(ctx context.Context, bot *botctx.Context) error {
	said := bot.MessageEvent.Text()
	return bot.Reply(ctx, send.Text(said+", first"), send.Text(said+", second"))
}

// crashModel models the answers to members: each accepted message is answered, in order.
type crashModel struct {
	t        *testing.T
	random   *rand.Rand
	platform *fakes.Platform
	members  []*fakes.Actor
	// answers are the final answers to each member. last is each member's last message, and isAccepted
	// reports whether it was accepted.
	answers    [][]string
	last       []string
	isAccepted []bool
	// said is the number of messages. during is the number of crashes while a message was being sent.
	said, during int
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

// step does one thing at random and compares the platform with the model.
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
		p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable)).Optional()
	case 6:
		p.Inject(fakes.TimesOut(botctx.OpSendResponse)).Optional()
	case 7:
		p.Crash()
	case 8:
		p.Inject(fakes.Crashes(botctx.OpSendResponse)).Optional()
	case 9:
		p.Inject(fakes.CrashesAfter(botctx.OpSendResponse)).Optional()
		m.during++
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

// arrives makes a member write, and adds the message to the model unless the process is down or the message
// was accepted before.
func (m *crashModel) arrives(who int, says func() error) {
	_, down := m.members[who].Context().GetMember(m.t.Context(), member.GetParams{MemberID: m.members[who].ID()})
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

// ends runs all accepted messages and compares the platform with the model.
func (m *crashModel) ends() {
	for range 50 { // Planned faults may still occur.
		m.platform.Restart()
		m.advance(2 * time.Minute)
	}
	for i, ada := range m.members {
		require.Equal(m.t, m.answers[i], textsOf(ada.Messages()))
	}
	require.LessOrEqual(m.t, len(repeated(m.platform)), m.during, "only what went out as the process died was sent twice")
	require.Empty(m.t, m.platform.DeadLetters())
	stats, err := m.platform.Runtime().InboxStats(m.t.Context())
	require.NoError(m.t, err)
	require.Zero(m.t, stats.Pending)
}

func TestCrash_RandomHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds.Of(t, 8, 1000)) {
		m := newCrashModel(t, seed)
		for range 60 {
			m.step()
		}
		m.ends()
	}
}
