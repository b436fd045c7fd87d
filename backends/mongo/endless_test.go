package mongo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
)

// A server that never ends its answer is left: the driver reads messages up to a length.
func TestOpen_EndlessAnswer(t *testing.T) {
	t.Parallel()
	for name, filler := range map[string]string{"letters": "a", "zeros": "\x00", "ones": "\xff"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := boundedtest.Serve(t, true, filler, filler)
			_, err := mongo.Open(t.Context(), "mongodb://"+server.Address+"/bots?serverSelectionTimeoutMS=200")
			require.ErrorIs(t, err, boterr.Unavailable)
			server.RequireHungUp(t, 1)
		})
	}
}
