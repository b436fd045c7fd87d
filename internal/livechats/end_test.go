package livechats_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
)

const endByEve = `{"channel": {"_id": "desk"}, "messageEvent": {"from": "eve", "to": "group1", "type": "TEXT", "data": {"text": "/done"}}}`

func TestEndLiveChat(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	g := s.taken(t, "a1", "ada", "eve@desk").Group
	s.advance(time.Minute)
	requireEndResult(t, s, must(t, s.mine.EndLiveChat, endByEve))
	s.requireOver(t, "a1", "ada", livechat.EndedByOutlet)
	require.Equal(t, s.at(0), s.record(t, "a1").EndedAt)
	require.False(t, s.group(t, g.ID).Active)
	require.True(t, s.group(t, g.ID).Valid, "inactivateGroup alone clears it")
	requireRefused(t, s, s.mine.EndLiveChat, refused{endByEve, boterr.FailedPrecondition, "messageEvent"})

	asDesk := s.mine.as("desk", "")
	s.taken(t, "a2", "ada", "eve@desk")
	must(t, asDesk.EndLiveChat, `{"messageEvent": {"from": "eve", "to": "`+s.group(t, s.record(t, "a2").Group).ExternalID+`"}}`)
	s.requireOver(t, "a2", "ada", livechat.EndedByOutlet)
}

// requireEndResult asserts that a result is about the assignment a1 and its member ada.
func requireEndResult(t *testing.T, s *fixture, result string) {
	t.Helper()
	r := s.record(t, "a1")
	ada, err := document.EncodeJSON(s.mine.member(t, "ada"))
	require.NoError(t, err)
	want := document.O("_id", "a1", "email", document.O(), "createdAt", r.CreatedAt, "apps", document.A(), "acls", document.A(),
		"_version", r.Version, "member", object(t, string(ada)))
	require.Equal(t, want.String(), object(t, result).String())
}

func TestInletEndLiveChat(t *testing.T) {
	t.Parallel()
	for _, params := range []string{`{}`, `{"member": {"_id": "ada"}}`, `{"channel": {"_id": "web"}, "member": {"_id": "ada"}, "options": {}}`} {
		s := newFixture(t)
		s.taken(t, "a1", "ada", "eve@desk")
		requireEndResult(t, s, must(t, s.mine.InletEndLiveChat, params))
		s.requireOver(t, "a1", "ada", livechat.EndedByInlet)
		require.Empty(t, s.platform.did(), "the tickets stay")
		requireRefused(t, s, s.mine.InletEndLiveChat, refused{params, boterr.FailedPrecondition, "member"})
		requireRefused(t, s, s.mine.EndLiveChat, refused{endByEve, boterr.FailedPrecondition, "messageEvent"})
	}
	s := newFixture(t)
	s.pending(t, "a1", "ada")
	must(t, s.mine.InletEndLiveChat, `{}`)
	s.requireOver(t, "a1", "ada", livechat.EndedByInlet)
	_, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: "a1", ChannelID: "desk", AdminExternalID: "eve"})
	require.ErrorIs(t, err, boterr.FailedPrecondition)
}

func TestEndLiveChat_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	requireRefused(t, s, s.mine.EndLiveChat, refused{`{"channel": {"_id": "desk"}}`, boterr.InvalidArgument, "messageEvent"})
	requireRefused(t, s, s.mine.EndLiveChat, refused{`{"channel": {}, "messageEvent": {"to": "group1"}}`, boterr.InvalidArgument, "channel._id"})
	requireRefused(t, s, s.mine.EndLiveChat, refused{`{"channel": {"_id": "foreign"}, "messageEvent": {"to": "group1"}}`, boterr.NotFound, "channel._id"})
	requireRefused(t, s, s.mine.EndLiveChat, refused{`{"channel": {"_id": "team"}, "messageEvent": {"to": "group1"}}`, boterr.NotFound, "messageEvent"})
	requireRefused(t, s, s.mine.EndLiveChat, refused{`{"channel": {"_id": "desk"}, "messageEvent": {"to": "group9"}}`, boterr.NotFound, "messageEvent"})
	requireRefused(t, s, s.mine.as("", "").EndLiveChat, refused{`{"messageEvent": {"to": "group1"}}`, boterr.InvalidArgument, "channel"})

	requireRefused(t, s, s.mine.InletEndLiveChat, refused{`{"member": {"_id": "bob"}}`, boterr.FailedPrecondition, "member"})
	requireRefused(t, s, s.mine.InletEndLiveChat, refused{`{"member": {"_id": "tom"}}`, boterr.NotFound, "member._id"})
	requireRefused(t, s, s.mine.InletEndLiveChat, refused{`{"member": {}}`, boterr.InvalidArgument, "member._id"})
	requireRefused(t, s, s.mine.InletEndLiveChat, refused{`{"channel": {"_id": "desk"}}`, boterr.InvalidArgument, "channel"})
	requireRefused(t, s, s.mine.InletEndLiveChat, refused{`{"channel": {"_id": "foreign"}}`, boterr.NotFound, "channel._id"})
	requireRefused(t, s, s.mine.as("web", "").InletEndLiveChat, refused{`{}`, boterr.InvalidArgument, "member"})
	requireRefused(t, s, s.mine.InletEndLiveChat, refused{`{"options": {"recallRelayMessage": true}}`, boterr.Unsupported, "options.recallRelayMessage"})
}

const recall = `{"options": {"recallRelayMessage": true}}`

func onCharlieAndDelta(r *livechat.AssignmentRecord) { r.Tickets = r.Tickets[:3] }

func TestInletEndLiveChat_Recalls(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", onCharlieAndDelta, func(r *livechat.AssignmentRecord) {
		r.Tickets[1].SentAt = 0
		r.Tickets[1].MessageID = ""
	})
	s.advance(time.Minute)
	must(t, s.mine.InletEndLiveChat, recall)
	require.Equal(t, []string{"desk: recall the ticket of C1", "team: recall the ticket of D1"}, s.platform.did())
	s.requireOver(t, "a1", "ada", livechat.EndedByInlet)
	tickets := s.record(t, "a1").Tickets
	require.Equal(t, s.at(0), tickets[0].RecalledAt)
	require.Zero(t, tickets[1].RecalledAt, "it was never sent")
	require.Equal(t, s.at(0), tickets[2].RecalledAt)
}

func TestInletEndLiveChat_RecallUnsupported(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stand  *fixture
		change func(*livechat.AssignmentRecord)
		text   string
	}{
		"a ticket on bravo":       {newFixture(t), func(*livechat.AssignmentRecord) {}, "charlie, delta"},
		"a channel has it direct": {newFixture(t), func(r *livechat.AssignmentRecord) { r.Direct, r.Tickets = "help", nil }, "charlie, delta"},
		"a connector without it":  {newFixture(t, thatOnlySends(channel.Delta)), onCharlieAndDelta, `"delta" cannot recall tickets`},
	} {
		test.stand.pending(t, "a1", "ada", test.change)
		requireRefused(t, test.stand, test.stand.mine.InletEndLiveChat, refused{recall, boterr.Unsupported, "options.recallRelayMessage"})
		_, err := call(t, test.stand.mine.InletEndLiveChat, recall)
		require.ErrorContains(t, err, test.text, name)
	}
}

func TestInletEndLiveChat_RecallFails(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", onCharlieAndDelta)
	s.platform.fail("C1", errDown)
	s.platform.fail("U1", boterr.New(boterr.NotFound, "", "the ticket is gone"))
	_, err := call(t, s.mine.InletEndLiveChat, recall)
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, "ticket of C1 in desk")
	require.NotContains(t, err.Error(), "U1", "a ticket that is gone needs no recall")
	require.Equal(t, livechat.Ended, s.record(t, "a1").State())
	require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat(), "the live chat is over all the same")

	s.platform.work("C1")
	must(t, s.mine.InletEndLiveChat, recall)
	require.Equal(t, []string{"team: recall the ticket of D1", "desk: recall the ticket of C1"}, s.platform.did())
	s.requireOver(t, "a1", "ada", livechat.EndedByInlet)
	requireRefused(t, s, s.mine.InletEndLiveChat, refused{recall, boterr.FailedPrecondition, "member"})
}

func TestEndLiveChat_AfterCrash(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		end func(*livechats.Service) (string, error)
		by  livechat.EndedBy
	}{
		"outlet": {func(l *livechats.Service) (string, error) { return call(t, l.EndLiveChat, endByEve) }, livechat.EndedByOutlet},
		"inlet":  {func(l *livechats.Service) (string, error) { return call(t, l.InletEndLiveChat, `{}`) }, livechat.EndedByInlet},
		"idle": {func(l *livechats.Service) (string, error) {
			return "", l.Expire(t.Context(), idleAgenda())
		}, livechat.EndedByIdle},
		"bravo": {func(l *livechats.Service) (string, error) {
			return call(t, l.EndBravoLiveChat, `{"channelId": "phone", "adminExternalId": "eve", "bravoGroupId": "group1"}`)
		}, livechat.EndedByOutlet},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outlet := "eve@desk"
			if name == "bravo" {
				outlet = "eve@phone"
			}
			for writes := 0; ; writes++ {
				s := newFixture(t)
				s.taken(t, "a1", "ada", outlet)
				s.advance(livechat.IdleTimeout)
				broken, hasBroken := s.interrupted(writes)
				_, err := test.end(broken)
				if !hasBroken() {
					require.NoError(t, err)
					require.Greater(t, writes, 3)
					return
				}
				require.ErrorIs(t, err, errInterrupted)
				_, err = test.end(s.mine.Service)
				require.NoError(t, err, "after %d writes", writes)
				s.requireOver(t, "a1", "ada", test.by)
			}
		})
	}
}

