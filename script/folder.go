package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/script/internal/nodefile"
)

// Load returns the nodes in every nodes.json of a folder and its subfolders, together with their scripts.
// docs/guides/scripts.md describes the fields of a node. The nodes can be combined with nodes in Go. If nodes of the
// folder name nodes in Go as their parent or redirect target, pass these as others; Load does not return them.
//
// If Options.Modules is nil, scripts find modules in the folder itself: packages in its node_modules, and
// files by their path.
//
// All errors are reported at once, as a *FolderError: unknown fields, missing files, scripts that do not
// compile, responses that no platform would accept, duplicate ids, missing parents and targets.
func Load(fsys fs.FS, options Options, others ...*botctx.Node) ([]*botctx.Node, error) {
	if options.Modules == nil {
		options.Modules = fsys
	}
	engine, err := New(options)
	if err != nil {
		return nil, err
	}
	l := &loader{engine: engine, files: fsys, programs: map[string]*Program{}}
	folder := nodefile.Read(fsys)
	for _, problem := range folder.Problems {
		l.complain(problem)
	}
	nodes := make([]*botctx.Node, len(folder.Nodes))
	for i, node := range folder.Nodes {
		nodes[i] = l.node(node)
	}
	if folder.HasAllIDs {
		l.check(folder.Nodes, nodes, others)
	}
	if len(l.problems) > 0 {
		slices.SortStableFunc(l.problems, byPlace)
		return nil, &FolderError{Problems: l.problems}
	}
	return nodes, nil
}

// byPlace orders problems by file and position.
func byPlace(a, b *Error) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// FolderError contains all errors of a bot's folder. It is an InvalidArgument.
type FolderError struct {
	// Problems are the errors, each with its file and its place.
	Problems []*Error
}

// Error lists the problems, one per line.
func (e *FolderError) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0].Error()
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d problems:", len(e.Problems))
	for _, problem := range e.Problems {
		text.WriteString("\n  " + problem.Error())
	}
	return text.String()
}

// Unwrap returns the problems.
func (e *FolderError) Unwrap() []error {
	all := make([]error, len(e.Problems))
	for i, problem := range e.Problems {
		all[i] = problem
	}
	return all
}

// loader builds nodes from a folder.
type loader struct {
	engine *Engine
	files  fs.FS
	// programs are the compiled scripts by file. For a script with errors, the value is nil.
	programs map[string]*Program
	problems []*Error
}

// complain records a problem of a nodes file.
func (l *loader) complain(p nodefile.Problem) {
	l.problems = append(l.problems, &Error{
		File: p.Place.File, Line: p.Place.Line, Column: p.Place.Column, Err: boterr.Invalid(p.Field, "%s", p.Text),
	})
}

// check records problems with references between nodes. made are the nodes built from read.
func (l *loader) check(read []nodefile.Node, made, others []*botctx.Node) {
	for _, fault := range botctx.CheckNodes(slices.Concat(made, others)...) {
		if fault.Index < len(read) {
			l.complain(read[fault.Index].Problem(fault.Err))
		}
	}
}

// node builds a node from its description in a file. It records problems with scripts, and still returns a node that
// check can check.
func (l *loader) node(read nodefile.Node) *botctx.Node {
	node := read.Base
	node.Pre, node.Post = l.actions(read.Pre), l.actions(read.Post)
	if read.Trigger != nil {
		if program := l.program(*read.Trigger); program != nil {
			node.Trigger = program.Trigger()
		}
	}
	if read.Redirect != nil {
		node.Redirect = l.redirect(*read.Redirect, read.Among)
	}
	return &node
}

func (l *loader) actions(named []nodefile.Script) (actions []botctx.Action) {
	for _, one := range named {
		if program := l.program(one); program != nil {
			actions = append(actions, program.Action())
		}
	}
	return actions
}

// redirect returns a redirect that runs the script. If among is not empty, only these nodes are valid targets.
func (l *loader) redirect(named nodefile.Script, among []botctx.NodeRef) botctx.Redirector {
	decide := botctx.RedirectFunc(nowhere)
	if program := l.program(named); program != nil {
		decide = program.Redirect()
	}
	if among != nil {
		return decide.Among(among...)
	}
	return decide
}

// nowhere ends the run.
func nowhere(context.Context, *botctx.Context) (*botctx.Redirect, error) { return nil, nil } //nolint:nilnil // It has no target.

// program compiles a script once and returns it, or nil if it cannot be used.
func (l *loader) program(named nodefile.Script) *Program {
	if program, isKnown := l.programs[named.File]; isKnown {
		return program
	}
	l.programs[named.File] = nil
	source, err := fs.ReadFile(l.files, named.File)
	if err != nil {
		l.complain(nodefile.Problem{Place: named.Place, Field: named.Field, Text: l.unreadable(named, err)})
		return nil
	}
	program, err := l.engine.Compile(named.File, string(source))
	if err != nil {
		l.problems = append(l.problems, asProblem(named.File, err))
		return nil
	}
	l.programs[named.File] = program
	return program
}

// asProblem turns an error of Compile into an *Error with a place.
func asProblem(file string, err error) *Error {
	if failed, ok := errors.AsType[*Error](err); ok {
		return failed
	}
	return &Error{File: file, Err: err}
}

// unreadable explains why a script cannot be read, and suggests a similar file if there is one. Paths are relative
// to the folder of the nodes file, as they are written there.
func (l *loader) unreadable(named nodefile.Script, err error) string {
	folder := path.Dir(named.Place.File)
	written := relative(folder, named.File)
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("%q cannot be read: %v", written, err)
	}
	byName := map[string]string{}
	_ = nodefile.Walk(l.files, func(other string, _ fs.DirEntry) error { // Files that Walk cannot read are not suggested.
		byName[path.Base(other)] = other
		return nil
	})
	if near := nearest.To(path.Base(named.File), slices.Sorted(maps.Keys(byName))); near != "" {
		return fmt.Sprintf("%q is not there: did you mean %q?", written, relative(folder, byName[near]))
	}
	return fmt.Sprintf("%q is not there: write the script, or take its name out", written)
}

// relative returns the name of a file relative to a folder.
func relative(folder, file string) string {
	name, err := filepath.Rel(folder, file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(name)
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
	if o.Console == nil {
		o.Console = slog.Default()
	}
	o.Console = safelog.New(o.Console)
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
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.clock == nil {
		o.clock = func() func() time.Time { return time.Now }
	}
	o.Deadline = orDefault(o.Deadline, defaultDeadline)
	o.MaxBusy = orDefault(o.MaxBusy, defaultMaxBusy)
	o.MaxCalls = orDefault(o.MaxCalls, defaultMaxCalls)
	o.MaxMemory = orDefault(o.MaxMemory, defaultMaxMemory)
	o.MaxResultBytes = orDefault(o.MaxResultBytes, defaultResultBytes)
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
		if slices.Contains(slices.Concat([]string{"fetch", "__proto__"}, recordNames, operationNames()), name) {
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

// orDefault returns given, or the default if it is zero.
func orDefault[T int | int64 | time.Duration](given, otherwise T) T {
	if given == 0 {
		return otherwise
	}
	return given
}
