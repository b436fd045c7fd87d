package botctx

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/send"
)

// Trigger decides whether a node answers the event in bot.MessageEvent. Functions such as TextIs and When return
// triggers. TriggerFunc makes a trigger of any function.
type Trigger interface {
	// Matches reports whether the node answers. An error ends the run. Matches may store results for its node in
	// bot.Values. Triggers are evaluated in the order of priority, so Matches is also called for events that
	// another node answers.
	Matches(ctx context.Context, bot *Context) (bool, error)
	// String describes the trigger for Graph, such as `text is "menu"`.
	String() string
}

// TriggerFunc is a function that is a Trigger. It matches if it returns true.
type TriggerFunc func(ctx context.Context, bot *Context) (bool, error)

// Matches calls the function. InvalidArgument: the function is nil, as of a TextIs without texts.
func (f TriggerFunc) Matches(ctx context.Context, bot *Context) (bool, error) {
	if f == nil {
		return false, boterr.Invalid("", "the trigger is nil, or one such as TextIs without texts: give a function or a text")
	}
	return f(ctx, bot)
}

// String returns the name of the function, such as "shop.isOpen", or "a condition" for a function literal.
func (f TriggerFunc) String() string { return conditionName(f) }

// TextIs matches a text message equal to one of the texts, ignoring case and surrounding space. Handle refuses a
// TextIs without texts, because it could never match.
func TextIs(texts ...string) Trigger {
	if len(texts) == 0 {
		return TriggerFunc(nil)
	}
	return described{"text is " + quoted(texts), onText(func(said string) bool {
		return slices.ContainsFunc(texts, func(text string) bool {
			return strings.EqualFold(strings.TrimSpace(text), strings.TrimSpace(said))
		})
	})}
}

// TextMatches matches a text message that contains a match of the pattern.
func TextMatches(pattern *regexp.Regexp) Trigger {
	if pattern == nil {
		return TriggerFunc(nil) // Handle refuses it.
	}
	return described{"text matches " + pattern.String(), onText(pattern.MatchString)}
}

// AnyText matches every text message. It is the usual trigger of a fallback.
func AnyText() Trigger { return described{"any text", onText(func(string) bool { return true })} }

// OnText matches a text message for whose text the function returns true.
func OnText(matches func(said string) bool) Trigger {
	if matches == nil {
		return TriggerFunc(nil)
	}
	return described{"text by " + conditionName(matches), onText(matches)}
}

// PayloadIs matches a tap on a button or a quick reply with one of the payloads. Handle refuses a PayloadIs without
// payloads.
func PayloadIs(payloads ...string) Trigger {
	if len(payloads) == 0 {
		return TriggerFunc(nil)
	}
	return described{"payload is " + quoted(payloads), holds(func(bot *Context) bool {
		event := bot.MessageEvent
		return event != nil && event.Type == send.TypePayload && slices.Contains(payloads, event.Payload())
	})}
}

// AnyEvent matches every event.
func AnyEvent() Trigger { return described{"any event", holds(func(*Context) bool { return true })} }

// When matches if condition returns true.
func When(condition func(bot *Context) bool) Trigger {
	if condition == nil {
		return TriggerFunc(nil)
	}
	return described{"when " + conditionName(condition), holds(condition)}
}

// Described returns a trigger with a different description:
//
//	func says(word string) botctx.Trigger {
//		return botctx.Described("says "+word, botctx.OnText(func(said string) bool { return strings.Contains(said, word) }))
//	}
func Described(text string, trigger Trigger) Trigger { return described{text, trigger} }

type described struct {
	text string
	Trigger
}

func (d described) String() string { return d.text }

func onText(matches func(said string) bool) TriggerFunc {
	return holds(func(bot *Context) bool {
		event := bot.MessageEvent
		return event != nil && event.Type == send.TypeText && matches(event.Text())
	})
}

func holds(condition func(bot *Context) bool) TriggerFunc {
	return func(_ context.Context, bot *Context) (bool, error) { return condition(bot), nil }
}

// conditionName returns the name of a function, or "a condition" for a function literal.
func conditionName(function any) string {
	name := strings.TrimSuffix(functionName(function), "-fm") // The compiler adds -fm to the name of a method value.
	if nameless.MatchString(name) {
		return "a condition"
	}
	return name
}

// nameless matches the compiler's name for a function literal.
var nameless = regexp.MustCompile(`\.(func)?\d+(\.\d+)*$`)

func quoted(texts []string) string {
	shown := make([]string, min(len(texts), mostShown))
	for i := range shown {
		shown[i] = strconv.Quote(texts[i])
	}
	return strings.Join(shown, " or ") + more(len(texts)-len(shown))
}

// AllOf matches if all triggers match. It evaluates them in order, and stops at the first that does not
// match.
func AllOf(triggers ...Trigger) Trigger { return combined{slices.Clone(triggers), true} }

// AnyOf matches if any of the triggers matches. It evaluates them in order, and stops at the first that
// matches. Handle refuses an AnyOf without triggers.
func AnyOf(triggers ...Trigger) Trigger { return combined{slices.Clone(triggers), false} }

// Not matches if the trigger does not.
func Not(trigger Trigger) Trigger { return not{trigger} }

// combined matches if all of its parts match or, if needsAll is false, if one does.
type combined struct {
	parts    []Trigger
	needsAll bool
}

func (s combined) Matches(ctx context.Context, bot *Context) (bool, error) {
	for _, part := range s.parts {
		if matches, err := part.Matches(ctx, bot); err != nil || matches != s.needsAll {
			return matches && err == nil, err
		}
	}
	return s.needsAll, nil
}

// String joins the descriptions of the parts. It puts joined descriptions in parentheses.
func (s combined) String() string {
	texts := make([]string, len(s.parts))
	for i, part := range s.parts {
		texts[i] = describe(part)
		if _, isJoined := part.(combined); isJoined {
			texts[i] = "(" + texts[i] + ")"
		}
	}
	word := " or "
	if s.needsAll {
		word = " and "
	}
	return strings.Join(texts, word)
}

type not struct{ of Trigger }

func (n not) Matches(ctx context.Context, bot *Context) (bool, error) {
	matches, err := n.of.Matches(ctx, bot)
	return !matches && err == nil, err
}

func (n not) String() string { return "not (" + describe(n.of) + ")" }

// describe returns the description of a trigger, or "" for nil.
func describe(trigger Trigger) string {
	if trigger == nil {
		return ""
	}
	return trigger.String()
}

// hasNil reports whether a trigger contains a nil trigger, a nil function, or an AnyOf without triggers. It is false for
// a nil trigger.
func hasNil(trigger Trigger) bool {
	lacks := func(part Trigger) bool { return part == nil || hasNil(part) }
	switch t := trigger.(type) {
	case combined:
		return len(t.parts) == 0 && !t.needsAll || slices.ContainsFunc(t.parts, lacks)
	case not:
		return lacks(t.of)
	case described:
		return lacks(t.Trigger)
	case TriggerFunc:
		return t == nil
	default:
		return false
	}
}
