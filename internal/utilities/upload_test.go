package utilities_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/utility"
)

// billURL is the URL of the file in these tests.
const billURL = "https://shop.example/bill.pdf?token=hunter2"

// newUpload returns the params of a valid upload, altered by change.
func newUpload(change ...func(*utility.UploadFileToObjectStoreParams)) utility.UploadFileToObjectStoreParams {
	p := utility.UploadFileToObjectStoreParams{URL: billURL, Filename: "bills/7.pdf", ContentType: "application/pdf"}
	for _, alter := range change {
		alter(&p)
	}
	return p
}

// withBill returns fakes that serve a file at billURL.
func withBill(t *testing.T, options ...fakes.Option) *fakes.Utilities {
	t.Helper()
	utilities := fakes.NewUtilities(append(options, fakes.For(t))...)
	utilities.Platform.HTTP.Add("GET", billURL, web.Text(200, "a bill"))
	return utilities
}

func TestUpload_Options(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options document.Object
		want    web.Request
	}{
		"a text": {
			document.O("method", "post", "headers", document.O("x-page", 7, "Accept", "a/b", "X-None", nil), "body", "page=7"),
			web.Request{Header: http.Header{"X-Page": {"7"}, "Accept": {"a/b"}}, Body: "page=7"},
		},
		"an object": {
			document.O("method", "POST", "body", document.O("page", 7)),
			web.Request{Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"page":7}`},
		},
		"an array of another type": {
			document.O("method", "POST", "headers", document.O("content-type", "a/b"), "body", document.A(7), "encoding", nil),
			web.Request{Header: http.Header{"Content-Type": {"a/b"}}, Body: `[7]`},
		},
		"a text as JSON": {
			document.O("json", true, "method", "POST", "body", "page"),
			web.Request{Header: http.Header{"Content-Type": {"application/json"}}, Body: `"page"`},
		},
		"JSON": {
			document.O("method", "POST", "json", document.O("page", 7)),
			web.Request{Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"page":7}`},
		},
		"JSON of nothing":      {document.O("method", "POST", "json", true), web.Request{Header: http.Header{}}},
		"a text, and not JSON": {document.O("method", "POST", "json", false, "body", "a"), web.Request{Header: http.Header{}, Body: "a"}},
		"a query": {
			document.O("method", "POST", "qs", document.O("page", 7, "q", "a b&c", "all", true, "none", nil)),
			web.Request{Header: http.Header{}, URL: billURL + "&page=7&q=a%20b%26c&all=true"},
		},
		"a timeout": {document.O("method", "POST", "timeout", 90_000.5), web.Request{Header: http.Header{}}},
		"null": {
			document.O("method", "POST", "headers", nil, "body", nil, "json", nil, "qs", nil, "timeout", nil), web.Request{Header: http.Header{}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			utilities := fakes.NewUtilities(fakes.For(t))
			c.want.URL = cmp.Or(c.want.URL, billURL)
			utilities.Platform.HTTP.Add("POST", c.want.URL, web.Text(200, "a bill"))
			_, err := utilities.UploadFileToObjectStore(t.Context(),
				newUpload(func(p *utility.UploadFileToObjectStoreParams) { p.Options = c.options }))
			require.NoError(t, err)
			c.want.Method, c.want.Pattern = "POST", c.want.URL
			require.Equal(t, []web.Request{c.want}, utilities.Platform.HTTP.Requests())
		})
	}
}

func TestUpload_BadInput(t *testing.T) {
	t.Parallel()
	from := func(address string) func(*utility.UploadFileToObjectStoreParams) {
		return func(p *utility.UploadFileToObjectStoreParams) { p.URL = address }
	}
	named := func(name string) func(*utility.UploadFileToObjectStoreParams) {
		return func(p *utility.UploadFileToObjectStoreParams) { p.Filename = name }
	}
	of := func(contentType string) func(*utility.UploadFileToObjectStoreParams) {
		return func(p *utility.UploadFileToObjectStoreParams) { p.ContentType = contentType }
	}
	with := func(pairs ...any) func(*utility.UploadFileToObjectStoreParams) {
		return func(p *utility.UploadFileToObjectStoreParams) { p.Options = document.O(pairs...) }
	}
	for name, c := range map[string]struct {
		field  string
		change func(*utility.UploadFileToObjectStoreParams)
	}{
		"a password":                 {"url", from("https://u:p@shop.example/a")},
		"this machine":               {"url", from("http://localhost/a")},
		"a NUL":                      {"filename", named("a\x00.pdf")},
		"a name that is no UTF-8":    {"filename", named("a\xff")},
		"a name that fills the key":  {"filename", named(strings.Repeat("a", 1024))},
		"a broken parameter":         {"contentType", of("text/plain; charset")},
		"a control in a parameter":   {"contentType", of("text/plain; a=\"\x01\"")},
		"an unknown option of null":  {"options.proxy", with("proxy", nil)},
		"a query of no object":       {"options.qs", with("qs", "a=b")},
		"a list in a query":          {"options.qs.ids", with("qs", document.O("ids", document.A(1)))},
		"less than no time":          {"options.timeout", with("timeout", -1)},
		"a time of no number":        {"options.timeout", with("timeout", "soon")},
		"a method of no text":        {"options.method", with("method", 7)},
		"an empty method":            {"options.method", with("method", "")},
		"a method of no browser":     {"options.method", with("method", "track")},
		"a header of no text":        {"options.headers.X-A", with("headers", document.O("X-A", true))},
		"a header with a bad name":   {"options.headers", with("headers", document.O("X A", "a"))},
		"a header of the client":     {"options.headers.Host", with("headers", document.O("Host", "internal"))},
		"options that are no object": {"options", with(7, 7)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			utilities := withBill(t)
			result, err := utilities.UploadFileToObjectStore(t.Context(), newUpload(c.change))
			requireField(t, err, "uploadFileToObjectStore", boterr.InvalidArgument, c.field)
			require.NotContains(t, err.Error(), "hunter2")
			require.Equal(t, utility.UploadFileToObjectStoreResult{}, result)
			require.Empty(t, utilities.Platform.HTTP.Requests())
			require.Empty(t, utilities.Platform.Files())
		})
	}
}

