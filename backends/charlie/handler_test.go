package charlie_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/send"
)

// noon is the time of the tests' requests, in Unix seconds.
const noon = 1700000000

// newInbox returns a box whose handler serves the workspace T1.
func newInbox(t *testing.T, config charlie.Config) *connectortest.Box {
	t.Helper()
	box := connectortest.NewBox()
	config.Drops, config.OnError = box.Drops, box.OnError
	config.Now = clock
	if config.FindChannel == nil {
		config.FindChannel = findT1
	}
	box.Handler = connectortest.New(t, charlie.New, config).Handler(box.Accept)
	return box
}

func findT1(_ context.Context, from charlie.Workspace) (*channel.Channel, error) {
	if from.TeamID != "T1" {
		return nil, boterr.New(boterr.NotFound, "", "there is no channel of %s", from.TeamID)
	}
	return workspace(), nil
}

// signed returns a request with this body, signed by the tool at noon.
func signed(contentType, body string) *http.Request {
	return signedAt(noon, signingSecret, contentType, body)
}

func signedAt(at int64, secret, contentType, body string) *http.Request {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/charlie", strings.NewReader(body))
	sum := hmac.New(sha256.New, []byte(secret))
	_, _ = fmt.Fprintf(sum, "v0:%d:%s", at, body)
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("X-Slack-Request-Timestamp", strconv.FormatInt(at, 10))
	r.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(sum.Sum(nil)))
	return r
}

func wrote(eventID, event string) *http.Request {
	return signed("application/json", fmt.Sprintf(
		`{"type":"event_callback","team_id":"T1","api_app_id":"A1","event_id":%q,"event":%s,`+
			`"authorizations":[{"user_id":"UAPP","is_bot":true}]}`, eventID, event))
}

// tapped returns a report of these actions.
func tapped(actions string) *http.Request {
	payload := `{"type":"block_actions","team":{"id":"T1"},"api_app_id":"A1","user":{"id":"U1"},` +
		`"channel":{"id":"C1"},"message":{"ts":"1699999999.000200"},"response_url":"https://x.test/back","actions":` + actions + `}`
	return signed("application/x-www-form-urlencoded", url.Values{"payload": {payload}}.Encode())
}

