package bravo

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
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
	maxBody       = 1024
	maxCaption    = 1024
	maxReplies    = 3
	maxRows       = 10
	maxTitle      = 20
	maxReplyID    = 256
	maxRowID      = 200
	textTooLong   = "is %d characters long; the limit on bravo is %d: %s"
	typeMarkSeen  = "MARK_SEEN"
	toIndividual  = "individual"
	toGroup       = "group"
	typeInterface = "interactive"
)

// Send implements send.Connector. The recipient is the id of a group, or of a member: a telephone number.
//
//   - TEXT has at most 2,000 characters. preview_url shows a preview of a link.
//   - IMAGE, AUDIO, VIDEO and FILE are sent by address or by the platform's id. They may have a caption, except for
//     AUDIO, and FILE a filename.
//   - QUICK_REPLIES becomes buttons for one to three replies, and a list for four to ten. The button that opens the
//     list shows listButton of the response, or else ListButton of the Config. More replies are InvalidArgument. A
//     single reply of the type location asks for the member's location.
//   - BUTTON has one to three postbacks, or a single address, which becomes the platform's button for links. Other
//     combinations are InvalidArgument, and buttons of other types are Unsupported.
//   - TEMPLATE is a template that the platform has approved.
//   - TYPING with message_id, the id of a member's message, marks that message as read and shows typing. Without
//     message_id it sends nothing, because the platform cannot show it.
//   - MARK_SEEN with message_id marks the message as read.
//   - LOCATION, CONTACTS, REACTION, STICKER and INTERACTIVE need a field with the type's name in lower case, whose
//     value is an object in the platform's form.
//   - CAROUSEL and other types are Unsupported.
//
// The text above buttons or a list has at most 1,024 characters. Titles must differ, and so must payloads, which have at
// most 256 characters as text, in a list 200. Messages to groups cannot have quick replies or buttons. A response may
// have the platform's own field context.
func (c *Connector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	from, err := c.numberOf(message.Channel)
	if err != nil {
		return send.Delivery{}, err
	}
	switch kind := message.Response.Type(); kind {
	case send.TypeTyping, typeMarkSeen:
		return c.mark(ctx, from, message)
	default:
	}
	body, err := c.bodyOf(message)
	if err != nil {
		return send.Delivery{}, err
	}
	reply, err := c.client.Call(ctx, from.as, graph.Request{
		Method: http.MethodPost, Path: []string{from.id, "messages"}, Body: body,
	})
	if err != nil {
		return send.Delivery{}, err
	}
	id := document.Get(reply, "messages[0].id", "")
	if id == "" {
		return send.Delivery{}, calls.ErrUnreadable
	}
	return send.Delivery{Reply: reply, MessageID: id, ChatID: message.To, From: from.id}, nil
}

// mark marks a member's message as read. For TYPING it also shows typing.
func (c *Connector) mark(ctx context.Context, from number, message send.Message) (send.Delivery, error) {
	isTyping := message.Response.Type() == send.TypeTyping
	id := document.Get(message.Response, "message_id", "")
	switch {
	case id == "" && isTyping:
		return send.Delivery{Reply: document.O("success", true)}, ctx.Err()
	case id == "":
		return send.Delivery{}, boterr.Missing("message_id", "the id of a message of the member")
	}
	body := document.O("messaging_product", "whatsapp", "status", "read", "message_id", id)
	if isTyping {
		body = body.With("typing_indicator", document.O("type", "text"))
	}
	reply, err := c.client.Call(ctx, from.as, graph.Request{Method: http.MethodPost, Path: []string{from.id, "messages"}, Body: body})
	return send.Delivery{Reply: reply}, err
}

// individual matches the ids of people: telephone numbers, and ids that start with a country code and a point.
// Other ids belong to groups.
var individual = regexp.MustCompile(`^(\+?\d+|[A-Z]{2}\.[A-Za-z0-9]+)$`)

