package alpha_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/alpha"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/send"
)

// text returns a report of a member's message to a page.
func text(page, mid, text string) string {
	return fmt.Sprintf(`{"object":"page","entry":[{"id":%q,"time":1,"messaging":[{"sender":{"id":%q},"recipient":{"id":%q},`+
		`"timestamp":1700000000000,"message":{"mid":%q,"text":%q}}]}]}`, page, memberID, page, mid, text)
}

// recorded maps the names of the recorded reports to their events.
var recorded = map[string][]string{
	"text":                   {`app-1/shop TEXT 100>1900 at 1700000000000 id "m_1" {"text":"äöå hi"}`},
	"quick reply":            {`app-1/shop PAYLOAD 100>1900 at 2 id "m_2" {"text":"Yes","payload":"yes"}`},
	"postback with referral": {`app-1/shop PAYLOAD 100>1900 at 2 id "m_3" {"title":"Get Started","payload":"GET_STARTED","referral":{"ref":"spring","source":"SHORTLINK","type":"OPEN_THREAD"}}`},
	"attachments": {`app-1/shop MISC 100>1900 at 2 id "m_4" {"attachments":[{"type":"image","payload":{"url":"https://cdn.example/1.png","sticker_id":7}},` +
		`{"type":"location","payload":{"coordinates":{"lat":59.9,"long":10.7}}}]}`},
	"echo":     {`drop "echo" from_bot`}, // The host's own application sent it.
	"delivery": {`app-1/shop DELIVERY 100>1900 at 0 id "" {"mids":["m_5"],"watermark":1700000000500}`},
	"read":     {`app-1/shop READ 100>1900 at 2 id "" {"watermark":1700000000500}`},
	"opt-in":   {`app-1/shop OPTIN user_ref:u-1>1900 at 2 id "" {"ref":"r","user_ref":"u-1"}`},
	"referral": {`app-1/shop REFERRAL 100>1900 at 2 id "" {"ref":"spring","source":"ADS","type":"OPEN_THREAD","ad_id":"6"}`},
	"reaction": {`app-1/shop MISC 100>1900 at 2 id "" {"reaction":{"mid":"m_5","action":"react","reaction":"love","emoji":"❤"}}`},
	"pass_thread_control": {
		`app-1/shop MISC 100>1900 at 2 id "" {"pass_thread_control":{"previous_owner_app_id":"123","new_owner_app_id":"456","metadata":"m"}}`,
	},
	"standby": {`drop "standby" unsupported`},
	"comment on a post (feed)": {
		`app-1/shop COMMENT 200>1900 at 1700000000000 id "1900_77_88" {"text":"Price?","post_id":"1900_77","comment_id":"1900_77_88",` +
			`"from":{"id":"200","name":"Ada"},"parent_id":"1900_77"}`,
	},
	"two entries, three events": {
		`app-1/shop TEXT 100>1900 at 2 id "m_7" {"text":"one"}`, `app-1/shop TEXT 101>1900 at 3 id "m_8" {"text":"two"}`,
		`drop "entry" invalid`, // The desk uses another application.
	},
	"Payload.json":                         {`any/page TEXT 0>0 at 2222222 id "AAAA-BBBB-CCCC" {"text":"text"}`},
	"PayloadWithPassThreadControl.json":    {`any/page MISC fakeId>fakeId at 1572630578783 id "" {"pass_thread_control":{"new_owner_app_id":1234567890,"metadata":"Pass thread control"}}`},
	"PayloadWithReferral.json":             {`any/page REFERRAL 0>0 at 2222222 id "" {"ref":"USER_DEFINED_REFERRAL_PARAM","source":"SHORTLINK","type":"OPEN_THREAD"}`},
	"PayloadWithRequestThreadControl.json": {`any/page MISC fakeId>fakeId at 1572630401588 id "" {"request_thread_control":{"requested_owner_app_id":1234567890,"metadata":null}}`},
	"PayloadWithStandby.json":              {`any/page TEXT 0>0 at 2222222 id "AAAA-BBBB-CCCC" {"text":"text"}`, `drop "standby" unsupported`},
	"PayloadWithTakeThreadControl.json": {
		`any/page MISC fakeId>fakeId at 1572630386105 id "" {"take_thread_control":{"previous_owner_app_id":1234567890,"metadata":"Take thread control from a secondary receiver"}}`,
	},
	"RequestResponse.json": {
		`any/page TEXT 123123123>123123123 at 1570649960249 id "Q3znCzp31iKkarGcToiQWSJGtmSVjUPs7GtwB7WEjVRcg9MxG8TT09Z0wimdrcCHxQCRpMSKZcHBthhqXsonoA" {"text":"asd"}`,
	},
}

