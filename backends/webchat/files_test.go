package webchat_test

import (
	"errors"
	"mime"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func (w *world) downloads(url string) (status int, header http.Header, body string) {
	w.t.Helper()
	got := w.do(request{method: http.MethodGet, path: strings.TrimPrefix(url, base), origin: "none"})
	return got.Code, got.Header(), got.Body.String()
}

func TestFiles_ServedSafely(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	for name, row := range map[string]struct{ content, mediaType, kind, disposition string }{
		"a.png":     {png, "image/png", "image", "inline"},
		"a.gif":     {"GIF89a....", "image/gif", "image", "inline"},
		"a.pdf":     {"%PDF-1.7 x", "application/pdf", "file", "attachment"},
		"a.mp3":     {"ID3\x03x", "audio/mpeg", "audio", "attachment"},
		"page.html": {"plain words", "text/plain", "file", "attachment"}, // The name does not determine the type.
		"a.svg":     {"<svg onload=alert(1)>", "text/plain", "file", "attachment"},
	} {
		got := answered[uploaded](t, w.uploads(ada, name, row.content))
		require.Equal(t, uploaded{URL: got.URL, Name: name, Type: row.mediaType, Size: int64(len(row.content)), Kind: row.kind}, got)
		require.True(t, strings.HasPrefix(got.URL, base+"files/"))
		status, header, body := w.downloads(got.URL)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, row.content, body)
		require.Equal(t, row.mediaType, header.Get("Content-Type"))
		disposition, params, err := mime.ParseMediaType(header.Get("Content-Disposition"))
		require.NoError(t, err)
		require.Equal(t, row.disposition, disposition, name)
		require.Equal(t, name, params["filename"])
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
		require.Contains(t, header.Get("Content-Security-Policy"), "sandbox")
	}
}

func TestFiles_Refused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *webchat.Config) { c.Limits.FileBytes = 1000 })
	ada := w.session()
	for name, row := range map[string]struct {
		content string
		status  int
	}{
		"a page":                {"<!DOCTYPE html><script>alert(1)</script>", http.StatusUnsupportedMediaType},
		"a picture of XML":      {`<?xml version="1.0"?><svg onload="alert(1)"/>`, http.StatusUnsupportedMediaType},
		"a program":             {"\x7fELF\x02\x01\x01\x00\x00\x00\x00", http.StatusUnsupportedMediaType},
		"a page with a space":   {"\n\t <HTML>", http.StatusUnsupportedMediaType},
		"nothing":               {"", http.StatusBadRequest},
		"too much":              {strings.Repeat("x", 1001), http.StatusRequestEntityTooLarge},
		"far too much":          {strings.Repeat("x", 100_000), http.StatusRequestEntityTooLarge},
		"a picture, and beyond": {png + strings.Repeat("x", 1000), http.StatusRequestEntityTooLarge},
	} {
		require.Equal(t, row.status, w.uploads(ada, "a.png", row.content).Code, name)
	}
	require.Equal(t, http.StatusOK, w.uploads(ada, "a.txt", strings.Repeat("x", 1000)).Code)
	require.Equal(t, 1, w.files.number())

	const form = "multipart/form-data; boundary=x"
	for name, body := range map[string]string{
		"no part": "--x--\r\n", "another name": "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nhi\r\n--x--\r\n", "no end": "--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nhi",
	} {
		got := w.do(request{path: "files", token: ada.Token, body: body, contentType: form})
		require.Equal(t, http.StatusBadRequest, got.Code, name)
	}
	require.Equal(t, 1, w.files.number(), "nothing is half stored")
	require.Equal(t, int64(1), w.fileRecords())
}

func memberOf(of started) *member.Member {
	return &member.Member{App: app, Channel: channelID, ExternalID: of.Visitor}
}

func TestFiles_NamesAreCleaned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	for given, want := range map[string]string{
		"../../etc/passwd":                "passwd",
		`..\..\boot.ini`:                  "boot.ini",
		"a\r\nSet-Cookie: x":              "a%0D%0ASet-Cookie x",
		"..":                              "file",
		"":                                "file",
		"photo\u202egnp.exe":              "photognp.exe",
		"\x00a.txt":                       "a.txt",
		"na\u00efve \u4f60.txt":           "na\u00efve \u4f60.txt",
		`a"; filename="b`:                 "a filename=b",
		strings.Repeat("x", 300) + ".png": strings.Repeat("x", 96) + ".png",
	} {
		got := w.uploads(ada, given, png)
		if got.Code != http.StatusOK { // Some file names make the form malformed.
			require.Equal(t, http.StatusBadRequest, got.Code, given)
			continue
		}
		file := answered[uploaded](t, got)
		require.Equal(t, want, file.Name, "%q", given)
		_, header, _ := w.downloads(file.URL)
		require.NotContains(t, header.Get("Content-Disposition"), "\n")
		require.NotContains(t, header.Get("Content-Disposition"), "/")
	}
}

// picture returns an attachment as it appears in messages. Connectors of other platforms read payload and title.
func picture(url string) map[string]any {
	return map[string]any{"type": "image", "url": url, "name": "a.png", "payload": map[string]any{"url": url}, "title": "a.png"}
}

func TestFiles_SentInAMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	file := answered[uploaded](t, w.uploads(ada, "a.png", png))
	answered[sent](t, w.do(request{path: "messages", token: ada.Token, body: fields{
		"clientId": "c1", "type": "MISC", "text": "look", "attachments": []fields{{"type": "file", "url": file.URL, "name": "fake.exe"}},
	}}))
	require.Equal(t, map[string]any{
		"type": "MISC", "text": "look", "attachments": []any{picture(file.URL)},
	}, w.history(ada, "").Events[0].Response, "type and name are the server's")
}

func TestFiles_StoreFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.session()
	w.files.failing = errors.New("the bucket b7 is away")
	got := w.uploads(ada, "a.png", png)
	require.Equal(t, http.StatusInternalServerError, got.Code)
	require.NotContains(t, got.Body.String(), "b7")
	w.files.failing = nil
	require.Zero(t, w.fileRecords())
}

func TestFiles_OldOnesAreRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *webchat.Config) { c.KeepFor = time.Hour })
	ada := w.session()
	old := answered[uploaded](t, w.uploads(ada, "a.png", png))
	w.clock.advance(2 * time.Hour)
	answered[uploaded](t, w.uploads(ada, "b.png", png))
	require.NoError(t, w.runtime.RemoveOld(t.Context()))
	require.Equal(t, 1, w.files.number())
	status, _, _ := w.downloads(old.URL)
	require.Equal(t, http.StatusNotFound, status)
}

func TestFiles_TheLastOnesAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.session(), w.session()
	kept := answered[uploaded](t, w.uploads(bob, "b.png", png))
	first := answered[uploaded](t, w.uploads(ada, "a.png", png))
	for range 210 {
		w.clock.advance(time.Second)
		answered[uploaded](t, w.uploads(ada, "a.png", png))
	}
	require.LessOrEqual(t, w.files.number(), 201)
	status, _, _ := w.downloads(first.URL)
	require.Equal(t, http.StatusNotFound, status)
	status, _, _ = w.downloads(kept.URL)
	require.Equal(t, http.StatusOK, status)
}

func TestFiles_Off(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *webchat.Config) { c.Files = nil })
	ada := w.session()
	require.Equal(t, http.StatusNotFound, w.uploads(ada, "a.png", png).Code)
	w.says(ada.Visitor, "m1", send.Image("https://shop.example/a.png"))
	require.NoError(t, w.EraseMember(t.Context(), memberOf(ada)))
}
