package platforms_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// deltaEndpoint returns the address and the secret of a channel of type delta.
func deltaEndpoint(_ context.Context, of *channel.Channel) (webhook.Endpoint, error) {
	info, _ := of.Info.(channel.DeltaInfo)
	secret := channel.NewSecret(document.Get(info.Unknown.Reveal(), "webhookSecret", ""))
	return webhook.Endpoint{URL: document.Get(of.Metadata, "webhookUrl", ""), Secrets: []channel.Secret{secret}}, nil
}

// The bot's messages go to a program that forwards them to Delta. The program also forwards members' messages to the
// host.
func TestDelta_ThroughWebhook(t *testing.T) {
	t.Parallel()
	secret := channel.NewSecret("keep-this-in-a-vault-and-not-here")
	said := make(chan string, 1)
	program := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && webhook.Verify(r.Header, body, time.Now(), time.Minute, secret) == nil {
			said <- string(body)
		}
	}))
	defer program.Close()
	in := &channel.Channel{
		ID: "team", App: "app-1", Type: channel.Delta, On: true, Metadata: document.O("webhookUrl", program.URL),
		Info: channel.DeltaInfo{TbID: "7", Further: channel.Further{Unknown: channel.Hide(document.O("webhookSecret", secret.Reveal()))}},
	}
	load := func(context.Context, string, string) (*channel.Channel, error) { return in, nil }
	client := program.Client()

	connector, err := webhook.New(webhook.Config{
		Endpoint: deltaEndpoint, LoadChannel: load, HTTP: client,
	})
	require.NoError(t, err)
	_, err = connector.Send(t.Context(), send.Message{ID: "send-1", Channel: in, To: "ada", Response: send.Text("Hello")})
	require.NoError(t, err)
	require.Contains(t, <-said, "Hello")

	var got []botctx.Inbound
	handler := connector.Handler(func(_ context.Context, inbound botctx.Inbound) error {
		got = append(got, inbound)
		return nil
	})
	body := `{"app":"app-1","channel":"team","messageEvent":{"type":"TEXT","from":"ada","data":{"text":"hi"}}}`
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/inbound", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	require.NoError(t, webhook.Sign(request.Header, "event-1", time.Now(), []byte(body), secret))
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	require.Equal(t, http.StatusOK, answer.Code, answer.Body)
	require.Equal(t, "hi", got[0].Event.Text())
}
