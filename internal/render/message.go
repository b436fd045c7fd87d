// Package render formats what happened on a platform: messages, mails, files, records and changed fields. All
// transcripts, golden files, failed tests, consoles, pages and recordings use it.
package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/send"
)

// Message is the visible part of a message.
type Message struct {
	// Text may have several lines.
	Text string `json:"text"`
	// Buttons stay when another message follows. QuickReplies disappear.
	Buttons      []Button `json:"buttons,omitempty"`
	QuickReplies []Button `json:"quickReplies,omitempty"`
	Cards        []Card   `json:"cards,omitempty"`
	// Articles are the articles of a news message on Echo.
	Articles []send.Article `json:"articles,omitempty"`
	// File is the type of a file, such as IMAGE, or "" for other messages. URL is its address.
	File send.Type `json:"-"`
	URL  string    `json:"url,omitempty"`
	// Other is the whole message if the fields above do not show all of it.
	Other send.Response `json:"-"`
}

// Button is a button or a quick reply.
type Button struct {
	Title string `json:"title"`
	// Number is the button's position among the message's choices that send a payload, from 0, or -1 if the button
	// sends none.
	Number int `json:"number"`
	// URL is the address that the button opens, or "" if it sends a payload to the bot.
	URL string `json:"url,omitempty"`
	// Payload is sent to the bot. For a button with a value it is an object with the fields payload and value.
	Payload any `json:"-"`
}

// Card is a card of a carousel.
type Card struct {
	Title    string   `json:"title"`
	Subtitle string   `json:"subtitle,omitempty"`
	ImageURL string   `json:"imageUrl,omitempty"`
	Buttons  []Button `json:"buttons,omitempty"`
}

// Of returns the visible part of a message.
func Of(message send.Response) Message {
	next := 0
	m := Message{
		Text: message.Text(), URL: document.Get(message, "url", ""), Articles: message.Articles(),
		Buttons: buttonsAt(message, "buttons", &next),
	}
	for _, card := range objectsAt(message, "carousel") {
		m.Cards = append(m.Cards, Card{
			Title: document.Get(card, "title", ""), Subtitle: document.Get(card, "subtitle", ""),
			ImageURL: document.Get(card, "image_url", ""), Buttons: buttonsAt(card, "buttons", &next),
		})
	}
	m.QuickReplies = buttonsAt(message, "quickReplies", &next)
	if isFile(message.Type()) && m.URL != "" {
		m.File = message.Type()
	}
	if !isWhole(message) {
		m.Other = message
	}
	return m
}

func objectsAt(in document.Lookuper, path string) []document.Object {
	return document.Get(in, path, []document.Object(nil))
}

// buttonsAt returns the buttons or quick replies at a path. next is the number of the next choice, which it increases.
func buttonsAt(in document.Lookuper, path string, next *int) []Button {
	var all []Button
	for _, one := range objectsAt(in, path) {
		button := Button{
			Title:  cmp.Or(document.Get(one, "title", ""), document.Get(one, "content_type", "")),
			Number: -1, URL: document.Get(one, "url", ""),
		}
		if payload, sends := one.Field("payload"); sends {
			button.Payload, button.Number = payload, *next
			*next++
			if value, hasValue := one.Field("value"); hasValue {
				button.Payload = document.O("payload", payload, "value", value)
			}
		}
		all = append(all, button)
	}
	return all
}

// isFile reports whether messages of a type contain the address of a file.
func isFile(of send.Type) bool {
	return slices.Contains([]send.Type{send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile}, of)
}

// isWhole reports whether the fields of Message describe the whole message.
func isWhole(message send.Response) bool {
	fields := map[send.Type][]string{
		send.TypeText: {"text"}, send.TypeButton: {"text", "buttons"}, send.TypeQuickReplies: {"text", "quickReplies"},
		send.TypeCarousel: {"text", "carousel"},
	}[message.Type()]
	if isFile(message.Type()) && document.Get(message, "url", "") != "" {
		fields = []string{"url"}
	}
	isPlain := fields != nil && hasOnly(message.Object(), append(fields, "type")...) && arePlain(objectsAt(message, "buttons"))
	for _, card := range objectsAt(message, "carousel") {
		isPlain = isPlain && hasOnly(card, "title", "subtitle", "image_url", "buttons") && arePlain(objectsAt(card, "buttons"))
	}
	return isPlain && !slices.ContainsFunc(objectsAt(message, "quickReplies"), func(reply document.Object) bool {
		return document.Get(reply, "content_type", "") != send.ContentText || !hasOnly(reply, "content_type", "title", "payload")
	})
}

// hasOnly reports whether an object has no fields except the given ones.
func hasOnly(object document.Object, fields ...string) bool {
	for name := range object.All() {
		if !slices.Contains(fields, name) {
			return false
		}
	}
	return true
}

// arePlain reports whether all buttons either send a payload or open an address.
func arePlain(buttons []document.Object) bool {
	return !slices.ContainsFunc(buttons, func(button document.Object) bool {
		switch document.Get(button, "type", "") {
		case send.ButtonPostback:
			return !hasOnly(button, "type", "title", "payload", "value")
		case send.ButtonWebURL:
			return document.Get(button, "url", "") == "" || !hasOnly(button, "type", "title", "url")
		default:
			return true
		}
	})
}

// Choices returns the message's buttons, including buttons of cards, followed by its quick replies.
func (m Message) Choices() []Button {
	all := slices.Clone(m.Buttons)
	for _, card := range m.Cards {
		all = append(all, card.Buttons...)
	}
	return append(all, m.QuickReplies...)
}

