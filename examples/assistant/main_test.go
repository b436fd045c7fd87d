package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun_PlaysWithoutAnAddress(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	require.Zero(t, run(t.Context(), nil, strings.NewReader(""), &out, &problems), problems.String())
	require.Equal(t, `Ada: Which tea wakes me up?
Bot: Assam does: it is strong, and goes well with milk.
Ada: And what did I order?
Bot: 100 grams of Sencha are on their way to you soon.
Ada: What did Bob order?
Bot: I can only tell you of your own orders.
`, out.String())
}

func TestRun_TalksWithAModel(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices": [{"message": {"content": "Assam, \u001b[2Jstrong."}}]}`)
	}))
	t.Cleanup(server.Close)
	var out, problems bytes.Buffer
	code := run(t.Context(), []string{"-url", server.URL + "/v1/", "-model", "large"}, strings.NewReader("Which tea?\n"), &out, &problems)
	require.Zero(t, code, problems.String())
	require.Equal(t, "Ada: Which tea?\nBot: Assam, \\x1b[2Jstrong.\n", out.String(), "what the model says does not control the terminal")
	require.Empty(t, problems.String())
}

// A real model answers differently each time, so no test can repeat the conversation.
func TestRun_SavesNoTest(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{"tea.go", "tea.chat"} {
		var out, problems bytes.Buffer
		typed := strings.NewReader("/save " + filepath.Join(folder, name) + "\n")
		require.Zero(t, run(t.Context(), []string{"-url", "https://models.example/v1"}, typed, &out, &problems), problems.String())
		require.Contains(t, out.String(), "!! the conversation cannot be saved: a model gives another answer each time.")
	}
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestRun_WrongAddress(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	require.Equal(t, 1, run(t.Context(), []string{"-url", "models"}, strings.NewReader(""), &out, &problems))
	require.Contains(t, problems.String(), "is not an HTTP or HTTPS address")
}

func TestRun_FlagOfAModelWithoutAnAddress(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	require.Equal(t, 2, run(t.Context(), []string{"-tokens", "50"}, strings.NewReader(""), &out, &problems))
	require.Equal(t, "assistant: -tokens needs -url: the scripted conversation asks no model\n", problems.String())
	require.Empty(t, out.String())
}

func TestRun_WrongLimit(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	require.Equal(t, 1, run(t.Context(), []string{"-url", "https://models.example/v1", "-limit", "tokens"}, strings.NewReader(""), &out, &problems))
	require.Contains(t, problems.String(), `Limit: must be max_tokens or max_completion_tokens, and is "tokens"`)
}
