package botctx_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/outbound/replies"
)

// bravoCases are those of what Bravo and Hotel alone can do.
func bravoCases() map[string]chatCase {
	const onDesk = `"channel": {"_id": "desk"}`
	return map[string]chatCase{
		"createBravoGroup": {
			scenes:   map[string]scene{"a group with a link is made": callForBravoGroup},
			defaults: map[string]scene{"requireInvitationLink": callForBravoGroupWithoutLink},
			refusals: []refusal{
				{boterr.NotFound, "channel does not exist", notFound("createBravoGroup", `{"channelId": "none", "name": "x"}`, "channelId")},
				{boterr.Unsupported, "not of type bravo", onOtherChannels("createBravoGroup", `{"channelId": "desk", "name": "x"}`, "channelId", channel.Bravo)},
			},
		},
		"handleAdminJoinedGroup": {
			scenes:   map[string]scene{"the link changes, and the agent has a group": callOfJoined},
			defaults: map[string]scene{"isRenewGroupInviteLink": callOfJoinedWithoutRenewal},
			refusals: []refusal{
				{boterr.NotFound, "no such group", callOfJoinedInVain("handleAdminJoinedGroup", `{"externalId": "a", "bravoGroupId": "none"}`, "bravoGroupId")},
				{boterr.Unsupported, "not of type bravo", onOtherChannels("handleAdminJoinedGroup", `{"externalId": "a", "bravoGroupId": "b", `+onDesk+`}`, "channel", channel.Bravo)},
			},
		},
		"disableBravoGroupInviteLink": {
			scenes: map[string]scene{"nobody joins by the link any more": callToDisableLink},
			refusals: []refusal{
				{boterr.NotFound, "no such group", callOfJoinedInVain("disableBravoGroupInviteLink", `{"externalId": "none"}`, "externalId")},
				{boterr.Unsupported, "not of type bravo", onOtherChannels("disableBravoGroupInviteLink", `{"externalId": "b", `+onDesk+`}`, "channel", channel.Bravo)},
			},
		},
		"setBravoGroupIcon": {
			scenes: map[string]scene{"the group has the picture": callToSetIcon},
			refusals: []refusal{
				{boterr.InvalidArgument, "no HTTP address", callToSetNoIcon},
				{boterr.NotFound, "no such group", callToSetIconInVain},
				{boterr.ResourceExhausted, "larger than", callToSetHugeIcon},
				{boterr.Unsupported, "not of type bravo", onOtherChannels("setBravoGroupIcon", `{"channelId": "desk", "imageUrl": "https://shop.example/a.png", "bravoGroupId": "b"}`, "channelId", channel.Bravo)},
			},
		},
		"createHotelChannel": {
			scenes: map[string]scene{"a channel is made": callForHotelChannel},
			refusals: []refusal{
				{boterr.NotFound, "channel does not exist", notFound("createHotelChannel", `{"hotelGroupId": "g", "displayName": "x", "channel": {"_id": "none"}}`, "channel")},
				{boterr.Unsupported, "not of type hotel", onOtherChannels("createHotelChannel", `{"hotelGroupId": "g", "displayName": "x", `+onDesk+`}`, "channel", channel.Hotel)},
			},
		},
	}
}

// adminCases are those of the look-ups of agents.
func adminCases() map[string]chatCase {
	return map[string]chatCase{
		"getAdmin": {
			scenes:   map[string]scene{"each by the id": callForAgents("getAdmin", "adminId", (*fakes.Agent).AdminID)},
			refusals: []refusal{{boterr.NotFound, "no agent", notFound("getAdmin", `{"adminId": "none"}`, "adminId")}},
		},
		"getAdminByExternalId": {
			scenes:   map[string]scene{"each by the id on the platform": callForAgents("getAdminByExternalId", "externalId", (*fakes.Agent).ExternalID)},
			refusals: []refusal{{boterr.NotFound, "no agent", notFound("getAdminByExternalId", `{"externalId": "none"}`, "externalId")}},
		},
	}
}

// callForAgents is the scene of a look-up of agents by one of their ids.
func callForAgents(name, parameter string, id func(a *fakes.Agent) string) scene {
	return func(t *testing.T) {
		t.Helper()
		d := quiet(t, channel.Charlie)
		for _, agent := range []*fakes.Agent{d.grace, d.AddAgent("desk", "Hedy")} {
			require.JSONEq(t,
				`{"appId": "app-1", "adminId": "`+agent.AdminID()+`", "externalId": "`+agent.ExternalID()+`", "name": "`+agent.Name()+`"}`,
				callf(t, d.ada.Context(), name, `{%q: %q}`, parameter, id(agent)).Raw)
		}
	}
}

