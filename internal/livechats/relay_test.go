package livechats_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// requireRelayed asserts that a message was relayed.
func requireRelayed(t *testing.T) func(livechats.Outcome, error) {
	t.Helper()
	return requireOutcome(t, livechats.OutcomeDelivered)
}

// requireNotRelayed asserts that a message was not relayed and that this is not an error.
func requireNotRelayed(t *testing.T) func(livechats.Outcome, error) {
	t.Helper()
	return requireOutcome(t, livechats.OutcomeNone)
}

// requireOutcome asserts the outcome of a message.
func requireOutcome(t *testing.T, want livechats.Outcome) func(livechats.Outcome, error) {
	t.Helper()
	return func(came livechats.Outcome, err error) {
		t.Helper()
		require.NoError(t, err)
		require.Equal(t, want, came)
	}
}

func TestRelay_Tap(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	tap := send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", document.O("payload", "Yes", "value", 1))}
	requireRelayed(t)(s.mine.RelayFromMember(t.Context(), "ada", tap))
	require.Equal(t, []string{"desk: send to group1: Yes"}, s.platform.did())
	require.Equal(t, send.TypeText, s.platform.sent()[0].Response.Type())

	// The agent reads what the member tapped on.
	for _, field := range []string{"text", "title"} {
		requireRelayed(t)(s.mine.RelayFromMember(t.Context(), "ada", send.MessageEvent{
			Type: send.TypePayload, Data: document.O("payload", "category:7", field, "Kettles"),
		}))
		require.Equal(t, "Kettles", s.lastSent(t).Text(), field)
	}
}

func TestRelay_Choices(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	for _, values := range []document.Array{
		document.A("tea", 7, document.O("payload", "cake", "value", 1), document.O("title", "no payload")), document.A("2026-03-01"),
	} {
		pick := send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", document.O("payload", "pick", "value", values), "values", values)}
		requireRelayed(t)(s.mine.RelayFromMember(t.Context(), "ada", pick))
	}
	for _, nothing := range []send.MessageEvent{
		{Type: send.TypePayload, Data: document.O("payload", document.O("payload", "button-0", "value", document.A()), "values", document.A())},
		{Type: send.TypeMisc, Data: document.O("event", document.O("type", "view_submission"))},
	} {
		requireNotRelayed(t)(s.mine.RelayFromMember(t.Context(), "ada", nothing))
	}
	form := send.MessageEvent{Type: send.TypeMisc, Data: document.O("text", "a form")}
	requireRelayed(t)(s.mine.RelayFromMember(t.Context(), "ada", form))
	require.Equal(t, []string{"desk: send to group1: tea, 7, cake", "desk: send to group1: 2026-03-01", "desk: send to group1: a form"}, s.platform.did())
}

// The ids of a thread and of an answered message are valid only in their own conversation. Another platform may refuse
// them.
func TestRelay_NoReferences(t *testing.T) {
	t.Parallel()
	for field, value := range map[string]any{"thread_ts": "1.1", "reply_to": document.O("mid", "m_1")} {
		s := newFixture(t)
		s.taken(t, "a1", "ada", "eve@desk")
		said := event("ada-web", "bot", "hi")
		said.Data = said.Data.With(field, value)
		requireRelayed(t)(s.mine.RelayFromMember(t.Context(), "ada", *said))
		require.Equal(t, document.O("type", "TEXT", "text", "hi"), s.platform.sent()[0].Response.Object(), field)
	}
}

func TestRelay_NoMessage(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	before := s.stored(t)
	for _, kind := range []send.Type{
		"", send.TypeDelivery, send.TypeRead, send.TypeEcho, send.TypeWebEvent, send.TypeReferral, send.TypeOptIn,
		send.TypeComment, send.TypeTyping, send.TypePayload,
	} {
		e := send.MessageEvent{From: "eve", To: "group1", Type: kind, Data: document.O("text", "x")}
		requireNotRelayed(t)(s.mine.RelayFromMember(t.Context(), "ada", e))
		requireNotRelayed(t)(s.mine.RelayFromAgent(t.Context(), "desk", e))
	}
	require.Empty(t, s.platform.did())
	require.Equal(t, before, s.stored(t))
}

