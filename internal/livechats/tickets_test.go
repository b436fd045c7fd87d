package livechats_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

func TestCreateGroup_AsksAPI(t *testing.T) {
	t.Parallel()
	s := newFixture(t, historyAt, strict)
	s.mine.pair(t, "desk", "shop")
	s.web.Add("POST", shopAPI, web.JSON(201, `{"groupId": "room-5"}`))
	result, err := s.ask(t, `{"createGroup": {"externalId": "wish"}, "history": true, "meta": {"order": 7},
		"assignmentDetails": {"summary": "s", "groupName": "Order 7", "queue": {"name": "{{firstName}}"}}}`)
	require.NoError(t, err)
	require.Empty(t, s.sentTo(), "it goes to the API alone")

	requests := s.web.Requests()
	require.Len(t, requests, 1)
	require.Equal(t, "application/json", requests[0].Header.Get("Content-Type"))
	require.Equal(t, result.AssignmentID, requests[0].Header.Get("Idempotency-Key"))
	body := object(t, requests[0].Body)
	require.Equal(t, "ada", document.Get(body, "member._id", ""))
	require.JSONEq(t, `{"assignmentId": "`+result.AssignmentID+`", "externalId": "wish", "meta": {"order": 7},
		"history": "https://history.example/ada",
		"assignmentDetails": {"summary": "s", "groupName": "Order 7", "queue": {"name": "{{firstName}}"}}}`, body.Without("member").String())

	r := s.record(t, result.AssignmentID)
	require.Equal(t, []string{result.GroupID, "shop", "room-5"}, []string{r.Group, r.Outlet, document.Get(r.GroupInfo, "externalId", "")})
	require.Equal(t, livechat.Taken, r.State())
}

func TestCreateGroup_APIRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reply web.Reply
		// isNone is true if the request is removed, because each attempt would be refused.
		isNone bool
		says   string
	}{
		"a failure":      {reply: web.JSON(500, `{}`), says: "answered with status 500"},
		"too often":      {reply: web.JSON(429, `{}`), says: "answered with status 429"},
		"no connection":  {reply: web.Fail(errDown), says: "connection reset"},
		"a bad request":  {reply: web.JSON(400, `{}`), isNone: true, says: "refused the request with status 400: check"},
		"a refusal":      {reply: web.JSON(422, `{}`), isNone: true, says: "refused the request with status 422: check"},
		"no group":       {reply: web.JSON(200, `{"groupId": ""}`), says: "without a groupId"},
		"an unsafe hop":  {reply: web.Redirect(307, "http://127.0.0.1/"), isNone: true, says: "shop"},
		"a hop too many": {reply: web.Redirect(307, shopAPI), says: "shop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.mine.pair(t, "shop")
			s.web.Add("POST", shopAPI, test.reply)
			_, err := s.ask(t, `{"createGroup": {}}`)
			require.ErrorIs(t, err, boterr.Unavailable)
			require.ErrorContains(t, err, test.says)
			require.Equal(t, "shop", unsentOf(t, err).Failures[0].Channel)
			require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat())
			require.Empty(t, s.groups(t, document.O()))
			require.Equal(t, test.isNone, len(s.adas(t)) == 0)
			s.web.Add("POST", shopAPI, web.JSON(200, `{"groupId": "room-5"}`))
			result, err := s.ask(t, `{"createGroup": {}}`)
			require.NoError(t, err)
			require.Equal(t, "room-5", s.group(t, result.GroupID).ExternalID)
			require.Len(t, s.adas(t), 1)
		})
	}
}

func TestCustomAPI_CannotBeAsked(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.addChannel(t, `{"_id": "broken", "type": "custom", "on": true, "metadata": {"liveChatApi": "not an address"}}`)
	requireRefused(t, s, s.mine.CreateAssignment,
		refused{`{"createGroup": {}, "targets": [{"channel": "kiosk"}]}`, boterr.FailedPrecondition, "createGroup"},
		refused{`{"createGroup": {}, "targets": [{"channel": "broken"}]}`, boterr.FailedPrecondition, "createGroup"},
		refused{`{"targets": [{"channel": "broken"}]}`, boterr.FailedPrecondition, "targets[0].channel"})
	offline := newFixture(t, func(p *livechats.Ports) { p.HTTP = nil })
	requireRefused(t, offline, offline.mine.CreateAssignment,
		refused{`{"createGroup": {}, "targets": [{"channel": "shop"}]}`, boterr.Unsupported, "createGroup"},
		refused{`{"targets": [{"channel": "shop"}]}`, boterr.Unsupported, "targets[0].channel"})
}

