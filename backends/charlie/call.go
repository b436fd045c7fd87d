package charlie

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/slack-go/slack"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/send"
)

// defaultRetryAfter is the wait where the tool limits the rate and does not say for how long.
const defaultRetryAfter = time.Second

// call asks something of the API and returns its reply. It repeats only what the tool
// refused because of the rate.
func (c *Connector) call(
	ctx context.Context, in *channel.Channel, ask func(context.Context, *slack.Client) error,
) (document.Object, error) {
	token, err := tokenOf(in)
	if err != nil {
		return document.Object{}, err
	}
	api := c.clients.of(token)
	for waits := 0; ; waits++ {
		reply, err := c.attempt(ctx, api, ask)
		limited, isLimited := errors.AsType[*slack.RateLimitedError](err)
		switch {
		case err == nil:
			return reply, nil
		case ctx.Err() != nil:
			return document.Object{}, ctx.Err()
		case !isLimited:
			return document.Object{}, withoutSecret(err, token)
		case waits == c.config.MaxWaits || limited.RetryAfter > c.config.MaxWait:
			return document.Object{}, boterr.New(boterr.ResourceExhausted, "",
				"the workspace chat tool limits the rate of requests: %w", &send.RetryAfterError{After: limited.RetryAfter})
		}
		if err := wait(ctx, limited.RetryAfter); err != nil {
			return document.Object{}, err
		}
	}
}

// attempt asks once. What the tool answered counts, also where the library cannot read all
// of it.
func (c *Connector) attempt(
	ctx context.Context, api *slack.Client, ask func(context.Context, *slack.Client) error,
) (document.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	var answer recording
	err := ask(recorded(ctx, &answer), api)
	if answer.status == http.StatusTooManyRequests {
		return document.Object{}, err
	}
	reply := answer.reply()
	ok, _ := reply.Field("ok")
	isOK, told := ok.(bool)
	switch {
	case isOK && answer.status == http.StatusOK:
		return reply, nil
	case told && !isOK:
		return document.Object{}, refusal(reply)
	case err == nil:
		return document.Object{}, errors.New("the workspace chat tool gave an answer that cannot be read")
	default:
		return document.Object{}, err
	}
}

// wait waits, or returns the error of a context that ended. The wait does not count as time of the call.
func wait(ctx context.Context, d time.Duration) error {
	call := timelimit.Of(ctx)
	call.Pause()
	defer call.Restart()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