func TestUpload_Statuses(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]boterr.Code{
		200: "", 203: "", 201: boterr.InvalidArgument, 204: boterr.InvalidArgument, 205: boterr.InvalidArgument,
		206: boterr.InvalidArgument, 202: boterr.Unavailable, 301: boterr.InvalidArgument, 304: boterr.InvalidArgument,
		400: boterr.InvalidArgument, 425: boterr.Unavailable, 401: boterr.InvalidArgument, 404: boterr.InvalidArgument, 410: boterr.InvalidArgument,
		408: boterr.Unavailable, 429: boterr.Unavailable, 500: boterr.Unavailable, 503: boterr.Unavailable,
	} {
		utilities := fakes.NewUtilities(fakes.For(t))
		utilities.Platform.HTTP.Add("GET", billURL, web.Text(status, "a text"))
		_, err := utilities.UploadFileToObjectStore(t.Context(), newUpload())
		if want == "" {
			require.NoError(t, err, "status %d", status)
			require.Len(t, utilities.Platform.Files(), 1)
			continue
		}
		require.ErrorIs(t, err, want, "status %d", status)
		e, _ := boterr.AsError(err)
		require.Equal(t, "url", e.Field, "status %d", status)
		require.NotContains(t, err.Error(), "hunter2")
		require.Empty(t, utilities.Platform.Files())
	}
}

func TestUpload_Part(t *testing.T) {
	t.Parallel()
	utilities := fakes.NewUtilities(fakes.For(t))
	utilities.Platform.HTTP.Add("GET", billURL, web.Text(http.StatusPartialContent, "a b"))
	_, err := utilities.UploadFileToObjectStore(t.Context(), newUpload(func(p *utility.UploadFileToObjectStoreParams) {
		p.Options = document.O("headers", document.O("range", "bytes=0-2"))
	}))
	require.NoError(t, err)
	require.Len(t, utilities.Platform.Files(), 1)
}

func TestUpload_Encoded(t *testing.T) {
	t.Parallel()
	for encoding, isStored := range map[string]bool{"br": false, "gzip": false, "identity, br": false, "": true, "Identity": true} {
		content := &body{Reader: strings.NewReader("a bill")}
		bot, stored := uploader(t, content, func(config *botctx.Config) {
			config.HTTP = doerFunc(func(*http.Request) (*http.Response, error) {
				header := http.Header{"Content-Encoding": {encoding}}
				return &http.Response{StatusCode: http.StatusOK, Header: header, Body: content, ContentLength: -1}, nil
			})
		})
		_, err := bot.UploadFileToObjectStore(t.Context(), newUpload())
		require.True(t, content.closed, encoding)
		if isStored {
			require.NoError(t, err, encoding)
			require.Len(t, stored, 1, encoding)
			continue
		}
		requireField(t, err, "uploadFileToObjectStore", boterr.InvalidArgument, "url")
		require.Empty(t, stored, encoding)
	}
}

func TestUpload_PrivateRedirect(t *testing.T) {
	t.Parallel()
	utilities := fakes.NewUtilities(fakes.For(t))
	utilities.Platform.HTTP.Add("GET", billURL, web.Redirect(302, "http://169.254.169.254/latest"))
	_, err := utilities.UploadFileToObjectStore(t.Context(), newUpload())
	requireField(t, err, "uploadFileToObjectStore", boterr.InvalidArgument, "url")
	require.Len(t, utilities.Platform.HTTP.Requests(), 1)
	require.Empty(t, utilities.Platform.Files())
}

