package webchat

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Values of an event's "from".
const (
	sideMe    = chatlog.FromVisitor
	sideBot   = "bot"
	sideAgent = "agent"
)

// Marks of a conversation.
const (
	// markDelivered marks the visitor's last accepted message.
	markDelivered = "delivered"
	// markSeen marks the last message that the visitor has read.
	markSeen = "seen"
	// markSignedOut is about the time of the visitor's last sign-out, in Unix milliseconds. When it changes, the
	// visitor's streams look up whether their session was ended.
	markSignedOut = "signedout"
)

// Prefixes of keys in the log: for messages of the visitor, and for messages to the visitor.
const (
	keyOfVisitor = "c:"
	keyOfMessage = "m:"
)

const (
	maxAttachments = 10
	maxTitle       = 200
	maxPayload     = 1000
)

// clientIDForm matches valid ids that clients give to messages.
var clientIDForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// message stores a visitor's message in the log and passes it to accept. It is stored first, so that the bot's
// answer comes after it. If accept fails, the widget repeats the message; the log and the inbox recognise the
// repetition.
func (c *Connector) message(w http.ResponseWriter, r *http.Request, v visit) error {
	if err := c.limitMessages(c.rates.messages, v); err != nil {
		return err
	}
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	id := document.Get(body, "clientId", "")
	if !clientIDForm.MatchString(id) {
		return c.drop(r.Context(), v, body, invalid("clientId", "must have 1 to 64 letters, digits, _ and -"))
	}
	data, err := c.dataOf(r.Context(), v, body)
	if err != nil {
		return c.drop(r.Context(), v, body, err)
	}
	kind := send.Type(document.Get(body, "type", ""))
	// The message is accepted even if the visitor leaves.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), answerTime)
	defer cancel()
	entry := chatlog.Entry{At: document.TimestampOf(v.now)}
	if kind != send.TypeWebEvent { // A web event is an act of the page, and is not shown.
		entry, _, err = c.log.Append(ctx, v.conversation, chatlog.Entry{
			Key: keyOfVisitor + id, From: sideMe, At: entry.At, Body: shownOf(kind, data),
		})
		if err != nil {
			return err
		}
	}
	if err := v.accept(ctx, v.event(id, kind, data, entry.At)); err != nil {
		return err
	}
	if entry.Seq > 0 {
		c.warn(ctx, "webchat: message not marked as delivered", c.log.SetMark(ctx, v.conversation, markDelivered, entry.Seq))
	}
	answer(w, http.StatusOK, struct {
		ClientID string `json:"clientId"`
		Seq      int64  `json:"seq,omitzero"`
	}{id, entry.Seq})
	return nil
}

// limitMessages counts a message or a file against the visitor's limit and the channel's.
func (c *Connector) limitMessages(limit *rateLimit, v visit) error {
	if err := limit.require(v.limitKey(), v.now); err != nil {
		return err
	}
	return c.rates.channel.require(v.in.ID, v.now)
}

// drop counts a refused message, and returns the reason. Drops counts a limited number of kinds for all platforms, so
// visitors must not invent any.
func (c *Connector) drop(ctx context.Context, v visit, body document.Object, reason error) error {
	kind := document.Get(body, "type", "")
	if !slices.Contains(visitorTypes, send.Type(kind)) {
		kind = send.OtherKinds
	}
	c.config.Drops.Add(ctx, send.Drop{Platform: v.in.Type, App: v.in.App, Channel: v.in.ID, Kind: kind, Reason: send.DropInvalid})
	return reason
}

// visitorTypes are the types of visitors' messages.
var visitorTypes = []send.Type{send.TypeText, send.TypePayload, send.TypeMisc, send.TypeWebEvent}

// event returns the event of a visitor's message.
func (v visit) event(id string, kind send.Type, data document.Object, at document.Timestamp) botctx.Inbound {
	of := v.Profile
	return botctx.Inbound{
		App: v.in.App, Channel: v.in.ID, Key: v.Visitor + " " + id,
		Event: send.MessageEvent{Type: kind, From: v.Visitor, To: v.in.ID, Data: data, Timestamp: at, MessageID: id},
		Profile: member.Member{
			FirstName: of.FirstName, LastName: of.LastName, Email: of.Email, Locale: of.Locale, Platform: string(v.in.Type),
		},
	}
}

