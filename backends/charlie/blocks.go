package charlie

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// maxSectionLength is the most code points that a text in a block may have, escaped.
const maxSectionLength = 3000

// quickRepliesOf returns a text with quick replies as buttons.
func quickRepliesOf(response send.Response) (content, error) {
	buttons := document.A()
	for i, reply := range objectsOf(response, "quickReplies") {
		path := "quickReplies[" + strconv.Itoa(i) + "]"
		if kind := document.Get(reply, "content_type", ""); kind != "" && kind != send.ContentText {
			return content{}, boterr.New(boterr.Unsupported, path+".content_type",
				"the workspace chat tool has no quick replies of type %s: use %s", kind, send.ContentText)
		}
		button, err := postback(i, reply)
		if err != nil {
			return content{}, boterr.PrefixField(path, err)
		}
		buttons = buttons.Append(button)
	}
	return textAnd(response, buttons), nil
}

// buttonsOf returns a text with buttons.
func buttonsOf(response send.Response) (content, error) {
	buttons, err := actionsOf(objectsOf(response, "buttons"))
	return textAnd(response, buttons), err
}

// textAnd returns the text of a response with elements to tap below it.
func textAnd(response send.Response, elements document.Array) content {
	blocks := document.A()
	for _, part := range sections(response.Text()) {
		blocks = blocks.Append(section(part))
	}
	return content{text: escaped(response.Text()), blocks: blocks.Append(actions(elements))}
}

// carouselOf returns the cards of a carousel, one below the other.
func carouselOf(response send.Response) (content, error) {
	shown := content{blocks: document.A()}
	for i, card := range objectsOf(response, "carousel") {
		blocks, err := cardOf(card)
		if err != nil {
			return content{}, boterr.PrefixField("carousel["+strconv.Itoa(i)+"]", err)
		}
		if i > 0 {
			shown.text += "\n"
			shown.blocks = shown.blocks.Append(document.O("type", "divider"))
		}
		shown.text += escaped(document.Get(card, "title", ""))
		for _, block := range blocks {
			shown.blocks = shown.blocks.Append(block)
		}
	}
	return shown, nil
}

// cardOf returns a card: its texts beside its picture, and its buttons.
func cardOf(card document.Object) ([]document.Object, error) {
	text := "*" + escaped(document.Get(card, "title", "")) + "*"
	if subtitle := document.Get(card, "subtitle", ""); subtitle != "" {
		text += "\n" + escaped(subtitle)
	}
	shown := section(text)
	if image := document.Get(card, "image_url", ""); image != "" {
		if err := checkURL("image_url", image); err != nil {
			return nil, err
		}
		shown = shown.With("accessory", document.O(
			"type", "image", "image_url", image, "alt_text", document.Get(card, "title", ""),
		))
	}
	buttons, err := actionsOf(objectsOf(card, "buttons"))
	if err != nil || buttons.Len() == 0 {
		return []document.Object{shown}, err
	}
	return []document.Object{shown, actions(buttons)}, nil
}

// actionsOf returns buttons in the tool's words.
func actionsOf(given []document.Object) (document.Array, error) {
	buttons := document.A()
	for i, button := range given {
		shown, err := buttonOf(i, button)
		if err != nil {
			return document.Array{}, boterr.PrefixField("buttons["+strconv.Itoa(i)+"]", err)
		}
		buttons = buttons.Append(shown)
	}
	return buttons, nil
}

// buttonOf returns a button in the tool's words.
func buttonOf(i int, button document.Object) (document.Object, error) {
	switch kind := document.Get(button, "type", ""); kind {
	case send.ButtonPostback:
		return postback(i, button)
	case send.ButtonWebURL:
		address := document.Get(button, "url", "")
		shown := labelled(i, document.Get(button, "title", "")).With("url", address)
		return shown, checkURL("url", address)
	default:
		return document.Object{}, boterr.New(boterr.Unsupported, "type",
			"the workspace chat tool has no buttons of type %s: use %s or %s", kind, send.ButtonPostback, send.ButtonWebURL)
	}
}

// maxValueLength is the most code points that a button may carry.
const maxValueLength = 2000

// postback returns a button that carries a payload.
func postback(i int, button document.Object) (document.Object, error) {
	payload, _ := button.Field("payload")
	value, err := valueOf(payload)
	if err != nil {
		return document.Object{}, boterr.PrefixField("payload", err)
	}
	if length := utf8.RuneCountInString(value); length > maxValueLength {
		return document.Object{}, boterr.Invalid("payload",
			"has %d characters, and a button of the workspace chat tool carries at most %d: keep the rest elsewhere, under an id",
			length, maxValueLength)
	}
	return labelled(i, document.Get(button, "title", "")).With("value", value), nil
}

// labelled returns a button with a title.
func labelled(i int, title string) document.Object {
	return document.O(
		"type", "button",
		"action_id", fmt.Sprintf("button-%d", i),
		"text", document.O("type", "plain_text", "text", title, "emoji", true),
	)
}

// section returns a text as a block.
func section(text string) document.Object {
	return document.O("type", "section", "text", document.O("type", "mrkdwn", "text", text, "verbatim", true))
}

// actions returns a block of elements to tap.
func actions(elements document.Array) document.Object {
	return document.O("type", "actions", "elements", elements)
}

// sections returns a text, escaped, in parts that fit into a block each.
func sections(text string) []string {
	var parts []string
	begin, length := 0, 0
	for at, r := range text {
		more := utf8.RuneCountInString(escaped(string(r)))
		if length+more > maxSectionLength {
			parts = append(parts, escaped(text[begin:at]))
			begin, length = at, 0
		}
		length += more
	}
	return append(parts, escaped(text[begin:]))
}

// objectsOf returns the objects of a list.
func objectsOf(from document.Lookuper, field string) []document.Object {
	var objects []document.Object
	for _, item := range document.Get(from, field, document.Array{}).All() {
		if object, ok := item.(document.Object); ok {
			objects = append(objects, object)
		}
	}
	return objects
}
