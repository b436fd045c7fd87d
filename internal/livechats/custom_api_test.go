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
	s := newFixture(t, historyAt)
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

	g := s.group(t, result.GroupID)
	require.Equal(t, livechat.Group{
		ID: g.ID, CreatedAt: noon, UpdatedAt: noon, Inlet: "web", Outlet: "shop", Name: "Order 7", Meta: document.O(),
		Active: true, Valid: true, ExternalID: "room-5", Type: channel.Custom, App: "mine",
		Assignment: result.AssignmentID, Member: "ada", Version: 1,
	}, *g)
	r := s.record(t, result.AssignmentID)
	require.Equal(t, livechat.Taken, r.State())
	require.Equal(t, g.ID, r.Group)
	require.Equal(t, "shop", r.Outlet)
	require.Equal(t, "room-5", document.Get(r.GroupInfo, "externalId", ""))
	require.False(t, r.IsZendesk)

	again, err := s.ask(t, `{"createGroup": {}}`)
	require.NoError(t, err)
	require.Equal(t, result.GroupID, again.GroupID)
	require.Len(t, s.web.Requests(), 1)
}

func TestCreateGroup_IsLiveAtOnce(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.pair(t, "shop")
	s.web.Add("POST", shopAPI, web.JSON(200, `{"groupId": "room-5"}`))
	result, err := s.ask(t, `{"createGroup": {}}`)
	require.NoError(t, err)
	require.Equal(t, "Ada King", s.group(t, result.GroupID).Name)
	relayed, err := s.mine.RelayFromMember(t.Context(), "ada", *event("ada-web", "bot", "hello?"))
	require.NoError(t, err)
	require.Equal(t, livechats.OutcomeDelivered, relayed)
	require.Equal(t, []string{"shop room-5"}, s.sentTo())
	relayed, err = s.mine.RelayFromAgent(t.Context(), "shop", *event("eve", "room-5", "hi"))
	require.NoError(t, err)
	require.Equal(t, livechats.OutcomeDelivered, relayed)
	require.Equal(t, []string{"shop room-5", "web ada-web"}, s.sentTo())

	_, err = s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: result.AssignmentID, ChannelID: "shop", AdminExternalID: "eve"})
	require.NoError(t, err)
	require.Equal(t, "eve", s.record(t, result.AssignmentID).Assignee)
	require.Equal(t, "eve", s.group(t, result.GroupID).AdminExternalID)
}

