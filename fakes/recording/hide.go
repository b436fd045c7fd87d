package recording

import (
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
)

// redacted stands in the place of a credential, as display.Redact has it.
const redacted = "[redacted]"

// hider takes credentials out of values.
type hider struct{ secrets []string }

// value returns a value of a document without credentials.
func (h hider) value(value any) any {
	switch value := value.(type) {
	case string:
		return h.text(value)
	case document.Object:
		hidden := document.O()
		for name, field := range value.All() {
			if display.IsCredential(name) && field != nil {
				hidden = hidden.With(h.own(name), redacted)
			} else {
				hidden = hidden.With(h.own(name), h.value(field))
			}
		}
		return hidden
	case document.Array:
		var items []any
		for _, item := range value.All() {
			items = append(items, h.value(item))
		}
		return document.ArrayOf(items)
	default:
		return value
	}
}

// text returns a text without credentials.
func (h hider) text(text string) string { return display.Redact(h.own(text)) }

// own returns a text without the hider's own secrets.
func (h hider) own(text string) string {
	for _, secret := range h.secrets {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	return text
}
