//go:build !linux

package scripttest

import "time"

var began = time.Now() //nolint:forbidigo,gochecknoglobals // It does not change.

// ThreadTime returns the time since the process started, because only Linux reports the processor time of a thread.
func ThreadTime() time.Duration { return time.Since(began) } //nolint:forbidigo // See above.
