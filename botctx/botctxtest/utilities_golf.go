package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
)

var golfRules = []Rule{
	{
		Name:  "GolfGivesTheAccount",
		Text:  "an account of the app is there by its name; in JSON the result is null",
		Needs: []Capability{addAccounts},
		check: golfGivesTheAccount,
	},
	{
		Name:  "GolfFindsNoOthers",
		Text:  "an account that does not exist, or is of another app, is NotFound",
		Needs: []Capability{addAccounts},
		check: golfFindsNoOthers,
	},
	{
		Name:  "GolfRefusesBadInput",
		Text:  "a name that is missing is InvalidArgument with the name of the parameter",
		check: golfRefusesBadInput,
	},
}

func golfGivesTheAccount(t *trial) {
	name := unique("account")
	t.AddAccount(t.home.scope.App, name)
	given, err := t.home.Golf(t.ctx(), botctx.GolfParams{GolfName: name})
	require.NoError(t, err)
	require.Equal(t, "null", textOf(t, given))
}

func golfFindsNoOthers(t *trial) {
	far := unique("account")
	t.AddAccount(t.away.scope.App, far)
	for name, account := range map[string]string{"of nobody": unique("account"), "of another app": far} {
		t.try(name, func(t *trial) {
			given, err := t.home.Golf(t.ctx(), botctx.GolfParams{GolfName: account})
			t.requireError(botctx.OpGolf, boterr.NotFound, "golfName", err)
			require.Zero(t, given)
		})
	}
}

func golfRefusesBadInput(t *trial) {
	requireRefused(t, botctx.OpGolf, t.home.Golf, []badInput[botctx.GolfParams]{{"no golfName", botctx.GolfParams{}, "golfName"}})
}
