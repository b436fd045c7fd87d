package golf

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v84"

	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

const (
	// maxWait is the longest wait for a provider that says when to come again. If it asks for more, the caller gets
	// the error at once, with the wait in it.
	maxWait = 5 * time.Second
	// firstWait is the longest wait before the second request for a provider that does not say; it doubles once.
	firstWait = 500 * time.Millisecond
)

// waitKey is the key of a context for what the last answer asked for.
type waitKey struct{}

// listener is a transport that notes how long an answer asks to wait, which the library does not pass on.
type listener struct {
	next http.RoundTripper
	now  func() time.Time
}

// RoundTrip implements http.RoundTripper.
func (l *listener) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := l.next.RoundTrip(request)
	if into, isNoted := request.Context().Value(waitKey{}).(*time.Duration); isNoted && err == nil {
		*into, _ = outbound.RetryAfter(answer.Header, l.now())
	}
	return answer, err
}

// CloseIdleConnections passes the call on, as http.Client expects of a transport.
func (l *listener) CloseIdleConnections() {
	if idle, ok := l.next.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}

// try makes a request, and repeats it as often as Config.MaxRetries allows while the provider does not do what it
// asks for. Its error is the library's, or that of ctx; if the provider said when to come again, a
// *send.RetryAfterError is beside it.
func try[Made any](ctx context.Context, c *Client, request func(ctx context.Context) (Made, error)) (Made, error) {
	for attempt := 0; ; attempt++ {
		var after time.Duration
		made, err := request(context.WithValue(ctx, waitKey{}, &after))
		if err == nil {
			return made, nil
		}
		if after > 0 {
			err = errors.Join(err, &send.RetryAfterError{After: after})
		}
		if attempt == c.retries() || after > maxWait || !mayPass(err) || !pause(ctx, after+backoff(attempt)) {
			return made, err
		}
	}
}

// retries is how often a request is repeated.
func (c *Client) retries() int {
	if c.config.MaxRetries != nil {
		return *c.config.MaxRetries
	}
	return int(stripe.DefaultMaxNetworkRetries)
}

// mayPass reports whether a request that ended in an error may succeed if it is made again: the provider did not
// answer, or another request held a lock.
func mayPass(err error) bool {
	if _, isRedirect := errors.AsType[*bounded.RedirectError](err); isRedirect {
		return false
	}
	failed, isAnswer := errors.AsType[*stripe.Error](err)
	return !isAnswer || failed.Code == stripe.ErrorCodeLockTimeout
}

// backoff returns a random time before the attempt after the given one.
func backoff(attempt int) time.Duration {
	return rand.N(firstWait << min(attempt, 1)) //nolint:gosec // It spreads load; nobody gains by guessing it.
}

// pause waits, and reports whether the context lasted so long.
func pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
