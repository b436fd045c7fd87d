package script

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/script/internal/locale"
	"github.com/botctx/go-sdk/script/internal/modules"
	"github.com/botctx/go-sdk/script/internal/quickjs"
	"github.com/botctx/go-sdk/script/internal/web"
)

// Engine compiles scripts and runs them. It is safe for concurrent use.
//
// At most one script per processor computes at the same time, in all engines of the process together. The others
// wait. Apps take turns, and so do the channels of an app. A process needs only one engine. A test in a bubble of package
// testing/synctest must not run scripts in parallel with other tests, because the bubble cannot wait for what is outside.
type Engine struct {
	options Options
	modules *modules.Files
	slots   *fair.Places
	// deadline is the time limit of a script.
	deadline timelimit.Rule
	// functions are the host's functions that scripts can call, by name.
	functions map[string]hostFunction
	// prepared maps each set of helpers to a function that returns its *prepared.
	prepared sync.Map
	sets     atomic.Int32
	// compiled maps the file name of each module to a value of type compiled.
	compiled sync.Map
}

// New returns an engine. It fails with InvalidArgument, naming the field, if a limit is negative or CacheDir
// cannot be used, and with Unsupported on architectures other than amd64 and arm64.
//
// The first engine of a process takes a few hundred milliseconds, or a few tens with [Options.CacheDir].
func New(options Options) (*Engine, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Engine{options: options, modules: modules.New(options.Modules), slots: options.slots, deadline: timelimit.Rule{
		Most: options.Deadline,
		Over: boterr.New(boterr.ResourceExhausted, "", "the script ran for longer than %v: see Options.Deadline", options.Deadline),
	}}
	e.functions = e.hostFunctions()
	if _, err := e.preparedWith(nil); err != nil {
		return nil, err
	}
	return e, nil
}

// processors has a slot for each processor. All engines share it.
var processors = sync.OnceValue(func() *fair.Places { return fair.NewPlaces(new(fair.Count(runtime.GOMAXPROCS(0)))) })

// prelude contains this package's scripts that run in each instance, in the order of preludeFiles.
//
//go:embed prelude/*.js
var prelude embed.FS

// preludeFiles are the files of the prelude. Files whose names begin with ownFiles are omitted from stack
// traces.
var preludeFiles = []string{"border.js", "scope.js", "this.js"}

const ownFiles = "script:"

// prepared is a snapshot with some helpers loaded, and the functions of the prelude that Go calls.
type prepared struct {
	*quickjs.Snapshot

	start, finish, wake, fire, take, load quickjs.Value
	// texts are constant strings that each run needs.
	texts map[string]quickjs.Value
}

// mostPrepared limits the sets of helpers that stay loaded, because each takes a few megabytes. Scripts with a
// further set load their helpers themselves.
const mostPrepared = 32

var errTooManySets = errors.New("too many sets of helpers")

// preparedWith returns the snapshot with the given helpers, named by module. It is created once.
func (e *Engine) preparedWith(helpers []string) (*prepared, error) {
	key := strings.Join(helpers, "\n")
	made, isThere := e.prepared.Load(key)
	if !isThere {
		made, _ = e.prepared.LoadOrStore(key, sync.OnceValues(func() (*prepared, error) {
			if e.sets.Add(1) > mostPrepared {
				return nil, errTooManySets
			}
			return e.prepare(helpers)
		}))
	}
	return made.(func() (*prepared, error))() //nolint:forcetypeassert // Nothing else is stored.
}

// longestLoad is the time limit for loading the helpers, or reading a module.
const longestLoad = 10 * time.Second

