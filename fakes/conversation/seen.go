package conversation

import (
	"slices"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// Seen returns what one sees of a message.
func Seen(response send.Response) Message {
	fields := fieldsOf(response)
	if fields != nil && hasOnly(response.Object(), append(fields, "type")) && hasOnlyPlainParts(response) {
		return seenParts(response)
	}
	return Message{Other: response}
}

// fieldsOf returns the fields of a message of its type of which one sees everything, nil for a type of
// which one does not.
func fieldsOf(response send.Response) []string {
	switch response.Type() {
	case send.TypeText:
		return []string{"text"}
	case send.TypeButton:
		return []string{"text", "buttons"}
	case send.TypeQuickReplies:
		return []string{"text", "quickReplies"}
	case send.TypeCarousel:
		return []string{"text", "carousel"}
	case send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile:
		return []string{"url"}
	default:
		return nil
	}
}

// hasOnly reports whether an object has no other fields.
func hasOnly(object document.Object, fields []string) bool {
	for name := range object.All() {
		if !slices.Contains(fields, name) {
			return false
		}
	}
	return true
}

// hasOnlyPlainParts reports whether the parts of a message have a form of which one sees everything.
func hasOnlyPlainParts(response send.Response) bool {
	plain := !slices.ContainsFunc(objectsAt(response, "quickReplies"), func(reply document.Object) bool {
		return document.Get(reply, "content_type", "") != send.ContentText || !hasOnly(reply, []string{"content_type", "title", "payload"})
	})
	for _, card := range objectsAt(response, "carousel") {
		plain = plain && hasOnly(card, []string{"title", "subtitle", "image_url", "buttons"}) && arePlain(objectsAt(card, "buttons"))
	}
	return plain && arePlain(objectsAt(response, "buttons"))
}

// arePlain reports whether buttons are such as send something or open an address, and no other.
func arePlain(buttons []document.Object) bool {
	return !slices.ContainsFunc(buttons, func(button document.Object) bool {
		switch document.Get(button, "type", "") {
		case send.ButtonPostback:
			return !hasOnly(button, []string{"type", "title", "payload", "value"})
		case send.ButtonWebURL:
			return document.Get(button, "url", "") == "" || !hasOnly(button, []string{"type", "title", "url"})
		default:
			return true
		}
	})
}

func objectsAt(in document.Lookuper, path string) []document.Object {
	return document.Get(in, path, []document.Object(nil))
}

// seenParts returns what one sees of a message of a form that is known.
func seenParts(response send.Response) Message {
	seen := Message{Text: response.Text(), Buttons: seenButtons(objectsAt(response, "buttons"))}
	if url := document.Get(response, "url", ""); url != "" {
		seen.File, seen.URL = response.Type(), url
	}
	for _, reply := range objectsAt(response, "quickReplies") {
		seen.QuickReplies = append(seen.QuickReplies, document.Get(reply, "title", ""))
	}
	for _, card := range objectsAt(response, "carousel") {
		seen.Cards = append(seen.Cards, Card{
			Title: document.Get(card, "title", ""), Subtitle: document.Get(card, "subtitle", ""),
			ImageURL: document.Get(card, "image_url", ""), Buttons: seenButtons(objectsAt(card, "buttons")),
		})
	}
	return seen
}

func seenButtons(buttons []document.Object) []Button {
	var seen []Button
	for _, button := range buttons {
		seen = append(seen, Button{Title: document.Get(button, "title", ""), URL: document.Get(button, "url", "")})
	}
	return seen
}
