package livechats_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

func TestCreateAssignment_Routes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pairing []string
		params  string
		sent    []string
	}{
		"all paired outlets":      {[]string{"desk", "team"}, `{}`, []string{"desk C1", "desk U1", "team D1"}},
		"targets need no pairing": {nil, `{"targets": [{"channel": "team"}]}`, []string{"team D1"}},
		"a group that is a target twice gets one ticket": {
			nil, `{"targets": [{"channel": "phone"}, {"channel": "phone"}]}`, []string{"phone B1"},
		},
		"a foxtrot outlet takes it alone": {[]string{"desk", "help", "shop", "team"}, `{}`, []string{"help F1"}},
		"a custom outlet takes it alone, without broadcast groups": {
			[]string{"desk", "kiosk", "help"}, `{"label": "nobody has it"}`, []string{"kiosk "},
		},
		"a direct target takes it alone": {
			[]string{"team"},
			`{"targets": [{"channel": "closed"}, {"channel": "help", "broadcastGroups": [{"type": "foxtrot"}]}]}`,
			[]string{"help "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.mine.pair(t, test.pairing...)
			r := s.mustAsk(t, test.params)
			require.Equal(t, test.sent, s.sentTo())
			require.Equal(t, livechat.Pending, r.State())
			require.Nil(t, r.Sender)
			require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat())
			require.Equal(t, s.at(livechat.IdleTimeout), r.Expiry)
			require.Equal(t, r.Expiry, s.mine.onlyAgenda(t).NextRunAt)
			for i, message := range s.platform.sent() {
				require.Nil(t, message.Member, "it goes to agents")
				require.Equal(t, message.ID, r.Tickets[i].ID)
				require.NotZero(t, r.Tickets[i].SentAt)
				require.NotEmpty(t, r.Tickets[i].MessageID)
				require.Equal(t, "chat-"+message.To, r.Tickets[i].ChatID)
			}
		})
	}
}

func TestCreateAssignment_NoRoute(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pairing []string
		change  []func(*livechats.Ports)
		params  string
		code    boterr.Code
		field   string
		says    string
	}{
		"no pairing": {params: `{}`, code: boterr.FailedPrecondition, says: "no channel is paired with the inlet web"},
		"paired with channels that are off": {
			pairing: []string{"closed"}, params: `{}`, code: boterr.FailedPrecondition, says: "is on: switch one of closed on",
		},
		"no group with the label": {
			pairing: []string{"desk", "team", "closed"}, params: `{"label": "legal"}`,
			code: boterr.FailedPrecondition, field: "label", says: `(desk, team) has broadcast groups with the label "legal"`,
		},
		"a foxtrot outlet without the label": {
			pairing: []string{"help"}, params: `{"label": "legal"}`,
			code: boterr.FailedPrecondition, field: "label", says: `(help) has broadcast groups with the label "legal"`,
		},
		"a direct target without groups of its label": {
			params: `{"targets": [{"channel": "help", "label": "legal"}]}`,
			code:   boterr.FailedPrecondition, field: "targets[0].channel", says: `help has no broadcast groups with the label "legal"`,
		},
		"a platform that is not wired": {
			pairing: []string{"desk", "team"}, change: []func(*livechats.Ports){withoutConnector(channel.Delta)}, params: `{}`,
			code: boterr.Unsupported, says: `channel team has type "delta", for which this host has no connector`,
		},
		"a direct platform that is not wired": {
			pairing: []string{"help"}, change: []func(*livechats.Ports){withoutConnector(channel.Foxtrot)}, params: `{}`,
			code: boterr.Unsupported, says: `channel help has type "foxtrot"`,
		},
		"a target that is off": {
			params: `{"targets": [{"channel": "team"}, {"channel": "closed"}]}`,
			code:   boterr.FailedPrecondition, field: "targets[1].channel", says: "the channel closed is off",
		},
		"a target without groups of its label": {
			params: `{"targets": [{"channel": "team", "label": "legal"}]}`,
			code:   boterr.FailedPrecondition, field: "targets[0].channel", says: `team has no broadcast groups with the label "legal"`,
		},
		"a target whose platform is not wired": {
			change: []func(*livechats.Ports){withoutConnector(channel.Bravo)}, params: `{"targets": [{"channel": "phone"}]}`,
			code: boterr.Unsupported, field: "targets[0].channel", says: "phone",
		},
		"a broadcast group without an id": {
			pairing: []string{"odd"}, params: `{}`, code: boterr.FailedPrecondition, says: "has no id",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t, test.change...)
			s.mine.addChannel(t, `{"_id": "odd", "type": "delta", "on": true, "broadcastGroups": [{"label": "default", "groups": [{"type": "team"}]}]}`)
			s.mine.pair(t, test.pairing...)
			requireRefused(t, s, s.mine.CreateAssignment, refused{test.params, test.code, test.field})
			_, err := s.ask(t, test.params)
			require.ErrorContains(t, err, test.says)
		})
	}
}

