package boterr

import "regexp"

// redacted stands in the place of a credential.
const redacted = "[redacted]"

// Credentials as the errors of clients show them: the user part and the query
// of a URL, an authorization header, and a key beside its value.
var (
	urlUser       = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s"'@]+@`)
	urlQuery      = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://[^\s"'?]+)\?[^\s"']+`)
	authorization = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{6,}`)
	keyValue      = regexp.MustCompile(
		`(?i)\b((?:[a-z]+[_-]?)*(?:token|secret|password|api[_-]?key|signature)["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s"',;&]+)`)
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
