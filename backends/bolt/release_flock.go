//go:build unix && !aix && !solaris

package bolt

import (
	"errors"
	"os"
	"syscall"
)

// release closes a file that bbolt did not close. The lock is that of the mapped memory,
// too, which stays, so that closing alone does not give it back.
func release(handle *os.File) error {
	return errors.Join(syscall.Flock(int(handle.Fd()), syscall.LOCK_UN), handle.Close())
}