func TestCreateAssignment_OutletRemoved(t *testing.T) {
	t.Parallel()
	s := newFixture(t, func(p *livechats.Ports) {
		p.Pairing = pairingWith(p.Pairing, "gone")
	})
	s.mustAsk(t, `{}`)
	require.Equal(t, []string{"desk C1", "desk U1", "team D1"}, s.sentTo())
}

func TestCreateAssignment_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.addMember(t, `{"_id": "eli", "channel": "web"}`)
	s.change(t, "members", document.O("_id", "eli"), document.Unset("externalId"))
	long := strings.Repeat("ä", send.MaxText+1)
	requireRefused(t, s, s.mine.CreateAssignment,
		refused{`{"member": {"_id": "eli"}}`, boterr.FailedPrecondition, "member"},
		refused{`{"history": true}`, boterr.Unsupported, "history"},
		refused{
			`{"targets": [{"channel": "desk", "broadcastGroups": [{"id": "C1", "type": "channel"}]}]}`,
			boterr.InvalidArgument, "targets[0].broadcastGroups[0].type",
		},
		refused{
			`{"targets": [{"channel": "help", "broadcastGroups": [{"id": "F1", "type": "user"}]}]}`,
			boterr.InvalidArgument, "targets[0].broadcastGroups[0].type",
		},
	)
	s.mine.pair(t, "help")
	requireRefused(t, s, s.mine.CreateAssignment,
		refused{
			`{"assignmentDetails": {"relayMessage": {"foxtrot": {"text": "hi"}}}}`,
			boterr.InvalidArgument, "assignmentDetails.relayMessage.foxtrot.type",
		},
		refused{`{"assignmentDetails": {"summary": "` + long + `"}}`, boterr.InvalidArgument, "assignmentDetails.summary"},
	)
}

func TestCreateAssignment_StrictCreateGroup(t *testing.T) {
	t.Parallel()
	s := newFixture(t, strict)
	requireRefused(t, s, s.mine.CreateAssignment, refused{`{"createGroup": {}}`, boterr.InvalidArgument, "createGroup"})
	s.mine.pair(t, "help")
	requireRefused(t, s, s.mine.CreateAssignment, refused{`{"createGroup": {}}`, boterr.InvalidArgument, "createGroup"})
	lenient := newFixture(t)
	result, err := lenient.ask(t, `{"createGroup": {}}`)
	require.NoError(t, err)
	require.Empty(t, result.GroupID)
}

