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

// isSigned reports whether a request was signed with the secret, not longer ago than the
// tolerance. An empty secret signs nothing.
func isSigned(header http.Header, body []byte, secret string, now time.Time) bool {
	timestamp := header.Get(headerTimestamp)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || secret == "" || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
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
