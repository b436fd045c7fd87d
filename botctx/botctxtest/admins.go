package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/livechat"
)

var adminRules = []Rule{
	{
		Name:  "GetAdminReadsTheAgent",
		Text:  "getAdmin returns the agent of that id, with the app and the id on the platform",
		check: adminReadsTheAgent,
	},
	{
		Name:  "GetAdminFindsNoOthers",
		Text:  "an agent that does not exist, or is of another app, is NotFound for getAdmin, and so is the id on the platform",
		check: adminFindsNoOthers,
	},
	{
		Name:  "GetAdminRefusesBadInput",
		Text:  "bad input of getAdmin is InvalidArgument with the name of the parameter",
		check: adminRefusesBadInput,
	},
	{
		Name:  "GetAdminByExternalIDReadsTheAgent",
		Text:  "getAdminByExternalId returns the agent with that id on the platform",
		check: adminByExternalIDReadsTheAgent,
	},
	{
		Name:  "GetAdminByExternalIDFindsNoOthers",
		Text:  "an agent that does not exist, or is of another app, is NotFound for getAdminByExternalId, and so is the agent's own id",
		check: adminByExternalIDFindsNoOthers,
	},
	{
		Name:  "GetAdminByExternalIDRefusesBadInput",
		Text:  "bad input of getAdminByExternalId is InvalidArgument with the name of the parameter",
		check: adminByExternalIDRefusesBadInput,
	},
}

// twoAgents adds agents of the home app, and one of the other app.
func (t *trial) twoAgents() (mine []*Agent, theirs *Agent) {
	t.Helper()
	d := t.addDesk(t.home, t.ticketing())
	return []*Agent{d.agent, t.Agent(d.Channel)}, t.addDesk(t.away, t.ticketing()).agent
}

// requireAgent checks that a record is that of an agent of the home app.
func requireAgent(t *trial, want *Agent, got *livechat.Admin, err error) {
	t.Helper()
	require.NoError(t, err)
	require.NotNil(t, got)
	require.Equal(t, []string{t.home.scope.App, want.AdminID, want.ExternalID}, []string{got.AppID, got.AdminID, got.ExternalID})
}

func adminReadsTheAgent(t *trial) {
	mine, _ := t.twoAgents()
	for _, agent := range mine {
		found, err := t.home.GetAdmin(t.ctx(), livechat.GetAdminParams{AdminID: agent.AdminID})
		requireAgent(t, agent, found, err)
		found.ExternalID = "changed"
		again, err := t.home.GetAdmin(t.ctx(), livechat.GetAdminParams{AdminID: agent.AdminID})
		requireAgent(t, agent, again, err)
	}
}

func adminFindsNoOthers(t *trial) {
	mine, theirs := t.twoAgents()
	for name, id := range map[string]string{
		"of nobody": unique("admin"), "of another app": theirs.AdminID, "by the id on the platform": mine[0].ExternalID,
	} {
		t.try(name, func(t *trial) {
			found, err := t.home.GetAdmin(t.ctx(), livechat.GetAdminParams{AdminID: id})
			t.requireError(botctx.OpGetAdmin, boterr.NotFound, "adminId", err)
			require.Nil(t, found)
		})
	}
}

func adminRefusesBadInput(t *trial) {
	requireRefused(t, botctx.OpGetAdmin, t.home.GetAdmin, []badInput[livechat.GetAdminParams]{
		{"no adminId", livechat.GetAdminParams{}, "adminId"},
	})
}

func adminByExternalIDReadsTheAgent(t *trial) {
	mine, _ := t.twoAgents()
	for _, agent := range mine {
		found, err := t.home.GetAdminByExternalID(t.ctx(), livechat.GetAdminByExternalIDParams{ExternalID: agent.ExternalID})
		requireAgent(t, agent, found, err)
		found.AdminID = "changed"
		again, err := t.home.GetAdminByExternalID(t.ctx(), livechat.GetAdminByExternalIDParams{ExternalID: agent.ExternalID})
		requireAgent(t, agent, again, err)
	}
}

func adminByExternalIDFindsNoOthers(t *trial) {
	mine, theirs := t.twoAgents()
	for name, id := range map[string]string{
		"of nobody": unique("external"), "of another app": theirs.ExternalID, "by the agent's own id": mine[0].AdminID,
	} {
		t.try(name, func(t *trial) {
			found, err := t.home.GetAdminByExternalID(t.ctx(), livechat.GetAdminByExternalIDParams{ExternalID: id})
			t.requireError(botctx.OpGetAdminByExternalID, boterr.NotFound, "externalId", err)
			require.Nil(t, found)
		})
	}
}

func adminByExternalIDRefusesBadInput(t *trial) {
	type params = livechat.GetAdminByExternalIDParams
	requireRefused(t, botctx.OpGetAdminByExternalID, t.home.GetAdminByExternalID, []badInput[params]{
		{"no externalId", params{}, "externalId"},
	})
}