func callForBravoGroup(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Bravo)
	for _, where := range []string{`, "channelId": "desk"`, ``} {
		answer := callf(t, d.inOutlet(), "createBravoGroup", `{"name": "Kettles", "requireInvitationLink": true %s}`, where)
		groups := d.Groups("desk")
		made := groups[len(groups)-1]
		require.Equal(t, made.ExternalID, answer.Get("groupId").String())
		require.Equal(t, "Kettles", made.Name)
		require.Empty(t, made.Members)
		require.Equal(t, made.InvitationLink, answer.Get("invitationLink").String())
		d.grace.Joins(answer.Get("invitationLink").String())
		require.Equal(t, []string{d.grace.ExternalID()}, d.Groups("desk")[len(groups)-1].Members)
	}
	require.Len(t, d.Groups("desk"), 2)
}

func callForBravoGroupWithoutLink(t *testing.T) {
	t.Helper()
	for args, hasLink := range map[string]bool{``: true, `, "requireInvitationLink": true`: true, `, "requireInvitationLink": false`: false} {
		d := quiet(t, channel.Bravo)
		answer := callf(t, d.inOutlet(), "createBravoGroup", `{"name": "Kettles" %s}`, args)
		require.Equal(t, hasLink, answer.Get("invitationLink").Exists(), args)
		require.Equal(t, hasLink, d.Groups("desk")[0].InvitationLink != "", args)
	}
}

func callOfJoined(t *testing.T) {
	t.Helper()
	d := quiet(t, channel.Bravo)
	for _, where := range []string{`, "channel": {"_id": "desk"}`, ``} {
		made := callf(t, d.inOutlet(), "createBravoGroup", `{"name": "Kettles"}`)
		id, first := made.Get("groupId").String(), made.Get("invitationLink").String()
		d.grace.Joins(first)
		renewed := callf(t, d.inOutlet(), "handleAdminJoinedGroup", `{"externalId": %q, "bravoGroupId": %q, "isRenewGroupInviteLink": true %s}`,
			d.grace.ExternalID(), id, where)
		require.Error(t, d.grace.TryJoins(first))
		d.grace.Joins(renewed.String())
		group := callf(t, d.inOutlet(), "getGroupByGroupExternalId", `{"groupExternalId": %q}`, id)
		require.Equal(t, d.grace.ExternalID(), group.Get("adminExternalId").String())
		require.Equal(t, d.grace.AdminID(), group.Get("admin").String())
		require.Equal(t, "desk", group.Get("outlet").String())
		require.Equal(t, "bravo", group.Get("type").String())
		require.True(t, group.Get("active").Bool())
	}
}

func callOfJoinedWithoutRenewal(t *testing.T) {
	t.Helper()
	for args, hasLink := range map[string]bool{``: true, `, "isRenewGroupInviteLink": true`: true, `, "isRenewGroupInviteLink": false`: false} {
		d := quiet(t, channel.Bravo)
		id := callf(t, d.inOutlet(), "createBravoGroup", `{"name": "Kettles"}`).Get("groupId").String()
		link := callf(t, d.inOutlet(), "handleAdminJoinedGroup", `{"externalId": %q, "bravoGroupId": %q %s}`, d.grace.ExternalID(), id, args)
		require.Equal(t, d.Groups("desk")[0].InvitationLink, link.String(), args)
		require.Equal(t, hasLink, link.String() != "", args)
	}
}

// callOfJoinedInVain is the scene of a call about a group or a channel that is not there,
// and of one on a host whose connector has no links.
func callOfJoinedInVain(name, args, field string) scene {
	return func(t *testing.T) {
		t.Helper()
		d := talking(t, channel.Bravo)
		d.refusef(t, d.inOutlet(), boterr.NotFound, field, name, args)
		d.refusef(t, d.inOutlet(), boterr.NotFound, "channel", name, `{"channel": {"_id": "nowhere"}, `+args[1:])
		says := refusef(t, newHost(t, channel.Webchat, channel.Bravo).desk, boterr.Unsupported, "channel", name, args)
		require.Contains(t, says, "invitation links")
	}
}

