package bounded_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
)

func TestReadAll_Limit(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "abc", "abcd"} {
		for name, reader := range map[string]io.Reader{
			"at once": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)),
			"with its end": iotest.DataErrReader(strings.NewReader(text)),
		} {
			read, err := bounded.ReadAll(reader, 4)
			require.NoError(t, err, name)
			require.Equal(t, text, string(read), name)
		}
	}
	var tooLong *bounded.TooLongError
	read, err := bounded.ReadAll(strings.NewReader("abcde"), 4)
	require.ErrorAs(t, err, &tooLong)
	require.Equal(t, "abcd", string(read))
}

func TestAddress(t *testing.T) {
	t.Parallel()
	address, err := bounded.Address("https://platform.example/v1/", "a/../b c", "19:x@y;z?+#%.é")
	require.NoError(t, err)
	require.Equal(t, "https://platform.example/v1/a%2F..%2Fb%20c/19%3Ax%40y%3Bz%3F%2B%23%25.%C3%A9", address)
	for _, segment := range []string{"", ".", ".."} {
		_, err := bounded.Address("https://platform.example", "teams", segment, "members")
		require.ErrorIs(t, err, boterr.InvalidArgument, segment)
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	require.NoError(t, bounded.CheckURL("url", "https://user@files.example/a.png?b#c"))
	for _, address := range []string{"", "files.example/a", "ftp://files.example/a", "https:///a", "https://files.example/\xff", "::"} {
		require.ErrorIs(t, bounded.CheckURL("url", address), boterr.InvalidArgument, address)
	}
}

func TestParseBase(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"https://api.example/v1": true, "http://127.0.0.1:80": true, "https://u:p@api.example": false,
		"https://api.example?a=b": false, "https://api.example#a": false, "api.example": false,
	} {
		_, isBase := bounded.ParseBase(address)
		require.Equal(t, want, isBase, address)
	}
}

func TestUnanswered(t *testing.T) {
	t.Parallel()
	cause := errors.New("no way to https://api.example with s3cret")
	err := bounded.Unanswered(t.Context(), &url.Error{Op: "Get", URL: "https://api.example?key=s3cret", Err: cause}, "", "s3cret")
	require.EqualError(t, err, "no way to https://api.example with [redacted]")
	require.ErrorIs(t, bounded.Unanswered(t.Context(), boterr.Invalid("host", "is private")), boterr.FailedPrecondition)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, bounded.Unanswered(ended, cause), context.Canceled)
}

func TestReader_StaysEnded(t *testing.T) {
	t.Parallel()
	over := errors.New("over")
	reader := bounded.NewReader(strings.NewReader("abcde"), 4, over)
	_, err := io.ReadAll(reader)
	require.ErrorIs(t, err, over)
	_, err = reader.Read(make([]byte, 1))
	require.ErrorIs(t, err, over)
}

func TestClient_EndlessBody(t *testing.T) {
	t.Parallel()
	server := boundedtest.Serve(t, true, boundedtest.Answers("200 OK"), "a")
	client := bounded.Client(&http.Client{}, bounded.Limits{Time: time.Minute, MaxBytes: 1 << 10})
	answer, err := get(t, client, "http://"+server.Address)
	require.NoError(t, err)
	var tooLong *bounded.TooLongError
	read, err := io.ReadAll(answer.Body)
	require.ErrorAs(t, err, &tooLong)
	require.Len(t, read, 1<<10)
	server.RequireHungUp(t, 1) // The test has not closed the body yet.
	require.NoError(t, answer.Body.Close())
}

func TestClient_Redirect(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewServer(http.RedirectHandler("/secret", status))
		t.Cleanup(server.Close)
		_, err := get(t, bounded.Client(&http.Client{}, bounded.Limits{MaxBytes: 1}), server.URL) //nolint:bodyclose // There is no response.
		var redirect *bounded.RedirectError
		require.ErrorAs(t, err, &redirect)
		require.Equal(t, status, redirect.Status)
		require.NotContains(t, redirect.Error(), "secret")
	}
}

func TestClient_TimeLimit(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(func() {
		close(release)
		server.Close()
	})
	for _, client := range []*http.Client{
		bounded.Client(&http.Client{}, bounded.Limits{Time: time.Millisecond}),
		bounded.Client(&http.Client{Timeout: time.Millisecond}, bounded.Limits{Time: time.Hour}),
		bounded.Client(&http.Client{Timeout: time.Hour}, bounded.Limits{Time: time.Millisecond}),
	} {
		_, err := get(t, client, server.URL) //nolint:bodyclose // There is no response.
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
}

func TestClient_GivenStaysAsItIs(t *testing.T) {
	t.Parallel()
	given := &http.Client{}
	bounded.Client(given, bounded.Limits{Time: time.Hour, MaxBytes: 1}).CloseIdleConnections()
	require.Equal(t, &http.Client{}, given)
}

func TestDial_EndlessAnswer(t *testing.T) {
	t.Parallel()
	server := boundedtest.Serve(t, false, "a", "a")
	conn, err := bounded.Dial(t.Context(), server.Address, 1<<10)
	require.NoError(t, err)
	var tooLong *bounded.TooLongError
	read, err := io.ReadAll(conn)
	require.ErrorAs(t, err, &tooLong)
	require.Len(t, read, 1<<10)
	server.RequireHungUp(t, 1)
}

func TestDial_ContextEnds(t *testing.T) {
	t.Parallel()
	server := boundedtest.Serve(t, true, "", "a") // The server sends data only after a request.
	ctx, cancel := context.WithCancel(t.Context())
	conn, err := bounded.Dial(ctx, server.Address, 1)
	require.NoError(t, err)
	cancel()
	_, err = conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = bounded.Dial(ctx, server.Address, 1)
	require.ErrorIs(t, err, context.Canceled)
}

func get(t *testing.T, client *http.Client, address string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	require.NoError(t, err)
	return client.Do(request)
}
