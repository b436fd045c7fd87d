package outbound_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/outbound"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for given, want := range map[string]time.Duration{
		"7":                                7 * time.Second,
		"0":                                0,
		"Sun, 01 Mar 2026 12:00:07 GMT":    7 * time.Second,
		"Sunday, 01-Mar-26 12:00:07 GMT":   7 * time.Second,
		"Sun Mar  1 12:00:07 2026":         7 * time.Second,
		"Sun, 01 Mar 2026 11:59:59 GMT":    0,
		"3601":                             time.Hour,
		"4294967295":                       time.Hour,
		"99999999999999999999999999999999": time.Hour,
		"Fri, 31 Dec 9999 23:59:59 GMT":    time.Hour,
	} {
		wait, asks := outbound.RetryAfter(http.Header{"Retry-After": {given}}, now)
		require.True(t, asks, given)
		require.Equal(t, want, wait, given)
	}
	for _, given := range []string{"", "-5", "+5", "1.5", "soon", "7 s"} {
		wait, asks := outbound.RetryAfter(http.Header{"Retry-After": {given}}, now)
		require.False(t, asks, given)
		require.Zero(t, wait, given)
	}
	_, asks := outbound.RetryAfter(nil, now)
	require.False(t, asks)
}
