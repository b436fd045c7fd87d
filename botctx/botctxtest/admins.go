package botctxtest

import (
	"github.com/stretchr/testify/require"

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
