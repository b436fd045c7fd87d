package livechats_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

func TestCreateAssignment_ManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	ids := make([]string, 50)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			result, err := s.mine.CreateAssignment(context.Background(), livechat.CreateAssignmentParams{})
			if err == nil && result.Member.BotMeta.LiveChat() {
				ids[i] = result.AssignmentID
			}
		})
	}
	all.Wait()
	require.NotEmpty(t, ids[0])
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	require.Len(t, s.assignments(t, "ada"), 1)
	require.Equal(t, []string{"desk C1", "desk U1", "team D1"}, s.sentTo())
	require.Equal(t, livechat.Pending, s.record(t, ids[0]).State())
	s.mine.onlyAgenda(t, "ada")
}

func TestCreateAssignment_AfterCrash(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]struct{ outlets, params string }{
		"tickets": {"desk", `{"assignmentDetails": {"summary": "s"}}`},
		"direct":  {"help", `{"assignmentDetails": {"summary": "s"}}`},
		"api":     {"shop", `{"createGroup": {"externalId": "room-1"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wasBroken := true
			for writes := 0; wasBroken; writes++ {
				wasBroken = requireCompleted(t, ask.outlets, ask.params, writes)
			}
		})
	}
}

// requireCompleted asks on a store that is interrupted after so many writes, and asserts that
// the same call again completes the request. It reports whether the store was interrupted.
func requireCompleted(t *testing.T, outlet, params string, writes int) bool {
	t.Helper()
	s := newFixture(t)
	s.web.Add("POST", shopAPI, web.JSON(200, `{"ok": true}`))
	s.mine.pair(t, outlet)
	p := paramsOf[livechat.CreateAssignmentParams](t, params)
	service, hasBroken := s.interrupted(writes)
	_, err := service.CreateAssignment(t.Context(), p)
	if !hasBroken() {
		require.NoError(t, err)
		return false
	}
	if err != nil { // What fails last is only the release of the sender, which says nothing.
		require.ErrorIs(t, err, errInterrupted)
	}
	result, err := s.afterCrash().CreateAssignment(t.Context(), p)
	require.NoError(t, err, "after %d writes", writes)
	records := s.assignments(t, "ada")
	require.Len(t, records, 1)
	require.Equal(t, result.AssignmentID, records[0].ID)
	require.NotEqual(t, livechat.Sending, records[0].State())
	require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat())
	require.Equal(t, records[0].Expiry, s.mine.onlyAgenda(t, "ada").NextRunAt)
	require.Equal(t, records[0].Group, result.GroupID)
	for _, ticket := range records[0].Tickets {
		require.NotZero(t, ticket.SentAt)
	}
	if p.CreateGroup != nil {
		require.Len(t, s.groups(t, document.O("assignment", records[0].ID)), 1, "after %d writes", writes)
	}
	kept := map[string]bool{}
	for _, ticket := range records[0].Tickets {
		kept[ticket.ID] = true
	}
	seen := map[string]int{}
	for _, message := range s.platform.sent() {
		seen[message.ID]++
	}
	for id, times := range seen {
		require.True(t, kept[id], "%s is the id of no ticket of the request", id)
		require.LessOrEqual(t, times, 2, "%s: only what was not noted is sent again, with its id", id)
	}
	return true
}

func TestCreateAssignment_CanceledAtEachSend(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 3; n++ {
		var sends int
		ctx, cancel := context.WithCancel(t.Context())
		s := before(func(*fixture, send.Message) {
			sends++
			if sends == n {
				cancel()
			}
		})(t)
		_, err := s.mine.CreateAssignment(ctx, livechat.CreateAssignmentParams{})
		require.ErrorIs(t, err, boterr.Canceled)
		unsent := unsentOf(t, err)
		require.Len(t, unsent.Failures, 4-n, "what comes after the end of the call is not sent")
		require.Len(t, s.sentTo(), n-1)
		require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat())
		require.Equal(t, unsent.AssignmentID, s.mustAsk(t, `{}`).ID)
		require.Equal(t, []string{"desk C1", "desk U1", "team D1"}, s.sentTo())
	}
}

func TestCreateAssignment_WaitsForSender(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		arrived, goOn := make(chan struct{}), make(chan struct{})
		var once sync.Once
		s := before(func(*fixture, send.Message) {
			once.Do(func() {
				close(arrived)
				<-goOn
			})
		})(t)
		var first, second livechat.CreateAssignmentResult
		var calls sync.WaitGroup
		calls.Go(func() { first, _ = s.mine.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{}) })
		<-arrived
		calls.Go(func() { second, _ = s.mine.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{}) })
		time.AfterFunc(time.Second, func() { close(goOn) })
		calls.Wait()
		require.NotEmpty(t, first.AssignmentID)
		require.Equal(t, first.AssignmentID, second.AssignmentID)
		require.True(t, second.Member.BotMeta.LiveChat())
		require.Len(t, s.sentTo(), 3)
	})
}

func TestCreateAssignment_WaitsForCrashedSender(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFixture(t)
		service, _ := s.interrupted(1)
		_, err := service.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
		require.ErrorIs(t, err, errInterrupted)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		before := s.stored(t)
		_, err = s.mine.CreateAssignment(ctx, livechat.CreateAssignmentParams{})
		require.ErrorIs(t, err, boterr.Canceled)
		require.Equal(t, before, s.stored(t))
		s.mustAsk(t, `{}`)
	})
}

// frozenStore is a store whose clock stands still.
type frozenStore struct{ store.Store }

// Now implements store.Store.
func (frozenStore) Now(context.Context) (time.Time, error) { return time.UnixMilli(noon), nil }

func TestCreateAssignment_WaitsTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFixture(t)
		s.store = frozenStore{s.store}
		service, _ := s.interrupted(1)
		_, err := service.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
		require.ErrorIs(t, err, errInterrupted)
		s.platform.forget()
		env := s.mine.env
		env.Store = s.store
		_, err = livechats.New(env, s.mine.scope, s.mine.ports).CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
		require.ErrorIs(t, err, boterr.Conflict)
		require.ErrorContains(t, err, "another call is sending this request")
		require.Empty(t, s.sentTo())
	})
}

func TestCreateAssignment_LosesItsPlace(t *testing.T) {
	t.Parallel()
	s := before(func(s *fixture, m send.Message) {
		if m.To == "C1" { // It takes so long that another call is the sender by now.
			s.change(t, "assignments", document.O(), document.Set("sender.id", "another"))
		}
	})(t)
	_, err := s.ask(t, `{}`)
	require.ErrorIs(t, err, boterr.Conflict)
	require.Equal(t, []string{"desk C1"}, s.sentTo())
	r := s.assignments(t, "ada")[0]
	require.Equal(t, "message1", r.Tickets[0].MessageID)
	require.Equal(t, "another", r.Sender.ID, "the place of the other call stays")
	_, err = s.afterCrash().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
	require.NoError(t, err)
	require.Equal(t, []string{"desk C1", "desk U1", "team D1"}, s.sentTo())
}

func TestCreateAssignment_WithdrawnWhileSent(t *testing.T) {
	t.Parallel()
	s := before(func(s *fixture, m send.Message) {
		if m.To == "U1" {
			must(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
		}
	})(t)
	_, err := s.ask(t, `{}`)
	require.ErrorIs(t, err, boterr.Conflict)
	require.ErrorContains(t, err, "was withdrawn while it was sent")
	did := s.platform.did()
	require.Contains(t, did, "desk: recall the ticket of C1")
	require.Contains(t, did, "desk: recall the ticket of U1")
	require.Equal(t, []string{"desk C1", "desk U1"}, s.sentTo(), "no more is sent")
	require.Empty(t, s.assignments(t, "ada"))
	require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat())
}

// endingMembers are members who end their live chat at the moment in which they enter it.
type endingMembers struct {
	livechats.Members

	end func()
}

// PatchMembers implements livechat.Members.
func (e *endingMembers) PatchMembers(ctx context.Context, p member.PatchMembersParams) (member.PatchMembersResult, error) {
	value, _ := p.Patch.Field("botMeta.liveChat")
	if isLive, ok := value.(bool); ok && isLive {
		e.end()
	}
	return e.Members.PatchMembers(ctx, p)
}

func TestCreateAssignment_EndedAtOnce(t *testing.T) {
	t.Parallel()
	members := &endingMembers{}
	s := newFixture(t, func(p *livechats.Ports) {
		members.Members = p.Members
		p.Members = members
	})
	members.end = sync.OnceFunc(func() {
		_, err := s.mine.InletEndLiveChat(t.Context(), livechat.InletEndLiveChatParams{})
		require.NoError(t, err)
	})
	result, err := s.ask(t, `{}`)
	require.NoError(t, err)
	require.False(t, result.Member.BotMeta.LiveChat())
	s.requireOver(t, result.AssignmentID, "ada", livechat.EndedByInlet)
}

func TestCreateAssignment_AnotherCallTakesItsPlace(t *testing.T) {
	t.Parallel()
	isLate := false
	everyMoment(t, 6, func(t *testing.T, writes int) bool {
		t.Helper()
		s := newFixture(t)
		first, hasHappened := s.meanwhile(writes, func() {
			if len(s.assignments(t, "ada")) == 0 {
				return
			}
			_, err := s.afterCrash().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
			require.NoError(t, err, "after %d writes", writes)
			isLate = true
		})
		if _, err := first.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{}); err != nil {
			require.ErrorIs(t, err, boterr.Conflict)
			require.ErrorContains(t, err, "another call has gone on with it", "after %d writes", writes)
		}
		require.Len(t, s.assignments(t, "ada"), 1)
		require.Equal(t, livechat.Pending, s.assignments(t, "ada")[0].State())
		require.Equal(t, s.assignments(t, "ada")[0].Expiry, s.mine.onlyAgenda(t, "ada").NextRunAt)
		require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat())
		return hasHappened()
	})
	require.True(t, isLate)
}

func TestCreateAssignment_EndedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]struct{ outlet, params string }{
		"tickets": {"desk", `{}`},
		"api":     {"shop", `{"createGroup": {"externalId": "room-1"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyMoment(t, 5, func(t *testing.T, writes int) bool {
				t.Helper()
				s := newFixture(t)
				s.web.Add("POST", shopAPI, web.JSON(200, `{"ok": true}`))
				s.mine.pair(t, ask.outlet)
				ended := ""
				mine, hasHappened := s.meanwhile(writes, func() {
					for _, r := range s.assignments(t, "ada") {
						must(t, s.mine.InletEndLiveChat, `{}`)
						ended = r.ID
					}
				})
				_, err := mine.CreateAssignment(t.Context(), paramsOf[livechat.CreateAssignmentParams](t, ask.params))
				if err != nil {
					require.ErrorIs(t, err, boterr.Conflict, "after %d writes", writes)
				}
				if ended != "" {
					s.requireOver(t, ended, "ada", livechat.EndedByInlet)
				}
				return hasHappened()
			})
		})
	}
}
