package livechats_test

import (
	"context"
	"testing"
	"testing/synctest"
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

func TestBravoOperations_ConnectorOnlySends(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*livechats.Ports){thatOnlySends(channel.Bravo), withoutConnector(channel.Bravo)} {
		s := newFixture(t, change)
		requireRefused(t, s, s.mine.CreateBravoGroup, refused{`{"channelId": "phone", "name": "x"}`, boterr.Unsupported, "channelId"})
		requireRefused(t, s, s.mine.DisableBravoGroupInviteLink,
			refused{`{"channel": {"_id": "phone"}, "externalId": "x"}`, boterr.Unsupported, "channel"})
		requireRefused(t, s, s.mine.HandleAdminJoinedGroup,
			refused{`{"channel": {"_id": "phone"}, "externalId": "x", "bravoGroupId": "x"}`, boterr.Unsupported, "channel"})
		requireRefused(t, s, s.mine.SetBravoGroupIcon,
			refused{`{"channelId": "phone", "imageUrl": "https://pic.example", "bravoGroupId": "x"}`, boterr.Unsupported, "channelId"})
		_, err := call(t, s.mine.CreateBravoGroup, `{"channelId": "phone", "name": "x"}`)
		require.ErrorContains(t, err, `"bravo"`)
	}
}

func TestHandleAdminJoinedGroup_GroupInUse(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	room := s.taken(t, "a1", "ada", "eve@phone").Group
	must(t, s.mine.HandleAdminJoinedGroup, `{"channel": {"_id": "phone"}, "externalId": "bert", "bravoGroupId": "`+room.ExternalID+`"}`)
	joined := s.groups(t, document.O("adminExternalId", "bert"))
	require.Len(t, joined, 1)
	require.Equal(t, []string{"a1", "ada", "web", "Order 7"},
		[]string{joined[0].Assignment, joined[0].Member, joined[0].Inlet, joined[0].Name})
	for agent, want := range map[string]string{"eve": room.ID, "bert": joined[0].ID, "bot": joined[0].ID} {
		g, err := s.mine.GroupOf(t.Context(), "phone", *event(agent, room.ExternalID, "hi"))
		require.NoError(t, err)
		require.Equal(t, want, g.ID, "the agent's own, or else the newest")
	}
	s.platform.forget()
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "phone", *event("bert", room.ExternalID, "me, too")))
	require.Equal(t, []string{"web: send to ada-web: me, too"}, s.platform.did())
	must(t, s.mine.EndLiveChat, `{"channel": {"_id": "phone"}, "messageEvent": {"from": "bert", "to": "`+room.ExternalID+`"}}`)
	s.requireOver(t, "a1", "ada", livechat.EndedByOutlet)
	must(t, s.mine.HandleAdminJoinedGroup, `{"channel": {"_id": "phone"}, "externalId": "bert", "bravoGroupId": "`+room.ExternalID+`"}`)
	joined = s.groups(t, document.O("active", true))
	require.Len(t, joined, 1)
	require.Empty(t, joined[0].Assignment, "that of a live chat that has ended is not inherited")
}

// The end of the newer live chat was interrupted. A repeated call completes it, and ends the older one.
func TestEndBravoLiveChat_AfterInterruptedEnd(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.taken(t, "a1", "ada", "eve@phone")
	s.advance(time.Second)
	s.taken(t, "a2", "bob", "eve@phone")
	for _, id := range []string{"a1", "a2"} {
		s.change(t, "groups", document.O("assignment", id), document.Set("externalId", "room", "active", id == "a1"))
	}
	s.change(t, "assignments", document.O("_id", "a2"), document.Set("endedAt", s.at(0), "endedBy", "outlet", "slot", "ended/a2"))
	must(t, s.mine.EndBravoLiveChat, `{"channelId": "phone", "adminExternalId": "eve", "bravoGroupId": "room"}`)
	s.requireOver(t, "a1", "ada", livechat.EndedByOutlet)
	require.NotZero(t, s.record(t, "a2").ClosedAt)
}

// maker is a connector that creates groups with a given function.
type maker struct {
	send.Connector

	make func() (livechat.CreatedGroup, error)
}

func (m maker) CreateGroup(context.Context, *channel.Channel, livechat.NewGroup) (livechat.CreatedGroup, error) {
	return m.make()
}

// thatMakes sets the Bravo connector's function for creating groups.
func thatMakes(answer func() (livechat.CreatedGroup, error)) func(*livechats.Ports) {
	return func(p *livechats.Ports) {
		p.Connectors[channel.Bravo] = maker{Connector: p.Connectors[channel.Bravo], make: answer}
	}
}

