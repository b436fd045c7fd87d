package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
)

func TestMain_Graph(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string][]string{
		"-graph":         {"flowchart TD\n", `(["start over<br>`, "  n10 --> n11\n", "  n2 ==> n10\n"},
		"-graph=mermaid": {"flowchart TD\n"},
		"-graph=dot":     {"digraph bot {\n", `[label="start over\n`, "  n10 -> n11;\n", "  n2 -> n10 [style=bold];\n"},
	} {
		r := runWith(t, "", flag)
		require.Zero(t, r.code, r.problems)
		for _, part := range want {
			require.Contains(t, r.out, part)
		}
		require.NotContains(t, r.out, "Guest:", "nothing is started")
	}
}

func TestMain_GraphOfNoSuchLanguage(t *testing.T) {
	t.Parallel()
	r := runWith(t, "", "-graph=svg")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.problems, "is neither mermaid nor dot")
	r = runWith(t, "", "-graph", "-places", "places.json")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.problems, "-graph goes with no other flag")
}

func TestNodes_HaveNoWarnings(t *testing.T) {
	t.Parallel()
	graph, err := botctx.GraphOf(Concierge{}.Nodes()...)
	require.NoError(t, err)
	require.Empty(t, graph.Warnings)
}
