package connectortest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

// New returns a connector with a valid configuration. create is usually New of a connector.
func New[Config, Connector any](t *testing.T, create func(Config) (Connector, error), config Config) Connector {
	t.Helper()
	connector, err := create(config)
	require.NoError(t, err)
	return connector
}

// Serve serves a handler until the test ends, and returns the address.
func Serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// Routed serves a handler at a pattern with wildcards.
func Routed(pattern string, handler http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(pattern, handler)
	return mux
}

// Known returns a function for look-ups that knows these channels, by the platform's ids of their accounts.
func Known(channels map[string]*channel.Channel) func(context.Context, string) (*channel.Channel, error) {
	return func(_ context.Context, account string) (*channel.Channel, error) {
		if in, isKnown := channels[account]; isKnown {
			return in, nil
		}
		return nil, boterr.New(boterr.NotFound, "", "there is no account %s", account)
	}
}
