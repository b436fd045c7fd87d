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
	"github.com/botctx/go-sdk/script/internal/locale"
	"github.com/botctx/go-sdk/script/internal/modules"
	"github.com/botctx/go-sdk/script/internal/quickjs"
	"github.com/botctx/go-sdk/script/internal/slots"
	"github.com/botctx/go-sdk/script/internal/web"
)

// Engine compiles scripts and runs them. It is safe for concurrent use.
//
// As many of its scripts compute at once as there are processors. The others wait, and the apps take turns. One engine
// is for all scripts of a process.
type Engine struct {
	options Options
	modules *modules.Files
	slots   *slots.Slots
	// functions are the host's functions that scripts call, by their names.
	functions map[string]hostFunction
	// prepared has the function that returns the *prepared of each set of helpers.
	prepared sync.Map
	sets     atomic.Int32
	// compiled has the bytecode of each module, by its file.
	compiled sync.Map
}

// New returns an engine. It fails with InvalidArgument, which names the field, if a limit is negative or the folder for
// compiled code cannot be used, and with Unsupported on an architecture other than amd64 and arm64.
//
// The first engine of a process takes some hundred milliseconds, or some ten with [Options.CacheDir].
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

// prelude are the scripts of this package that run in each instance, in this order.
//
//go:embed prelude/*.js
var prelude embed.FS

// preludeFiles are the files of prelude. What is named ownFiles is left out of the places of errors.
var preludeFiles = []string{"border.js", "scope.js", "this.js"}

const ownFiles = "script:"

// prepared is a snapshot in which some helpers have been loaded, and the functions of the prelude that Go calls.
type prepared struct {
	*quickjs.Snapshot

	start, finish, wake, fire, take, require, part quickjs.Value
	// texts are values that each run needs.
	texts map[string]quickjs.Value
}

// mostPrepared bounds the sets of helpers that are kept loaded: each takes some megabytes. With other sets,
// scripts load their helpers themselves.
const mostPrepared = 32

var errTooManySets = errors.New("too many sets of helpers")

// preparedWith returns the snapshot with some helpers, by the names of their modules. It is made once.
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

// prepare makes a snapshot. Its clock shows 1970.
func (e *Engine) prepare(helpers []string) (*prepared, error) {
	machine, err := quickjs.Open(e.options.CacheDir)
	if err != nil {
		return nil, boterr.Wrap("script.New", openError(err))
	}
	r := &run{
		engine: e, program: &Program{}, ctx: context.Background(), spent: spent{shared: &shared{}},
		prepared: &prepared{texts: map[string]quickjs.Value{}},
	}
	in, err := machine.New(r.ctx, quickjs.Run{Host: r.host, Now: r.now, Zone: e.options.Zone, Busy: longestLoad}, e.options.MaxMemory)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r.in = in
	if err := r.runPrelude(); err != nil {
		return nil, fmt.Errorf("the prelude of scripts: %w", err)
	}
	in.Charge(longestLoad - e.options.MaxBusy - in.Busy()) // Helpers have the time of a script.
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

// trackRejections has the prelude notice promises that are rejected.
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
		panic(err) // It is embedded.
	}
	return string(source)
}

// settings is the script that makes the object which the scripts of the prelude share.
func (e *Engine) settings() string {
	text, err := json.Marshal(map[string]any{
		"names": map[string]any{"records": recordNames, "fixed": fixedNames(), "operations": operationNames(), "helpers": e.options.Helpers},
		"web":   web.Names, "localized": localized,
		"largest": e.options.MaxResultBytes,
		"deepest": deepest,
	})
	if err != nil {
		panic(err) // It has texts and numbers.
	}
	return "(" + string(text) + ")"
}

// part is a part of the prelude that few scripts need: it takes more memory than all else, and so more time in each run.
// Scripts that name what it has find it loaded. For the others it is loaded when something first asks for it.
type part struct {
	source string
	names  []string
}

var parts = map[string]part{
	"web":    {web.Source, web.Names},
	"locale": {locale.Source, localized},
}

// localized are the methods of package locale.
var localized = []string{
	"localeCompare", "toLocaleDateString", "toLocaleLowerCase", "toLocaleString", "toLocaleTimeString", "toLocaleUpperCase",
}

// load runs a module or a part of the prelude, so that it is there in each run.
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

// spent is the used part of a run's limits, together with the scripts that run within its operations, such as
// scripts of a node to which it redirects. Each script has a separate instance.
type spent struct {
	depth int
	*shared
}

// shared is the part of spent that all of them share.
type shared struct{ calls, busy atomic.Int64 }

// spentKey is the key of spent in the context of operations.
type spentKey struct{}

// deepestNested bounds how deep scripts may run within operations of each other. Each takes the memory of a
// script.
const deepestNested = 8

// within makes the run share the limits of the run in whose operation it is, if there is one. The context is the one of
// its operations.
func (r *run) within(ctx context.Context) (context.Context, error) {
	outer, isNested := ctx.Value(spentKey{}).(spent)
	if !isNested {
		outer.shared = &shared{}
	}
	if outer.depth == deepestNested {
		return nil, boterr.New(boterr.ResourceExhausted, "",
			"scripts that call each other through operations are nested more than %d deep", deepestNested)
	}
	r.spent = spent{outer.depth + 1, outer.shared}
	return context.WithValue(ctx, spentKey{}, r.spent), nil
}

// computed returns the time that scripts have computed, as far as spend has counted it.
func (s spent) computed() time.Duration { return time.Duration(s.busy.Load()) }

// spend counts how long the script has computed since the last spend.
func (r *run) spend() {
	busy := r.in.Busy()
	r.busy.Add(int64(busy - r.counted))
	r.counted = busy
}

// sharing calls an operation. What scripts compute within it counts as what this one computes.
func (r *run) sharing(operation func()) {
	r.spend()
	before := r.computed()
	operation()
	others := r.computed() - before
	r.in.Charge(others)
	r.counted += others
}

// deadline ends the context of a run when its time is over. The time stands still while the run waits for a
// slot. It is used by the goroutine of the run.
type deadline struct {
	timer  *time.Timer
	cancel context.CancelCauseFunc
	// left is the rest of the time since it last ran on, at since.
	left  time.Duration
	since time.Time
}

// begin returns a context that ends after some time, with a cause. end has to be called.
func (d *deadline) begin(ctx context.Context, limit time.Duration, cause func() error) context.Context {
	limited, cancel := context.WithCancelCause(ctx)
	d.cancel, d.left = cancel, limit
	d.since = time.Now() //nolint:forbidigo // How long it takes in fact, which no clock that is handed in tells.
	d.timer = time.AfterFunc(limit, func() { cancel(cause()) })
	return limited
}

func (d *deadline) end() {
	d.timer.Stop()
	d.cancel(context.Canceled)
}

// pause lets the time stand still, and returns what lets it run on.
func (d *deadline) pause() (resume func()) {
	if !d.timer.Stop() {
		return func() {} // It is over.
	}
	d.left -= time.Since(d.since) //nolint:forbidigo // As where it began.
	return func() {
		d.since = time.Now() //nolint:forbidigo // As where it began.
		d.timer.Reset(max(0, d.left))
	}
}