// findAny knows the pages of the tests, and returns a third channel for every other id.
func findAny(ctx context.Context, pageID string) (*channel.Channel, error) {
	if in, err := find(ctx, pageID); err == nil {
		return in, nil
	}
	return &channel.Channel{ID: "page", App: "any", Type: channel.Alpha, Info: channel.AlphaInfo{PageID: pageID}}, nil
}

func TestHandler_RecordedReports(t *testing.T) {
	t.Parallel()
	var samples []struct {
		Name string
		Body json.RawMessage
	}
	connectortest.Facts(t, "alpha", filepath.Join("own", "webhook-samples.json"), &samples)
	bodies := map[string]json.RawMessage{}
	for _, sample := range samples {
		bodies[sample.Name] = sample.Body
	}
	for name := range recorded {
		if strings.HasSuffix(name, ".json") {
			var body json.RawMessage
			connectortest.Facts(t, "alpha", filepath.Join("botbuilder-dotnet", name), &body)
			bodies[name] = body
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(recorded)), slices.Collect(maps.Keys(bodies)), "each report has its events in the table")
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, findAny)
			require.Equal(t, http.StatusOK, b.report(t.Context(), appSecret, string(body)))
			require.Equal(t, recorded[name], b.Lines(1))

			forged := newBox(t, findAny)
			require.Equal(t, http.StatusUnauthorized, forged.report(t.Context(), "another secret", string(body)))
			request := graphtest.Report(t.Context(), "/alpha", appSecret, body)
			request.Body = io.NopCloser(strings.NewReader(string(body[:len(body)-1])))
			require.Equal(t, http.StatusUnauthorized, forged.Ask(request).Code, "a report that was cut")
			require.Empty(t, forged.Lines(1))
		})
	}
}

func TestHandler_EscapedCharactersAreSignedAsTheyCame(t *testing.T) {
	t.Parallel()
	b := newBox(t, find)
	body := strings.Replace(text("1900", "m1", "x"), `"x"`, `"\u00e4\u2764 \/"`, 1)
	require.Equal(t, http.StatusOK, b.report(t.Context(), appSecret, body))
	require.Equal(t, "ä❤ /", b.Got[0].Event.Text())
}

func TestHandler_AnsweredLikeTheBotsOwnPayload(t *testing.T) {
	t.Parallel()
	b := newBox(t, find)
	body := `{"object":"page","entry":[{"id":"1900","messaging":[{"sender":{"id":"100"},"timestamp":"1700000000",` +
		`"postback":{"title":"Yes","payload":"{\"payload\":\"book\",\"value\":2}"}}]}]}`
	require.Equal(t, http.StatusOK, b.report(t.Context(), appSecret, body))
	event := b.Got[0].Event
	require.Equal(t, "book", event.Payload())
	require.EqualValues(t, 2, event.Value())
	require.EqualValues(t, 1700000000000, event.Timestamp, "a text of seconds")
	require.Equal(t, "1900", event.To)
}

func TestHandler_PreviewOfALink(t *testing.T) {
	t.Parallel()
	const preview = `{"type":"fallback","title":"Tea","url":"https://x.test","payload":null}`
	for message, want := range map[string]string{
		`"text":"see https://x.test","attachments":[` + preview + `]`: `TEXT 100>1900 at 0 id "m1" {"text":"see https://x.test","previews":[` + preview + `]}`,
		`"attachments":[` + preview + `]`:                             `MISC 100>1900 at 0 id "m1" {"attachments":[` + preview + `]}`,
		`"text":"x","attachments":[{"type":"image"},` + preview + `]`: `MISC 100>1900 at 0 id "m1" {"text":"x","attachments":[{"type":"image"},` + preview + `]}`,
	} {
		b := newBox(t, find)
		body := `{"object":"page","entry":[{"id":"1900","messaging":[{"sender":{"id":"100"},"message":{"mid":"m1",` + message + `}}]}]}`
		require.Equal(t, http.StatusOK, b.report(t.Context(), appSecret, body))
		require.Equal(t, []string{"app-1/shop " + want}, b.Lines(1))
	}
}