func TestCreateGroup_AnswerNamesGroup(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"groupId": "a", "id": "b"}`:       "a",
		`{"group": {"id": "a"}, "id": "b"}`: "a",
		`{"externalId": "a", "id": "b"}`:    "a",
		`{"id": 17}`:                        "17",
		`{}`:                                "wish",
		`thanks`:                            "wish",
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.mine.pair(t, "shop")
			s.web.Add("POST", shopAPI, web.Text(200, answer))
			result, err := s.ask(t, `{"createGroup": {"externalId": "wish"}}`)
			require.NoError(t, err)
			require.Equal(t, want, s.group(t, result.GroupID).ExternalID)
		})
	}
}

func TestCreateGroup_APIRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reply web.Reply
		// isNone tells that the request is removed: it would be refused each time.
		isNone bool
		says   string
	}{
		"a failure":      {reply: web.JSON(500, `{}`), says: "answered with status 500"},
		"too often":      {reply: web.JSON(429, `{}`), says: "answered with status 429"},
		"no connection":  {reply: web.Fail(errDown), says: "connection reset"},
		"a refusal":      {reply: web.JSON(422, `{}`), isNone: true, says: "answered with status 422"},
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
			require.Equal(t, test.isNone, len(s.assignments(t, "ada")) == 0)
			s.web.Add("POST", shopAPI, web.JSON(200, `{"groupId": "room-5"}`))
			result, err := s.ask(t, `{"createGroup": {}}`)
			require.NoError(t, err)
			require.Equal(t, "room-5", s.group(t, result.GroupID).ExternalID)
			require.Len(t, s.assignments(t, "ada"), 1)
		})
	}
}

func TestCreateGroup_WithoutAPI(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.addChannel(t, `{"_id": "bare", "type": "custom", "on": true}`)
	s.mine.addChannel(t, `{"_id": "broken", "type": "custom", "on": true, "metadata": {"liveChatApi": "not an address"}}`)
	requireRefused(t, s, s.mine.CreateAssignment,
		refused{`{"createGroup": {}, "targets": [{"channel": "bare"}]}`, boterr.FailedPrecondition, "createGroup"},
		refused{`{"createGroup": {}, "targets": [{"channel": "broken"}]}`, boterr.FailedPrecondition, "createGroup"})
	offline := newFixture(t, func(p *livechats.Ports) { p.HTTP = nil })
	requireRefused(t, offline, offline.mine.CreateAssignment,
		refused{`{"createGroup": {}, "targets": [{"channel": "shop"}]}`, boterr.Unsupported, "createGroup"})
}

func TestCustomAPI_AddressOfHost(t *testing.T) {
	t.Parallel()
	s := newFixture(t, func(p *livechats.Ports) {
		p.CustomAPI = func(c *channel.Channel) (string, error) { return "https://api.example/" + c.ID, nil }
	}, withoutConnector(channel.Custom))
	s.mine.pair(t, "shop")
	s.web.Add("POST", "https://api.example/shop", web.JSON(200, `{"groupId": "room-5"}`))
	_, err := s.ask(t, `{"createGroup": {}}`)
	require.NoError(t, err)
	require.Len(t, s.web.Requests(), 1)
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

	took, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: r.ID, ChannelID: "help", AdminExternalID: "eve"})
	require.NoError(t, err)
	require.Equal(t, "chat-F1", took.Group.ExternalID, "the conversation is the one that the first message opened")
}

func TestCreateAssignment_CustomDetails(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.pair(t, "kiosk")
	r := s.mustAsk(t, `{"assignmentDetails": {"summary": "s", "queue": 7}}`)
	require.JSONEq(t, `{"type": "TEXT", "text": "Ada King asks for a person.", "assignmentId": "`+r.ID+`",
		"assignmentDetails": {"summary": "s", "queue": 7}}`, s.lastSent(t).String())
	require.Empty(t, s.web.Requests())
	require.False(t, r.IsZendesk)
}

// opaque are details that no outlet but a custom one takes.
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
		s := newFixture(t)
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
		_, err = s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: r.ID, ChannelID: "kiosk", AdminExternalID: "eve"})
		require.NoError(t, err, details)
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

func TestAssignmentDetails_JSON(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.pair(t, "kiosk")
	_, err := s.mine.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{AssignmentDetails: livechat.AssignmentDetails{
		GroupName: "Order 7", Unknown: document.O("summary", document.O("a", 1), "groupName", "not this"),
	}})
	require.NoError(t, err)
	require.JSONEq(t, `{"groupName": "Order 7", "summary": {"a": 1}}`,
		document.Get(object(t, s.lastSent(t).String()), "assignmentDetails", document.Object{}).String())
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
		took, err := s.mine.as("web", "ada").Take(t.Context(), livechat.TakeParams{AssignmentID: result.AssignmentID, ChannelID: "shop", AdminExternalID: "eve"})
		require.NoError(t, err)
		require.Equal(t, conversation, took.Group.ExternalID)
	}
}

func TestCustomAPI_CannotBeAsked(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.addChannel(t, `{"_id": "broken", "type": "custom", "on": true, "metadata": {"liveChatApi": "not an address"}}`)
	requireRefused(t, s, s.mine.CreateAssignment, refused{`{"targets": [{"channel": "broken"}]}`, boterr.FailedPrecondition, "targets[0].channel"})
	offline := newFixture(t, func(p *livechats.Ports) { p.HTTP = nil })
	requireRefused(t, offline, offline.mine.CreateAssignment, refused{`{"targets": [{"channel": "shop"}]}`, boterr.Unsupported, "targets[0].channel"})
}
