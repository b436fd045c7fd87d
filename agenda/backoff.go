package agenda

import (
	"math/rand/v2"
	"time"
)

// The default pauses after failures.
const (
	firstPause   = 10 * time.Second
	longestPause = time.Hour
)

// exponential is the default back-off without chance: firstPause, doubled with each
// failure, at most longestPause.
func exponential(failures int) time.Duration {
	pause := firstPause
	for ; failures > 1 && pause < longestPause; failures-- {
		pause *= 2
	}
	return min(pause, longestPause)
}

// jittered is a random part of the exponential back-off.
func jittered(failures int) time.Duration {
	return rand.N(exponential(failures) + 1) //nolint:gosec // Spreading load needs no secrecy.
}
