package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
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
