package nodefile

import (
	"regexp"

	"github.com/botctx/go-sdk/botctx"
)

// trigger reads a trigger: the file of a script, or an object that says what matches.
func (f *file) trigger(n *Node, v value, path string) {
	if !v.isObject {
		f.script(&n.Trigger)(v, path)
		return
	}
	var texts, payloads []string
	var found []botctx.Trigger
	adding := func(make func() botctx.Trigger, read func(v value, path string)) func(v value, path string) {
		return func(v value, path string) {
			read(v, path)
			if made := make(); made != nil {
				found = append(found, made)
			}
		}
	}
	var matched, matching botctx.Trigger
	f.object(v, path, schema{
		"text":    adding(func() botctx.Trigger { return botctx.TextIs(texts...) }, f.texts(&texts)),
		"payload": adding(func() botctx.Trigger { return botctx.PayloadIs(payloads...) }, f.texts(&payloads)),
		"matches": adding(func() botctx.Trigger { return matching }, f.pattern(&matching)),
		"any":     adding(func() botctx.Trigger { return matched }, f.any(&matched)),
	})
	switch len(found) {
	case 0:
		if len(v.members) == 0 {
			f.complain(v.place, path, "is empty: say what matches, as text, matches, payload or any, or leave the trigger out")
		}
	case 1:
		n.Base.Trigger = found[0]
	default:
		n.Base.Trigger = botctx.AnyOf(found...)
	}
}

// texts returns how one text or several are read.
func (f *file) texts(into *[]string) func(v value, path string) {
	return func(v value, path string) {
		if v.isArray && len(v.items) == 0 {
			f.complain(v.place, path, "names nothing: give a text, or several")
		}
		f.oneOrMany(v, path, func(v value, path string) {
			var text string
			f.text(&text)(v, path)
			*into = append(*into, text)
		})
	}
}

// pattern returns how a regular expression is read that a text is to match.
func (f *file) pattern(into *botctx.Trigger) func(v value, path string) {
	return func(v value, path string) {
		var text string
		if f.text(&text)(v, path); text == "" {
			return
		}
		pattern, err := regexp.Compile(text)
		if err != nil {
			f.complain(v.place, path, "is no pattern of Go's package regexp: %v; a script can use those of JavaScript", err)
			return
		}
		*into = botctx.TextMatches(pattern)
	}
}

// any returns how "text" or "event" is read, all of which match.
func (f *file) any(into *botctx.Trigger) func(v value, path string) {
	return func(v value, path string) {
		switch v.scalar {
		case "text":
			*into = botctx.AnyText()
		case "event":
			*into = botctx.AnyEvent()
		default:
			f.complain(v.place, path, `must be "text" or "event", got %s`, v.raw)
		}
	}
}