func TestGroupOf(t *testing.T) {
	t.Parallel()
	s := newFixture(t, thatOnlySends(channel.Delta))
	ofAda := s.taken(t, "a1", "ada", "eve@desk").Group
	ofBob := s.taken(t, "a2", "bob", "eve@desk").Group
	s.mine.addMember(t, `{"_id": "cid", "channel": "web"}`)
	s.put(t, "groups", `{"_id": "old", "app": "mine", "outlet": "team", "externalId": "old", "active": false, "adminExternalId": "eve"}`)
	direct := s.taken(t, "a3", "cid", "eve@team").Group
	for name, test := range map[string]struct {
		channel, from, to string
		want              *livechat.Group
		// has is the result of HasLiveGroup. If it is false, the host need not create a Service for the event.
		has bool
	}{
		"the agent in one group":         {"desk", "eve", ofAda.ExternalID, ofAda, true},
		"the agent in the other group":   {"desk", "eve", ofBob.ExternalID, ofBob, true},
		"a colleague in a group":         {"desk", "mallory", ofAda.ExternalID, ofAda, true},
		"the agent to the bot":           {"desk", "eve", "bot", nil, false},
		"the group in another channel":   {"team", "mallory", ofAda.ExternalID, nil, false},
		"the agent to the channel":       {"team", "eve", "team", direct, true},
		"the agent to nobody else":       {"team", "eve", "", direct, true},
		"the agent somewhere else":       {"team", "eve", "random", nil, true},
		"the bot to the agent":           {"team", "team", "eve", direct, true},
		"a colleague to the agent":       {"team", "mallory", "eve", nil, true},
		"a colleague directly":           {"team", "mallory", "team", nil, false},
		"a colleague to nobody":          {"team", "mallory", "", nil, false},
		"the agent in a broadcast group": {"team", "eve", "D1", nil, true},
		"the agent in an old group":      {"team", "eve", "old", nil, true},
		"a colleague in an old group":    {"team", "mallory", "old", nil, false},
		"a group to the channel":         {"desk", ofAda.ExternalID, "desk", nil, true},
		"nobody to nobody":               {"team", "", "", nil, false},
	} {
		e := *event(test.from, test.to, "hi")
		got, err := s.mine.GroupOf(t.Context(), test.channel, e)
		require.NoError(t, err, name)
		hasGroup, err := livechats.HasLiveGroup(t.Context(), s.mine.env, s.mine.scope, test.channel, e)
		require.NoError(t, err, name)
		require.Equal(t, test.has, hasGroup, name)
		if test.want == nil {
			require.Nil(t, got, name)
			continue
		}
		require.NotNil(t, got, name)
		require.Equal(t, test.want.ID, got.ID, name)
	}
	e := *event("eve", ofAda.ExternalID, "hi")
	got, err := s.theirs.GroupOf(t.Context(), "desk", e)
	require.NoError(t, err)
	require.Nil(t, got, "another app")
	hasGroup, err := livechats.HasLiveGroup(t.Context(), s.mine.env, s.theirs.scope, "desk", e)
	require.NoError(t, err)
	require.False(t, hasGroup, "another app")
}

func TestHasLiveGroup_StoreFails(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	sharedtest.EachFailure(t, func(failing func(store.Store) store.Store) error {
		env := s.mine.env
		env.Store = failing(s.store)
		return errorOf(livechats.HasLiveGroup(t.Context(), env, s.mine.scope, "desk", *event("eve", "bot", "hi")))
	})
}

