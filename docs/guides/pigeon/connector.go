// Package pigeon is the connector of the guide "Writing a connector": to Pigeon, a made-up chat
// platform with a small API over HTTP, which reports what members write by signed webhooks.
package pigeon

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// Type is the type of Pigeon's channels.
const Type channel.Type = "pigeon"

// maxAnswerBytes is the maximum number of bytes of an answer to read.
const maxAnswerBytes = 1 << 20

// Connector is the connector to every channel of Pigeon. A channel's info has its "token", and the
// "signingSecret" of Pigeon's events. It is safe for concurrent use. New returns one.
type Connector struct {
	// URL is the address of Pigeon's API. HTTP sends the requests.
	URL  string
	HTTP *http.Client
}

// New returns a connector to Pigeon's API at an address.
func New(address string) *Connector {
	return &Connector{URL: address, HTTP: &http.Client{
		Timeout:   15 * time.Second,
		Transport: outbound.HostTransport(),
		// The token must not be sent to other addresses.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

var _ send.Connector = (*Connector)(nil)

// Send implements send.Connector.
func (c *Connector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	token, err := credential(message.Channel, "token")
	if err != nil {
		return send.Delivery{}, err
	}
	shown, err := contentOf(message.Response)
	if err != nil {
		return send.Delivery{}, err
	}
	shown.To = message.To
	return c.post(ctx, token, message.ID, shown)
}

// credential reads a credential from a channel's info.
func credential(in *channel.Channel, name string) (string, error) {
	info, _ := in.Info.(channel.OtherInfo)
	value := document.Get(info.Reveal(), name, "")
	if value == "" {
		return "", boterr.New(boterr.FailedPrecondition, "", "the channel %s has no %s: set it in its info", in.ID, name)
	}
	return value, nil
}

// post makes the request for a message. Pigeon recognises a repeated key, and shows the message once.
func (c *Connector) post(ctx context.Context, token, key string, shown content) (send.Delivery, error) {
	body, err := json.Marshal(shown)
	if err != nil {
		return send.Delivery{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/messages", bytes.NewReader(body))
	if err != nil {
		return send.Delivery{}, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Idempotency-Key", key)
	response, err := c.HTTP.Do(request)
	if err != nil {
		return send.Delivery{}, err // No code: it is unknown whether the message arrived.
	}
	defer response.Body.Close() //nolint:errcheck // The answer has been read.
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return send.Delivery{}, err
	}
	if response.StatusCode != http.StatusOK {
		return send.Delivery{}, refusal(response, answer)
	}
	return delivery(answer)
}

// delivery reads Pigeon's answer to an accepted message.
func delivery(answer []byte) (send.Delivery, error) {
	var reply document.Object
	if err := json.Unmarshal(answer, &reply); err != nil || document.Get(reply, "id", "") == "" {
		return send.Delivery{}, fmt.Errorf("pigeon's answer of %d bytes cannot be read", len(answer))
	}
	return send.Delivery{
		Reply:     reply,
		MessageID: document.Get(reply, "id", ""),
		ChatID:    document.Get(reply, "room", ""),
		Timestamp: document.Timestamp(document.Get(reply, "sentAt", int64(0)) * 1000), // sentAt is in seconds.
	}, nil
}

// refusal returns the error for an answer that is not 200. It does not quote Pigeon's answer, which may
// repeat the request with its token.
func refusal(response *http.Response, answer []byte) error {
	switch status := response.StatusCode; status {
	case http.StatusBadRequest:
		var problem struct {
			Field string `json:"field"`
		}
		_ = json.Unmarshal(answer, &problem) // Without a field, the message as a whole is wrong.
		return boterr.Invalid(problem.Field, "cannot be shown by Pigeon")
	case http.StatusUnauthorized:
		return boterr.New(boterr.FailedPrecondition, "", "Pigeon does not accept the channel's token; make a new one, and store it in its info")
	case http.StatusForbidden:
		return boterr.New(boterr.FailedPrecondition, "", "the recipient has blocked the bot")
	case http.StatusNotFound:
		return boterr.New(boterr.NotFound, "", "Pigeon does not know the recipient")
	case http.StatusTooManyRequests:
		wait, _ := outbound.RetryAfter(response.Header, time.Now()) //nolint:forbidigo // Dates in headers follow the real clock.
		return boterr.New(boterr.ResourceExhausted, "", "Pigeon is limiting the rate of messages: %w",
			&send.RetryAfterError{After: max(wait, time.Second)})
	default:
		return fmt.Errorf("pigeon answered with status %d", status) // No code, as if there had been no answer.
	}
}
