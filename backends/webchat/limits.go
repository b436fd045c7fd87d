package webchat

import (
	"math"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/fair"
)

// Limits limit the requests to a Handler. Each process counts separately. The zero value of each field means
// its default. Rates are per minute. Each allows a burst of a quarter of the rate, but at least 5.
type Limits struct {
	// Messages limits the messages of a visitor per minute. The default is 20.
	Messages int
	// Files limits the files of a visitor, and from an address, per minute. The default is 10.
	Files int
	// Sessions limits new and renewed sessions from an address per minute. Bad tokens from an address have the
	// same limit. The default is 10. If many visitors share an address, such as an office, set a higher limit.
	Sessions int
	// Requests limits all requests from an address per minute, except for the script and files. The default is
	// 600.
	Requests int
	// Channel limits all messages and files of a channel per minute. The default is 3,000.
	Channel int
	// Streams limits the open streams of a visitor. The default is 3.
	Streams int
	// AddressStreams limits the open streams from an address. The default is 200. If many visitors share an address,
	// set a higher limit.
	AddressStreams int
	// AllStreams limits the open streams of the process. The default is 10,000. An app gets at most half of the
	// streams that other apps leave, and a channel at most half of those that the app's other channels leave, so
	// that no channel takes all. If there is only one channel, it gets a quarter.
	AllStreams int
	// FileBytes limits the size of a file. The default is 10 MiB.
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
		{"Limits.AddressStreams", &l.AddressStreams, 200},
		{"Limits.AllStreams", &l.AllStreams, 10_000},
	} {
		if err := bounded.Default(number.field, number.value, number.or); err != nil {
			return l, err
		}
	}
	return l, bounded.Default("Limits.FileBytes", &l.FileBytes, 10<<20)
}

// maxBuckets is the largest number of keys that a limit counts separately. Further keys share one count.
const maxBuckets = 100_000

// rateLimit limits the rate of events for each key.
type rateLimit struct {
	interval time.Duration
	slack    time.Duration

	mu sync.Mutex
	// free has, for each key, the time at which the next event would be due if its events were spread evenly. An
	// event may come earlier, by up to slack.
	free map[string]time.Time
	// sweptAt is the time at which idle keys were last removed.
	sweptAt time.Time
}

func newRateLimit(perMinute int) *rateLimit {
	interval := time.Minute / time.Duration(perMinute)
	burst := max(5, perMinute/4)
	return &rateLimit{interval: interval, slack: interval * time.Duration(burst-1), free: map[string]time.Time{}}
}

// take counts an event of a key. If the event exceeds the limit, take does not count it and returns the time to
// wait.
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

// require counts a request. If it exceeds the limit, require returns a refusal with status 429.
func (l *rateLimit) require(key string, now time.Time) error {
	if wait := l.take(key, now); wait > 0 {
		return &problem{
			status: http.StatusTooManyRequests, after: wait,
			err: boterr.New(boterr.ResourceExhausted, "", "too many requests; try again later"),
		}
	}
	return nil
}

// rates are a Connector's rate limits.
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
	shares *fair.Shares
	limits Limits

	mu sync.Mutex
	// open has the number of streams of each visitor and from each address.
	open map[string]int
}

func newStreams(limits Limits) streams {
	return streams{shares: fair.NewShares(limits.AllStreams), limits: limits, open: map[string]int{}}
}

// enter counts a stream of a visitor at an address. Callers must call leave when the stream ends.
func (s *streams) enter(v visit, address string) (leave func(), err error) {
	of, visitor, address := fair.Key{App: v.in.App, Channel: v.in.ID}, "visitor "+v.limitKey(), "address "+address
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.open[visitor] >= s.limits.Streams:
		return nil, tooMany(http.StatusTooManyRequests, keepAlive, "this visitor already has %d streams; close one first", s.limits.Streams)
	case s.open[address] >= s.limits.AddressStreams:
		return nil, tooMany(http.StatusTooManyRequests, keepAlive, "this address already has %d streams", s.limits.AddressStreams)
	case !s.shares.Take(of):
		return nil, tooMany(http.StatusServiceUnavailable, 5*time.Second, "this server has too many open streams; try again later")
	}
	s.open[visitor]++
	s.open[address]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.shares.Release(of)
		for _, name := range []string{visitor, address} {
			s.open[name]--
			if s.open[name] == 0 {
				delete(s.open, name)
			}
		}
	}, nil
}

// tooMany returns the refusal of a stream beyond a limit.
func tooMany(status int, after time.Duration, format string, args ...any) error {
	return &problem{status: status, after: after, err: boterr.New(boterr.ResourceExhausted, "", format, args...)}
}

// addressOf returns the sender's address for limits. IPv6 addresses with the same first 64 bits count as one
// sender.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	parsed, err := netip.ParseAddr(host)
	if err != nil {
		return host[:min(len(host), 64)]
	}
	parsed = parsed.Unmap().WithZone("")
	if parsed.Is6() {
		if network, err := parsed.Prefix(64); err == nil {
			return network.Masked().String()
		}
	}
	return parsed.String()
}

// seconds returns a duration in seconds for Retry-After. It rounds up, and the result is at least 1.
func seconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }
