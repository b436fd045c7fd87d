package botctx_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/outbound/replies"
	"github.com/botctx/go-sdk/record"
)

// billURL is where the file of these tests is.
const billURL = "https://shop.example/bill.pdf?token=hunter2"

// newUpload returns the params of an upload that goes well, changed.
func newUpload(change ...func(*botctx.UploadFileToObjectStoreParams)) botctx.UploadFileToObjectStoreParams {
	p := botctx.UploadFileToObjectStoreParams{URL: billURL, Filename: "bills/7.pdf", ContentType: "application/pdf"}
	for _, alter := range change {
		alter(&p)
	}
	return p
}

// withBill returns utilities whose web has the file.
func withBill(t *testing.T, options ...fakes.Option) *fakes.Utilities {
	t.Helper()
	utilities := fakes.NewUtilities(append(options, fakes.For(t))...)
	utilities.Platform.HTTP.Add("GET", billURL, replies.Text(200, "a bill"))
	return utilities
}

func TestUploadStoresTheFile(t *testing.T) {
	t.Parallel()
	utilities := withBill(t)
	result, err := utilities.UploadFileToObjectStore(t.Context(), newUpload())
	require.NoError(t, err)
	require.Equal(t, botctx.UploadFileToObjectStoreResult{}, result)
	require.Equal(t, []fakes.File{{
		Key: "app-1/channel-1/bills/7.pdf", App: "app-1", Channel: "channel-1", Name: "bills/7.pdf",
		ContentType: "application/pdf", Content: []byte("a bill"), At: document.At(fakes.Start()),
	}}, utilities.Platform.Files())
}

func TestAFileOfThatNameIsReplaced(t *testing.T) {
	t.Parallel()
	utilities := withBill(t)
	utilities.Platform.HTTP.Add("GET", "https://shop.example/new", replies.Text(200, "another bill"))
	for _, from := range []string{billURL, "https://shop.example/new"} {
		_, err := utilities.UploadFileToObjectStore(t.Context(), newUpload(func(p *botctx.UploadFileToObjectStoreParams) { p.URL = from }))
		require.NoError(t, err)
	}
	require.Len(t, utilities.Platform.Files(), 1)
	require.Equal(t, "another bill", string(utilities.Platform.File("app-1/channel-1/bills/7.pdf").Content))
}

func TestTheChannelOfAnUploadIsAnIDOrARecord(t *testing.T) {
	t.Parallel()
	for _, given := range []string{`"desk"`, `{"_id": "desk"}`, `{"_id": "desk", "type": "webchat", "name": "Desk"}`} {
		utilities := withBill(t, fakes.Strict())
		utilities.Platform.AddChannel(channel.Channel{ID: "desk"})
		args := `{"url": "` + billURL + `", "filename": "a", "contentType": "text/plain", "channel": ` + given +
			`, "options": {"encoding": null}}`
		result, err := utilities.Member.Context().Call(t.Context(), "uploadFileToObjectStore", json.RawMessage(args))
		require.NoError(t, err)
		require.JSONEq(t, `null`, string(result))
		require.Equal(t, "a bill", string(utilities.Platform.File("app-1/desk/a").Content))
	}
}

func TestUploadSendsItsOptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options document.Object
		want    replies.Request
	}{
		"a text": {
			document.O("method", "post", "headers", document.O("x-page", 7, "Accept", "a/b", "X-None", nil), "body", "page=7"),
			replies.Request{Header: http.Header{"X-Page": {"7"}, "Accept": {"a/b"}}, Body: "page=7"},
		},
		"an object": {
			document.O("method", "POST", "body", document.O("page", 7)),
			replies.Request{Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"page":7}`},
		},
		"an array of another type": {
			document.O("method", "POST", "headers", document.O("content-type", "a/b"), "body", document.A(7), "encoding", nil),
			replies.Request{Header: http.Header{"Content-Type": {"a/b"}}, Body: `[7]`},
		},
		"null": {
			document.O("method", "POST", "headers", nil, "body", nil), replies.Request{Header: http.Header{}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			utilities := fakes.NewUtilities(fakes.For(t))
			utilities.Platform.HTTP.Add("POST", billURL, replies.Text(200, "a bill"))
			_, err := utilities.UploadFileToObjectStore(t.Context(),
				newUpload(func(p *botctx.UploadFileToObjectStoreParams) { p.Options = c.options }))
			require.NoError(t, err)
			c.want.Method, c.want.URL, c.want.Pattern = "POST", billURL, billURL
			require.Equal(t, []replies.Request{c.want}, utilities.Platform.HTTP.Requests())
		})
	}
}

func TestUploadRefusesBadInput(t *testing.T) {
	t.Parallel()
	from := func(address string) func(*botctx.UploadFileToObjectStoreParams) {
		return func(p *botctx.UploadFileToObjectStoreParams) { p.URL = address }
	}
	named := func(name string) func(*botctx.UploadFileToObjectStoreParams) {
		return func(p *botctx.UploadFileToObjectStoreParams) { p.Filename = name }
	}
	of := func(contentType string) func(*botctx.UploadFileToObjectStoreParams) {
		return func(p *botctx.UploadFileToObjectStoreParams) { p.ContentType = contentType }
	}
	with := func(pairs ...any) func(*botctx.UploadFileToObjectStoreParams) {
		return func(p *botctx.UploadFileToObjectStoreParams) { p.Options = document.O(pairs...) }
	}
	for name, c := range map[string]struct {
		field  string
		change func(*botctx.UploadFileToObjectStoreParams)
	}{
		"no URL":                     {"url", from("")},
		"no web address":             {"url", from("ftp://shop.example/a")},
		"a relative address":         {"url", from("/a")},
		"a file":                     {"url", from("file:///etc/passwd")},
		"a data URL":                 {"url", from("data:text/plain,x")},
		"a password":                 {"url", from("https://u:p@shop.example/a")},
		"a broken URL":               {"url", from("https://shop.example/%zz")},
		"a private address":          {"url", from("http://10.0.0.1/a")},
		"this machine":               {"url", from("http://localhost/a")},
		"where clouds keep secrets":  {"url", from("http://169.254.169.254/latest/meta-data")},
		"no name":                    {"filename", named("")},
		"an absolute path":           {"filename", named("/a")},
		"a folder":                   {"filename", named("a/")},
		"an empty part":              {"filename", named("a//b")},
		"a way up":                   {"filename", named("../app-2/channel-1/a")},
		"a way up further down":      {"filename", named("a/../../b")},
		"this folder":                {"filename", named("./a")},
		"a backslash":                {"filename", named(`a\..\b`)},
		"a NUL":                      {"filename", named("a\x00.pdf")},
		"a line break":               {"filename", named("a\nb")},
		"a name that is no UTF-8":    {"filename", named("a\xff")},
		"a long name":                {"filename", named(strings.Repeat("a", 1025))},
		"a name that fills the key":  {"filename", named(strings.Repeat("a", 1024))},
		"no media type":              {"contentType", of("")},
		"half a media type":          {"contentType", of("image")},
		"a media type with an end":   {"contentType", of("image/png\r\nX-A: b")},
		"a broken parameter":         {"contentType", of("text/plain; charset")},
		"a control in a parameter":   {"contentType", of("text/plain; a=\"\x01\"")},
		"an unknown option":          {"options.json", with("json", true)},
		"an unknown option of null":  {"options.timeout", with("timeout", nil)},
		"an encoding":                {"options.encoding", with("encoding", "utf8")},
		"a method of no text":        {"options.method", with("method", 7)},
		"an empty method":            {"options.method", with("method", "")},
		"a method of two words":      {"options.method", with("method", "GET /")},
		"a method without a file":    {"options.method", with("method", "head")},
		"headers of no object":       {"options.headers", with("headers", "a: b")},
		"a header of no text":        {"options.headers.X-A", with("headers", document.O("X-A", true))},
		"a header of two lines":      {"options.headers.X-A", with("headers", document.O("X-A", "a\r\nX-B: c"))},
		"a header with a bad name":   {"options.headers", with("headers", document.O("X A", "a"))},
		"a header of the client":     {"options.headers.Host", with("headers", document.O("Host", "internal"))},
		"a body of no text":          {"options.body", with("body", 7)},
		"options that are no object": {"options", with(7, 7)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			utilities := withBill(t)
			result, err := utilities.UploadFileToObjectStore(t.Context(), newUpload(c.change))
			requireField(t, err, "uploadFileToObjectStore", boterr.InvalidArgument, c.field)
			require.NotContains(t, err.Error(), "hunter2")
			require.Equal(t, botctx.UploadFileToObjectStoreResult{}, result)
			require.Empty(t, utilities.Platform.HTTP.Requests())
			require.Empty(t, utilities.Platform.Files())
		})
	}
}

func TestAnUploadNeedsAChannelOfItsApp(t *testing.T) {
	t.Parallel()
	utilities := withBill(t)
	utilities.Platform.AddChannel(channel.Channel{App: "app-2", ID: "other"})
	for _, id := range []botctx.ChannelID{"other", "nowhere", ".."} {
		_, err := utilities.UploadFileToObjectStore(t.Context(),
			newUpload(func(p *botctx.UploadFileToObjectStoreParams) { p.Channel = id }))
		requireField(t, err, "uploadFileToObjectStore", boterr.NotFound, "channel")
	}
	_, err := utilities.Platform.Operations(record.Scope{}).UploadFileToObjectStore(t.Context(), newUpload())
	requireField(t, err, "uploadFileToObjectStore", boterr.InvalidArgument, "channel")
	_, err = utilities.Member.Context().Call(t.Context(), "uploadFileToObjectStore", json.RawMessage(
		`{"url": "`+billURL+`", "filename": "a", "contentType": "a/b", "channel": {"name": "Desk"}}`))
	requireField(t, err, "uploadFileToObjectStore", boterr.InvalidArgument, "channel._id")
	require.Empty(t, utilities.Platform.HTTP.Requests())
}

func TestAnUploadTellsStatusesApart(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]boterr.Code{
		200: "", 201: "", 206: "", 301: boterr.Unavailable, 304: boterr.Unavailable,
		400: boterr.InvalidArgument, 401: boterr.InvalidArgument, 404: boterr.InvalidArgument, 410: boterr.InvalidArgument,
		408: boterr.Unavailable, 429: boterr.Unavailable, 500: boterr.Unavailable, 503: boterr.Unavailable,
	} {
		utilities := fakes.NewUtilities(fakes.For(t))
		utilities.Platform.HTTP.Add("GET", billURL, replies.Text(status, "a text"))
		_, err := utilities.UploadFileToObjectStore(t.Context(), newUpload())
		if want == "" {
			require.NoError(t, err, "status %d", status)
			require.Len(t, utilities.Platform.Files(), 1)
			continue
		}
		require.ErrorIs(t, err, want, "status %d", status)
		e, _ := boterr.AsError(err)
		require.Equal(t, want == boterr.InvalidArgument, e.Field == "url", "status %d", status)
		require.NotContains(t, err.Error(), "hunter2")
		require.Empty(t, utilities.Platform.Files())
	}
}

func TestAnUploadIsNotRedirectedToAPrivateAddress(t *testing.T) {
	t.Parallel()
	utilities := fakes.NewUtilities(fakes.For(t))
	utilities.Platform.HTTP.Add("GET", billURL, replies.Redirect(302, "http://169.254.169.254/latest"))
	_, err := utilities.UploadFileToObjectStore(t.Context(), newUpload())
	requireField(t, err, "uploadFileToObjectStore", boterr.InvalidArgument, "url")
	require.Len(t, utilities.Platform.HTTP.Requests(), 1)
	require.Empty(t, utilities.Platform.Files())
}

func TestAFileOfTheLimitIsStoredAndALargerOneIsNot(t *testing.T) {
	t.Parallel()
	utilities := withBill(t, fakes.Upload(botctx.UploadLimits{MaxBytes: 6}))
	utilities.Platform.HTTP.Add("GET", "https://shop.example/large", replies.Text(200, "a bill!"))
	for _, from := range []string{billURL, "https://shop.example/large"} {
		_, err := utilities.UploadFileToObjectStore(t.Context(), newUpload(func(p *botctx.UploadFileToObjectStoreParams) { p.URL = from }))
		if from == billURL {
			require.NoError(t, err)
			continue
		}
		requireField(t, err, "uploadFileToObjectStore", boterr.ResourceExhausted, "url")
	}
	require.Equal(t, "a bill", string(utilities.Platform.File("app-1/channel-1/bills/7.pdf").Content), "the file before stays")
}

// doerFunc is a client that answers by a function.
type doerFunc func(*http.Request) (*http.Response, error)

func (f doerFunc) Do(request *http.Request) (*http.Response, error) { return f(request) }

// storeFunc is an object store.
type storeFunc func(context.Context, botctx.StoredFile) error

func (f storeFunc) Put(ctx context.Context, file botctx.StoredFile) error { return f(ctx, file) }

// body is the body of a response, of which is known whether it was closed.
type body struct {
	io.Reader

	closed bool
}

func (b *body) Close() error {
	b.closed = true
	return nil
}

// uploader returns the operations of a host whose web gives a body of unknown length, and
// what the host's store keeps.
func uploader(t *testing.T, content *body, change ...func(*botctx.Config)) (*botctx.Context, map[string]string) {
	t.Helper()
	stored := map[string]string{}
	config := botctx.Config{
		HTTP: doerFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: content, ContentLength: -1}, nil
		}),
		ObjectStore: storeFunc(func(_ context.Context, file botctx.StoredFile) error {
			text, err := io.ReadAll(file.Content)
			if err == nil {
				stored[file.Key] = string(text)
			}
			return err
		}),
		LoadChannel: func(_ context.Context, _, id string) (*channel.Channel, error) { return &channel.Channel{ID: id}, nil },
	}
	for _, alter := range change {
		alter(&config)
	}
	return newRuntime(t, config).Operations(record.Scope{App: "app", Channel: "web"}), stored
}

// ends returns a reader that gives a text and then an error.
func ends(text string, err error) io.Reader {
	return io.MultiReader(strings.NewReader(text), readerFunc(func([]byte) (int, error) { return 0, err }))
}

// readerFunc is a reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestAnUploadThatBreaksStoresNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content io.Reader
		code    boterr.Code
		field   string
	}{
		"whole":                 {content: strings.NewReader("123456")},
		"too large":             {strings.NewReader("1234567"), boterr.ResourceExhausted, "url"},
		"endless":               {readerFunc(func(p []byte) (int, error) { return len(p), nil }), boterr.ResourceExhausted, "url"},
		"cut off":               {ends("123", io.ErrUnexpectedEOF), boterr.Unavailable, ""},
		"a wrapped end":         {ends("123", fmt.Errorf("reset: %w", io.EOF)), boterr.Unavailable, ""},
		"a limit of the client": {ends("123", boterr.New(boterr.ResourceExhausted, "", "too long")), boterr.ResourceExhausted, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := &body{Reader: c.content}
			bot, stored := uploader(t, content, func(config *botctx.Config) { config.Upload.MaxBytes = 6 })
			_, err := bot.UploadFileToObjectStore(t.Context(), newUpload())
			require.True(t, content.closed)
			if c.code == "" {
				require.NoError(t, err)
				require.Equal(t, map[string]string{"app/web/bills/7.pdf": "123456"}, stored)
				return
			}
			requireField(t, err, "uploadFileToObjectStore", c.code, c.field)
			require.Empty(t, stored)
		})
	}
}

func TestTheLimitsOfTheClientHoldForUploads(t *testing.T) {
	t.Parallel()
	var web replies.Replies
	web.Add("GET", billURL, replies.Text(200, "a bill"))
	client, err := outbound.New(outbound.Config{Transport: &web, MaxResponseBytes: 5})
	require.NoError(t, err)
	bot, stored := uploader(t, nil, func(config *botctx.Config) { config.HTTP = client })
	_, err = bot.UploadFileToObjectStore(t.Context(), newUpload())
	requireField(t, err, "uploadFileToObjectStore", boterr.ResourceExhausted, "")
	require.Empty(t, stored)
}

// A store that does not heed the error of reading does not make half a file a whole one.
func TestAnUploadFailsWhereTheStoreIgnoresThatReadingFailed(t *testing.T) {
	t.Parallel()
	content := &body{Reader: ends("123", io.ErrUnexpectedEOF)}
	bot, _ := uploader(t, content, func(config *botctx.Config) {
		config.ObjectStore = storeFunc(func(_ context.Context, file botctx.StoredFile) error {
			_, _ = io.ReadAll(file.Content)
			return nil
		})
	})
	_, err := bot.UploadFileToObjectStore(t.Context(), newUpload())
	requireField(t, err, "uploadFileToObjectStore", boterr.Unavailable, "")
}

func TestAnUploadIsStreamed(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	content := &body{Reader: reader}
	bot, _ := uploader(t, content, func(config *botctx.Config) {
		config.ObjectStore = storeFunc(func(_ context.Context, file botctx.StoredFile) error {
			for _, part := range []string{"one", "two"} { // The web gives a part when the one before was stored.
				go func() { _, _ = io.WriteString(writer, part) }()
				if _, err := io.ReadFull(file.Content, make([]byte, len(part))); err != nil {
					return err
				}
			}
			_ = writer.Close()
			_, err := io.Copy(io.Discard, file.Content)
			return err
		})
	})
	_, err := bot.UploadFileToObjectStore(t.Context(), newUpload())
	require.NoError(t, err)
	require.True(t, content.closed)
}

func TestAnUploadThatIsTooSlowIsEnded(t *testing.T) {
	t.Parallel()
	waits := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	for name, change := range map[string]func(*botctx.Config){
		"to answer": func(config *botctx.Config) {
			config.HTTP = doerFunc(func(request *http.Request) (*http.Response, error) { return nil, waits(request.Context()) })
		},
		"to come": func(config *botctx.Config) {
			config.HTTP = doerFunc(func(request *http.Request) (*http.Response, error) {
				slow := readerFunc(func([]byte) (int, error) { return 0, waits(request.Context()) })
				return &http.Response{StatusCode: 200, Body: &body{Reader: slow}, ContentLength: -1}, nil
			})
		},
		"a byte a second": func(config *botctx.Config) {
			config.HTTP = doerFunc(func(*http.Request) (*http.Response, error) {
				slow := readerFunc(func(p []byte) (int, error) {
					<-time.After(time.Second)
					return copy(p, "x"), nil
				})
				return &http.Response{StatusCode: 200, Body: &body{Reader: slow}, ContentLength: -1}, nil
			})
		},
		"to be stored": func(config *botctx.Config) {
			config.ObjectStore = storeFunc(func(ctx context.Context, _ botctx.StoredFile) error { return waits(ctx) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now() //nolint:forbidigo // The time of the bubble.
				bot, stored := uploader(t, &body{Reader: strings.NewReader("a bill")}, change,
					func(config *botctx.Config) { config.Upload.Timeout = 10 * time.Second })
				_, err := bot.UploadFileToObjectStore(t.Context(), newUpload())
				requireField(t, err, "uploadFileToObjectStore", boterr.ResourceExhausted, "")
				require.Empty(t, stored)
				require.Equal(t, 10*time.Second, time.Since(began)) //nolint:forbidigo // The time of the bubble.
			})
		})
	}
}

func TestAnUploadIsCanceledWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	content := &body{Reader: readerFunc(func(p []byte) (int, error) {
		cancel()
		return copy(p, "x"), nil
	})}
	bot, stored := uploader(t, content)
	_, err := bot.UploadFileToObjectStore(ctx, newUpload())
	requireField(t, err, "uploadFileToObjectStore", boterr.Canceled, "")
	require.Empty(t, stored)
	require.True(t, content.closed)
}

func TestTheBodyIsClosedWhateverTheStoreDoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		store storeFunc
		code  boterr.Code
	}{
		"fails":            {func(context.Context, botctx.StoredFile) error { return errors.New("down") }, boterr.Unavailable},
		"times out itself": {func(context.Context, botctx.StoredFile) error { return context.DeadlineExceeded }, boterr.Unavailable},
		"is full":          {func(context.Context, botctx.StoredFile) error { return boterr.ResourceExhausted }, boterr.ResourceExhausted},
		"panics":           {func(context.Context, botctx.StoredFile) error { panic("boom") }, boterr.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := &body{Reader: strings.NewReader("a bill")}
			bot, _ := uploader(t, content, func(config *botctx.Config) { config.ObjectStore = c.store })
			_, err := bot.UploadFileToObjectStore(t.Context(), newUpload())
			requireField(t, err, "uploadFileToObjectStore", c.code, "")
			require.True(t, content.closed)
		})
	}
	content := &body{Reader: strings.NewReader("no such bill")}
	bot, _ := uploader(t, content, func(config *botctx.Config) {
		config.HTTP = doerFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 404, Body: content}, nil
		})
	})
	_, err := bot.UploadFileToObjectStore(t.Context(), newUpload())
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.True(t, content.closed)
}

func TestWithoutAnObjectStoreUploadsAreUnsupported(t *testing.T) {
	t.Parallel()
	bot, _ := uploader(t, nil, func(config *botctx.Config) { config.ObjectStore = nil })
	_, err := bot.UploadFileToObjectStore(t.Context(), newUpload())
	requireField(t, err, "uploadFileToObjectStore", boterr.Unsupported, "")
}

func TestUploadsGoThroughTheGuardedClientByDefault(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"http://127.0.0.1:1/a", "http://[::1]/a", "http://localhost/a", "http://192.168.0.1/a"} {
		bot, stored := uploader(t, nil, func(config *botctx.Config) { config.HTTP = nil })
		_, err := bot.UploadFileToObjectStore(t.Context(), newUpload(func(p *botctx.UploadFileToObjectStoreParams) { p.URL = address }))
		requireField(t, err, "uploadFileToObjectStore", boterr.InvalidArgument, "url")
		require.Empty(t, stored)
	}
}

func TestTheErrorOfAnyClientHidesTheQuery(t *testing.T) {
	t.Parallel()
	bot, _ := uploader(t, nil, func(config *botctx.Config) {
		config.HTTP = doerFunc(func(request *http.Request) (*http.Response, error) {
			return nil, &url.Error{Op: "Get", URL: request.URL.String(), Err: errors.New("refused")}
		})
	})
	_, err := bot.UploadFileToObjectStore(t.Context(), newUpload())
	requireField(t, err, "uploadFileToObjectStore", boterr.Unavailable, "")
	for ; err != nil; err = errors.Unwrap(err) {
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestNoTwoFilesShareAKey(t *testing.T) {
	t.Parallel()
	var keys []string
	runtime := newRuntime(t, botctx.Config{
		HTTP: doerFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
		}),
		ObjectStore: storeFunc(func(_ context.Context, file botctx.StoredFile) error {
			keys = append(keys, file.Key)
			return nil
		}),
		LoadChannel: func(_ context.Context, _, id string) (*channel.Channel, error) { return &channel.Channel{ID: id}, nil },
	})
	for _, scope := range []record.Scope{
		{App: "a", Channel: "b/c"}, {App: "a/b", Channel: "c"}, {App: "a%2Fb", Channel: "c"}, {App: "a", Channel: ".."},
		{App: "..", Channel: "b"}, {App: "a", Channel: "%2E%2E"}, {App: ".", Channel: "é ?#"},
	} {
		_, err := runtime.Operations(scope).UploadFileToObjectStore(t.Context(),
			newUpload(func(p *botctx.UploadFileToObjectStoreParams) { p.Filename = "c/%2E é" }))
		require.NoError(t, err)
	}
	require.Equal(t, []string{
		"a/b%2Fc/c/%2E é", "a%2Fb/c/c/%2E é", "a%252Fb/c/c/%2E é", "a/%2E%2E/c/%2E é",
		"%2E%2E/b/c/%2E é", "a/%252E%252E/c/%2E é", "%2E/%C3%A9%20%3F%23/c/%2E é",
	}, keys)
}

func TestAContentTypeIsStoredInItsUsualSpelling(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"image/png": "image/png", "IMAGE/PNG": "image/png", `Text/Plain;Charset="utf-8"`: "text/plain; charset=utf-8",
	} {
		utilities := withBill(t)
		_, err := utilities.UploadFileToObjectStore(t.Context(),
			newUpload(func(p *botctx.UploadFileToObjectStoreParams) { p.ContentType = given }))
		require.NoError(t, err)
		require.Equal(t, want, utilities.Platform.Files()[0].ContentType)
	}
}

func TestUploadsAreSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	utilities := withBill(t)
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			_, err := utilities.UploadFileToObjectStore(context.Background(),
				newUpload(func(p *botctx.UploadFileToObjectStoreParams) { p.Filename = fmt.Sprintf("%d", i%16) }))
			if err != nil {
				t.Errorf("upload %d: %v", i, err)
			}
		})
	}
	all.Wait()
	require.Len(t, utilities.Platform.Files(), 16)
}