func TestGroupOf_DirectConversation(t *testing.T) {
	t.Parallel()
	s := newFixture(t, thatOnlySends(channel.Charlie))
	g := s.taken(t, "a1", "ada", "eve@desk").Group
	s.mine.addMember(t, `{"_id": "of-eve", "channel": "desk", "externalId": "eve", "botId": "bot-1"}`)
	s.mine.addMember(t, `{"_id": "of-mallory", "channel": "desk", "externalId": "mallory", "botId": "bot-2"}`)
	s.mine.addMember(t, `{"_id": "elsewhere", "channel": "team", "externalId": "eve", "botId": "bot-3"}`)
	s.change(t, "channels", document.O("_id", "desk"), document.Set("info.botId", "bot-4"))
	s.change(t, "groups", document.O("_id", g.ID), document.Set("botId", "bot-5"))
	for _, test := range []struct {
		member, to string
		want       bool
	}{
		{"of-eve", "bot-1", true},
		{"", "bot-1", false},
		{"gone", "bot-1", false},
		{"of-mallory", "bot-2", false},
		{"elsewhere", "bot-3", false},
		{"", "bot-4", true},
		{"", "bot-5", true},
		{"of-mallory", "desk", true},
		{"of-eve", "C1", false},
		{"of-eve", "C9", false},
		{"of-eve", "D1", false},
		{"of-eve", "vip", false},
	} {
		in := s.mine.as("desk", test.member)
		isRelayed, err := in.RelayFromAgent(t.Context(), "desk", *event("eve", test.to, "lunch?"))
		require.NoError(t, err)
		require.Equal(t, test.want, isRelayed == livechats.OutcomeDelivered, "%+v", test)
		_, err = in.SaveGroupIDToMember(t.Context(), livechat.SaveGroupIDToMemberParams{
			Channel: desk(), MessageEvent: event("eve", test.to, "lunch?"),
		})
		require.Equal(t, test.want, err == nil, "%+v: %v", test, err)
	}
	must(t, s.mine.InletEndLiveChat, `{}`)
	requireRefused(t, s, s.mine.EndLiveChat, refused{
		`{"channel": {"_id": "desk"}, "messageEvent": {"from": "eve", "to": "vip"}}`, boterr.NotFound, "messageEvent",
	})
}

func TestRelay_GroupOutOfUse(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	g := s.taken(t, "a1", "ada", "eve@desk").Group
	must(t, s.mine.InactivateGroup, `{"groupId": "`+g.ID+`"}`)
	requireOutcome(t, livechats.OutcomeKept)(s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "hi")))
	requireOutcome(t, livechats.OutcomeAnswered)(s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", "group1", "hi")))

	took := s.take(t, "a1", "eve@desk")
	require.NotEqual(t, g.ExternalID, took.Group.ExternalID)
	require.Contains(t, s.platform.did(), "desk: send to "+took.Group.ExternalID+": hi", "whoever takes it again gets it")
}

func TestIsAskedHere(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		group string
		is    bool
	}{"no group": {"", false}, "a group of the family": {"g1", true}, "another group": {"g2", false}, "a removed group": {"gone", false}} {
		s := newFixture(t)
		s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) { r.Group = test.group })
		s.putGroup(t, "g1", `, "inletGroupExternalId": "family"`)
		s.putGroup(t, "g2", ``)
		scope := s.mine.scope
		scope.GroupExternalID = "family"
		isAsked, err := livechats.New(s.mine.env, scope, s.mine.ports).IsAskedHere(t.Context(), "ada")
		require.NoError(t, err, name)
		require.Equal(t, test.is, isAsked, name)
	}
}

// The agent sees that there was a message, and can ask.
func TestRelay_OutletCannotShowIt(t *testing.T) {
	t.Parallel()
	s := newFixture(t, refusing(channel.Charlie, func(kind send.Type) error {
		if kind == send.TypeText {
			return nil
		}
		return boterr.Invalid("type", "is %s, and only texts can be shown", kind)
	}))
	s.taken(t, "a1", "ada", "eve@desk")
	location := send.MessageEvent{From: "ada-web", Type: "LOCATION", Data: document.O("x", 1)}
	requireRelayed(t)(s.mine.RelayFromMember(t.Context(), "ada", location))
	s.says(t, s.mine.Service, strings.Repeat("x", 40_001), livechats.OutcomeDelivered)
	require.Equal(t, []string{livechat.DefaultTexts().Unshown, livechat.DefaultTexts().Unshown}, s.textsIn("group1"))

	s.platform.forget()
	photo := send.MessageEvent{From: "ada-web", Type: send.TypeMisc, Data: document.O(
		"text", "This one.", "attachments", document.A(document.O("type", "image")),
	)}
	requireRelayed(t)(s.mine.RelayFromMember(t.Context(), "ada", photo))
	require.Equal(t, []string{"This one.", livechat.DefaultTexts().Unshown}, s.textsIn("group1"), "the text below a picture is shown")
	require.Equal(t, "ada", s.platform.sent()[0].AuthorID)
}

