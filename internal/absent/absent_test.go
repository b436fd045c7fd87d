package absent_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/absent"
)

func TestCheck_RefusesInterfacesThatHoldNil(t *testing.T) {
	t.Parallel()
	for _, hollow := range []http.Handler{(*http.ServeMux)(nil), http.HandlerFunc(nil)} {
		require.True(t, absent.Is(hollow))
		err := absent.Check("Handler", hollow)
		e, _ := boterr.AsError(err)
		require.NotNil(t, e)
		require.Equal(t, boterr.InvalidArgument, e.Code)
		require.Equal(t, "Handler", e.Field)
		require.ErrorContains(t, err, "is a nil ")
	}
	require.True(t, absent.Is(nil))
	require.NoError(t, absent.Check("Handler", nil))
	require.NoError(t, absent.Check("Handler", http.NewServeMux()))
	require.NoError(t, absent.Check("Header", http.Header(nil)), "a nil map can be read")
	require.False(t, absent.Is(http.Header(nil)))
}
