package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/fakes/web"
)

// recorded is a file of testdata/answers: a provider's answer to "What did I order?", and the bot's resulting
// message.
type recorded struct {
	// About describes the special feature of the answers.
	About string `json:"about"`
	// Answers are the provider's answers, in order. The last one is repeated.
	Answers []struct {
		Status int             `json:"status"`
		Body   json.RawMessage `json:"body"`
		Text   string          `json:"text"` // In place of Body, if it is not JSON.
	} `json:"answers"`
	// Says is the message to the member.
	Says string `json:"says"`
	// Sends are the messages in the last request after the member's question. nil means that there are none.
	Sends json.RawMessage `json:"sends"`
	// Log is a part of the log. Empty means that nothing is logged.
	Log string `json:"log"`
}

func (r recorded) replies() []web.Reply {
	all := make([]web.Reply, len(r.Answers))
	for i, answer := range r.Answers {
		if all[i] = web.JSON(answer.Status, string(answer.Body)); answer.Body == nil {
			all[i] = web.Text(answer.Status, answer.Text)
		}
	}
	return all
}

func TestAssistant_ProviderAnswers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/answers/*.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 25)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var r recorded
			require.NoError(t, json.Unmarshal(text, &r))
			given := r.replies()
			s := newShop(t, given[0], given[1:]...)
			s.ada.Says("What did I order?")
			require.Equal(t, r.Says, s.ada.Last(), r.About)
			require.Contains(t, s.log.String(), r.Log, r.About)
			require.Equal(t, r.Log == "", s.log.Len() == 0, "%s: %s", r.About, s.log)

			requests := s.HTTP.Requests()
			messages := gjson.Get(requests[len(requests)-1].Body, "messages.2").Exists()
			require.Equal(t, r.Sends != nil, messages, "%s: %s", r.About, requests[len(requests)-1].Body)
			if messages {
				require.JSONEq(t, string(r.Sends), after(t, requests[len(requests)-1].Body), r.About)
			}
			for _, request := range requests {
				require.True(t, gjson.Get(request.Body, "tools.0").Exists(), "the tools are there as long as they are spoken of")
			}

			s.script(says("Here I am."))
			s.ada.Says("And now?")
			require.Equal(t, "Here I am.", s.ada.Last())
			remembered := len(s.asked(t)[len(requests)].Messages) == 4
			require.Equal(t, r.Log == "", remembered, "%s: answers are remembered, and apologies are not", r.About)
		})
	}
}

// after returns the messages of a request after the instructions and the question.
func after(t *testing.T, request string) string {
	t.Helper()
	var sent struct {
		Messages []json.RawMessage `json:"messages"`
	}
	require.NoError(t, json.Unmarshal([]byte(request), &sent))
	text, err := json.Marshal(sent.Messages[2:])
	require.NoError(t, err)
	return string(text)
}
