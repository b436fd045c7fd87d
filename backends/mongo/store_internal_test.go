package mongo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func TestTimeout_UnlessInTheAddress(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]time.Duration{
		"mongodb://localhost/bots":                DefaultTimeout,
		"mongodb://localhost/bots?timeoutMS=1500": 1500 * time.Millisecond,
		"mongodb://localhost/bots?timeoutMS=0":    0,
	} {
		require.Equal(t, want, *clientOptions(uri).Timeout, uri)
	}
	more := options.Client().SetTimeout(time.Minute)
	require.Equal(t, time.Minute, *options.MergeClientOptions(clientOptions("mongodb://localhost/bots"), more).Timeout)
}
