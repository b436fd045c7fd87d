package document

import "strings"

// lookupBrackets returns the value at a path in which brackets hold an index or a name.
func (o Object) lookupBrackets(path string) (any, bool) {
	parts, ok := splitBrackets(path)
	var current any = o
	for _, part := range parts {
		if current, ok = child(current, part); !ok {
			return nil, false
		}
	}
	return current, ok
}

// splitBrackets returns the parts of a path, and whether its brackets are well-formed.
func splitBrackets(path string) (parts []string, ok bool) {
	for rest, isFirst := path, true; ; isFirst = false {
		if !isFirst || rest[0] != '[' {
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				return append(parts, rest), true
			}
			parts, rest = append(parts, rest[:end]), rest[end:]
		}
		for rest != "" && rest[0] == '[' {
			var part string
			if part, rest, ok = cutBracket(rest[1:]); !ok {
				return nil, false
			}
			parts = append(parts, part)
		}
		switch {
		case rest == "":
			return parts, true
		case rest[0] != '.':
			return nil, false
		}
		rest = rest[1:]
	}
}

// cutBracket returns the content of the bracket that begins before text, and the text after the bracket.
func cutBracket(text string) (part, rest string, ok bool) {
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		return cutQuoted(text[1:], text[0])
	}
	part, rest, ok = strings.Cut(text, "]")
	return part, rest, ok && part != "" && !strings.ContainsAny(part, `.["'`)
}

// cutQuoted returns the quoted name that begins before text, and the text after its bracket. A backslash
// escapes the next character.
func cutQuoted(text string, quote byte) (part, rest string, ok bool) {
	var name strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == quote:
			rest, ok = strings.CutPrefix(text[i+1:], "]")
			return name.String(), rest, ok
		case text[i] == '\\' && i+1 < len(text):
			i++
		}
		name.WriteByte(text[i])
	}
	return "", "", false
}
