package foxtrot

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/internal/taps"
	"github.com/botctx/go-sdk/send"
)

// Limits of the helpdesk that send.Response.Validate does not check.
const (
	maxAltText  = 128
	maxMediaURL = 2048
)

// maxParts is the largest number of the helpdesk's messages for one response.
const maxParts = 10

// part is one message in the helpdesk's form. path is the part of the response that it shows, for errors.
type part struct {
	content document.Object
	path    string
}

func one(content document.Object) []part { return []part{{content: content}} }

func textContent(text string) document.Object { return document.O("type", "text", "text", text) }

// shownToMember converts a response to the helpdesk's form for a member in the widget.
func shownToMember(response send.Response) ([]part, error) {
	switch response.Type() {
	case send.TypeQuickReplies:
		actions, err := pieces.Each(response, "quickReplies", replyOf)
		return one(textContent(response.Text()).With("actions", actions)), err
	case send.TypeButton:
		actions, err := pieces.Each(response, "buttons", actionOf)
		return one(textContent(response.Text()).With("actions", actions)), err
	case send.TypeCarousel:
		items, err := pieces.Each(response, "carousel", itemOf)
		return one(document.O("type", "carousel", "items", items)), err
	default:
		return shownToAgent(response)
	}
}

// shownToAgent converts a response to the helpdesk's form for an agent. Members cannot send elements to tap, so
// these become text.
func shownToAgent(response send.Response) ([]part, error) {
	switch response.Type() {
	case send.TypeText, send.TypeQuickReplies, send.TypeButton, send.TypeCarousel:
		return one(textContent(inWords(response))), nil
	case send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile:
		file, err := fileOf(response)
		return one(file), err
	case send.TypeMisc:
		return attachmentsOf(response)
	default:
		own, err := pieces.Own(response, channel.Foxtrot)
		if err != nil {
			return nil, err
		}
		if document.Get(own, "type", "") == "" {
			return nil, boterr.Missing("message.type", "the platform's name for the kind of content, such as form")
		}
		return one(own), nil
	}
}

// inWords converts a response to text: its text, buttons and quick replies as lines, and cards as paragraphs.
func inWords(response send.Response) string {
	lines := []string{response.Text()}
	for _, reply := range pieces.Objects(response, "quickReplies") {
		lines = append(lines, "- "+document.Get(reply, "title", ""))
	}
	paragraphs := []string{joined("\n", append(lines, buttonLines(response)...))}
	for _, card := range pieces.Objects(response, "carousel") {
		shown := []string{document.Get(card, "title", ""), document.Get(card, "subtitle", ""), document.Get(card, "image_url", "")}
		paragraphs = append(paragraphs, joined("\n", append(shown, buttonLines(card)...)))
	}
	return joined("\n\n", paragraphs)
}

func joined(separator string, all []string) string {
	return strings.Join(slices.DeleteFunc(all, func(text string) bool { return text == "" }), separator)
}

func buttonLines(of document.Lookuper) []string {
	var lines []string
	for _, button := range pieces.Objects(of, "buttons") {
		line := "- " + document.Get(button, "title", "")
		if address := document.Get(button, "url", ""); address != "" {
			line += ": " + address
		}
		lines = append(lines, line)
	}
	return lines
}

// fileOf converts a file response to the helpdesk's form.
func fileOf(response send.Response) (document.Object, error) {
	address := document.Get(response, "url", "")
	if address == "" {
		return document.Object{}, boterr.Invalid("attachment_id", "is given without url, and foxtrot only shows files by address: give the url")
	}
	kind := "file"
	if response.Type() == send.TypeImage {
		kind = "image"
	}
	return mediaOf(kind, address, document.Get(response, "caption", ""), "url")
}

