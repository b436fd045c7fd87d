package web_test

import (
	_ "embed"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

//go:embed testdata/cases.js
var cases string

//go:embed testdata/run.js
var runCases string

// outcome is a case's group, source and result.
type outcome [3]string

func outcomesOf(tb testing.TB, text string) []outcome {
	tb.Helper()
	var outcomes []outcome
	require.NoError(tb, json.Unmarshal([]byte(text), &outcomes), text)
	return outcomes
}

// Each case must have the same result in Node.js, which passes the tests of the web platform.
func TestSource_AsNode(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node, whose results the globals are compared with, is not installed")
	}
	all := strings.TrimSpace(runCases) + "(" + strings.TrimSpace(cases) + ")"
	command := exec.CommandContext(t.Context(), node, "--no-warnings", "-")
	command.Stdin = strings.NewReader(all + ".then((text) => console.log(text))")
	printed, err := command.Output()
	require.NoError(t, err)
	want, got := outcomesOf(t, string(printed)), outcomesOf(t, resolved(t, newEngine(t), all))
	require.Len(t, got, len(want))
	for i := range want {
		if want[i] != got[i] {
			t.Errorf("%s\n  %s\n  here %s\n  node %s", want[i][0], want[i][1], got[i][2], want[i][2])
		}
	}
	t.Log(len(want), "cases")
}
