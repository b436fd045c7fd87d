package explore

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/fakes"
)

// Variable is the environment variable that repeats one round of a search, as a failing one prints it, such
// as "faults:sendResponse#1=timesOut" or "orders:3>0". A number is a Seed for all searches.
const Variable = "BOTCTX_EXPLORE"

// The kinds of searches, as Variable has them.
const (
	kindFaults = "faults"
	kindOrders = "orders"
)

// The defaults of the options.
const (
	defaultSeed     = 1
	defaultMost     = 3
	defaultCalls    = 100_000
	defaultPatience = 10 * time.Second
)

// settings are what options set.
type settings struct {
	seed     uint64
	most     int
	calls    int64
	patience time.Duration
	platform []fakes.Option
}

// Option is a setting of a search.
type Option func(*settings)

// Seed makes a search draw other rounds. The default is 1, so that a test does the same each time.
func Seed(seed uint64) Option { return func(s *settings) { s.seed = seed } }

// MaxFaults is how many faults, or switches, a round has at most. The default is 3.
func MaxFaults(most int) Option { return func(s *settings) { s.most = max(1, most) } }

// MaxCalls is how many calls of operations and services one run makes at most: more are a loop without an
// end. The default is 100,000.
func MaxCalls(most int) Option { return func(s *settings) { s.calls = int64(max(1, most)) } }

// PlatformOptions gives options to the platforms, such as fakes.WithInbox.
func PlatformOptions(options ...fakes.Option) Option {
	return func(s *settings) { s.platform = append(s.platform, options...) }
}

// Timeout is for how long, in real time, a run may call nothing before it counts as one that hangs. The
// default is ten seconds.
func Timeout(d time.Duration) Option { return func(s *settings) { s.patience = d } }

// settingsOf returns what options set. The seed that Variable gives counts more.
func settingsOf(options []Option) settings {
	s := settings{seed: defaultSeed, most: defaultMost, calls: defaultCalls, patience: defaultPatience}
	for _, option := range options {
		option(&s)
	}
	if seed, err := strconv.ParseUint(os.Getenv(Variable), 10, 64); err == nil {
		s.seed = seed
	}
	return s
}

// asked returns the round that Variable asks for in a search of a kind, "" for none.
func asked(kind string) (round string, isAsked bool) {
	return strings.CutPrefix(os.Getenv(Variable), kind+":")
}

// isUnderstood reports whether Variable is a seed, or asks for a round of a search of some kind, or is not set.
func isUnderstood() bool {
	given := os.Getenv(Variable)
	_, err := strconv.ParseUint(given, 10, 64)
	return given == "" || err == nil || strings.HasPrefix(given, kindFaults+":") || strings.HasPrefix(given, kindOrders+":")
}

// isForAnother reports whether Variable asks for a round of another kind of search.
func isForAnother(kind string) bool {
	other, _, isRound := strings.Cut(os.Getenv(Variable), ":")
	return isRound && other != kind
}
