package webhook

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// payload is the body of what is sent.
type payload struct {
	ID            string          `json:"id"`
	App           string          `json:"app"`
	Channel       string          `json:"channel"`
	ChannelType   string          `json:"channelType,omitzero"`
	To            string          `json:"to"`
	MemberID      string          `json:"memberId,omitzero"`
	Response      document.Object `json:"response"`
	MessagingType string          `json:"messagingType,omitzero"`
	MessagingTag  string          `json:"messagingTag,omitzero"`
	ReceiverType  string          `json:"receiverType,omitzero"`
	GroupID       string          `json:"groupId,omitzero"`
}

// Send posts a message to the channel's address, and again where no answer came: with the
// same id and body, and a new signature. A header Retry-After of the answer, seconds or a
// date, is obeyed where the time of Config.Retry suffices.
//
// What a status other than 2xx means, and the errors of a channel that is not set up:
//
//	InvalidArgument     400, 413, 415, 422: the message cannot be shown
//	NotFound            404: there is no such recipient
//	Unsupported         501: there is no such type of messages
//	ResourceExhausted   429, after all attempts
//	FailedPrecondition  410: the recipient cannot be written to any more, with a
//	                    *send.GoneError; any other 3xx and 4xx; no address or secret, or an
//	                    address that is refused
//	no code             408, 425, 5xx and no answer, after all attempts
//
// The answer to an InvalidArgument may say {"error": {"field": "response.text", "message":
// "..."}}; the field becomes that of the error, relative to the response. When ctx ends, Send
// returns its error.
func (c *Connector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	endpoint, err := c.endpoint(ctx, message.Channel)
	if err != nil {
		return send.Delivery{}, err
	}
	target, err := outbound.ParseURL(endpoint.URL)
	if err != nil {
		return send.Delivery{}, boterr.New(boterr.FailedPrecondition, "",
			"the channel has no usable address: set webhookUrl in its metadata to an address of https")
	}
	body, err := json.Marshal(payloadOf(message))
	if err != nil {
		return send.Delivery{}, boterr.Invalid("response", "cannot be written as JSON: %w", err)
	}
	p := post{target: target.String(), id: message.ID, body: body, secrets: endpoint.Secrets}
	return c.deliver(ctx, p)
}

// payloadOf returns the body of a message.
func payloadOf(message send.Message) payload {
	p := payload{
		ID:            message.ID,
		App:           message.Channel.App,
		Channel:       message.Channel.ID,
		ChannelType:   string(message.Channel.Type),
		To:            message.To,
		Response:      message.Response.Object(),
		MessagingType: message.MessagingType,
		MessagingTag:  message.MessagingTag,
		ReceiverType:  message.ReceiverType,
		GroupID:       message.GroupID,
	}
	if message.Member != nil {
		p.MemberID = message.Member.ID
	}
	return p
}

// delivery reads the answer to a message that is taken. One that is no JSON object says
// nothing: the message is taken all the same.
func delivery(body []byte) send.Delivery {
	value, err := document.ParseJSON(body)
	reply, isObject := value.(document.Object)
	if err != nil || !isObject {
		return send.Delivery{}
	}
	return send.Delivery{
		Reply:     reply,
		MessageID: document.Get(reply, "messageId", ""),
		ChatID:    document.Get(reply, "chatId", ""),
		From:      document.Get(reply, "from", ""),
		Timestamp: document.Timestamp(document.Get(reply, "timestamp", int64(0))),
	}
}

// refusal returns the error of a status that another attempt would not change, nil for one
// that it may.
func refusal(got answer, address string) error {
	field, reason := complaint(got.body, address)
	switch got.status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return boterr.Invalid(field, "the receiver refused the message with status %d%s", got.status, reason)
	case http.StatusNotFound:
		return boterr.New(boterr.NotFound, "", "the receiver knows no such recipient (status 404)%s", reason)
	case http.StatusGone:
		return boterr.New(boterr.FailedPrecondition, "",
			"the recipient cannot be written to any more (status 410)%s: %w", reason, &send.GoneError{})
	case http.StatusNotImplemented:
		return boterr.New(boterr.Unsupported, "", "the receiver has no such type of messages (status 501)%s", reason)
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return nil
	}
	if got.status >= http.StatusInternalServerError {
		return nil
	}
	return boterr.New(boterr.FailedPrecondition, "",
		"check the secret and the address of the channel, which answered with status %d%s", got.status, reason)
}

// complaint returns what the answer says: the path in the response, and a sentence.
func complaint(body []byte, address string) (field, reason string) {
	value, err := document.ParseJSON(body)
	answer, isObject := value.(document.Object)
	if err != nil || !isObject {
		return "", ""
	}
	field = strings.TrimPrefix(strings.TrimPrefix(document.Get(answer, "error.field", ""), "response"), ".")
	if len(field) > maxIDBytes {
		field = ""
	}
	if message := document.Get(answer, "error.message", ""); message != "" {
		reason = ": " + shortened(withoutAddress(message, address))
	}
	return field, reason
}

// shortened returns the beginning of a text.
func shortened(text string) string {
	const most = 200
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

// withoutAddress returns a text without the parts of an address that may be credentials: its path,
// its query, and the values in that.
func withoutAddress(text, address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return text
	}
	hidden := []string{address, parsed.RequestURI(), parsed.EscapedPath(), parsed.Path, parsed.RawQuery}
	for _, values := range parsed.Query() {
		hidden = append(hidden, values...)
	}
	for _, part := range hidden {
		if len(part) > 1 {
			text = strings.ReplaceAll(text, part, "[redacted]")
		}
	}
	return text
}
