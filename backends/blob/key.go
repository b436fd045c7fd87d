package blob

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
)

// maxKeySize is the number of bytes that all large object stores allow.
const maxKeySize = 1024

// checkKey refuses keys that a store would take for another one: in a folder, "a//b" and
// "a/./b" are "a/b". All others stay what they are.
func checkKey(key string) error {
	segments := strings.Split(key, "/")
	switch {
	case key == "":
		return boterr.Invalid("filename", "is required")
	case len(key) > maxKeySize:
		return boterr.Invalid("filename", "must be shorter: with app and channel it has %d bytes, and %d is the most",
			len(key), maxKeySize)
	case !utf8.ValidString(key) || strings.ContainsRune(key, 0):
		return boterr.Invalid("filename", "must be UTF-8 text without NUL")
	case slices.ContainsFunc(segments, func(s string) bool { return s == "" || s == "." || s == ".." }):
		return boterr.Invalid("filename",
			"must have names between its slashes, and neither begin nor end with one; \".\" and \"..\" are none")
	}
	return nil
}
