package display_test

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/display"
)

// inJSON returns a text as a JSON string, without the surrounding quotes.
func inJSON(text string) string {
	written, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(written[1 : len(written)-1])
}

// forms returns functions that put a credential into an error text, by name.
func forms() map[string]func(secret string) string {
	object := func(secret string) string { return `{"name":"Ada","accessToken":"` + inJSON(secret) + `","n":1}` }
	return map[string]func(secret string) string{
		"in JSON":           object,
		"in JSON in JSON":   func(s string) string { return `{"body":"` + inJSON(object(s)) + `"}` },
		"in JSON thrice":    func(s string) string { return `{"a":"` + inJSON(`{"body":"`+inJSON(object(s))+`"}`) + `"}` },
		"in an object":      func(s string) string { return `{"token":{"value":"` + inJSON(s) + `","x":{"y":[1]}},"n":1}` },
		"deep in an object": func(s string) string { return `{"secret":{"a":{"b":{"c":[{"d":"` + inJSON(s) + `"}]}}}}` },
		"in an escaped object": func(s string) string {
			return `{"body":"` + inJSON(`{"token":{"value":"`+inJSON(s)+`"}}`) + `"}`
		},
		"in a list":     func(s string) string { return `{"tokens":["a","` + inJSON(s) + `"]}` },
		"cut off":       func(s string) string { return `{"pwd":"` + inJSON(s) },
		"in a URL":      func(s string) string { return `Get "https://example.com/?key=` + url.QueryEscape(s) + `": timeout` },
		"as a password": func(s string) string { return "dial mongodb://root:" + url.PathEscape(s) + "@db.example.com: refused" },
		"with a raw @": func(s string) string {
			return "dial mongodb://root:p@" + url.PathEscape(s) + "@db.example.com/a: refused"
		},
		"with a raw slash": func(s string) string {
			return "dial mongodb://root:p/" + url.PathEscape(s) + "@db.example.com/a: refused"
		},
		"as a header": func(s string) string { return "401\nAuthorization: Token " + url.PathEscape(s) + "\nAccept: any" },
		"as a quoted header": func(s string) string {
			return `curl -H 'Authorization: Custom id=1 ` + url.PathEscape(s) + `' -d 1`
		},
		"as a digest": func(s string) string {
			return `Authorization: Digest username="u", response="` + url.PathEscape(s) + `"`
		},
		"as a cookie":   func(s string) string { return "Cookie: a=b; sid=" + url.PathEscape(s) + "\r\nHost: x" },
		"as headers":    func(s string) string { return "map[Accept:[any] Set-Cookie:[sid=" + url.PathEscape(s) + "; Path=/]]" },
		"as a bearer":   func(s string) string { return "wrong: Bearer padding" + url.PathEscape(s) },
		"in a map":      func(s string) string { return "map[token:map[a:x value:" + url.PathEscape(s) + "] n:1]" },
		"as an option":  func(s string) string { return "connect host=db password=" + url.PathEscape(s) + " user=u" },
		"with its word": func(s string) string { return "token: Bearer " + url.PathEscape(s) },
		"in apostrophes": func(s string) string {
			return "{'api_key': '" + url.PathEscape(s) + "', 'n': 1}"
		},
	}
}

func TestRedact_EachForm(t *testing.T) {
	t.Parallel()
	for name, form := range forms() {
		text := display.Redact(form("S3CRET99"))
		require.NotContains(t, text, "S3CRET99", name)
		require.Contains(t, text, "[redacted]", name)
		require.Equal(t, text, display.Redact(text), "%s: what is redacted stays so", name)
	}
}

