package memstore

import (
	"strings"

	"github.com/botctx/go-sdk/document"
)

// shown returns a value as JSON for an error's text, cut where it is long.
func shown(value any) string {
	const longest = 120
	text, err := document.AppendJSON(nil, value)
	if err != nil {
		return "that has no JSON form"
	}
	if len(text) > longest {
		return strings.ToValidUTF8(string(text[:longest]), "") + "..."
	}
	return string(text)
}
