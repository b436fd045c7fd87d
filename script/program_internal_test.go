package script

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/script/internal/quickjs"
)

func TestUnreadable_TakesTooLong(t *testing.T) {
	t.Parallel()
	err := unreadable("long.js", scriptHead, &quickjs.EndedError{Cause: quickjs.ErrBusy})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.EqualError(t, err, "long.js: invalid argument: takes too long to be read: make it simpler")
}
