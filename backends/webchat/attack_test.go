package webchat_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func decoded(t *testing.T, part string) string {
	t.Helper()
	text, err := base64.RawURLEncoding.DecodeString(part)
	require.NoError(t, err)
	return string(text)
}

// signed returns a signature that was made without the package under test.
func signed(by, text string) string {
	mac := hmac.New(sha256.New, []byte(by))
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// forged returns a token with this content, signed with this secret.
func forged(t *testing.T, by, prefix string, content any) string {
	t.Helper()
	text, err := json.Marshal(content)
	require.NoError(t, err)
	head := prefix + "." + base64.RawURLEncoding.EncodeToString(text)
	return head + "." + signed(by, head)
}

// changed returns a token with changed content and the original signature.
func changed(t *testing.T, token string, change fields) string {
	t.Helper()
	parts := strings.Split(token, ".")
	var content fields
	require.NoError(t, json.Unmarshal([]byte(decoded(t, parts[1])), &content))
	maps.Copy(content, change)
	text, err := json.Marshal(content)
	require.NoError(t, err)
	return parts[0] + "." + base64.RawURLEncoding.EncodeToString(text) + "." + parts[2]
}

// attack is a request that must be refused with this status.
type attack struct {
	name string
	request
	status int
}

func TestAttacks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.save(webchatChannel("other", otherSecret))
	off := webchatChannel("off", secret)
	off.On = false
	w.save(off)
	ada, bob := w.session(), w.session()
	w.writes(bob, "c1", "secret of Bob")
	bobs := answered[uploaded](t, w.uploads(bob, "b.png", png))
	for _, one := range slicesOf(tokenAttacks(t, w, ada, bob), userAttacks(t, w), originAttacks(ada), inputAttacks(ada, bobs)) {
		got := w.do(one.request)
		require.Equal(t, one.status, got.Code, "%s: %s", one.name, got.Body)
		body := got.Body.String()
		require.NotContains(t, body, secret, one.name)
		require.NotContains(t, body, "secret of Bob", one.name)
		if one.status == http.StatusUnauthorized {
			require.JSONEq(t, `{"error":{"code":"FailedPrecondition","message":"the token is not valid; start a new session"}}`, body, one.name)
		}
	}
	require.Empty(t, w.history(ada, "").Events, "nothing was stored")
}

func slicesOf(lists ...[]attack) (all []attack) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

func tokenAttacks(t *testing.T, w *world, ada, bob started) []attack {
	t.Helper()
	parts := strings.Split(ada.Token, ".")
	var content fields
	require.NoError(t, json.Unmarshal([]byte(decoded(t, parts[1])), &content))
	past := fields{"k": content["k"], "c": channelID, "v": bob.Visitor, "s": "x", "i": 1, "e": w.clock.now().Add(-time.Second).Unix()}
	userToken, err := webchat.SignUser(channel.NewSecret(secret), webchat.User{ID: "ada", Expires: w.clock.now().Add(time.Minute)})
	require.NoError(t, err)
	tokens := map[string]string{
		"no token":                   "",
		"not a token":                "x",
		"too long":                   "v1." + strings.Repeat("A", 5000) + ".A",
		"another visitor":            changed(t, ada.Token, fields{"v": bob.Visitor}),
		"a later end":                changed(t, ada.Token, fields{"e": int64(1) << 60}),
		"another channel":            changed(t, ada.Token, fields{"c": "other"}),
		"a channel that is off":      changed(t, ada.Token, fields{"c": "off"}),
		"no channel":                 changed(t, ada.Token, fields{"c": ""}),
		"an unknown channel":         changed(t, ada.Token, fields{"c": "nowhere"}),
		"an unknown key":             changed(t, ada.Token, fields{"k": "00000000"}),
		"an operator as channel":     changed(t, ada.Token, fields{"c": fields{"$gt": ""}}),
		"no signature":               parts[0] + "." + parts[1] + ".",
		"half a signature":           parts[0] + "." + parts[1] + "." + parts[2][:20],
		"a signature with an ending": ada.Token + "=",
		"another prefix":             "u1." + parts[1] + "." + parts[2],
		"a fourth part":              ada.Token + ".x",
		"signed by another channel":  forged(t, otherSecret, "v1", content),
		"signed with nothing":        forged(t, "", "v1", content),
		"expired":                    forged(t, secret, "v1", past),
		"a user's token":             userToken,
		"a user's token, renamed":    "v1" + strings.TrimPrefix(userToken, "u1"),
		"null":                       forged(t, secret, "v1", nil),
		"a list":                     forged(t, secret, "v1", []int{1}),
	}
	var all []attack
	for name, token := range tokens {
		all = append(all,
			attack{"token: " + name, request{method: http.MethodGet, path: "history", token: token}, http.StatusUnauthorized},
			attack{"token: " + name, request{method: http.MethodGet, path: "stream", token: token}, http.StatusUnauthorized},
			attack{"token: " + name, request{path: "messages", token: token, body: fields{"clientId": "x", "type": "TEXT", "text": "x"}}, http.StatusUnauthorized},
		)
	}
	inAddress := request{method: http.MethodGet, path: "history?token=" + ada.Token}
	return append(all, attack{"token: in the address", inAddress, http.StatusUnauthorized})
}

