package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/send"
)

// says matches a text that holds one of several words or phrases.
func says(phrases ...string) botctx.Trigger {
	return botctx.Described("says "+strings.Join(phrases, ", "), when(func(said said) bool { return said.has(phrases...) }))
}

// means matches a text that is understood as something.
func means(what string, holds func(said said) bool) botctx.Trigger {
	return botctx.Described("means "+what, when(holds))
}

// when matches a text that meets a condition.
func when(holds func(said said) bool) botctx.Trigger {
	return botctx.OnText(func(text string) bool { return holds(understand(text)) })
}

// heard returns what the guest's message says.
func heard(bot *botctx.Context) said { return understand(bot.MessageEvent.Text()) }

// once finds out something about the message once in a run: the trigger of a node and
// its actions ask the same.
func once[T any](bot *botctx.Context, what string, find func() (T, error)) (T, error) {
	if found, ok := bot.Values[what].(T); ok {
		return found, nil
	}
	found, err := find()
	if err == nil {
		bot.Values[what] = found
	}
	return found, err
}

// reply sends a text as it is: what guests said and what columns hold is no template.
func reply(ctx context.Context, bot *botctx.Context, format string, args ...any) error {
	return bot.Reply(ctx, send.Text(cut(fmt.Sprintf(format, args...), send.MaxText)))
}

// cut returns at most so many characters of a text.
func cut(text string, most int) string {
	characters := []rune(text)
	if len(characters) <= most {
		return text
	}
	return string(characters[:most-1]) + "…"
}
