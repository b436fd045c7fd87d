package echo_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/echofake"
	"github.com/botctx/go-sdk/send"
)

const (
	wrote    = "fromUser>toUser at %d id \"1234567890123456\" "
	happened = "FromUser>toUser at 123456789 id \"\" "
)

// recorded has the names of the recorded reports and their events, in order.
var recorded = [][2]string{
	{"text_message", "TEXT " + fmt.Sprintf(wrote, 1348831860) + `{"text":"this is a test"}`},
	{"image_message", "MISC " + fmt.Sprintf(wrote, 1348831860) + `{"attachments":[{"type":"image","payload":{"attachment_id":"media_id","url":"this is a url"}}]}`},
	{"voice_message", "MISC " + fmt.Sprintf(wrote, 1357290913) + `{"attachments":[{"type":"audio","payload":{"attachment_id":"media_id","format":"Format"}}]}`},
	{"video_message", "MISC " + fmt.Sprintf(wrote, 1357290913) + `{"attachments":[{"type":"video","payload":{"attachment_id":"media_id","thumb_media_id":"thumb_media_id"}}]}`},
	{"location_message", "MISC " + fmt.Sprintf(wrote, 1351776360) + `{"attachments":[{"type":"location","payload":{"coordinates":{"lat":23.134521,"long":113.358803}}}],"text":"位置信息"}`}, //nolint:gosmopolitan // The recorded report is in Chinese.
	{"link_message", "MISC " + fmt.Sprintf(wrote, 1351776360) + `{"attachments":[{"type":"link","payload":{"url":"url","title":"公众平台官网链接"}}],"text":"公众平台官网链接"}`},                        //nolint:gosmopolitan // The recorded report is in Chinese.
	{"subscribe_event", "REFERRAL " + happened + `{"source":"subscribe"}`},
	{"subscribe_event_with_last_trade_no", "REFERRAL " + happened + `{"source":"subscribe","ref":"last_trade_no_4008072001201701105817415015"}`},
	{"subscribe_scan_event", "REFERRAL " + happened + `{"source":"subscribe","ref":"123123","ticket":"TICKET"}`},
	{"scan_event", "REFERRAL " + happened + `{"source":"scan","ref":"123123","ticket":"TICKET"}`},
	{"location_event", "MISC " + `fromUser>toUser at 123456789 id "" ` + `{"event":{"Event":"LOCATION","Latitude":"23.137466","Longitude":"113.352425","Precision":"119.385040"}}`},
	{"click_event", "PAYLOAD " + happened + `{"payload":"EVENTKEY"}`},
	{"view_event", "WEB_EVENT " + happened + `{"url":"www.qq.com"}`},
	{"unknown_message", "MISC " + fmt.Sprintf(wrote, 1348831860) + `{"message":{"MsgType":"notsure"}}`},
	{"subscribe_scan_product_event", `REFERRAL otAzGjrS4AYCmeJM1GhEOcHXXTAo>gh_fbe8a958756e at 1433259128 id "" {"source":"subscribe","ref":"scanbarcode|keystandard|keystr"}`},
	{"subscribe_scan_product_event", `REFERRAL otAzGjrS4AYCmeJM1GhEOcHXXTAo>gh_fbe8a958756e at 1433259128 id "" {"source":"subscribe","ref":"scanimage|keystandard|keystr"}`},
	{
		"user_authorize_invoice_event", `MISC oZI8Fj040-be6rlDohc6gkoPOQTQ>gh_fc0a06a20993 at 1475134700 id "" ` +
			`{"event":{"Event":"user_authorize_invoice","SuccOrderId":"1202933957956","FailOrderId":"","AppId":"wx1234567887654321","Source":""}}`,
	},
	{
		"update_invoice_status_event", `MISC ojZ8Ytz4lESgdWZ34L_R1TvB2Kds>gh_9e1765b5568e at 1478068440 id "" ` +
			`{"event":{"Event":"update_invoice_status","Status":"INVOICE_REIMBURSE_INIT","CardId":"pjZ8Yt7Um2jYxzneP8GomnxoVFWo","Code":"186921658591"}}`,
	},
	{
		"submit_invoice_title_event", `MISC oZI8Fj040-be6rlDohc6gkoPOQTQ>gh_fc0a06a20993 at 1475134700 id "" ` +
			`{"event":{"Event":"submit_invoice_title","title":"样例公司抬头","tax_no":"1486715661","addr":"abc","phone":"13313331333",` + //nolint:gosmopolitan // The recorded report is in Chinese.
			`"bank_type":"bt","bank_no":"bn","attach":"at","title_type":"InvoiceUserTitleBusinessType"}}`,
	},
	{
		"device_text_event", "MISC " + fmt.Sprintf(wrote, 1348831860) +
			`{"message":{"MsgType":"device_text","OpenID":"123","DeviceID":"123","DeviceType":"123","SessionID":"123","Content":"MTIz"}}`,
	},
	{
		"device_bind_event", "MISC " + fmt.Sprintf(wrote, 1348831860) +
			`{"message":{"MsgType":"device_event","Event":"bind","OpenID":"123","DeviceID":"123","DeviceType":"123","SessionID":"123","Content":"MTIz"}}`,
	},
}

