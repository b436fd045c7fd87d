package pigeon

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// The limits of Pigeon's events.
const (
	maxReportBytes = 1 << 20
	tolerance      = 5 * time.Minute
)

// Handler serves Pigeon's events at "POST /pigeon/{app}/{channel}".
type Handler struct {
	// LoadChannel returns a channel with its credentials, or NotFound.
	LoadChannel func(ctx context.Context, app, id string) (*channel.Channel, error)
	// Accept is Runtime.Accept of the host's botctx.Runtime.
	Accept func(ctx context.Context, event botctx.Inbound) error
	// Drops counts the reports that are not handed on.
	Drops *send.Drops
	// Now is the clock. Reports that are too old by it are refused.
	Now func() time.Time
}

// report is an event of Pigeon: a text of a member, or the value of a button.
type report struct {
	ID     string `json:"id"`
	From   string `json:"from"`
	Name   string `json:"name"`
	SentAt int64  `json:"sentAt"`
	Text   string `json:"text"`
	Value  string `json:"value"`
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	app, id := r.PathValue("app"), r.PathValue("channel")
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReportBytes))
	if err != nil {
		http.Error(w, "the report is too long", http.StatusRequestEntityTooLarge)
		return
	}
	in, err := h.LoadChannel(r.Context(), app, id)
	if err != nil || !isSigned(in, r.Header, body, h.Now()) {
		http.Error(w, "no such channel, or not signed by its secret", http.StatusUnauthorized) // One answer for both.
		return
	}
	var told report
	var all document.Object
	if json.Unmarshal(body, &told) != nil || all.UnmarshalJSON(body) != nil || told.From == "" {
		h.Drops.Add(r.Context(), send.Drop{Platform: Type, App: app, Channel: id, Kind: "report", Reason: send.DropInvalid})
		http.Error(w, "this is not a report", http.StatusBadRequest)
		return
	}
	if err := h.Accept(r.Context(), told.inbound(app, id, all)); err != nil {
		botctx.WriteHTTPError(w, err) // Pigeon reports again after 503.
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// isSigned reports whether a report is new, and signed by the channel's secret: Pigeon-Time is a
// number of seconds, and Pigeon-Signature is the HMAC-SHA256 of it, a dot and the body, in hexadecimal.
func isSigned(in *channel.Channel, header http.Header, body []byte, now time.Time) bool {
	secret, err := credential(in, "signingSecret")
	seconds, errTime := strconv.ParseInt(header.Get("Pigeon-Time"), 10, 64)
	signature, errHex := hex.DecodeString(header.Get("Pigeon-Signature"))
	if err != nil || errTime != nil || errHex != nil || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	return hmac.Equal(signature, sum(secret, seconds, body))
}

// sum returns the signature of a report.
func sum(secret string, seconds int64, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(strconv.FormatInt(seconds, 10) + "."))
	mac.Write(body)
	return mac.Sum(nil)
}

// inbound converts a report to an event for the Runtime. Anything other than a text or a tap, such as a
// sticker, becomes a MISC event with Pigeon's whole report.
func (r report) inbound(app, id string, all document.Object) botctx.Inbound {
	event := send.MessageEvent{From: r.From, MessageID: r.ID, Timestamp: document.Timestamp(r.SentAt * 1000)}
	switch {
	case r.Value != "":
		event.Type, event.Data = send.TypePayload, document.O("payload", payloadOf(r.Value))
	case r.Text != "":
		event.Type, event.Data = send.TypeText, document.O("text", r.Text)
	default:
		event.Type, event.Data = send.TypeMisc, document.O("event", all)
	}
	return botctx.Inbound{App: app, Channel: id, Event: event, Profile: member.Member{FirstName: r.Name}}
}