func TestRelay_LastAttemptIsTold(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	s.platform.fail("ada-web", errDown)
	run := s.attempts()
	for _, run.isLast = range []bool{false, true} {
		_, err := run.next(s.store).RelayFromAgent(t.Context(), "desk", *event("eve", "group1", "hi"))
		require.ErrorIs(t, err, boterr.Unavailable)
		if !run.isLast {
			require.Empty(t, s.textsIn("group1"))
		}
	}
	require.Equal(t, []string{livechat.DefaultTexts().Unsent}, s.textsIn("group1"))
}

func TestRelay_RefusedIsTold(t *testing.T) {
	t.Parallel()
	for _, code := range []boterr.Code{boterr.InvalidArgument, boterr.Unsupported, boterr.FailedPrecondition} {
		s := newFixture(t)
		s.taken(t, "a1", "ada", "eve@desk")
		s.platform.fail("ada-web", boterr.New(code, "", "refused"))
		outcome, err := s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", "group1", "hi"))
		require.ErrorIs(t, err, code)
		require.Equal(t, livechats.OutcomeNone, outcome)
		require.Equal(t, []string{livechat.DefaultTexts().Unsent}, s.textsIn("group1"))
		require.Equal(t, livechat.Taken, s.record(t, "a1").State())
	}
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	s.platform.fail("group1", boterr.New(boterr.FailedPrecondition, "", "the token is revoked"))
	_, err := s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "hi"))
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.Equal(t, []string{livechat.DefaultTexts().Unsent}, s.textsIn("ada-web"))

	s = newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	_, err = s.store.Collection("channels").Delete(t.Context(), nil, store.DeleteOptions{Multi: true}) // The host removed the agents' channel.
	require.NoError(t, err)
	s.mine.addChannel(t, `{"_id": "web", "type": "webchat", "on": true}`)
	_, err = s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "hi"))
	require.ErrorIs(t, err, boterr.NotFound)
	require.Equal(t, []string{livechat.DefaultTexts().Unsent}, s.textsIn("ada-web"))

	s = newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	_, err = members.Erase(t.Context(), s.mine.env, "mine", "ada") // The host removed the record.
	require.NoError(t, err)
	_, err = s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", "group1", "hi"))
	require.ErrorIs(t, err, boterr.NotFound)
	require.Equal(t, []string{livechat.DefaultTexts().Unsent}, s.textsIn("group1"))

	s = newFixture(t)
	s.pending(t, "a1", "ada")
	_, err = s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", strings.Repeat("x", 40_001)))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.Equal(t, []string{livechat.DefaultTexts().Unsent}, s.textsIn("ada-web"))
}

// Calls that end a live chat need not wait for messages that agents wrote before.
func TestRelay_WrittenBeforeTheEnd(t *testing.T) {
	t.Parallel()
	phone := &channel.Channel{ID: "phone"}
	said := func(s *fixture, after time.Duration, text string) send.MessageEvent {
		e := event("eve", "group1", text)
		e.Timestamp = s.at(after)
		return *e
	}
	for name, end := range map[string]func(s *fixture, e send.MessageEvent){
		"ended on Bravo": func(s *fixture, e send.MessageEvent) {
			s.now.Store(int64(e.Timestamp)) // The call has no event, so its own time counts.
			must(t, s.mine.EndBravoLiveChat, `{"channelId": "phone", "adminExternalId": "eve", "bravoGroupId": "group1"}`)
		},
		"ended": func(s *fixture, e send.MessageEvent) {
			_, err := s.mine.EndLiveChat(t.Context(), livechat.EndParams{Channel: phone, MessageEvent: &e})
			require.NoError(t, err)
		},
		"handed on": func(s *fixture, e send.MessageEvent) {
			_, err := s.mine.ReassignAssignment(t.Context(), livechat.ReassignAssignmentParams{Channel: phone, MessageEvent: &e, Label: "sales"})
			require.NoError(t, err)
		},
	} {
		s := newFixture(t)
		s.taken(t, "a1", "ada", "eve@phone")
		before := said(s, -time.Second, "too early")
		bye, command, after := said(s, time.Second, "Bye"), said(s, 2*time.Second, "#done"), said(s, 2*time.Second, "Phew.")
		s.advance(time.Minute)
		end(s, command)
		requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "phone", bye))
		require.Equal(t, []string{"Bye"}, s.textsIn("ada-web"), name)
		requireOutcome(t, livechats.OutcomeAnswered)(s.mine.RelayFromAgent(t.Context(), "phone", after))
		requireNotRelayed(t)(s.mine.RelayFromAgent(t.Context(), "phone", before))
		require.Equal(t, []string{"Bye"}, s.textsIn("ada-web"), name)
	}
}

