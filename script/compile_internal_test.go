package script

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
)

func TestCompile_EndsInTime(t *testing.T) {
	t.Parallel()
	engine, err := New(Options{})
	require.NoError(t, err)
	engine.patience = -time.Second
	_, err = engine.Compile("slow.js", strings.Repeat("a;", 100_000))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, "slow.js: invalid argument: takes longer than")
}
