package botctx_test

import (
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/record"
)

// strictly makes a platform refuse what it would ignore.
func strictly() fakes.Option {
	return fakes.Config(func(c *botctx.Config) { c.Strict = true })
}

// interceptedBy gives a platform interceptors.
func interceptedBy(interceptors ...botctx.Interceptor) fakes.Option {
	return fakes.Config(func(c *botctx.Config) { c.Interceptors = interceptors })
}

// overriddenBy gives a platform a host's own parts.
func overriddenBy(parts func(scope record.Scope, own botctx.Services) botctx.Services) fakes.Option {
	return fakes.Config(func(c *botctx.Config) { c.Override = parts })
}
