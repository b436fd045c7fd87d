package expect

import (
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/send"
)

// Shown is a message as a failure shows it: its text in quotes with what can be tapped behind it, or all of it as
// JSON if it has no text.
func Shown(message send.Response) string {
	text := message.String()
	if message.Text() != "" {
		text = strconv.Quote(message.Text())
	}
	if titles := titlesOf(message); len(titles) > 0 {
		text += " " + strings.Join(inBrackets(titles), " ")
	}
	return text
}

// titlesOf returns the titles to choose from in a message: of its buttons, of the buttons of its cards, and
// of its quick replies.
func titlesOf(message send.Response) []string {
	var titles []string
	for _, button := range message.Buttons() {
		titles = append(titles, button.Title)
	}
	for _, card := range message.Cards() {
		for _, button := range card.Buttons {
			titles = append(titles, button.Title)
		}
	}
	for _, reply := range message.QuickReplies() {
		titles = append(titles, reply.Title)
	}
	return titles
}

func inBrackets(titles []string) []string {
	all := make([]string, len(titles))
	for i, title := range titles {
		all[i] = "[" + title + "]"
	}
	return all
}
