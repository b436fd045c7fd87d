package display

import (
	"regexp"
	"slices"
	"strings"
)

// redacted stands in the place of a credential.
const redacted = "[redacted]"

// Credentials that a pattern alone finds, as the errors of clients show them. A password may
// hold any character that is no space: it ends at the last @, unless what is behind the colon
// is a port.
var (
	urlUser     = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/?#\s"]+@`)
	urlPassword = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/?#\s"@:\[]*:[0-9]*[^0-9/?#\s"@][^\s"]*@`)
	urlQuery    = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://[^\s"?]+)\?(?:[^\s"']|'+[^\s"',.:;)])+`)
	scheme      = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{6,}`)
)

// The names beside which credentials stand, with what is between name and value. The value of
// a header goes to the end of its line.
var (
	credential = regexp.MustCompile(`(?i)\b(?:[a-z0-9]+[_-]?)*` +
		`(?:(?:token|secret|password|credential|cookie|jsapi[_-]?ticket)s?(?:[_-]?expiry)?|passwd|pwd|passphrase|admin[_-]?username|` +
		`(?:api|private|access|secret|module|account|signing|shared|encryption)[_-]?key|signature|authorization)` +
		`(?:[_-]?v?[0-9]+)?\\*["']?\s*(?:=>|:=|[:=])\s*`)
	header = regexp.MustCompile(`(?i)(?:authorization|cookie)\\*["']?\s*[:=]\s*$`)
	// word is what may stand between a name and the credential itself.
	word = regexp.MustCompile(`(?i)^(?:bearer|basic|token|digest|apikey)\s+`)
)

// Redact returns text with the credentials taken out that errors of HTTP clients, drivers and
// platforms are known to show: the user part and the query of a URL, authorization headers and
// cookies, and values beside names such as accessToken, secret, password and api_key, which may
// be objects and lists, in JSON and in JSON within it. Other text stays as it is. It takes time
// that is linear in the text.
func Redact(text string) string {
	if strings.Contains(text, "://") {
		text = urlPassword.ReplaceAllString(text, "${1}"+redacted+"@")
		text = urlUser.ReplaceAllString(text, "${1}"+redacted+"@")
		text = urlQuery.ReplaceAllString(text, "${1}?"+redacted)
	}
	if mentions(text, schemes) {
		text = scheme.ReplaceAllString(text, "${1} "+redacted)
	}
	if mentions(text, names) {
		text = redactNamed(text)
	}
	return text
}

// IsCredential reports whether Redact takes out what stands beside a name, such as accessToken. It is for code
// that redacts values, not text.
func IsCredential(name string) bool {
	field := `"` + name + `":"x"`
	return Redact(field) != field
}

// Parts of words of which scheme and credential match at least one, in small letters. They are
// looked for first, because most texts have none, and the patterns take a hundred times as long.
// None has an s, which to a pattern is also the ſ that has no other small letter.
var (
	schemes = []string{"bearer", "ba"}
	names   = []string{
		"token", "ecret", "word", "credential", "cookie", "ticket", "wd", "phra", "ername", "key", "ignature", "authorization",
	}
)

// mentions reports whether a text has one of the parts, in letters of either case.
func mentions(text string, parts []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// redactNamed takes out the values beside names.
func redactNamed(text string) string {
	var kept strings.Builder
	for {
		found := credential.FindStringIndex(text)
		if found == nil {
			kept.WriteString(text)
			return kept.String()
		}
		kept.WriteString(text[:found[1]])
		end := valueEnd(text, found[0], found[1])
		if end > found[1] {
			kept.WriteString(redacted)
		}
		text = text[end:]
	}
}

// valueEnd returns where the value ends that begins at from, behind a name that begins at name.
func valueEnd(text string, name, from int) int {
	quote := from + countSlashes(text[from:])
	switch {
	case quote < len(text) && text[quote] == '"':
		return stringEnd(text, quote+1, quote-from)
	case from < len(text) && text[from] == '\'':
		return behind(text, from+1, "'")
	case from < len(text) && (text[from] == '[' || text[from] == '{'):
		return bracketsEnd(text, from)
	case header.MatchString(text[name:from]):
		return headerEnd(text, name, from)
	default:
		from += len(word.FindString(text[from:min(from+32, len(text))]))
		return bareEnd(text, from)
	}
}

// countSlashes returns the number of backslashes at the beginning.
func countSlashes(text string) int { return len(text) - len(strings.TrimLeft(text, `\`)) }

// stringEnd returns the end of a string in JSON whose quotes stand behind so many backslashes:
// 0 in JSON, 1 in JSON within it, and so on. More of them before a quote are in the string, but
// for those that stand for backslashes themselves.
func stringEnd(text string, from, slashes int) int {
	for i := from; i < len(text); i++ {
		run := 0
		for ; i < len(text) && text[i] == '\\'; i++ {
			run++
		}
		if i < len(text) && text[i] == '"' && run >= slashes && (run-slashes)%(2*(slashes+1)) == 0 {
			return i + 1
		}
	}
	return len(text)
}

// bracketsEnd returns the end of a list or an object, or of what was cut off of it.
func bracketsEnd(text string, from int) int {
	depth, run := 0, 0
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '\\':
			run++
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '"':
			i = stringEnd(text, i+1, run) - 1
		}
		run = 0
		if depth == 0 {
			return i + 1
		}
	}
	return len(text)
}

// headerEnd returns the end of a header: that of its line, or of the quotes around it.
func headerEnd(text string, name, from int) int {
	ends := "\r\n"
	if name > 0 && (text[name-1] == '"' || text[name-1] == '\'') {
		ends += text[name-1 : name]
	}
	if end := strings.IndexAny(text[from:], ends); end >= 0 {
		return from + end
	}
	return len(text)
}

// bareEnd returns the end of a value without quotes.
func bareEnd(text string, from int) int {
	for i := from; i < len(text); i++ {
		switch text[i] {
		case '[', '{':
			i = bracketsEnd(text, i) - 1
		case ' ', '\t', '\n', '\r', '\v', '\f', '"', '\'', ',', ';', '&', ']', '}':
			if text[i] != '&' || i > from {
				return i
			}
		}
	}
	return len(text)
}

// behind returns the index behind the first of a mark, or the end.
func behind(text string, from int, mark string) int {
	if at := strings.Index(text[from:], mark); at >= 0 {
		return from + at + len(mark)
	}
	return len(text)
}
