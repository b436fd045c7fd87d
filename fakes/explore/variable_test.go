package explore_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
)

// searched runs a search with a value of the environment variable.
func searched(t *testing.T, value string, run func(t fakes.TB)) *outer {
	t.Helper()
	t.Setenv(explore.Variable, value)
	return search(run)
}

func TestVariable_RepeatsARoundOfFaults(t *testing.T) { //nolint:paralleltest // It sets a variable of the environment.
	run := func(t fakes.TB) { explore.Faults(t, 1000, notedOnce(noteAnew)) }
	requireFound(t, searched(t, "faults:upsertDataToDataSource#1=timesOut", run),
		"(1 of the 1 of round 1", "\tp.TimeOutNth(botctx.OpUpsertDataToDataSource, 1)\n", "each order is noted once")
	passed := searched(t, "faults:upsertDataToDataSource#9=fails", run)
	require.Empty(t, passed.failed)
	require.Equal(t, []string{"explore: the property holds under these faults, but nothing met\n" +
		"\tp.FailNth(botctx.OpUpsertDataToDataSource, 9, boterr.Unavailable)"}, passed.logged)
	requireFound(t, searched(t, "faults:nonsense", run), `BOTCTX_EXPLORE: invalid argument: "nonsense" is no fault`)
	require.Empty(t, searched(t, "orders:1>0", run).failed, "a round of orders is none of its own")
}

func TestVariable_ThatSaysNothingIsRefused(t *testing.T) { //nolint:paralleltest // It sets a variable of the environment.
	for _, value := range []string{"order:3>0", "x", "-1", "99999999999999999999", " "} {
		for _, run := range []func(t fakes.TB){
			func(t fakes.TB) { explore.Faults(t, 2, notedOnce(noteAnew)) },
			func(t fakes.TB) { explore.Orders(t, 2, soldOnce(readAndWrite)) },
		} {
			require.Contains(t, searched(t, value, run).failed, "BOTCTX_EXPLORE is ", value)
		}
	}
}

func TestVariable_RepeatsARoundOfOrders(t *testing.T) { //nolint:paralleltest // It sets a variable of the environment.
	run := func(t fakes.TB) { explore.Orders(t, 1000, soldOnce(readAndWrite)) }
	first := searched(t, "", run)
	printed := regexp.MustCompile(`BOTCTX_EXPLORE='(.*)' go`).FindStringSubmatch(first.failed)
	require.Len(t, printed, 2)
	again := searched(t, printed[1], run)
	requireFound(t, again, "1. Ada does fetchDataFromDataSource, up to findAndModifyDataFromDataSource", "(1 of the 1 of round 1 ")
	require.Equal(t, []string{"explore: the property holds in this order"}, searched(t, "orders:1>0", run).logged)
	requireFound(t, searched(t, "orders:nonsense", run), `"nonsense" is no change of turns`)
}

func TestVariable_ANumberIsASeed(t *testing.T) { //nolint:paralleltest // It sets a variable of the environment.
	requireFound(t, searched(t, "99", func(t fakes.TB) { explore.Faults(t, 100, notedOnce(noteAnew)) }), "with the seed 99")
}
