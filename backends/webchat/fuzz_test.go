package webchat_test

import (
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

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
