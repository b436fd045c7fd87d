//go:build !unix || aix || solaris

package bolt

import "os"

// release closes a file that bbolt did not close, which gives its lock back.
func release(handle *os.File) error { return handle.Close() }
