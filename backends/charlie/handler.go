package charlie

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/send"
)

// Handler accepts the tool's reports: the requests of its events API and of its interactivity, at one address
// or two. It checks the signature of each, passes the events to accept, and answers after accept returns. The
// tool expects an answer within three seconds.
//
// Pass the method Accept of a botctx.Runtime as accept. It stores the event, uses Inbound.Key to recognise an
// event that the tool sends again or reports twice, and runs the events of each sender in the order in which
// they were accepted. The answer 200 means that the event is stored. If an event could not be accepted, the tool
// sends it again a few times within an hour.
//
// From is the user's id. To is the conversation's id, or the bot's id outside of conversations. The types of events are:
//
//   - TEXT: a text as its author wrote it, without the tool's markup or a leading mention of the bot.
//   - MISC: a message with files or without a text; or another action of a user, such as submitting a form or using
//     a shortcut, with the tool's own object as "event", without its credentials.
//   - PAYLOAD: an action on a button, menu, picker or field. If it has exactly one chosen or typed value, the payload
//     is that value, such as "2026-03-01" for a date. Otherwise the payload is an object with the element's action_id
//     as payload and all values as value. Except for buttons, Data also has all values as "values" and the tool's own
//     object as "action". If the message has other fields, Data has their values as "state". Unknown has the tool's
//     responseUrl, for sendMessageToOutletGroup.
//
// If a message or an action is in a thread, thread_ts in its Data is the thread, and replies go there.
//
// Everything else is dropped and counted in Config.Drops: messages of bots, because two bots could otherwise answer
// each other forever; changes of messages, and all events other than messages; and requests for the options of a
// menu. Slash commands are refused.
//
// Handler answers 200 to an accepted or dropped request, 401 to a request that is not signed by the tool or has
// no channel, and 503 if the channel cannot be looked up now. It answers 400, 405 or 413 to requests that the
// tool does not send, and 408 to a request that arrives too slowly. An error of accept is answered with the
// status of botctx.HTTPStatus: 503 with Retry-After if too many events are waiting.
//
// To run the bot before the answer, pass the method Receive of a Runtime instead. The tool then waits for the
// bot. An event runs again if the tool reports it twice, or sends it again after waiting three seconds. Both
// methods continue if the tool closes the connection.
func (c *Connector) Handler(accept func(context.Context, botctx.Inbound) error) http.Handler {
	return &handler{c, inbound.Receiver{
		Platform: channel.Charlie, Accept: accept, OnError: c.config.OnError, Drops: c.config.Drops, BodyTime: c.config.BodyTime,
	}}
}

type handler struct {
	connector *Connector
	inbound.Receiver
}

// errUnsigned is the answer to a request that is not from the tool.
const errUnsigned inbound.UnverifiedError = "the request is not signed for a channel of this host"

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !inbound.RequireMethod(w, r, http.MethodPost) {
		return
	}
	signature, ok := signatureIn(r.Header, h.connector.config.Now())
	if !ok { // Do not read the bodies of unsigned and old requests.
		inbound.LeaveUnread(w)
		h.Refuse(w, r, errUnsigned)
		return
	}
	body, isRead := h.ReadBody(w, r)
	if !isRead {
		return
	}
	request, ok := readUnverified(r.Header, body)
	request.signature = signature
	switch {
	case !ok:
		refuseKind(w)
	case request.challenge != "":
		h.answerChallenge(w, r, request)
	default:
		h.take(w, r, request)
	}
}

// refuseKind answers a request that the tool does not send.
func refuseKind(w http.ResponseWriter) {
	http.Error(w, "the request is neither an event nor a tap", http.StatusBadRequest)
}

func (h *handler) answerChallenge(w http.ResponseWriter, r *http.Request, request unverified) {
	if secret := h.connector.config.SigningSecret.Reveal(); secret != "" && !request.isSigned(secret) {
		h.Refuse(w, r, errUnsigned)
		return
	}
	inbound.WriteText(w, request.challenge)
}

// take checks the signature of a request, parses it, and passes its events to accept.
func (h *handler) take(w http.ResponseWriter, r *http.Request, request unverified) {
	in, err := inbound.FindChannel(r.Context(), h.connector.config.FindChannel, request.from)
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	if in == nil || !request.isSigned(h.connector.secretOf(r.Context(), in)) {
		h.Refuse(w, r, errUnsigned)
		return
	}
	report, err := request.read(in)
	if err != nil {
		refuseKind(w)
		return
	}
	ctx := context.WithoutCancel(r.Context()) // Even if the tool has closed the connection.
	for _, event := range report.events() {
		if event.Drop != "" {
			h.Drop(ctx, in, event.Kind, event.Drop)
			continue
		}
		event.Inbound.App, event.Inbound.Channel = in.App, in.ID
		if err := h.Hand(ctx, event.Inbound); err != nil {
			botctx.WriteHTTPError(w, err) // A repeated request contains earlier taps again; accept recognises them.
			return
		}
	}
	w.WriteHeader(http.StatusOK)
}

// secretOf returns the signing secret of a channel, or the host's if the channel has none. It counts and logs a missing
// secret.
func (c *Connector) secretOf(ctx context.Context, in *channel.Channel) string {
	info, _ := in.Info.(channel.CharlieInfo)
	secret := cmp.Or(info.SigningSecret.Reveal(), c.config.SigningSecret.Reveal())
	if secret == "" {
		c.config.Drops.AddUnverified(ctx, in, boterr.New(boterr.FailedPrecondition, "",
			"the channel %s has no signing secret; set signingSecret in its info, or SigningSecret of the connector's Config", in.ID))
	}
	return secret
}

