//go:build unix

package hostile

import (
	"syscall"
	"time"
)

// processorTime is the time that processors gave to this process: other processes of the
// machine do not count.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