func userAttacks(t *testing.T, w *world) []attack {
	t.Helper()
	now := w.clock.now()
	tokens := map[string]string{
		"expired":                   forged(t, secret, "u1", fields{"sub": "ada", "exp": now.Unix()}),
		"without an end":            forged(t, secret, "u1", fields{"sub": "ada"}),
		"for a year":                forged(t, secret, "u1", fields{"sub": "ada", "exp": now.Add(365 * 24 * time.Hour).Unix()}),
		"in milliseconds":           forged(t, secret, "u1", fields{"sub": "ada", "exp": now.Add(time.Minute).UnixMilli()}),
		"without an id":             forged(t, secret, "u1", fields{"exp": now.Add(time.Minute).Unix()}),
		"a long id":                 forged(t, secret, "u1", fields{"sub": strings.Repeat("x", 201), "exp": now.Add(time.Minute).Unix()}),
		"a long name":               forged(t, secret, "u1", fields{"sub": "ada", "exp": now.Add(time.Minute).Unix(), "firstName": strings.Repeat("x", 201)}),
		"signed by another channel": forged(t, otherSecret, "u1", fields{"sub": "ada", "exp": now.Add(time.Minute).Unix()}),
		"a session's token":         w.session().Token,
		"the smallest end":          forged(t, secret, "u1", json.RawMessage(`{"sub":"ada","exp":-9223372036854775808}`)),
	}
	var all []attack
	for name, token := range tokens {
		all = append(all, attack{"user: " + name, request{path: "session", body: fields{"channel": channelID, "user": token}}, http.StatusUnauthorized})
	}
	return all
}

func originAttacks(ada started) []attack {
	var all []attack
	for _, origin := range []string{
		"none", "null", "https://evil.example", "http://shop.example", "https://shop.example.evil.example", "https://shop.example:8443",
		"https://evilshop.example", "https://shop.example@evil.example", "https://shop.example/", "https://.shop.example", "HTTPS://SHOP.EXAMPLE",
	} {
		all = append(all,
			attack{"origin " + origin, request{path: "session", origin: origin, body: fields{"channel": channelID}}, http.StatusForbidden},
			attack{"origin " + origin, request{
				path: "messages", origin: origin, token: ada.Token, body: fields{"clientId": "x", "type": "TEXT", "text": "x"},
			}, http.StatusForbidden},
		)
	}
	return append(all, attack{
		"origin of another site", request{method: http.MethodGet, path: "stream", origin: "https://evil.example", token: ada.Token}, http.StatusForbidden,
	})
}

