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
	var found []botctx.Trigger
	add := func(read botctx.Trigger) {
		if read != nil {
			found = append(found, read)
		}
	}
	f.object(v, path, schema{
		"text":    func(v value, path string) { add(botctx.TextIs(f.texts(v, path)...)) },
		"payload": func(v value, path string) { add(botctx.PayloadIs(f.texts(v, path)...)) },
		"matches": func(v value, path string) { add(f.pattern(v, path)) },
		"any":     func(v value, path string) { add(f.any(v, path)) },
	})
	switch len(found) {
	case 0:
		if len(v.members) == 0 {
			f.complainf(v.place, path, "is empty: say what matches, as text, matches, payload or any, or leave the trigger out")
		}
	case 1:
		n.Base.Trigger = found[0]
	default:
		n.Base.Trigger = botctx.AnyOf(found...)
	}
}

// texts reads one text or several.
func (f *file) texts(v value, path string) (texts []string) {
	if v.isArray && len(v.items) == 0 {
		f.complainf(v.place, path, "names nothing: give a text, or several")
	}
	f.oneOrMany(v, path, func(v value, path string) {
		var text string
		f.text(&text)(v, path)
		texts = append(texts, text)
	})
	return texts
}

// pattern reads a regular expression that a text is to match.
func (f *file) pattern(v value, path string) botctx.Trigger {
	var text string
	f.text(&text)(v, path)
	if text == "" {
		return nil
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		f.complainf(v.place, path, "is no pattern of Go's package regexp: %v; a script can use those of JavaScript", err)
		return nil
	}
	return botctx.TextMatches(pattern)
}

// any reads "text" or "event", all of which match.
func (f *file) any(v value, path string) botctx.Trigger {
	switch v.scalar {
	case "text":
		return botctx.AnyText()
	case "event":
		return botctx.AnyEvent()
	default:
		f.complainf(v.place, path, `must be "text" or "event", got %s`, v.raw)
		return nil
	}
}
