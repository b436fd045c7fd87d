package livechats_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// says sends a message from ada and checks the outcome.
func (s *fixture) says(t *testing.T, by *livechats.Service, text string, want livechats.Outcome) {
	t.Helper()
	requireOutcome(t, want)(by.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", text)))
}

// textsIn returns the texts sent to a target in order. If messages have the same id, it returns the first.
func (s *fixture) textsIn(target string) []string {
	texts, seen := []string{}, map[string]bool{}
	for _, m := range s.platform.sent() {
		if m.To == target && (m.ID == "" || !seen[m.ID]) {
			seen[m.ID] = true
			texts = append(texts, m.Response.Text())
		}
	}
	return texts
}

// A message that is written at any moment of a take must be sent after earlier messages.
func TestKept_WrittenWhileItIsTaken(t *testing.T) {
	t.Parallel()
	everyMoment(t, 10, func(writes int) bool {
		s := newFixture(t)
		s.pending(t, "a1", "ada", onlyInDesk)
		s.says(t, s.mine.Service, "one", livechats.OutcomeKept)
		mine, hasHappened := s.meanwhile(writes, func() {
			_, err := s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "two"))
			require.NoError(t, err)
		})
		_, err := mine.Take(t.Context(), takenBy("a1", "eve@desk"))
		require.NoError(t, err)
		if hasHappened() {
			sent := slices.DeleteFunc(s.textsIn(s.group(t, s.record(t, "a1").Group).ExternalID), func(text string) bool {
				return text != "one" && text != "two"
			})
			require.Equal(t, []string{"one", "two"}, sent, "after %d writes", writes)
			require.Empty(t, s.record(t, "a1").Kept)
		}
		return hasHappened()
	})
}

func TestKept_Bounds(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada")
	for i := range livechat.MostKept {
		s.says(t, s.mine.Service, strconv.Itoa(i), livechats.OutcomeKept)
	}
	s.says(t, s.mine.Service, "one more", livechats.OutcomeFull)
	texts := livechat.DefaultTexts()
	for _, outcome := range []livechats.Outcome{livechats.OutcomeFull, livechats.OutcomeFull, livechats.OutcomeKept, livechats.OutcomeKept} {
		require.NoError(t, s.mine.TellWaiting(t.Context(), "ada", outcome))
	}
	require.Equal(t, []string{texts.Full, texts.Full, texts.Waiting}, s.textsIn("ada-web"), "Full each time, Waiting once")
	require.Len(t, s.record(t, "a1").Kept, livechat.MostKept)

	s = newFixture(t)
	s.pending(t, "a1", "ada")
	long := strings.Repeat("x", send.MaxText)
	for range livechat.MostKeptBytes / (len(long) + 100) {
		s.says(t, s.mine.Service, long, livechats.OutcomeKept)
	}
	for range 3 {
		_, err := s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", long))
		require.NoError(t, err)
	}
	s.says(t, s.mine.Service, long, livechats.OutcomeFull)
	_, err := s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", strings.Repeat("x", 40_001)))
	require.ErrorIs(t, err, boterr.InvalidArgument, "what no agent could be sent is refused at once")
}

func TestTexts_SwitchedOff(t *testing.T) {
	t.Parallel()
	s := newFixture(t, func(p *livechats.Ports) { p.Texts = &livechat.Texts{} })
	s.pending(t, "a1", "ada")
	s.says(t, s.mine.Service, "one", livechats.OutcomeKept)
	require.NoError(t, s.mine.TellWaiting(t.Context(), "ada", livechats.OutcomeKept))
	took := s.take(t, "a1", "eve@desk")
	require.Equal(t, []string{"Order 7, for {{firstName}}", "one"}, s.textsIn(took.Group.ExternalID))
	must(t, s.mine.EndLiveChat, endByEve)
	s.platform.forget()
	requireNotRelayed(t)(s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", took.Group.ExternalID, "Hello?")))
	require.Empty(t, s.platform.did())

	s.pending(t, "a2", "ada", onlyInDesk)
	must(t, s.mine.InletEndLiveChat, `{}`)
	tap := tapOf("eve", "C1", document.O("payload", livechat.TakePayload, "value", "a2"))
	_, late := s.mine.TakeByTap(t.Context(), "desk", tap)
	require.NoError(t, s.mine.TellLate(t.Context(), "desk", tap, late))
	require.Empty(t, s.platform.did())

	took = s.taken(t, "a3", "ada", "eve@desk")
	for _, why := range []error{notGone["not shown"], notGone["token"]} {
		s.platform.fail(took.Group.ExternalID, why)
		_, _ = s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "hi"))
		require.Empty(t, s.platform.did())
	}
}

