//go:build !unix

package main

import "time"

// processorTime returns a time of day: the system has nothing better that all have.
func processorTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