func TestCreateAssignment_StrictDetails(t *testing.T) {
	t.Parallel()
	s := newFixture(t, strict)
	for _, misspelt := range []refused{
		{`{"assignmentDetails": {"abstract": "x"}}`, boterr.InvalidArgument, "assignmentDetails.abstract"},
		{
			`{"assignmentDetails": {"relayMessage": {"Charlie": {"type": "TEXT", "text": "hi"}}}}`,
			boterr.InvalidArgument, "assignmentDetails.relayMessage.Charlie",
		},
	} {
		requireRefused(t, s, s.mine.CreateAssignment, misspelt)
	}
	s.mustAsk(t, `{"assignmentDetails": {"relayMessage": {"foxtrot": {"type": "TEXT", "text": "hi"}}}}`)
	s = newFixture(t, strict)
	s.mine.pair(t, "kiosk")
	s.mustAsk(t, `{"assignmentDetails": {"queue": 7, "relayMessage": {"Charlie": 1}}}`)
}

func TestCreateAssignment_StandardTicket(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	r := s.mustAsk(t, `{"assignmentDetails": {"summary": "Order 7 of {{lastName}}"}, "label": "sales"}`)
	require.Equal(t, send.Buttons("Ada King asks for a person.\nOrder 7 of {{lastName}}",
		send.PostbackValue("Take", livechat.TakePayload, r.ID)).String(), s.lastSent(t).String())

	s.mine.addMember(t, `{"_id": "zoe", "channel": "web"}`)
	_, err := s.ask(t, `{"member": {"_id": "zoe"}, "label": "sales", "assignmentDetails": {"summary": "`+strings.Repeat("ä", send.MaxText)+`"}}`)
	require.NoError(t, err)
	text := s.lastSent(t).Text()
	require.Len(t, []rune(text), send.MaxText)
	require.True(t, strings.HasPrefix(text, "zoe asks for a person.\nää"))
	require.True(t, strings.HasSuffix(text, "ä…"))
}

func TestCreateAssignment_RelayMessage(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	r := s.mustAsk(t, `{"assignmentDetails": {"relayMessage": {
		"charlie": {"type": "BUTTON", "text": "{{firstName}} waits", "buttons": [
			{"type": "postback", "title": "Mine", "payload": {"payload": "take"}},
			{"type": "postback", "title": "Later", "payload": {"payload": "later", "value": 5}},
			{"type": "web_url", "title": "Shop", "url": "https://shop.example"}]},
		"delta": {"type": "BUTTON", "text": "A guest", "buttons": [{"type": "postback", "title": "Go", "payload": "go"}]},
		"bravo": {"type": "no message, and not used"}}}}`)
	sent := s.platform.sent()
	require.Len(t, sent, 3)
	require.JSONEq(t, `{"type": "BUTTON", "text": "Ada waits", "buttons": [
		{"type": "postback", "title": "Mine", "payload": {"payload": "take", "value": "`+r.ID+`"}},
		{"type": "postback", "title": "Later", "payload": {"payload": "later", "value": 5}},
		{"type": "web_url", "title": "Shop", "url": "https://shop.example"}]}`, sent[0].Response.String())
	require.Equal(t, sent[0].Response, sent[1].Response)
	require.JSONEq(t, `{"type": "BUTTON", "text": "A guest", "buttons": [
		{"type": "postback", "title": "Go", "payload": {"payload": "go", "value": "`+r.ID+`"}}]}`, sent[2].Response.String())
}

func TestCreateAssignment_History(t *testing.T) {
	t.Parallel()
	s := newFixture(t, historyAt)
	requireRefused(t, s, s.mine.CreateAssignment,
		refused{
			`{"history": true, "assignmentDetails": {"relayMessage": {"charlie": {"type": "IMAGE", "url": "https://a.example/b.png"}}}}`,
			boterr.InvalidArgument, "assignmentDetails.relayMessage.charlie",
		},
		refused{
			`{"history": true, "assignmentDetails": {"relayMessage": {"charlie": {"type": "TEXT", "text": "` + strings.Repeat("a", send.MaxText-1) + `"}}}}`,
			boterr.InvalidArgument, "assignmentDetails.relayMessage.charlie.text",
		})
	r := s.mustAsk(t, `{"history": true, "label": "sales"}`)
	require.Equal(t, "Ada King asks for a person.\nhttps://history.example/ada", s.lastSent(t).Text())
	require.True(t, r.History)

	failing := newFixture(t, func(p *livechats.Ports) {
		p.HistoryURL = func(*livechat.Assignment) (string, error) {
			return "", boterr.New(boterr.FailedPrecondition, "", "no history yet")
		}
	})
	requireRefused(t, failing, failing.mine.CreateAssignment, refused{`{"history": true}`, boterr.FailedPrecondition, "history"})
}

