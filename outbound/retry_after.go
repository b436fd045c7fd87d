package outbound

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// RetryAfter returns how long an answer asks to wait before the next request: its header Retry-After, a number of
// seconds or a date, which is compared with now. The wait is at most boterr.MaxRetryAfter, and 0 for a date that is past.
// asks is false if there is no such header, or if it cannot be read; the wait is 0 then. A connector passes the wait
// on in a *send.RetryAfterError.
func RetryAfter(header http.Header, now time.Time) (wait time.Duration, asks bool) {
	value := header.Get("Retry-After")
	seconds, err := strconv.ParseUint(value, 10, 32)
	if err == nil || errors.Is(err, strconv.ErrRange) { // ParseUint returns the largest number for a larger one.
		return min(time.Duration(seconds)*time.Second, boterr.MaxRetryAfter), true
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), boterr.MaxRetryAfter), true
	}
	return 0, false
}
