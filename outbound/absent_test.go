package outbound_test

import (
	"net"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

func TestNew_RefusesNilPointers(t *testing.T) {
	t.Parallel()
	for field, config := range map[string]outbound.Config{
		"resolver": {Resolver: (*net.Resolver)(nil)}, "transport": {Transport: (*http.Transport)(nil)},
	} {
		_, err := outbound.New(config)
		requireCode(t, err, boterr.InvalidArgument, field)
		require.ErrorContains(t, err, "is a nil *")
	}
}
