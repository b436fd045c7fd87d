package alpha

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/internal/graph"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/internal/taps"
	"github.com/botctx/go-sdk/send"
)

// Limits of the platform that send.Response.Validate does not check.
const (
	maxButtonText = 640
	maxPayload    = send.MaxQuickReplyPayload
)

// Values of messagingType.
const (
	typeResponse = "RESPONSE"
	typeTag      = "MESSAGE_TAG"
)

// typeMarkSeen is a type that the specification does not define. It marks the member's messages as read.
const typeMarkSeen send.Type = "MARK_SEEN"

// actions are the types that are sent as a sender_action instead of a message.
var actions = map[send.Type]string{send.TypeTyping: "typing_on", typeMarkSeen: "mark_seen"}

// Send implements send.Connector. The recipient is a member's id for the page. A person who opted in on a web
// page is addressed as "user_ref:" and the reference in the OPTIN event.
//
//   - TEXT has at most 2,000 characters.
//   - IMAGE, AUDIO, VIDEO and FILE are sent by address or by the id of UploadAttachment, at most 25 MB.
//   - QUICK_REPLIES has at most 13 replies. Types such as user_email are passed on.
//   - BUTTON becomes a button template, whose text has at most 640 characters. A payload may be an object; it is
//     sent as JSON, with at most 1,000 characters, and comes back as an object.
//   - CAROUSEL becomes a generic template. Each card needs a subtitle, a picture or a button.
//   - TYPING shows typing until the next message or for 20 seconds. Its duration is ignored.
//   - MARK_SEEN marks the member's messages as read.
//   - Any other type is Unsupported unless the response has message, an object in the platform's form, such as
//     a receipt or a media template.
//
// MessagingType is RESPONSE by default, and MESSAGE_TAG if there is a MessagingTag. A response may have the
// platform's own fields notification_type, persona_id and reply_to. If it has comment_id, the message is a
// private answer to that comment, which the channel must allow with alphaCommentReply in its info.
func (c *Connector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	from, err := c.pageOf(message.Channel)
	if err != nil {
		return send.Delivery{}, err
	}
	body, err := from.bodyOf(message)
	if err != nil {
		return send.Delivery{}, err
	}
	reply, err := c.client.Call(ctx, from.as, graph.Request{
		Method: http.MethodPost, Path: []string{from.id, "messages"}, Body: body,
	})
	if err != nil {
		return send.Delivery{}, aboutTag(err, message.MessagingTag)
	}
	id := document.Get(reply, "message_id", "")
	if id == "" && document.Get(reply, "recipient_id", "") == "" {
		return send.Delivery{}, calls.ErrUnreadable
	}
	return send.Delivery{Reply: reply, MessageID: id, From: from.info.PageID}, nil
}

// retiredTags are the tags that the platform has refused since April 2026.
var retiredTags = []string{"CONFIRMED_EVENT_UPDATE", "POST_PURCHASE_UPDATE", "ACCOUNT_UPDATE"}

// aboutTag adds to the error of a refused message that its tag may be the reason.
func aboutTag(err error, tag string) error {
	if tag == "" || boterr.CodeOf(err) != boterr.InvalidArgument {
		return err
	}
	if slices.Contains(retiredTags, tag) {
		return boterr.Invalid("", "the platform no longer accepts the messagingTag %s; use HUMAN_AGENT: %w", tag, err)
	}
	return boterr.Invalid("", "the platform may not accept the messagingTag %s: %w", tag, err)
}

// bodyOf returns the body of the request that sends a message.
func (p page) bodyOf(message send.Message) (document.Object, error) {
	response := message.Response
	recipient, err := p.recipientOf(message)
	if err != nil {
		return document.Object{}, err
	}
	if action, isAction := actions[response.Type()]; isAction {
		return document.O("recipient", recipient, "sender_action", action), nil
	}
	content, err := contentOf(response)
	if err != nil {
		return document.Object{}, err
	}
	if !content.Has("metadata") && message.ID != "" {
		content = content.With("metadata", message.ID)
	}
	standard := typeResponse
	if message.MessagingTag != "" {
		standard = typeTag
	}
	body := document.O("recipient", recipient, "messaging_type", cmp.Or(message.MessagingType, standard))
	if message.MessagingTag != "" {
		body = body.With("tag", message.MessagingTag)
	}
	for _, field := range []string{"notification_type", "persona_id", "reply_to"} {
		if value, _ := response.Object().Field(field); value != nil && value != "" {
			body = body.With(field, value)
		}
	}
	return body.With("message", content), body.Err()
}

// userRef precedes the reference of a person who opted in on a web page and has no id yet.
const userRef = "user_ref:"

func (p page) recipientOf(message send.Message) (document.Object, error) {
	if id := document.Get(message.Response, "comment_id", ""); id != "" {
		if !p.info.AlphaCommentReply {
			return document.Object{}, boterr.New(boterr.FailedPrecondition, "comment_id",
				"the channel does not allow answers to comments: set alphaCommentReply of its info")
		}
		return document.O("comment_id", id), nil
	}
	if reference, isReference := strings.CutPrefix(message.To, userRef); isReference {
		return document.O("user_ref", reference), nil
	}
	return document.O("id", message.To), nil
}

