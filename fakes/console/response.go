package console

import (
	"cmp"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// response is what the bot sends.
type response = send.Response

// shownParts returns what there is to see of a message, a block for each part of it. number is that of
// the first thing to tap in it, 0 where none has one.
func shownParts(shown response, number int) []string {
	parts := []string{whatItSays(shown)}
	taps := &taps{number: number}
	parts = appendText(parts, taps.ofButtons(shown.Buttons()))
	for _, card := range shown.Cards() {
		text := "* " + card.Title
		if card.Subtitle != "" {
			text += ": " + card.Subtitle
		}
		parts = append(parts, text)
		parts = appendText(parts, taps.ofButtons(card.Buttons))
	}
	return appendText(parts, taps.ofQuickReplies(shown))
}

func appendText(parts []string, text string) []string {
	if text == "" {
		return parts
	}
	return append(parts, text)
}

// whatItSays returns the text of a message, and of one without any what it is.
func whatItSays(shown response) string {
	text := shown.Text()
	switch shown.Type() {
	case send.TypeText, send.TypeButton, send.TypeQuickReplies:
		return text
	case send.TypeCarousel:
		return cmp.Or(text, "("+string(shown.Type())+")")
	default:
		if shown.IsZero() {
			return "(a message that was taken back)"
		}
		return "(" + string(shown.Type()) + " " + shown.Data().String() + ")"
	}
}

// taps counts what there is to tap in a message.
type taps struct{ number int }

// ofButtons shows buttons, those that send a payload with a number.
func (t *taps) ofButtons(buttons []send.Button) string {
	var shown []string
	for _, button := range buttons {
		if button.Payload == nil {
			shown = append(shown, "["+button.Title+"] "+button.URL)
			continue
		}
		shown = append(shown, t.next(button.Title))
	}
	return strings.Join(shown, "  ")
}

// ofQuickReplies shows the quick replies of a message.
func (t *taps) ofQuickReplies(message response) string {
	var shown []string
	for _, reply := range document.Get(message, "quickReplies", []document.Object(nil)) {
		title := document.Get(reply, "title", "")
		if reply.Has("payload") {
			title = t.next(title)
		} else {
			title = "[" + cmp.Or(title, document.Get(reply, "content_type", "")) + "]"
		}
		shown = append(shown, title)
	}
	return strings.Join(shown, "  ")
}

// next shows a title, with the next number if there are any.
func (t *taps) next(title string) string {
	text := numbered(t.number, title)
	if t.number > 0 {
		t.number++
	}
	return text
}