func TestCreateBravoGroup_PlatformTellsTooLittle(t *testing.T) {
	t.Parallel()
	for _, answer := range []livechat.CreatedGroup{{}, {ExternalID: "room"}, {InvitationLink: "https://invite.example"}} {
		s := newFixture(t, thatMakes(func() (livechat.CreatedGroup, error) { return answer, nil }))
		requireRefused(t, s, s.mine.CreateBravoGroup, refused{`{"channelId": "phone", "name": "x"}`, boterr.Unavailable, ""})
	}
	s := newFixture(t, thatMakes(func() (livechat.CreatedGroup, error) { return livechat.CreatedGroup{}, nil }))
	s.pending(t, "a1", "ada")
	_, err := s.mine.Take(t.Context(), takenBy("a1", "eve@phone"))
	require.ErrorIs(t, err, boterr.Unavailable)
	require.Empty(t, s.groups(t, document.O()))
}

func TestCreateBravoGroup_LinkNotAskedFor(t *testing.T) {
	t.Parallel()
	s := newFixture(t, thatMakes(func() (livechat.CreatedGroup, error) {
		return livechat.CreatedGroup{ExternalID: "room", InvitationLink: "https://invite.example"}, nil
	}))
	require.JSONEq(t, `{"groupId": "room"}`,
		must(t, s.mine.CreateBravoGroup, `{"channelId": "phone", "name": "x", "requireInvitationLink": false}`))
}

func TestBravoOperations_Canceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := newFixture(t, thatMakes(func() (livechat.CreatedGroup, error) {
		cancel()
		return livechat.CreatedGroup{}, errDown
	}))
	_, err := s.mine.CreateBravoGroup(ctx, livechat.CreateBravoGroupParams{ChannelID: "phone", Name: "x"})
	require.ErrorIs(t, err, boterr.Canceled)
}

const setIcon = `{"channelId": "phone", "imageUrl": "https://pic.example/icon", "bravoGroupId": "room"}`

func picture(contentType, body string) web.Reply {
	return web.Reply{Header: map[string][]string{"Content-Type": {contentType}}, Body: body}
}

func TestSetBravoGroupIcon(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.web.Add("GET", "https://pic.example/icon", picture("image/png; q=1", "PNG"), picture("application/octet-stream", "GIF89a"),
		web.Reply{Body: "GIF89a"})
	require.JSONEq(t, `{"200": "ok"}`, must(t, s.mine.SetBravoGroupIcon, setIcon))
	must(t, s.mine.as("phone", "").SetBravoGroupIcon, `{"imageUrl": "https://pic.example/icon", "bravoGroupId": "room"}`)
	must(t, s.mine.SetBravoGroupIcon, setIcon)
	require.Equal(t, []string{
		"phone: icon of room: image/png PNG", "phone: icon of room: image/gif GIF89a", "phone: icon of room: image/gif GIF89a",
	}, s.platform.did())
}

func TestSetBravoGroupIcon_Refuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // In real time, the large picture could exceed the time limit on a slow machine.
		s := newFixture(t)
		s.web.Add("GET", "https://pic.example/page", picture("text/html", "<html>"))
		s.web.Add("GET", "https://pic.example/empty", picture("image/png", ""))
		s.web.Add("GET", "https://pic.example/gone", web.Text(404, "gone"))
		s.web.Add("GET", "https://pic.example/busy", web.Text(503, "busy"), web.Text(429, "slow down"), web.Text(408, "too slow"))
		s.web.Add("GET", "https://pic.example/down", web.Fail(errDown))
		s.web.Add("GET", "https://pic.example/moved", web.Redirect(302, "http://127.0.0.1/secret"))
		s.web.Add("GET", "https://pic.example/huge", picture("image/png", string(make([]byte, 26<<20))))
		from := func(address string) string {
			return `{"channelId": "phone", "bravoGroupId": "room", "imageUrl": "` + address + `"}`
		}
		requireRefused(t, s, s.mine.SetBravoGroupIcon,
			refused{from("http://169.254.169.254/latest"), boterr.InvalidArgument, "imageUrl"},
			refused{from("https://pic.example/moved"), boterr.InvalidArgument, "imageUrl"},
			refused{from("https://pic.example/page"), boterr.InvalidArgument, "imageUrl"},
			refused{from("https://pic.example/empty"), boterr.InvalidArgument, "imageUrl"},
			refused{from("https://pic.example/gone"), boterr.InvalidArgument, "imageUrl"},
			refused{from("https://pic.example/busy"), boterr.Unavailable, "imageUrl"},
			refused{from("https://pic.example/busy"), boterr.Unavailable, "imageUrl"},
			refused{from("https://pic.example/busy"), boterr.Unavailable, "imageUrl"},
			refused{from("https://pic.example/down"), boterr.Unavailable, "imageUrl"},
			refused{from("https://pic.example/huge"), boterr.ResourceExhausted, "imageUrl"})

		s.web.Add("GET", "https://pic.example/icon", picture("image/png", "PNG"))
		s.platform.fail("room", boterr.New(boterr.NotFound, "", "there is no such group"))
		requireRefused(t, s, s.mine.SetBravoGroupIcon, refused{setIcon, boterr.NotFound, "bravoGroupId"})
		s.platform.fail("room", boterr.Invalid("icon", "is not square"))
		requireRefused(t, s, s.mine.SetBravoGroupIcon, refused{setIcon, boterr.InvalidArgument, "imageUrl"})
		s.platform.fail("room", errDown)
		requireRefused(t, s, s.mine.SetBravoGroupIcon, refused{setIcon, boterr.Unavailable, ""})

		offline := newFixture(t, func(p *livechats.Ports) { p.HTTP = nil })
		requireRefused(t, offline, offline.mine.SetBravoGroupIcon, refused{setIcon, boterr.Unsupported, "imageUrl"})
	})
}

