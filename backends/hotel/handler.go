package hotel

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/send"
)

// Handler accepts the platform's activities (POST). Before it looks up a channel, it checks the algorithm, the
// key, the signature, the issuer and the times of the request's token. The token must name the bot of a
// channel. Its key must be endorsed for the activity's channel of the platform. The activity's service address
// must be the one in the token and belong to the platform. These checks cannot be turned off.
//
// Pass the method Accept of a botctx.Runtime as accept. It stores the event, and uses Inbound.Key to recognise an
// activity that the platform sends again. If an event cannot be accepted now, the answer is the status of
// botctx.HTTPStatus. An event that can never be accepted is dropped.
//
// From is the user's id. To is the bot's id, or the conversation's id in group chats, channels and threads. The types
// of events are:
//
//   - TEXT: a text, without mentions of the bot.
//   - PAYLOAD: a tap on a card. The values of the card's inputs are fields next to the payload.
//   - MISC: a message with files, as attachments whose payload has the url for Open, and its text; or anything else that
//     a user does, with the platform's own object as event, such as messageReaction, messageUpdate, or
//     conversationUpdate if users join or leave.
//   - OPTIN: a user installs the bot.
//   - READ: a read receipt. The app needs the permission for read receipts.
//
// If a message has cards, its data contains them as cards, in the platform's form.
//
// Everything else is dropped and counted in Config.Drops: typing; messages of bots; activities without a user or
// a conversation; activities from the platform's other channels, which are not the team chat; and requests for
// an answer that bot logic cannot give, such as searches. Requests of the last kind are answered with 501.
//
// Handler answers 403 to a request whose token fails any check, and 503 if the keys or a channel cannot be
// looked up now. It answers 400, 405 or 413 to requests that the platform does not send, and 408 to a request
// that arrives too slowly.
func (c *Connector) Handler(accept func(ctx context.Context, inbound botctx.Inbound) error) http.Handler {
	h := inbound.Receiver{
		Platform: channel.Hotel, Accept: accept, OnError: c.config.OnError, Drops: c.config.Drops, BodyTime: c.config.BodyTime,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !inbound.RequireMethod(w, r, http.MethodPost) {
			return
		}
		found, err := c.verify(r.Context(), r.Header)
		if err != nil {
			inbound.LeaveUnread(w)
			c.refuse(w, r, err)
			return
		}
		body, isRead := h.ReadBody(w, r)
		if !isRead {
			return
		}
		var told document.Object
		if told.UnmarshalJSON(body) != nil {
			h.Drop(r.Context(), nil, "activity", send.DropInvalid)
			http.Error(w, "the body is not a JSON object", http.StatusBadRequest)
			return
		}
		in, err := c.channelOf(r.Context(), found, told)
		if err != nil {
			c.refuse(w, r, err)
			return
		}
		take(w, r, activity{told, in}, h)
	})
}

// refuse answers a request that is not verified, without revealing the reason, or that cannot be verified now.
func (c *Connector) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, errNotVerified) {
		http.Error(w, "the request has no valid token of the platform for a channel of this host", http.StatusForbidden)
		return
	}
	c.config.OnError(r.Context(), botctx.Inbound{}, err)
	botctx.WriteHTTPError(w, boterr.New(boterr.Unavailable, "", "the request cannot be verified now"))
}

// channelOf returns the channel for the bot in a verified token. It returns errNotVerified if the token does
// not belong to the activity or the channel, and otherwise the error of the host's FindChannel.
func (c *Connector) channelOf(ctx context.Context, found *claims, told document.Object) (*channel.Channel, error) {
	if !c.isFor(found, told) {
		return nil, errNotVerified
	}
	tenant := document.Get(told, "conversation.tenantId", document.Get(told, "channelData.tenant.id", ""))
	from := Bot{AppID: found.Audience[0], TenantID: tenant}
	in, err := inbound.FindChannel(ctx, c.config.FindChannel, from)
	switch {
	case err != nil:
		return nil, err
	case in == nil:
		return nil, errNotVerified
	}
	of, err := c.botOf(in)
	if err != nil {
		c.config.Drops.AddUnverified(ctx, in, err)
		return nil, errNotVerified
	}
	if of.appID != from.AppID || from.TenantID != "" && !strings.EqualFold(from.TenantID, of.tenantID) {
		return nil, errNotVerified
	}
	c.services.Keep(of.key, found.ServiceURL) // Prefer the address in the verified token, because its region is closer.
	return in, nil
}

// take passes the event of an activity to accept, and answers.
func take(w http.ResponseWriter, r *http.Request, a activity, h inbound.Receiver) {
	passed := inbound.Report{Receiver: h}
	isPassed := passed.Pass(context.WithoutCancel(r.Context()), a.in, a.event()) // Even if the client leaves.
	switch {
	case passed.Failed != nil:
		botctx.WriteHTTPError(w, passed.Failed)
	case a.text(fieldType) != typeInvoke:
		w.WriteHeader(http.StatusOK)
	case !isPassed:
		http.Error(w, "the bot does not answer requests of this kind", http.StatusNotImplemented)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, invokeAnswer) // Ignore the error: a client that is gone needs no answer.
	}
}

// invokeAnswer is the answer that the platform expects for a tap on a universal action of a card.
const invokeAnswer = `{"statusCode":200,"type":"application/vnd.microsoft.activity.message","value":""}`
