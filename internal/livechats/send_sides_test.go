package livechats_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

const toInlet = `{"channel": {"_id": "desk"}, "messageEvent": {"from": "eve", "to": "group1"}, "response": {"type": "TEXT", "text": "Bye {{firstName}}"}}`

func TestSendMessageToInlet(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	s.advance(20 * time.Minute)
	result := must(t, s.mine.SendMessageToInlet, toInlet)
	require.Equal(t, []string{"web: send to ada-web: Bye Ada"}, s.platform.did())
	require.Equal(t, "ada", s.platform.sent()[0].Member.ID)
	require.Equal(t, s.at(livechat.IdleTimeout), s.record(t, "a1").Expiry, "it is a message of the conversation")
	o := object(t, result)
	require.Equal(t, []string{"result", "messageEvent"}, o.Keys())
	sent, _ := o.Field("messageEvent")
	require.JSONEq(t, `{"from": "bot", "to": "ada-web", "type": "TEXT", "data": {"text": "Bye Ada"}, "timestamp": 1709294400000,
		"messageId": "message`+document.Get(o, "result.n", "")+`"}`, sent.(document.Object).String())
	must(t, s.mine.as("desk", "").SendMessageToInlet,
		`{"messageEvent": {"from": "eve", "to": "group1"}, "response": {"type": "TEXT", "text": "again"}}`)

	must(t, s.mine.EndLiveChat, endByEve)
	must(t, s.mine.SendMessageToInlet, toInlet)
	require.Zero(t, s.record(t, "a1").Expiry, "what has ended is not idle")
	require.Empty(t, s.mine.openAgendas(t, "ada"))
}

func TestSendMessageToInlet_Result(t *testing.T) {
	t.Parallel()
	for platform, keys := range map[channel.Type][]string{
		channel.Alpha: {"result", "messageEvent"}, channel.Bravo: {"result", "messageEvent"}, channel.Delta: {"result", "messageEvent"},
		channel.Custom: {"result", "messageEvent"}, channel.Charlie: {"ok", "channel", "ts", "message"}, channel.Echo: {"msgType", "text"},
	} {
		s := newFixture(t)
		s.taken(t, "a1", "ada", "eve@desk")
		s.mine.addChannel(t, `{"_id": "web", "type": "`+string(platform)+`", "on": true}`)
		require.Equal(t, keys, object(t, must(t, s.mine.SendMessageToInlet, toInlet)).Keys(), platform)
	}
}

func TestSendMessageToInlet_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	const at = `{"channel": {"_id": "desk"}, "messageEvent": {"to": "group1"}, "response": `
	requireRefused(t, s, s.mine.SendMessageToInlet,
		refused{`{"channel": {"_id": "desk"}, "messageEvent": {"to": "group1"}}`, boterr.InvalidArgument, "response"},
		refused{`{"channel": {"_id": "desk"}, "response": {"type": "TEXT", "text": "x"}}`, boterr.InvalidArgument, "messageEvent"},
		refused{at + `{"type": "TEXT", "text": "` + strings.Repeat("x", send.MaxText+1) + `"}}`, boterr.InvalidArgument, "response.text"},
		refused{`{"messageEvent": {"to": "group1"}, "response": {"type": "TEXT", "text": "x"}}`, boterr.NotFound, "messageEvent"},
		refused{`{"channel": {"_id": "foreign"}, "messageEvent": {"to": "group1"}, "response": {"type": "TEXT", "text": "x"}}`, boterr.NotFound, "channel._id"},
		refused{`{"channel": {"_id": "desk"}, "messageEvent": {"to": "group2"}, "response": {"type": "TEXT", "text": "x"}}`, boterr.NotFound, "messageEvent"})
	s.platform.fail("ada-web", boterr.New(boterr.ResourceExhausted, "", "too fast"))
	_, err := call(t, s.mine.SendMessageToInlet, toInlet)
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	s.platform.fail("ada-web", errDown)
	_, err = call(t, s.mine.SendMessageToInlet, toInlet)
	require.ErrorIs(t, err, boterr.Unavailable)
	s.change(t, "members", document.O("_id", "ada"), document.Unset("externalId"))
	requireRefused(t, s, s.mine.SendMessageToInlet, refused{toInlet, boterr.FailedPrecondition, ""})

	bare := newFixture(t, withoutConnector(channel.Webchat))
	bare.taken(t, "a1", "ada", "eve@desk")
	requireRefused(t, bare, bare.mine.SendMessageToInlet, refused{toInlet, boterr.Unsupported, ""})
}

func TestSendMessageToInletGroup_Platforms(t *testing.T) {
	t.Parallel()
	for _, platform := range []channel.Type{channel.Bravo, channel.Delta} {
		s := newFixture(t)
		g := s.taken(t, "a1", "ada", "eve@desk", func(r *livechat.AssignmentRecord) {
			r.InletGroupInfo = document.O("externalId", "family")
		}).Group
		params := `{"groupId": "` + g.ID + `", "response": {"type": "TEXT", "text": "Bye {{firstName}}"}}`
		requireRefused(t, s, s.mine.SendMessageToInletGroup, refused{params, boterr.Unsupported, "group"})
		_, err := call(t, s.mine.SendMessageToInletGroup, params)
		require.ErrorContains(t, err, "bravo, delta")
		s.mine.addChannel(t, `{"_id": "web", "type": "`+string(platform)+`", "on": true}`)
		s.advance(time.Minute)
		require.Equal(t, []string{"result", "messageEvent"}, object(t, must(t, s.mine.SendMessageToInletGroup, params)).Keys())
		must(t, s.mine.SendMessageToInletGroup, `{"group": {"_id": "`+g.ID+`"}, "response": {"type": "TEXT", "text": "again"}}`)
		require.Equal(t, []string{"web: send to family: Bye Ada", "web: send to family: again"}, s.platform.did())
		require.Nil(t, s.platform.sent()[0].Member)
		require.Equal(t, s.at(livechat.IdleTimeout), s.record(t, "a1").Expiry)
	}
}

func TestSendMessageToInletGroup_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.mine.addChannel(t, `{"_id": "web", "type": "bravo", "on": true}`)
	g := s.taken(t, "a1", "ada", "eve@desk").Group
	const hi = `"response": {"type": "TEXT", "text": "hi"}}`
	requireRefused(t, s, s.mine.SendMessageToInletGroup,
		refused{`{"groupId": "` + g.ID + `"}`, boterr.InvalidArgument, "response"},
		refused{`{` + hi, boterr.InvalidArgument, "groupId"},
		refused{`{"group": {}, ` + hi, boterr.InvalidArgument, "group._id"},
		refused{`{"group": {"_id": "x"}, "groupId": "y", ` + hi, boterr.InvalidArgument, "groupId"},
		refused{`{"groupId": "x", ` + hi, boterr.NotFound, "groupId"},
		refused{`{"group": {"_id": "x"}, ` + hi, boterr.NotFound, "group._id"},
		refused{`{"groupId": "` + g.ID + `", ` + hi, boterr.FailedPrecondition, "group"})
	requireRefused(t, s, s.theirs.SendMessageToInletGroup, refused{`{"groupId": "` + g.ID + `", ` + hi, boterr.NotFound, "groupId"})
}

func TestSendMessageToOutletGroup_Platforms(t *testing.T) {
	t.Parallel()
	for outlet, keys := range map[string][]string{
		"phone": {"result", "messageEvent"}, "team": {"result", "messageEvent"}, "desk": {"ok", "channel", "ts", "message"},
	} {
		s := newFixture(t)
		g := s.taken(t, "a1", "ada", "eve@"+outlet).Group
		s.advance(time.Minute)
		params := `{"groupId": "` + g.ID + `", "response": {"type": "TEXT", "text": "{{firstName}} left"}, "responseUrl": ""}`
		require.Equal(t, keys, object(t, must(t, s.mine.SendMessageToOutletGroup, params)).Keys())
		must(t, s.mine.SendMessageToOutletGroup, `{"group": {"_id": "`+g.ID+`"}, "response": {"type": "TEXT", "text": "again"}}`)
		require.Equal(t, []string{outlet + ": send to group1: Ada left", outlet + ": send to group1: again"}, s.platform.did())
		require.Nil(t, s.platform.sent()[0].Member)
		require.Equal(t, s.at(livechat.IdleTimeout), s.record(t, "a1").Expiry)
	}
}

func TestSendMessageToOutletGroup_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	g := s.taken(t, "a1", "ada", "eve@desk").Group
	s.put(t, "groups", `{"_id": "case", "app": "mine", "outlet": "help", "externalId": "c9", "active": true}`)
	s.put(t, "groups", `{"_id": "lost", "app": "mine", "externalId": "c9", "active": true}`)
	const hi = `"response": {"type": "TEXT", "text": "hi"}}`
	requireRefused(t, s, s.mine.SendMessageToOutletGroup,
		refused{`{"groupId": "` + g.ID + `"}`, boterr.InvalidArgument, "response"},
		refused{`{"groupId": "` + g.ID + `", "response": {"type": "TEXT"}}`, boterr.InvalidArgument, "response.text"},
		refused{`{` + hi, boterr.InvalidArgument, "groupId"},
		refused{`{"groupId": "x", ` + hi, boterr.NotFound, "groupId"},
		refused{`{"groupId": "lost", ` + hi, boterr.FailedPrecondition, "group"},
		refused{`{"groupId": "case", ` + hi, boterr.Unsupported, "group"},
		refused{`{"groupId": "` + g.ID + `", "responseUrl": "nonsense\n", ` + hi, boterr.InvalidArgument, "responseUrl"})
	_, err := call(t, s.mine.SendMessageToOutletGroup, `{"groupId": "case", `+hi)
	require.ErrorContains(t, err, "bravo, charlie, delta")
}

func TestSendMessageToOutletGroup_ResponseURL(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	g := s.taken(t, "a1", "ada", "eve@desk").Group
	s.web.Add("POST", "https://hooks.example/1", web.JSON(200, `{"ok": true, "ts": 5, "channel": "C7"}`), web.Text(200, "ok"),
		web.Text(500, "no"))
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

	s.advance(time.Minute) // What is refused starts no idle time.
	requireRefused(t, s, s.mine.SendMessageToOutletGroup,
		refused{params("https://hooks.example/1"), boterr.Unavailable, "responseUrl"},
		refused{params("http://127.0.0.1/x"), boterr.InvalidArgument, "responseUrl"})
}

func TestSendMessageToOutletGroup_ResponseURLElsewhere(t *testing.T) {
	t.Parallel()
	const url = `", "responseUrl": "https://hooks.example/1", "response": {"type": "TEXT", "text": "hi"}}`
	s := newFixture(t)
	g := s.taken(t, "a1", "ada", "eve@team").Group
	must(t, s.mine.SendMessageToOutletGroup, `{"groupId": "`+g.ID+url)
	require.Equal(t, []string{"team: send to group1: hi"}, s.platform.did())
	strict := newFixture(t, func(p *livechats.Ports) { p.IsStrict = true })
	g = strict.taken(t, "a1", "ada", "eve@team").Group
	requireRefused(t, strict, strict.mine.SendMessageToOutletGroup, refused{`{"groupId": "` + g.ID + url, boterr.InvalidArgument, "responseUrl"})
}