// mediaOf returns a file in the helpdesk's form.
func mediaOf(kind, address, text, field string) (document.Object, error) {
	if err := checkURL(field, address); err != nil {
		return document.Object{}, err
	}
	media := document.O("type", kind, "mediaUrl", address)
	if name := pieces.FileName(address); name != "" && utf8.RuneCountInString(name) <= maxAltText {
		media = media.With("altText", name)
	}
	if text != "" {
		media = media.With("text", text)
	}
	return media, nil
}

// attachmentsOf converts a relayed message: its text and each attachment become one part.
func attachmentsOf(response send.Response) ([]part, error) {
	return pieces.Relay[part]{
		Platform: channel.Foxtrot,
		Text:     func(text string) (part, error) { return part{content: textContent(text), path: "text"}, nil },
		Attachment: func(attachment document.Object, at string) (part, error) {
			content, err := attachmentOf(attachment)
			return part{content: content, path: at}, err
		},
	}.Parts(response)
}

func attachmentOf(attachment document.Object) (document.Object, error) {
	payload := document.Get(attachment, "payload", document.Object{})
	if at := document.Get(payload, "coordinates", document.Object{}); !at.IsZero() {
		return document.O("type", "location", "coordinates", document.O(
			"lat", document.Get(at, "lat", 0.0), "long", document.Get(at, "long", 0.0),
		)), nil
	}
	kind := "file"
	if document.Get(attachment, "type", "") == "image" {
		kind = "image"
	}
	return mediaOf(kind, document.Get(payload, "url", ""), "", "payload.url")
}

func replyOf(reply document.Object) (document.Object, error) {
	switch kind := document.Get(reply, "content_type", send.ContentText); kind {
	case "location":
		return document.O("type", "locationRequest", "text", cmp.Or(document.Get(reply, "title", ""), "Location")), nil
	case send.ContentText:
		return tappable("reply", reply)
	default:
		return document.Object{}, boterr.New(boterr.Unsupported, "content_type",
			"foxtrot has quick replies of type %s and location; got %s", send.ContentText, kind)
	}
}

// tappable returns an action that sends the payload back unchanged.
func tappable(kind string, of document.Object) (document.Object, error) {
	payload, _ := of.Field("payload")
	text, err := taps.Text(payload)
	return document.O("type", kind, "text", document.Get(of, "title", ""), "payload", text), boterr.PrefixField("payload", err)
}

func actionOf(button document.Object) (document.Object, error) {
	switch kind := document.Get(button, "type", ""); kind {
	case send.ButtonPostback:
		return tappable("postback", button)
	case send.ButtonWebURL:
		address := document.Get(button, "url", "")
		return document.O("type", "link", "text", document.Get(button, "title", ""), "uri", address), checkURL("url", address)
	default:
		return document.Object{}, boterr.New(boterr.Unsupported, "type", "foxtrot has no buttons of type %s: use %s or %s",
			kind, send.ButtonPostback, send.ButtonWebURL)
	}
}

// itemOf converts a card to the helpdesk's form. A card without buttons is an error.
func itemOf(card document.Object) (document.Object, error) {
	if len(pieces.Objects(card, "buttons")) == 0 {
		return document.Object{}, boterr.Missing("buttons", "one to three buttons: foxtrot refuses a card without any")
	}
	actions, err := pieces.Each(card, "buttons", actionOf)
	if err != nil {
		return document.Object{}, err
	}
	item := document.O("title", document.Get(card, "title", ""))
	if text := document.Get(card, "subtitle", ""); text != "" {
		item = item.With("description", text)
	}
	if address := document.Get(card, "image_url", ""); address != "" {
		if err := checkURL("image_url", address); err != nil {
			return document.Object{}, err
		}
		item = item.With("mediaUrl", address)
	}
	return item.With("actions", actions), nil
}

// checkURL returns InvalidArgument for an address that the helpdesk cannot open.
func checkURL(field, address string) error {
	if len(address) > maxMediaURL {
		return boterr.Invalid(field, "has %d bytes, and the helpdesk takes at most %d", len(address), maxMediaURL)
	}
	return bounded.CheckURL(field, address)
}
