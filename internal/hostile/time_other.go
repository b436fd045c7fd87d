//go:build !unix

package hostile

import "time"

var start = time.Now()

// processorTime is the time of the clock, where nothing better is known.
func processorTime() time.Duration { return time.Since(start) }
