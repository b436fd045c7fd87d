package charlie

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers by which the tool signs its requests.
const (
	headerSignature = "X-Slack-Signature"
	headerTimestamp = "X-Slack-Request-Timestamp"
)

// tolerance is how far the time of a request may be from the clock.
const tolerance = 5 * time.Minute

// isPresent reports whether the headers of a request give a time that is not further from
// now than the tolerance.
func isPresent(header http.Header, now time.Time) bool {
	seconds, err := strconv.ParseInt(header.Get(headerTimestamp), 10, 64)
	return err == nil && now.Sub(time.Unix(seconds, 0)).Abs() <= tolerance
}

// isSigned reports whether a request was signed with the secret, not longer ago than the
// tolerance. An empty secret signs nothing.
func isSigned(header http.Header, body []byte, secret string, now time.Time) bool {
	if secret == "" || !isPresent(header, now) {
		return false
	}
	timestamp := header.Get(headerTimestamp)
	given, isVersion := strings.CutPrefix(header.Get(headerSignature), "v0=")
	signature, err := hex.DecodeString(given)
	if err != nil || !isVersion {
		return false
	}
	sum := hmac.New(sha256.New, []byte(secret))
	_, _ = sum.Write([]byte("v0:" + timestamp + ":")) // A hash takes all that it is given.
	_, _ = sum.Write(body)
	return hmac.Equal(sum.Sum(nil), signature)
}
