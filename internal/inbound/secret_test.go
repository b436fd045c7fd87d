package inbound_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/inbound"
)

func TestIsSecret(t *testing.T) {
	t.Parallel()
	require.True(t, inbound.IsSecret("secret", "secret"))
	for _, given := range []string{"", "secre", "secrets", "Secret"} {
		require.False(t, inbound.IsSecret("secret", given), given)
	}
	require.False(t, inbound.IsSecret("", ""))
}