func TestSendMessageToOutletGroup_GroupWithoutOutlet(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.put(t, "groups", `{"_id": "lost", "app": "mine", "externalId": "c9", "active": true}`)
	requireRefused(t, s, s.mine.SendMessageToOutletGroup,
		refused{`{"groupId": "lost", "response": {"type": "TEXT", "text": "hi"}}`, boterr.FailedPrecondition, "group"})
}

func TestSendMessageToOutletGroup_OtherGroups(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	s.put(t, "groups", `{"_id": "old", "app": "mine", "outlet": "desk", "externalId": "c8", "assignment": "a1", "active": true}`)
	s.platform.fail("c8", errArchived)
	_, err := call(t, s.mine.SendMessageToOutletGroup, `{"groupId": "old", "response": {"type": "TEXT", "text": "hi"}}`)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.Equal(t, livechat.Taken, s.record(t, "a1").State(), "it has another conversation")

	s.put(t, "groups", `{"_id": "free", "app": "mine", "outlet": "desk", "externalId": "c9", "active": true}`)
	s.web.Add("POST", "https://hooks.example/1", web.Text(200, "ok"))
	must(t, s.mine.SendMessageToOutletGroup,
		`{"groupId": "free", "responseUrl": "https://hooks.example/1", "response": {"type": "TEXT", "text": "hi"}}`)
}

func TestSendMessageToOutletGroup_ResponseURL(t *testing.T) {
	t.Parallel()
	s := newFixture(t, strict)
	g := s.taken(t, "a1", "ada", "eve@desk").Group
	s.web.Add("POST", "https://hooks.example/1", web.JSON(200, `{"ok": true, "ts": 5, "channel": "C7"}`), web.Text(200, "ok"),
		web.Text(500, "no"), web.Text(404, "expired_url"))
	params := func(url string) string {
		return `{"groupId": "` + g.ID + `", "responseUrl": "` + url + `", "response": {"type": "BUTTON", "text": "Hi {{firstName}}", "buttons": [{"type": "postback", "title": "Yes", "payload": "y"}]}}`
	}
	s.advance(time.Minute)
	first := must(t, s.mine.SendMessageToOutletGroup, params("https://hooks.example/1"))
	require.Equal(t, s.at(livechat.IdleTimeout), s.record(t, "a1").Expiry)
	require.JSONEq(t, `{"ok": true, "channel": "C7", "ts": "5", "message": {"text": "Hi Ada", "buttons": [{"type": "postback", "title": "Yes", "payload": "y"}]}}`, first)
	second := must(t, s.mine.SendMessageToOutletGroup, params("https://hooks.example/1"))
	require.JSONEq(t, `{"ok": true, "channel": "group1", "ts": "1709294460.000000", "message": {"text": "Hi Ada", "buttons": [{"type": "postback", "title": "Yes", "payload": "y"}]}}`, second)
	require.Empty(t, s.platform.did(), "the message goes there instead")
	asked := s.web.Requests()
	require.Len(t, asked, 2)
	require.Equal(t, "application/json", asked[0].Header.Get("Content-Type"))
	require.JSONEq(t, `{"type": "BUTTON", "text": "Hi Ada", "buttons": [{"type": "postback", "title": "Yes", "payload": "y"}]}`, asked[0].Body)

	s.advance(time.Minute) // A refused message does not restart the idle time.
	requireRefused(t, s, s.mine.SendMessageToOutletGroup,
		refused{params("https://hooks.example/1"), boterr.Unavailable, "responseUrl"},
		refused{params("https://hooks.example/1"), boterr.FailedPrecondition, "responseUrl"},
		refused{params("http://127.0.0.1/x"), boterr.InvalidArgument, "responseUrl"})
}

