// Package scripttest makes tests of scripts independent of the machine's speed. It provides a clock that counts
// steps, the processor time of a thread, and a folder for the compiled engine.
package scripttest

import (
	"os"
	"path/filepath"
	"time"
)

// CacheDir returns the folder in which all tests, and examples/scripted, keep the compiled engine. Compiling takes long
// under the race detector.
func CacheDir() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		folder = os.TempDir()
	}
	return filepath.Join(folder, "botctx-quickjs")
}

// Step is the time that a clock of Steps advances, about the time between two reads on a fast machine.
const Step = 25 * time.Microsecond

// Steps returns a clock for one script. It advances by Step on each read. The engine reads its clock after a fixed
// number of steps, so a time limit ends the script after the same steps on every machine.
func Steps() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(Step)
		return now
	}
}
