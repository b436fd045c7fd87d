package charlie

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/send"
)

// Handler accepts the tool's reports: the requests of its events API and of its interactivity, which may have
// one address or two. It checks the signature of each, passes the events to accept, and answers when that
// returns, because the tool expects an answer within three seconds.
//
// accept is the method Accept of a botctx.Runtime, which stores the event, recognises events that the tool
// sends again or reports twice (by Inbound.Key), and runs the events of each sender in the order in which
// they were accepted. An event that is answered with 200 is stored. If an event could not be accepted, the
// tool sends it again, a few times within an hour.
//
// Messages become TEXT, or MISC if they have files or no text, and each action on a button, a menu, a picker
// or a field becomes PAYLOAD. From is the user's id. To is the conversation's, or the bot's if there is none.
// A text is passed on as its author wrote it, without the tool's markup and without a leading mention of the
// bot. If a message or an action is in a thread, thread_ts in its Data is the thread, and replies go there.
//
// The payload of an action is the chosen or typed value, such as "2026-03-01" for a date, if there is exactly
// one. Otherwise it is an object with the element's action_id as payload, and all values as value. Except for
// buttons, Data also has all values as "values", and the tool's own object as "action". The values of the
// other fields are "state", and Unknown has the tool's responseUrl, for sendMessageToOutletGroup.
//
// Other actions of a user, such as submitting a form or using a shortcut, become a MISC event with the tool's
// own object, without its credentials, as "event" in Data. Everything else is dropped, and counted in
// Config.Drops: messages of bots, so that two of them cannot answer each other forever; changes of messages,
// and all events other than messages; and requests for the options of a menu. Commands that begin with a
// slash are refused.
//
// Handler answers 200 to an accepted or dropped request, 401 to a request that is not signed by the tool or
// has no channel, 503 if the channel cannot be looked up now, 400, 405 and 413 to requests that the tool does
// not send, and 408 to a request that arrives too slowly. Errors of accept have the status of
// botctx.HTTPStatus: 503 with Retry-After if too many events are waiting.
//
// To include the bot's own success in the answer, pass the method Receive of a Runtime: then the tool waits
// for the bot, and an event that it reports a second time, or sends again after waiting for more than three
// seconds, runs again. Both methods continue if the tool hangs up.
func (c *Connector) Handler(accept func(context.Context, botctx.Inbound) error) http.Handler {
	return &handler{connector: c, accept: accept}
}

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

// refuseKind answers requests that the tool does not send.
func refuseKind(w http.ResponseWriter) {
	http.Error(w, "the request is neither an event nor a tap", http.StatusBadRequest)
}

// answerChallenge answers the tool's check of the handler's address.
func (h *handler) answerChallenge(w http.ResponseWriter, request unverified) {
	config := h.connector.config
	if secret := config.SigningSecret.Reveal(); secret != "" && !isSigned(request.header, request.body, secret, config.Now()) {
		refuse(w)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, request.challenge) // If the client is gone, it needs no answer.
}

// refuse answers a request that does not come from the tool, without revealing the reason.
func refuse(w http.ResponseWriter) {
	http.Error(w, "the request is not signed for a channel of this host", http.StatusUnauthorized)
}

// take checks the signature of a request before it reads it, and passes its events to accept.
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
	if in == nil || !isSigned(request.header, request.body, h.connector.secretOf(in), h.connector.config.Now()) {
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
			botctx.WriteHTTPError(w, err) // Earlier taps are recognised when they come again.
			return
		}
	}
	w.WriteHeader(http.StatusOK)
}

// channelOf returns the channel of a workspace, or nil if there is none.
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

// secretOf returns the secret that signs the requests for a channel.
func (c *Connector) secretOf(in *channel.Channel) string {
	info, _ := in.Info.(channel.CharlieInfo)
	if secret := info.SigningSecret.Reveal(); secret != "" {
		return secret
	}
	return c.config.SigningSecret.Reveal()
}

// hand passes an event to accept, even if the tool hangs up in the meantime, and reports failures to the host.
func (h *handler) hand(ctx context.Context, event botctx.Inbound) error {
	ctx = context.WithoutCancel(ctx)
	if err := inbound.Accept(ctx, event, h.accept); err != nil {
		h.connector.config.OnError(ctx, event, err)
		return err
	}
	return nil
}

// The headers with the tool's signature.
const (
	headerSignature = "X-Slack-Signature"
	headerTimestamp = "X-Slack-Request-Timestamp"
)

// tolerance is the allowed difference between the time of a request and the clock.
const tolerance = 5 * time.Minute

// isPresent reports whether the time in the headers of a request is within the tolerance of now.
func isPresent(header http.Header, now time.Time) bool {
	seconds, err := strconv.ParseInt(header.Get(headerTimestamp), 10, 64)
	return err == nil && now.Sub(time.Unix(seconds, 0)).Abs() <= tolerance
}