func ask(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const hello = `{"type":"message","channel":"D1","user":"U1","text":"hello","ts":"1699999999.000100"}`

func TestHandler_Message(t *testing.T) {
	t.Parallel()
	box := newInbox(t, charlie.Config{})
	require.Equal(t, http.StatusOK, box.Ask(wrote("E1", hello)).Code)
	require.Equal(t, []botctx.Inbound{{App: "app-1", Channel: "desk", Event: send.MessageEvent{
		From: "U1", To: "D1", Type: send.TypeText, Data: document.O("text", "hello"),
		Timestamp: 1699999999000, MessageID: "1699999999.000100",
	}, Key: "message D1 1699999999.000100"}}, box.Got)
}

func TestHandler_TextAsWritten(t *testing.T) {
	t.Parallel()
	for told, want := range map[string]string{
		`a &lt;b&gt; &amp;amp; c`:                     `a <b> &amp; c`,
		`<https://x.test?a=1&amp;b=2>`:                `https://x.test?a=1&b=2`,
		`see <http://x.test|x.test>!`:                 `see http://x.test!`,
		`<mailto:a@x.test|a@x.test> <tel:12|1 2>`:     `a@x.test 12`,
		`<@U5> <@U6|eve> <#C7|tea> <#C8>`:             `@U5 @eve #tea #C8`,
		`<!here> <!subteam^S1|@team> <!date^1^x|now>`: `@here @team now`,
		`<@UBOT> coupon`:                              `coupon`,
		`<@UAPP>, coupon`:                             `coupon`,
		`ask <@UBOT>`:                                 `ask @UBOT`,
	} {
		t.Run(told, func(t *testing.T) {
			t.Parallel()
			box := newInbox(t, charlie.Config{})
			event := document.O("type", "message", "channel", "D1", "user", "U1", "ts", "1.000100", "text", told)
			require.Equal(t, http.StatusOK, box.Ask(wrote("E1", event.String())).Code)
			require.Equal(t, want, box.Got[0].Event.Text())
		})
	}
}

func TestHandler_FilesAsMisc(t *testing.T) {
	t.Parallel()
	box := newInbox(t, charlie.Config{})
	box.Ask(wrote("E1", `{"type":"message","subtype":"file_share","channel":"D1","user":"U1","text":"look","ts":"1.0001","files":[`+
		`{"id":"F1","mimetype":"image/png","title":"cat","url_private":"https://x.test/cat.png"},`+
		`{"id":"F2","mimetype":"application/pdf","name":"a.pdf","url_private_download":"https://x.test/a.pdf"}]}`))
	event := box.Got[0].Event
	require.Equal(t, send.TypeMisc, event.Type)
	require.JSONEq(t, `{"attachments":[`+
		`{"type":"image","payload":{"url":"https://x.test/cat.png","attachment_id":"F1"},"title":"cat"},`+
		`{"type":"file","payload":{"url":"https://x.test/a.pdf","attachment_id":"F2"},"title":"a.pdf"}],"text":"look"}`, event.Data.String())
	box.Ask(wrote("E2", `{"type":"message","subtype":"file_share","channel":"D1","user":"U1","text":"","ts":"1.0002","files":[{"id":"F1"}]}`))
	require.Equal(t, []string{"attachments"}, box.Got[1].Event.Data.Keys())
}

func TestHandler_OnlyPeople(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		event, kind string
		reason      send.DropReason
	}{
		"the bot's own":     {`{"type":"message","channel":"D1","user":"UBOT","text":"x","ts":"1.1"}`, "message", send.DropFromBot},
		"the bot's by id":   {`{"type":"message","channel":"D1","user":"UAPP","text":"x","ts":"1.1"}`, "message", send.DropFromBot},
		"of another bot":    {`{"type":"message","channel":"D1","user":"U9","bot_id":"B9","text":"x","ts":"1.1"}`, "message", send.DropFromBot},
		"a bot's, formerly": {`{"type":"message","subtype":"bot_message","channel":"D1","text":"x","ts":"1.1"}`, "bot_message", send.DropFromBot},
		"a change": {
			`{"type":"message","subtype":"message_changed","channel":"D1","message":{"user":"U1","text":"x"},"ts":"1.1"}`,
			"message_changed", send.DropUnsupported,
		},
		"a removal":        {`{"type":"message","subtype":"message_deleted","channel":"D1","ts":"1.1"}`, "message_deleted", send.DropUnsupported},
		"a join":           {`{"type":"message","subtype":"channel_join","channel":"D1","user":"U1","text":"x","ts":"1.1"}`, "channel_join", send.DropUnsupported},
		"a reaction":       {`{"type":"reaction_added","user":"U1"}`, "reaction_added", send.DropUnsupported},
		"without a sender": {`{"type":"message","channel":"D1","text":"x","ts":"1.1"}`, "message", send.DropIncomplete},
		"without a place":  {`{"type":"message","user":"U1","text":"x","ts":"1.1"}`, "message", send.DropIncomplete},
		"no object":        {`[]`, "", send.DropUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := newInbox(t, charlie.Config{})
			require.Equal(t, http.StatusOK, box.Ask(wrote("E1", c.event)).Code)
			require.Empty(t, box.Got)
			require.Equal(t, []send.DropCount{{Platform: channel.Charlie, Kind: c.kind, Reason: c.reason, Count: 1}}, box.Drops.Counts())
		})
	}
}

func TestHandler_TapWithPayload(t *testing.T) {
	t.Parallel()
	for name, payload := range map[string]any{
		"a text":                      "book",
		"a number as text":            "12",
		"a text like an object":       `{"payload":"x"}`,
		"a quoted text":               `"x"`,
		"other JSON":                  `{"a":1}`,
		"an object":                   document.O("payload", "book", "value", document.O("seats", 2, "at", 1.5)),
		"an object without a value":   document.O("payload", "book"),
		"an object with other fields": document.O("payload", "book", "value", nil, "more", true),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTool()
			button := send.Raw(document.O("type", send.TypeButton, "text", "?", "buttons", document.A(
				document.O("type", "postback", "title", "Go", "payload", payload))))
			_, err := s.start(t).Send(t.Context(), to("C1", button))
			require.NoError(t, err)
			blocks, err := document.ParseJSON([]byte(s.sent(t, "C1").Get("blocks")))
			require.NoError(t, err)
			value := document.Get(blocks.(document.Array).At(1).(document.Object), "elements.0.value", "")

			box := newInbox(t, charlie.Config{})
			action := document.A(document.O("action_id", "button-0", "value", value, "action_ts", "1699999999.5"))
			require.Equal(t, http.StatusOK, box.Ask(tapped(action.String())).Code)
			require.Equal(t, []botctx.Inbound{{App: "app-1", Channel: "desk", Event: send.MessageEvent{
				From: "U1", To: "C1", Type: send.TypePayload, Data: document.O("payload", payload),
				Timestamp: 1699999999500, MessageID: "1699999999.000200",
				Unknown: document.O("responseUrl", "https://x.test/back"),
			}, Key: "tap C1 U1 1699999999.5  button-0"}}, box.Got)
		})
	}
}

func TestHandler_SeveralActions(t *testing.T) {
	t.Parallel()
	box := newInbox(t, charlie.Config{})
	require.Equal(t, http.StatusOK, box.Ask(tapped(`[{"action_id":"link","type":"button"},`+
		`{"action_id":"menu","selected_option":{"value":"tea"},"action_ts":"1.5"},`+
		`{"action_id":"new","type":"of_a_new_kind","selected_colours":["red",{"value":"{\"payload\":\"x\"}"}],"action_ts":"1.6"}]`)).Code)
	var payloads []string
	var values []any
	for _, received := range box.Got {
		payloads, values = append(payloads, received.Event.Payload()), append(values, received.Event.Value())
	}
	require.Equal(t, []string{"link", "tea", "new"}, payloads, "a button that opens an address tells its id")
	require.Equal(t, []any{document.A(), nil, document.A("red", `{"payload":"x"}`)}, values)
}

func TestHandler_StateOfFields(t *testing.T) {
	t.Parallel()
	box := newInbox(t, charlie.Config{})
	state := document.O("due", document.O("date", document.O("type", "datepicker", "selected_date", "2026-03-01")))
	require.Equal(t, http.StatusOK, box.Ask(interacted(document.O(
		"type", "block_actions", "channel", document.O("id", "C1"), "state", document.O("values", state),
		"actions", document.A(document.O("type", "button", "action_id", "button-0", "value", "done")),
	))).Code)
	require.Equal(t, document.O("payload", "done", "state", state), box.Got[0].Event.Data)
}

func TestHandler_InteractionOfNobody(t *testing.T) {
	t.Parallel()
	box := newInbox(t, charlie.Config{})
	for _, kind := range []string{"block_actions", "view_submission", "app_rate_limited"} {
		body := document.O("type", kind, "team_id", "T1", "actions", document.A(document.O("value", "go")))
		require.Equal(t, http.StatusOK, box.Ask(signed("application/json", body.String())).Code)
	}
	require.Empty(t, box.Got)
	require.Len(t, box.Drops.Counts(), 3)
	require.Equal(t, send.DropIncomplete, box.Drops.Counts()[0].Reason)
}

func TestSignature_OfTheTool(t *testing.T) {
	t.Parallel()
	const body = `{"type":"event_callback"}`
	r := signed("application/json", body)
	require.Equal(t, "v0=b52c6fcfcab356d5b4aba9decc3e858e95c29a82017da141d845c16dcdc884f0",
		r.Header.Get("X-Slack-Signature"), "what openssl dgst -sha256 -hmac gives for v0:1700000000: and the body")
}

// forged returns requests that are not signed by the tool, or not for a channel of this host.
func forged(context.Context) map[string]*http.Request {
	alter := func(change func(r *http.Request)) *http.Request {
		r := wrote("E1", hello)
		change(r)
		return r
	}
	body := `{"type":"event_callback","team_id":"T1","event_id":"E1","event":` + hello + `}`
	return map[string]*http.Request{
		"another body": alter(func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(strings.Replace(body, "hello", "hullo", 1)))
		}),
		"another time":      alter(func(r *http.Request) { r.Header.Set("X-Slack-Request-Timestamp", strconv.Itoa(noon+1)) }),
		"no time":           alter(func(r *http.Request) { r.Header.Del("X-Slack-Request-Timestamp") }),
		"no signature":      alter(func(r *http.Request) { r.Header.Del("X-Slack-Signature") }),
		"an empty one":      alter(func(r *http.Request) { r.Header.Set("X-Slack-Signature", "v0=") }),
		"no hexadecimal":    alter(func(r *http.Request) { r.Header.Set("X-Slack-Signature", "v0=zz") }),
		"no version":        alter(func(r *http.Request) { r.Header.Set("X-Slack-Signature", r.Header.Get("X-Slack-Signature")[3:]) }),
		"another version":   alter(func(r *http.Request) { r.Header.Set("X-Slack-Signature", "v1"+r.Header.Get("X-Slack-Signature")[2:]) }),
		"another secret":    signedAt(noon, "wrong", "application/json", body),
		"an empty secret":   signedAt(noon, "", "application/json", body),
		"long ago":          signedAt(noon-301, signingSecret, "application/json", body),
		"in the future":     signedAt(noon+301, signingSecret, "application/json", body),
		"another workspace": signed("application/json", strings.Replace(body, "T1", "T2", 1)),
	}
}

func TestHandler_ChannelWithoutSecret(t *testing.T) {
	t.Parallel()
	find := func(context.Context, charlie.Workspace) (*channel.Channel, error) {
		return &channel.Channel{ID: "desk", App: "app-1", Type: channel.Charlie}, nil
	}
	r := func() *http.Request {
		return signedAt(noon, "", "application/json", `{"type":"event_callback","event":`+hello+`}`)
	}
	none := newInbox(t, charlie.Config{FindChannel: find})
	require.Equal(t, http.StatusUnauthorized, none.Ask(r()).Code)
	require.Equal(t, []send.DropCount{{Platform: channel.Charlie, Kind: "request", Reason: send.DropNoSecret, Count: 1}}, none.Drops.Counts())
	shared := newInbox(t, charlie.Config{FindChannel: find, SigningSecret: channel.NewSecret(signingSecret)})
	require.Equal(t, http.StatusOK, shared.Ask(wrote("E1", hello)).Code, "the secret of all channels serves")
	require.Len(t, shared.Got, 1)
}

func TestHandler_KeyOfWhatIsRepeated(t *testing.T) {
	t.Parallel()
	box := newInbox(t, charlie.Config{})
	mention := strings.Replace(hello, `"message"`, `"app_mention"`, 1)
	const action = `[{"action_id":"button-0","value":"go","action_ts":"1.5"}]`
	for _, r := range []*http.Request{
		wrote("E1", hello), wrote("E1", hello), wrote("E2", mention),
		tapped(action), tapped(action), tapped(strings.Replace(action, "1.5", "1.6", 1)), tapped(strings.Replace(action, "button-0", "button-1", 1)),
	} {
		require.Equal(t, http.StatusOK, box.Ask(r).Code)
	}
	var keys []string
	for _, arrived := range box.Got {
		keys = append(keys, arrived.Key)
	}
	require.Len(t, keys, 7, "what is repeated is handed on: the inbox of a Runtime tells, in all processes")
	require.Equal(t, []string{keys[0], keys[0]}, keys[1:3], "the tool reports a mention as a message, too")
	require.Equal(t, keys[3], keys[4])
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(keys))), 4, "a message, a tap, a second tap, a tap elsewhere")
}

func TestHandler_ChecksTheAddress(t *testing.T) {
	t.Parallel()
	const body = `{"type":"url_verification","token":"x","challenge":"3eZbrw"}`
	for name, c := range map[string]struct {
		secret string
		signed *http.Request
		code   int
	}{
		"without a secret":  {"", signedAt(noon, "any", "application/json", body), http.StatusOK},
		"signed":            {signingSecret, signed("application/json", body), http.StatusOK},
		"signed by another": {signingSecret, signedAt(noon, "wrong", "application/json", body), http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			box := newInbox(t, charlie.Config{SigningSecret: channel.NewSecret(c.secret)})
			answer := box.Ask(c.signed)
			require.Equal(t, c.code, answer.Code)
			require.Equal(t, c.code == http.StatusOK, answer.Body.String() == "3eZbrw")
		})
	}
}

