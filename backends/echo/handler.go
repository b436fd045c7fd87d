package echo

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/internal/sealed"
	"github.com/botctx/go-sdk/send"
)

// PathAccount is the name of the wildcard for the account in a Handler's pattern.
const PathAccount = "account"

const (
	// tolerance is the largest allowed difference between the time of a request and the clock.
	tolerance = 5 * time.Minute
	// accepted is the answer that the platform expects. After any other answer it shows the member that the
	// account is out of service.
	accepted = "success"
)

// Handler answers the platform's check of its address (GET) and accepts its reports (POST). Its path names the
// account:
//
//	http.Handle("/echo/{account}", connector.Handler(rt.Accept))
//
// Pass the method Accept of a botctx.Runtime as accept. It stores the event, and uses Inbound.Key to recognise
// an event that the platform sends again. The platform waits 5 seconds for an answer and tries three times.
// Therefore the bot's reply is not in the answer, but a separate message.
//
// The channel's info needs token. If it also has encodingAESKey, only encrypted reports are accepted, in the
// compatible and in the safe mode. Without encodingAESKey the signature does not cover the body: anyone who has
// seen the URL of one request can send any report for 5 minutes.
//
// From is the member's openid, and To is the account's id. The types of events are:
//
//   - TEXT: a text.
//   - PAYLOAD: a tap on a line of a message or of the account's menu.
//   - MISC: a picture, recording, video, location or link, as attachments whose payload has the attachment_id for
//     Open; for a recording, text is the platform's transcription. Any other message has message, and any other event,
//     such as unsubscribe, has event; both contain the platform's own object.
//   - REFERRAL: a new follower or a scanned code, with source and ref.
//   - WEB_EVENT: a page opened from the menu.
//   - DELIVERY: the platform's status of a delivered template.
//
// Events about the account itself are dropped and counted in Config.Drops. So are reports without a sender, and
// events for which accept returns InvalidArgument.
//
// Handler answers 401 to a request that is not signed for an account of this host or is more than 5 minutes
// old, and 503 if the channel cannot be looked up or accept cannot accept now. It answers 400, 405 or 413 to
// requests that the platform does not send, and 408 to a request that arrives too slowly.
func (c *Connector) Handler(accept func(ctx context.Context, inbound botctx.Inbound) error) http.Handler {
	return &handler{c, inbound.Receiver{
		Platform: channel.Echo, Accept: accept, OnError: c.config.OnError, Drops: c.config.Drops, BodyTime: c.config.BodyTime,
		DropsOnlyInvalid: true,
	}}
}

type handler struct {
	connector *Connector
	inbound.Receiver
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !inbound.RequireMethod(w, r, http.MethodGet, http.MethodPost) {
		return
	}
	in, of, err := h.authenticate(r)
	switch {
	case err != nil:
		inbound.LeaveUnread(w)
		h.Refuse(w, r, err)
	case r.Method == http.MethodGet:
		answerCheck(w, r)
	default:
		h.takeReport(w, r, in, of)
	}
}

const errUnsigned inbound.UnverifiedError = "the request is not signed for an account of this host"

// authenticate returns the channel of a request if its signature is valid and its time is close to now.
func (h *handler) authenticate(r *http.Request) (*channel.Channel, account, error) {
	config, query := h.connector.config, r.URL.Query()
	seconds, err := strconv.ParseInt(query.Get("timestamp"), 10, 64)
	if err != nil || config.Now().Sub(time.Unix(seconds, 0)).Abs() > tolerance || query.Get("signature") == "" {
		return nil, account{}, errUnsigned
	}
	in, err := inbound.FindChannel(r.Context(), config.FindChannel, r.PathValue(PathAccount))
	switch {
	case err != nil:
		return nil, account{}, err
	case in == nil:
		return nil, account{}, errUnsigned
	}
	of, err := accountOf(in)
	if err == nil && of.token == "" {
		err = boterr.New(boterr.FailedPrecondition, "", "the channel %s has no token for reports: set token in its info", in.ID)
	}
	if err != nil {
		config.Drops.AddUnverified(r.Context(), in, err)
		return nil, account{}, errUnsigned
	}
	if !sealed.IsSigned(query.Get("signature"), of.token, query.Get("timestamp"), query.Get("nonce")) {
		return nil, account{}, errUnsigned
	}
	return in, of, nil
}

func answerCheck(w http.ResponseWriter, r *http.Request) {
	text := r.URL.Query().Get("echostr")
	if text == "" || len(text) > inbound.MaxText {
		http.Error(w, "the request is not the platform's check of this address", http.StatusBadRequest)
		return
	}
	inbound.WriteText(w, text)
}

// takeReport decrypts a report, passes its event to accept, and answers.
func (h *handler) takeReport(w http.ResponseWriter, r *http.Request, in *channel.Channel, of account) {
	body, isRead := h.ReadBody(w, r)
	if !isRead {
		return
	}
	told, err := parseReport(body)
	if err == nil {
		told, err = h.opened(r, told, of)
	}
	switch {
	case errors.Is(err, errReport):
		h.Drop(r.Context(), in, "report", send.DropInvalid)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case err != nil:
		if !errors.Is(err, errUnsigned) {
			h.Drops.AddUnverified(r.Context(), in, err)
		}
		h.Refuse(w, r, errUnsigned)
		return
	}
	passed := inbound.Report{Receiver: h.Receiver}
	passed.Pass(context.WithoutCancel(r.Context()), in, report{told}.event()) // Even if the client leaves.
	if passed.Failed != nil {
		botctx.WriteHTTPError(w, passed.Failed)
		return
	}
	inbound.WriteText(w, accepted)
}

// opened decrypts a report. If the channel has no key, it returns a plain report unchanged.
func (h *handler) opened(r *http.Request, told document.Object, of account) (document.Object, error) {
	encrypted := document.Get(told, "Encrypt", "")
	if of.key == "" {
		if encrypted != "" && !told.Has("MsgType") {
			return document.Object{}, boterr.New(boterr.FailedPrecondition, "",
				"the account encrypts its events: set encodingAESKey in the channel's info")
		}
		return told, nil
	}
	key, err := sealed.ParseKey(of.key)
	if err != nil {
		return document.Object{}, boterr.New(boterr.FailedPrecondition, "", "encodingAESKey of the channel's info %w", err)
	}
	query := r.URL.Query()
	if !sealed.IsSigned(query.Get("msg_signature"), of.token, query.Get("timestamp"), query.Get("nonce"), encrypted) {
		return document.Object{}, errUnsigned
	}
	plain, err := key.Open(encrypted, of.info.AppID)
	if err != nil {
		return document.Object{}, errUnsigned
	}
	return parseReport(plain)
}