func TestCreateAssignment_HostHasNoHistoriesAfterCrash(t *testing.T) {
	t.Parallel()
	for outlet, group := range map[string]*livechat.CreateGroup{"desk": nil, "shop": {ExternalID: "room-1"}} {
		s := newFixture(t, historyAt)
		s.mine.pair(t, outlet)
		broken, _ := s.interrupted(1)
		_, err := broken.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{History: true, CreateGroup: group})
		require.Error(t, err)
		s.platform.forget()
		sent := len(s.web.Requests())
		s.mine.ports.HistoryURL = nil
		_, err = s.afterCrash().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{CreateGroup: group})
		require.ErrorIs(t, err, boterr.Unsupported)
		require.Empty(t, s.sentTo())
		require.Len(t, s.web.Requests(), sent)
	}
}

func TestCreateAssignment_SomeTicketsFail(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.platform.fail("U1", errDown)
	s.platform.fail("D1", boterr.New(boterr.ResourceExhausted, "", "slow down"))
	_, err := s.ask(t, `{}`)
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorIs(t, err, boterr.ResourceExhausted, "each target's own error is behind it")
	require.ErrorContains(t, err, "2 of 3 targets did not get the request: desk U1 (")
	require.ErrorContains(t, err, "team D1 (")
	unsent := unsentOf(t, err)
	require.Equal(t, []string{"desk U1", "team D1"},
		[]string{unsent.Failures[0].Channel + " " + unsent.Failures[0].Group.ID, unsent.Failures[1].Channel + " " + unsent.Failures[1].Group.ID})
	r := s.record(t, unsent.AssignmentID)
	require.Equal(t, livechat.Sending, r.State())
	require.Equal(t, "message1", r.Tickets[0].MessageID)
	require.NotZero(t, r.Tickets[0].SentAt)
	require.Zero(t, r.Tickets[1].SentAt)
	require.Empty(t, r.Tickets[2].MessageID)
	require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat())
	require.Empty(t, s.mine.openAgendas(t, "ada"))

	s.platform.work("U1")
	_, err = s.ask(t, `{}`)
	require.ErrorContains(t, err, "1 of 3 targets did not get the request: team D1 (")
	s.platform.work("D1")
	again := s.mustAsk(t, `{"label": "what is stored counts"}`)
	require.Equal(t, r.ID, again.ID)
	require.Equal(t, livechat.Pending, again.State())
	require.Equal(t, []string{"desk C1", "desk U1", "team D1"}, s.sentTo(), "each got one ticket")
}

func TestCreateAssignment_AllRefused(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	before := s.stored(t)
	s.platform.fail("C9", boterr.New(boterr.NotFound, "", "there is no C9"))
	_, err := s.ask(t, `{"label": "sales"}`)
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorIs(t, err, boterr.NotFound)
	require.ErrorContains(t, err, "desk C9 (not found: there is no C9); nothing was sent, and there is no request")
	require.Empty(t, unsentOf(t, err).AssignmentID)
	require.Equal(t, before, s.stored(t), "the member is as before")
	s.mustAsk(t, `{}`)
}

func TestUnsentError_NamesTheFirst(t *testing.T) {
	t.Parallel()
	unsent := &livechat.UnsentError{AssignmentID: "a", Of: 30}
	for range 25 {
		unsent.Failures = append(unsent.Failures, livechat.Unsent{Channel: "c", Err: errors.New("no")})
	}
	require.Equal(t, 20, strings.Count(unsent.Error(), "c (no)"))
	require.Contains(t, unsent.Error(), "25 of 30 targets did not get the request: c (no), c (no)")
	require.Contains(t, unsent.Error(), " and 5 more; repeat the call to send the rest of the assignment a")
}

