package hotel

import (
	"cmp"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/send"
)

// ownFields are the platform's own fields that a response may have. They are sent unchanged.
var ownFields = []string{"entities", "suggestedActions", "summary", "channelData"}

// activityOf converts a response to an activity. field is the part of the response to blame if the activity is
// too long.
func activityOf(response send.Response) (activity document.Object, field string, err error) {
	own := ownAttachments(response)
	activity, field, err = contentOf(response, own)
	if err != nil {
		return document.Object{}, "", err
	}
	if own.Len() > 0 {
		shown := document.Get(activity, fieldAttachments, document.A())
		activity = activity.With(fieldAttachments, shown.Append(own.Items()...))
	}
	for _, name := range ownFields {
		if value, _ := response.Object().Field(name); value != nil {
			activity = activity.With(name, value)
		}
	}
	return activity, field, activity.Err()
}

// contentOf converts a response without the platform's own fields. own has the platform's own attachments,
// which activityOf adds.
func contentOf(response send.Response, own document.Array) (document.Object, string, error) {
	switch kind := response.Type(); kind {
	case send.TypeText:
		return textActivity(response.Text()), fieldText, nil
	case send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile:
		shown, err := fileCard(strings.ToLower(string(kind)), response)
		return cardsActivity(document.A(shown.attachment())), fieldURL, err
	case send.TypeQuickReplies:
		return cardWithActions(response, fieldQuickReplies)
	case send.TypeButton:
		return cardWithActions(response, fieldButtons)
	case send.TypeCarousel:
		return carouselOf(response)
	case send.TypeTyping:
		return document.O(fieldType, "typing"), fieldType, nil
	default:
		return otherContent(response, own)
	}
}

// otherContent converts responses of other types: text before the platform's own attachments, or content that
// was relayed from another channel.
func otherContent(response send.Response, own document.Array) (document.Object, string, error) {
	switch kind := response.Type(); {
	case own.Len() > 0 && response.Text() != "":
		return textActivity(response.Text()), fieldAttachments, nil
	case own.Len() > 0:
		return document.O(fieldType, typeMessage), fieldAttachments, nil
	case kind == send.TypeMisc:
		return relayed(response)
	default:
		return document.Object{}, "", boterr.New(boterr.Unsupported, fieldType,
			"channels of type hotel have no messages of type %s: send another type, or give attachments in the platform's form", kind)
	}
}

// textActivity returns a message whose text is shown without markup.
func textActivity(text string) document.Object {
	return document.O(fieldType, typeMessage, fieldText, text, "textFormat", "plain")
}

// ownAttachments returns the attachments of a response if they are in the platform's form, in which each has a
// contentType. It returns none if any attachment has another form.
func ownAttachments(response send.Response) document.Array {
	own, _ := document.Get(response, fieldAttachments, any(nil)).(document.Array)
	for _, attachment := range own.All() {
		object, isObject := attachment.(document.Object)
		if !isObject || document.Get(object, "contentType", "") == "" {
			return document.A()
		}
	}
	return own
}

type card struct {
	body, actions document.Array
}

// cardVersion is the version of the adaptive card schema.
const cardVersion = "1.5"

// maxActions is the number of actions that the platform shows in one row.
const maxActions = 6

// attachment returns the card as an attachment. Actions that do not fit into one row are divided into several
// rows.
func (c card) attachment() document.Object {
	content := document.O(fieldType, "AdaptiveCard", "version", cardVersion)
	body := c.body
	if c.actions.Len() > maxActions {
		for row := range slices.Chunk(c.actions.Items(), maxActions) {
			body = body.Append(document.O(fieldType, "ActionSet", "actions", document.A(row...)))
		}
	} else if c.actions.Len() > 0 {
		content = content.With("actions", c.actions)
	}
	return document.O("contentType", "application/vnd.microsoft.card.adaptive", "content", content.With("body", body))
}

// cardsActivity returns a message with these cards.
func cardsActivity(cards document.Array) document.Object {
	return document.O(fieldType, typeMessage, fieldAttachments, cards)
}

// texts returns the card elements that show a text without markup. Each line is an element, because the
// platform joins lines. style has more fields for the text runs.
func texts(text string, style ...any) []any {
	var all []any
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if line == "" {
			line = " " // The platform would not show an empty line.
		}
		run := document.O(append([]any{fieldType, "TextRun", fieldText, line}, style...)...)
		block := document.O(fieldType, "RichTextBlock", "inlines", document.A(run))
		if i > 0 {
			block = block.With("spacing", "none")
		}
		all = append(all, block)
	}
	return all
}

// cardWithActions returns a message with the response's text and an action for each element of the field.
func cardWithActions(response send.Response, field string) (document.Object, string, error) {
	actions, err := actionsOf(response, field)
	if err != nil {
		return document.Object{}, "", err
	}
	shown := card{body: document.A(texts(response.Text())...), actions: actions}
	return cardsActivity(document.A(shown.attachment())), field, nil
}

// actionsOf converts the buttons or quick replies in a field to actions.
func actionsOf(of document.Lookuper, field string) (document.Array, error) {
	return pieces.Each(of, field, func(given document.Object) (document.Object, error) { return actionOf(given, field) })
}

// actionOf converts a button or a quick reply to an action.
func actionOf(given document.Object, field string) (document.Object, error) {
	typeField := fieldType
	if field == fieldQuickReplies {
		typeField = "content_type"
	}
	title := document.Get(given, fieldTitle, "")
	payload, _ := given.Field(fieldPayload)
	switch kind := document.Get(given, typeField, ""); {
	case typeField == fieldType && kind == send.ButtonWebURL:
		address := document.Get(given, fieldURL, "")
		return document.O(fieldType, "Action.OpenUrl", fieldTitle, title, fieldURL, address), bounded.CheckURL(fieldURL, address)
	case typeField == fieldType && kind == send.ButtonPostback:
	case typeField != fieldType && (kind == send.ContentText || kind == ""):
		if value, ok := given.Field("value"); ok { // Quick replies in tickets of live chats have a value.
			payload = document.O(fieldPayload, payload, "value", value)
		}
	default:
		return document.Object{}, boterr.New(boterr.Unsupported, typeField,
			"channels of type hotel do not support buttons of type %s: give a title and a payload, or an address", kind)
	}
	return document.O(fieldType, "Action.Submit", fieldTitle, title, "data", document.O(fieldPayload, payload)), nil
}

func carouselOf(response send.Response) (document.Object, string, error) {
	cards, err := pieces.Each(response, fieldCarousel, func(given document.Object) (document.Object, error) {
		shown, err := cardOf(given)
		return shown.attachment(), err
	})
	return cardsActivity(cards).With("attachmentLayout", "carousel"), fieldCarousel, err
}

// cardOf converts a card of a carousel.
func cardOf(given document.Object) (card, error) {
	shown := card{body: document.A()}
	if picture := document.Get(given, "image_url", ""); picture != "" {
		if err := bounded.CheckURL("image_url", picture); err != nil {
			return card{}, err
		}
		shown.body = shown.body.Append(document.O(fieldType, "Image", fieldURL, picture))
	}
	shown.body = shown.body.Append(texts(document.Get(given, fieldTitle, ""), "weight", "bolder")...)
	if subtitle := document.Get(given, "subtitle", ""); subtitle != "" {
		shown.body = shown.body.Append(texts(subtitle)...)
	}
	var err error
	shown.actions, err = actionsOf(given, fieldButtons)
	return shown, err
}

// fileCard returns a card that shows a picture, or a card with a button that opens another kind of file.
func fileCard(kind string, file document.Lookuper) (card, error) {
	address := document.Get(file, fieldURL, "")
	if address == "" {
		return card{}, boterr.New(boterr.Unsupported, "attachment_id", "channels of type hotel cannot send files by id: give the url of the file")
	}
	if err := bounded.CheckURL(fieldURL, address); err != nil {
		return card{}, err
	}
	if kind == "image" {
		return card{body: document.A(document.O(fieldType, "Image", fieldURL, address))}, nil
	}
	name := nameOf(file, address)
	open := document.O(fieldType, "Action.OpenUrl", fieldTitle, opening[kind], fieldURL, address)
	return card{body: document.A(texts(name)...), actions: document.A(open)}, nil
}

// opening has the titles of buttons that open files.
var opening = map[string]string{"audio": "Listen", "video": "Watch", "file": "Open"}

// maxFileName is the longest file name that is shown, in code points.
const maxFileName = 200

// nameOf returns the given name of a file, or the last part of its address.
func nameOf(file document.Lookuper, address string) string {
	name := document.Get(file, "filename", document.Get(file, fieldTitle, ""))
	letters := []rune(cmp.Or(name, pieces.FileName(address), "File"))
	return string(letters[:min(len(letters), maxFileName)])
}

// relayed converts a MISC response that a live chat relays: a text, and attachments like the ones in events.
func relayed(response send.Response) (document.Object, string, error) {
	cards, err := pieces.Each(response, fieldAttachments, func(attachment document.Object) (document.Object, error) {
		shown, err := attachmentCard(attachment)
		return shown.attachment(), boterr.WithField("", err)
	})
	switch {
	case err != nil:
		return document.Object{}, "", err
	case cards.Len() == 0 && response.Text() == "":
		return document.Object{}, "", boterr.New(boterr.Unsupported, fieldType,
			"on channels of type hotel, a message of type MISC needs text or attachments, and this one has neither")
	case cards.Len() == 0:
		return textActivity(response.Text()), fieldText, nil
	}
	activity := cardsActivity(cards)
	if response.Text() != "" {
		activity = activity.With(fieldText, response.Text()).With("textFormat", "plain")
	}
	return activity, fieldAttachments, nil
}

// attachmentCard converts an attachment that looks like one of an event.
func attachmentCard(attachment document.Object) (card, error) {
	kind := document.Get(attachment, fieldType, "")
	if kind != "image" && opening[kind] == "" {
		return card{}, boterr.New(boterr.Unsupported, "", "channels of type hotel do not support attachments of type %q", kind)
	}
	payload := document.Get(attachment, fieldPayload, document.O())
	if title := document.Get(attachment, fieldTitle, ""); title != "" && !payload.Has(fieldTitle) {
		payload = payload.With(fieldTitle, title)
	}
	return fileCard(kind, payload)
}