func TestRedact_ByName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		// Names used in channels.
		"accessToken", "appAccessToken", "botAccessToken", "signingSecret", "token", "webhookToken", "apiKey", "apiToken",
		"moduleKey", "adminAuthToken", "adminAuthTokenExpiry", "adminPassword", "adminUsername", "accessTokenExpiry", "appsecret",
		"JSAPITicket", "JSAPITicketExpiry", "appPassword", "verifyToken", "encodingAESKey", "keySecret", "webhookSecret", "webchatSecret",
		// Names used by hosts' services.
		"secretKey", "secret_key", "AWS_SECRET_ACCESS_KEY", "AccountKey", "oauth2_token", "access_token2", "client_secret_v2", "encryption-key",
		// Letters that a case-insensitive pattern matches as s and k.
		"app\u017fecret", "api\u212aey",
	} {
		for _, between := range []string{"=", ": ", " => ", ":="} {
			require.Equal(t, name+between+"[redacted]", display.Redact(name+between+"171"))
		}
		require.Equal(t, `{"`+name+`":[redacted],"n":1}`, display.Redact(`{"`+name+`":"171","n":1}`))
		require.Equal(t, `{"`+name+`":[redacted],"n":1}`, display.Redact(`{"`+name+`":171,"n":1}`))
	}
}

func TestRedact_AroundEachForm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"token":{"value":"a"},"n":1}`:                `{"token":[redacted],"n":1}`,
		"401\nAuthorization: Token abc\nAccept: any":   "401\nAuthorization: [redacted]\nAccept: any",
		"mongodb://root:p@ss@db.example.com/a refused": "mongodb://[redacted]@db.example.com/a refused",
		"curl -H 'Authorization: Token abc' -d 1":      "curl -H 'Authorization: [redacted]' -d 1",
		"map[token:map[a:x b:y] n:1]":                  "map[token:[redacted] n:1]",
	} {
		require.Equal(t, want, display.Redact(text))
	}
}

func TestRedact_OrdinaryText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"the member ada@example.com is not there", "see https://example.com:8080/@ada for more",
		"see http://[::1]:80/@ada", "the cookies were good", "at 10:30: the secret of good tea", `{"name":"Ada","n":[1,2]}`,
		"the ticket: 5 is taken", "monkey: 3", "key = 4", "the username: ada", "expiry: 7",
		"",
	} {
		require.Equal(t, text, display.Redact(text))
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("S3CRET", "text")
	f.Add(`a"\b`, `{"x":1}`)
	f.Add("p@ss/word", "a=b")
	f.Fuzz(func(t *testing.T, around, before string) {
		const planted = "PL4NTED"
		if strings.Contains(before, planted) {
			return
		}
		for name, form := range forms() {
			// Other text surrounds the credential.
			text := display.Redact(form(around + planted + around))
			if name != "as a bearer" { // The pattern of bearer tokens allows fewer characters.
				require.NotContains(t, text, planted, name)
			}
			_ = display.Redact(before + text)
		}
	})
}

func TestRedact_LeavesWhatFollows(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`Get 'https://example.com/a?b', then stop`:       `Get 'https://example.com/a?[redacted]', then stop`,
		`{"token":"a\"b","name":"Ada"}`:                  `{"token":[redacted],"name":"Ada"}`,
		`{"token":["a","b]"],"name":"Ada"}`:              `{"token":[redacted],"name":"Ada"}`,
		`{"at":"{\"pwd\":\"a\\\"b\",\"name\":\"Ada\"}"}`: `{"at":"{\"pwd\":[redacted],\"name\":\"Ada\"}"}`,
	} {
		require.Equal(t, want, display.Redact(text))
		require.Equal(t, want, display.Redact(want), "what is redacted stays so")
	}
}

func TestRedact_LeavesOtherText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"there is no member tokenless", "see https://example.com/a/b#c", "must be a token, got long", "basic types only",
	} {
		require.Equal(t, text, display.Redact(text))
	}
}

func TestList_WritesTheFirstTwenty(t *testing.T) {
	t.Parallel()
	name := func(i int) string { return strconv.Itoa(i + 1) }
	require.Empty(t, display.List(0, name))
	require.Equal(t, "1, 2", display.List(2, name))
	require.Equal(t, "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20", display.List(20, name))
	require.True(t, strings.HasSuffix(display.List(22, name), "19, 20 and 2 more"))
}

func TestIsCredential_ByItsName(t *testing.T) {
	t.Parallel()
	for name, is := range map[string]bool{
		"accessToken": true, "api_key": true, "password": true, "shop.signingSecret": true, "Authorization": true,
		"": false, "text": false, "keyword": false, "a\"b": false,
	} {
		require.Equal(t, is, display.IsCredential(name), name)
	}
}