func TestCreateAssignment_DirectOutlet(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.pair(t, "help")
	r := s.mustAsk(t, `{"assignmentDetails": {"summary": "s", "relayMessage": {"foxtrot": {"type": "TEXT", "text": "{{firstName}} needs help"}}}}`)
	require.Equal(t, "Ada needs help", s.lastSent(t).Text())
	require.Equal(t, []string{"help F1"}, s.sentTo())
	require.True(t, r.IsZendesk)
	require.Equal(t, []string{"help", "help"}, []string{r.Direct, r.Outlet})
	require.Equal(t, livechat.Pending, r.State(), "an agent has yet to take it")

	took := s.take(t, r.ID, "eve@help")
	require.Equal(t, "chat-F1", took.Group.ExternalID, "the conversation is the one that the first message opened")
}

// opaque are details that only a custom outlet accepts.
var opaque = map[string]string{ //nolint:gochecknoglobals // It does not change.
	`{"summary": {"a": 1}, "groupName": null}`:                       "assignmentDetails.summary",
	`{"groupName": ["x"], "summary": ""}`:                            "assignmentDetails.groupName",
	`{"relayMessage": "as you like it"}`:                             "assignmentDetails.relayMessage",
	`{"relayMessage": {"custom": "<b>hi</b>"}}`:                      "assignmentDetails.relayMessage.custom",
	`{"relayMessage": {"custom": {"type": 5}, "charlie": [1]}}`:      "assignmentDetails.relayMessage",
	`{"summary": {"$ne": 1}, "relayMessage": {"$x": {"y.z": true}}}`: "assignmentDetails.summary",
}

func TestAssignmentDetails_OfCustomOutlet(t *testing.T) {
	t.Parallel()
	given := slices.Concat(slices.Collect(maps.Keys(opaque)), []string{
		`{"relayMessage": {"custom": {"html": "<b>hi</b>"}}, "x": {"type": "TEXT"}}`,
		`{"summary": "` + strings.Repeat("x", send.MaxText+1) + `"}`,
		`{"relayMessage": {}}`, `{"summary": null}`, `{}`,
	})
	for _, details := range given {
		s := newFixture(t, strict)
		s.mine.pair(t, "shop")
		s.web.Add("POST", shopAPI, web.JSON(200, `{"groupId": "room-5"}`))
		_, err := s.ask(t, `{"createGroup": {}, "assignmentDetails": `+details+`}`)
		require.NoError(t, err, details)
		require.JSONEq(t, details, document.Get(object(t, s.web.Requests()[0].Body), "assignmentDetails", document.Object{}).String())

		s = newFixture(t)
		s.mine.pair(t, "kiosk")
		r := s.mustAsk(t, `{"assignmentDetails": `+details+`}`)
		require.Equal(t, "Ada King asks for a person.", s.lastSent(t).Text(), details)
		require.JSONEq(t, details, document.Get(object(t, s.lastSent(t).String()), "assignmentDetails", document.Object{}).String())
		s.take(t, r.ID, "eve@kiosk")
	}
}

func TestAssignmentDetails_OtherOutletsRefuse(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	for details, field := range opaque {
		for _, outlet := range []string{"desk", "help", "team", "phone"} {
			before := s.stored(t)
			_, err := s.ask(t, `{"targets": [{"channel": "`+outlet+`"}], "assignmentDetails": `+details+`}`)
			require.ErrorIs(t, err, boterr.InvalidArgument, details)
			refusal, _ := boterr.AsError(err)
			require.True(t, strings.HasPrefix(refusal.Field, field), "%s names %s", details, refusal.Field)
			require.Equal(t, before, s.stored(t))
		}
	}
}

