package postgres

import (
	"bytes"
	"crypto/sha256"

	"github.com/botctx/go-sdk/internal/query"
)

const (
	// longestKey is the maximum size in bytes of a key that is stored unchanged: an index entry of the server
	// has up to 2,700 bytes.
	longestKey = 1000
	// sumSize is the number of bytes of the hash that replaces the rest of a longer key.
	sumSize = sha256.Size
)

// cutKey returns a key as it is stored. Different keys stay different.
func cutKey(key []byte) []byte {
	if len(key) <= longestKey {
		return key
	}
	sum := sha256.Sum256(key)
	return append(bytes.Clone(key[:longestKey]), sum[:]...)
}

// cutRange returns a range of stored keys that includes every key of r, and perhaps others.
func cutRange(r query.KeyRange) query.KeyRange {
	if len(r.From) > longestKey {
		r.From = r.From[:longestKey]
	}
	if len(r.To) > longestKey {
		r.To = append(bytes.Clone(r.To[:longestKey]), top[longestKey:]...)
	}
	return r
}
