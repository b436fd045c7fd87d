package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
)

var golfRules = []Rule{
	{
		Name:  "GolfGivesTheAccount",
		Text:  "an account of the app is there by its name; in JSON the result is null",
		Needs: []Capability{addAccounts},
		check: golfGivesTheAccount,
	},
}

func golfGivesTheAccount(t *trial) {
	name := unique("account")
	t.AddAccount(t.home.scope.App, name)
	given, err := t.home.Golf(t.ctx(), botctx.GolfParams{GolfName: name})
	require.NoError(t, err)
	require.Equal(t, "null", textOf(t, given))
}
