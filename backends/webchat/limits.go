package webchat

import (
	"cmp"
	"math"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// Limits limit the use of a Handler, each in this process. 0 means the default. A rate is a number per minute. A burst
// of a quarter of it, but at least 5, is allowed.
type Limits struct {
	// Messages is the rate of a visitor's messages. The default is 20.
	Messages int
	// Files is the rate of the files of a visitor, and of an address. The default is 10.
	Files int
	// Sessions is the rate of new and renewed sessions of an address, and of bad tokens from there. The default is 10; a
	// host whose visitors share an address, such as an office, sets a higher one.
	Sessions int
	// Requests is the rate of all requests of an address, except for the script and files. The default is 600.
	Requests int
	// Channel is the rate of all messages and files of a channel. The default is 3,000.
	Channel int
	// Streams is the number of a visitor's open streams. AllStreams is the number of all streams of the
	// process. The defaults are 3 and 10,000.
	Streams, AllStreams int
	// FileBytes is the size of a file. The default is 10 MiB.
	FileBytes int64
}

func (l Limits) withDefaults() (Limits, error) {
	for _, number := range []struct {
		field string
		value *int
		or    int
	}{
		{"Limits.Messages", &l.Messages, 20},
		{"Limits.Files", &l.Files, 10},
		{"Limits.Sessions", &l.Sessions, 10},
		{"Limits.Requests", &l.Requests, 600},
		{"Limits.Channel", &l.Channel, 3000},
		{"Limits.Streams", &l.Streams, 3},
		{"Limits.AllStreams", &l.AllStreams, 10_000},
	} {
		if *number.value < 0 {
			return l, boterr.Invalid(number.field, "must not be negative; 0 means the default")
		}
		*number.value = cmp.Or(*number.value, number.or)
	}
	if l.FileBytes < 0 {
		return l, boterr.Invalid("Limits.FileBytes", "must not be negative; 0 means the default")
	}
	l.FileBytes = cmp.Or(l.FileBytes, 10<<20)
	return l, nil
}

// maxBuckets is the largest number of visitors or addresses that a limit counts. Beyond it, the others share one count.
const maxBuckets = 100_000

// rateLimit limits a rate for each of many keys.
type rateLimit struct {
	interval time.Duration
	slack    time.Duration

	mu sync.Mutex
	// free is the time at which each key's next event would be on time, if events were spread evenly.
	free map[string]time.Time
	// sweptAt is the time of the last removal of idle keys.
	sweptAt time.Time
}

func newRateLimit(perMinute int) *rateLimit {
	interval := time.Minute / time.Duration(perMinute)
	burst := max(5, perMinute/4)
	return &rateLimit{interval: interval, slack: interval * time.Duration(burst-1), free: map[string]time.Time{}}
}

// take counts an event of a key, or returns the time to wait.
func (l *rateLimit) take(key string, now time.Time) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	free, isKnown := l.free[key]
	if !isKnown && len(l.free) >= maxBuckets {
		l.forgetIdle(now)
		if len(l.free) >= maxBuckets {
			key = ""
			free = l.free[key]
		}
	}
	if free.Before(now) {
		free = now
	}
	if wait = free.Sub(now) - l.slack; wait > 0 {
		return wait
	}
	l.free[key] = free.Add(l.interval)
	return 0
}

func (l *rateLimit) forgetIdle(now time.Time) {
	if now.Sub(l.sweptAt) < time.Second {
		return
	}
	l.sweptAt = now
	for key, free := range l.free {
		if !free.After(now) {
			delete(l.free, key)
		}
	}
}

// require is take for a request: too many are 429 with Retry-After.
func (l *rateLimit) require(key string, now time.Time) error {
	if wait := l.take(key, now); wait > 0 {
		return &problem{
			status: http.StatusTooManyRequests, after: wait,
			err: boterr.New(boterr.ResourceExhausted, "", "too many requests; try again later"),
		}
	}
	return nil
}

// rates are the limits of a Connector.
type rates struct {
	messages, files, typing, sessions, requests, badTokens, channel *rateLimit
}

func newRates(l Limits) rates {
	return rates{
		messages: newRateLimit(l.Messages), files: newRateLimit(l.Files), typing: newRateLimit(20),
		sessions: newRateLimit(l.Sessions), requests: newRateLimit(l.Requests), badTokens: newRateLimit(l.Sessions),
		channel: newRateLimit(l.Channel),
	}
}

// streams counts the open streams.
type streams struct {
	mu        sync.Mutex
	all       int
	byVisitor map[string]int
}

// enter counts a stream of a visitor until leave is called.
func (s *streams) enter(visitor string, limits Limits) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.all >= limits.AllStreams:
		return nil, &problem{
			status: http.StatusServiceUnavailable, after: 5 * time.Second,
			err: boterr.New(boterr.ResourceExhausted, "", "this server has too many open streams; try again later"),
		}
	case s.byVisitor[visitor] >= limits.Streams:
		return nil, &problem{
			status: http.StatusTooManyRequests, after: keepAlive,
			err: boterr.New(boterr.ResourceExhausted, "", "close another stream: a visitor may have %d", limits.Streams),
		}
	}
	s.all++
	s.byVisitor[visitor]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		s.byVisitor[visitor]--
		if s.byVisitor[visitor] == 0 {
			delete(s.byVisitor, visitor)
		}
	}, nil
}

// addressOf returns the address of a request's sender, for the limits. Addresses of IPv6 that share 64 bits belong to
// one sender.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return networkOf(host)
}

func networkOf(address string) string {
	parsed, err := netip.ParseAddr(address)
	if err != nil {
		return address[:min(len(address), 64)]
	}
	parsed = parsed.Unmap().WithZone("")
	if parsed.Is6() {
		if network, err := parsed.Prefix(64); err == nil {
			return network.Masked().String()
		}
	}
	return parsed.String()
}

// seconds returns a duration in whole seconds, at least 1, as Retry-After has it.
func seconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }
