package webhook_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/boterr"
)

func TestNew_RefusesANilClient(t *testing.T) {
	t.Parallel()
	_, err := webhook.New(webhook.Config{HTTP: (*http.Client)(nil)})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, "HTTP: is a nil *http.Client")
}