func callToDisableLink(t *testing.T) {
	t.Helper()
	for _, where := range []string{`, "channel": {"_id": "desk"}`, ``} {
		d := quiet(t, channel.Bravo)
		made := callf(t, d.inOutlet(), "createBravoGroup", `{"name": "Kettles"}`)
		first := callf(t, d.inOutlet(), "disableBravoGroupInviteLink", `{"externalId": %q %s}`, made.Get("groupId").String(), where)
		require.Error(t, d.grace.TryJoins(made.Get("invitationLink").String()))
		require.Empty(t, d.Groups("desk")[0].InvitationLink)
		again := callf(t, d.inOutlet(), "disableBravoGroupInviteLink", `{"externalId": %q}`, made.Get("groupId").String())
		require.NotEqual(t, first.Raw, again.Raw)
	}
}

const icon = "https://shop.example/kettle.png"

func callToSetIcon(t *testing.T) {
	t.Helper()
	for _, where := range []string{`, "channelId": "desk"`, ``} {
		d := quiet(t, channel.Bravo)
		d.HTTP.Add("GET", icon, replies.Reply{Status: 200, Header: pngHeader(), Body: "\x89PNG\r\n\x1a\nkettle"})
		id := callf(t, d.inOutlet(), "createBravoGroup", `{"name": "Kettles"}`).Get("groupId").String()
		answer := callf(t, d.inOutlet(), "setBravoGroupIcon", `{"imageUrl": %q, "bravoGroupId": %q %s}`, icon, id, where)
		require.JSONEq(t, `{"200": "ok"}`, answer.Raw)
		require.Equal(t, "image/png", d.Groups("desk")[0].Icon.ContentType)
		require.Equal(t, "\x89PNG\r\n\x1a\nkettle", string(d.Groups("desk")[0].Icon.Bytes))
	}
}

func callToSetNoIcon(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Bravo)
	d.HTTP.Add("GET", "https://shop.example/page", replies.JSON(200, `{}`))
	d.HTTP.Add("GET", "https://shop.example/gone", replies.JSON(404, `{}`))
	for _, address := range []string{
		"kettle.png", "ftp://shop.example/kettle.png", "http://127.0.0.1/kettle.png", "http://169.254.169.254/", "https://shop.example/page", "https://shop.example/gone",
	} {
		d.refusef(t, d.inOutlet(), boterr.InvalidArgument, "imageUrl", "setBravoGroupIcon", `{"imageUrl": %q, "bravoGroupId": %q}`, address, d.Groups("desk")[0].ExternalID)
	}
}

func callToSetIconInVain(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Bravo)
	d.HTTP.Add("GET", icon, replies.Reply{Status: 200, Header: pngHeader(), Body: "\x89PNG\r\n\x1a\nkettle"})
	d.refusef(t, d.inOutlet(), boterr.NotFound, "bravoGroupId", "setBravoGroupIcon", `{"imageUrl": %q, "bravoGroupId": "none"}`, icon)
	d.refusef(t, d.inOutlet(), boterr.NotFound, "channelId", "setBravoGroupIcon", `{"imageUrl": %q, "bravoGroupId": "none", "channelId": "none"}`, icon)
}

func callForHotelChannel(t *testing.T) {
	t.Helper()
	for _, where := range []string{`, "channel": {"_id": "desk"}`, ``} {
		d := quiet(t, channel.Hotel)
		answer := callf(t, d.inOutlet(), "createHotelChannel", `{"hotelGroupId": "lobby", "displayName": "Kettles" %s}`, where)
		require.Equal(t, int64(1), answer.Get("ok").Int())
		made := d.CreatedChannels("desk")
		require.Len(t, made, 1)
		require.Equal(t, "lobby", made[0].GroupID)
		require.Equal(t, "Kettles", made[0].DisplayName)
		require.Equal(t, made[0].ID, answer.Get("result.id").String())
	}
	says := refusef(t, newHost(t, channel.Webchat, channel.Hotel).desk, boterr.Unsupported, "channel", "createHotelChannel", `{"hotelGroupId": "lobby", "displayName": "Kettles"}`)
	require.Contains(t, says, "make channels")
}

// pngHeader returns what a server says of a picture.
func pngHeader() http.Header { return http.Header{"Content-Type": {"image/png"}} }

func callToSetHugeIcon(t *testing.T) {
	t.Helper()
	d := talking(t, channel.Bravo)
	d.HTTP.Add("GET", icon, replies.Reply{Status: 200, Header: pngHeader(), Body: strings.Repeat("a", outbound.DefaultMaxResponseBytes+1)})
	d.refusef(t, d.inOutlet(), boterr.ResourceExhausted, "imageUrl", "setBravoGroupIcon", `{"imageUrl": %q, "bravoGroupId": %q}`, icon, d.Groups("desk")[0].ExternalID)
}