func TestCustomAPI_WithoutGroup(t *testing.T) {
	t.Parallel()
	for answer, conversation := range map[string]string{`{"groupId": "room-5"}`: "room-5", `{"ok": true}`: "eve"} {
		s := newFixture(t, withoutConnector(channel.Custom))
		s.mine.pair(t, "shop")
		s.web.Add("POST", shopAPI, web.JSON(200, answer))
		result, err := s.ask(t, `{"assignmentDetails": {"queue": 7}}`)
		require.NoError(t, err)
		require.Empty(t, result.GroupID)
		require.Empty(t, s.sentTo(), "it goes to the API alone")
		require.Len(t, s.web.Requests(), 1)
		body := object(t, s.web.Requests()[0].Body)
		require.JSONEq(t, `{"assignmentId": "`+result.AssignmentID+`", "meta": {}, "assignmentDetails": {"queue": 7}}`, body.Without("member").String())
		require.Equal(t, livechat.Pending, s.record(t, result.AssignmentID).State(), "an agent has yet to take it")
		_, err = s.ask(t, `{}`)
		require.NoError(t, err)
		require.Len(t, s.web.Requests(), 1, "it is open")

		s.mine.ports.Connectors = s.platform.connectors()
		took, err := s.mine.as("web", "ada").Take(t.Context(), takenBy(result.AssignmentID, "eve@shop"))
		require.NoError(t, err)
		require.Equal(t, conversation, took.Group.ExternalID)
	}
}

