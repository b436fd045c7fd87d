package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
)

var channelRules = []Rule{
	{
		Name:  "GetChannelTellsTheApp",
		Text:  "getChannel returns the channel's id and that of its app, for every channel of the app",
		check: channelTellsTheApp,
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
