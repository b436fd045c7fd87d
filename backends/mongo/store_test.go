package mongo_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/boterr"
)

func TestOpen_RefusesBadAddress(t *testing.T) {
	t.Parallel()
	for name, uri := range map[string]string{
		"empty":       "",
		"no scheme":   "localhost:27017",
		"no database": "mongodb://localhost:27017/",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := mongo.Open(t.Context(), uri)
			require.ErrorIs(t, err, boterr.InvalidArgument)
		})
	}
}

func TestOpen_ShowsNoPassword(t *testing.T) {
	t.Parallel()
	_, err := mongo.Open(t.Context(), "mongodb://bot:s3cret@localhost:x/bots")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "s3cret")
}

func TestOpen_ServerDoesNotAnswer(t *testing.T) {
	t.Parallel()
	_, err := mongo.Open(t.Context(), "mongodb://127.0.0.1:1/bots?serverSelectionTimeoutMS=50&connectTimeoutMS=50")
	require.ErrorIs(t, err, boterr.Unavailable)
}