// bodyOf returns the body of the request that sends a message.
func (c *Connector) bodyOf(message send.Message) (document.Object, error) {
	kind, content, err := c.contentOf(message.Response)
	if err != nil {
		return document.Object{}, err
	}
	recipient := toIndividual
	if !individual.MatchString(message.To) {
		recipient = toGroup
		if kind == typeInterface {
			return document.Object{}, boterr.Invalid("type",
				"is %s, and groups on bravo do not support quick replies and buttons: send a text", message.Response.Type())
		}
	}
	body := document.O(
		"messaging_product", "whatsapp", "recipient_type", recipient, "to", message.To, "type", kind, kind, content,
	)
	// A message that a live chat relays has the context of the original event, which has no message_id.
	if about := document.Get(message.Response, "context", document.Object{}); about.Has("message_id") {
		body = body.With("context", about)
	}
	if message.ID != "" {
		body = body.With("biz_opaque_callback_data", message.ID)
	}
	return body, body.Err()
}

// fileKinds maps types of files to the platform's names.
var fileKinds = map[send.Type]string{
	send.TypeImage: "image", send.TypeAudio: "audio", send.TypeVideo: "video", send.TypeFile: "document",
}

// contentOf converts a response to the platform's form.
func (c *Connector) contentOf(response send.Response) (kind string, content any, err error) {
	switch of := response.Type(); of {
	case send.TypeText:
		text := document.O("body", response.Text())
		if isShown, isGiven := response.Object().Field("preview_url"); isGiven {
			text = text.With("preview_url", isShown)
		}
		return "text", text, nil
	case send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile:
		file, err := fileOf(response)
		return fileKinds[of], file, err
	case send.TypeQuickReplies:
		shown, err := c.quickRepliesOf(response)
		return typeInterface, shown, err
	case send.TypeButton:
		shown, err := buttonsOf(response)
		return typeInterface, shown, err
	case send.TypeTemplate:
		template := document.O(
			"name", document.Get(response, "elementName", ""),
			"language", document.O("code", document.Get(response, "languageCode", "")),
		)
		if components := document.Get(response, "components", document.Array{}); components.Len() > 0 {
			template = template.With("components", components)
		}
		return "template", template, nil
	case send.TypeCarousel, send.TypeNews:
		return "", nil, unsupported(of, "a text")
	default:
		kind = strings.ToLower(string(of))
		switch own, _ := response.Object().Field(kind); own.(type) {
		case document.Object, document.Array:
			return kind, own, nil
		default:
			return "", nil, unsupported(of, "another type, or with "+kind+", an object in the platform's format")
		}
	}
}

func unsupported(of send.Type, instead string) error {
	return boterr.New(boterr.Unsupported, "type", "channels of type bravo have no messages of type %s: send %s", of, instead)
}

// fileOf converts a file to the platform's form.
func fileOf(response send.Response) (document.Object, error) {
	file := document.O("id", document.Get(response, "attachment_id", ""))
	if document.Get(file, "id", "") == "" {
		address := document.Get(response, "url", "")
		if err := bounded.CheckURL("url", address); err != nil {
			return document.Object{}, err
		}
		file = document.O("link", address)
	}
	caption := document.Get(response, "caption", "")
	switch length := utf8.RuneCountInString(caption); {
	case length > maxCaption:
		return document.Object{}, boterr.Invalid("caption", textTooLong, length, maxCaption, "send it as a text")
	case caption != "" && response.Type() == send.TypeAudio:
		return document.Object{}, boterr.Invalid("caption", "is given, and audio on bravo has none: send it as a text")
	case caption != "":
		file = file.With("caption", caption)
	}
	if name := document.Get(response, "filename", ""); name != "" && response.Type() == send.TypeFile {
		file = file.With("filename", name)
	}
	return file, nil
}

// interactive returns a text that is followed by buttons or a list.
func interactive(response send.Response, kind string, action document.Object) (document.Object, error) {
	if length := utf8.RuneCountInString(response.Text()); length > maxBody {
		return document.Object{}, boterr.Invalid("text", textTooLong, length, maxBody,
			"send the text first, and the buttons below a short one")
	}
	return document.O("type", kind, "body", document.O("text", response.Text()), "action", action), nil
}