func TestSaveGroupIDToMember(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	g := s.taken(t, "a1", "ada", "eve@desk", func(r *livechat.AssignmentRecord) {
		r.InletGroupInfo = document.O("externalId", "family")
	}).Group
	const params = `{"channel": {"_id": "desk"}, "messageEvent": {"from": "eve", "to": "group1"}}`
	first := document.Get(object(t, must(t, s.mine.SaveGroupIDToMember, params)), "clientMutationId", "")
	require.Equal(t, g.ID, s.mine.member(t, "ada").Group)
	require.Empty(t, s.mine.member(t, "bob").Group)
	second := document.Get(object(t, must(t, s.mine.as("desk", "").SaveGroupIDToMember, `{"messageEvent": {"to": "group1"}}`)), "clientMutationId", "")
	require.NotEmpty(t, first)
	require.NotEqual(t, first, second)

	s.change(t, "members", document.O("_id", "ada"), document.Unset("group"))
	must(t, s.mine.SaveGroupIDToMember, `{"messageEvent": {"from": "ada-web", "to": "family"}}`)
	require.Equal(t, g.ID, s.mine.member(t, "ada").Group, "an event in the group on the inlet's side")
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

func TestSaveGroupIDToMember_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.put(t, "groups", `{"_id": "empty", "app": "mine", "outlet": "desk", "externalId": "room", "active": true}`)
	requireRefused(t, s, s.mine.SaveGroupIDToMember,
		refused{`{"channel": {"_id": "desk"}}`, boterr.InvalidArgument, "messageEvent"},
		refused{`{"channel": {"_id": "foreign"}, "messageEvent": {"to": "room"}}`, boterr.NotFound, "channel._id"},
		refused{`{"channel": {"_id": "team"}, "messageEvent": {"to": "room"}}`, boterr.NotFound, "messageEvent"},
		refused{`{"messageEvent": {"from": "x"}}`, boterr.NotFound, "messageEvent"},
		refused{`{"channel": {"_id": "desk"}, "messageEvent": {"to": "room"}}`, boterr.NotFound, "messageEvent"})
}

func TestSendMessageToOutletGroup_GroupNotLive(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	g := s.taken(t, "a1", "ada", "eve@desk").Group
	must(t, s.mine.InletEndLiveChat, `{}`)
	params := `{"groupId": "` + g.ID + `", "response": {"type": "TEXT", "text": "my number is 42"}}`
	requireRefused(t, s, s.mine.SendMessageToOutletGroup, refused{params, boterr.FailedPrecondition, "group"})
	requireRefused(t, s, s.mine.SendMessageToInletGroup, refused{params, boterr.FailedPrecondition, "group"})
	require.Empty(t, s.platform.did())
}

func TestEndLiveChat_ClearsMemberGroup(t *testing.T) {
	t.Parallel()
	const handOn = `{"channel": {"_id": "desk"}, "label": "sales", "previousAssignment": {"_id": "a1"}}`
	for name, over := range map[string]func(s *fixture){
		"ended in the outlet": func(s *fixture) { must(t, s.mine.EndLiveChat, endByEve) },
		"ended in the inlet":  func(s *fixture) { must(t, s.mine.InletEndLiveChat, `{}`) },
		"handed on":           func(s *fixture) { must(t, s.mine.ReassignAssignment, handOn) },
		"idle": func(s *fixture) {
			s.advance(livechat.IdleTimeout)
			require.NoError(t, s.mine.Expire(t.Context(), idleAgenda()))
		},
	} {
		s := newFixture(t)
		g := s.taken(t, "a1", "ada", "eve@desk").Group
		must(t, s.mine.SaveGroupIDToMember, `{"channel": {"_id": "desk"}, "messageEvent": {"from": "eve", "to": "group1"}}`)
		require.Equal(t, g.ID, s.mine.member(t, "ada").Group)
		over(s)
		require.Empty(t, s.mine.member(t, "ada").Group, name)
	}
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@desk")
	s.change(t, "members", document.O("_id", "ada"), document.Set("group", "another"))
	result := object(t, must(t, s.mine.InletEndLiveChat, `{}`))
	require.Equal(t, "another", s.mine.member(t, "ada").Group)
	require.Equal(t, "another", document.Get(result, "member.group", ""))
}
