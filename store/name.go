package store

import (
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
)

// MaxName is the maximum length of a collection's name in bytes.
const MaxName = 200

// CheckName returns InvalidArgument for an invalid name of a collection.
func CheckName(name string) error {
	const field = "collection"
	switch {
	case name == "":
		return boterr.Invalid(field, "the name is empty")
	case len(name) > MaxName:
		return boterr.Invalid(field, "the name has %d bytes; shorten it to at most %d", len(name), MaxName)
	case !utf8.ValidString(name), strings.ContainsRune(name, 0):
		return boterr.Invalid(field, "the name %q must be UTF-8 without NUL", name)
	case strings.HasPrefix(name, "system."):
		return boterr.Invalid(field, `the name %q begins with "system.", which is reserved`, name)
	default:
		return nil
	}
}
