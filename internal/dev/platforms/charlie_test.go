package platforms_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slacktest"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/golden"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

var _ = flag.Bool("update", false, "write the files that tests compare with")

const charlieSecret = "8f742231b10e8888abcd99yyyzzz85a5"

func charlieChannel() *channel.Channel {
	return &channel.Channel{ID: "desk", App: "app-1", Type: channel.Charlie, Info: channel.CharlieInfo{
		BotAccessToken: channel.NewSecret("xoxb-1"), SigningSecret: channel.NewSecret(charlieSecret), TeamID: "T1",
	}}
}

// The library's test server decodes blocks and attachments and answers with the text it received. It fails on
// anything that the library does not know.
func TestCharlie_LibrarysServerUnderstands(t *testing.T) {
	t.Parallel()
	server := slacktest.NewTestServer()
	server.Start()
	t.Cleanup(server.Stop)
	connector, err := charlie.New(charlie.Config{APIURL: server.GetAPIURL()})
	require.NoError(t, err)
	card := send.Card{Title: "card", ImageURL: "https://x.test/a.png", Buttons: []send.Button{send.Postback("Go", "go")}}
	for text, response := range map[string]send.Response{
		"text":                     send.Text("text"),
		"<https://x.test/a.png>":   send.Image("https://x.test/a.png"),
		"<https://x.test/a.mp3>":   send.Audio("https://x.test/a.mp3"),
		"<https://x.test/a.mp4>":   send.Video("https://x.test/a.mp4"),
		"<https://x.test/a.pdf>":   send.File("https://x.test/a.pdf"),
		"quick":                    send.QuickReplies("quick", send.QuickReply{Title: "Go"}),
		"button":                   send.Buttons("button", send.PostbackValue("Go", "go", 1), send.WebURL("See", "https://x.test")),
		"card":                     send.Carousel(card),
		"a type of the tool's own": send.Other("OWN", document.O("text", "a type of the tool's own", "attachments", document.A(document.O("color", "red")))),
	} {
		delivery, err := connector.Send(t.Context(), send.Message{ID: "m1", Channel: charlieChannel(), To: "C1", Response: response})
		require.NoError(t, err, text)
		require.Equal(t, text, document.Get(delivery.Reply, "text", ""), "what the server got")
		require.Equal(t, "C1", delivery.ChatID)
		require.NotEmpty(t, delivery.MessageID)
	}
	made, err := connector.CreateGroup(t.Context(), charlieChannel(), livechat.NewGroup{Key: "a1", AdminExternalID: "U7"})
	require.NoError(t, err)
	require.NotEmpty(t, made.ExternalID)
}

// The handler accepts a signature if the library does.
func TestCharlie_SignaturesOfTheLibrary(t *testing.T) {
	t.Parallel()
	const body = `{"type":"event_callback","team_id":"T1","event_id":"E1",` +
		`"event":{"type":"message","channel":"D1","user":"U1","text":"hello","ts":"1699999999.000100"}}`
	nowSeconds := time.Now().Unix() // The library uses the machine's clock.
	for name, c := range map[string]struct {
		at        int64
		secret    string
		isAllowed bool
	}{
		"the tool's":     {nowSeconds, charlieSecret, true},
		"another secret": {nowSeconds, "wrong", false},
		"long ago":       {nowSeconds - 600, charlieSecret, false},
	} {
		sum := hmac.New(sha256.New, []byte(c.secret))
		_, _ = fmt.Fprintf(sum, "v0:%d:%s", c.at, body)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/charlie", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Slack-Request-Timestamp", strconv.FormatInt(c.at, 10))
		r.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(sum.Sum(nil)))
		require.Equal(t, c.isAllowed, libraryAccepts(r.Header, body), name)

		connector, err := charlie.New(charlie.Config{
			FindChannel: func(context.Context, charlie.Workspace) (*channel.Channel, error) { return charlieChannel(), nil },
		})
		require.NoError(t, err)
		got := 0
		answer := httptest.NewRecorder()
		connector.Handler(func(context.Context, botctx.Inbound) error {
			got++
			return nil
		}).ServeHTTP(answer, r)
		require.Equal(t, c.isAllowed, answer.Code == http.StatusOK, "%s: %d", name, answer.Code)
		require.Equal(t, c.isAllowed, got == 1, name)
	}
}

// libraryAccepts reports whether the library accepts the signature of a request.
func libraryAccepts(header http.Header, body string) bool {
	verifier, err := slack.NewSecretsVerifier(header, charlieSecret)
	if err != nil {
		return false
	}
	_, _ = verifier.Write([]byte(body))
	return verifier.Ensure() == nil
}

// The tests of backends/charlie check how the connector handles each kind in the file. If the library has new kinds, run
// this test with -update and add rows to the tables of these tests; the library's changelog describes the kinds.
func TestCharlie_KindsOfTheLibrary(t *testing.T) {
	t.Parallel()
	found, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/slack-go/slack").Output()
	require.NoError(t, err)
	library := strings.TrimSpace(string(found))
	events := filepath.Join(library, "slackevents")
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(map[string][]string{
		"elements":     constants(t, library, "MET", "OptType", "MultiOptType"),
		"events":       constants(t, events, "EventsAPIType"),
		"interactions": constants(t, library, "InteractionType"),
		"subtypes":     constants(t, library, "MsgSubType"),
	}))
	golden.Compare(t, filepath.Join("..", "..", "..", "backends", "charlie", "testdata", "kinds.json"), text.String())
}

// constants parses the Go files of a folder, and returns the sorted values of its string constants. It selects constants
// whose names begin with one of the prefixes, and conversions to a type named like a prefix.
func constants(t *testing.T, folder string, prefixes ...string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	var texts []string
	found := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, isSpec := n.(*ast.ValueSpec)
			if !isSpec || len(spec.Values) != 1 {
				return true
			}
			for _, prefix := range prefixes {
				if strings.HasPrefix(spec.Names[0].Name, prefix) || isOf(spec.Values[0], prefix) {
					found[prefix] = true
					texts = append(texts, literals(t, spec.Values[0])...)
				}
			}
			return true
		})
	}
	require.Len(t, found, len(prefixes), "the library has constants of each of %v", prefixes)
	slices.Sort(texts)
	return slices.Compact(texts)
}

// isOf reports whether an expression is a conversion to the named type.
func isOf(value ast.Expr, name string) bool {
	call, isCall := value.(*ast.CallExpr)
	if !isCall {
		return false
	}
	to, isName := call.Fun.(*ast.Ident)
	return isName && to.Name == name
}

// literals returns the string literals in an expression.
func literals(t *testing.T, value ast.Expr) (texts []string) {
	t.Helper()
	ast.Inspect(value, func(n ast.Node) bool {
		if literal, isLiteral := n.(*ast.BasicLit); isLiteral && literal.Kind == token.STRING {
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			texts = append(texts, text)
		}
		return true
	})
	return texts
}