func inputAttacks(ada started, bobs uploaded) []attack {
	message := func(body any, status int) attack {
		text, _ := json.Marshal(body) //nolint:errchkjson // Only for the failure message.
		name := string(text)
		return attack{"message " + name[:min(len(name), 100)], request{path: "messages", token: ada.Token, body: body}, status}
	}
	read := func(path string, status int) attack {
		return attack{"read " + path, request{method: http.MethodGet, path: path, token: ada.Token}, status}
	}
	file := func(url string) attack {
		return message(fields{"clientId": "x", "type": "MISC", "attachments": []fields{{"type": "image", "url": url}}}, http.StatusBadRequest)
	}
	const bad = http.StatusBadRequest
	return []attack{
		message("{", bad), message("", bad), message("[]", bad), message(`{"clientId":"x","type":"TEXT","text":"`+strings.Repeat(`\u0001`, 10)+`"`, bad),
		message(strings.Repeat(`{"a":`, 3000), bad),
		message(fields{"clientId": "", "type": "TEXT", "text": "x"}, bad),
		message(fields{"clientId": "../../x", "type": "TEXT", "text": "x"}, bad),
		message(fields{"clientId": strings.Repeat("x", 65), "type": "TEXT", "text": "x"}, bad),
		message(fields{"clientId": fields{"$ne": 1}, "type": "TEXT", "text": "x"}, bad),
		message(fields{"clientId": "x", "type": "text", "text": "x"}, bad),
		message(fields{"clientId": "x", "type": "TEXT", "text": " \n"}, bad),
		message(fields{"clientId": "x", "type": "TEXT", "text": strings.Repeat("x", 2001)}, bad),
		message(fields{"clientId": "x", "type": "TEXT", "text": strings.Repeat("x", 20_000)}, http.StatusRequestEntityTooLarge),
		message(fields{"clientId": "x", "type": "IMAGE", "url": "https://x.example/a.png"}, bad),
		message(fields{"clientId": "x", "type": "POSTBACK", "payload": "x"}, bad),
		message(fields{"clientId": "x", "type": "PAYLOAD", "payload": strings.Repeat("x", 1001)}, bad),
		message(fields{"clientId": "x", "type": "PAYLOAD", "payload": "x", "title": strings.Repeat("x", 201)}, bad),
		message(fields{"clientId": "x", "type": "MISC", "attachments": []fields{}}, bad),
		file("https://evil.example/files/" + strings.TrimPrefix(bobs.URL, base+"files/")), file(bobs.URL), file("javascript:alert(1)"),
		file(base + "files/../../etc/passwd"), file(base + "files/"),
		read("history?before=-1", bad), read("history?before=x", bad), read("history?limit=99999999999999999999", bad), read("stream?after=-5", bad),
		read("files/..%2f..%2fetc%2fpasswd", http.StatusNotFound),
		read("files/"+strings.Repeat("A", 26), http.StatusNotFound), read("files/%00", http.StatusNotFound),
		read("admin", http.StatusNotFound), read("messages", http.StatusNotFound),
		{"read too far", request{path: "read", token: ada.Token, body: fields{"seq": int64(1) << 60}}, bad},
		{"session of an unknown channel", request{path: "session", body: fields{"channel": "nowhere"}}, http.StatusNotFound},
		{"session of a channel that is off", request{path: "session", body: fields{"channel": "off"}}, http.StatusNotFound},
		{"session of an operator", request{path: "session", body: fields{"channel": fields{"$gt": ""}}}, http.StatusNotFound},
		{"session of a long channel", request{path: "session", body: fields{"channel": strings.Repeat("x", 5000)}}, http.StatusNotFound},
		{"a form", request{path: "session", body: "channel=web", contentType: "application/x-www-form-urlencoded"}, http.StatusUnsupportedMediaType},
		{"a text", request{path: "session", body: `{"channel":"web"}`, contentType: "text/plain"}, http.StatusUnsupportedMediaType},
		{"a file as JSON", request{path: "files", token: ada.Token, body: fields{}}, http.StatusUnsupportedMediaType},
		{"a method", request{method: http.MethodDelete, path: "messages", token: ada.Token}, http.StatusNotFound},
	}
}

func TestFloods(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		limits  webchat.Limits
		flood   func(w *world, i int) request
		allowed int
	}{
		"sessions of an address": {webchat.Limits{}, func(*world, int) request {
			return request{path: "session", body: fields{"channel": channelID}}
		}, 5 - 1},
		"sessions of a network": {webchat.Limits{}, func(_ *world, i int) request {
			return request{path: "session", body: fields{"channel": channelID}, from: "[2001:db8::" + strconv.Itoa(i) + "]:1"}
		}, 5},
		"messages of a visitor": {webchat.Limits{}, func(w *world, i int) request {
			return request{path: "messages", token: w.ada.Token, body: fields{"clientId": strconv.Itoa(i), "type": "TEXT", "text": "x"}, from: from(i)}
		}, 5},
		"bad tokens of an address": {webchat.Limits{}, func(*world, int) request {
			return request{method: http.MethodGet, path: "history", token: "x"}
		}, 5},
		"files of a visitor": {webchat.Limits{}, func(w *world, i int) request {
			return request{path: "files", token: w.ada.Token, body: "", contentType: "multipart/form-data; boundary=x", from: from(i)}
		}, 5},
		"typing of a visitor": {webchat.Limits{}, func(w *world, i int) request {
			return request{path: "typing", token: w.ada.Token, body: fields{}, from: from(i)}
		}, 5},
		"requests of an address": {webchat.Limits{Requests: 40}, func(w *world, _ int) request {
			return request{method: http.MethodGet, path: "history", token: w.ada.Token}
		}, 10 - 1},
		"messages of a channel": {webchat.Limits{Messages: 1000, Channel: 20}, func(w *world, i int) request {
			return request{path: "messages", token: w.ada.Token, body: fields{"clientId": strconv.Itoa(i), "type": "TEXT", "text": "x"}, from: from(i)}
		}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *webchat.Config) { c.Limits = row.limits })
			w.ada = w.session()
			for i := range row.allowed {
				require.NotEqual(t, http.StatusTooManyRequests, w.do(row.flood(w, i)).Code, i)
			}
			got := w.do(row.flood(w, row.allowed))
			require.Equal(t, http.StatusTooManyRequests, got.Code)
			after, err := strconv.Atoi(got.Header().Get("Retry-After"))
			require.NoError(t, err)
			require.NotZero(t, after)
			require.NotEmpty(t, got.Header().Get("Access-Control-Allow-Origin"), "the page can read it")
			w.clock.advance(time.Duration(after) * time.Second)
			require.NotEqual(t, http.StatusTooManyRequests, w.do(row.flood(w, row.allowed)).Code, "later it is allowed")
		})
	}
}

