package script_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/script"
)

func TestNew_RefusesNilModules(t *testing.T) {
	t.Parallel()
	_, err := script.New(script.Options{Modules: (*fstest.MapFS)(nil)})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, "Modules: is a nil *fstest.MapFS")
}
