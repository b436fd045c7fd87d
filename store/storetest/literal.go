package storetest

import (
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/document"
)

// literals returns documents as texts that are equal where the documents are the
// same to the letter.
func literals(documents []document.Object) []string {
	texts := make([]string, 0, len(documents))
	for _, o := range documents {
		texts = append(texts, literal(o))
	}
	return texts
}

// literal returns a value as a text that shows what JSON does not: 1.0 beside 1,
// and times beside strings.
func literal(value any) string {
	switch v := value.(type) {
	case string:
		return strconv.Quote(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return "double(" + strconv.FormatFloat(v, 'g', -1, 64) + ")"
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return "date(" + v.Format(time.RFC3339Nano) + ")"
	case document.Array:
		return arrayLiteral(v)
	case document.Object:
		return objectLiteral(v)
	default:
		return "null"
	}
}

func arrayLiteral(a document.Array) string {
	texts := make([]string, 0, a.Len())
	for _, item := range a.All() {
		texts = append(texts, literal(item))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func objectLiteral(o document.Object) string {
	if o.IsZero() {
		return "absent"
	}
	texts := make([]string, 0, o.Len())
	for key, value := range o.All() {
		texts = append(texts, strconv.Quote(key)+": "+literal(value))
	}
	return "{" + strings.Join(texts, ", ") + "}"
}
