package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

var channelRules = []Rule{
	{
		Name:  "GetChannelTellsTheApp",
		Text:  "getChannel returns the channel's id and that of its app, for every channel of the app",
		check: channelTellsTheApp,
	},
	{
		Name:  "GetChannelFindsNoOthers",
		Text:  "a channel that does not exist, or is of another app, is NotFound",
		check: channelFindsNoOthers,
	},
	{
		Name:  "GetChannelRefusesBadInput",
		Text:  "bad input of getChannel is InvalidArgument with the name of the parameter, and changes nothing",
		check: channelRefusesBadInput,
	},
}

func channelTellsTheApp(t *trial) {
	second := t.newChannel(t.home.scope.App)
	for _, id := range []string{t.home.scope.Channel, second.ID} {
		found, err := t.home.GetChannel(t.ctx(), channel.GetChannelParams{ChannelID: id})
		require.NoError(t, err)
		require.Equal(t, &channel.Reference{ChannelID: id, AppID: t.home.scope.App}, found)
	}
}

func channelFindsNoOthers(t *trial) {
	for name, id := range map[string]string{"of nobody": unique("channel"), "of another app": t.away.scope.Channel} {
		t.try(name, func(t *trial) {
			found, err := t.home.GetChannel(t.ctx(), channel.GetChannelParams{ChannelID: id})
			t.requireError(botctx.OpGetChannel, boterr.NotFound, "channelId", err)
			require.Nil(t, found)
		})
	}
}

func channelRefusesBadInput(t *trial) {
	requireRefused(t, botctx.OpGetChannel, t.home.GetChannel, []badInput[channel.GetChannelParams]{
		{"no channelId", channel.GetChannelParams{}, "channelId"},
	})
}
