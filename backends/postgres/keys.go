package postgres

import (
	"bytes"
	"crypto/sha256"

	"github.com/botctx/go-sdk/internal/query"
)

const (
	// longestKey is the most bytes of a key that is kept whole: an entry of an index of the server has up to 2,700 bytes.
	longestKey = 1000
	// sumSize is the number of bytes of the hash that replaces the rest of a longer key.
	sumSize = sha256.Size
)

// cutKey returns a key as it is kept. Different keys are kept differently.
func cutKey(key []byte) []byte {
	if len(key) <= longestKey {
		return key
	}
	sum := sha256.Sum256(key)
	return append(bytes.Clone(key[:longestKey]), sum[:]...)
}

// cutRange returns a range of kept keys: all whose whole keys are in a range, and perhaps others.
func cutRange(r query.KeyRange) query.KeyRange {
	if len(r.From) > longestKey {
		r.From = r.From[:longestKey]
	}
	if len(r.To) > longestKey {
		r.To = append(bytes.Clone(r.To[:longestKey]), top[longestKey:]...)
	}
	return r
}