// isSigned reports whether a request was signed with the secret, and is not older than the tolerance. An
// empty secret signs nothing.
func isSigned(header http.Header, body []byte, secret string, now time.Time) bool {
	if secret == "" || !isPresent(header, now) {
		return false
	}
	timestamp := header.Get(headerTimestamp)
	given, isVersion := strings.CutPrefix(header.Get(headerSignature), "v0=")
	signature, err := hex.DecodeString(given)
	if err != nil || !isVersion {
		return false
	}
	sum := hmac.New(sha256.New, []byte(secret))
	_, _ = sum.Write([]byte("v0:" + timestamp + ":")) // A hash accepts any input.
	_, _ = sum.Write(body)
	return hmac.Equal(sum.Sum(nil), signature)
}

// report is a request of the tool to a channel.
type report struct {
	body document.Object
	in   *channel.Channel
}

// firstText returns the first text found at one of the paths.
func firstText(from document.Object, paths ...string) string {
	for _, path := range paths {
		if text := document.Get(from, path, ""); text != "" {
			return text
		}
	}
	return ""
}

// arrivals returns the events of a report for the bot. If there are none, it returns the drop.
func (r report) arrivals() ([]botctx.Inbound, *send.Drop) {
	switch kind := document.Get(r.body, "type", ""); kind {
	case "event_callback":
		return r.message()
	case "block_actions", "interactive_message":
		return r.taps(kind)
	case "block_suggestion", "dialog_suggestion": // They ask for options, which an answer would have to contain.
		return r.dropped(kind, send.DropUnsupported)
	default:
		return r.interaction(kind)
	}
}

func (r report) dropped(kind string, reason send.DropReason) ([]botctx.Inbound, *send.Drop) {
	return nil, &send.Drop{Platform: channel.Charlie, App: r.in.App, Channel: r.in.ID, Kind: kind, Reason: reason}
}

// message returns the event of a member's message. Events other than messages are dropped.
func (r report) message() ([]botctx.Inbound, *send.Drop) {
	told := document.Get(r.body, "event", document.Object{})
	kind := firstText(told, "subtype", "type")
	switch {
	case !isMessage(told):
		return r.dropped(kind, send.DropUnsupported)
	case r.isByBot(told):
		return r.dropped(kind, send.DropFromBot)
	}
	ts := document.Get(told, fieldTS, "")
	event := send.MessageEvent{
		From: document.Get(told, "user", ""), To: document.Get(told, fieldChannel, ""),
		Type: send.TypeText, Timestamp: millisecondsOf(ts), MessageID: ts,
	}
	if event.From == "" || event.To == "" {
		return r.dropped(kind, send.DropIncomplete)
	}
	text := plainText(withoutMention(document.Get(told, fieldText, ""), r.botIDs()))
	event.Data = document.O(fieldText, text)
	switch files := objectsOf(told, "files"); {
	case len(files) > 0:
		event.Type, event.Data = send.TypeMisc, filesOf(files, text)
	case document.Get(told, fieldText, "") == "": // It has other parts, such as a shared message.
		event.Type, event.Data = send.TypeMisc, document.O("event", told)
	}
	event.Data = inThread(event.Data, document.Get(told, fieldThread, ""), ts)
	// The tool reports a mention as a message as well, under another id.
	return []botctx.Inbound{{Event: event, Key: "message " + event.To + " " + ts}}, nil
}

// inThread returns the data of an event with its thread, if any. A message that others have answered in a
// thread is not itself part of that thread.
func inThread(data document.Object, thread, ts string) document.Object {
	if thread == "" || thread == ts {
		return data
	}
	return data.With(fieldThread, thread)
}

// isMessage reports whether an event is a new message of a user.
func isMessage(told document.Object) bool {
	switch document.Get(told, "type", "") {
	case "message", "app_mention":
	default:
		return false
	}
	switch document.Get(told, "subtype", "") {
	case "", "file_share", "me_message", "thread_broadcast", "bot_message":
		return true
	default:
		return false
	}
}

// isByBot reports whether a bot wrote a message.
func (r report) isByBot(told document.Object) bool {
	return document.Get(told, "subtype", "") == "bot_message" || document.Get(told, "bot_id", "") != "" ||
		slices.Contains(r.botIDs(), document.Get(told, "user", ""))
}

// botIDs returns the ids by which the bot of the channel is known.
func (r report) botIDs() []string {
	var ids []string
	if id := botOf(r.in); id != "" {
		ids = append(ids, id)
	}
	for _, authorization := range objectsOf(r.body, "authorizations") {
		if id := document.Get(authorization, "user_id", ""); id != "" && document.Get(authorization, "is_bot", false) {
			ids = append(ids, id)
		}
	}
	return ids
}

// filesOf returns the data of a message with files.
func filesOf(files []document.Object, text string) document.Object {
	attachments := document.A()
	for _, file := range files {
		kind, _, _ := strings.Cut(document.Get(file, "mimetype", ""), "/")
		switch kind {
		case "image", "audio", "video":
		default:
			kind = "file"
		}
		attachments = attachments.Append(document.O(
			"type", kind,
			"payload", document.O(
				"url", firstText(file, "url_private_download", "url_private", "permalink"),
				"attachment_id", document.Get(file, "id", ""),
			),
			"title", firstText(file, "title", "name"),
		))
	}
	data := document.O(fieldAttachments, attachments)
	if text != "" {
		data = data.With(fieldText, text)
	}
	return data
}
