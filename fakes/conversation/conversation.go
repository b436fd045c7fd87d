package conversation

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/send"
)

// Conversation is what was done in a conversation, and what came of it.
type Conversation struct {
	Steps []Step
	// End are the comments behind the last step, without what marks them.
	End []string
}

// Step is one thing that is done, and what comes of it.
type Step struct {
	// Line is the line of the file on which it stands, 0 where it was not read from one.
	Line int
	// Comment are the lines of the comment before it, without what marks them.
	Comment []string
	// Act is what is done.
	Act Act
	// Failure is how it fails, zero where it does not.
	Failure Failure
	// Answers are the messages that come of it: those to one person in their order. TYPING is none.
	Answers []Answer
}

// Failure tells that a run of the bot fails.
type Failure struct {
	// Fails is whether it does.
	Fails bool
	// Code is one of boterr, "" where the error has none, or is one of several.
	Code boterr.Code
}

// Answer is a message to somebody who takes part.
type Answer struct {
	// Comment are the lines of the comment before it.
	Comment []string
	// To is the name of who gets it.
	To      string
	Message Message
}

// Message is what one sees of a message.
type Message struct {
	// Text may have several lines.
	Text string
	// Buttons stay, QuickReplies vanish when another message follows.
	Buttons      []Button
	QuickReplies []string
	Cards        []Card
	// File is the type of a file, such as IMAGE, and URL its address. Both are "" for other messages.
	File send.Type
	URL  string
	// Other is a message of another form, as a whole. Nothing else is set where it is.
	Other send.Response
}

// Button is a button as one sees it.
type Button struct {
	Title string
	// URL is what it opens, "" for one that sends something to the bot.
	URL string
}

// Card is a card of a carousel.
type Card struct {
	Title, Subtitle, ImageURL string
	Buttons                   []Button
}

// Extension is how the names of files with a conversation end.
const Extension = ".chat"