func TestHandler_Echoes(t *testing.T) {
	t.Parallel()
	body := `{"object":"page","entry":[{"id":"1900","messaging":[{"sender":{"id":"1900"},"recipient":{"id":"100"},"timestamp":2,` +
		`"message":{"is_echo":true,"app_id":%s,"mid":"m_5","text":"Hello"}}]}]}`
	b := newBox(t, find)
	require.Equal(t, http.StatusOK, b.report(t.Context(), appSecret, fmt.Sprintf(body, "263902037430900")))
	require.Equal(t, []string{`app-1/shop ECHO 1900>100 at 2 id "m_5" {"app_id":263902037430900,"text":"Hello"}`}, b.Lines(1))
	require.Equal(t, http.StatusOK, b.report(t.Context(), appSecret, fmt.Sprintf(body, "15")))
	require.EqualValues(t, 1, b.Dropped("echo", send.DropFromBot))
}

func TestHandler_DropsWhatThePageDid(t *testing.T) {
	t.Parallel()
	b := newBox(t, find)
	comment := `{"object":"page","entry":[{"id":"1900","changes":[{"field":"feed","value":{"item":%q,"verb":%q,"from":{"id":%q},"message":"Hi"}}]}]}`
	for _, one := range [][3]string{{"comment", "add", "1900"}, {"comment", "edited", "200"}, {"like", "add", "200"}, {"comment", "add", ""}} {
		require.Equal(t, http.StatusOK, b.report(t.Context(), appSecret, fmt.Sprintf(comment, one[0], one[1], one[2])))
	}
	require.Equal(t, []string{
		`drop "feed comment add" from_bot`, `drop "feed comment add" incomplete`, `drop "feed comment edited" unsupported`, `drop "feed like add" unsupported`,
	}, b.Lines(1))
}

func TestHandler_ApplicationsOfSeveralChannels(t *testing.T) {
	t.Parallel()
	both := `{"object":"page","entry":[{"id":"1901","messaging":[{"sender":{"id":"100"},"message":{"mid":"m1","text":"to the desk"}}]},` +
		`{"id":"1900","messaging":[{"sender":{"id":"100"},"message":{"mid":"m2","text":"to the shop"}}]},` +
		`{"id":"1902","messaging":[{"sender":{"id":"100"},"message":{"mid":"m3","text":"to nobody"}}]}]}`
	b := newBox(t, find)
	require.Equal(t, http.StatusOK, b.report(t.Context(), ownSecret, both))
	require.Equal(t, []string{
		`app-2/desk TEXT 100>1901 at 0 id "m1" {"text":"to the desk"}`, `drop "entry" invalid`, `drop "entry" no_channel`,
	}, b.Lines(1), "the desk's application must not report for the shop")
	require.Equal(t, http.StatusUnauthorized, b.report(t.Context(), ownSecret, text("1900", "m4", "hi")))
	require.Equal(t, http.StatusUnauthorized, b.report(t.Context(), "", text("1900", "m4", "hi")), "an empty secret signs nothing")
}

// An application may report for a page that is no longer a channel. The page in the address identifies the application.
func TestHandler_ApplicationOfTheAddress(t *testing.T) {
	t.Parallel()
	both := `{"object":"page","entry":[{"id":"1902","messaging":[{"sender":{"id":"100"},"message":{"mid":"m1","text":"to nobody"}}]},` +
		`{"id":"1901","messaging":[{"sender":{"id":"100"},"message":{"mid":"m2","text":"to the desk"}}]}]}`
	for address, status := range map[string]int{
		"/alpha?account=1901": http.StatusOK, "/alpha?account=1902": http.StatusUnauthorized, "/alpha": http.StatusUnauthorized,
	} {
		b := newBox(t, find)
		require.Equal(t, status, b.Ask(graphtest.Report(t.Context(), address, ownSecret, []byte(both))).Code, address)
		if status == http.StatusOK {
			require.Equal(t, []string{`app-2/desk TEXT 100>1901 at 0 id "m2" {"text":"to the desk"}`, `drop "entry" no_channel`}, b.Lines(1))
		}
	}
}

