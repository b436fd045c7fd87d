//go:build !unix

package main

import "time"

// processorTime returns the time of day instead, because Go has no portable clock for processor time.
func processorTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
