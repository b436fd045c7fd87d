//go:build unix && !aix && !solaris

package bolt

import (
	"errors"
	"os"
	"syscall"
)

// release closes a file that bbolt did not close. The mapped memory holds the lock as well and stays, so that
// closing alone does not release the lock.
func release(handle *os.File) error {
	return errors.Join(syscall.Flock(int(handle.Fd()), syscall.LOCK_UN), handle.Close())
}