// If the store does not answer, each event fails only after a long wait. The handler therefore skips the rest of the
// report, which the platform sends again.
func TestHandler_StoreDoesNotAnswer(t *testing.T) {
	t.Parallel()
	var asked []string
	b := newBox(t, func(ctx context.Context, page string) (*channel.Channel, error) {
		asked = append(asked, page)
		return find(ctx, page)
	})
	b.Refuse = func(botctx.Inbound) error { return boterr.New(boterr.Canceled, "", "the store did not answer") }
	require.Equal(t, http.StatusServiceUnavailable, b.report(t.Context(), appSecret, `{"object":"page","entry":[{"id":"1900","messaging":[`+
		`{"sender":{"id":"100"},"message":{"mid":"m1","text":"hi"}},{"sender":{"id":"101"},"message":{"mid":"m2","text":"hi"}}]},`+
		`{"id":"1901","messaging":[{"sender":{"id":"100"},"message":{"mid":"m3","text":"hi"}}]}]}`))
	require.Len(t, b.Errs, 1)
	require.Equal(t, []string{"1900"}, asked)
}

func TestHandler_RepeatsHaveTheSameKeys(t *testing.T) {
	t.Parallel()
	b := newBox(t, find)
	body := `{"object":"page","entry":[{"id":"1900","messaging":[{"sender":{"id":"100"},"delivery":{"watermark":5}},` +
		`{"sender":{"id":"101"},"delivery":{"watermark":5}},{"sender":{"id":"100"},"read":{"watermark":5}},` +
		`{"sender":{"id":"100"},"timestamp":7,"reaction":{"mid":"m"}},{"sender":{"id":"100"},"timestamp":8,"reaction":{"mid":"m"}}]}]}`
	require.Equal(t, http.StatusOK, b.report(t.Context(), appSecret, body))
	require.Equal(t, http.StatusOK, b.report(t.Context(), appSecret, body))
	b.RequireKeys(t, 5, 2)
}

func TestHandler_LikeAllHandlers(t *testing.T) {
	t.Parallel()
	receiver := connectortest.Receiver{
		Open: func(t *testing.T, lookUp connectortest.LookUp, bodyTime time.Duration) *connectortest.Box {
			t.Helper()
			return timedBox(t, connectortest.Find(lookUp, find), bodyTime).Box
		},
		Request: func(ctx context.Context, body string) *http.Request {
			return graphtest.Report(ctx, "/alpha", ownSecret, []byte(body))
		},
		Report:   text("1901", "m1", "hi"),
		MaxBytes: 4 << 20,
		Forged: func(ctx context.Context) map[string]*http.Request {
			report := func(header, signature string) *http.Request {
				r := graphtest.Report(ctx, "/alpha", appSecret, []byte(text("1900", "m1", "hi")))
				if signature == "" {
					signature = r.Header.Get("X-Hub-Signature-256")
				}
				r.Header.Del("X-Hub-Signature-256")
				r.Header.Set(header, signature)
				return r
			}
			return map[string]*http.Request{
				"empty": report("X-Hub-Signature-256", "sha256="), "no hexadecimal": report("X-Hub-Signature-256", "sha256=zz"),
				"zeros": report("X-Hub-Signature-256", "sha256="+strings.Repeat("0", 64)), "the older header": report("X-Hub-Signature", ""),
				"of another kind": report("X-Hub-Signature-256", "sha1="+strings.Repeat("0", 40)),
			}
		},
		Several: func(senders ...string) string {
			var items []string
			for i, from := range senders {
				items = append(items, fmt.Sprintf(`{"sender":{"id":%q},"message":{"mid":"m%d","text":"hi"}}`, from, i+1))
			}
			return `{"object":"page","entry":[{"id":"1901","messaging":[` + strings.Join(items, ",") + `]}]}`
		},
		Forge:    func(r *http.Request) { r.Header.Set("X-Hub-Signature-256", "sha256=zz") },
		Unusable: map[string]channel.Info{"no secret": channel.AlphaInfo{PageID: "1901", CustomApp: true}},
	}
	receiver.Run(t)
}

func TestHandler_LookUpForTheCheckFails(t *testing.T) {
	t.Parallel()
	b := newBox(t, func(context.Context, string) (*channel.Channel, error) { return nil, errors.New("no database") })
	require.Equal(t, http.StatusServiceUnavailable, b.Ask(graphtest.Check(t.Context(), "/alpha?account=1901", ownWord, "7")).Code)
}

