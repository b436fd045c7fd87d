//go:build !unix

package main

import "time"

// processorTime returns the time of day: this system has no common clock for processor time.
func processorTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
