package boterr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
)

func TestIsCredential_ByItsName(t *testing.T) {
	t.Parallel()
	for name, is := range map[string]bool{
		"accessToken": true, "api_key": true, "password": true, "shop.signingSecret": true, "Authorization": true,
		"": false, "text": false, "keyword": false, "a\"b": false,
	} {
		require.Equal(t, is, boterr.IsCredential(name), name)
	}
}
