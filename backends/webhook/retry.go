package webhook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// maxAnswerBytes is how much of an answer is read.
const maxAnswerBytes = 1 << 20

// post is a request that may be made several times.
type post struct {
	target  string
	id      string
	body    []byte
	secrets []channel.Secret
}

// answer is what came of one attempt.
type answer struct {
	status int
	body   []byte
	// after is how long the receiver wants to be left alone, 0 where it does not say.
	after time.Duration
	// err is why no answer came, without a code: it is not known what came of the message.
	err error
}

// deliver makes a request until it is answered.
func (c *Connector) deliver(caller context.Context, p post) (send.Delivery, error) {
	ctx, cancel := context.WithTimeout(caller, c.config.Retry.Within)
	defer cancel()
	started := c.config.Now()
	for attempt := 1; ; attempt++ {
		last, err := c.try(ctx, p)
		if err == nil && last.isTaken() {
			return delivery(last.body), nil
		}
		if ended := caller.Err(); ended != nil {
			return send.Delivery{}, ended
		}
		if err != nil {
			return send.Delivery{}, err
		}
		// On top of what the receiver asks for, since it asks all senders for the same.
		wait := last.after + c.config.Retry.wait(attempt)
		if attempt >= c.config.Retry.Attempts || wait >= c.config.Retry.Within-c.config.Now().Sub(started) {
			return send.Delivery{}, last.failure(attempt)
		}
		if !pause(ctx, wait) {
			return send.Delivery{}, cmp.Or(caller.Err(), last.failure(attempt))
		}
	}
}

// try makes a request once. The error is one that another attempt would not change.
func (c *Connector) try(ctx context.Context, p post) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.target, bytes.NewReader(p.body))
	if err != nil {
		return answer{}, boterr.New(boterr.FailedPrecondition, "", "the channel's address cannot be used: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", p.id)
	if err := Sign(req.Header, p.id, c.config.Now(), p.body, p.secrets...); err != nil {
		return answer{}, boterr.New(boterr.FailedPrecondition, "", "the message cannot be signed: %w", err)
	}
	resp, err := c.config.HTTP.Do(req)
	if err != nil {
		return unanswered(err, p.target)
	}
	defer resp.Body.Close()                                  //nolint:errcheck // The body has been read; closing it tells nothing.
	if resp.Request != nil && resp.Request.Response != nil { // A Doer of the host has followed a redirect.
		return answer{}, redirected()
	}
	// The status alone decides: where the rest of the answer breaks off, there is none.
	body, err := bounded.ReadAll(resp.Body, maxAnswerBytes)
	if err != nil {
		body = nil
	}
	after, _ := outbound.RetryAfter(resp.Header, c.config.Now())
	got := answer{status: resp.StatusCode, body: body, after: after}
	if got.isTaken() {
		return got, nil
	}
	return got, refusal(got, p.target)
}

// unanswered tells requests that were refused here, which a retry does not change, from those that
// got no answer.
func unanswered(err error, target string) (answer, error) {
	if _, isRedirect := errors.AsType[*bounded.RedirectError](err); isRedirect {
		return answer{}, redirected()
	}
	switch coded, _ := boterr.AsError(err); {
	case coded == nil, coded.Code == boterr.Unavailable, coded.Code == boterr.Canceled, coded.Code == boterr.Internal:
		return answer{err: errors.New(withoutAddress(err.Error(), target))}, nil
	default:
		return answer{}, boterr.New(boterr.FailedPrecondition, "",
			"the channel's address cannot be used: %s", coded.Message())
	}
}

// redirected is the error of an address that sends requests to another one.
func redirected() error {
	return boterr.New(boterr.FailedPrecondition, "",
		"the channel's address leads elsewhere, and the message did not arrive; give the final address")
}

// isTaken reports whether the receiver has the message.
func (a answer) isTaken() bool { return a.status >= 200 && a.status <= 299 }

// failure is the error after the last attempt.
func (a answer) failure(attempts int) error {
	switch {
	case a.status == http.StatusTooManyRequests && a.after > 0:
		return boterr.New(boterr.ResourceExhausted, "",
			"the receiver takes no more for now, after %d attempts: %w", attempts, &send.RetryAfterError{After: a.after})
	case a.status == http.StatusTooManyRequests:
		return boterr.New(boterr.ResourceExhausted, "", "the receiver takes no more for now, after %d attempts: try again later", attempts)
	case a.err != nil:
		return fmt.Errorf("no answer after %d attempts: %w", attempts, a.err)
	default:
		return fmt.Errorf("no answer after %d attempts: the last had status %d", attempts, a.status)
	}
}

// wait returns a random time before the attempt after the given one.
func (r Retry) wait(attempt int) time.Duration {
	most := r.First
	for range attempt - 1 {
		if most >= r.Longest {
			break
		}
		most *= 2
	}
	return rand.N(min(most, r.Longest) + 1) //nolint:gosec // It spreads load; nobody gains by guessing it.
}

// pause waits, and reports whether the context lasted so long. The wait does not count as time of the call.
func pause(ctx context.Context, wait time.Duration) bool {
	call := timelimit.Of(ctx)
	call.Pause()
	defer call.Restart()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