func TestHandler_RecordedReports(t *testing.T) {
	t.Parallel()
	var samples []struct{ Name, XML string }
	connectortest.Facts(t, "echo", "messages.json", &samples)
	require.Len(t, samples, len(recorded), "each report has its event in the table")
	for i, sample := range samples {
		require.Equal(t, recorded[i][0], sample.Name)
		t.Run(fmt.Sprintf("%d %s", i, sample.Name), func(t *testing.T) {
			t.Parallel()
			compatible := shopWebhook
			compatible.IsCompatible = true
			for mode, c := range map[string]struct {
				webhook       echofake.Webhook
				account, from string
			}{
				"safe": {shopWebhook, "gh_shop", "app-1/shop "}, "compatible": {compatible, "gh_shop", "app-1/shop "},
				"plain": {deskWebhook, "gh_desk", "app-2/desk "},
			} {
				b := newBox(t, find)
				answer := b.Ask(c.webhook.Report(t.Context(), "/echo/"+c.account, noon(), sample.XML))
				require.Equal(t, http.StatusOK, answer.Code)
				require.Equal(t, "success", answer.Body.String())
				require.Equal(t, []string{c.from + recorded[i][1]}, b.Lines(1000), mode)
			}
		})
	}
}

// forged returns requests that are not signed for an account of this host.
func forged(ctx context.Context) map[string]*http.Request {
	text := echofake.Text(ada, "gh_shop", "7", noon(), "hi")
	otherToken, otherKey, otherApp, plain := shopWebhook, shopWebhook, shopWebhook, shopWebhook
	otherToken.Token, otherApp.AppID, plain.Key = "another", deskApp, ""
	otherKey.Key = strings.Repeat("a", 43)
	report := func(of echofake.Webhook, account string, at time.Time, change func(r *http.Request)) *http.Request {
		r := of.Report(ctx, "/echo/"+account, at, text)
		if change != nil {
			change(r)
		}
		return r
	}
	without := func(name string) func(r *http.Request) {
		return func(r *http.Request) {
			query := r.URL.Query()
			query.Del(name)
			r.URL.RawQuery = query.Encode()
		}
	}
	return map[string]*http.Request{
		"another token":                  report(otherToken, "gh_shop", noon(), nil),
		"another key":                    report(otherKey, "gh_shop", noon(), nil),
		"another application":            report(otherApp, "gh_shop", noon(), nil),
		"a plain one for a key":          report(plain, "gh_shop", noon(), nil),
		"an old one":                     report(shopWebhook, "gh_shop", noon().Add(-6*time.Minute), nil),
		"one from the future":            report(shopWebhook, "gh_shop", noon().Add(6*time.Minute), nil),
		"another account":                report(shopWebhook, "gh_desk", noon(), nil),
		"an unknown account":             report(shopWebhook, "gh_none", noon(), nil),
		"no signature":                   report(shopWebhook, "gh_shop", noon(), without("signature")),
		"no signature of the message":    report(shopWebhook, "gh_shop", noon(), without("msg_signature")),
		"no time":                        report(shopWebhook, "gh_shop", noon(), without("timestamp")),
		"no nonce":                       report(shopWebhook, "gh_shop", noon(), without("nonce")),
		"an encrypted one without a key": report(echofake.Webhook{Token: deskWebhook.Token, Key: aesKey, AppID: deskApp}, "gh_desk", noon(), nil),
	}
}

