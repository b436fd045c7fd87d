package display

import (
	"regexp"
	"slices"
	"strings"
)

const redacted = "[redacted]"

// Patterns for credentials without a name: the user and the query of a URL, and bearer tokens. A password
// may contain any character except spaces. It ends at the last @, unless a port follows the colon.
var (
	urlUser     = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/?#\s"]+@`)
	urlPassword = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/?#\s"@:\[]*:[0-9]*[^0-9/?#\s"@][^\s"]*@`)
	urlQuery    = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://[^\s"?]+)\?(?:[^\s"']|'+[^\s"',.:;)])+`)
	scheme      = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{6,}`)
)

// Patterns for names of credentials, up to the value. The value of a header extends to the end of the line.
var (
	credential = regexp.MustCompile(`(?i)\b(?:[a-z0-9]+[_-]?)*` +
		`(?:(?:token|secret|password|credential|cookie|jsapi[_-]?ticket)s?(?:[_-]?expiry)?|passwd|pwd|passphrase|admin[_-]?username|` +
		`(?:aes|api|private|access|secret|module|account|signing|shared|encryption)[_-]?key|signature|authorization)` +
		`(?:[_-]?v?[0-9]+)?\\*["']?\s*(?:=>|:=|[:=])\s*`)
	header = regexp.MustCompile(`(?i)(?:authorization|cookie)\\*["']?\s*[:=]\s*$`)
	// word matches an authorization scheme between the name and the credential.
	word = regexp.MustCompile(`(?i)^(?:bearer|basic|token|digest|apikey)\s+`)
)

// Redact removes the credentials that HTTP clients, drivers and platforms are known to show in
// errors: the user and the query of a URL, authorization headers and cookies, and the values of
// names such as accessToken, secret, password and api_key. A value may be an object or a list, in
// JSON or in JSON within a JSON string. Other text is unchanged. It takes linear time.
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

// IsCredential reports whether Redact would remove the value of a name such as accessToken. It is for code that
// redacts values in place of text.
func IsCredential(name string) bool {
	field := `"` + name + `":"x"`
	return Redact(field) != field
}

// Each match of scheme or credential contains one of these substrings in lower case. Searching for them is a hundred
// times faster than the patterns, and most texts contain none. They do not contain s, because the patterns also match
// ſ for it.
var (
	schemes = []string{"bearer", "ba"}
	names   = []string{
		"token", "ecret", "word", "credential", "cookie", "ticket", "wd", "phra", "ername", "key", "ignature", "authorization",
	}
)

// mentions reports whether text contains one of the parts in any case.
func mentions(text string, parts []string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// redactNamed removes the values of named credentials.
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

// valueEnd returns the end of the value at from, whose name starts at name.
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

// countSlashes returns the number of leading backslashes.
func countSlashes(text string) int { return len(text) - len(strings.TrimLeft(text, `\`)) }

// stringEnd returns the end of a JSON string. slashes is the number of backslashes before its quotes: 0 in JSON,
// 1 in JSON within a JSON string, and so on. A quote with more backslashes is part of the string, unless they
// are escaped backslashes.
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

// bracketsEnd returns the end of a list or an object, which may be incomplete.
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

// headerEnd returns the end of a header's value: the end of its line or of the surrounding quotes.
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

// bareEnd returns the end of an unquoted value.
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

// behind returns the index after the next mark, or the end of text.
func behind(text string, from int, mark string) int {
	if at := strings.Index(text[from:], mark); at >= 0 {
		return from + at + len(mark)
	}
	return len(text)
}
