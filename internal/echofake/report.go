package echofake

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/internal/sealed"
)

// Webhook has the platform's settings for a host's address.
type Webhook struct {
	// Token signs reports. Key encrypts them; "" means that reports are not encrypted.
	Token, Key string
	// AppID is the app id in encrypted reports.
	AppID string
	// IsCompatible adds the plain report to each encrypted one.
	IsCompatible bool
}

// nonce is a part of the signed text.
const nonce = "461056294"

// Report returns a signed request with a report.
func (w Webhook) Report(ctx context.Context, address string, at time.Time, body string) *http.Request {
	query := w.query(at)
	if w.Key != "" {
		encrypted := w.sealed(body)
		query.Set("encrypt_type", "aes")
		query.Set("msg_signature", sealed.Sign(w.Token, query.Get("timestamp"), nonce, encrypted))
		part := "<Encrypt><![CDATA[" + encrypted + "]]></Encrypt>"
		if w.IsCompatible {
			body = strings.Replace(body, "</xml>", part+"</xml>", 1)
		} else {
			body = "<xml><ToUserName><![CDATA[gh_1]]></ToUserName>" + part + "</xml>"
		}
	}
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, address+"?"+query.Encode(), strings.NewReader(body))
	request.RequestURI = "" // Clients refuse requests with a RequestURI.
	request.Header.Set("Content-Type", "text/xml")
	return request
}

func (w Webhook) sealed(body string) string {
	key, err := sealed.ParseKey(w.Key)
	if err != nil {
		panic(err)
	}
	return key.Seal([16]byte([]byte("1234567890123456")), []byte(body), w.AppID)
}

// Check returns a request that checks a host's address.
func (w Webhook) Check(ctx context.Context, address string, at time.Time, text string) *http.Request {
	query := w.query(at)
	query.Set("echostr", text)
	return httptest.NewRequestWithContext(ctx, http.MethodGet, address+"?"+query.Encode(), nil)
}

func (w Webhook) query(at time.Time) url.Values {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	return url.Values{"timestamp": {timestamp}, "nonce": {nonce}, "signature": {sealed.Sign(w.Token, timestamp, nonce)}}
}

// Text returns a report of a member's text.
func Text(from, to, id string, at time.Time, text string) string {
	return envelope(from, to, at, "text", fmt.Sprintf("<Content><![CDATA[%s]]></Content><MsgId>%s</MsgId>", text, id))
}

// Tapped changes the report of a text to a report of a tap on the line with this id.
func Tapped(text, id string) string {
	return strings.Replace(text, "</xml>", "<bizmsgmenuid><![CDATA["+id+"]]></bizmsgmenuid></xml>", 1)
}

// Event returns a report of an event. more has further XML elements.
func Event(from, to string, at time.Time, event, more string) string {
	return envelope(from, to, at, "event", "<Event><![CDATA["+event+"]]></Event>"+more)
}

func envelope(from, to string, at time.Time, kind, content string) string {
	return fmt.Sprintf("<xml><ToUserName><![CDATA[%s]]></ToUserName><FromUserName><![CDATA[%s]]></FromUserName>"+
		"<CreateTime>%d</CreateTime><MsgType><![CDATA[%s]]></MsgType>%s</xml>", to, from, at.Unix(), kind, content)
}