func TestEndLiveChat_ManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			var err error
			if i%2 == 0 {
				_, err = s.mine.InletEndLiveChat(t.Context(), livechat.InletEndLiveChatParams{})
			} else {
				_, err = s.mine.EndLiveChat(t.Context(), livechat.EndLiveChatParams{
					Channel: &channel.Channel{ID: "desk"}, MessageEvent: event("eve", "group1", "done"),
				})
			}
			if err != nil && boterr.CodeOf(err) != boterr.FailedPrecondition {
				t.Errorf("ending: %v", err)
			}
		})
	}
	all.Wait()
	s.requireOver(t, "a1", "ada", s.record(t, "a1").EndedBy)
}

func TestEndLiveChat_CompletedLate(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	broken, _ := s.interrupted(1)
	_, err := call(t, broken.EndLiveChat, endByEve)
	require.ErrorIs(t, err, errInterrupted)
	s.taken(t, "a2", "ada", "eve@desk")

	must(t, s.mine.EndLiveChat, endByEve)
	require.Equal(t, livechat.Ended, s.record(t, "a1").State())
	require.NotZero(t, s.record(t, "a1").ClosedAt)
	require.Equal(t, livechat.Taken, s.record(t, "a2").State())
	require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat())
	require.Equal(t, s.record(t, "a2").Expiry, s.mine.onlyAgenda(t, "ada").NextRunAt)
	require.Len(t, s.groups(t, document.O("active", true)), 1)
}

func TestEndLiveChat_GivenGroup(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	first := s.taken(t, "a1", "ada", "eve@phone").Group
	s.put(t, "groups", `{"_id": "g2", "app": "mine", "outlet": "phone", "externalId": "other", "active": true, "valid": true, "type": "bravo"}`)
	must(t, s.mine.UpdateAssignmentGroup, `{"assignmentId": "a1", "group": {"_id": "g2"}}`)
	requireRelayed(t)(s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "hi")))
	require.Equal(t, []string{"phone: send to other: hi"}, s.platform.did())
	must(t, s.mine.EndLiveChat, `{"channel": {"_id": "phone"}, "messageEvent": {"from": "eve", "to": "other"}}`)
	s.requireOver(t, "a1", "ada", livechat.EndedByOutlet)
	require.False(t, s.group(t, "g2").Active)
	require.False(t, s.group(t, first.ID).Active)
}

func TestEndLiveChat_GroupOfAnotherStays(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada")
	s.pending(t, "a2", "bob")
	s.put(t, "groups", `{"_id": "g2", "app": "mine", "outlet": "phone", "externalId": "room", "active": true, "valid": true,
		"type": "bravo", "assignment": "gone"}`)
	for _, id := range []string{"a1", "a2"} {
		must(t, s.mine.UpdateAssignmentGroup, `{"assignmentId": "`+id+`", "group": {"_id": "g2"}}`)
	}
	must(t, s.mine.InletEndLiveChat, `{}`)
	s.requireOver(t, "a1", "ada", livechat.EndedByInlet)
	require.True(t, s.group(t, "g2").Active)
	must(t, s.mine.EndLiveChat, `{"channel": {"_id": "phone"}, "messageEvent": {"from": "eve", "to": "room"}}`)
	s.requireOver(t, "a2", "bob", livechat.EndedByOutlet)
	require.False(t, s.group(t, "g2").Active)
}

func TestEndLiveChat_WhileSending(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada")
	s.put(t, "groups", `{"_id": "g1", "app": "mine", "outlet": "desk", "externalId": "room", "type": "charlie", "active": true,
		"valid": true, "assignment": "a1", "member": "ada", "inlet": "web", "meta": {}}`)
	s.change(t, "assignments", document.O("_id", "a1"),
		document.O("$set", document.O("group", "g1"), "$unset", document.O("sentAt", "")))
	require.Equal(t, livechat.Sending, s.record(t, "a1").State())
	must(t, s.mine.EndLiveChat, `{"channel": {"_id": "desk"}, "messageEvent": {"from": "eve", "to": "room"}}`)
	s.requireOver(t, "a1", "ada", livechat.EndedByOutlet)
}