func TestHandler_EncryptedReportWithoutAKey(t *testing.T) {
	t.Parallel()
	b := newBox(t, find)
	require.Equal(t, http.StatusUnauthorized, b.Ask(forged(t.Context())["an encrypted one without a key"]).Code)
	require.Equal(t, []string{`drop "request" no_secret`}, b.Lines(1000))
}

// In the compatible mode only the encrypted part is read, because the plain part is not signed.
func TestHandler_CompatibleReportIsReadEncrypted(t *testing.T) {
	t.Parallel()
	compatible := shopWebhook
	compatible.IsCompatible = true
	r := compatible.Report(t.Context(), "/echo/gh_shop", noon(), echofake.Text(ada, "gh_shop", "7", noon(), "hi"))
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	changed := strings.Replace(string(body), "[hi]", "[forged]", 1)
	require.Contains(t, changed, "forged")
	r.Body = io.NopCloser(strings.NewReader(changed))
	b := newBox(t, find)
	require.Equal(t, http.StatusOK, b.Ask(r).Code)
	require.Equal(t, "hi", b.Got[0].Event.Text())
}

func TestHandler_RefusesOtherBodies(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"nothing": "", "no XML": "{}", "cut": "<xml><A>1</A>", "another root": "<html><A>1</A></html>", "a text": "<xml>1</xml>",
		"two": "<xml><A>1</A></xml><xml/>", "deep": "<xml>" + strings.Repeat("<a>", 20) + strings.Repeat("</a>", 20) + "</xml>",
		"an entity": `<!DOCTYPE x [<!ENTITY e "1">]><xml><A>&e;</A></xml>`,
	} {
		b := newBox(t, find)
		require.Equal(t, http.StatusBadRequest, b.Ask(deskWebhook.Report(t.Context(), "/echo/gh_desk", noon(), body)).Code, name)
		require.EqualValues(t, 1, b.Dropped("report", send.DropInvalid), name)
	}
}

// The work for a report grows with its length, however often an element is repeated.
func TestHandler_ManyElements(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	allocated := func(elements int) uint64 {
		b := newBox(t, find)
		body := "<xml><FromUserName>oAda</FromUserName><MsgType>odd</MsgType>" + strings.Repeat("<a/>", elements) + "</xml>"
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.Equal(t, http.StatusOK, b.Ask(deskWebhook.Report(t.Context(), "/echo/gh_desk", noon(), body)).Code)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, allocated(8000), 8*allocated(2000))
}

func TestHandler_AnswersTheCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		webhook echofake.Webhook
		account string
		text    string
		status  int
	}{
		"with a key":     {shopWebhook, "gh_shop", "5927782489442352469", http.StatusOK},
		"without a key":  {deskWebhook, "gh_desk", "5927782489442352469", http.StatusOK},
		"another token":  {deskWebhook, "gh_shop", "1", http.StatusUnauthorized},
		"no account":     {shopWebhook, "gh_none", "1", http.StatusUnauthorized},
		"no text":        {shopWebhook, "gh_shop", "", http.StatusBadRequest},
		"too long a one": {shopWebhook, "gh_shop", strings.Repeat("7", 1001), http.StatusBadRequest},
	} {
		answer := newBox(t, find).Ask(c.webhook.Check(t.Context(), "/echo/"+c.account, noon(), c.text))
		require.Equal(t, c.status, answer.Code, name)
		if c.status == http.StatusOK {
			require.Equal(t, c.text, answer.Body.String())
			require.Equal(t, "text/plain; charset=utf-8", answer.Header().Get("Content-Type"))
		}
	}
}

func TestHandler_WordsOfARecording(t *testing.T) {
	t.Parallel()
	b := newBox(t, find)
	report := "<xml><ToUserName>gh_shop</ToUserName><FromUserName>oAda</FromUserName><CreateTime>1</CreateTime><MsgType>voice</MsgType>" +
		"<MediaId>m1</MediaId><Format>amr</Format><Recognition>tea</Recognition><MsgId>7</MsgId></xml>"
	require.Equal(t, http.StatusOK, b.Ask(shopWebhook.Report(t.Context(), "/echo/gh_shop", noon(), report)).Code)
	require.Equal(t, "tea", document.Get(b.Got[0].Event.Data, "text", ""))
}

