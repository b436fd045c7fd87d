package botctx

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/send"
)

// Trigger tells whether a node answers the event of bot.MessageEvent. An error fails the
// run. What it found out on the way it can leave in bot.Values for its node. It is asked
// also for events that another node answers in the end: those of smaller priority are
// asked before.
type Trigger func(ctx context.Context, bot *Context) (bool, error)

// TextIs matches a message that is one of the texts, whatever the case of its letters
// and the space around it.
func TextIs(texts ...string) Trigger {
	return OnText(func(said string) bool {
		return slices.ContainsFunc(texts, func(text string) bool {
			return strings.EqualFold(strings.TrimSpace(text), strings.TrimSpace(said))
		})
	})
}

// TextMatches matches a text message in which the pattern is found.
func TextMatches(pattern *regexp.Regexp) Trigger { return OnText(pattern.MatchString) }

// AnyText matches every text message: the trigger of a fallback.
func AnyText() Trigger { return OnText(func(string) bool { return true }) }

// OnText matches a text message of which a condition holds.
func OnText(matches func(said string) bool) Trigger {
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

// AllOf matches where all of the triggers do. It asks them in order, up to the first that
// does not.
func AllOf(triggers ...Trigger) Trigger {
	return func(ctx context.Context, bot *Context) (bool, error) {
		for _, trigger := range triggers {
			if matches, err := trigger(ctx, bot); err != nil || !matches {
				return false, err
			}
		}
		return true, nil
	}
}

// AnyOf matches where one of the triggers does. It asks them in order, up to the first that
// does.
func AnyOf(triggers ...Trigger) Trigger {
	return func(ctx context.Context, bot *Context) (bool, error) {
		for _, trigger := range triggers {
			if matches, err := trigger(ctx, bot); err != nil || matches {
				return err == nil, err
			}
		}
		return false, nil
	}
}

// Not matches where a trigger does not.
func Not(trigger Trigger) Trigger {
	return func(ctx context.Context, bot *Context) (bool, error) {
		matches, err := trigger(ctx, bot)
		return !matches && err == nil, err
	}
}
