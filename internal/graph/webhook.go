package graph

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/send"
)

// SignatureHeader is the header with the signature of a report: "sha256=" and the HMAC of the body with the
// application's secret.
const SignatureHeader = "X-Hub-Signature-256"

// Sign returns the signature of a body.
func Sign(secret channel.Secret, body []byte) string {
	return signaturePrefix + hex.EncodeToString(inbound.MAC(secret.Reveal(), "", body))
}

const signaturePrefix = "sha256="

// Webhook receives a platform's reports for any number of channels at one address.
type Webhook struct {
	inbound.Receiver

	// Object is the kind of object in the platform's reports.
	Object string
	// FirstAccount is the path of the first account's id in a report. It is read before the signature is checked: the
	// application of this account, or of the account in the handler's address, may have signed the report.
	FirstAccount string
	// Parcels splits a report into parts, each for one account.
	Parcels func(report document.Object) []Parcel
	// Events returns the events in a part.
	Events func(in *channel.Channel, p Parcel) []inbound.Event

	// FindChannel returns the channel of an account, or NotFound.
	FindChannel func(ctx context.Context, account string) (*channel.Channel, error)
	// AppSecret and VerifyToken are the secrets of the host's application.
	AppSecret, VerifyToken channel.Secret
	// OwnSecret returns a secret from the info of a channel with its own application. name is appSecret or
	// verifyToken. isOwn is false if the channel uses the host's application.
	OwnSecret func(in *channel.Channel, name string) (secret channel.Secret, isOwn bool)
}

// Parcel is the part of a report for one account.
type Parcel struct {
	// Account is the platform's id of the account, or "" if the part has none.
	Account string
	// Kind is the platform's name for the kind of part.
	Kind string
	// Content is the content of the part.
	Content document.Object
}

// Names of an application's secrets.
const (
	NameAppSecret   = "appSecret"
	NameVerifyToken = "verifyToken"
)

// ServeHTTP implements http.Handler.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !inbound.RequireMethod(w, r, http.MethodGet, http.MethodPost):
	case r.Method == http.MethodGet:
		h.answerCheck(w, r)
	default:
		h.takeReport(w, r)
	}
}

// AccountParameter is the query parameter of a handler's address that names an account. The check of such an
// address uses the verify token of the account's application, which may also sign the reports to the address.
const AccountParameter = "account"

// answerCheck answers the platform's check of the handler's address. Only the address can name an account.
func (h *Webhook) answerCheck(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	token := h.VerifyToken
	if account := query.Get(AccountParameter); account != "" {
		in, err := h.find(r.Context(), account)
		if err != nil {
			h.Refuse(w, r, err)
			return
		}
		token = h.secretOf(r.Context(), in, NameVerifyToken)
	} else if token.Reveal() == "" {
		h.Drops.AddUnverified(r.Context(), &channel.Channel{Type: h.Platform},
			boterr.New(boterr.FailedPrecondition, "", "the platform cannot check the handler's address: set VerifyToken of the connector's Config"))
	}
	challenge := query.Get("hub.challenge")
	if query.Get("hub.mode") != "subscribe" || !inbound.IsSecret(token.Reveal(), query.Get("hub.verify_token")) ||
		challenge == "" || len(challenge) > inbound.MaxText {
		http.Error(w, "the request is not the platform's check of this address", http.StatusForbidden)
		return
	}
	inbound.WriteText(w, challenge)
}

// maxReportSize is the maximum size of a report in bytes. The platform sends up to 3 MB, and repeats a report that is
// refused until it gives up its events.
const maxReportSize = 4 << 20

// takeReport checks the signature of a report before it decodes the report. It passes the events to Accept.
func (h *Webhook) takeReport(w http.ResponseWriter, r *http.Request) {
	given, hasPrefix := strings.CutPrefix(r.Header.Get(SignatureHeader), signaturePrefix)
	signature, err := hex.DecodeString(given)
	if err != nil || !hasPrefix || len(signature) != sha256.Size {
		inbound.LeaveUnread(w)
		h.Refuse(w, r, errUnsigned)
		return
	}
	receiver := h.Receiver
	receiver.MaxBytes = maxReportSize
	body, ok := receiver.ReadBody(w, r)
	if !ok {
		return
	}
	report := &report{
		Report: inbound.Report{Receiver: receiver}, webhook: h, body: body, signature: signature,
		channels: map[string]lookup{}, signed: map[channel.Secret]bool{},
	}
	isSigned, err := report.isSigned(r.Context(), r.URL.Query().Get(AccountParameter))
	if err == nil && !isSigned {
		err = errUnsigned
	}
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	report.take(w, r)
}

