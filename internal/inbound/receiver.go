package inbound

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

// Receiver has what connectors' handlers need from their Config.
type Receiver struct {
	// Platform is the type of the connector's channels.
	Platform channel.Type
	// Accept accepts events.
	Accept func(ctx context.Context, event botctx.Inbound) error
	// OnError is called for events that could not be accepted and channels that could not be looked up.
	OnError func(ctx context.Context, event botctx.Inbound, err error)
	// Drops counts dropped events.
	Drops *send.Drops
	// BodyTime and MaxBytes limit the body of a request. 0 means the default.
	BodyTime time.Duration
	MaxBytes int64
	// DropsOnlyInvalid is true if the platform must repeat every event that is not accepted, except after InvalidArgument.
	// Otherwise an event is dropped if another attempt cannot help.
	DropsOnlyInvalid bool
}

// SetHooks sets the fields of a connector's Config that are nil to their defaults. now and onError may be nil.
func SetHooks(now *func() time.Time, onError *func(context.Context, botctx.Inbound, error), drops **send.Drops) {
	if now != nil && *now == nil {
		*now = time.Now
	}
	if onError != nil && *onError == nil {
		*onError = func(context.Context, botctx.Inbound, error) {}
	}
	*drops = cmp.Or(*drops, &send.Drops{})
}

// UnverifiedError is the error for a request that is not proven to be from the platform. Its text, which is the answer,
// does not reveal the reason.
type UnverifiedError string

// Error returns the text.
func (e UnverifiedError) Error() string { return string(e) }

// Refuse answers a request whose sender is not verified with 401, and one whose sender cannot be verified now with 503.
func (r Receiver) Refuse(w http.ResponseWriter, request *http.Request, err error) {
	if unverified, ok := errors.AsType[UnverifiedError](err); ok {
		http.Error(w, unverified.Error(), http.StatusUnauthorized)
		return
	}
	r.OnError(request.Context(), botctx.Inbound{}, err)
	botctx.WriteHTTPError(w, errNoLookUp)
}

var errNoLookUp = boterr.New(boterr.Unavailable, "", "the channel cannot be looked up now")

// ReadBody returns the body of a request. If it cannot be read, ReadBody answers the request and returns false.
func (r Receiver) ReadBody(w http.ResponseWriter, request *http.Request) ([]byte, bool) {
	body, refused := ReadBody(w, request, Limits{MaxBytes: cmp.Or(r.MaxBytes, DefaultMaxBytes), Time: cmp.Or(r.BodyTime, DefaultTime)})
	if refused == nil {
		return body, true
	}
	http.Error(w, refused.Reason, refused.Status)
	return nil, false
}

// Drop counts a dropped event. in is nil if there is no channel.
func (r Receiver) Drop(ctx context.Context, in *channel.Channel, kind string, reason send.DropReason) {
	drop := send.Drop{Platform: r.Platform, Kind: kind, Reason: reason}
	if in != nil {
		drop.App, drop.Channel = in.App, in.ID
	}
	r.Drops.Add(ctx, drop)
}

// Hand passes an event to Accept. It calls OnError if Accept fails.
func (r Receiver) Hand(ctx context.Context, event botctx.Inbound) error {
	err := Accept(ctx, event, r.Accept)
	if err != nil {
		r.OnError(ctx, event, err)
	}
	return err
}

// Event is an event in a report, for the bot or to be dropped.
type Event struct {
	// Inbound is the event for the bot. Report sets its App and Channel.
	Inbound botctx.Inbound
	// Order names the sequence to which the event belongs. The default is the sender.
	Order string
	// Kind is the platform's name for the event. Drop is the reason for dropping it, or "".
	Kind string
	Drop send.DropReason
}

// Report is a report whose events are passed on.
type Report struct {
	Receiver

	// Failed is the first error after which the platform must repeat the report.
	Failed error
	// IsOver is true once the store has failed to answer in time. Trying the rest could take hours.
	IsOver bool

	// blocked has the sequences of events that were not accepted. Their later events must not overtake these.
	blocked map[[3]string]bool
}

// FailLookUp records that a channel cannot be looked up.
func (r *Report) FailLookUp(ctx context.Context, err error) {
	r.OnError(ctx, botctx.Inbound{}, err)
	r.Failed = errNoLookUp
}

// Pass passes an event of a channel to Accept. It drops events that will never be accepted: otherwise the platform would
// repeat the whole report. It returns true if the event was accepted.
func (r *Report) Pass(ctx context.Context, in *channel.Channel, event Event) (isPassed bool) {
	if event.Drop != "" {
		r.Drop(ctx, in, event.Kind, event.Drop)
		return false
	}
	sequence := [3]string{in.App, in.ID, cmp.Or(event.Order, event.Inbound.Event.From)}
	if r.IsOver || r.blocked[sequence] {
		return false
	}
	event.Inbound.App, event.Inbound.Channel = in.App, in.ID
	err := r.Hand(ctx, event.Inbound)
	switch {
	case err == nil:
		return true
	case r.isPermanent(err):
		r.Drop(ctx, in, event.Kind, send.DropInvalid)
		return false
	}
	if r.blocked == nil {
		r.blocked = map[[3]string]bool{}
	}
	r.blocked[sequence], r.IsOver = true, boterr.CodeOf(err) == boterr.Canceled
	r.Failed = cmp.Or(r.Failed, err)
	return false
}

// isPermanent reports whether an event will never be accepted.
func (r *Report) isPermanent(err error) bool {
	if r.DropsOnlyInvalid {
		return boterr.CodeOf(err) == boterr.InvalidArgument
	}
	switch botctx.HTTPStatus(err) {
	case http.StatusServiceUnavailable, http.StatusInternalServerError, http.StatusConflict:
		return false
	default:
		return true
	}
}