func TestReassignAssignment_SecondGetsFirst(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	_, _, event := conversation(t, s)
	on := paramsOf[livechat.ReassignAssignmentParams](t, `{`+event+`, "label": "sales"}`)
	var first livechat.ReassignAssignmentResult
	late, _ := s.meanwhile(0, func() {
		var err error
		first, err = s.mine.ReassignAssignment(t.Context(), on)
		require.NoError(t, err)
	})
	second, err := late.ReassignAssignment(t.Context(), on)
	require.NoError(t, err)
	require.Equal(t, first.AssignmentID, second.AssignmentID)
	require.Len(t, s.adas(t), 2)
	require.Equal(t, []string{"desk C9"}, s.sentTo())
}

func TestReassignAssignment_EndedBefore(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	previous, _, event := conversation(t, s)
	late, _ := s.meanwhile(0, func() { must(t, s.mine.InletEndLiveChat, `{}`) })
	_, err := call(t, late.ReassignAssignment, `{`+event+`, "label": "sales"}`)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.Empty(t, s.sentTo())
	require.Len(t, s.adas(t), 1)
	s.requireOver(t, previous.ID, "ada", livechat.EndedByInlet)
}

func TestTake_BeforeRemovalOrNewTargets(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]func(*testing.T, *livechats.Service, string){
		"removed": func(t *testing.T, service *livechats.Service, _ string) {
			t.Helper()
			must(t, service.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
		},
		"widened": func(t *testing.T, service *livechats.Service, id string) {
			t.Helper()
			_, err := call(t, service.AddNewTargetsToAssignment, `{"assignmentId": "`+id+`", "targets": [{"channel": "phone"}]}`)
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, "eve already has the assignment")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			r := s.mustAsk(t, `{}`)
			s.platform.forget()
			service, hasHappened := s.meanwhile(0, func() {
				s.take(t, r.ID, "eve@desk")
			})
			late(t, service, r.ID)
			require.True(t, hasHappened())
			require.Equal(t, livechat.Taken, s.record(t, r.ID).State())
			require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat())
			require.NotContains(t, s.sentTo(), "phone B1")
		})
	}
}

// The platform answers so late that another call continues with the request and sends a ticket. Then it refuses the
// first call's tickets.
func TestCreateAssignment_RefusedAfterAnotherCallHasSent(t *testing.T) {
	t.Parallel()
	refused, isFirst := boterr.New(boterr.FailedPrecondition, "", "the group is archived"), true
	s := before(func(s *fixture, _ send.Message) {
		if !isFirst {
			return
		}
		isFirst = false
		s.platform.work("C1")
		s.platform.fail("U1", errDown)
		_, err := s.afterCrash().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
		require.ErrorIs(t, err, boterr.Unavailable)
		s.platform.fail("C1", refused)
		s.platform.fail("U1", refused)
	})(t)
	s.mine.pair(t, "desk")
	s.platform.fail("U1", refused)
	_, err := s.mine.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
	require.Error(t, err)
	made := s.adas(t)
	require.Len(t, made, 1)
	require.False(t, made[0].Tickets[0].SentAt.IsZero())
}

// The request is taken and ended before the run is tried again.
func TestCreateAssignment_OnceByTwoAttempts(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	run := s.attempts()
	first, err := run.next(s.store).CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
	require.NoError(t, err)
	require.True(t, first.Member.BotMeta.LiveChat())
	took := s.take(t, first.AssignmentID, "eve@desk")
	s.end(t, "eve@desk", took.Group.ExternalID)

	second, err := run.next(s.store).CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
	require.NoError(t, err)
	require.Equal(t, first.AssignmentID, second.AssignmentID)
	require.False(t, second.Member.BotMeta.LiveChat())
	require.Len(t, s.adas(t), 1)
}