// formatting is a connector with another form for response URLs.
type formatting struct{ send.Connector }

func (f formatting) Unwrap() send.Connector { return f.Connector }

func (formatting) FormatResponse(response send.Response) (document.Object, error) {
	if response.Text() == "odd" {
		return document.Object{}, boterr.Invalid("text", "is odd")
	}
	return document.O("shown", response.Text()), nil
}

func TestSendMessageToOutletGroup_ResponseURLInThePlatformsForm(t *testing.T) {
	t.Parallel()
	s := newFixture(t, func(p *livechats.Ports) {
		p.Connectors = maps.Clone(p.Connectors)
		p.Connectors[channel.Charlie] = formatting{p.Connectors[channel.Charlie]}
	})
	g := s.taken(t, "a1", "ada", "eve@desk").Group
	s.web.Add("POST", "https://hooks.example/1", web.Text(200, "ok"))
	params := func(text string) string {
		return `{"groupId": "` + g.ID + `", "responseUrl": "https://hooks.example/1", "response": {"type": "TEXT", "text": "` + text + `"}}`
	}
	must(t, s.mine.SendMessageToOutletGroup, params("Hi {{firstName}}"))
	requireRefused(t, s, s.mine.SendMessageToOutletGroup, refused{params("odd"), boterr.InvalidArgument, "response.text"})
	asked := s.web.Requests()
	require.Len(t, asked, 1)
	require.JSONEq(t, `{"shown": "Hi Ada"}`, asked[0].Body)
}

func TestSendMessageToOutletGroup_ResponseURLElsewhere(t *testing.T) {
	t.Parallel()
	const url = `", "responseUrl": "https://hooks.example/1", "response": {"type": "TEXT", "text": "hi"}}`
	s := newFixture(t)
	g := s.taken(t, "a1", "ada", "eve@team").Group
	must(t, s.mine.SendMessageToOutletGroup, `{"groupId": "`+g.ID+url)
	require.Equal(t, []string{"team: send to group1: hi"}, s.platform.did())
	s = newFixture(t, strict)
	g = s.taken(t, "a1", "ada", "eve@team").Group
	requireRefused(t, s, s.mine.SendMessageToOutletGroup, refused{`{"groupId": "` + g.ID + url, boterr.InvalidArgument, "responseUrl"})
}

func TestSaveGroupIDToMember_GroupWithoutMember(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	s.put(t, "groups", `{"_id": "g2", "app": "mine", "outlet": "desk", "externalId": "room", "active": true, "valid": true, "type": "charlie"}`)
	must(t, s.mine.UpdateAssignmentGroup, `{"assignmentId": "a1", "group": {"_id": "g2"}}`)
	must(t, s.mine.SaveGroupIDToMember, `{"channel": {"_id": "desk"}, "messageEvent": {"to": "room"}}`)
	require.Equal(t, "g2", s.mine.member(t, "ada").Group)

	s.put(t, "groups", `{"_id": "g3", "app": "mine", "outlet": "desk", "externalId": "hall", "active": true, "member": "bob"}`)
	must(t, s.mine.SaveGroupIDToMember, `{"channel": {"_id": "desk"}, "messageEvent": {"to": "hall"}}`)
	require.Equal(t, "g3", s.mine.member(t, "bob").Group, "a group needs no assignment for that")
}

func TestSaveGroupIDToMember_OfNobody(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.put(t, "groups", `{"_id": "empty", "app": "mine", "outlet": "desk", "externalId": "room", "active": true}`)
	requireRefused(t, s, s.mine.SaveGroupIDToMember,
		refused{`{"messageEvent": {"from": "x"}}`, boterr.NotFound, "messageEvent"},
		refused{`{"channel": {"_id": "desk"}, "messageEvent": {"to": "room"}}`, boterr.NotFound, "messageEvent"})
}

