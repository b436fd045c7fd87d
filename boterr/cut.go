package boterr

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// maxArgumentLength is how many bytes of a text a sentence repeats.
const maxArgumentLength = 500

// cutLong returns the arguments of a sentence with long texts cut, such as ids: callers may give
// any length, and an error is for readers. What a cut could hide from Redact is redacted before.
func cutLong(args []any) []any {
	var cut []any
	for i, arg := range args {
		text := textOf(arg)
		if len(text) <= maxArgumentLength {
			continue
		}
		if cut == nil {
			cut = slices.Clone(args)
		}
		text = Redact(text)
		cut[i] = strings.ToValidUTF8(text[:min(maxArgumentLength, len(text))], "") + "..."
	}
	if cut == nil {
		return args
	}
	return cut
}

// textOf returns an argument that is a text, and "" for one that is none or prints itself in
// a way of its own, as errors and secrets do.
func textOf(arg any) string {
	switch arg.(type) {
	case error, fmt.Stringer, fmt.Formatter:
		return ""
	}
	if value := reflect.ValueOf(arg); value.Kind() == reflect.String {
		return value.String()
	}
	return ""
}