func from(i int) string { return "10.0.0." + strconv.Itoa(i) + ":1" }

func TestOrigins_Allowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := webchatChannel(channelID, secret)
	in.Metadata = document.O("origins", document.A("https://shop.example/", "https://*.shop.example", "self"))
	w.save(in)
	for _, origin := range []string{"https://shop.example", "https://www.shop.example", "https://a.b.shop.example", "http://example.com"} {
		got := w.do(request{path: "session", origin: origin, body: fields{"channel": channelID}})
		require.Equal(t, http.StatusOK, got.Code, origin)
		require.Equal(t, origin, got.Header().Get("Access-Control-Allow-Origin"))
		require.Empty(t, got.Header().Get("Access-Control-Allow-Credentials"))
		require.Contains(t, got.Header().Get("Vary"), "Origin")
	}
	ada := w.session()
	require.Equal(t, http.StatusOK, w.do(request{method: http.MethodGet, path: "history", origin: "none", token: ada.Token}).Code,
		"a GET of the page's own server has no origin")
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	got := newWorld(t).do(request{method: http.MethodOptions, path: "messages"})
	require.Equal(t, http.StatusNoContent, got.Code)
	require.Contains(t, got.Header().Get("Access-Control-Allow-Headers"), "authorization")
}

func TestWidget_IsServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	widget := webchat.Widget()
	got := w.do(request{method: http.MethodGet, path: "widget.js"})
	require.Equal(t, http.StatusOK, got.Code)
	require.Equal(t, "no-cache", got.Header().Get("Cache-Control"))
	require.Equal(t, "nosniff", got.Header().Get("X-Content-Type-Options"))
	hashed := w.do(request{method: http.MethodGet, path: widget.Name})
	require.Contains(t, hashed.Header().Get("Cache-Control"), "immutable")
	require.Equal(t, got.Body.String(), hashed.Body.String())
	old := w.do(request{method: http.MethodGet, path: "widget-0000.js"})
	require.Equal(t, "no-cache", old.Header().Get("Cache-Control"))
	sum := sha512Of(got.Body.Bytes())
	require.Equal(t, "sha384-"+sum, widget.Integrity)
}

func sha512Of(content []byte) string {
	sum := sha512.Sum384(content)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// A store that hangs does not hold a request, because each of the handler's calls has a deadline.
func TestHandler_LimitsCallsToTheStore(t *testing.T) {
	t.Parallel()
	var unlimited sync.Map
	w := newWorld(t, func(c *webchat.Config) {
		c.Store = store.Wrap(memstore.New(), func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
			if _, isLimited := ctx.Deadline(); !isLimited {
				unlimited.Store(call.Method+" "+call.Collection, true)
			}
			return ctx, nil, nil
		})
	})
	ada := w.session()
	unlimited.Clear() // What newWorld stored.
	w.session()
	w.writes(ada, "c1", "hi")
	w.history(ada, "")
	file := answered[uploaded](t, w.uploads(ada, "a.png", png))
	status, _, _ := w.downloads(file.URL)
	require.Equal(t, http.StatusOK, status)
	for _, r := range []request{
		{path: "typing", body: fields{}},
		{path: "read", body: fields{"seq": 1}},
		{method: http.MethodGet, path: "stream?wait=0"},
		{path: "signout", body: fields{}},
	} {
		r.token = ada.Token
		require.Less(t, w.do(r).Code, http.StatusBadRequest, r.path)
	}
	unlimited.Range(func(call, _ any) bool {
		t.Errorf("no deadline: %s", call)
		return true
	})
}