// Headers of the tool's signature.
const (
	headerSignature = "X-Slack-Signature"
	headerTimestamp = "X-Slack-Request-Timestamp"
)

// tolerance is the largest allowed difference between the time of a request and the clock.
const tolerance = 5 * time.Minute

// signatureIn returns the signature of a request. It returns false if the signature is malformed, or if the request's
// time is not within the tolerance.
func signatureIn(header http.Header, now time.Time) ([]byte, bool) {
	seconds, err := strconv.ParseInt(header.Get(headerTimestamp), 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return nil, false
	}
	given, isVersion := strings.CutPrefix(header.Get(headerSignature), "v0=")
	signature, err := hex.DecodeString(given)
	return signature, err == nil && isVersion && len(signature) == sha256.Size
}

// isSigned reports whether a request is signed with the secret. It returns false for an empty secret.
func (l unverified) isSigned(secret string) bool {
	return secret != "" && hmac.Equal(inbound.MAC(secret, "v0:"+l.header.Get(headerTimestamp)+":", l.body), l.signature)
}

// report is a verified request for a channel.
type report struct {
	body document.Object
	in   *channel.Channel
}

// firstText returns the first text that is not empty at one of the paths.
func firstText(from document.Object, paths ...string) string {
	for _, path := range paths {
		if text := document.Get(from, path, ""); text != "" {
			return text
		}
	}
	return ""
}

// events returns the events of a report, at least one, which may be a drop.
func (r report) events() []inbound.Event {
	switch kind := document.Get(r.body, "type", ""); kind {
	case "event_callback":
		return []inbound.Event{r.message()}
	case "block_actions", "interactive_message":
		return r.taps(kind)
	case "block_suggestion", "dialog_suggestion": // Options could only be given in the answer to this request.
		return []inbound.Event{{Kind: kind, Drop: send.DropUnsupported}}
	default:
		return []inbound.Event{r.interaction(kind)}
	}
}

// message returns the event of a member's message. It drops all other events.
func (r report) message() inbound.Event {
	told := document.Get(r.body, "event", document.Object{})
	kind := firstText(told, "subtype", "type")
	switch {
	case !isMessage(told):
		return inbound.Event{Kind: kind, Drop: send.DropUnsupported}
	case r.isByBot(told):
		return inbound.Event{Kind: kind, Drop: send.DropFromBot}
	}
	ts := document.Get(told, fieldTS, "")
	event := send.MessageEvent{
		From: document.Get(told, "user", ""), To: document.Get(told, fieldChannel, ""),
		Type: send.TypeText, Timestamp: millisecondsOf(ts), MessageID: ts,
	}
	if event.From == "" || event.To == "" {
		return inbound.Event{Kind: kind, Drop: send.DropIncomplete}
	}
	text := plainText(withoutMention(document.Get(told, fieldText, ""), r.botIDs()))
	event.Data = document.O(fieldText, text)
	switch files := pieces.Objects(told, "files"); {
	case len(files) > 0:
		event.Type, event.Data = send.TypeMisc, filesOf(files, text)
	case document.Get(told, fieldText, "") == "": // The message has other parts, such as a shared message.
		event.Type, event.Data = send.TypeMisc, document.O("event", told)
	}
	event.Data = inThread(event.Data, document.Get(told, fieldThread, ""), ts)
	// The tool reports a mention twice: as a mention and as a message, with different ids.
	return inbound.Event{Inbound: botctx.Inbound{Event: event, Key: "message " + event.To + " " + ts}}
}

// inThread adds the thread to the data of an event. The first message of a thread has its own ts as thread, and
// is not a reply.
func inThread(data document.Object, thread, ts string) document.Object {
	if thread == "" || thread == ts {
		return data
	}
	return data.With(fieldThread, thread)
}

// isMessage reports whether an event is a new message.
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

func (r report) isByBot(told document.Object) bool {
	return document.Get(told, "subtype", "") == "bot_message" || document.Get(told, "bot_id", "") != "" ||
		slices.Contains(r.botIDs(), document.Get(told, "user", ""))
}

// botIDs returns the user ids of the channel's bot.
func (r report) botIDs() []string {
	var ids []string
	if id := botOf(r.in); id != "" {
		ids = append(ids, id)
	}
	for _, authorization := range pieces.Objects(r.body, "authorizations") {
		if id := document.Get(authorization, "user_id", ""); id != "" && document.Get(authorization, "is_bot", false) {
			ids = append(ids, id)
		}
	}
	return ids
}

// filesOf returns the data of an event with files.
func filesOf(files []document.Object, text string) document.Object {
	attachments := make([]any, 0, len(files))
	for _, file := range files {
		kind, _, _ := strings.Cut(document.Get(file, "mimetype", ""), "/")
		switch kind {
		case "image", "audio", "video":
		default:
			kind = "file"
		}
		attachments = append(attachments, document.O(
			"type", kind,
			"payload", document.O(
				"url", firstText(file, "url_private_download", "url_private", "permalink"),
				"attachment_id", document.Get(file, "id", ""),
			),
			"title", firstText(file, "title", "name"),
		))
	}
	data := document.O(fieldAttachments, document.A(attachments...))
	if text != "" {
		data = data.With(fieldText, text)
	}
	return data
}
