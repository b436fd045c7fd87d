package mongo

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxName is the length of a collection's name in bytes. With the longest name of a
// database it is within the 255 bytes that MongoDB has for both.
const maxName = 190

// escapes are the characters that MongoDB has no place for, and the one that marks them.
var escapes = strings.NewReplacer("%", "%25", "$", "%24")

// storedName returns the name that a collection has on the server. It is the same but
// for "$", for a dot at the beginning and for "%"; the end of one that is too long is
// replaced by a hash of the whole.
func storedName(name string) string {
	stored := escapes.Replace(name)
	if strings.HasPrefix(stored, ".") {
		stored = "%2E" + stored[1:]
	}
	return shortened(stored, maxName)
}

// shortened replaces the end of a name that is too long by a hash of the whole.
func shortened(name string, longest int) string {
	if len(name) <= longest {
		return name
	}
	hash := sha256.Sum256([]byte(name))
	end := "%h" + hex.EncodeToString(hash[:])
	return strings.ToValidUTF8(name[:longest-len(end)], "") + end
}
