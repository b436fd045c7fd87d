package sqlite_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/boterr"
)

// SQLite's lock keeps other programs from removing the log of an open file. Linux releases ordinary locks as
// soon as anything in the process closes the file.
func TestOpen_KeepsItsLock(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	put(t, open(t, path), "a", 1)
	_, err := sqlite.Open(path, sqlite.WithLockWait(0))
	require.ErrorIs(t, err, boterr.FailedPrecondition)

	// F_OFD_GETLK, and the position of the lock in SQLite's file format.
	const getLock, sharedFirst, sharedSize = 36, 1<<30 + 2, 510
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: sharedFirst, Len: sharedSize}
	require.NoError(t, syscall.FcntlFlock(file.Fd(), getLock, &lock))
	require.NotEqual(t, int16(syscall.F_UNLCK), lock.Type)
}