// If a page cannot be looked up, a later part of the report for the same page does not overtake the first one.
func TestHandler_LookUpFailsOnce(t *testing.T) {
	t.Parallel()
	isDown := true
	b := newBox(t, func(ctx context.Context, pageID string) (*channel.Channel, error) {
		if isDown {
			isDown = false
			return nil, errors.New("no database")
		}
		return find(ctx, pageID)
	})
	entry := `{"id":"1900","messaging":[{"sender":{"id":"100"},"message":{"mid":"m%d","text":"hi"}}]}`
	report := fmt.Sprintf(`{"object":"page","entry":[`+entry+","+entry+"]}", 1, 2)
	require.Equal(t, http.StatusServiceUnavailable, b.report(t.Context(), appSecret, report))
	require.Equal(t, http.StatusOK, b.report(t.Context(), appSecret, report))
	require.Len(t, b.Got, 2)
	require.Equal(t, "m1", b.Got[0].Event.MessageID)
}

func TestHandler_AnswersTheCheck(t *testing.T) {
	t.Parallel()
	b := newBox(t, find)
	for _, c := range []struct {
		address, token, challenge string
		status                    int
	}{
		{"/alpha", verifyToken, "1158201444", http.StatusOK},
		{"/alpha?account=1901", ownWord, "1158201444", http.StatusOK},
		{"/alpha?account=1900", verifyToken, "1158201444", http.StatusOK},
		{"/alpha", ownWord, "1158201444", http.StatusForbidden},
		{"/alpha", "", "1158201444", http.StatusForbidden},
		{"/alpha", verifyToken, "", http.StatusForbidden},
		{"/alpha", verifyToken, strings.Repeat("7", 1001), http.StatusForbidden},
		{"/alpha?account=1901", verifyToken, "1158201444", http.StatusForbidden},
		{"/alpha?account=1902", verifyToken, "1158201444", http.StatusForbidden},
	} {
		answer := b.Ask(graphtest.Check(t.Context(), c.address, c.token, c.challenge))
		require.Equal(t, c.status, answer.Code, "%+v", c)
		if c.status == http.StatusOK {
			require.Equal(t, c.challenge, answer.Body.String())
			require.Equal(t, "text/plain; charset=utf-8", answer.Header().Get("Content-Type"))
		}
	}
	request := graphtest.Check(t.Context(), "/alpha", verifyToken, "1")
	request.URL.RawQuery = strings.Replace(request.URL.RawQuery, "subscribe", "unsubscribe", 1)
	require.Equal(t, http.StatusForbidden, b.Ask(request).Code)
	none := connectortest.New(t, alpha.New, alpha.Config{}).Handler(nil)
	answer := httptest.NewRecorder()
	none.ServeHTTP(answer, graphtest.Check(t.Context(), "/alpha", "", "1"))
	require.Equal(t, http.StatusForbidden, answer.Code, "without a token no check succeeds")
}

func TestHandler_WithoutSecrets(t *testing.T) {
	t.Parallel()
	b := newBox(t, find)
	b.Handler = connectortest.New(t, alpha.New, alpha.Config{FindChannel: find, Drops: b.Drops}).Handler(b.Accept)
	require.Equal(t, http.StatusUnauthorized, b.report(t.Context(), appSecret, text("1900", "m1", "hi")))
	for _, address := range []string{"/alpha", "/alpha?account=1900"} {
		require.Equal(t, http.StatusForbidden, b.Ask(graphtest.Check(t.Context(), address, "", "1")).Code)
	}
	require.EqualValues(t, 3, b.Dropped("request", send.DropNoSecret))
}

func FuzzHandler(f *testing.F) {
	for name := range recorded {
		f.Add(name)
	}
	f.Add(text("1900", "m1", "hi"))
	f.Add(`{"object":"page","entry":[{"id":"1900","messaging":[{"sender":{"id":"100"},"message":7,"postback":[],"delivery":{"mids":{}}}]}]}`)
	f.Add(`{"object":"page","entry":[{"id":"1900","changes":[{"field":"feed","value":{"item":"comment","verb":"add","from":{"id":"1"},"created_time":1e300}}]}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		b := newBox(t, find)
		status := b.report(context.Background(), appSecret, body)
		require.Contains(t, []int{http.StatusOK, http.StatusBadRequest}, status)
		b.RequireComplete(t)
	})
}
