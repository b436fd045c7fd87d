package script

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/script/internal/locale"
	"github.com/botctx/go-sdk/script/internal/modules"
	"github.com/botctx/go-sdk/script/internal/quickjs"
	"github.com/botctx/go-sdk/script/internal/slots"
	"github.com/botctx/go-sdk/script/internal/web"
)

// Engine compiles scripts and runs them. It is safe for concurrent use.
//
// At most one script per processor computes at the same time. The others wait, and the apps take turns. A
// process needs only one engine.
type Engine struct {
	options Options
	modules *modules.Files
	slots   *slots.Slots
	// functions are the host's functions that scripts can call, by name.
	functions map[string]hostFunction
	// prepared maps each set of helpers to a function that returns its *prepared.
	prepared sync.Map
	sets     atomic.Int32
	// compiled maps the file name of each module to its bytecode.
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
	e := &Engine{options: options, modules: modules.New(options.Modules), slots: slots.New(runtime.GOMAXPROCS(0))}
	e.functions = e.hostFunctions()
	if _, err := e.preparedWith(nil); err != nil {
		return nil, err
	}
	return e, nil
}

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

	start, finish, wake, fire, take, require, part quickjs.Value
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
		if err := r.load(helper); err != nil {
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
		body, err := r.in.Eval(ownFiles+file, sourceOf(file))
		if err == nil {
			_, err = r.in.Call(body, own, host)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	for name, function := range map[string]*quickjs.Value{
		"start": &r.prepared.start, "finish": &r.prepared.finish, "wake": &r.prepared.wake, "fire": &r.prepared.fire,
		"take": &r.prepared.take, "require": &r.prepared.require, "part": &r.prepared.part,
	} {
		if *function, err = r.in.Property(own, name); err != nil {
			return err
		}
	}
	return r.trackRejections(own)
}

// trackRejections notifies the prelude of rejected promises.
func (r *run) trackRejections(own quickjs.Value) error {
	rejected, err := r.in.Property(own, "rejected")
	if err != nil {
		return err
	}
	handled, err := r.in.Property(own, "handled")
	if err != nil {
		return err
	}
	r.in.TrackRejections(rejected, handled)
	_, err = r.in.Eval(ownFiles+"end", "delete globalThis.host")
	return err
}

// sourceOf returns a script of the prelude.
func sourceOf(file string) string {
	source, err := prelude.ReadFile("prelude/" + file)
	if err != nil {
		panic(err) // The file is embedded.
	}
	return string(source)
}

// settings returns the source of the object that configures the prelude.
func (e *Engine) settings() string {
	text, err := json.Marshal(map[string]any{
		"names": map[string]any{"records": recordNames, "fixed": fixedNames(), "operations": operationNames(), "helpers": e.options.Helpers},
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

// load runs a module or a part of the prelude, so that a snapshot contains it.
func (r *run) load(module string) error {
	if name, isPart := strings.CutPrefix(module, ownFiles); isPart {
		text, err := r.in.NewString(name)
		if err == nil {
			_, err = r.in.Call(r.prepared.part, text)
		}
		return err
	}
	folder, err := r.in.NewString("")
	if err != nil {
		return err
	}
	name, err := r.in.NewString(module)
	if err != nil {
		return err
	}
	_, err = r.in.Call(r.prepared.require, folder, name)
	return err
}

// spent is a run's usage of its limits. It includes scripts that run within its operations, such as the scripts of a
// node that it redirects to. Each of these scripts has its own instance.
type spent struct {
	depth int
	*shared
}

// shared is the part of spent that nested scripts share.
type shared struct {
	calls atomic.Int64
	// busy is the computing time of scripts. work is the work of the store's calls within operations, as counted by
	// query.CountWork.
	busy, work atomic.Int64
}

// spentKey is the key of spent in the context of operations.
type spentKey struct{}

// deepestNested limits the nesting of scripts within operations of other scripts, because each level takes the memory
// of an instance.
const deepestNested = 8

// within makes the run share the limits of the outer run if it runs within an operation of another script. It returns
// the context for the run's operations.
func (r *run) within(ctx context.Context) (context.Context, error) {
	outer, isNested := ctx.Value(spentKey{}).(spent)
	if !isNested {
		outer.shared = &shared{}
		ctx = query.CountWork(ctx, &outer.work)
	}
	if outer.depth == deepestNested {
		return nil, boterr.New(boterr.ResourceExhausted, "",
			"scripts that call each other through operations are nested more than %d deep", deepestNested)
	}
	r.spent = spent{outer.depth + 1, outer.shared}
	return context.WithValue(ctx, spentKey{}, r.spent), nil
}

// computed returns the computing time of all scripts so far, as counted by spend, and of the store.
func (s spent) computed() time.Duration { return time.Duration(s.busy.Load() + s.work.Load()) }

// spend adds the time that the script has computed since the last call.
func (r *run) spend() {
	busy := r.in.Busy()
	r.busy.Add(int64(busy - r.counted))
	r.counted = busy
}

// sharing calls an operation. Its computing time, of the store and of scripts within it, counts against this script.
func (r *run) sharing(operation func()) {
	r.spend()
	before, scripts := r.computed(), r.busy.Load()
	operation()
	others := r.computed() - before
	r.in.Charge(others)
	r.counted += others
	if r.busy.Load() > scripts {
		r.sizes = nil
	}
}

// deadline ends the context of a run when its time is up. It is paused while the run waits for a slot. Only the run's
// goroutine uses it.
type deadline struct {
	timer  *time.Timer
	cancel context.CancelCauseFunc
	// left is the time that remained at since, the last time when the deadline was started or resumed.
	left  time.Duration
	since time.Time
}

// begin returns a context that ends after limit with the result of cause. Callers must call end.
func (d *deadline) begin(ctx context.Context, limit time.Duration, cause func() error) context.Context {
	limited, cancel := context.WithCancelCause(ctx)
	d.cancel, d.left = cancel, limit
	d.since = time.Now() //nolint:forbidigo // This measures real time, which a clock that is passed in may not show.
	d.timer = time.AfterFunc(limit, func() { cancel(cause()) })
	return limited
}

func (d *deadline) end() {
	d.timer.Stop()
	d.cancel(context.Canceled)
}

// pause stops the deadline, and returns a function that resumes it.
func (d *deadline) pause() (resume func()) {
	if !d.timer.Stop() {
		return func() {} // It has already expired.
	}
	d.left -= time.Since(d.since) //nolint:forbidigo // See begin.
	return func() {
		d.since = time.Now() //nolint:forbidigo // See begin.
		d.timer.Reset(max(0, d.left))
	}
}
