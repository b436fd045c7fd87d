package charlie_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// elements has a row for each kind of element that the library models: what the tool adds to the action when a user
// has chosen, the payload that the bot gets, and all that was chosen.
var elements = map[string]struct{ chosen, payload, values string }{
	"button":                     {`"value":"go"`, `"go"`, ``},
	"checkboxes":                 {`"selected_options":[{"value":"a"},{"value":"b"}]`, `{"payload":"pick","value":["a","b"]}`, `["a","b"]`},
	"datepicker":                 {`"selected_date":"2026-03-01"`, `"2026-03-01"`, `["2026-03-01"]`},
	"datetimepicker":             {`"selected_date_time":1772366400`, `"1772366400"`, `[1772366400]`},
	"email_text_input":           {`"value":"a@x.test"`, `"a@x.test"`, `["a@x.test"]`},
	"feedback_buttons":           {`"value":"good"`, `"good"`, `["good"]`},
	"file_input":                 {`"files":[{"id":"F1"}]`, `{"payload":"pick","value":[{"id":"F1"}]}`, `[{"id":"F1"}]`},
	"icon_button":                {`"value":"delete"`, `"delete"`, `["delete"]`},
	"image":                      {``, `{"payload":"pick","value":[]}`, `[]`},
	"number_input":               {`"value":"12"`, `"12"`, `["12"]`},
	"overflow":                   {`"selected_option":{"value":"more"}`, `"more"`, `["more"]`},
	"plain_text_input":           {`"value":"{\"payload\":\"admin\"}"`, `"{\"payload\":\"admin\"}"`, `["{\"payload\":\"admin\"}"]`},
	"radio_buttons":              {`"selected_option":{"value":"one"}`, `"one"`, `["one"]`},
	"rich_text_input":            {`"rich_text_value":{"type":"rich_text"}`, `{"payload":"pick","value":[{"type":"rich_text"}]}`, `[{"type":"rich_text"}]`},
	"timepicker":                 {`"selected_time":"12:30"`, `"12:30"`, `["12:30"]`},
	"url_text_input":             {`"value":"https://x.test"`, `"https://x.test"`, `["https://x.test"]`},
	"workflow_button":            {``, `{"payload":"pick","value":[]}`, `[]`},
	"static_select":              {`"selected_option":{"value":"tea"}`, `"tea"`, `["tea"]`},
	"external_select":            {`"selected_option":{"value":"7"}`, `"7"`, `["7"]`},
	"users_select":               {`"selected_user":"U5"`, `"U5"`, `["U5"]`},
	"conversations_select":       {`"selected_conversation":"G5"`, `"G5"`, `["G5"]`},
	"channels_select":            {`"selected_channel":"C5"`, `"C5"`, `["C5"]`},
	"multi_static_select":        {`"selected_options":[{"value":"tea"}]`, `"tea"`, `["tea"]`},
	"multi_external_select":      {`"selected_options":[]`, `{"payload":"pick","value":[]}`, `[]`},
	"multi_users_select":         {`"selected_users":["U5","U6"]`, `{"payload":"pick","value":["U5","U6"]}`, `["U5","U6"]`},
	"multi_conversations_select": {`"selected_conversations":["G5","D6"]`, `{"payload":"pick","value":["G5","D6"]}`, `["G5","D6"]`},
	"multi_channels_select":      {`"selected_channels":["C5"]`, `"C5"`, `["C5"]`},
}

func TestHandler_EachElement(t *testing.T) {
	t.Parallel()
	modelled := slices.Concat(constants(t, ".", "MET"), constants(t, ".", "OptType"), constants(t, ".", "MultiOptType"))
	requireRows(t, modelled, slices.Collect(maps.Keys(elements)))
	for kind, row := range elements {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			box := newInbox(t, charlie.Config{})
			action := fmt.Sprintf(`{"type":%q,"block_id":"b","action_id":"pick","action_ts":"1.5"`, kind)
			if row.chosen != "" {
				action += "," + row.chosen
			}
			action += "}"
			require.Equal(t, http.StatusOK, ask(box, tapped("["+action+"]")).Code)
			require.Len(t, box.all(), 1, "one event for each action")
			event := box.all()[0].Event
			require.Equal(t, send.TypePayload, event.Type)
			want := `{"payload":` + row.payload + `}`
			if row.values != "" {
				want = `{"payload":` + row.payload + `,"values":` + row.values + `,"action":` + action + `}`
			}
			require.JSONEq(t, want, event.Data.String())
		})
	}
}

// interactions has a row for each kind of interaction that the library models: the type of the event that the bot gets,
// or "" if it is dropped.
var interactions = map[string]send.Type{
	"block_actions":       send.TypePayload,
	"interactive_message": send.TypePayload,
	"dialog_submission":   send.TypeMisc,
	"dialog_cancellation": send.TypeMisc,
	"message_action":      send.TypeMisc,
	"shortcut":            send.TypeMisc,
	"view_closed":         send.TypeMisc,
	"view_submission":     send.TypeMisc,
	"workflow_step_edit":  send.TypeMisc,
	"of_a_new_kind":       send.TypeMisc,
	"block_suggestion":    "", // The tool asks for options, and takes them from the answer alone.
	"dialog_suggestion":   "",
}

