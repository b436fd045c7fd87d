package inbound_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/inbound"
)

func request(body io.Reader) *http.Request {
	return httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/", io.NopCloser(body))
}

func TestBody_WithinItsLimits(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	body, refused := inbound.ReadBody(w, request(strings.NewReader("hello")), inbound.Limits{MaxBytes: 5, Time: time.Hour})
	require.Nil(t, refused)
	require.Equal(t, "hello", string(body))
	require.Empty(t, w.Header())
}

func TestBody_SaysItIsTooLong(t *testing.T) {
	t.Parallel()
	r := request(unread{t})
	r.ContentLength = 6
	w := httptest.NewRecorder()
	_, refused := inbound.ReadBody(w, r, inbound.Limits{MaxBytes: 5, Time: time.Hour})
	require.Equal(t, http.StatusRequestEntityTooLarge, refused.Status)
	require.Equal(t, "close", w.Header().Get("Connection"))
}

// unread is a body that fails the test if it is read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func TestBody_TurnsOutTooLong(t *testing.T) {
	t.Parallel()
	_, refused := inbound.ReadBody(httptest.NewRecorder(), request(strings.NewReader("hello!")), inbound.Limits{MaxBytes: 5, Time: time.Hour})
	require.Equal(t, http.StatusRequestEntityTooLarge, refused.Status)
}

func TestBody_BreaksOff(t *testing.T) {
	t.Parallel()
	_, refused := inbound.ReadBody(httptest.NewRecorder(), request(broken{}), inbound.Limits{MaxBytes: 5, Time: time.Hour})
	require.Equal(t, http.StatusBadRequest, refused.Status)
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// drip is an endless body with one byte each second.
type drip struct{ reads int }

func (d *drip) Read(into []byte) (int, error) {
	d.reads++
	<-time.After(time.Second)
	return copy(into, "x"), nil
}

func TestBody_Drips(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &drip{}
		w := httptest.NewRecorder()
		_, refused := inbound.ReadBody(w, request(d), inbound.Limits{MaxBytes: 1 << 20, Time: 2500 * time.Millisecond})
		require.Equal(t, http.StatusRequestTimeout, refused.Status)
		require.Contains(t, refused.Reason, "2.5s")
		require.Equal(t, 3, d.reads)
		require.Equal(t, "close", w.Header().Get("Connection"))
	})
}

// silence is a body that does not arrive. Reads end when the connection gets a deadline in the past.
type silence struct {
	http.ResponseWriter

	ended chan struct{}
}

func (s *silence) Read([]byte) (int, error) {
	<-s.ended
	return 0, os.ErrDeadlineExceeded
}

func (s *silence) SetReadDeadline(at time.Time) error {
	if at.Before(time.Now()) { //nolint:forbidigo // Virtual time.
		close(s.ended)
	}
	return nil
}

func TestBody_ReadEndsWithTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &silence{httptest.NewRecorder(), make(chan struct{})}
		_, refused := inbound.ReadBody(s, request(s), inbound.Limits{MaxBytes: 5, Time: time.Second})
		require.Equal(t, http.StatusRequestTimeout, refused.Status)
	})
}

func TestBody_UnreadHoldsNoConnection(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		inbound.LeaveUnread(w)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	client, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	require.NoError(t, client.SetDeadline(time.Now().Add(20*time.Second))) //nolint:forbidigo // The test must end.
	_, err = io.WriteString(client, "POST / HTTP/1.1\r\nHost: bots\r\nContent-Length: 10\r\n\r\nslow")
	require.NoError(t, err)
	answer, err := io.ReadAll(client)
	require.NoError(t, err, "the server closes the connection, whose body never comes")
	require.Contains(t, string(answer), "401")
}

func TestTexts(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", inbound.MaxText)
	body := `{"app":"a\u0031","team":{"id":"T1"},"channel":7,"app":"a2","long":"` + long + `","longer":"` + long + `x"}`
	texts, ok := inbound.Texts([]byte(body), "app", "team.id", "channel", "none", "long", "longer")
	require.True(t, ok)
	require.Equal(t, []string{"a1", "T1", "", "", long, ""}, texts)
}

func TestTexts_NoObject(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `[]`, `"app"`, `{"app":"a1"`, `{"app":"a1"} x`, `{"app":` + strings.Repeat("[", 100_000)} {
		_, ok := inbound.Texts([]byte(body), "app")
		require.False(t, ok, body[:min(len(body), 20)])
	}
}

func TestTexts_NestedArrays(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	body := []byte(`{"x":[` + strings.Repeat("[[[]]],", 100_000) + `[]],"app":"a1"}`)
	allocations := testing.AllocsPerRun(1, func() { _, _ = inbound.Texts(body, "app") })
	require.Less(t, allocations, 100.0)
}

func TestIsSecret(t *testing.T) {
	t.Parallel()
	require.True(t, inbound.IsSecret("secret", "secret"))
	for _, given := range []string{"", "secre", "secrets", "Secret"} {
		require.False(t, inbound.IsSecret("secret", given), given)
	}
	require.False(t, inbound.IsSecret("", ""))
}