func (c *Connector) quickRepliesOf(response send.Response) (document.Object, error) {
	replies := pieces.Objects(response, "quickReplies")
	if len(replies) == 1 && document.Get(replies[0], "content_type", "") == "location" {
		return interactive(response, "location_request_message", document.O("name", "send_location"))
	}
	for i, reply := range replies {
		if kind := document.Get(reply, "content_type", ""); kind != "" && kind != send.ContentText {
			return document.Object{}, boterr.New(boterr.Unsupported, "quickReplies"+boterr.Index(i)+".content_type",
				"bravo has quick replies of type %s, or a single one of type location; got %s", send.ContentText, kind)
		}
	}
	switch count := len(replies); {
	case count <= maxReplies:
		return replyButtons(response, "quickReplies", replies)
	case count > maxRows:
		return document.Object{}, boterr.Invalid("quickReplies", "has %d elements; the limit on bravo is %d: ask in two steps", count, maxRows)
	}
	titles, err := tappable("quickReplies", replies, maxRowID)
	if err != nil {
		return document.Object{}, err
	}
	rows := document.A()
	for i, reply := range replies {
		row := document.O("id", titles[i].id, "title", titles[i].title)
		if more := document.Get(reply, "description", ""); more != "" {
			row = row.With("description", more)
		}
		rows = rows.Append(row)
	}
	button := document.Get(response, "listButton", c.config.ListButton)
	if length := utf8.RuneCountInString(button); length > maxTitle {
		return document.Object{}, boterr.Invalid("listButton", textTooLong, length, maxTitle, "shorten it")
	}
	return interactive(response, "list", document.O("button", button, "sections", document.A(document.O("rows", rows))))
}

// buttonsOf converts a text with buttons to the platform's form.
func buttonsOf(response send.Response) (document.Object, error) {
	buttons := pieces.Objects(response, "buttons")
	for i, button := range buttons {
		path := "buttons" + boterr.Index(i)
		switch kind := document.Get(button, "type", ""); {
		case kind == send.ButtonPostback:
		case kind != send.ButtonWebURL:
			return document.Object{}, boterr.New(boterr.Unsupported, path+".type", "bravo has no buttons of type %s: use %s or %s",
				kind, send.ButtonPostback, send.ButtonWebURL)
		case len(buttons) > 1:
			return document.Object{}, boterr.Invalid(path+".type",
				"is %s, and on bravo such a button must be the only one: send it in another message", kind)
		default:
			address := document.Get(button, "url", "")
			if err := bounded.CheckURL(path+".url", address); err != nil {
				return document.Object{}, err
			}
			return interactive(response, "cta_url", document.O("name", "cta_url", "parameters", document.O(
				"display_text", document.Get(button, "title", ""), "url", address,
			)))
		}
	}
	return replyButtons(response, "buttons", buttons)
}

func replyButtons(response send.Response, field string, given []document.Object) (document.Object, error) {
	all, err := tappable(field, given, maxReplyID)
	if err != nil {
		return document.Object{}, err
	}
	buttons := document.A()
	for _, one := range all {
		buttons = buttons.Append(document.O("type", "reply", "reply", document.O("id", one.id, "title", one.title)))
	}
	return interactive(response, "button", document.O("buttons", buttons))
}

// tap is an element that can be tapped: a reply button or a row of a list. Its id is the payload as text.
type tap struct{ id, title string }

// tappable converts quick replies or buttons to taps. most is the longest payload in characters. No two elements
// may have the same title or the same payload.
func tappable(field string, given []document.Object, most int) ([]tap, error) {
	var all []tap
	for i, one := range given {
		path := field + boterr.Index(i)
		id, err := taps.Of(one, "bravo", most)
		if err != nil {
			return nil, boterr.PrefixField(path, err)
		}
		title := document.Get(one, "title", "")
		for _, other := range all {
			switch {
			case other.title == title:
				return nil, boterr.Invalid(path+".title", "is %q, which is also the title of another element: titles on bravo must differ", title)
			case other.id == id:
				return nil, boterr.Invalid(path+".payload", "is also the payload of another element: payloads on bravo must differ")
			}
		}
		all = append(all, tap{id: id, title: title})
	}
	return all, nil
}

const (
	sentenceRate      = "the platform limits the rate of the number's requests"
	sentenceTemporary = "the platform failed temporarily; try again later"
	sentenceParameter = "the platform does not accept the message: change the part that it names"
	sentenceTemplate  = "the values do not fit the template: give one value for each of its parameters, in the right format"
	sentenceMarketing = "the platform limits marketing messages to this member: wait a day, or send another kind of message"
)

