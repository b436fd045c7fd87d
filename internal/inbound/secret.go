package inbound

import (
	"crypto/sha256"
	"crypto/subtle"
)

// IsSecret reports whether a request gives a secret, in constant time. An empty secret is never given.
func IsSecret(secret, given string) bool {
	own, other := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(given))
	return secret != "" && subtle.ConstantTimeCompare(own[:], other[:]) == 1
}