func TestHandler_DeliveryOfATemplate(t *testing.T) {
	t.Parallel()
	b := newBox(t, find)
	report := echofake.Event(ada, "gh_shop", noon(), "TEMPLATESENDJOBFINISH", "<MsgID>200163836</MsgID><Status>failed:user block</Status>")
	require.Equal(t, http.StatusOK, b.Ask(shopWebhook.Report(t.Context(), "/echo/gh_shop", noon(), report)).Code)
	require.Equal(t, []string{`app-1/shop DELIVERY oAda>gh_shop at 1700060400 id "" {"mids":["200163836"],"status":"failed:user block"}`}, b.Lines(1000))
}

func TestHandler_RepeatsHaveTheSameKeys(t *testing.T) {
	t.Parallel()
	b := newBox(t, find)
	var reports []string
	for _, from := range []string{ada, bob} {
		reports = append(reports, echofake.Text(from, "gh_shop", "id of "+from, noon(), "hi"),
			echofake.Event(from, "gh_shop", noon(), "CLICK", "<EventKey>a</EventKey>"),
			echofake.Event(from, "gh_shop", noon(), "CLICK", "<EventKey>b</EventKey>"),
			echofake.Event(from, "gh_shop", noon().Add(time.Second), "CLICK", "<EventKey>a</EventKey>"),
			echofake.Event(from, "gh_shop", noon(), "subscribe", ""), echofake.Event(from, "gh_shop", noon(), "unsubscribe", ""))
	}
	for _, body := range slices.Concat(reports, reports) {
		require.Equal(t, http.StatusOK, b.Ask(shopWebhook.Report(t.Context(), "/echo/gh_shop", noon(), body)).Code)
	}
	b.RequireKeys(t, len(reports), 2)
}

func TestHandler_LikeAllHandlers(t *testing.T) {
	t.Parallel()
	receiver := connectortest.Receiver{
		NotFound: http.StatusNotFound,
		Open: func(t *testing.T, lookUp connectortest.LookUp, bodyTime time.Duration) *connectortest.Box {
			t.Helper()
			return timedBox(t, connectortest.Find(lookUp, find), bodyTime)
		},
		Request: func(ctx context.Context, body string) *http.Request {
			return deskWebhook.Report(ctx, "/echo/gh_desk", noon(), body)
		},
		Report: echofake.Text(ada, "gh_desk", "7", noon(), "hi"), NoReports: []string{"", "{}", "<xml><A>1</A>"},
		Forge: func(r *http.Request) { r.URL.RawQuery = "" }, Forged: forged,
		Unusable: map[string]channel.Info{
			"another type": channel.DeltaInfo{}, "no token": channel.EchoInfo{AppID: deskApp},
			"a wrong key": channel.EchoInfo{AppID: deskApp, Further: channel.Further{
				Unknown: channel.Hide(document.O("token", deskWebhook.Token, "encodingAESKey", "short")),
			}},
		},
	}
	receiver.Run(t)
}

func FuzzHandler(f *testing.F) {
	f.Add(echofake.Tapped(echofake.Text(ada, "gh_desk", "7", noon(), "hi"), "a"))
	f.Add(echofake.Event(ada, "gh_desk", noon(), "CLICK", "<EventKey>{}</EventKey>"))
	f.Add("<xml><MsgType><A/></MsgType><FromUserName>1</FromUserName><FromUserName>2</FromUserName></xml>")
	f.Add("<xml><FromUserName>1</FromUserName><MsgType>location</MsgType><Location_X>NaN</Location_X><CreateTime>1e9</CreateTime></xml>")
	f.Add("<xml><FromUserName>1</FromUserName><MsgType>link</MsgType><Url>\x01</Url></xml>")
	f.Fuzz(func(t *testing.T, body string) {
		for account, webhook := range map[string]echofake.Webhook{"gh_desk": deskWebhook, "gh_shop": shopWebhook} {
			b := newBox(t, find)
			status := b.Ask(webhook.Report(context.Background(), "/echo/"+account, noon(), body)).Code
			require.Contains(t, []int{http.StatusOK, http.StatusBadRequest}, status)
			b.RequireComplete(t)
		}
	})
}