// meanings maps the platform's error codes, in answers and in statuses of messages, to codes of package boterr.
var meanings = graph.Meanings{
	{Code: 80007}:  {Code: boterr.ResourceExhausted, Sentence: sentenceRate, Wait: time.Minute},
	{Code: 130429}: {Code: boterr.ResourceExhausted, Sentence: sentenceRate, Wait: time.Second},
	{Code: 133016}: {Code: boterr.ResourceExhausted, Sentence: sentenceRate, Wait: time.Hour},
	{Code: 131048}: {
		Code: boterr.ResourceExhausted, Sentence: "too many people reported or blocked the number: only write to members who want it",
		Wait: time.Hour,
	},
	{Code: 131056}: {
		Code: boterr.ResourceExhausted, Sentence: "the platform limits the rate of messages to this recipient",
		Wait: recipientPeriod, OfRecipient: true,
	},
	{Code: 131026}: {
		Code: boterr.NotFound, Sentence: "the message cannot be delivered: the recipient has no account, blocked the number, has an old " +
			"program, or has not accepted the terms",
	},
	{Code: 131030}: {Code: boterr.NotFound, Sentence: "a test number may only write to the recipients on its list: add this recipient to it"},
	{Code: 131021}: {Code: boterr.InvalidArgument, Sentence: "the recipient is the number itself"},
	{Code: 131047}: {
		Code:     boterr.FailedPrecondition,
		Sentence: "the member's last message is more than 24 hours old: wait for the next one, or send a template",
	},
	{Code: 131049}: {Code: boterr.FailedPrecondition, Sentence: sentenceMarketing},
	{Code: 131050}: {
		Code: boterr.FailedPrecondition, Sentence: "the member has turned off marketing messages: send none until the member allows them",
	},
	{Code: 130472}: {Code: boterr.FailedPrecondition, Sentence: sentenceMarketing},
	{Code: 130497}: {Code: boterr.FailedPrecondition, Sentence: "the number may not write to members in this country"},
	{Code: 131031}: {Code: boterr.FailedPrecondition, Sentence: "the platform has locked the account: see its quality page"},
	{Code: 131042}: {Code: boterr.FailedPrecondition, Sentence: "the account's payment does not work: correct it in the platform's settings"},
	{Code: 131008}: {Code: boterr.InvalidArgument, Sentence: sentenceParameter, RepeatsMessage: true},
	{Code: 131009}: {Code: boterr.InvalidArgument, Sentence: sentenceParameter, RepeatsMessage: true},
	{Code: 131051}: {Code: boterr.Unsupported, Field: "type", Sentence: "the platform does not have this type of message"},
	{Code: 131053}: {
		Code: boterr.InvalidArgument, Field: "url", Sentence: "the platform could not use the file: check its address, size and type",
		RepeatsMessage: true,
	},
	{Code: 132001}: {
		Code: boterr.InvalidArgument, Field: "elementName", Sentence: "there is no approved template of this name in this language: check both",
	},
	{Code: 132000}: {Code: boterr.InvalidArgument, Field: "components", Sentence: sentenceTemplate, RepeatsMessage: true},
	{Code: 132005}: {Code: boterr.InvalidArgument, Field: "components", Sentence: sentenceTemplate, RepeatsMessage: true},
	{Code: 132012}: {Code: boterr.InvalidArgument, Field: "components", Sentence: sentenceTemplate, RepeatsMessage: true},
	{Code: 132007}: {Code: boterr.FailedPrecondition, Sentence: "the template breaks the platform's rules: change it"},
	{Code: 132015}: {Code: boterr.FailedPrecondition, Sentence: "the platform has paused the template for its quality: change it, or wait"},
	{Code: 132016}: {Code: boterr.FailedPrecondition, Sentence: "the platform has disabled the template: make another one"},
	{Code: 131000}: {Sentence: sentenceTemporary},
	{Code: 131016}: {Sentence: sentenceTemporary},
	{Code: 131052}: {Sentence: "the platform could not fetch the member's file"},
	{Code: 131057}: {Sentence: "the account is under maintenance; try again later"},
	{Code: 133004}: {Sentence: sentenceTemporary},
}