// contentOf converts a response to the platform's form.
func contentOf(response send.Response) (document.Object, error) {
	switch kind := response.Type(); kind {
	case send.TypeText:
		return document.O("text", response.Text()), nil
	case send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile:
		payload := document.O("attachment_id", document.Get(response, "attachment_id", ""))
		if document.Get(payload, "attachment_id", "") == "" {
			payload = document.O("url", document.Get(response, "url", ""))
		}
		attachment, err := attachmentOf(kind, payload)
		return document.O("attachment", attachment), err
	case send.TypeQuickReplies:
		replies, err := pieces.Each(response, "quickReplies", quickReplyOf)
		return document.O("text", response.Text(), "quick_replies", replies), err
	case send.TypeButton:
		if length := utf8.RuneCountInString(response.Text()); length > maxButtonText {
			return document.Object{}, boterr.Invalid("text",
				"is %d characters long; the limit above buttons on alpha is %d: send the text first, and the buttons below a short one",
				length, maxButtonText)
		}
		buttons, err := pieces.Each(response, "buttons", buttonOf)
		return template("button", "text", response.Text(), "buttons", buttons), err
	case send.TypeCarousel:
		cards, err := pieces.Each(response, "carousel", cardOf)
		return template("generic", "elements", cards), err
	default:
		return pieces.Own(response, channel.Alpha)
	}
}

func template(kind string, fields ...any) document.Object {
	payload := document.O(append([]any{"template_type", kind}, fields...)...)
	return document.O("attachment", document.O("type", "template", "payload", payload))
}

// attachmentOf converts a file to the platform's form. The payload has its address or its id.
func attachmentOf(kind send.Type, payload document.Object) (document.Object, error) {
	if payload.Has("url") {
		if err := bounded.CheckURL("url", document.Get(payload, "url", "")); err != nil {
			return document.Object{}, err
		}
	}
	return document.O("type", strings.ToLower(string(kind)), "payload", payload), nil
}

// filled removes null and empty fields, which the platform refuses.
func filled(from document.Object) document.Object {
	for field, value := range from.All() {
		if list, isList := value.(document.Array); value == nil || value == "" || isList && list.Len() == 0 {
			from = from.Without(field)
		}
	}
	return from
}

func quickReplyOf(reply document.Object) (document.Object, error) {
	reply = filled(reply)
	if !reply.Has("content_type") {
		reply = reply.With("content_type", send.ContentText)
	}
	return reply, nil
}

func buttonOf(button document.Object) (document.Object, error) {
	button = filled(button)
	if button.Has("payload") {
		text, err := taps.Of(button, "alpha", maxPayload)
		if err != nil {
			return document.Object{}, err
		}
		button = button.With("payload", text)
	}
	if document.Get(button, "type", "") == send.ButtonWebURL {
		return button, bounded.CheckURL("url", document.Get(button, "url", ""))
	}
	return button, nil
}

// cardOf converts a card to the platform's form. A card with a title alone is an error.
func cardOf(card document.Object) (document.Object, error) {
	card = filled(card)
	if card.Len() < 2 {
		return document.Object{}, boterr.Missing("subtitle", "a subtitle, an image_url or buttons: alpha refuses a card with a title alone")
	}
	if card.Has("image_url") {
		if err := bounded.CheckURL("image_url", document.Get(card, "image_url", "")); err != nil {
			return document.Object{}, err
		}
	}
	if !card.Has("buttons") {
		return card, nil
	}
	buttons, err := pieces.Each(card, "buttons", buttonOf)
	return card.With("buttons", buttons), err
}

const sentenceUnreachable = "the member cannot be reached now: the account is closed, or does not accept messages from the page"

// meanings maps the platform's error codes to codes of package boterr.
var meanings = graph.Meanings{
	{Code: 10, Subcode: 2018278}: windowClosed,
	{Code: 10, Subcode: 2018065}: windowClosed,
	{Code: 10, Subcode: 2018300}: {
		Code: boterr.FailedPrecondition, Sentence: "another application controls the conversation: wait until it hands the conversation back",
	},
	{Code: 551}:                   {Code: boterr.FailedPrecondition, Sentence: sentenceUnreachable},
	{Code: 200, Subcode: 1545041}: {Code: boterr.FailedPrecondition, Sentence: sentenceUnreachable},
	{Code: 100, Subcode: 2018001}: {Code: boterr.NotFound, Sentence: "the page has no member with that id"},
	{Code: 100, Subcode: 2018109}: {
		Code: boterr.InvalidArgument, Field: "url", Sentence: "the file is too large for the platform: the limit is 25 MB",
	},
	{Code: 2, Subcode: 2018344}: {
		Code: boterr.FailedPrecondition, Sentence: "the page has not accepted the platform's terms for labels: accept them in the page's inbox",
	},
	{Code: 2}:     {Sentence: "the platform failed temporarily, or the member has blocked the page"},
	{Code: 1200}:  {Sentence: "the platform failed temporarily; try again later"},
	{Code: 80006}: {Code: boterr.ResourceExhausted, Sentence: "the platform limits the rate of the page's requests", Wait: time.Minute},
}

var windowClosed = graph.Meaning{
	Code: boterr.FailedPrecondition,
	Sentence: "the member's last message is more than 24 hours old: wait for the next one, or send within seven days with the " +
		"messagingTag HUMAN_AGENT if a person writes and the application may use it",
}
