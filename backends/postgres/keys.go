package postgres

import (
	"bytes"
	"crypto/sha256"

	"github.com/botctx/go-sdk/internal/query"
)

const (
	// longestKey is the longest key that is stored unchanged, in bytes. PostgreSQL limits an index entry to
	// about 2,700 bytes.
	longestKey = 1000
	// sumSize is the size of the hash that replaces the rest of a longer key.
	sumSize = sha256.Size
)

// cutKey returns the stored form of a key. Different keys have different stored forms.
func cutKey(key []byte) []byte {
	if len(key) <= longestKey {
		return key
	}
	sum := sha256.Sum256(key)
	return append(bytes.Clone(key[:longestKey]), sum[:]...)
}

// cutRange returns a range of stored keys that includes every key in r. It may include others.
func cutRange(r query.KeyRange) query.KeyRange {
	if len(r.From) > longestKey {
		r.From = r.From[:longestKey]
	}
	if len(r.To) > longestKey {
		r.To = append(bytes.Clone(r.To[:longestKey]), top[longestKey:]...)
	}
	return r
}
