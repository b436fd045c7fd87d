package botctx

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// AllOf matches where all of the triggers do. It asks them in order, up to the first that
// does not.
func AllOf(triggers ...Trigger) Trigger { return allOf(slices.Clone(triggers)) }

// AnyOf matches where one of the triggers does. It asks them in order, up to the first that
// does.
func AnyOf(triggers ...Trigger) Trigger { return anyOf(slices.Clone(triggers)) }

// Not matches where a trigger does not.
func Not(trigger Trigger) Trigger { return not{trigger} }

// allOf implements AllOf.
type allOf []Trigger

// Matches implements Trigger.
func (a allOf) Matches(ctx context.Context, bot *Context) (bool, error) {
	for _, trigger := range a {
		if matches, err := trigger.Matches(ctx, bot); err != nil || !matches {
			return false, err
		}
	}
	return true, nil
}

// String implements Trigger.
func (a allOf) String() string { return joined(a, " and ") }

// anyOf implements AnyOf.
type anyOf []Trigger

// Matches implements Trigger.
func (a anyOf) Matches(ctx context.Context, bot *Context) (bool, error) {
	for _, trigger := range a {
		if matches, err := trigger.Matches(ctx, bot); err != nil || matches {
			return err == nil, err
		}
	}
	return false, nil
}

// String implements Trigger.
func (a anyOf) String() string { return joined(a, " or ") }

// not implements Not.
type not struct{ of Trigger }

// Matches implements Trigger.
func (n not) Matches(ctx context.Context, bot *Context) (bool, error) {
	matches, err := n.of.Matches(ctx, bot)
	return !matches && err == nil, err
}

// String implements Trigger.
func (n not) String() string { return "not (" + describe(n.of) + ")" }

// joined describes triggers with a word between them. One that has such words itself stands in
// brackets.
func joined(triggers []Trigger, word string) string {
	texts := make([]string, len(triggers))
	for i, trigger := range triggers {
		texts[i] = describe(trigger)
		switch trigger.(type) {
		case allOf, anyOf:
			texts[i] = "(" + texts[i] + ")"
		}
	}
	return strings.Join(texts, word)
}

// describe describes a trigger, "" where there is none. One of the host's own may panic.
func describe(trigger Trigger) (text string) {
	if trigger == nil {
		return ""
	}
	defer func() {
		if recover() != nil {
			text = fmt.Sprintf("%T, whose String panics", trigger)
		}
	}()
	return trigger.String()
}

// hasNil reports whether a part of a trigger is nil. That there is no trigger at all is right.
func hasNil(trigger Trigger) bool {
	lacks := func(part Trigger) bool { return part == nil || hasNil(part) }
	switch t := trigger.(type) {
	case allOf:
		return slices.ContainsFunc(t, lacks)
	case anyOf:
		return slices.ContainsFunc(t, lacks)
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
