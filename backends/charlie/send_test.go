package charlie_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

func TestSend_TextAndReply(t *testing.T) {
	t.Parallel()
	s := newTool()
	delivery, err := s.start(t).Send(t.Context(), to("U1", send.Text("Hello")))
	require.NoError(t, err)
	require.Equal(t, "Hello", s.sent(t, "D1").Get("text"))
	require.Equal(t, "1700000000.001000", delivery.MessageID)
	require.Equal(t, "D1", delivery.ChatID)
	require.Equal(t, "UBOT", delivery.From)
	require.Equal(t, document.Timestamp(1700000000001), delivery.Timestamp)
	require.Equal(t, []string{"channel", "message", "ok", "ts"}, delivery.Reply.Keys())
	require.True(t, document.Get(delivery.Reply, "message.of_a_new_kind.kept", false), "unknown fields are kept")
}

// relayed returns a message of another channel, as live chats relay it.
func relayed(data document.Object) send.Response { return send.Other(send.TypeMisc, data) }

func TestSend_TextIsNoMarkup(t *testing.T) {
	t.Parallel()
	s := newTool()
	connector := s.start(t)
	const text = `<!channel> a & b <https://x.test|y> &lt;`
	const shown = `&lt;!channel&gt; a &amp; b &lt;https://x.test|y&gt; &amp;lt;`
	for name, response := range map[string]send.Response{
		"text":          send.Text(text),
		"buttons":       send.Buttons(text, send.Postback("Go", "go")),
		"quick replies": send.QuickReplies(text, send.QuickReply{Title: "Go"}),
		"relayed":       relayed(document.O("text", text)),
	} {
		_, err := connector.Send(t.Context(), to("C1", response))
		require.NoError(t, err, name)
		require.Equal(t, shown, s.sent(t, "C1").Get("text"), name)
		require.NotContains(t, s.sent(t, "C1").Get("blocks"), "<!channel>", name)
	}
}

// The agent's tool shows a message at a response URL like a message that Send sends.
func TestFormatResponse(t *testing.T) {
	t.Parallel()
	s := newTool()
	connector := s.start(t)
	for name, response := range map[string]send.Response{
		"text":    send.Text("a & b").With("thread_ts", "1.5").With("unfurl_links", false),
		"buttons": send.Buttons("Go?", send.Postback("Go", "go")),
		"image":   send.Image("https://x.test/a.png"),
		"relayed": relayed(document.O("text", "Look", "attachments", document.A(
			document.O("type", "image", "payload", document.O("url", "https://x.test/a.png"))))),
	} {
		_, err := connector.Send(t.Context(), to("C1", response))
		require.NoError(t, err, name)
		sent := s.sent(t, "C1")
		body, err := connector.FormatResponse(response)
		require.NoError(t, err, name)
		for _, field := range []string{"text", "blocks", "attachments", "thread_ts", "unfurl_links"} {
			value, isText := document.Get[any](body, field, "").(string)
			if !isText {
				value = document.A(body.Value(field)).String()
				value = value[1 : len(value)-1]
			}
			require.Equal(t, sent.Get(field), value, "%s of %s", field, name)
		}
	}
	body, err := connector.FormatResponse(send.Text("Done").With("replace_original", true).With("type_of_mine", 1))
	require.NoError(t, err)
	require.JSONEq(t, `{"text":"Done","replace_original":true}`, body.String())
	_, err = connector.FormatResponse(send.BravoTemplate("order", "en"))
	require.ErrorIs(t, err, boterr.Unsupported)
}

