package charlie

import (
	"regexp"
	"strings"
)

// escaped returns a text as the tool shows it to the letter: without mentions, calls of
// whole conversations and links of its markup.
func escaped(text string) string {
	return escaper.Replace(text)
}

var (
	escaper   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	unescaper = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// inBrackets are the parts of a text that the tool has put into its markup.
var inBrackets = regexp.MustCompile(`<([^<>|]*)(?:\|([^<>]*))?>`)

// plainText returns a text that the tool reports as its author wrote it: links as their
// address, names as they are shown, where the tool says how.
func plainText(text string) string {
	text = inBrackets.ReplaceAllStringFunc(text, func(marked string) string {
		parts := inBrackets.FindStringSubmatch(marked)
		target, label := parts[1], parts[2]
		switch {
		case strings.HasPrefix(target, "@") || strings.HasPrefix(target, "#"):
			if label != "" {
				return target[:1] + strings.TrimLeft(label, "@#")
			}
			return target
		case strings.HasPrefix(target, "!"):
			if label != "" {
				return label
			}
			return "@" + strings.TrimPrefix(target, "!")
		case strings.HasPrefix(target, "mailto:") || strings.HasPrefix(target, "tel:"):
			_, address, _ := strings.Cut(target, ":")
			return address
		default:
			return target
		}
	})
	return unescaper.Replace(text)
}

// withoutMention returns a text without the mention of a bot that it begins with.
func withoutMention(text string, bots []string) string {
	trimmed := strings.TrimLeft(text, " ")
	for _, bot := range bots {
		if rest, found := strings.CutPrefix(trimmed, "<@"+bot+">"); found {
			return strings.TrimLeft(rest, " ,:")
		}
	}
	return text
}
