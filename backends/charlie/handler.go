package charlie

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/inbound"
)

// Handler takes what the tool reports: the requests of its events API and of its
// interactivity, which may have one address or two. It checks the signature of each, gives what
// arrived to accept, and answers when that returns, since the tool wants an answer within three seconds.
//
// accept is the method Accept of a botctx.Runtime, which keeps the event in the store, knows what the
// tool sends again or reports twice (by Inbound.Key), and has the events of each sender run in the
// order in which they were accepted. What is answered 200 is kept. What could not be accepted the
// tool sends again, a few times within an hour.
//
// Messages become TEXT, those with files or without a text MISC, and each action on a button, a menu, a picker or a field
// PAYLOAD. From is the user's id, To the conversation's, or the bot's if there is none. A text is given
// as its author wrote it, without the tool's markup and without the mention of the bot that it begins
// with. If a message or an action is in a thread, thread_ts in its Data is the thread, and replies go there.
//
// The payload of an action is what was chosen or typed, such as "2026-03-01" for a date, if it is one
// value. Otherwise, for nothing as for several, it is an object with the element's action_id as payload,
// and with all values as value. For everything but buttons, Data also has all values as "values", and the
// tool's own object as "action". What the fields beside an element hold is "state", and Unknown has the
// tool's responseUrl, for sendMessageToOutletGroup.
//
// Whatever else a user does, such as submitting a form or using a shortcut, becomes a MISC event with
// the tool's own object as "event" in Data, without its credentials. Everything else is dropped, and
// counted in Config.Drops: what bots write, so that two of them cannot go on for ever; changes of
// messages, and all events but messages; and requests for the options of a menu. Commands that begin
// with a slash are refused.
//
// It answers 200 to what was accepted or dropped, 401 to what is not signed by the tool or for
// no channel, 503 where the channel cannot be looked up now, 400, 405 and 413 to what the tool does
// not send, and 408 to what comes too slowly. Of errors of accept the status is that of
// botctx.HTTPStatus: 503 with Retry-After where too many events wait.
//
// A host that wants the bot's own success in the answer gives the method Receive of a Runtime: then
// the tool waits for the bot, and what it reports a second time, or sends again since it waited for
// more than three seconds, is run again. Either goes on when the tool hangs up.
func (c *Connector) Handler(accept func(context.Context, botctx.Inbound) error) http.Handler {
	return &handler{connector: c, accept: accept}
}

// handler is what Handler returns.
type handler struct {
	connector *Connector
	accept    func(context.Context, botctx.Inbound) error
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		inbound.LeaveUnread(w)
		http.Error(w, "send a POST", http.StatusMethodNotAllowed)
		return
	}
	body, refused := inbound.ReadBody(w, r, inbound.Limits{MaxBytes: inbound.DefaultMaxBytes, Time: h.connector.config.BodyTime})
	if refused != nil {
		http.Error(w, refused.Reason, refused.Status)
		return
	}
	request, ok := readUnverified(r.Header, body)
	switch {
	case !ok:
		refuseKind(w)
	case request.challenge != "":
		h.answerChallenge(w, request)
	default:
		h.take(w, r, request)
	}
}

// refuseKind answers what the tool does not send.
func refuseKind(w http.ResponseWriter) {
	http.Error(w, "the request is neither an event nor a tap", http.StatusBadRequest)
}

// answerChallenge answers the tool's check of the handler's address.
func (h *handler) answerChallenge(w http.ResponseWriter, request unverified) {
	config := h.connector.config
	if secret := config.SigningSecret.Reveal(); secret != "" && !request.isSigned(secret, config.Now()) {
		refuse(w)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, request.challenge) // Who is gone needs no answer.
}

// refuse answers a request that is not the tool's, in the same way whatever is wrong with it.
func refuse(w http.ResponseWriter) {
	http.Error(w, "the request is not signed for a channel of this host", http.StatusUnauthorized)
}

// take checks the signature of a request, and only then reads it and has its events accepted.
func (h *handler) take(w http.ResponseWriter, r *http.Request, request unverified) {
	if !isPresent(request.header, h.connector.config.Now()) { // So no channel is looked up for an old request.
		refuse(w)
		return
	}
	in, err := h.channelOf(r.Context(), request.from)
	if err != nil {
		h.connector.config.OnError(r.Context(), botctx.Inbound{}, err)
		botctx.WriteHTTPError(w, boterr.New(boterr.Unavailable, "", "the channel cannot be looked up now"))
		return
	}
	if in == nil || !request.isSigned(h.connector.secretOf(in), h.connector.config.Now()) {
		refuse(w)
		return
	}
	report, err := request.read(in)
	if err != nil {
		refuseKind(w)
		return
	}
	arrivals, dropped := report.arrivals()
	if dropped != nil {
		h.connector.config.Drops.Add(r.Context(), *dropped)
	}
	for _, arrived := range arrivals {
		arrived.App, arrived.Channel = in.App, in.ID
		if err := h.hand(r.Context(), arrived); err != nil {
			botctx.WriteHTTPError(w, err) // Of several taps those before are known when they come again.
			return
		}
	}
	w.WriteHeader(http.StatusOK)
}

// channelOf returns the channel of a workspace, nil where there is none.
func (h *handler) channelOf(ctx context.Context, from Workspace) (*channel.Channel, error) {
	find := h.connector.config.FindChannel
	if find == nil {
		return nil, boterr.New(boterr.FailedPrecondition, "FindChannel", "is missing: a Handler needs it to find the channel of a request")
	}
	in, err := find(ctx, from)
	if errors.Is(err, boterr.NotFound) {
		return nil, nil
	}
	return in, err
}

// secretOf returns what the requests for a channel are signed with.
func (c *Connector) secretOf(in *channel.Channel) string {
	info, _ := in.Info.(channel.CharlieInfo)
	if secret := info.SigningSecret.Reveal(); secret != "" {
		return secret
	}
	return c.config.SigningSecret.Reveal()
}

// hand has an event accepted, also where the tool hangs up meanwhile, and tells the host of failures.
func (h *handler) hand(ctx context.Context, inbound botctx.Inbound) (err error) {
	ctx = context.WithoutCancel(ctx)
	defer func() {
		if reason := recover(); reason != nil {
			err = boterr.New(boterr.Internal, "", "accepting the event panicked: %v", reason)
		}
		if err != nil {
			h.connector.config.OnError(ctx, inbound, err)
		}
	}()
	return h.accept(ctx, inbound)
}
