package livechats

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// documented returns the lines of the package's documentation.
func documented(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("livechats.go")
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "//")
	}
	return lines
}

// below returns the lines of a table after its head.
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

func names(states []livechat.State) string {
	texts := make([]string, len(states))
	for i, state := range states {
		texts[i] = string(state)
	}
	return strings.Join(texts, ", ")
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

func TestEnsureIndexes_Retention(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	require.NoError(t, EnsureIndexes(t.Context(), database))
	for i := range 50 {
		n := strconv.Itoa(i)
		require.NoError(t, database.Collection("assignments").Insert(t.Context(), document.O(
			"_id", n, "app", "mine", fieldSlot, endedSlot(n), fieldEndedAt, i)))
		require.NoError(t, database.Collection("groups").Insert(t.Context(), document.O(
			"_id", n, "app", "mine", fieldActive, i%2 == 0, record.FieldUpdatedAt, i)))
	}
	for collection, filter := range map[string]document.Object{
		"assignments": document.O(fieldEndedAt, document.O("$lt", 25)),
		"groups":      document.O(fieldActive, false, record.FieldUpdatedAt, document.O("$lt", 25)),
	} {
		compiled, err := query.CompileFilter(filter)
		require.NoError(t, err)
		path := filter.Keys()[filter.Len()-1]
		sort, err := query.CompileSort(document.O(path, 1))
		require.NoError(t, err)
		found, err := database.Explain(t.Context(), collection, compiled, store.FindOptions{Sort: sort, Limit: 3})
		require.NoError(t, err)
		require.EqualValues(t, 3, found.Examined, collection)
	}
}

func TestEnsureIndex(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	require.NoError(t, EnsureIndexes(t.Context(), database))
	require.NoError(t, EnsureIndex(t.Context(), database, "meta.order"))
	for i := range 50 {
		n := strconv.Itoa(i)
		require.NoError(t, database.Collection("assignments").Insert(t.Context(), document.O(
			"_id", n, "app", "mine", fieldSlot, endedSlot(n), fieldMeta, document.O("order", n))))
	}
	filter, err := query.CompileFilter(document.O(record.FieldApp, "mine", "meta.order", document.O("$eq", "7", "$exists", true)))
	require.NoError(t, err)
	found, err := database.Explain(t.Context(), "assignments", filter, store.FindOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 1, found.Returned)
	require.EqualValues(t, 1, found.Examined)
}

// A call that sends nothing has no id. It must not send for an assignment whose sender has none, as in a damaged record.
func TestPass_WithoutAnIDSendsNothing(t *testing.T) {
	t.Parallel()
	require.False(t, (&pass{r: &livechat.AssignmentRecord{Progress: livechat.Progress{Sender: &livechat.Sender{}}}}).isSender())
}
