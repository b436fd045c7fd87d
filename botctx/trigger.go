package botctx

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/send"
)

// Trigger tells whether a node answers the event of bot.MessageEvent. TextIs, When and the others
// here make one, and a function is one as a TriggerFunc.
type Trigger interface {
	// Matches tells whether the node answers. An error fails the run. What it found out on the way
	// it can leave in bot.Values for its node. It is asked also for events that another node
	// answers in the end: those of smaller priority are asked before.
	Matches(ctx context.Context, bot *Context) (bool, error)
	// String describes what it matches, such as `text is "menu"`, for Graph.
	String() string
}

// TriggerFunc is a Trigger that matches where a function says so.
type TriggerFunc func(ctx context.Context, bot *Context) (bool, error)

// Matches calls the function.
func (f TriggerFunc) Matches(ctx context.Context, bot *Context) (bool, error) { return f(ctx, bot) }

// String returns the name of the function, such as "shop.isOpen". One without a name is "a condition".
func (f TriggerFunc) String() string { return conditionName(f) }

// TextIs matches a message that is one of the texts, whatever the case of its letters
// and the space around it.
func TextIs(texts ...string) Trigger {
	return described{"text is " + quoted(texts), onText(func(said string) bool {
		return slices.ContainsFunc(texts, func(text string) bool {
			return strings.EqualFold(strings.TrimSpace(text), strings.TrimSpace(said))
		})
	})}
}

// TextMatches matches a text message in which the pattern is found.
func TextMatches(pattern *regexp.Regexp) Trigger {
	if pattern == nil {
		return TriggerFunc(nil) // Handle refuses it.
	}
	return described{"text matches " + pattern.String(), onText(pattern.MatchString)}
}

// AnyText matches every text message: the trigger of a fallback.
func AnyText() Trigger { return described{"any text", onText(func(string) bool { return true })} }

// OnText matches a text message whose text meets a condition.
func OnText(matches func(said string) bool) Trigger {
	if matches == nil {
		return TriggerFunc(nil)
	}
	return described{"text by " + conditionName(matches), onText(matches)}
}

// PayloadIs matches the tap on a button or a quick reply that has one of the payloads.
func PayloadIs(payloads ...string) Trigger {
	return described{"payload is " + quoted(payloads), holds(func(bot *Context) bool {
		event := bot.MessageEvent
		return event != nil && event.Type == send.TypePayload && slices.Contains(payloads, event.Payload())
	})}
}

// AnyEvent matches every event.
func AnyEvent() Trigger { return described{"any event", holds(func(*Context) bool { return true })} }

// When matches where a condition holds.
func When(condition func(bot *Context) bool) Trigger {
	if condition == nil {
		return TriggerFunc(nil)
	}
	return described{"when " + conditionName(condition), holds(condition)}
}

// Described is a trigger with another description:
//
//	func says(word string) botctx.Trigger {
//		return botctx.Described("says "+word, botctx.OnText(func(said string) bool { return strings.Contains(said, word) }))
//	}
func Described(text string, trigger Trigger) Trigger { return described{text, trigger} }

// described implements Described.
type described struct {
	text string
	Trigger
}

// String implements Trigger.
func (d described) String() string { return d.text }

// onText is OnText as a function.
func onText(matches func(said string) bool) TriggerFunc {
	return holds(func(bot *Context) bool {
		event := bot.MessageEvent
		return event != nil && event.Type == send.TypeText && matches(event.Text())
	})
}

// holds is When as a function.
func holds(condition func(bot *Context) bool) TriggerFunc {
	return func(_ context.Context, bot *Context) (bool, error) { return condition(bot), nil }
}

// conditionName returns the name of a function, and "a condition" where the compiler has made it up.
func conditionName(function any) string {
	name := strings.TrimSuffix(functionName(function), "-fm") // So ends the name of a method that is a value.
	if nameless.MatchString(name) {
		return "a condition"
	}
	return name
}

// nameless is what the compiler calls a function inside of another one.
var nameless = regexp.MustCompile(`\.(func)?\d+(\.\d+)*$`)

// quoted lists texts.
func quoted(texts []string) string {
	shown := make([]string, min(len(texts), mostShown))
	for i := range shown {
		shown[i] = strconv.Quote(texts[i])
	}
	return strings.Join(shown, " or ") + more(len(texts)-len(shown))
}