// Two requests may each have kept the maximum for one request. The oldest messages must remain.
func TestKept_HandedOnWithinTheBounds(t *testing.T) {
	t.Parallel()
	keeps := func(first, count int, text string) (kept []livechat.KeptMessage) {
		for i := range count {
			id := strconv.Itoa(first + i)
			kept = append(kept, livechat.KeptMessage{ID: id, Response: send.Text(text + id).Object()})
		}
		return kept
	}
	for name, text := range map[string]string{"number": "", "size": strings.Repeat("x", livechat.MostKeptBytes/livechat.MostKept)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.pending(t, "a0", "bob", func(r *livechat.AssignmentRecord) {
				r.EndedAt, r.Kept, r.Slot = s.at(time.Minute), keeps(0, 40, text), ""
			})
			s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) {
				r.ParentAssignment, r.Kept = "a0", keeps(40, 40, text)
			})
			took := s.take(t, "a1", "eve@desk")
			sent := s.textsIn(took.Group.ExternalID)[2:]
			require.LessOrEqual(t, len(sent), livechat.MostKept)
			require.LessOrEqual(t, len(strings.Join(sent, "")), livechat.MostKeptBytes)
			require.Greater(t, len(sent), 40)
			for i, is := range sent {
				require.Equal(t, text+strconv.Itoa(i), is)
			}
			require.Equal(t, []string{livechat.DefaultTexts().Full}, s.textsIn("ada-web"))
		})
	}
}

// A message that is written at any moment of a hand-over must reach one of the two agents.
func TestKept_WrittenWhileItIsHandedOn(t *testing.T) {
	t.Parallel()
	everyMoment(t, 8, func(writes int) bool {
		s := newFixture(t)
		first := s.taken(t, "a1", "ada", "eve@desk").Group
		mine, hasHappened := s.meanwhile(writes, func() {
			came, err := s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "now"))
			require.NoError(t, err)
			require.Contains(t, []livechats.Outcome{livechats.OutcomeDelivered, livechats.OutcomeKept}, came, "after %d writes", writes)
		})
		handed, err := mine.ReassignAssignment(t.Context(), handOn)
		require.NoError(t, err)
		took := s.take(t, handed.AssignmentID, "mallory@desk")
		got := append(s.textsIn(first.ExternalID), s.textsIn(took.Group.ExternalID)...)
		require.Equal(t, hasHappened(), slices.Contains(got, "now"), "after %d writes: %v", writes, got)
		return hasHappened()
	})
}

// The hand-over opens the next assignment while the member's message looks for the current one.
func TestKept_HandedOnWhileItIsRead(t *testing.T) {
	t.Parallel()
	// halfway returns an app whose hand-over has ended a1, and has not yet opened the next assignment.
	halfway := func(t *testing.T) *fixture {
		t.Helper()
		for writes := 0; ; writes++ {
			s := newFixture(t)
			s.taken(t, "a1", "ada", "eve@desk")
			broken, _ := s.interrupted(writes)
			_, err := broken.ReassignAssignment(t.Context(), handOn)
			require.Error(t, err)
			if s.record(t, "a1").State() == livechat.Ended {
				return s
			}
		}
	}
	for reads := 1; ; reads++ {
		s, left := halfway(t), reads
		relaying := store.Wrap(s.store, func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
			return ctx, func(_ int, err error) error {
				left--
				if left == 0 {
					_, err := s.afterCrash().ReassignAssignment(t.Context(), handOn)
					require.NoError(t, err)
				}
				return err
			}, nil
		})
		s.says(t, s.on(relaying), "still there?", livechats.OutcomeKept)
		if left > 0 {
			return
		}
	}
}

// attempts are the attempts of a run. Each one gets the same ids, and remembers what an earlier one did.
type attempts struct {
	of     *fixture
	known  map[string]document.Object
	isLast bool
}

func (a *attempts) IsLast() bool { return a.isLast }

func (a *attempts) Recall(id string) (document.Object, bool) {
	answer, isKnown := a.known[id]
	return answer, isKnown
}