const errUnsigned inbound.UnverifiedError = "the request is not signed for a channel of this host"

// find returns the channel of an account, or nil if there is none.
func (h *Webhook) find(ctx context.Context, account string) (*channel.Channel, error) {
	if account == "" {
		return nil, nil
	}
	return inbound.FindChannel(ctx, h.FindChannel, account)
}

// secretOf returns a secret of the application that a channel uses. It counts and logs a missing secret.
func (h *Webhook) secretOf(ctx context.Context, in *channel.Channel, name string) channel.Secret {
	if in == nil {
		return channel.Secret{}
	}
	secret, isOwn := h.OwnSecret(in, name)
	if !isOwn {
		secret = map[string]channel.Secret{NameAppSecret: h.AppSecret, NameVerifyToken: h.VerifyToken}[name]
	}
	if secret.Reveal() == "" {
		h.Drops.AddUnverified(ctx, in, boterr.New(boterr.FailedPrecondition, "",
			"the channel %s has no %s: set it in its info if the channel has its own application, or else in the connector's Config", in.ID, name))
	}
	return secret
}

// report is a report that is being processed.
type report struct {
	inbound.Report

	webhook         *Webhook
	body, signature []byte
	// channels has the results of lookups by account.
	channels map[string]lookup
	// signed has the results of checking the signature by secret.
	signed map[channel.Secret]bool
}

// lookup is the result of looking up an account. in is nil if the account has no channel.
type lookup struct {
	in  *channel.Channel
	err error
}

// isSigned reports whether the report is signed by the host's application, or by the application of the account in
// the address or of the report's first account. The first account may have no channel.
func (r *report) isSigned(ctx context.Context, ofAddress string) (bool, error) {
	if r.isSignedBy(r.webhook.AppSecret) {
		return true, nil
	}
	named, ok := inbound.Texts(r.body, r.webhook.FirstAccount)
	if !ok {
		return false, nil
	}
	for _, account := range []string{ofAddress, named[0]} {
		in, err := r.find(ctx, account)
		if err != nil || r.isSignedFor(ctx, in) {
			return err == nil, err
		}
	}
	return false, nil
}

// isSignedFor reports whether the report is signed by a channel's application.
func (r *report) isSignedFor(ctx context.Context, in *channel.Channel) bool {
	return in != nil && r.isSignedBy(r.webhook.secretOf(ctx, in, NameAppSecret))
}

// isSignedBy reports whether the signature is valid for the received body. With an empty secret, no signature is
// valid.
func (r *report) isSignedBy(secret channel.Secret) bool {
	isSigned, isKnown := r.signed[secret]
	if !isKnown {
		key := secret.Reveal()
		isSigned = key != "" && hmac.Equal(inbound.MAC(key, "", r.body), r.signature)
		r.signed[secret] = isSigned
	}
	return isSigned
}

// find looks up each account once. After an error, later parts for the account must not overtake the earlier ones.
func (r *report) find(ctx context.Context, account string) (*channel.Channel, error) {
	found, isKnown := r.channels[account]
	if !isKnown {
		found.in, found.err = r.webhook.find(ctx, account)
		r.channels[account] = found
	}
	return found.in, found.err
}

// take passes the events of a signed report to Accept, part by part. It responds with 200 if the platform need not
// repeat any of them.
func (r *report) take(w http.ResponseWriter, from *http.Request) {
	var told document.Object
	if told.UnmarshalJSON(r.body) != nil {
		http.Error(w, "the body is not a JSON object", http.StatusBadRequest)
		return
	}
	ctx := context.WithoutCancel(from.Context()) // Accepting continues even if the platform closes the connection.
	if object := document.Get(told, "object", ""); object != r.webhook.Object {
		r.Drop(ctx, nil, object, send.DropUnsupported)
		told = document.O()
	}
	for _, parcel := range r.webhook.Parcels(told) {
		if !r.IsOver {
			r.takeParcel(ctx, parcel)
		}
	}
	botctx.WriteHTTPError(w, r.Failed)
}

// takeParcel passes on the events of one part. A part for an account without a channel is dropped, and so is a
// part whose channel uses another application: the application that signed must not report for it.
func (r *report) takeParcel(ctx context.Context, parcel Parcel) {
	in, err := r.find(ctx, parcel.Account)
	switch {
	case err != nil:
		r.FailLookUp(ctx, err)
	case in == nil:
		r.Drop(ctx, nil, parcel.Kind, send.DropNoChannel)
	case !r.isSignedFor(ctx, in):
		r.Drop(ctx, in, parcel.Kind, send.DropInvalid)
	default:
		for _, event := range r.webhook.Events(in, parcel) {
			r.Pass(ctx, in, event)
		}
	}
}
