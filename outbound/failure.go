package outbound

import (
	"context"
	"errors"
	"fmt"
	"net"
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
	return boterr.New(boterr.Unavailable, "", "the exchange with %s failed: %w", host, withoutAddresses(err))
}

// withoutAddresses returns what went wrong, for bot logic to read: without the URL, which
// it knows, and without the addresses and ports of the host's own network and resolver,
// which are not its business.
func withoutAddresses(err error) error {
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		return withoutServer(lookup)
	}
	if exchange, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%s: %w", exchange.Op, exchange.Err)
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return outer.Err
	}
	return err
}

// withoutServer returns the error of a look-up of a name without the resolver that was
// asked, which its text may hold twice.
func withoutServer(lookup *net.DNSError) error {
	told := &net.DNSError{
		Err: "the resolver did not answer", Name: lookup.Name,
		IsTimeout: lookup.IsTimeout, IsTemporary: lookup.IsTemporary, IsNotFound: lookup.IsNotFound,
	}
	if lookup.IsNotFound {
		told.Err = "no such host"
	}
	return told
}