func (a *attempts) Remember(_ context.Context, id string, answer any) {
	a.known[id], _ = document.Encode(answer)
}

// next returns the live chats of the next attempt, on a store.
func (a *attempts) next(store store.Store) *livechats.Service {
	given := map[string]int{}
	own := *a.of.mine
	own.env.SendID = func(ctx context.Context, to string) string {
		slot := send.KeyOf(ctx) + " " + to
		given[slot]++
		return "run " + slot + " " + strconv.Itoa(given[slot])
	}
	own.env.Attempt = func(context.Context) (record.Attempt, error) { return a, nil }
	return (&fixture{mine: &own}).on(store)
}

func (s *fixture) attempts() *attempts { return &attempts{of: s, known: map[string]document.Object{}} }

// After a crash between any two writes, the next attempt passes on what the crashed one left, without waiting for its
// lease to expire.
func TestKept_PassedOnByTheNextAttempt(t *testing.T) {
	t.Parallel()
	everyMoment(t, 5, func(writes int) bool {
		s := newFixture(t)
		s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) { r.Summary = "" })
		s.says(t, s.mine.Service, "one", livechats.OutcomeKept)
		s.platform.fail("group1", errDown)
		_, err := s.mine.Take(t.Context(), takenBy("a1", "eve@desk"))
		require.ErrorIs(t, err, boterr.Unavailable)
		s.platform.work("group1")

		run, hasBroken := s.attempts(), false
		broken := beforeWrites(s.store, writes, func() error {
			hasBroken = true
			return boterr.New(boterr.Unavailable, "", "%w", errInterrupted)
		})
		_, err = run.next(broken).RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "two"))
		if hasBroken {
			require.ErrorIs(t, err, errInterrupted)
			s.says(t, run.next(s.store), "two", livechats.OutcomeDelivered)
		}
		require.Empty(t, s.record(t, "a1").Kept, "after %d writes", writes)
		texts := slices.DeleteFunc(s.textsIn("group1"), func(text string) bool { return strings.HasPrefix(text, "Written before") })
		require.Equal(t, []string{"one", "two"}, texts, "after %d writes", writes)
		return hasBroken
	})
}

// After a crash between any two writes, the agent takes the request again. That completes the rest, once the lease of the
// crashed call has expired: it loses no message, and sends none twice, except with the same id.
func TestTake_AfterCrash(t *testing.T) {
	t.Parallel()
	isSentTwice := false
	everyMoment(t, 10, func(writes int) bool {
		paused := &atomic.Int64{}
		s := newFixture(t, func(p *livechats.Ports) {
			p.Pause = func(_ context.Context, d time.Duration) { paused.Add(int64(d)) }
		})
		s.pending(t, "a1", "ada")
		s.says(t, s.mine.Service, "one", livechats.OutcomeKept)
		s.says(t, s.mine.Service, "two", livechats.OutcomeKept)
		broken, hasBroken := s.interrupted(writes)
		_, err := broken.Take(t.Context(), takenBy("a1", "eve@desk"))
		if hasBroken() {
			require.ErrorIs(t, err, errInterrupted)
			afterPauses := clockStore{s.store, func() time.Time { return timelimit.Now().Add(time.Duration(paused.Load())) }}
			_, err = s.on(afterPauses).Take(t.Context(), takenBy("a1", "eve@desk"))
		}
		require.NoError(t, err, "after %d writes", writes)
		r, groups := s.record(t, "a1"), s.groups(t, document.O())
		require.Equal(t, livechat.Taken, r.State())
		require.Len(t, groups, 1, "after %d writes", writes)
		require.Equal(t, groups[0].ID, r.Group)
		require.True(t, groups[0].Active)
		require.Equal(t, r.Expiry, s.mine.onlyAgenda(t).NextRunAt)
		require.False(t, slices.ContainsFunc(r.Tickets, func(ticket livechat.Ticket) bool { return ticket.TakenAt.IsZero() }))
		require.Empty(t, r.Kept)
		const summary = "Order 7, for {{firstName}}"
		sent := slices.DeleteFunc(s.textsIn(groups[0].ExternalID), func(text string) bool { return strings.HasPrefix(text, "Written before") })
		require.Equal(t, []string{summary, "one", "two"}, sent, "after %d writes", writes)
		isSentTwice = isSentTwice || strings.Count(strings.Join(s.platform.did(), "\n"), summary) > 1
		return hasBroken()
	})
	require.True(t, isSentTwice, "once it could not be noted that the summary was sent")
}

