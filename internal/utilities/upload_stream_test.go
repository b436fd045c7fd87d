package utilities_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/utility"
)

// doerFunc is an outbound.Doer made of a function.
type doerFunc func(*http.Request) (*http.Response, error)

func (f doerFunc) Do(request *http.Request) (*http.Response, error) { return f(request) }

type storeFunc func(context.Context, utility.StoredFile) error

func (f storeFunc) Put(ctx context.Context, file utility.StoredFile) error { return f(ctx, file) }

// body is the body of a response. It records whether it was closed.
type body struct {
	io.Reader

	closed bool
}

func (b *body) Close() error {
	b.closed = true
	return nil
}

// uploader returns the operations of a host, and the files in the host's store by key. Every HTTP request of
// the host gets the given content, without a Content-Length.
func uploader(t *testing.T, content *body, change ...func(*botctx.Config)) (*botctx.Context, map[string]string) {
	t.Helper()
	stored := map[string]string{}
	config := botctx.Config{
		HTTP: doerFunc(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: content, ContentLength: -1}, nil
		}),
		ObjectStore: storeFunc(func(_ context.Context, file utility.StoredFile) error {
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
	return newRuntime(t, config).Operations(botctx.Scope{App: "app", Channel: "web"}), stored
}

// ends returns a reader that returns "123" and then an error.
func ends(err error) io.Reader {
	return io.MultiReader(strings.NewReader("123"), readerFunc(func([]byte) (int, error) { return 0, err }))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestUpload_Breaks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content io.Reader
		code    boterr.Code
		field   string
	}{
		"whole":                 {content: strings.NewReader("123456")},
		"too large":             {strings.NewReader("1234567"), boterr.ResourceExhausted, "url"},
		"endless":               {readerFunc(func(p []byte) (int, error) { return len(p), nil }), boterr.ResourceExhausted, "url"},
		"cut off":               {ends(io.ErrUnexpectedEOF), boterr.Unavailable, ""},
		"a wrapped end":         {ends(fmt.Errorf("reset: %w", io.EOF)), boterr.Unavailable, ""},
		"a limit of the client": {ends(boterr.New(boterr.ResourceExhausted, "", "too long")), boterr.ResourceExhausted, ""},
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

// An upload must fail if reading the content failed, even if the store ignores the error and reports success.
func TestUpload_IgnoredReadError(t *testing.T) {
	t.Parallel()
	content := &body{Reader: ends(io.ErrUnexpectedEOF)}
	bot, _ := uploader(t, content, func(config *botctx.Config) {
		config.ObjectStore = storeFunc(func(_ context.Context, file utility.StoredFile) error {
			_, _ = io.ReadAll(file.Content)
			return nil
		})
	})
	_, err := bot.UploadFileToObjectStore(t.Context(), newUpload())
	requireField(t, err, "uploadFileToObjectStore", boterr.Unavailable, "")
}

func TestUpload_Streams(t *testing.T) {
	t.Parallel()
	reader, writer := io.Pipe()
	content := &body{Reader: reader}
	bot, _ := uploader(t, content, func(config *botctx.Config) {
		config.ObjectStore = storeFunc(func(_ context.Context, file utility.StoredFile) error {
			for _, part := range []string{"one", "two"} { // The server sends each part after the store has read the previous one.
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

func TestUpload_TooSlow(t *testing.T) {
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
				return &http.Response{StatusCode: http.StatusOK, Body: &body{Reader: slow}, ContentLength: -1}, nil
			})
		},
		"byte by byte": func(config *botctx.Config) {
			config.HTTP = doerFunc(func(*http.Request) (*http.Response, error) {
				slow := readerFunc(func(p []byte) (int, error) {
					<-time.After(1500 * time.Millisecond)
					return copy(p, "x"), nil
				})
				return &http.Response{StatusCode: http.StatusOK, Body: &body{Reader: slow}, ContentLength: -1}, nil
			})
		},
		"to be stored": func(config *botctx.Config) {
			config.ObjectStore = storeFunc(func(ctx context.Context, _ utility.StoredFile) error { return waits(ctx) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now() //nolint:forbidigo // The clock of synctest.
				bot, stored := uploader(t, &body{Reader: strings.NewReader("a bill")}, change,
					func(config *botctx.Config) { config.Upload.Timeout = 10 * time.Second })
				_, err := bot.UploadFileToObjectStore(t.Context(), newUpload())
				requireField(t, err, "uploadFileToObjectStore", boterr.ResourceExhausted, "")
				require.Empty(t, stored)
				took := time.Since(began) //nolint:forbidigo // The clock of synctest.
				require.GreaterOrEqual(t, took, 10*time.Second)
				require.Less(t, took, 11*time.Second)
			})
		})
	}
}

func TestUpload_Timeout(t *testing.T) {
	t.Parallel()
	for ms, allowed := range map[float64]time.Duration{1500: 1500 * time.Millisecond, 60_000: 10 * time.Second, 1e300: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var left time.Duration
			bot, _ := uploader(t, &body{Reader: strings.NewReader("a bill")}, func(config *botctx.Config) {
				config.Upload.Timeout = 10 * time.Second
				config.HTTP = doerFunc(func(request *http.Request) (*http.Response, error) {
					deadline, _ := request.Context().Deadline()
					left = time.Until(deadline) //nolint:forbidigo // The clock of synctest.
					<-request.Context().Done()
					return nil, request.Context().Err()
				})
			})
			_, err := bot.UploadFileToObjectStore(t.Context(), newUpload(func(p *utility.UploadFileToObjectStoreParams) {
				p.Options = document.O("timeout", ms)
			}))
			requireField(t, err, "uploadFileToObjectStore", boterr.ResourceExhausted, "")
			require.Equal(t, allowed, left)
		})
	}
}

func TestUpload_Canceled(t *testing.T) {
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

func TestUpload_ClosesBody(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		store storeFunc
		code  boterr.Code
	}{
		"fails":            {func(context.Context, utility.StoredFile) error { return errors.New("down") }, boterr.Unavailable},
		"times out itself": {func(context.Context, utility.StoredFile) error { return context.DeadlineExceeded }, boterr.Unavailable},
		"is full":          {func(context.Context, utility.StoredFile) error { return boterr.ResourceExhausted }, boterr.ResourceExhausted},
		"panics":           {func(context.Context, utility.StoredFile) error { panic("boom") }, boterr.Internal},
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
			return &http.Response{StatusCode: http.StatusNotFound, Body: content}, nil
		})
	})
	_, err := bot.UploadFileToObjectStore(t.Context(), newUpload())
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.True(t, content.closed)
}

func TestUpload_NoStore(t *testing.T) {
	t.Parallel()
	bot, _ := uploader(t, nil, func(config *botctx.Config) { config.ObjectStore = nil })
	_, err := bot.UploadFileToObjectStore(t.Context(), newUpload())
	requireField(t, err, "uploadFileToObjectStore", boterr.Unsupported, "")
}

func TestUpload_ErrorHidesQuery(t *testing.T) {
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
