package expect

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/send"
)

// Message is one thing that is expected of a message. The zero Message expects nothing of it.
type Message struct {
	what string
	// difference describes the difference of a message, "" if there is none.
	difference func(message send.Response) string
}

// String describes the expectation.
func (m Message) String() string {
	if m.what == "" {
		return "a message"
	}
	return m.what
}

// Difference describes how a message differs from the expectation, for a reader: in one or more lines. It is
// "" if the message is as expected.
func (m Message) Difference(from send.Response) string {
	if m.difference == nil {
		return ""
	}
	return m.difference(from)
}

// Text expects a message whose whole text is this one, whatever else it has.
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
		return "not in  " + Shown(message)
	}}
}

// never is as no message is expected, for what was given by mistake.
func never(what, why string) Message {
	return Message{what: what, difference: func(send.Response) string { return why }}
}

// Choice expects a message that shows buttons or quick replies with these titles, in this order, possibly
// with others: its own buttons, buttons of its cards, and buttons that open a page.
func Choice(titles ...string) Message {
	return Message{what: "a choice of " + strings.Join(inBrackets(titles), " "), difference: func(message send.Response) string {
		return choiceDifference(titles, titlesOf(message))
	}}
}

// choiceDifference names the first title that is missing, and what there is.
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
	return Message{what: "what is at " + url, difference: func(message send.Response) string {
		switch found, _ := message.Lookup("url"); found {
		case url:
			return ""
		case nil:
			return "there is no address in  " + Shown(message)
		default:
			return fmt.Sprintf("it has what is at %v", found)
		}
	}}
}

// Type expects a message of a type, such as send.TypeCarousel.
func Type(of send.Type) Message {
	return Message{what: "a message of type " + string(of), difference: func(message send.Response) string {
		if message.Type() == of {
			return ""
		}
		return fmt.Sprintf("it is of type %s: %s", message.Type(), Shown(message))
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

// That expects a message for which holds is true; what describes it for the reader of a failure: "a price
// in euros".
func That(what string, holds func(message send.Response) bool) Message {
	if holds == nil {
		return never(what, "That was given no function that says whether it is so")
	}
	return Message{what: what, difference: func(message send.Response) string {
		if holds(message) {
			return ""
		}
		return "that is not so of  " + Shown(message)
	}}
}