// Some platforms allow longer texts than others.
func TestRelay_LongText(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("ä", 1500) + "\n" + strings.Repeat("b", 2100) + "!"
	parts := []string{strings.Repeat("ä", 1500) + "\n", strings.Repeat("b", 2000), strings.Repeat("b", 100) + "!"}
	s := newFixture(t)
	s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) { r.Summary = "" })
	s.says(t, s.mine.Service, words, livechats.OutcomeKept)
	took := s.take(t, "a1", "eve@desk")
	require.Equal(t, append([]string{"Written before (3):"}, parts...), s.textsIn(took.Group.ExternalID))

	s.says(t, s.mine.Service, words, livechats.OutcomeDelivered)
	require.Equal(t, parts, s.textsIn(took.Group.ExternalID)[4:])
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", took.Group.ExternalID, words)))
	require.Equal(t, parts, s.textsIn("ada-web"))
}

// The limit of Echo is in bytes of UTF-8.
func TestRelay_LongTextInBytes(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("\u8336", 500) + " " + strings.Repeat("\u8336", 700)
	parts := []string{strings.Repeat("\u8336", 500) + " ", strings.Repeat("\u8336", 682), strings.Repeat("\u8336", 18)}
	s := newFixture(t)
	s.change(t, "channels", document.O("_id", "web"), document.Set("type", "echo"))
	s.taken(t, "a1", "ada", "eve@desk")
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", "group1", text)))
	require.Equal(t, parts, s.textsIn("ada-web"))

	s = newFixture(t)
	s.change(t, "channels", document.O("_id", "team"), document.Set("type", "echo"))
	s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) { r.Summary = "" })
	s.says(t, s.mine.Service, text, livechats.OutcomeKept)
	took := s.take(t, "a1", "eve@team")
	s.says(t, s.mine.Service, text, livechats.OutcomeDelivered)
	require.Equal(t, slices.Concat([]string{"Written before (1):"}, parts, parts), s.textsIn(took.Group.ExternalID))
	ids := map[string]bool{}
	for _, message := range s.platform.sent() {
		require.False(t, ids[message.ID], "each part has an id")
		ids[message.ID] = true
	}
}

// Some platforms have no messages with attachments.
func TestRelay_AttachmentsOneByOne(t *testing.T) {
	t.Parallel()
	s := newFixture(t, refusing(channel.Webchat, func(kind send.Type) error {
		if kind != send.TypeMisc {
			return nil
		}
		return boterr.New(boterr.Unsupported, "type", "there is no MISC")
	}))
	s.taken(t, "a1", "ada", "eve@desk")
	file := func(kind, field string) document.Object {
		return document.O("type", kind, "payload", document.O(field, "https://files.example/"+kind))
	}
	place := document.O("type", "location", "payload", document.O("coordinates", document.O("lat", 52.5, "long", 0.00005)))
	said := event("eve", "group1", "Look.")
	said.Type, said.Data = send.TypeMisc, said.Data.With("attachments", document.A(file("image", "url"), file("file", "url"), place))
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "desk", *said))
	sent := s.platform.sent()
	require.Len(t, sent, 4)
	require.Equal(t, "Look.", sent[0].Response.Text())
	require.Equal(t, send.Image("https://files.example/image"), sent[1].Response)
	require.Equal(t, send.File("https://files.example/file"), sent[2].Response)
	require.Equal(t, "52.5, 0.00005", sent[3].Response.Text())

	said.Data = said.Data.With("attachments", document.A(file("image", "attachment_id"), file("audio", "url")))
	_, err := s.mine.RelayFromAgent(t.Context(), "desk", *said)
	require.ErrorIs(t, err, boterr.Unsupported)
	require.Equal(t, []string{"Look.", ""}, s.textsIn("ada-web")[4:])
	require.Equal(t, []string{livechat.DefaultTexts().Unsent}, s.textsIn("group1"))

	s.platform.forget()
	said.Data = document.O("attachments", document.A(file("image", "url")))
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "desk", *said))
	require.Len(t, s.platform.sent(), 1, "there is no text")
}
