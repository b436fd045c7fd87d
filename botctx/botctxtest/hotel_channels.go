package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// hotelChannelRules are the rules of createHotelChannel.
func hotelChannelRules() []Rule {
	return needing([]Capability{On(channel.Hotel)}, createHotelChannelRules)
}

var createHotelChannelRules = []Rule{
	{
		Name:  "CreateHotelChannelMakesAChannel",
		Text:  "createHotelChannel makes a channel of that name in that group of the platform, a new one each time, and none of the app",
		Needs: []Capability{readMade, Channels},
		check: createHotelChannelMakesAChannel,
	},
	{
		Name:  "CreateHotelChannelAnswersOKAndTheReply",
		Text:  "the result of createHotelChannel is ok, which is 1, and the platform's reply as an object",
		check: createHotelChannelAnswersOKAndTheReply,
	},
}

func createHotelChannelMakesAChannel(t *trial) {
	c := t.newChannelOf(t.home, channel.Hotel)
	for _, name := range []string{"Lobby", "Bar", "Bar"} {
		_, err := t.home.CreateHotelChannel(t.ctx(), livechat.CreateHotelChannelParams{
			Channel: c, HotelGroupID: "floor of " + name, DisplayName: name,
		})
		require.NoError(t, err)
	}
	ids := map[string]bool{}
	for i, made := range t.madeIn(c.ID) {
		require.Equal(t, []string{"Lobby", "Bar", "Bar"}[i], made.Name)
		require.Equal(t, "floor of "+made.Name, made.Within)
		ids[made.ExternalID] = true
		_, err := t.home.GetChannel(t.ctx(), channel.GetChannelParams{ChannelID: made.ExternalID})
		t.requireCode(boterr.NotFound, err)
	}
	require.Len(t, ids, 3)
}

func createHotelChannelAnswersOKAndTheReply(t *trial) {
	c := t.newChannelOf(t.home, channel.Hotel)
	result, err := t.home.CreateHotelChannel(t.ctx(), livechat.CreateHotelChannelParams{
		Channel: c, HotelGroupID: "floor", DisplayName: "Lobby",
	})
	require.NoError(t, err)
	answer, err := document.ParseJSON([]byte(textOf(t, result)))
	require.NoError(t, err)
	fields, _ := answer.(document.Object)
	require.Equal(t, []string{"ok", "result"}, fields.Keys())
	require.Equal(t, 1, document.Get(fields, "ok", 0))
	reply, _ := fields.Field("result")
	require.Equal(t, "object", document.TypeName(reply))
}
