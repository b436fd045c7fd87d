package foxtrot

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/send"
)

// PathAccount is the name of the wildcard for the account in a Handler's pattern.
const PathAccount = "account"

// Headers that verify a report.
const (
	headerKey       = "X-Api-Key"
	headerSignature = "X-Zendesk-Webhook-Signature"
	headerTimestamp = "X-Zendesk-Webhook-Signature-Timestamp"
)

// tolerance is the largest allowed difference between the time of a signed report and the clock.
const tolerance = 5 * time.Minute

// Handler accepts the helpdesk's reports (POST). Its path names the account, such as the appId:
//
//	http.Handle("POST /foxtrot/{account}", connector.Handler(rt.Accept))
//
// Pass the method Accept of a botctx.Runtime as accept. It stores the event, and uses Inbound.Key to recognise
// an event that the helpdesk sends again. The channel's info needs webhookSecret. A report about conversations
// contains the secret in a header and its body is not signed, so the Handler must be served over HTTPS. A report
// about tickets is signed with the secret.
//
// In a conversation or ticket that the Connector opened, From is "agent:" and the agent's name or id. To, and the
// event's group, is the conversation's id. The types of events are:
//
//   - TEXT, or MISC with attachments: an agent's message. The first one takes the request.
//   - MISC with status "closed" or "returned": the ticket is closed or solved, or the agents handed the conversation
//     back. Bot logic then calls EndLiveChat.
//
// The Connector's own messages, messages of the helpdesk's own bot, and internal notes are dropped.
//
// In any other conversation, From is the conversation's id and To the application's id. The types of events are:
//
//   - TEXT: a member's text.
//   - PAYLOAD: a tap on an action.
//   - MISC: pictures, files and locations as attachments, or other content as message.
//   - READ, REFERRAL, DELIVERY with error, and ECHO for messages of agents and other bots.
//
// Everything else is dropped and counted in Config.Drops, such as typing and changes of users.
//
// Handler answers 401 to a request without the secret or the signature of an account of this host, and 503 if
// the channel cannot be looked up or an event cannot be accepted now. The helpdesk only repeats a report after
// 503. Handler answers 400, 405 or 413 to requests that the helpdesk does not send, and 408 to a request that
// arrives too slowly.
func (c *Connector) Handler(accept func(ctx context.Context, inbound botctx.Inbound) error) http.Handler {
	return &handler{c, inbound.Receiver{
		Platform: channel.Foxtrot, Accept: accept, OnError: c.config.OnError, Drops: c.config.Drops, BodyTime: c.config.BodyTime,
		DropsOnlyInvalid: true,
	}}
}

type handler struct {
	connector *Connector
	inbound.Receiver
}

const errUnauthorized inbound.UnverifiedError = "the request is not from a helpdesk of this host"

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !inbound.RequireMethod(w, r, http.MethodPost) {
		return
	}
	of, err := h.account(r)
	var signature []byte
	switch {
	case err != nil:
	case of.isTickets():
		signature, err = h.signatureIn(r.Header)
	case !inbound.IsSecret(of.webhookSecret, r.Header.Get(headerKey)):
		err = errUnauthorized
	}
	if err != nil {
		inbound.LeaveUnread(w)
		h.Refuse(w, r, err)
		return
	}
	body, isRead := h.ReadBody(w, r)
	switch {
	case !isRead:
		return
	case of.isTickets() && !hmac.Equal(signature, inbound.MAC(of.webhookSecret, r.Header.Get(headerTimestamp), body)):
		h.Refuse(w, r, errUnauthorized)
		return
	}
	var told document.Object
	if told.UnmarshalJSON(body) != nil || told.IsZero() {
		h.Drop(r.Context(), of.in, "report", send.DropInvalid)
		http.Error(w, "the body is not a JSON object", http.StatusBadRequest)
		return
	}
	ctx, passed := context.WithoutCancel(r.Context()), inbound.Report{Receiver: h.Receiver} // Even if the client leaves.
	for _, event := range of.eventsIn(told) {
		passed.Pass(ctx, of.in, event)
	}
	err = passed.Failed
	if err != nil {
		err = boterr.New(boterr.Unavailable, "", "an event cannot be accepted now: %w", err)
	}
	botctx.WriteHTTPError(w, err)
}

func (h *handler) account(r *http.Request) (account, error) {
	in, err := inbound.FindChannel(r.Context(), h.connector.config.FindChannel, r.PathValue(PathAccount))
	switch {
	case err != nil:
		return account{}, err
	case in == nil:
		return account{}, errUnauthorized
	}
	of, err := accountOf(in)
	if err == nil && of.webhookSecret == "" {
		err = boterr.New(boterr.FailedPrecondition, "", "the channel %s has no secret for reports: set webhookSecret in its info", in.ID)
	}
	if err != nil {
		h.connector.config.Drops.AddUnverified(r.Context(), in, err)
		return account{}, errUnauthorized
	}
	return of, nil
}

// signatureIn returns the signature of a report about tickets. It returns errUnauthorized if the signature is malformed, or
// if the report's time is not within the tolerance.
func (h *handler) signatureIn(header http.Header) ([]byte, error) {
	at, err := time.Parse(time.RFC3339, header.Get(headerTimestamp))
	signature, errSignature := base64.StdEncoding.DecodeString(header.Get(headerSignature))
	if err != nil || errSignature != nil || h.connector.config.Now().Sub(at).Abs() > tolerance {
		return nil, errUnauthorized
	}
	return signature, nil
}
