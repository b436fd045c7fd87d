package livechats

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/store/query"
)

// documented returns the lines of the package's documentation.
func documented(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "//")
	}
	return lines
}

// below returns the lines of a table in a text, without its head.
func below(t *testing.T, lines []string, head string) []string {
	t.Helper()
	for i, line := range lines {
		if strings.TrimSpace(line) != head {
			continue
		}
		var rows []string
		for _, row := range lines[i+1:] {
			if strings.TrimSpace(row) == "" || strings.HasPrefix(row, "package") {
				break
			}
			rows = append(rows, strings.TrimSpace(row))
		}
		return rows
	}
	require.Fail(t, "the documentation has no table of this head", head)
	return nil
}

// names returns states as they are documented.
func names(states []livechat.State) string {
	texts := make([]string, len(states))
	for i, state := range states {
		texts[i] = string(state)
	}
	return strings.Join(texts, ", ")
}

const transitionRow = "%-17s %-23s -> %s"

func TestTransitions_Documented(t *testing.T) {
	t.Parallel()
	var rows []string
	for _, one := range transitions() {
		from := names(one.from)
		if from == "" {
			from = "-"
		}
		rows = append(rows, fmt.Sprintf(transitionRow, one.name, from, one.to))
	}
	require.Equal(t, rows, below(t, documented(t), fmt.Sprintf(transitionRow, "transition", "from", "to")))
}

func TestTransitions_Drawn(t *testing.T) {
	t.Parallel()
	text := strings.Join(documented(t), "\n")
	drawing, _, isFound := strings.Cut(text, fmt.Sprintf(transitionRow, "transition", "from", "to"))
	require.True(t, isFound)
	for _, one := range transitions() {
		require.Contains(t, drawing, one.name)
		require.Contains(t, drawing, string(one.to))
	}
}

const stepRow = "%-30s %-16s %s"

func TestSteps_Documented(t *testing.T) {
	t.Parallel()
	var rows []string
	for _, one := range steps() {
		rows = append(rows, fmt.Sprintf(stepRow, one.name, names(one.in), one.want))
	}
	require.Equal(t, rows, below(t, documented(t), fmt.Sprintf(stepRow, "step", "due in", "for")))
}

func TestState_Filter(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]livechat.AssignmentRecord{
		"new":                 {},
		"sent":                {Progress: livechat.Progress{SentAt: 1}},
		"with an agent":       {Progress: livechat.Progress{SentAt: 1}, Assignment: livechat.Assignment{Assignee: "eve", AssignedAt: 1}},
		"with a group":        {Progress: livechat.Progress{SentAt: 1}, Assignment: livechat.Assignment{AssignedAt: 1}},
		"ended unsent":        {Progress: livechat.Progress{EndedAt: 1}},
		"ended untaken":       {Progress: livechat.Progress{SentAt: 1, EndedAt: 1}},
		"ended with an agent": {Progress: livechat.Progress{SentAt: 1, EndedAt: 1}, Assignment: livechat.Assignment{Assignee: "eve", AssignedAt: 1}},
	} {
		encoded, err := document.Encode(r)
		require.NoError(t, err)
		for _, state := range []livechat.State{livechat.Sending, livechat.Pending, livechat.Taken, livechat.Ended} {
			filter, err := query.CompileFilter(stateFilter(state))
			require.NoError(t, err)
			isMatch, err := query.NewEvaluation(t.Context()).Check(filter, encoded)
			require.NoError(t, err)
			require.Equal(t, r.State() == state, isMatch, "%s: %s", name, state)
		}
	}
}
