package webhook_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webhook"
)

// Whatever arrives, signed or not, is taken or refused as the sender's fault.
func FuzzHandler(f *testing.F) {
	for _, body := range []string{
		string(inboundBody("hi")), "", "{}", "[[[", `{"app":"a1","channel":"c1","messageEvent":{"type":"PAYLOAD","from":"ada","data":{"payload":{}}}}`,
	} {
		f.Add("msg_1", strconv.FormatInt(now.Unix(), 10), "v1,x", "application/json", body, true)
		f.Add("", "", "", "", body, false)
	}
	f.Fuzz(func(t *testing.T, id, timestamp, signatures, contentType, body string, isSigned bool) {
		d := &desk{}
		req := arrives(id, now, []byte(body))
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Webhook-Timestamp", timestamp)
		req.Header.Set("Webhook-Signature", signatures)
		if isSigned {
			req.Header.Set("Webhook-Signature", signature([]byte(secret), id, timestamp, []byte(body)))
		}
		status, answer := serve(handling(t, d, webhook.Config{}), req)
		require.Less(t, status, http.StatusInternalServerError, answer)
		require.Equal(t, status == http.StatusOK, len(d.got) == 1)
		if !isSigned {
			require.NotEqual(t, http.StatusOK, status)
		}
	})
}
