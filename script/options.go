package script

import (
	"context"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/outbound"
)

// Options are what scripts are given, and what they may cost. The zero value has no modules and the
// default of each limit.
type Options struct {
	// Modules are the files that require finds, each folder as a package of npm has it: the folder
	// node_modules stands at its root. The default has none.
	Modules fs.FS
	// Helpers are properties of `this`, and the modules that they are. The default is moment and
	// lodash under their own names.
	Helpers map[string]string
	// Console is where console.log and its kind write to. The default is slog.Default().
	Console *slog.Logger
	// Fetch sends the requests of fetch. The default is the client of the context, which refuses
	// private addresses, see botctx.Context.Fetch.
	Fetch func(ctx context.Context, bot *botctx.Context, request outbound.Request) (*outbound.Response, error)
	// Random is Math.random, from 0 to below 1. The default is that of math/rand/v2.
	Random func() float64

	// Zone is the time zone of Date. The default is UTC.
	Zone *time.Location
	// CacheDir is a folder in which the compiled engine is kept between processes, so that the first script of a process
	// starts sooner. It must be one that nobody else writes to. With the default, "", nothing is kept.
	CacheDir string

	// Deadline is how long a script may run in all, with the operations that it waits for. The default is 30 s.
	Deadline time.Duration
	// MaxBusy is how long a script may compute in all, with the scripts that run within its operations. Waiting for
	// operations, requests and timers does not count. The default is 1 s.
	MaxBusy time.Duration
	// MaxCalls is the number of operations, requests and timers of one run of a script, with those of the scripts that
	// run within its operations. It may be 1,000,000. The default is 1,000.
	MaxCalls int
	// MaxMemory is how many bytes a script may use, with its modules, from 8 MB to 1 GB. The default is 64 MB.
	MaxMemory int64
	// MaxResultBytes is how large, as JSON, what goes from a script to Go may be: the arguments of an operation, a
	// result, a record. It bounds the responses of fetch, too. It may be 64 MB. The default is 4 MB.
	MaxResultBytes int

	// randomAhead is how many numbers of Random are read at once.
	randomAhead int
}

const (
	defaultDeadline    = 30 * time.Second
	defaultMaxBusy     = time.Second
	defaultMaxCalls    = 1000
	defaultMaxMemory   = 64 << 20
	leastMemory        = 8 << 20
	mostMemory         = 1 << 30
	defaultResultBytes = 4 << 20
	mostCalls          = 1_000_000
	mostResultBytes    = 64 << 20
)

// withDefaults returns the options with each default.
func (o Options) withDefaults() (Options, error) {
	if err := o.check(); err != nil {
		return o, err
	}
	if o.Helpers == nil {
		o.Helpers = map[string]string{"moment": "moment", "lodash": "lodash"}
	} else {
		o.Helpers = maps.Clone(o.Helpers)
	}
	if o.Console == nil {
		o.Console = slog.Default()
	}
	o.Console = safelog.New(o.Console)
	if o.Fetch == nil {
		o.Fetch = fetchOfContext
	}
	o.randomAhead = 1
	if o.Random == nil {
		o.Random, o.randomAhead = rand.Float64, 32
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	o.Deadline = orDefault(o.Deadline, defaultDeadline)
	o.MaxBusy = orDefault(o.MaxBusy, defaultMaxBusy)
	o.MaxCalls = orDefault(o.MaxCalls, defaultMaxCalls)
	o.MaxMemory = orDefault(o.MaxMemory, defaultMaxMemory)
	o.MaxResultBytes = orDefault(o.MaxResultBytes, defaultResultBytes)
	return o, nil
}

// check refuses limits that cannot be kept.
func (o Options) check() error {
	for _, limit := range []struct {
		field string
		value int64
	}{
		{"Deadline", int64(o.Deadline)},
		{"MaxBusy", int64(o.MaxBusy)},
		{"MaxCalls", int64(o.MaxCalls)},
		{"MaxMemory", o.MaxMemory},
		{"MaxResultBytes", int64(o.MaxResultBytes)},
	} {
		if limit.value < 0 {
			return boterr.Invalid(limit.field, "must not be negative: 0 is the default")
		}
	}
	if err := absent.Check("Modules", o.Modules); err != nil {
		return err
	}
	if o.MaxCalls > mostCalls {
		return boterr.Invalid("MaxCalls", "must be at most %d", mostCalls)
	}
	if o.MaxResultBytes > mostResultBytes {
		return boterr.Invalid("MaxResultBytes", "must be at most %d bytes", mostResultBytes)
	}
	if o.MaxMemory != 0 && (o.MaxMemory < leastMemory || o.MaxMemory > mostMemory) {
		return boterr.Invalid("MaxMemory", "must be between %d and %d bytes", leastMemory, mostMemory)
	}
	return nil
}

// orDefault returns the default of a limit that is not given.
func orDefault[T int | int64 | time.Duration](given, otherwise T) T {
	if given == 0 {
		return otherwise
	}
	return given
}

// fetchOfContext is the default of Options.Fetch.
func fetchOfContext(
	ctx context.Context, bot *botctx.Context, request outbound.Request,
) (*outbound.Response, error) {
	return bot.Fetch(ctx, request)
}