func TestHandler_RefusesOtherRequests(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]*http.Request{
		"no payload":       signed("application/x-www-form-urlencoded", "command=%2Fx"),
		"no form":          signed("application/x-www-form-urlencoded", "%zz"),
		"a long challenge": signed("application/json", `{"type":"url_verification","challenge":"`+strings.Repeat("x", 1001)+`"}`),
		"an empty one":     signed("application/json", `{"type":"url_verification"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, http.StatusBadRequest, newInbox(t, charlie.Config{}).Ask(request).Code)
		})
	}
}

func TestHandler_LikeAllHandlers(t *testing.T) {
	t.Parallel()
	receiver := connectortest.Receiver{
		Open: func(t *testing.T, lookUp connectortest.LookUp, bodyTime time.Duration) *connectortest.Box {
			t.Helper()
			box := connectortest.NewBox()
			box.Handler = connectortest.New(t, charlie.New, charlie.Config{
				FindChannel: connectortest.Find(lookUp, findT1), BodyTime: bodyTime, Now: clock, Drops: box.Drops, OnError: box.OnError,
			}).Handler(box.Accept)
			return box
		},
		Request: func(ctx context.Context, body string) *http.Request {
			return signed("application/json", body).WithContext(ctx)
		},
		Report:         `{"type":"event_callback","team_id":"T1","event":` + hello + `}`,
		NoReports:      []string{"{", "[]", "{}", strings.Repeat(`{"a":`, 100_000)},
		Forge:          func(r *http.Request) { r.Header.Del("X-Slack-Signature") },
		Forged:         forged,
		ReturnsInvalid: true,
	}
	receiver.Run(t)
}

func TestHandler_BodyAfterSignature(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	for name, body := range map[string]string{
		"arrays too deep":             `{"type":"event_callback","team_id":"T1","event":` + deep + `}`,
		"a workspace that is another": `{"type":"event_callback","team_id":"T1","event":{},"team_id":"T2"}`,
	} {
		box := newInbox(t, charlie.Config{})
		require.Equal(t, http.StatusBadRequest, box.Ask(signed("application/json", body)).Code, name)
		require.Equal(t, http.StatusUnauthorized, box.Ask(signedAt(noon, "another secret", "application/json", body)).Code, name)
	}
}

func TestHandler_OldRequestIsNotRead(t *testing.T) {
	t.Parallel()
	r := signedAt(noon-3600, signingSecret, "application/json", `{"type":"event_callback","team_id":"T1"}`)
	connectortest.RequireUnread(t, newInbox(t, charlie.Config{}), r, http.StatusUnauthorized)
}

func FuzzAnyReportIsAnswered(f *testing.F) {
	f.Add("application/json", `{"type":"event_callback","team_id":"T1","event":`+hello+`}`)
	f.Add("application/json", `{"type":"block_actions","team":{"id":"T1"},"user":{"id":"U1"},"channel":{"id":"C1"},"actions":[{"value":"x"}]}`)
	f.Add("application/x-www-form-urlencoded", "payload={}")
	f.Fuzz(func(t *testing.T, contentType, body string) {
		box := newInbox(t, charlie.Config{})
		require.Contains(t, []int{http.StatusOK, http.StatusBadRequest, http.StatusUnauthorized}, box.Ask(signed(contentType, body)).Code)
		box.RequireComplete(t)
	})
}

func clock() time.Time { return time.Unix(noon, 0) }

// The second of two taps in one request is refused, so the tool sends both again.
func TestHandler_PartOfARequestIsRefused(t *testing.T) {
	t.Parallel()
	box := newInbox(t, charlie.Config{})
	box.Refuse = func(in botctx.Inbound) error {
		if in.Event.Payload() == "2" {
			return errors.New("the store is gone")
		}
		return nil
	}
	const both = `[{"action_id":"a","value":"1","action_ts":"1.5"},{"action_id":"b","value":"2","action_ts":"1.5"}]`
	require.Equal(t, http.StatusInternalServerError, box.Ask(tapped(both)).Code)
	box.Refuse = nil
	require.Equal(t, http.StatusOK, box.Ask(tapped(both)).Code)
	require.Len(t, box.Got, 3)
	require.Equal(t, box.Got[0].Key, box.Got[1].Key, "the first is known by its key")
}