// prepare creates a snapshot. During its creation, the clock of scripts shows 1970.
func (e *Engine) prepare(helpers []string) (*prepared, error) {
	machine, err := quickjs.Open(e.options.CacheDir)
	if err != nil {
		return nil, boterr.Wrap("script.New", openError(err))
	}
	r := &run{
		engine: e, program: &Program{}, ctx: context.Background(), spent: spent{shared: &shared{}},
		prepared: &prepared{texts: map[string]quickjs.Value{}},
	}
	in, err := machine.New(r.ctx, quickjs.Run{
		Host: r.host, Now: r.now, Zone: e.options.Zone, Busy: longestLoad, Clock: e.options.clock(),
	}, e.options.MaxMemory)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r.in = in
	if err := r.runPrelude(); err != nil {
		return nil, fmt.Errorf("running the prelude of scripts: %w", err)
	}
	in.Charge(longestLoad - e.options.MaxBusy - in.Busy()) // Loading helpers gets its own time limit.
	for _, helper := range helpers {
		module, err := in.NewString(helper)
		if err != nil {
			return nil, err
		}
		if _, err := in.Call(r.prepared.load, module); err != nil {
			return nil, err
		}
	}
	for _, text := range []string{"", string(wantValue), string(wantTruth), string(wantNothing)} {
		if r.prepared.texts[text], err = in.NewString(text); err != nil {
			return nil, err
		}
	}
	r.prepared.Snapshot, err = in.Snapshot()
	return r.prepared, err
}

// openError is the error of an engine that cannot be opened.
func openError(err error) error {
	if errors.Is(err, quickjs.ErrArchitecture) {
		return boterr.New(boterr.Unsupported, "", "%w", err)
	}
	return boterr.Invalid("CacheDir", "%w", err)
}

// runPrelude runs the scripts of the prelude, and keeps the functions that Go calls.
func (r *run) runPrelude() error {
	own, err := r.in.Eval(ownFiles+"own", r.engine.settings())
	if err != nil {
		return err
	}
	host, err := r.in.Global("host")
	if err != nil {
		return err
	}
	for _, file := range preludeFiles {
		source, err := prelude.ReadFile("prelude/" + file)
		if err != nil {
			return err
		}
		body, err := r.in.Eval(ownFiles+file, string(source))
		if err == nil {
			_, err = r.in.Call(body, own, host)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	var rejected, handled quickjs.Value
	for name, function := range map[string]*quickjs.Value{
		"start": &r.prepared.start, "finish": &r.prepared.finish, "wake": &r.prepared.wake, "fire": &r.prepared.fire,
		"take": &r.prepared.take, "load": &r.prepared.load, "rejected": &rejected, "handled": &handled,
	} {
		if *function, err = r.in.Property(own, name); err != nil {
			return err
		}
	}
	r.in.TrackRejections(rejected, handled)
	_, err = r.in.Eval(ownFiles+"end", "delete globalThis.host")
	return err
}

// settings returns the source of the object that configures the prelude.
func (e *Engine) settings() string {
	text, err := json.Marshal(map[string]any{
		"names": map[string]any{"records": recordNames, "fixed": fixedNames(), "operations": botctx.Ops(), "helpers": e.options.Helpers},
		"web":   web.Names, "localized": localized,
		"largest": e.options.MaxResultBytes,
		"deepest": deepest,
	})
	if err != nil {
		panic(err) // It holds only texts and numbers.
	}
	return "(" + string(text) + ")"
}

// part is a rarely used part of the prelude. Because it is larger than the rest of the prelude, loading it would slow
// down every run. It is preloaded for scripts that mention one of its names, and otherwise loaded at first use.
type part struct {
	source string
	names  []string
}

var parts = map[string]part{
	"web":    {web.Source, web.Names},
	"locale": {locale.Source, localized},
}

// localized are the methods that package locale replaces.
var localized = []string{
	"localeCompare", "toLocaleDateString", "toLocaleLowerCase", "toLocaleString", "toLocaleTimeString", "toLocaleUpperCase",
}

// Options configure scripts and their limits. The zero value has no modules and default limits.
type Options struct {
	// Modules are the files available to require; each folder follows the layout of an npm package, with
	// node_modules at the root. By default there are none.
	Modules fs.FS
	// Helpers maps properties of `this` to their modules. The default is moment and lodash under their own
	// names.
	Helpers map[string]string
	// Console receives the output of console.log and its variants. The default is slog.Default().
	Console *slog.Logger
	// Fetch sends the requests of fetch. The default is the client of the context, which refuses private
	// addresses; see botctx.Context.Fetch.
	Fetch func(ctx context.Context, bot *botctx.Context, request outbound.Request) (*outbound.Response, error)
	// Random is Math.random, from 0 to below 1; another number is an error of the script. It is called by one script
	// at a time. The default is from math/rand/v2.
	Random func() float64

	// Zone is the time zone of Date. The default is UTC.
	Zone *time.Location
	// CacheDir is a folder that keeps the compiled engine between processes, so that the first script of a
	// process starts sooner. No one else may have write access to it. With the default, "", nothing is kept.
	CacheDir string

	// Deadline is the time limit of a script, including the operations that it waits for. The default is 30 s.
	Deadline time.Duration
	// MaxBusy limits the computing time of a script, including scripts that run within its operations. The work of
	// operations on a store in this process, such as memstore and sqlite, also counts, as an estimate that is the same
	// on every machine. Waiting for a database server, for requests and timers does not count. The default is 1 s.
	MaxBusy time.Duration
	// MaxCalls limits the operations, requests and timers of one run of a script, including scripts that run
	// within its operations. The maximum is 1,000,000. The default is 1,000.
	MaxCalls int
	// MaxMemory limits the bytes that a script and its modules may use, from 8 MB to 1 GB. The default is 64 MB.
	MaxMemory int64
	// MaxResultBytes limits the JSON size of a value from a script to Go: the arguments of an operation, a
	// result, a record, and together the values on `this` when a script leaves one, with what Go actions left in
	// Values. It also limits the responses of fetch. The maximum is 64 MB. The default is 4 MB.
	MaxResultBytes int

	// randomAhead is the number of random values that are fetched at once.
	randomAhead int
	// slots limit the scripts that compute at the same time. The default is one for each processor, for all engines.
	slots *fair.Places
	// clock returns the clock of a script, by which MaxBusy is measured. The default is the machine's.
	clock func() func() time.Time
}

const (
	defaultDeadline    = 30 * time.Second
	defaultMaxBusy     = time.Second
	leastBusy          = time.Millisecond
	defaultMaxCalls    = 1000
	defaultMaxMemory   = 64 << 20
	leastMemory        = 8 << 20
	mostMemory         = 1 << 30
	defaultResultBytes = 4 << 20
	mostCalls          = 1_000_000
	mostResultBytes    = 64 << 20
)

func (o Options) withDefaults() (Options, error) {
	if err := o.check(); err != nil {
		return o, err
	}
	if o.Helpers == nil {
		o.Helpers = map[string]string{"moment": "moment", "lodash": "lodash"}
	} else {
		o.Helpers = maps.Clone(o.Helpers)
	}
	o.Console = safelog.New(cmp.Or(o.Console, slog.Default()))
	if o.Fetch == nil {
		o.Fetch = func(ctx context.Context, bot *botctx.Context, request outbound.Request) (*outbound.Response, error) {
			return bot.Fetch(ctx, request)
		}
	}
	if o.Random == nil {
		o.Random, o.randomAhead = rand.Float64, 32
	} else {
		o.Random, o.randomAhead = oneAtATime(o.Random), 1
	}
	o.Zone = cmp.Or(o.Zone, time.UTC)
	if o.slots == nil {
		o.slots = processors()
	}
	if o.clock == nil {
		o.clock = func() func() time.Time { return time.Now }
	}
	o.Deadline = cmp.Or(o.Deadline, defaultDeadline)
	o.MaxBusy = cmp.Or(o.MaxBusy, defaultMaxBusy)
	o.MaxCalls = cmp.Or(o.MaxCalls, defaultMaxCalls)
	o.MaxMemory = cmp.Or(o.MaxMemory, defaultMaxMemory)
	o.MaxResultBytes = cmp.Or(o.MaxResultBytes, defaultResultBytes)
	return o, nil
}

// check refuses limits out of range.
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
	for name := range o.Helpers {
		if slices.Contains(slices.Concat([]string{"fetch", "__proto__"}, recordNames), name) || botctx.Op(name).Exists() {
			return boterr.Invalid("Helpers", "%q is a name of the context: give the helper another name", name)
		}
	}
	return o.checkSizes()
}

// checkSizes refuses limits that are too small or too large.
func (o Options) checkSizes() error {
	if o.MaxBusy != 0 && o.MaxBusy < leastBusy {
		return boterr.Invalid("MaxBusy", "must be at least %v", leastBusy)
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

// oneAtATime returns random for several goroutines.
func oneAtATime(random func() float64) func() float64 {
	var mu sync.Mutex
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return random()
	}
}
