//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // Getrusage only fails for invalid arguments.
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
