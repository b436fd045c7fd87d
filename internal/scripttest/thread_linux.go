package scripttest

import (
	"syscall"
	"time"
)

// ThreadTime returns the processor time of the calling thread. Other programs on the machine do not affect it.
// Callers must lock their goroutine to its thread first.
func ThreadTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &used); err != nil {
		panic(err) // Cannot happen: every version of Linux that Go supports has RUSAGE_THREAD.
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
