package s3_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/blob/s3"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
)

func TestUpload_EndlessAnswer(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]struct{ head, filler string }{
		"a failure":   {boundedtest.Answers("403 Forbidden") + "<Error><Code>", "a"},
		"a success":   {boundedtest.Answers("200 OK"), "a"},
		"its headers": {"HTTP/1.1 200 OK\r\n", "X-A: a\r\n"},
	} {
		for size, content := range map[string]string{"one part": "12.50", "several": strings.Repeat("a", 6<<20)} {
			t.Run(name+", "+size, func(t *testing.T) {
				t.Parallel()
				server := boundedtest.Serve(t, true, said.head, said.filler)
				store, err := s3.Open(t.Context(), config("http://"+server.Address))
				require.NoError(t, err)
				_ = store.Put(t.Context(), botctx.StoredFile{
					Key: "app/channel/bills/7.txt", ContentType: "text/plain", Content: strings.NewReader(content),
				}) // A success that goes on for ever may count as one.
				server.RequireHungUp(t, 1)
				require.NoError(t, store.Close())
			})
		}
	}
}

// A file goes nowhere but to the bucket.
func TestUpload_RedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	for _, status := range []int{
		http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
			t.Cleanup(elsewhere.Close)
			bucket := httptest.NewServer(http.RedirectHandler(elsewhere.URL, status))
			t.Cleanup(bucket.Close)
			store, err := s3.Open(t.Context(), config(bucket.URL))
			require.NoError(t, err)
			require.ErrorIs(t, store.Put(t.Context(), aFile()), boterr.FailedPrecondition)
			require.Zero(t, asked.Load())
			require.NoError(t, store.Close())
		})
	}
}

// A bucket that takes no more for now gets the file again once it asked to.
func TestUpload_RetryAfter(t *testing.T) {
	t.Parallel()
	for after, wants := range map[string]int32{"1": 2, "21": 1} {
		var asked atomic.Int32
		var first time.Time
		var waited atomic.Int64
		bucket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if asked.Add(1) == 1 {
				first = time.Now() //nolint:forbidigo // What the bucket asks for is real time.
				w.Header().Set("Retry-After", after)
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			waited.Store(int64(time.Since(first))) //nolint:forbidigo // See above.
		}))
		t.Cleanup(bucket.Close)
		store, err := s3.Open(t.Context(), config(bucket.URL))
		require.NoError(t, err)
		err = store.Put(t.Context(), aFile())
		require.Equal(t, wants == 2, err == nil, "%v", err)
		require.Equal(t, wants, asked.Load())
		if wants == 2 {
			require.GreaterOrEqual(t, time.Duration(waited.Load()), time.Second)
		}
		require.NoError(t, store.Close())
	}
}
