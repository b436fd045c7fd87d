package main

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// demonstration is what a guest says in the conversation that is shown where standard
// input is empty, a message on each line.
//
//go:embed demonstration.txt
var demonstration string

// maxLineLength is the most bytes of a message.
const maxLineLength = 1 << 20

// Chat holds a conversation with one guest.
type Chat struct {
	Host *Host
	Out  io.Writer
	// Prompt is shown before a guest types. Without one, what the guest says is
	// printed, so that a transcript comes out.
	Prompt string
}

// Hold answers the messages of in, one on each line, until it ends or the guest says
// bye. It reports whether there was any message.
func (c Chat) Hold(ctx context.Context, in io.Reader) (spoke bool, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLineLength)
	for c.prompt() && lines.Scan() {
		text := strings.TrimSpace(strings.ToValidUTF8(lines.Text(), "?"))
		if text == "" {
			continue
		}
		if !spoke {
			c.Host.tally.AddConversation()
		}
		spoke = true
		if err := c.say(ctx, text); err != nil {
			return spoke, err
		}
		if isFarewell(text) {
			return spoke, nil
		}
	}
	if err := lines.Err(); err != nil {
		return spoke, fmt.Errorf("reading the conversation: %w", err)
	}
	return spoke, nil
}

// prompt shows the prompt and returns true.
func (c Chat) prompt() bool {
	_, err := io.WriteString(c.Out, c.Prompt)
	return err == nil
}

// say gives the bot a message of the guest.
func (c Chat) say(ctx context.Context, text string) error {
	if c.Prompt == "" {
		if _, err := fmt.Fprintln(c.Out, "Guest:     "+text); err != nil {
			return err
		}
	}
	event := textEvent(text)
	event.From = "guest"
	return c.Host.Receive(ctx, event)
}

// textEvent returns the event of a text that is said.
func textEvent(text string) send.MessageEvent {
	return send.MessageEvent{Type: send.TypeText, Data: document.O("text", text)}
}

// isFarewell reports whether a message ends the conversation.
func isFarewell(text string) bool {
	switch strings.TrimSpace(wordsOf(text)) {
	case "bye", "goodbye", "quit", "exit":
		return true
	default:
		return false
	}
}