func TestSend_EachType(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		response     send.Response
		text, blocks string
	}{
		"image": {
			send.Image("https://x.test/a.png?b=1&c=2"), "<https://x.test/a.png?b=1&amp;c=2>",
			`[{"type":"image","image_url":"https://x.test/a.png?b=1&c=2","alt_text":"Image"}]`,
		},
		"image by id": {
			send.Attachment(send.TypeImage, "F1"), "Image", `[{"type":"image","slack_file":{"id":"F1"},"alt_text":"Image"}]`,
		},
		"audio": {send.Audio("https://x.test/a.mp3"), "<https://x.test/a.mp3>", ""},
		"video": {send.Video("https://x.test/a.mp4"), "<https://x.test/a.mp4>", ""},
		"file":  {send.File("https://x.test/a|b>"), "<https://x.test/a%7Cb%3E>", ""},
		"buttons": {
			send.Buttons("Now?", send.PostbackValue("Yes", "book", 2), send.WebURL("Menu", "https://x.test")), "Now?",
			`[{"type":"section","text":{"type":"mrkdwn","text":"Now?","verbatim":true}},{"type":"actions","elements":[` +
				`{"type":"button","action_id":"button-0","text":{"type":"plain_text","text":"Yes","emoji":true},"value":"{\"payload\":\"book\",\"value\":2}"},` +
				`{"type":"button","action_id":"button-1","text":{"type":"plain_text","text":"Menu","emoji":true},"url":"https://x.test"}]}]`,
		},
		"quick replies": {
			send.QuickReplies("Again?", send.QuickReply{Title: "Yes", Payload: "again"}), "Again?",
			`[{"type":"section","text":{"type":"mrkdwn","text":"Again?","verbatim":true}},{"type":"actions","elements":[` +
				`{"type":"button","action_id":"button-0","text":{"type":"plain_text","text":"Yes","emoji":true},"value":"again"}]}]`,
		},
		"carousel": {
			send.Carousel(
				send.Card{Title: "Tea", Subtitle: "green", ImageURL: "https://x.test/t.png", Buttons: []send.Button{send.Postback("Buy", "tea")}},
				send.Card{Title: "R&B"},
			), "Tea\nR&amp;B",
			`[{"type":"section","text":{"type":"mrkdwn","text":"*Tea*\ngreen","verbatim":true},` +
				`"accessory":{"type":"image","image_url":"https://x.test/t.png","alt_text":"Tea"}},` +
				`{"type":"actions","elements":[{"type":"button","action_id":"button-0","text":{"type":"plain_text","text":"Buy","emoji":true},"value":"tea"}]},` +
				`{"type":"divider"},{"type":"section","text":{"type":"mrkdwn","text":"*R&amp;B*","verbatim":true}}]`,
		},
		"relayed text and files": {
			relayed(document.O("text", "Look & see", "attachments", document.A(
				document.O("type", "image", "payload", document.O("url", "https://x.test/a.png?b=1&c=2")),
				document.O("type", "location", "payload", document.O("coordinates", document.O("lat", 59.9, "long", 0.00005))),
			))), "Look &amp; see\n<https://x.test/a.png?b=1&amp;c=2>\n59.9, 0.00005", "",
		},
		"the tool's own": {
			send.Other("POLL", document.O("text", "<!here>", "blocks", document.A(document.O("type", "poll", "n", 1)))),
			"<!here>", `[{"type":"poll","n":1}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTool()
			_, err := s.start(t).Send(t.Context(), to("C1", c.response))
			require.NoError(t, err)
			require.Equal(t, c.text, s.sent(t, "C1").Get("text"))
			require.Equal(t, c.blocks, s.sent(t, "C1").Get("blocks"))
			require.Empty(t, s.sent(t, "C1").Get("attachments"), "the text has the relayed ones")
		})
	}
}

func TestSend_FieldsOfTheTool(t *testing.T) {
	t.Parallel()
	s := newTool()
	response := send.Text("Hello").With("thread_ts", "1.2").With("unfurl_links", false).
		With("attachments", document.A(document.O("color", "red", "of_a_new_kind", 1)))
	_, err := s.start(t).Send(t.Context(), to("C1", response))
	require.NoError(t, err)
	sent := s.sent(t, "C1")
	require.Equal(t, "1.2", sent.Get("thread_ts"))
	require.Equal(t, "false", sent.Get("unfurl_links"))
	require.JSONEq(t, `[{"color":"red","of_a_new_kind":1}]`, sent.Get("attachments"))
}

func TestSend_Typing(t *testing.T) {
	t.Parallel()
	s := newTool()
	delivery, err := s.start(t).Send(t.Context(), to("C1", send.Typing(1)))
	require.NoError(t, err)
	require.True(t, document.Get(delivery.Reply, "ok", false))
	require.Empty(t, s.called())
}

func TestSend_LongText(t *testing.T) {
	t.Parallel()
	s := newTool()
	text := strings.Repeat("&", 2000)
	_, err := s.start(t).Send(t.Context(), to("C1", send.Buttons(text, send.Postback("Go", "go"))))
	require.NoError(t, err)
	blocks, err := document.ParseJSON([]byte(s.sent(t, "C1").Get("blocks")))
	require.NoError(t, err)
	var whole strings.Builder
	for _, block := range blocks.(document.Array).All() {
		part := document.Get(block.(document.Object), "text.text", "")
		require.LessOrEqual(t, len(part), 3000)
		whole.WriteString(part)
	}
	require.Equal(t, strings.Repeat("&amp;", 2000), whole.String())
}

func TestSend_UnshowableHasPath(t *testing.T) {
	t.Parallel()
	long := send.Postback("Go", strings.Repeat("é", 2001))
	connectortest.RequireUnsendable(t, map[string]connectortest.Unsendable{
		"a long payload":           {send.Buttons("x", send.Postback("A", "a"), long), boterr.InvalidArgument, "buttons[1].payload"},
		"a long payload in a card": {send.Carousel(send.Card{Title: "x", Buttons: []send.Button{long}}), boterr.InvalidArgument, "carousel[0].buttons[0].payload"},
		"a long value":             {send.Buttons("x", send.PostbackValue("A", "a", strings.Repeat("x", 1990))), boterr.InvalidArgument, "buttons[0].payload"},
		"a relative address":       {send.Image("/a.png"), boterr.InvalidArgument, "url"},
		"a long address":           {send.Image("https://x.test/" + strings.Repeat("a", 3000)), boterr.InvalidArgument, "url"},
		"a script":                 {send.Buttons("x", send.WebURL("A", "javascript:alert(1)")), boterr.InvalidArgument, "buttons[0].url"},
		"a picture of a card":      {send.Carousel(send.Card{Title: "x", ImageURL: "a"}), boterr.InvalidArgument, "carousel[0].image_url"},
		"a film by id":             {send.Attachment(send.TypeVideo, "F1"), boterr.Unsupported, "attachment_id"},
		"a button of another type": {send.Buttons("x", send.Button{Type: "call", Title: "A"}), boterr.Unsupported, "buttons[0].type"},
		"a location":               {send.QuickReplies("x", send.QuickReply{ContentType: "location"}), boterr.Unsupported, "quickReplies[0].content_type"},
		"a relayed file by id": {
			relayed(document.O("attachments", document.A(document.O("type", "image", "payload", document.O("attachment_id", "F1"))))),
			boterr.Unsupported, "attachments[0]",
		},
		"nothing relayed": {relayed(document.O("attachments", document.A())), boterr.Unsupported, "type"},
		"an article":      {send.Other(send.TypeNews, document.O("articles", document.A())), boterr.Unsupported, "type"},
	}, func(t *testing.T, response send.Response) error {
		t.Helper()
		s := newTool()
		_, err := s.start(t).Send(t.Context(), to("C1", response))
		require.Empty(t, s.called())
		return err
	})
}

func TestSend_LongestPayload(t *testing.T) {
	t.Parallel()
	s := newTool()
	_, err := s.start(t).Send(t.Context(), to("C1", send.Buttons("x", send.Postback("A", strings.Repeat("é", 2000)))))
	require.NoError(t, err)
}

func TestSend_TokenOfUser(t *testing.T) {
	t.Parallel()
	s := newTool()
	message := to("C1", send.Text("Hello"))
	message.Channel.Info = channel.CharlieInfo{AccessToken: channel.NewSecret(token)}
	connector := s.start(t)
	_, err := connector.Send(t.Context(), message)
	require.NoError(t, err)
	message.Channel.Info = channel.CharlieInfo{BotAccessToken: channel.NewSecret(token), AccessToken: channel.NewSecret("another")}
	_, err = connector.Send(t.Context(), message)
	require.NoError(t, err)
	for name, info := range map[string]channel.Info{"no token": channel.CharlieInfo{}, "no info": nil} {
		message.Channel.Info = info
		_, err = connector.Send(t.Context(), message)
		require.ErrorIs(t, err, boterr.FailedPrecondition, name)
	}
}

// elements has a row for each type of element in testdata/kinds.json: the fields that the tool sends for a choice, the
// payload of the event, and all choices.
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
	requireRows(t, kinds(t, "elements"), slices.Collect(maps.Keys(elements)))
	for kind, row := range elements {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			box := newInbox(t, charlie.Config{})
			action := fmt.Sprintf(`{"type":%q,"block_id":"b","action_id":"pick","action_ts":"1.5"`, kind)
			if row.chosen != "" {
				action += "," + row.chosen
			}
			action += "}"
			require.Equal(t, http.StatusOK, box.Ask(tapped("["+action+"]")).Code)
			require.Len(t, box.Got, 1, "one event for each action")
			event := box.Got[0].Event
			require.Equal(t, send.TypePayload, event.Type)
			want := `{"payload":` + row.payload + `}`
			if row.values != "" {
				want = `{"payload":` + row.payload + `,"values":` + row.values + `,"action":` + action + `}`
			}
			require.JSONEq(t, want, event.Data.String())
		})
	}
}

// interactions has a row for each type of interaction in testdata/kinds.json: the type of the event, or "" if it
// is dropped.
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
	"block_suggestion":    "", // The tool accepts options only in the answer.
	"dialog_suggestion":   "",
}

func TestHandler_EachInteraction(t *testing.T) {
	t.Parallel()
	requireRows(t, append(kinds(t, "interactions"), "of_a_new_kind"), slices.Collect(maps.Keys(interactions)))
	for kind, want := range interactions {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			box := newInbox(t, charlie.Config{})
			require.Equal(t, http.StatusOK, box.Ask(interacted(document.O(
				"type", kind, "callback_id", "order", "trigger_id", "1.2", "action_ts", "1.5",
				"actions", document.A(document.O("name", "a", "value", "go")),
			))).Code)
			if want == "" {
				require.Empty(t, box.Got)
				require.Equal(t, []send.DropCount{
					{Platform: channel.Charlie, Kind: kind, Reason: send.DropUnsupported, Count: 1},
				}, box.Drops.Counts())
				return
			}
			require.Empty(t, box.Drops.Counts())
			require.Len(t, box.Got, 1)
			event := box.Got[0].Event
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

// Every event in testdata/kinds.json is accepted as a message, or dropped and counted.
func TestHandler_EachEvent(t *testing.T) {
	t.Parallel()
	const about = `"user":"U1","channel":"C1","ts":"1.1","text":"x","subtype":`
	events := map[string]string{"message": `{"type":"message",` + about + `""}`}
	for _, kind := range append(kinds(t, "events"), "of_a_new_kind") {
		events[kind] = fmt.Sprintf(`{"type":%q,`+about+`""}`, kind)
	}
	for _, subtype := range append(kinds(t, "subtypes"), "of_a_new_subtype") {
		events[subtype] = fmt.Sprintf(`{"type":"message",`+about+`%q}`, subtype)
	}
	require.Greater(t, len(events), 100)
	var heard []string
	for kind, event := range events {
		box := newInbox(t, charlie.Config{})
		require.Equal(t, http.StatusOK, box.Ask(wrote("E1", event)).Code, kind)
		drops := box.Drops.Counts()
		require.Equal(t, 1, len(box.Got)+len(drops), "%s: one event, or one drop", kind)
		if len(drops) == 0 {
			heard = append(heard, kind)
		} else {
			require.Equal(t, kind, drops[0].Kind)
		}
	}
	require.ElementsMatch(t, []string{"message", "app_mention", "file_share", "me_message", "thread_broadcast"}, heard)
}

// interacted returns the report of an interaction outside of conversations.
func interacted(about document.Object) *http.Request {
	about = about.With("team", document.O("id", "T1")).With("user", document.O("id", "U1")).With("api_app_id", "A1").
		With("token", "secret-1").With("bot_access_token", "secret-2").
		With("interactivity", document.O("interactor", document.O("secret", "secret-3")))
	return signed("application/x-www-form-urlencoded", url.Values{"payload": {about.String()}}.Encode())
}

// requireRows fails the test unless a table has exactly one row for each kind.
func requireRows(t *testing.T, kinds, rows []string) {
	t.Helper()
	require.ElementsMatch(t, kinds, rows, "the table has one row for each kind in testdata/kinds.json")
}

// kinds returns the names in one list of testdata/kinds.json, which internal/dev/platforms compares with the
// library's constants.
func kinds(t *testing.T, list string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "kinds.json"))
	require.NoError(t, err)
	var lists map[string][]string
	require.NoError(t, json.Unmarshal(text, &lists))
	require.NotEmpty(t, lists[list], list)
	return lists[list]
}

func TestHandler_ThreadOfMessage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ thread, want string }{
		"in a thread":             {`,"thread_ts":"1699999990.000100"`, "1699999990.000100"},
		"in none":                 {``, ""},
		"the message that has it": {`,"thread_ts":"1699999999.000100"`, ""},
	} {
		box := newInbox(t, charlie.Config{})
		require.Equal(t, http.StatusOK, box.Ask(wrote("E1", strings.TrimSuffix(hello, "}")+c.thread+"}")).Code)
		require.Equal(t, c.want, document.Get(box.Got[0].Event.Data, "thread_ts", ""), name)
	}
}

func TestHandler_ThreadOfTap(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]document.Object{
		"of the message":   document.O("message", document.O("ts", "1.2", "thread_ts", "1.1")),
		"of the container": document.O("container", document.O("message_ts", "1.2", "thread_ts", "1.1")),
		"before blocks":    document.O("message_ts", "1.2", "original_message", document.O("ts", "1.2", "thread_ts", "1.1")),
	} {
		box := newInbox(t, charlie.Config{})
		tap := place.With("type", "block_actions").With("channel", document.O("id", "C1")).
			With("actions", document.A(document.O("type", "button", "value", "go")))
		require.Equal(t, http.StatusOK, box.Ask(interacted(tap)).Code)
		require.Equal(t, "1.1", document.Get(box.Got[0].Event.Data, "thread_ts", ""), name)
	}
}

func TestRuntime_ReplyInThread(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ conversation, answeredIn, thread string }{
		"in a channel":            {"C1", "C1", "1.1"},
		"alone with the bot":      {"D1", "D1", "1.1"},
		"in a channel, in none":   {"C1", "D1", ""},
		"alone with the bot, too": {"D1", "D1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorkplace(t)
			w.Host.Runtime().HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
				return bot.Reply(ctx, send.Text("hi"))
			})
			event := document.O("type", "message", "channel", c.conversation, "user", "U1", "text", "hello", "ts", "1.2")
			if c.thread != "" {
				event = event.With("thread_ts", c.thread)
			}
			require.Equal(t, http.StatusOK, ask(w.handler, wrote("E1", event.String())).Code)
			w.Host.Advance(0)
			sent := w.tool.sent(t, c.answeredIn)
			require.Equal(t, []string{"hi", c.thread}, []string{sent.Get("text"), sent.Get("thread_ts")})
		})
	}
}

func TestConnector_KeepsTheContract(t *testing.T) {
	t.Parallel()
	sendtest.RunConnector(t, newHarness)
}

func newHarness(t *testing.T) *sendtest.Harness {
	t.Helper()
	const otherToken = "xoxb-2-secret"
	s := newTool()
	s.channels[otherToken] = "other"
	for _, user := range []string{"1", "2"} {
		s.conversations["D"+user] = &conversation{messages: map[string]url.Values{}}
	}
	server := sendtest.NewServer(t, s, toolFaults())
	connector, err := charlie.New(charlie.Config{APIURL: server.URL})
	require.NoError(t, err)
	other := workspace()
	other.ID, other.Info = "other", channel.CharlieInfo{BotAccessToken: channel.NewSecret(otherToken)}
	return &sendtest.Harness{
		Connector: connector, Channel: workspace(), Other: other,
		Members: []*member.Member{{ID: "m1", ExternalID: "U1"}, {ID: "m2", ExternalID: "U2"}},
		Arrived: s.arrived, Fail: server.Fail,
		HasNoKeys: true,
		Odd:       func() []sendtest.Reception { return oddReports(t) },
		Group:     "C1",
		Archived: func(id string) bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.conversations[id].isArchived
		},
	}
}

// oddReports posts reports of unknown kinds to a handler, and returns how it handled each.
func oddReports(t *testing.T) []sendtest.Reception {
	t.Helper()
	return connectortest.Receptions(map[string]*http.Request{
		"an event of a new kind":        wrote("E1", `{"type":"of_a_new_kind","user":"U1","channel":"C1"}`),
		"a message of a new kind":       wrote("E1", `{"type":"message","subtype":"of_a_new_kind","user":"U1","channel":"C1","ts":"1.1"}`),
		"a message that says nothing":   wrote("E1", `{"type":"message","user":"U1","channel":"C1","ts":"1.1","blocks":[{"type":"of_a_new_kind"}]}`),
		"an event that says nothing":    wrote("E1", `{}`),
		"an interaction of a new kind":  interacted(document.O("type", "of_a_new_kind")),
		"an action of a new kind":       tapped(`[{"type":"of_a_new_kind","action_id":"pick"}]`),
		"a report of a new kind":        signed("application/json", `{"type":"of_a_new_kind","team_id":"T1"}`),
		"an interaction without action": tapped(`[]`),
	}, func(r *http.Request) (*connectortest.Box, int) {
		box := newInbox(t, charlie.Config{})
		return box, box.Ask(r).Code
	})
}

// toolFaults are the faults that the tool reports with an error code and status 200.
func toolFaults() map[sendtest.Fault]http.HandlerFunc {
	word := func(word string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			_ = json.NewEncoder(w).Encode(reply{
				"ok": false, "error": word,
				"response_metadata": reply{"messages": []string{"[ERROR] not with " + r.Header.Get("Authorization"), sendtest.Repeated(r, body)}},
			})
		}
	}
	return map[sendtest.Fault]http.HandlerFunc{
		sendtest.BadCredentials:   word("invalid_auth"),
		sendtest.UnknownRecipient: word("channel_not_found"),
		sendtest.Blocked:          word("cannot_dm_bot"),
		sendtest.Rejected:         word("invalid_arguments"),
	}
}

// arrived returns the messages in their current form.
func (s *tool) arrived() []sendtest.Arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	var arrivals []sendtest.Arrival
	for _, sent := range s.posted {
		_, isThere := s.conversations[sent.conversation].messages[sent.ts]
		var body strings.Builder
		for field, values := range sent.form {
			body.WriteString(field + "=" + strings.Join(values, " ") + "\n")
		}
		arrivals = append(arrivals, sendtest.Arrival{
			Channel: s.channels[sent.form.Get("token")], To: sent.form.Get("channel"),
			Text: html.UnescapeString(sent.form.Get("text")), Body: body.String(), IsRecalled: !isThere,
		})
	}
	return arrivals
}
