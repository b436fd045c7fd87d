package botctx

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/send"
)

// Trigger tells whether a node answers the event of bot.MessageEvent. An error fails the
// run. It may be asked for events that its node does not answer in the end.
type Trigger func(ctx context.Context, bot *Context) (bool, error)

// TextIs matches a message that is one of the texts, whatever the case of its letters
// and the space around it.
func TextIs(texts ...string) Trigger {
	return onText(func(said string) bool {
		return slices.ContainsFunc(texts, func(text string) bool {
			return strings.EqualFold(strings.TrimSpace(text), strings.TrimSpace(said))
		})
	})
}

// TextMatches matches a text message in which the pattern is found.
func TextMatches(pattern *regexp.Regexp) Trigger { return onText(pattern.MatchString) }

// AnyText matches every text message: the trigger of a fallback.
func AnyText() Trigger { return onText(func(string) bool { return true }) }

// onText matches text messages of which a condition holds.
func onText(matches func(said string) bool) Trigger {
	return When(func(bot *Context) bool {
		event := bot.MessageEvent
		return event != nil && event.Type == send.TypeText && matches(event.Text())
	})
}

// PayloadIs matches the tap on a button or a quick reply that has one of the payloads.
func PayloadIs(payloads ...string) Trigger {
	return When(func(bot *Context) bool {
		event := bot.MessageEvent
		return event != nil && event.Type == send.TypePayload && slices.Contains(payloads, event.Payload())
	})
}

// AnyEvent matches every event.
func AnyEvent() Trigger { return When(func(*Context) bool { return true }) }

// When matches where a condition holds.
func When(holds func(bot *Context) bool) Trigger {
	return func(_ context.Context, bot *Context) (bool, error) { return holds(bot), nil }
}
