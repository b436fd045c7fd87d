package boterr

import (
	"errors"
	"time"
)

// maxRetryAfter is the longest wait that RetryAfter tells: who asks for more is asked again meanwhile.
const maxRetryAfter = time.Hour

// RetryAfter returns how long whoever refused something asked to wait before it is tried again, 0 where
// nobody did: what the method RetryAfter of an error in the chain says, such as *send.RetryAfterError has. It
// is at most an hour.
func RetryAfter(err error) time.Duration {
	asked, ok := errors.AsType[interface {
		error
		RetryAfter() time.Duration
	}](err)
	if !ok {
		return 0
	}
	return max(0, min(asked.RetryAfter(), maxRetryAfter))
}