func TestCreateHotelChannel_Fails(t *testing.T) {
	t.Parallel()
	const params = `{"channel": {"_id": "hotel"}, "hotelGroupId": "floor", "displayName": "Lobby"}`
	s := newFixture(t)
	s.platform.fail("floor", errDown)
	requireRefused(t, s, s.mine.CreateHotelChannel, refused{params, boterr.Unavailable, ""})
	bare := newFixture(t, thatOnlySends(channel.Hotel))
	requireRefused(t, bare, bare.mine.CreateHotelChannel, refused{params, boterr.Unsupported, "channel"})
}

const joins = `{"channel": {"_id": "phone"}, "externalId": "eve", "bravoGroupId": "room"}`

func TestHandleAdminJoinedGroup_TwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	late, _ := s.meanwhile(0, func() { must(t, s.mine.HandleAdminJoinedGroup, joins) })
	must(t, late.HandleAdminJoinedGroup, joins)
	require.Len(t, s.groups(t, document.O()), 1)
}

func TestHandleAdminJoinedGroup_WhileItEnds(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	late, _ := s.meanwhile(0, func() {
		must(t, s.mine.HandleAdminJoinedGroup, joins)
		must(t, s.mine.EndBravoLiveChat, `{"channelId": "phone", "adminExternalId": "eve", "bravoGroupId": "room"}`)
	})
	must(t, late.HandleAdminJoinedGroup, joins)
	require.Len(t, s.groups(t, document.O()), 2)
	require.Len(t, s.groups(t, document.O("active", true)), 1)
}

// namer is a connector for Bravo that returns names of groups.
type namer struct {
	send.Connector
	livechat.InviteLinker

	tell func() (string, error)
}

func (n namer) GroupName(context.Context, *channel.Channel, string) (string, error) { return n.tell() }

// thatNames sets the Bravo connector's function for names of groups.
func thatNames(tell func() (string, error)) func(*livechats.Ports) {
	return func(p *livechats.Ports) {
		linker, _ := p.Connectors[channel.Bravo].(livechat.InviteLinker)
		p.Connectors[channel.Bravo] = namer{Connector: p.Connectors[channel.Bravo], InviteLinker: linker, tell: tell}
	}
}

func TestHandleAdminJoinedGroup_Name(t *testing.T) {
	t.Parallel()
	s := newFixture(t, thatNames(func() (string, error) { return "Kettles", nil }))
	r := s.mustAsk(t, `{"assignmentDetails": {"groupName": "Order 7"}}`)
	must(t, s.mine.HandleAdminJoinedGroup, joins)
	g := s.groups(t, document.O())[0]
	require.Equal(t, "Kettles", g.Name)
	must(t, s.mine.UpdateAssignmentGroup, `{"assignmentId": "`+r.ID+`", "group": {"_id": "`+g.ID+`"}}`)
	require.Equal(t, "Kettles", s.group(t, g.ID).Name, "that of the request does not take its place")
}

func TestHandleAdminJoinedGroup_PlatformFails(t *testing.T) {
	t.Parallel()
	for code, field := range map[boterr.Code]string{boterr.Unavailable: "", boterr.NotFound: "bravoGroupId"} {
		failure := boterr.New(code, "", "no")
		nameless := newFixture(t, thatNames(func() (string, error) { return "", failure }))
		_, err := call(t, nameless.mine.HandleAdminJoinedGroup, joins)
		require.ErrorIs(t, err, code)
		require.Equal(t, field, fieldOf(t, err))
		require.Empty(t, nameless.groups(t, document.O()))

		s := newFixture(t)
		linkless, _ := s.meanwhile(0, func() { s.platform.fail("room", failure) }) // Once the old link is disabled.
		_, err = call(t, linkless.HandleAdminJoinedGroup, joins)
		require.ErrorIs(t, err, code)
		require.Equal(t, field, fieldOf(t, err))
		require.Equal(t, []string{"phone: disable link of room"}, s.platform.did())
	}
}

func TestEndLiveChat_GroupOfTheSecondAgent(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	group := s.taken(t, "a1", "ada", "eve@phone").Group.ExternalID
	must(t, s.mine.HandleAdminJoinedGroup, `{"channel": {"_id": "phone"}, "externalId": "hedy", "bravoGroupId": "`+group+`"}`)
	said := `{"channel": {"_id": "phone"}, "messageEvent": {"from": "hedy", "to": "` + group + `"}}`
	must(t, s.mine.SaveGroupIDToMember, said)
	require.NotEqual(t, s.record(t, "a1").Group, s.mine.member(t, "ada").Group, "it is hedy's record of the conversation")
	must(t, s.mine.EndLiveChat, said)
	require.Empty(t, s.mine.member(t, "ada").Group)
}
