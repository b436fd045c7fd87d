package boterr

import "regexp"

// redacted stands in the place of a credential.
const redacted = "[redacted]"

// Values in JSON, and those in JSON within it. What was cut off in the middle goes to the end.
const (
	quoted = `"(?:[^"\\]|\\.)*"?`
	nested = `\\"(?:[^"\\]|\\\\(?:\\.|[^"\\]))*(?:\\")?|\\+"[^"]*"?`
	list   = `\[(?:[^"\]]|` + quoted + `)*\]?`
)

// Credentials as the errors of clients show them: the user part and the query
// of a URL, an authorization header, and a key beside its value, which may be JSON.
var (
	urlUser       = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s"@]+@`)
	urlQuery      = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://[^\s"?]+)\?(?:[^\s"']|'+[^\s"',.:;)])+`)
	authorization = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{6,}`)
	keyValue      = regexp.MustCompile(
		`(?i)\b((?:[a-z]+[_-]?)*(?:(?:token|secret|password|credential)s?|passwd|pwd|api[_-]?key|signature)` +
			`\\*["']?\s*[:=]\s*)(` + list + `|` + quoted + `|` + nested + `|'[^']*'|[^\s"',;&]+)`)
)

// Redact returns text with the credentials taken out that errors of HTTP
// clients, drivers and platforms are known to show: the user part and the query
// of a URL, authorization headers, and values beside names such as accessToken,
// secret, password and api_key.
func Redact(text string) string {
	text = urlUser.ReplaceAllString(text, "${1}"+redacted+"@")
	text = urlQuery.ReplaceAllString(text, "${1}?"+redacted)
	text = authorization.ReplaceAllString(text, "${1} "+redacted)
	return keyValue.ReplaceAllString(text, "${1}"+redacted)
}