func TestUpload_MaxBytes(t *testing.T) {
	t.Parallel()
	utilities := withBill(t, fakes.Config(func(c *botctx.Config) { c.Upload.MaxBytes = 6 }))
	utilities.Platform.HTTP.Add("GET", "https://shop.example/large", web.Text(200, "a bill!"))
	for _, from := range []string{billURL, "https://shop.example/large"} {
		_, err := utilities.UploadFileToObjectStore(t.Context(), newUpload(func(p *utility.UploadFileToObjectStoreParams) { p.URL = from }))
		if from == billURL {
			require.NoError(t, err)
			continue
		}
		requireField(t, err, "uploadFileToObjectStore", boterr.ResourceExhausted, "url")
	}
	require.Equal(t, "a bill", string(utilities.Platform.File("app-1/channel-1/bills/7.pdf").Content), "the file before stays")
}

func TestUpload_Keys(t *testing.T) {
	t.Parallel()
	var keys []string
	runtime := newRuntime(t, botctx.Config{
		HTTP: doerFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		}),
		ObjectStore: storeFunc(func(_ context.Context, file utility.StoredFile) error {
			keys = append(keys, file.Key)
			return nil
		}),
		LoadChannel: func(_ context.Context, _, id string) (*channel.Channel, error) { return &channel.Channel{ID: id}, nil },
	})
	for _, scope := range []record.Scope{
		{App: "a", Channel: "b/c"},
		{App: "a/b", Channel: "c"},
		{App: "a%2Fb", Channel: "c"},
		{App: "a", Channel: ".."},
		{App: "..", Channel: "b"},
		{App: "a", Channel: "%2E%2E"},
		{App: ".", Channel: "é ?#"},
	} {
		_, err := runtime.Operations(botctx.Scope(scope)).UploadFileToObjectStore(t.Context(),
			newUpload(func(p *utility.UploadFileToObjectStoreParams) { p.Filename = "c/%2E é" }))
		require.NoError(t, err)
	}
	require.Equal(t, []string{
		"a/b%2Fc/c/%2E é", "a%2Fb/c/c/%2E é", "a%252Fb/c/c/%2E é", "a/%2E%2E/c/%2E é",
		"%2E%2E/b/c/%2E é", "a/%252E%252E/c/%2E é", "%2E/%C3%A9%20%3F%23/c/%2E é",
	}, keys)
}

const uploadSecret = "hunter2"

// uploadsWithSecrets returns params that contain uploadSecret in various places. The operation refuses some of them.
func uploadsWithSecrets(t *testing.T) map[string]utility.UploadFileToObjectStoreParams {
	t.Helper()
	uploads := map[string]utility.UploadFileToObjectStoreParams{}
	for _, options := range []string{
		`{"headers": {"Authorization": "hunter2"}}`, `{"headers": {"authorization": "Digest hunter2"}}`,
		`{"headers": {"Cookie": "session=hunter2"}}`, `{"headers": {"X-Shop": "a\"hunter2"}}`,
		`{"headers": {"Authorization: hunter2": ""}}`, `{"headers": "Cookie: hunter2"}`, `{"headers": {"Accept": ["hunter2"]}}`,
		`{"body": "user=ada&pin=hunter2"}`, `{"body": {"pin": ["hunter2"]}}`, `{"body": ["hunter2"]}`,
		`{"method": "GET / hunter2"}`, `{"encoding": "hunter2"}`, `{"auth": {"user": "hunter2"}}`,
	} {
		var read document.Object
		require.NoError(t, read.UnmarshalJSON([]byte(options)))
		uploads[options] = newUpload(func(p *utility.UploadFileToObjectStoreParams) { p.Options = read })
	}
	for _, url := range []string{
		"https://shop.example/a?sig=hunter2", "https://shop.example/a?sig=it's-hunter2", "https://ada:hunter2@shop.example/a",
		"https://shop.example/a#hunter2", "mailto:hunter2", "https://shop.example:hunter2/",
	} {
		uploads[url] = newUpload(func(p *utility.UploadFileToObjectStoreParams) { p.URL = url })
	}
	return uploads
}

func TestUpload_LogsNoSecret(t *testing.T) {
	t.Parallel()
	for name, params := range uploadsWithSecrets(t) {
		var log strings.Builder
		slog.New(slog.NewJSONHandler(&log, nil)).Info("a call", "params", params)
		slog.New(slog.NewTextHandler(&log, nil)).Info("a call", "params", params)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			_, _ = fmt.Fprintf(&log, verb, params)
		}
		require.NotContains(t, log.String(), uploadSecret, name)
	}
}

func TestUpload_RecordsNoSecret(t *testing.T) {
	t.Parallel()
	for name, params := range uploadsWithSecrets(t) {
		utilities := fakes.NewUtilities(fakes.For(t))
		_, err := utilities.UploadFileToObjectStore(t.Context(), params)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), uploadSecret, name)
		call := utilities.Platform.Calls(botctx.OpUploadFileToObjectStore)[0]
		require.NotContains(t, call.String(), uploadSecret, name)
		require.NotContains(t, utilities.Platform.Transcript(), uploadSecret, name)
		require.Equal(t, params, call.Params, "a test sees all of it")
	}
}
