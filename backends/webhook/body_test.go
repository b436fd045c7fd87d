package webhook_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webhook"
)

func TestHandler_SlowBody(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(handling(t, &desk{}, webhook.Config{Inbound: webhook.Limits{BodyTime: time.Millisecond}}))
	t.Cleanup(server.Close)
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	slow := arrives("msg_1", now, inboundBody("hi"))
	slow.Body = io.NopCloser(strings.NewReader("{"))
	slow.ContentLength = 1
	var sent bytes.Buffer
	require.NoError(t, slow.Write(&sent))
	_, err = fmt.Fprint(conn, strings.Replace(sent.String(), "Content-Length: 1\r\n", "Content-Length: 100\r\n", 1))
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusRequestTimeout, resp.StatusCode)
}

// unread is a body that nobody may read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

func (u unread) Close() error { return nil }

func TestHandler_UnsignableBodyIsNotRead(t *testing.T) {
	t.Parallel()
	handler := handling(t, &desk{}, webhook.Config{})
	for name, change := range map[string]func(http.Header){
		"no signature": func(h http.Header) { h.Del("Webhook-Signature") },
		"an old time":  func(h http.Header) { h.Set("Webhook-Timestamp", "1600000000") },
	} {
		req := arrives("msg_1", now, inboundBody("hi"))
		req.Body = unread{t}
		change(req.Header)
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, req)
		require.Equal(t, http.StatusUnauthorized, recorder.Code, name)
		require.Equal(t, "close", recorder.Header().Get("Connection"), "%s: else the server reads it before it answers", name)
	}
}

func TestHandler_BodyAfterSignature(t *testing.T) {
	t.Parallel()
	handler := handling(t, &desk{}, webhook.Config{})
	for name, body := range map[string]string{
		"arrays too deep":          `{"app":"a1","channel":"c1","messageEvent":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`,
		"a sender that is another": `{"app":"a1","channel":"c1","messageEvent":{"type":"TEXT","from":"a","data":{"text":"x"}},"channel":"c2"}`,
	} {
		signed := arrives("msg_1", now, []byte(body))
		status, _ := serve(handler, signed)
		require.Equal(t, http.StatusBadRequest, status, name)
		forged := withBody(arrives("msg_1", now, inboundBody("hi")), []byte(body))
		status, told := serve(handler, forged)
		require.Equal(t, http.StatusUnauthorized, status, "%s: %s", name, told)
	}
}
