// Package redact removes credentials from records before pages show them.
package redact

import (
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
)

// Object returns o with credentials redacted: the values of fields named like a credential, and credentials within texts.
func Object(o document.Object) document.Object {
	shown := document.NewBuilder(o.Len())
	for name, value := range o.All() {
		shown.Set(name, redactedValue(name, value))
	}
	return shown.Object()
}

func redactedValue(name string, value any) any {
	if display.IsCredential(name) && value != nil && value != "" {
		return "[redacted]"
	}
	switch v := value.(type) {
	case string:
		return display.Redact(v)
	case document.Object:
		return Object(v)
	case document.Array:
		shown := make([]any, 0, v.Len())
		for _, item := range v.All() {
			shown = append(shown, redactedValue("", item))
		}
		return document.ArrayOf(shown)
	default:
		return value
	}
}
