package outbound

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// timeLimitError is the cause of a context that a client's own time limit ended.
type timeLimitError time.Duration

// Error says how long the limit was.
func (t timeLimitError) Error() string { return "no answer within " + time.Duration(t).String() }

// failure gives the error of an exchange with a host its code: Canceled if ctx
// ended, Unavailable if that was the client's own time limit, the code that err
// has, and else Unavailable.
func failure(ctx context.Context, host string, err error) error {
	cause := context.Cause(ctx)
	if limit, ok := errors.AsType[timeLimitError](cause); ok {
		return boterr.New(boterr.Unavailable, "", "the exchange with %s failed: %w", host, limit)
	}
	if cause != nil {
		return boterr.New(boterr.Canceled, "", "the exchange with %s was ended: %w", host, cause)
	}
	if coded, ok := boterr.AsError(err); ok {
		return coded
	}
	// The text of a *url.Error shows the URL; its cause does not.
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	return boterr.New(boterr.Unavailable, "", "the exchange with %s failed: %w", host, err)
}
