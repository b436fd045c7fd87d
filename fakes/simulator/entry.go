package simulator

import (
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/send"
)

// entry is something that was said, by a person or by the bot.
type entry struct {
	At time.Time `json:"at"`
	// Moment is the number of the moment in which it was said.
	Moment int `json:"moment"`
	// IsIn tells that a person said it, and not the bot; IsTap that Text is the title of what was tapped.
	IsIn  bool `json:"isIn"`
	IsTap bool `json:"isTap"`
	// From and To are the names of who said it and to whom, "" for the bot.
	From string `json:"from"`
	To   string `json:"to"`
	// ID is the platform's id of the message, Channel that of the channel.
	ID      string `json:"id"`
	Channel string `json:"channel"`
	// Type is the type of the message, Text its text.
	Type send.Type `json:"type"`
	Text string    `json:"text"`
	// Buttons, QuickReplies and Cards are what there is to tap and to leaf through.
	Buttons      []shownButton `json:"buttons,omitempty"`
	QuickReplies []shownButton `json:"quickReplies,omitempty"`
	Cards        []shownCard   `json:"cards,omitempty"`
	// Articles are those of Echo's news.
	Articles []send.Article `json:"articles,omitempty"`
	// URL is the address of a picture, a recording, a film or a file.
	URL string `json:"url,omitempty"`
	// Rest is all of a message that has none of these.
	Rest string `json:"rest,omitempty"`
	// IsChanged tells that it was changed since it was sent, IsTakenBack that nobody sees it any more.
	IsChanged   bool `json:"isChanged"`
	IsTakenBack bool `json:"isTakenBack"`
	// Error is what came of the event where the bot failed.
	Error *page.Problem `json:"error,omitempty"`
}

// shownButton is a button or a quick reply.
type shownButton struct {
	Title string `json:"title"`
	// Number is what to tap, -1 for what cannot be tapped now.
	Number int `json:"number"`
	// URL is what it opens.
	URL string `json:"url,omitempty"`
}

// shownCard is a card of a carousel.
type shownCard struct {
	Title    string        `json:"title"`
	Subtitle string        `json:"subtitle,omitempty"`
	ImageURL string        `json:"imageUrl,omitempty"`
	Buttons  []shownButton `json:"buttons,omitempty"`
}

// entryOf tells a message as it shows now. taps are what its recipient can tap now.
func entryOf(sent fakes.Sent, taps []fakes.Tappable) entry {
	shown := sent.Shown
	e := entry{
		At: sent.SentAt, ID: sent.MessageID, Channel: sent.Channel, Type: shown.Type(), Text: shown.Text(),
		IsTakenBack: shown.IsZero(), IsChanged: !shown.IsZero() && shown.String() != sent.Response.String(),
		Articles: shown.Articles(),
	}
	offered := offers{message: sent.MessageID, open: taps}
	e.Buttons = offered.ofButtons(shown.Buttons())
	for _, card := range shown.Cards() {
		e.Cards = append(e.Cards, shownCard{
			Title: card.Title, Subtitle: card.Subtitle, ImageURL: card.ImageURL, Buttons: offered.ofButtons(card.Buttons),
		})
	}
	e.QuickReplies = offered.ofQuickReplies(shown)
	e.URL = document.Get(shown, "url", "")
	if e.isEmpty() {
		e.Rest = shown.Data().String()
	}
	return e
}

// isEmpty reports whether nothing is to be seen of a message that was not taken back.
func (e entry) isEmpty() bool {
	hasParts := len(e.Cards)+len(e.Buttons)+len(e.QuickReplies)+len(e.Articles) > 0
	return !e.IsTakenBack && !hasParts && e.Type != send.TypeTyping && e.Text == "" && e.URL == ""
}

// offers gives what a message shows the numbers by which it is tapped.
type offers struct {
	message string
	// open is what can be tapped now, of all messages; next the number of what comes next in the message.
	open []fakes.Tappable
	next int
}

// number returns the number of something with a title that sends a payload, -1 where it cannot be tapped.
func (o *offers) number(title string) int {
	n := 0
	for _, one := range o.open {
		if one.MessageID != o.message {
			continue
		}
		if n == o.next && one.Title == title {
			o.next++
			return n
		}
		n++
	}
	return -1
}

func (o *offers) ofButtons(buttons []send.Button) []shownButton {
	var told []shownButton
	for _, button := range buttons {
		one := shownButton{Title: button.Title, URL: button.URL, Number: -1}
		if button.Payload != nil {
			one.Number = o.number(button.Title)
		}
		told = append(told, one)
	}
	return told
}

func (o *offers) ofQuickReplies(message send.Response) []shownButton {
	var told []shownButton
	for _, reply := range document.Get(message, "quickReplies", []document.Object(nil)) {
		one := shownButton{Title: document.Get(reply, "title", ""), Number: -1}
		if one.Title == "" {
			one.Title = document.Get(reply, "content_type", "")
		}
		if reply.Has("payload") {
			one.Number = o.number(one.Title)
		}
		told = append(told, one)
	}
	return told
}