// A host counts at most 500 kinds of dropped events, over all platforms.
func TestDrops_VisitorsInventNoKinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	for i := range 600 {
		w.do(request{path: "messages", token: ada.Token, body: fields{"clientId": "a", "type": "T" + strconv.Itoa(i)}})
	}
	require.Equal(t, []send.DropCount{{Platform: channel.Webchat, Kind: send.OtherKinds, Reason: send.DropInvalid, Count: 600}}, w.drops.Counts())
}

func FuzzToken(f *testing.F) {
	w := newWorld(f)
	ada := w.session()
	user := w.user("ada")
	for _, seed := range []string{ada.Token, user.Token, "", "v1..", "v1.bnVsbA.AAAA", "u1." + ada.Token[3:], ada.Token[:len(ada.Token)-1], "v1.e30.e30"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		for _, r := range []request{
			{method: http.MethodGet, path: "history", token: token},
			{path: "session", body: fields{"channel": channelID, "token": token, "user": token}},
		} {
			got := do(t, w.handler, r)
			isNew := r.token == "" && token == ""
			if got.Code == http.StatusOK && !isNew && !isGenuine(token) {
				t.Fatalf("the token %q is accepted", token)
			}
			if got.Code >= http.StatusInternalServerError {
				t.Fatalf("status %d: %s", got.Code, got.Body)
			}
		}
	})
}

// isGenuine reports whether a token has a valid signature. The fuzzer may try valid tokens, because its
// processes share the seeds.
func isGenuine(token string) bool {
	end := strings.LastIndex(token, ".")
	return end > 0 && signed(secret, token[:end]) == token[end+1:]
}

func FuzzUpload(f *testing.F) {
	w := newWorld(f)
	ada := w.session()
	for _, seed := range []string{
		"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n\r\n" + png + "\r\n--x--\r\n",
		"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../../a\"\r\nContent-Type: text/html\r\n\r\n<html>\r\n--x--\r\n",
		"--x\r\nContent-Disposition: form-data; name=\"file\"; filename*=UTF-8''%2e%2e%2fa\r\n\r\nhi\r\n--x--\r\n",
		"--x\r\n\r\n", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got := do(t, w.handler, request{path: "files", token: ada.Token, body: body, contentType: "multipart/form-data; boundary=x"})
		if got.Code >= http.StatusInternalServerError {
			t.Fatalf("status %d: %s", got.Code, got.Body)
		}
		if got.Code != http.StatusOK {
			return
		}
		file := answered[uploaded](t, got)
		require.True(t, utf8.ValidString(file.Name))
		require.False(t, strings.ContainsFunc(file.Name, func(r rune) bool { return unicode.IsControl(r) || r == '/' || r == '\\' || r == '"' }), "%q", file.Name)
		served := do(t, w.handler, request{method: http.MethodGet, path: strings.TrimPrefix(file.URL, base), origin: "none"})
		require.Equal(t, http.StatusOK, served.Code)
		require.EqualValues(t, file.Size, served.Body.Len())
		require.NotContains(t, served.Header().Get("Content-Type"), "html")
	})
}

// A message of any form is refused, or stored as the handler understood it.
func FuzzMessage(f *testing.F) {
	w := newWorld(f)
	ada := w.session()
	for _, seed := range []string{
		`{"clientId":"a","type":"TEXT","text":"hi"}`, `{"clientId":"b","type":"PAYLOAD","payload":{"payload":"x","value":[1]}}`,
		`{"clientId":"c","type":"MISC","attachments":[{"url":"` + base + `files/AAAAAAAAAAAAAAAAAAAAAAAAAA"}]}`,
		`{"clientId":"d","type":"WEB_EVENT","data":{"$where":1,"a.b":2}}`, `{"clientId":"e","type":"TEXT","text":"\ud800"}`, `{}`, ``,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got := do(t, w.handler, request{path: "messages", token: ada.Token, body: body})
		if got.Code >= http.StatusInternalServerError {
			t.Fatalf("status %d: %s", got.Code, got.Body)
		}
		require.Equal(t, http.StatusOK, do(t, w.handler, request{method: http.MethodGet, path: "history", token: ada.Token}).Code)
	})
}
