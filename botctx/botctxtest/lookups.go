package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
)

var adminRules = []Rule{
	{
		Name:  "GetAdminReadsTheAgent",
		Text:  "getAdmin returns the agent of that id, with the app and the id on the platform",
		check: adminReadsTheAgent,
	},
	{
		Name:  "GetAdminByExternalIdReadsTheAgent",
		Text:  "getAdminByExternalId returns the agent with that id on the platform",
		check: adminByExternalIDReadsTheAgent,
	},
}

// twoAgents adds agents of the home app.
func (t *trial) twoAgents() []*Agent {
	t.Helper()
	d := t.addDesk(t.home, t.ticketing())
	return []*Agent{d.agent, t.Agent(d.Channel)}
}

// requireAgent checks that a record is that of an agent of the home app.
func requireAgent(t *trial, want *Agent, got *livechat.Admin, err error) {
	t.Helper()
	require.NoError(t, err)
	require.NotNil(t, got)
	require.Equal(t, []string{t.home.scope.App, want.AdminID, want.ExternalID}, []string{got.AppID, got.AdminID, got.ExternalID})
}

func adminReadsTheAgent(t *trial) {
	for _, agent := range t.twoAgents() {
		found, err := t.home.GetAdmin(t.ctx(), livechat.GetAdminParams{AdminID: agent.AdminID})
		requireAgent(t, agent, found, err)
		found.ExternalID = "changed"
		again, err := t.home.GetAdmin(t.ctx(), livechat.GetAdminParams{AdminID: agent.AdminID})
		requireAgent(t, agent, again, err)
	}
}

func adminByExternalIDReadsTheAgent(t *trial) {
	for _, agent := range t.twoAgents() {
		found, err := t.home.GetAdminByExternalID(t.ctx(), livechat.GetAdminByExternalIDParams{ExternalID: agent.ExternalID})
		requireAgent(t, agent, found, err)
		found.AdminID = "changed"
		again, err := t.home.GetAdminByExternalID(t.ctx(), livechat.GetAdminByExternalIDParams{ExternalID: agent.ExternalID})
		requireAgent(t, agent, again, err)
	}
}

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