func TestHandler_EachInteraction(t *testing.T) {
	t.Parallel()
	requireRows(t, append(constants(t, ".", "InteractionType"), "of_a_new_kind"), slices.Collect(maps.Keys(interactions)))
	for kind, want := range interactions {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			box := newInbox(t, charlie.Config{})
			require.Equal(t, http.StatusOK, ask(box, interacted(document.O(
				"type", kind, "callback_id", "order", "trigger_id", "1.2", "action_ts", "1.5",
				"actions", document.A(document.O("name", "a", "value", "go")),
			))).Code)
			if want == "" {
				require.Empty(t, box.all())
				require.Equal(t, []send.DropCount{
					{Platform: channel.Charlie, Kind: kind, Reason: send.DropUnsupported, Count: 1},
				}, box.drops.Counts())
				return
			}
			require.Empty(t, box.drops.Counts())
			require.Len(t, box.all(), 1)
			event := box.all()[0].Event
			require.Equal(t, want, event.Type)
			require.Equal(t, []string{"U1", "UBOT"}, []string{event.From, event.To}, "in a view there is no conversation but with the bot")
			if want == send.TypeMisc {
				require.Equal(t, kind, document.Get(event.Data, "event.type", ""))
				require.Equal(t, "order", document.Get(event.Data, "event.callback_id", ""))
			}
			require.NotContains(t, event.Data.String(), "secret", "credentials stay out of events")
		})
	}
}

// What else the library models reaches the bot as a message, or is counted.
func TestHandler_EachEvent(t *testing.T) {
	t.Parallel()
	const about = `"user":"U1","channel":"C1","ts":"1.1","text":"x","subtype":`
	events := map[string]string{"message": `{"type":"message",` + about + `""}`}
	for _, kind := range append(constants(t, "slackevents", "EventsAPIType"), "of_a_new_kind") {
		events[kind] = fmt.Sprintf(`{"type":%q,`+about+`""}`, kind)
	}
	for _, subtype := range append(constants(t, ".", "MsgSubType"), "of_a_new_subtype") {
		events[subtype] = fmt.Sprintf(`{"type":"message",`+about+`%q}`, subtype)
	}
	require.Greater(t, len(events), 100)
	var heard []string
	for kind, event := range events {
		box := newInbox(t, charlie.Config{})
		require.Equal(t, http.StatusOK, ask(box, wrote("E1", event)).Code, kind)
		drops := box.drops.Counts()
		require.Equal(t, 1, len(box.all())+len(drops), "%s: one event, or one drop", kind)
		if len(drops) == 0 {
			heard = append(heard, kind)
		} else {
			require.Equal(t, kind, drops[0].Kind)
		}
	}
	require.ElementsMatch(t, []string{"message", "app_mention", "file_share", "me_message", "thread_broadcast"}, heard)
}

// interacted is the report of an interaction outside of conversations.
func interacted(about document.Object) *http.Request {
	about = about.With("team", document.O("id", "T1")).With("user", document.O("id", "U1")).With("api_app_id", "A1").
		With("token", "secret-1").With("bot_access_token", "secret-2").
		With("interactivity", document.O("interactor", document.O("secret", "secret-3")))
	return signed("application/x-www-form-urlencoded", url.Values{"payload": {about.String()}}.Encode())
}

// requireRows requires that a table has a row for each kind that the library models, and no other.
func requireRows(t *testing.T, modelled, rows []string) {
	t.Helper()
	slices.Sort(modelled)
	slices.Sort(rows)
	require.Equal(t, slices.Compact(modelled), rows, "add a row for each kind that the library models, see its changelog")
}

// isOf reports whether a value is converted to a type.
func isOf(value ast.Expr, name string) bool {
	call, isCall := value.(*ast.CallExpr)
	if !isCall {
		return false
	}
	to, isName := call.Fun.(*ast.Ident)
	return isName && to.Name == name
}

// constants returns the texts of the library's constants in a folder of its module whose names begin with a prefix, or
// that are converted to a type of that name.
func constants(t *testing.T, folder, prefix string) []string {
	t.Helper()
	found, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/slack-go/slack").Output()
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(found)), folder, "*.go"))
	require.NoError(t, err)
	var texts []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(gotoken.NewFileSet(), name, source, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			spec, isSpec := n.(*ast.ValueSpec)
			if !isSpec || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, prefix) && !isOf(spec.Values[0], prefix) {
				return true
			}
			ast.Inspect(spec.Values[0], func(n ast.Node) bool {
				if literal, isLiteral := n.(*ast.BasicLit); isLiteral && literal.Kind == gotoken.STRING {
					text, err := strconv.Unquote(literal.Value)
					require.NoError(t, err)
					texts = append(texts, text)
				}
				return true
			})
			return true
		})
	}
	require.NotEmpty(t, texts, "the library has constants %s...", prefix)
	return texts
}
