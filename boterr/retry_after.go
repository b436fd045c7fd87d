package boterr

import (
	"errors"
	"time"
)

// MaxRetryAfter is the longest wait that RetryAfter returns. A service that asks for more is asked again by then.
const MaxRetryAfter = time.Hour

// RetryAfter returns how long the error asks to wait before the next attempt: the result of the method RetryAfter
// of an error in its chain, such as *send.RetryAfterError. It is 0 if there is none, and at most MaxRetryAfter.
func RetryAfter(err error) time.Duration {
	asked, ok := errors.AsType[interface {
		error
		RetryAfter() time.Duration
	}](err)
	if !ok {
		return 0
	}
	return max(0, min(asked.RetryAfter(), MaxRetryAfter))
}
