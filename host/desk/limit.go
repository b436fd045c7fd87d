package desk

import (
	"sync"
	"time"
)

// The rate at which an agent may change something: a burst, then a number per second.
const (
	burst     = 40
	perSecond = 10
	// maxBuckets is the number of agents whose rate is tracked.
	maxBuckets = 10_000
)

// limiter bounds the rate of requests by agent.
type limiter struct {
	now func() time.Time

	mu   sync.Mutex
	kept map[string]bucket
}

// bucket holds the requests that an agent may still make.
type bucket struct {
	left float64
	at   time.Time
}

// allow reports whether an agent may make a request now.
func (l *limiter) allow(agent string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b, isKnown := l.kept[agent]
	if !isKnown {
		if len(l.kept) >= maxBuckets {
			clear(l.kept)
		}
		b = bucket{burst, now}
	}
	b.left = min(burst, b.left+now.Sub(b.at).Seconds()*perSecond)
	b.at = now
	isAllowed := b.left >= 1
	if isAllowed {
		b.left--
	}
	l.kept[agent] = b
	return isAllowed
}
