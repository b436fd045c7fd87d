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

	// Deadline is how long a script may run in all, with the operations that it waits for. The
	// default is 30 s.
	Deadline time.Duration
	// MaxBusy is how long a script may compute without waiting for anything, at most 2 s. The default
	// is 1 s. A call that tries a regular expression may take 1 s of it.
	MaxBusy time.Duration
	// MaxCalls is the number of operations, requests and timers of one run of a script. The default
	// is 1,000.
	MaxCalls int
	// MaxCallDepth is how deep functions may call each other. The default is 1,000.
	MaxCallDepth int
	// MaxMemory is by how many bytes the memory of the process may grow while scripts run: those that
	// have run for some milliseconds by then are ended. The default is 256 MB.
	MaxMemory int64
	// MaxResultBytes is how large, as JSON, what goes from a script to Go may be: the arguments of an
	// operation, a result, a record. The default is 4 MB.
	MaxResultBytes int
	// MaxLength is the number of characters of a text, and of elements of an array, up to which the
	// functions of the language work that make or visit all of it in one step. The default is
	// 4,000,000.
	MaxLength int
}

const (
	defaultDeadline    = 30 * time.Second
	defaultMaxBusy     = time.Second
	defaultMaxCalls    = 1000
	defaultCallDepth   = 1000
	defaultMaxMemory   = 256 << 20
	defaultResultBytes = 4 << 20
	defaultMaxLength   = 4_000_000
)

// longestMatch is how long a regular expression is tried where it has to be tried back and forth. A
// script that computes for as long has been ended.
const longestMatch = 2 * time.Second

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
	if o.Random == nil {
		o.Random = rand.Float64
	}
	o.Deadline = orDefault(o.Deadline, defaultDeadline)
	o.MaxBusy = orDefault(o.MaxBusy, defaultMaxBusy)
	o.MaxCalls = orDefault(o.MaxCalls, defaultMaxCalls)
	o.MaxCallDepth = orDefault(o.MaxCallDepth, defaultCallDepth)
	o.MaxMemory = orDefault(o.MaxMemory, defaultMaxMemory)
	o.MaxResultBytes = orDefault(o.MaxResultBytes, defaultResultBytes)
	o.MaxLength = orDefault(o.MaxLength, defaultMaxLength)
	return o, nil
}

// check refuses what is no limit.
func (o Options) check() error {
	for _, limit := range []struct {
		field string
		value int64
	}{
		{"Deadline", int64(o.Deadline)},
		{"MaxBusy", int64(o.MaxBusy)},
		{"MaxCalls", int64(o.MaxCalls)},
		{"MaxCallDepth", int64(o.MaxCallDepth)},
		{"MaxMemory", o.MaxMemory},
		{"MaxResultBytes", int64(o.MaxResultBytes)},
		{"MaxLength", int64(o.MaxLength)},
	} {
		if limit.value < 0 {
			return boterr.Invalid(limit.field, "must not be negative: 0 is the default")
		}
	}
	if err := absent.Check("Modules", o.Modules); err != nil {
		return err
	}
	if o.MaxBusy > longestMatch {
		return boterr.Invalid("MaxBusy", "must be at most %v, up to which a regular expression is tried", longestMatch)
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
