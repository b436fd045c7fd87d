package chatplatform

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// Connector is a send.Connector for a Platform. A channel's token is "token" in its OtherInfo.
type Connector struct {
	// URL is the address of the Platform.
	URL string
	// HTTP sends the requests. Required.
	HTTP *http.Client
}

// Send implements send.Connector.
func (c *Connector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	reply, err := c.Call(ctx, message.Channel, "send", document.O(
		"key", message.ID, "to", message.To, "response", message.Response.Object(), "group", message.GroupID,
		"messagingType", message.MessagingType, "messagingTag", message.MessagingTag,
	))
	if err != nil {
		return send.Delivery{}, err
	}
	return deliveryOf(reply), nil
}

// deliveryOf converts the reply to a message.
func deliveryOf(reply document.Object) send.Delivery {
	return send.Delivery{
		Reply:     reply,
		MessageID: document.Get(reply, "id", ""),
		ChatID:    document.Get(reply, "chat", ""),
		Timestamp: document.Timestamp(document.Get(reply, "at", int64(0))),
	}
}

// Call makes a request with the channel's token and returns the reply.
func (c *Connector) Call(ctx context.Context, in *channel.Channel, method string, body document.Object) (document.Object, error) {
	if err := send.RequireChannel(in); err != nil {
		return document.Object{}, err
	}
	token := TokenOf(in)
	if token == "" {
		return document.Object{}, boterr.New(boterr.FailedPrecondition, "", "the channel %s has no token; set token in its info", in.ID)
	}
	answer, err := calls.Do(ctx, c.HTTP, calls.Request{
		Method: http.MethodPost, URL: c.URL + "/" + method, Header: calls.Authorized("Bearer", token), JSON: body,
	}, 1<<20)
	if err != nil {
		return document.Object{}, err
	}
	return read(answer)
}

// TokenOf returns the token of a channel, or "".
func TokenOf(in *channel.Channel) string {
	info, _ := in.Info.(channel.OtherInfo)
	return document.Get(info.Reveal(), "token", "")
}

// read returns the reply, or an error for the status.
func read(answer calls.Answer) (document.Object, error) {
	switch reply := answer.Object(); answer.Status {
	case http.StatusOK:
		if reply.IsZero() {
			return document.Object{}, calls.ErrUnreadable
		}
		return reply, nil
	case http.StatusTooManyRequests:
		wait, _ := outbound.RetryAfter(answer.Header, time.Now()) //nolint:forbidigo // The test runs in real time.
		return document.Object{}, boterr.New(boterr.ResourceExhausted, "", "the platform is limiting the rate of requests: %w",
			&send.RetryAfterError{After: wait})
	case http.StatusNotFound:
		return document.Object{}, boterr.New(boterr.NotFound, "", "the platform has nothing with that id")
	case http.StatusBadRequest:
		return document.Object{}, boterr.Invalid(document.Get(reply, "field", ""), "cannot be shown by the platform")
	case http.StatusUnauthorized, http.StatusForbidden:
		return document.Object{}, boterr.New(boterr.FailedPrecondition, "", "the platform does not allow this (status %d)", answer.Status)
	default:
		return document.Object{}, errors.New("the platform failed with status " + strconv.Itoa(answer.Status))
	}
}