func TestKept_NobodyReadIt(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada")
	s.advance(20 * time.Minute)
	s.says(t, s.mine.Service, "one", livechats.OutcomeKept)
	s.advance(20 * time.Minute)
	require.NoError(t, s.mine.Expire(t.Context(), idleAgenda()))
	require.Equal(t, livechat.Pending, s.record(t, "a1").State(), "who writes is not idle")
	s.advance(livechat.IdleTimeout)
	require.NoError(t, s.mine.Expire(t.Context(), idleAgenda()))
	s.requireOver(t, "a1", "ada", livechat.EndedByIdle)
	require.Equal(t, []string{livechat.DefaultTexts().Unread}, s.textsIn("ada-web"))
}

// limited is a connector for a platform that refuses some types of messages.
type limited struct {
	send.Connector

	refusal func(send.Type) error
}

func (l limited) Unwrap() send.Connector { return l.Connector }

func (l limited) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := l.refusal(message.Response.Type()); err != nil {
		return send.Delivery{}, err
	}
	return l.Connector.Send(ctx, message)
}

// refusing makes the connector for a type of channel refuse messages with the error of a function.
func refusing(platform channel.Type, refusal func(send.Type) error) func(*livechats.Ports) {
	return func(p *livechats.Ports) { p.Connectors[platform] = limited{p.Connectors[platform], refusal} }
}

// The request is taken while the run keeps the message, and the message cannot be passed on at once.
func TestKept_OnceByTwoAttempts(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) { r.Summary = "" })
	s.says(t, s.mine.Service, "one", livechats.OutcomeKept)
	s.platform.fail("group1", errDown)
	run, hasHappened := s.attempts(), false
	run.isLast = true
	taken := beforeWrites(s.store, 0, func() error {
		if !hasHappened {
			hasHappened = true
			_, err := s.mine.Take(t.Context(), takenBy("a1", "eve@desk"))
			require.ErrorContains(t, err, "kept messages")
		}
		return nil
	})
	_, err := run.next(taken).RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "two"))
	require.ErrorIs(t, err, boterr.Unavailable)
	require.True(t, hasHappened)
	require.Empty(t, s.textsIn("ada-web"), "the message is kept")

	s.platform.work("group1")
	s.says(t, run.next(s.store), "two", livechats.OutcomeDelivered)
	require.Equal(t, []string{"Written before (2):", "one", "two"}, s.textsIn("group1"))
}

func TestTellWaiting_OncePerRequest(t *testing.T) {
	t.Parallel()
	waiting := livechat.DefaultTexts()
	waiting.Waiting = "You are [position] of [waiting]."
	s := newFixture(t, func(p *livechats.Ports) { p.Texts = &waiting })
	s.pending(t, "a0", "bob")
	s.advance(time.Second)
	s.pending(t, "a1", "ada")
	for range 2 {
		s.says(t, s.mine.Service, "Hello?", livechats.OutcomeKept)
		require.NoError(t, s.mine.TellWaiting(t.Context(), "ada", livechats.OutcomeKept))
	}
	require.Equal(t, []string{"You are 2 of 2."}, s.textsIn("ada-web"))
	require.NoError(t, s.mine.TellWaiting(t.Context(), "ada", livechats.OutcomeDelivered))
	require.NoError(t, s.mine.TellWaiting(t.Context(), "nobody", livechats.OutcomeKept))
	require.Len(t, s.platform.sent(), 1)
}

func TestKept_HandedOn(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	s.advance(time.Minute)
	handed := s.handedOn(t, `{"channel": {"_id": "desk"}, "label": "sales", "previousAssignment": {"_id": "a1"}}`)
	s.says(t, s.mine.Service, "Are you there?", livechats.OutcomeKept)
	// The untaken assignment is handed on again, with its kept messages.
	again := s.handedOn(t, `{"channel": {"_id": "desk"}, "label": "default", "previousAssignment": {"_id": "`+handed.ID+`"}}`)
	require.Empty(t, s.record(t, handed.ID).Kept)
	s.says(t, s.mine.Service, "Hello?", livechats.OutcomeKept)
	took := s.take(t, again.ID, "mallory@desk")
	require.Equal(t, []string{"Order 7, for {{firstName}}", "Written before (2):", "Are you there?", "Hello?"}, s.textsIn(took.Group.ExternalID))
}
