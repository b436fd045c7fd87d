// Package scripttest makes tests of scripts independent of the speed of the machine: a clock that counts steps,
// the time of a thread, and a folder for the compiled engine.
package scripttest

import (
	"os"
	"path/filepath"
	"time"
)

// CacheDir returns the folder that keeps the compiled engine between runs of all tests: compiling it takes
// seconds under the race detector.
func CacheDir() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		folder = os.TempDir()
	}
	return filepath.Join(folder, "botctx-quickjs-test")
}

// Step is the time by which the clocks of Steps advance: about the time between two
// reads on a fast machine.
const Step = 25 * time.Microsecond

// Steps returns a clock that advances by Step each time it is read. The engine of scripts reads its clock after
// a fixed number of steps, so a limit on the time of a script ends it after the same steps on each machine. The
// clock is for one script.
func Steps() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(Step)
		return now
	}
}