// dataOf returns the data of a message's event. It returns a refusal if a field is invalid.
func (c *Connector) dataOf(ctx context.Context, v visit, body document.Object) (document.Object, error) {
	switch send.Type(document.Get(body, "type", "")) {
	case send.TypeText:
		text := document.Get(body, "text", "")
		if err := checkText("text", text, send.MaxText); err != nil {
			return document.Object{}, err
		}
		return document.O("text", text), nil
	case send.TypePayload:
		return c.tapOf(v, body)
	case send.TypeMisc:
		return c.attachmentsOf(ctx, v, body)
	case send.TypeWebEvent:
		data := document.Get(body, "data", document.Object{})
		if data.IsZero() {
			return data, invalid("data", "must be an object")
		}
		return data, nil
	default:
		return document.Object{}, invalid("type", "must be TEXT, PAYLOAD, MISC or WEB_EVENT")
	}
}

// checkText refuses an empty text, or a text of more than most characters.
func checkText(field, text string, most int) error {
	switch length := utf8.RuneCountInString(text); {
	case strings.TrimSpace(text) == "":
		return invalid(field, "must be a text")
	case length > most:
		return invalid(field, "is %d characters long; the limit is %d", length, most)
	}
	return nil
}

// tapOf returns the data for a tap on a quick reply or a button.
func (c *Connector) tapOf(v visit, body document.Object) (document.Object, error) {
	payload, _ := body.Field("payload")
	text, isText := payload.(string)
	object, isObject := payload.(document.Object)
	value, hasValue := object.Field("value")
	if isObject {
		text = document.Get(object, "payload", "")
	} else if !isText {
		return document.Object{}, invalid("payload", "must be a text, or an object with a field payload")
	}
	if c.config.SignsPayloads {
		var isOffered bool
		if text, isOffered = offeredText(v.keys, v.Visitor, text, value); !isOffered {
			return document.Object{}, invalid("payload", "was not offered to this visitor")
		}
	}
	if err := checkText("payload", text, maxPayload); err != nil {
		return document.Object{}, err
	}
	payload = text
	if hasValue {
		payload = document.O("payload", text, "value", value)
	}
	title := document.Get(body, "title", "")
	if utf8.RuneCountInString(title) > maxTitle {
		return document.Object{}, invalid("title", "is too long; the limit is %d characters", maxTitle)
	}
	data := document.O("payload", payload)
	if title != "" {
		data = data.With("title", title)
	}
	return data, nil
}

// attachmentsOf returns the data for a message with files. The visitor must have uploaded them.
func (c *Connector) attachmentsOf(ctx context.Context, v visit, body document.Object) (document.Object, error) {
	given := document.Get(body, "attachments", document.Array{})
	if given.Len() == 0 || given.Len() > maxAttachments {
		return document.Object{}, invalid("attachments", "must be 1 to %d files", maxAttachments)
	}
	attachments := make([]any, 0, given.Len())
	for i, item := range given.All() {
		one, _ := item.(document.Object)
		id, isOurs := strings.CutPrefix(document.Get(one, "url", ""), c.config.URL+filesPath)
		file, exists, err := fileRecord{}, false, error(nil)
		if isOurs && c.config.Files != nil {
			file, exists, err = c.fileWith(ctx, id)
		}
		if err != nil {
			return document.Object{}, err
		}
		if !exists || file.of != v.conversation {
			return document.Object{}, invalid("attachments"+boterr.Index(i)+".url", "must be the address of a file that this visitor uploaded")
		}
		address := c.config.URL + filesPath + id
		attachments = append(attachments, document.O(
			"type", kindOf(file.mediaType), "url", address, "name", file.name,
			"payload", document.O("url", address), "title", file.name, // Connectors of other platforms read these.
		))
	}
	data := document.O("attachments", document.A(attachments...))
	if text := document.Get(body, "text", ""); text != "" {
		if err := checkText("text", text, send.MaxText); err != nil {
			return document.Object{}, err
		}
		data = data.With("text", text)
	}
	return data, nil
}

// shownOf returns a message as the log shows it.
func shownOf(kind send.Type, data document.Object) document.Object {
	return send.Other(kind, data).Object()
}

// typing shows the bot's side that the visitor is typing.
func (c *Connector) typing(w http.ResponseWriter, r *http.Request, v visit) error {
	if err := c.rates.typing.require(v.limitKey(), v.now); err != nil {
		return err
	}
	c.config.OnTyping(r.Context(), v.in, v.Visitor)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// read stores which message the visitor has read.
func (c *Connector) read(w http.ResponseWriter, r *http.Request, v visit) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	seq := document.Get(body, "seq", int64(0))
	newest, err := c.log.Newest(r.Context(), v.conversation)
	if err != nil {
		return err
	}
	if seq <= 0 || seq > newest {
		return invalid("seq", "must be the number of a message")
	}
	if err := c.log.SetMark(r.Context(), v.conversation, markSeen, seq); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
