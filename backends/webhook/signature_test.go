package webhook_test

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/connectortest"
)

const tolerance = 5 * time.Minute

// The first signature is the example in the Standard Webhooks specification. The second was computed with the
// openssl command in the package documentation.
func TestSignature_AsOthersMakeIt(t *testing.T) {
	t.Parallel()
	for _, vector := range []struct {
		secret, id string
		at         int64
		body, want string
	}{
		{
			"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330,
			`{"test": 2432232314}`, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
		},
		{secret, "msg_1", 1700000000, `{"text":"hi"}`, "v1,2/96Fi6DIQTE6/TEWuTaEuvSHZqEolGKLGsjVHiG26Q="},
	} {
		header := http.Header{}
		at := time.Unix(vector.at, 0)
		require.NoError(t, webhook.Sign(header, vector.id, at, []byte(vector.body), channel.NewSecret(vector.secret)))
		require.Equal(t, vector.want, header.Get(webhook.HeaderSignature))
		require.NoError(t, webhook.Verify(header, []byte(vector.body), at, tolerance, channel.NewSecret(vector.secret)))
	}
}

func TestSignature_EachSecret(t *testing.T) {
	t.Parallel()
	header, body := http.Header{}, []byte("{}")
	older, newer := channel.NewSecret(secret), channel.NewSecret(newSecret)
	require.NoError(t, webhook.Sign(header, "msg_1", now, body, newer, older))
	want := signature([]byte(newSecret), "msg_1", "1700000000", body) + " " + signature([]byte(secret), "msg_1", "1700000000", body)
	require.Equal(t, want, header.Get(webhook.HeaderSignature))
	require.NoError(t, webhook.Verify(header, body, now, tolerance, older))
	require.NoError(t, webhook.Verify(header, body, now, tolerance, newer))
	require.ErrorIs(t, webhook.Verify(header, body, now, tolerance, channel.NewSecret(strings.Repeat("x", 32))), boterr.FailedPrecondition)
	require.ErrorIs(t, webhook.Verify(header, body, now, tolerance), boterr.FailedPrecondition)
}

func TestSignature_AnyChangeIsRefused(t *testing.T) {
	t.Parallel()
	body := inboundBody("hi")
	key := channel.NewSecret(secret)
	signed := http.Header{}
	require.NoError(t, webhook.Sign(signed, "msg_1", now, body, key))
	require.NoError(t, webhook.Verify(signed, body, now, tolerance, key))
	for i := range body {
		changed := append([]byte(nil), body...)
		changed[i] ^= 1
		require.ErrorIs(t, webhook.Verify(signed, changed, now, tolerance, key), boterr.FailedPrecondition)
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signed.Get(webhook.HeaderSignature), "v1,"))
	require.NoError(t, err)
	for i := range raw {
		changed := append([]byte(nil), raw...)
		changed[i] ^= 1
		header := signed.Clone()
		header.Set(webhook.HeaderSignature, "v1,"+base64.StdEncoding.EncodeToString(changed))
		require.ErrorIs(t, webhook.Verify(header, body, now, tolerance, key), boterr.FailedPrecondition)
	}
	for name, value := range map[string]string{
		webhook.HeaderID:        "msg_2",
		webhook.HeaderTimestamp: "1700000001",
		webhook.HeaderSignature: strings.Replace(signed.Get(webhook.HeaderSignature), "v1,", "v2,", 1),
	} {
		header := signed.Clone()
		header.Set(name, value)
		require.ErrorIs(t, webhook.Verify(header, body, now, tolerance, key), boterr.FailedPrecondition, name)
		header.Del(name)
		require.ErrorIs(t, webhook.Verify(header, body, now, tolerance, key), boterr.FailedPrecondition, name)
	}
	twice := signed.Clone()
	twice.Add(webhook.HeaderID, "msg_1")
	require.ErrorIs(t, webhook.Verify(twice, body, now, tolerance, key), boterr.FailedPrecondition)
}

func TestSignature_TimeMustBeNear(t *testing.T) {
	t.Parallel()
	key := channel.NewSecret(secret)
	header := http.Header{}
	require.NoError(t, webhook.Sign(header, "msg_1", now, nil, key))
	for distance, isNear := range map[time.Duration]bool{
		0: true, tolerance: true, -tolerance: true,
		tolerance + time.Second: false, -tolerance - time.Second: false, 24 * time.Hour: false,
	} {
		err := webhook.Verify(header, nil, now.Add(distance), tolerance, key)
		require.Equal(t, isNear, err == nil, "%s: %v", distance, err)
	}
	for _, timestamp := range []string{"", "x", "1.7e9", "9223372036854775807", "-9223372036854775808", "99999999999999999999"} {
		header.Set(webhook.HeaderTimestamp, timestamp)
		header.Set(webhook.HeaderSignature, signature([]byte(secret), "msg_1", timestamp, nil))
		require.ErrorIs(t, webhook.Verify(header, nil, now, tolerance, key), boterr.FailedPrecondition, timestamp)
	}
}

func TestSign_Refuses(t *testing.T) {
	t.Parallel()
	key := channel.NewSecret(secret)
	for _, id := range []string{"", "a.b", "a b", "a\nb", "ä", strings.Repeat("x", 257)} {
		header := http.Header{}
		require.ErrorIs(t, webhook.Sign(header, id, now, nil, key), boterr.InvalidArgument, id)
		require.Empty(t, header)
	}
	for _, bad := range []string{"short", "whsec_%%%", "whsec_c2hvcnQ="} {
		err := webhook.Sign(http.Header{}, "msg_1", now, nil, channel.NewSecret(bad))
		require.ErrorIs(t, err, boterr.FailedPrecondition, bad)
		require.NotContains(t, err.Error(), bad)
	}
	require.ErrorIs(t, webhook.Sign(http.Header{}, "msg_1", now, nil), boterr.FailedPrecondition)
}

func TestCheckSecret(t *testing.T) {
	t.Parallel()
	require.NoError(t, webhook.CheckSecret(channel.NewSecret("sixteen-bytes-at")))
	require.ErrorIs(t, webhook.CheckSecret(channel.NewSecret("fifteen-bytes-a")), boterr.FailedPrecondition)
	require.ErrorIs(t, webhook.CheckSecret(channel.NewSecret("whsec_no base64")), boterr.FailedPrecondition)
}

// Any input is accepted or refused as the sender's fault, never with a 500.
func FuzzHandler(f *testing.F) {
	for _, body := range []string{
		string(inboundBody("hi")), "", "{}", "[[[", `{"app":"a1","channel":"c1","messageEvent":{"type":"PAYLOAD","from":"ada","data":{"payload":{}}}}`,
	} {
		f.Add("msg_1", strconv.FormatInt(now.Unix(), 10), "v1,x", "application/json", body, true)
		f.Add("", "", "", "", body, false)
	}
	f.Fuzz(func(t *testing.T, id, timestamp, signatures, contentType, body string, isSigned bool) {
		d := &connectortest.Box{}
		req := arrives(id, now, []byte(body))
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Webhook-Timestamp", timestamp)
		req.Header.Set("Webhook-Signature", signatures)
		if isSigned {
			req.Header.Set("Webhook-Signature", signature([]byte(secret), id, timestamp, []byte(body)))
		}
		status, answer := serve(handling(t, d, webhook.Config{}), req)
		require.Less(t, status, http.StatusInternalServerError, answer)
		require.Equal(t, status == http.StatusOK, len(d.Got) == 1)
		if !isSigned {
			require.NotEqual(t, http.StatusOK, status)
		}
	})
}
