package inbound

import (
	"crypto/sha256"
	"crypto/subtle"
)

// IsSecret reports whether given equals secret, in constant time. It is false if secret is empty.
func IsSecret(secret, given string) bool {
	own, other := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(given))
	return secret != "" && subtle.ConstantTimeCompare(own[:], other[:]) == 1
}
