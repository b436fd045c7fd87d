// Package expect contains expectations about messages, for Actor.SeesMessage and Agent.SeesMessage of package fakes.
//
//   - To expect a text, use [Text], or [Match] for a pattern.
//   - To expect buttons or quick replies, use [Choice].
//   - To expect a picture or a file, use [Media]; a type, use [Type]; a whole message, use [Exactly];
//     anything else, [That].
//
// A message can have several expectations:
//
//	ada.SeesMessage(expect.Text("Which size?"), expect.Choice("Small", "Large"))
package expect

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/internal/textdiff"
	"github.com/botctx/go-sdk/send"
)

// Message is an expectation about a message. Every message meets the zero Message.
type Message struct {
	what string
	// difference describes how a message differs from the expected one. It returns "" if it does not.
	difference func(message send.Response) string
}

// String describes the expectation.
func (m Message) String() string {
	if m.what == "" {
		return "a message"
	}
	return m.what
}

// Difference describes, in one or more lines, how a message differs from the expectation. It is "" if the
// message is as expected.
func (m Message) Difference(from send.Response) string {
	if m.difference == nil {
		return ""
	}
	return m.difference(from)
}

// Text expects a message with exactly this text; it may have other parts.
func Text(text string) Message {
	return Message{what: strconv.Quote(text), difference: func(message send.Response) string {
		return textDifference(text, message)
	}}
}

// Match expects a message whose text has a match of a pattern.
func Match(pattern *regexp.Regexp) Message {
	if pattern == nil {
		return never("a text that matches a pattern", "Match was given no pattern")
	}
	return Message{what: "a text that matches " + pattern.String(), difference: func(message send.Response) string {
		if pattern.MatchString(message.Text()) {
			return ""
		}
		return "not in  " + render.Line(message)
	}}
}

// never returns an expectation that always fails, for invalid arguments.
func never(what, why string) Message {
	return Message{what: what, difference: func(send.Response) string { return why }}
}

// Choice expects a message that shows buttons or quick replies with these titles, in this order, possibly
// among others: its own buttons, buttons of its cards, and buttons that open a page.
func Choice(titles ...string) Message {
	return Message{what: "a choice of " + strings.Join(inBrackets(titles), " "), difference: func(message send.Response) string {
		return choiceDifference(titles, render.Of(message).Titles())
	}}
}

// choiceDifference names the first missing title, and the titles that are shown.
func choiceDifference(wanted, shown []string) string {
	left := shown
	for _, title := range wanted {
		if at := slices.Index(left, title); at >= 0 {
			left = left[at+1:]
			continue
		}
		return missing(title, shown)
	}
	return ""
}

// missing describes a title that is not shown, or not in its place.
func missing(title string, shown []string) string {
	if len(shown) == 0 {
		return fmt.Sprintf("there is no [%s]: it shows nothing to choose", title)
	}
	all := ": it shows " + strings.Join(inBrackets(shown), " ")
	if slices.Contains(shown, title) {
		return fmt.Sprintf("[%s] comes in another place", title) + all
	}
	text := fmt.Sprintf("there is no [%s]", title) + all
	if near := nearest.To(title, shown); near != "" {
		text += fmt.Sprintf("; did you mean [%s]?", near)
	}
	return text
}

// Media expects a message with the picture, sound, video or file at an address.
func Media(url string) Message {
	return Message{what: "the file at " + url, difference: func(message send.Response) string {
		switch found, _ := message.Lookup("url"); found {
		case url:
			return ""
		case nil:
			return "there is no address in  " + render.Line(message)
		default:
			return fmt.Sprintf("it has the file at %v", found)
		}
	}}
}

// Type expects a message of a type, such as send.TypeCarousel.
func Type(of send.Type) Message {
	return Message{what: "a message of type " + string(of), difference: func(message send.Response) string {
		if message.Type() == of {
			return ""
		}
		return fmt.Sprintf("it is of type %s: %s", message.Type(), render.Line(message))
	}}
}

// Exactly expects a message with the same fields and values as another, in the same order.
func Exactly(other send.Response) Message {
	return Message{what: other.String(), difference: func(message send.Response) string {
		if document.Equal(other.Object(), message.Object()) {
			return ""
		}
		return "it is    " + message.String()
	}}
}

// That expects a message for which holds is true; what is its description in failure messages: "a price in
// euros".
func That(what string, holds func(message send.Response) bool) Message {
	if holds == nil {
		return never(what, "That has no function: give one that checks a message")
	}
	return Message{what: what, difference: func(message send.Response) string {
		if holds(message) {
			return ""
		}
		return "this is not so in  " + render.Line(message)
	}}
}

func inBrackets(titles []string) []string {
	all := make([]string, len(titles))
	for i, title := range titles {
		all[i] = "[" + title + "]"
	}
	return all
}

// textDifference shows two texts one below the other, with a mark below the first different letter. For texts of
// several lines, it is a diff: - is before missing lines, + before unexpected ones.
func textDifference(wanted string, message send.Response) string {
	got := message.Text()
	switch {
	case wanted == got:
		return ""
	case got == "":
		return "it has no text: " + render.Line(message)
	case strings.Contains(wanted+got, "\n"):
		return strings.TrimSuffix(textdiff.Unified(wanted+"\n", got+"\n"), "\n")
	}
	quoted, shown := []rune(strconv.Quote(wanted)), []rune(strconv.Quote(got))
	same := 0
	for same < len(quoted) && same < len(shown) && quoted[same] == shown[same] {
		same++
	}
	return string(quoted) + "\n" + string(shown) + "\n" + strings.Repeat(" ", same) + "^"
}
