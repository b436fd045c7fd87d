package scripttest

import (
	"syscall"
	"time"
)

// ThreadTime returns the processor time of the calling thread so far, which other programs on the machine do not
// change. Callers must have locked their goroutine to its thread.
func ThreadTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &used); err != nil {
		panic(err) // Each version of Linux that Go supports has it.
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