// Close marks choices that can no longer be tapped: all choices from the given number on get the Number -1.
func (m Message) Close(from int) {
	lists := [][]Button{m.Buttons, m.QuickReplies}
	for _, card := range m.Cards {
		lists = append(lists, card.Buttons)
	}
	for _, list := range lists {
		for i := range list {
			if list[i].Number >= from {
				list[i].Number = -1
			}
		}
	}
}

// Titles returns the titles of Choices.
func (m Message) Titles() (titles []string) {
	for _, one := range m.Choices() {
		titles = append(titles, one.Title)
	}
	return titles
}

// TakenBack replaces the text of a recalled message.
const TakenBack = "(taken back)"

// Line returns a whole message on one line: its text in quotes, then its parts, with the payload of each choice unless it
// equals the title. A message with other content is shown as JSON. A recalled message is passed as the zero Response.
func Line(message send.Response) string {
	m := Of(message)
	switch {
	case message.IsZero():
		return TakenBack
	case !m.Other.IsZero():
		return m.Other.String()
	}
	var all []string
	switch {
	case m.File != "":
		all = []string{m.Head()}
	case m.Text != "":
		all = []string{strconv.Quote(m.Text)}
	}
	for _, part := range m.Parts(Form{IsEscaped: true, HasPayloads: true}) {
		all = append(all, strings.TrimSpace(part))
	}
	return cmp.Or(strings.Join(all, " "), `""`)
}

// Head returns the text of a message. For a file it returns the type and the address, and for a message without
// text or choices, its JSON.
func (m Message) Head() string {
	switch {
	case m.File != "":
		return string(m.File) + " " + Escape(m.URL, "")
	case m.Text == "" && len(m.Choices())+len(m.Cards) == 0 && !m.Other.IsZero():
		return m.Other.String()
	default:
		return m.Text
	}
}

// Form configures Parts.
type Form struct {
	// IsEscaped writes titles as Escape does.
	IsEscaped bool
	// HasPayloads adds payloads that differ from the titles.
	HasPayloads bool
	// First is the number of the first choice that sends a payload. If it is 0, choices have no numbers.
	First int
}

// Parts returns the lines below the head of a message:
//
//	[Yes] [More](https://example.com)   buttons
//	* Steel                             a card, its subtitle, its image, its buttons
//	  : holds two litres
//	  ! https://example.com/k.png
//	  [Buy]
//	(Yes) (No)                          quick replies
func (m Message) Parts(form Form) []string {
	lines := form.choices("", m.Buttons, "[%s]")
	for _, card := range m.Cards {
		lines = append(lines, form.text("*", card.Title)...)
		if card.Subtitle != "" {
			lines = append(lines, indented(form.text(":", card.Subtitle))...)
		}
		if card.ImageURL != "" {
			lines = append(lines, "  ! "+form.escaped(card.ImageURL, ""))
		}
		lines = append(lines, form.choices("  ", card.Buttons, "[%s]")...)
	}
	return append(lines, form.choices("", m.QuickReplies, "(%s)")...)
}

func indented(lines []string) []string {
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
}

func (f Form) escaped(text, marks string) string {
	if !f.IsEscaped {
		return text
	}
	return Escape(text, marks)
}

// text returns a text after a mark, split into lines if it is escaped.
func (f Form) text(mark, text string) []string {
	if !f.IsEscaped {
		return []string{mark + " " + text}
	}
	return TextLines(mark, text)
}

// choices formats buttons or quick replies as one line. It returns nil for none.
func (f Form) choices(indent string, buttons []Button, brackets string) []string {
	var all []string
	for _, button := range buttons {
		title := f.escaped(button.Title, "[]()")
		if f.HasPayloads && button.Number >= 0 && button.Payload != any(button.Title) {
			title += ": " + Value(button.Payload)
		}
		text := fmt.Sprintf(brackets, title)
		if button.URL != "" {
			text += "(" + f.escaped(button.URL, "[]()") + ")"
		}
		if f.First > 0 && button.Number >= 0 {
			text = fmt.Sprintf("%d %s", f.First+button.Number, text)
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return nil
	}
	between := " "
	if f.First > 0 {
		between = "  "
	}
	return []string{indent + strings.Join(all, between)}
}

// TextLines returns the lines of a text: the first after head, which names its author, and the others after bars.
func TextLines(head, text string) []string {
	lines := strings.Split(text, "\n")
	all := []string{strings.TrimRight(head+" "+Escape(lines[0], ""), " ")}
	for _, line := range lines[1:] {
		further := Escape(line, "")
		if text := strings.TrimLeft(line, " "); text != "" { // A bar comes before the spaces.
			further = line[:len(line)-len(text)] + Escape(text, "")
		}
		all = append(all, strings.TrimRight("  | "+further, " "))
	}
	return all
}

// Escape returns a line in which invisible characters, spaces at its ends, backslashes and the given marks are escaped: \s is a
// space, \t a tab, \n a new line, \u{202e} any other invisible character, and \x{ff} a byte that is not UTF-8.
func Escape(line string, marks string) string {
	first := len(line) - len(strings.TrimLeftFunc(line, unicode.IsSpace))
	last := len(strings.TrimRightFunc(line, unicode.IsSpace))
	var text strings.Builder
	for at := 0; at < len(line); {
		r, size := utf8.DecodeRuneInString(line[at:])
		isSeen := first <= at && at < last && !display.IsHidden(r)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&text, `\x{%x}`, line[at])
		case r == '\\' || strings.ContainsRune(marks, r):
			text.WriteString(`\` + string(r))
		case isSeen:
			text.WriteRune(r)
		default:
			text.WriteString(escapeOf(r))
		}
		at += size
	}
	return text.String()
}

func escapeOf(r rune) string {
	switch r {
	case ' ':
		return `\s`
	case '\t':
		return `\t`
	case '\n':
		return `\n`
	default:
		return fmt.Sprintf(`\u{%x}`, r)
	}
}
