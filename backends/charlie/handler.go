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

// remembered is how many of the last events a Handler recognises when they come again.
const remembered = 10_000

// Handler takes what the tool reports: the requests of its events API and of its
// interactivity, which may have one address or two. It checks the signature of each, answers
// at once, as the tool wants an answer within three seconds, and has the event received in
// the background.
//
// So what is received late or fails is not sent again: Config.OnError is told of failures.
// While more events wait than Config.Backlog, the tool is answered 503 and sends them again
// later. Events of one sender are received one after the other, in the order in which
// they came.
//
// Messages become TEXT, those with files MISC, taps PAYLOAD. From is the user's id, To the
// conversation's. Of a tap, Unknown holds the tool's responseUrl, for
// sendMessageToOutletGroup. A text is given as its author wrote it, without the tool's markup
// and without the mention of the bot that it begins with. What bots write is left out, so
// that two of them cannot go on for ever, and so are changes of messages, and events that
// came before: of the last 10,000 the Handler knows that. Commands that begin with a slash are
// not taken.
type Handler struct {
	connector *Connector
	receive   func(context.Context, botctx.Inbound) error
	seen      *recentKeys
	queue     *queue
	// base is the context of what is received, stop ends it.
	base context.Context //nolint:containedctx // It spans requests: that of http.Server.BaseContext does so, too.
	stop context.CancelFunc
}

var _ http.Handler = (*Handler)(nil)

// Handler returns a handler that gives what arrives to a function, such as Receive of a
// botctx.Runtime. A host calls Shutdown before it ends.
func (c *Connector) Handler(receive func(context.Context, botctx.Inbound) error) *Handler {
	base, stop := context.WithCancel(context.Background())
	return &Handler{
		connector: c, receive: receive, seen: newRecentKeys(remembered),
		queue: newQueue(c.config.Workers, c.config.Backlog), base: base, stop: stop,
	}
}

// Shutdown refuses further events and waits until those that were taken are received. When
// ctx ends before, it ends theirs and returns its error.
func (h *Handler) Shutdown(ctx context.Context) error {
	err := h.queue.close(ctx)
	h.stop()
	return err
}

// ServeHTTP answers 200 to what was taken or is left out, 401 to what is not signed by the
// tool or for no channel, 503 where the tool may send it again later, and 400, 405 and 413 to
// what the tool does not send, and 408 to what comes too slowly.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
func (h *Handler) answerChallenge(w http.ResponseWriter, request unverified) {
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

// take checks the signature of a request, and only then reads it and has its events received.
func (h *Handler) take(w http.ResponseWriter, r *http.Request, request unverified) {
	if !isPresent(request.header, h.connector.config.Now()) { // So no channel is looked up for an old request.
		refuse(w)
		return
	}
	in, err := h.channelOf(r.Context(), request.from)
	if err != nil {
		h.connector.config.OnError(r.Context(), botctx.Inbound{}, err)
		http.Error(w, "the channel cannot be looked up now", http.StatusServiceUnavailable)
		return
	}
	if in == nil || !request.isSigned(h.connector.secretOf(in), h.connector.config.Now()) {
		refuse(w)
		return
	}
	report, err := request.read()
	if err != nil {
		refuseKind(w)
		return
	}
	for _, arrived := range report.arrivals(in) {
		if !h.seen.add(arrived.keys) {
			continue
		}
		inbound := botctx.Inbound{App: in.App, Channel: in.ID, Event: arrived.event}
		if !h.queue.add(in.ID+" "+arrived.event.From, func() { h.run(inbound) }) {
			h.seen.forget(arrived.keys)
			http.Error(w, "too many events are waiting", http.StatusServiceUnavailable)
			return
		}
	}
	w.WriteHeader(http.StatusOK)
}

// channelOf returns the channel of a workspace, nil where there is none.
func (h *Handler) channelOf(ctx context.Context, from Workspace) (*channel.Channel, error) {
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

// run has an event received.
func (h *Handler) run(inbound botctx.Inbound) {
	defer func() {
		if reason := recover(); reason != nil {
			h.connector.config.OnError(h.base, inbound, boterr.New(boterr.Internal, "", "receiving the event panicked: %v", reason))
		}
	}()
	if err := h.receive(h.base, inbound); err != nil {
		h.connector.config.OnError(h.base, inbound, err)
	}
}