func TestTicket_TapsSendAssignment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ given, sent string }{
		"the cards of a carousel": {
			`{"type": "CAROUSEL", "carousel": [
				{"title": "Ada", "subtitle": "waits", "buttons": [
					{"type": "postback", "title": "Go", "payload": "go"},
					{"type": "postback", "title": "Mine", "payload": {"payload": "mine"}}]},
				{"title": "no buttons"},
				{"title": "More", "buttons": [
					{"type": "postback", "title": "Later", "payload": {"payload": "later", "value": 5}},
					{"type": "web_url", "title": "Shop", "url": "https://shop.example"}]}]}`,
			`{"type": "CAROUSEL", "carousel": [
				{"title": "Ada", "subtitle": "waits", "buttons": [
					{"type": "postback", "title": "Go", "payload": {"payload": "go", "value": "<id>"}},
					{"type": "postback", "title": "Mine", "payload": {"payload": "mine", "value": "<id>"}}]},
				{"title": "no buttons"},
				{"title": "More", "buttons": [
					{"type": "postback", "title": "Later", "payload": {"payload": "later", "value": 5}},
					{"type": "web_url", "title": "Shop", "url": "https://shop.example"}]}]}`,
		},
		"quick replies": {
			`{"type": "QUICK_REPLIES", "text": "Ada waits", "quickReplies": [
				{"content_type": "text", "title": "Go", "payload": "go"}, {"title": "Mine", "payload": "mine"},
				{"content_type": "text", "title": "Later", "payload": "later", "value": 5}, {"content_type": "location"}]}`,
			`{"type": "QUICK_REPLIES", "text": "Ada waits", "quickReplies": [
				{"content_type": "text", "title": "Go", "payload": "go", "value": "<id>"}, {"title": "Mine", "payload": "mine", "value": "<id>"},
				{"content_type": "text", "title": "Later", "payload": "later", "value": 5}, {"content_type": "location"}]}`,
		},
		"a text": {`{"type": "TEXT", "text": "Ada waits"}`, `{"type": "TEXT", "text": "Ada waits"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			r := s.mustAsk(t, `{"label": "sales", "assignmentDetails": {"relayMessage": {"charlie": `+c.given+`}}}`)
			require.JSONEq(t, strings.ReplaceAll(c.sent, "<id>", r.ID), s.lastSent(t).String())
		})
	}
}

// tapOf returns an agent's tap on a button with a payload in a conversation.
func tapOf(from, to string, payload any) send.MessageEvent {
	return send.MessageEvent{From: from, To: to, Type: send.TypePayload, Data: document.O("payload", payload)}
}

func TestTakeByTap_OtherEvents(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada", onlyInDesk)
	before := s.stored(t)
	accept := document.O("payload", "ACCEPT", "value", "a1")
	for name, test := range map[string]struct {
		channel string
		event   send.MessageEvent
	}{
		"a text":                       {"desk", *event("eve", "C1", "a1")},
		"a payload alone":              {"desk", tapOf("eve", "C1", document.O("payload", "ACCEPT"))},
		"the value of something else":  {"desk", tapOf("eve", "C1", document.O("payload", "ACCEPT", "value", "order-7"))},
		"a value that is no text":      {"desk", tapOf("eve", "C1", document.O("payload", "ACCEPT", "value", document.O("id", "a1")))},
		"a channel that got no ticket": {"team", tapOf("eve", "D1", accept)},
		"the tap's payload in a text":  {"desk", send.MessageEvent{From: "eve", Type: send.TypeText, Data: document.O("payload", accept)}},
		"an assignment of another app": {"foreign", tapOf("eve", "C1", accept)},
		"a channel that is not there":  {"nowhere", tapOf("eve", "C1", accept)},
		"a tap on nothing":             {"desk", tapOf("eve", "C1", nil)},
	} {
		live := s.mine
		if test.channel == "foreign" {
			live = s.theirs
		}
		isTaken, err := live.TakeByTap(t.Context(), test.channel, test.event)
		require.NoError(t, err, name)
		require.False(t, isTaken, name)
	}
	require.Equal(t, before, s.stored(t))
}

func TestReassignAssignment_PartEndsWithConversation(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*fixture){
		"inlet":  func(s *fixture) { must(s.t, s.mine.InletEndLiveChat, `{}`) },
		"outlet": func(s *fixture) { must(s.t, s.mine.EndLiveChat, endByEve) },
		"idle": func(s *fixture) {
			s.advance(livechat.IdleTimeout)
			require.NoError(s.t, s.mine.Expire(s.t.Context(), idleAgenda()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.taken(t, "a1", "ada", "eve@desk")
			s.platform.fail("C9", errDown)
			_, err := call(t, s.mine.ReassignAssignment, `{"channel": {"_id": "desk"}, "previousAssignment": {"_id": "a1"},
				"targets": [{"channel": "team"}, {"channel": "desk", "label": "sales"}]}`)
			next := unsentOf(t, err).AssignmentID
			s.platform.forget()
			end(s)
			require.Contains(t, s.platform.did(), "team: recall the ticket of D1")
			require.Empty(t, s.assignmentsThat(t, document.O("_id", next)))
			require.NotZero(t, s.record(t, "a1").ClosedAt)
			require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat())

			s.platform.work("C9")
			_, err = s.mine.ReassignAssignment(t.Context(), handOn)
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.Empty(t, s.mustAsk(t, `{}`).ParentAssignment)
			require.NotContains(t, s.sentTo(), "desk C9", "nothing more is sent of it")
		})
	}
}

func TestTicket_LongName(t *testing.T) {
	t.Parallel()
	for outlet, end := range map[string]string{"desk": "y… asks for a person.\ns", "help": "y… asks for a person."} {
		t.Run(outlet, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.mine.pair(t, outlet)
			s.change(t, "members", document.O("_id", "ada"), document.Set("lastName", strings.Repeat("y", 2500)))
			s.mustAsk(t, `{"assignmentDetails": {"summary": "s"}}`)
			text := s.lastSent(t).Text()
			require.True(t, strings.HasPrefix(text, "Ada yy"))
			require.True(t, strings.HasSuffix(text, end))
			require.Equal(t, 199, strings.Index(text, "…"))
		})
	}
}

func TestExpire_RecallFails(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "ada")
	s.platform.fail("D1", errDown)
	s.advance(livechat.IdleTimeout)
	require.ErrorContains(t, s.mine.Expire(t.Context(), idleAgenda()), "ticket of D1 in team")
	s.requireOver(t, "a1", "ada", livechat.EndedByIdle)
}
