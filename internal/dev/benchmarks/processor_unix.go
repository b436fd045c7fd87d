//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime returns how long processors have worked for this process.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // It fails for wrong arguments alone.
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
