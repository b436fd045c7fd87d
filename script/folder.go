package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/safelog"
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

// Watcher reloads the folder of a bot when one of its files changes, for development. Only one goroutine at a time
// may use it.
//
//	watcher := script.Watch(os.DirFS("bot"), options)
//	go watcher.Run(ctx, time.Tick(time.Second), runtime.Replace)
type Watcher struct {
	files   fs.FS
	options Options
	others  []*botctx.Node
	seen    []stamp
	isRead  bool
	// unreadable is the last error from reading the folder, or "".
	unreadable string
}

// stamp identifies one version of a file.
type stamp struct {
	path    string
	size    int64
	changed time.Time
}

// Watch returns a Watcher that calls Load with these arguments. Its first Look always reports a change.
func Watch(fsys fs.FS, options Options, others ...*botctx.Node) *Watcher {
	return &Watcher{files: fsys, options: options, others: slices.Clone(others)}
}

// Look checks the folder once. If a file was added, removed or written since the last call, hasChanged is true, and
// nodes and err are the result of Load. Look compares modification times and sizes, and ignores node_modules and
// folders whose names start with a dot. It reports a broken change only once.
func (w *Watcher) Look() (nodes []*botctx.Node, hasChanged bool, err error) {
	now, err := w.stamps()
	if err != nil {
		isNew := w.unreadable != err.Error()
		w.unreadable = err.Error()
		return nil, isNew, err
	}
	w.unreadable = ""
	if w.isRead && slices.Equal(now, w.seen) {
		return nil, false, nil
	}
	w.seen, w.isRead = now, true
	nodes, err = Load(w.files, w.options, w.others...)
	return nodes, true, err
}

func (w *Watcher) stamps() (all []stamp, err error) {
	err = nodefile.Walk(w.files, func(path string, entry fs.DirEntry) error {
		info, err := entry.Info()
		if err == nil {
			all = append(all, stamp{path, info.Size(), info.ModTime()})
		}
		return err
	})
	return all, err
}

// Run calls Look at each tick until ctx ends or ticks is closed. It passes the nodes of each change to replace, such as
// Replace of a Runtime or a function that adds nodes in Go. If a change is broken or replace refuses it, Run logs all
// errors to Options.Console, and the bot keeps its nodes.
func (w *Watcher) Run(ctx context.Context, ticks <-chan time.Time, replace func(nodes ...*botctx.Node) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case _, isOpen := <-ticks:
			if !isOpen {
				return
			}
			w.step(ctx, replace)
		}
	}
}

// step is one tick of Run.
func (w *Watcher) step(ctx context.Context, replace func(nodes ...*botctx.Node) error) {
	nodes, hasChanged, err := w.Look() //nolint:contextcheck // An engine outlives it.
	if !hasChanged {
		return
	}
	if err == nil {
		err = replace(nodes...)
	}
	if err != nil {
		w.log().WarnContext(ctx, "script: the bot stays as it was: "+err.Error())
		return
	}
	w.log().InfoContext(ctx, "script: the bot was loaded", "nodes", len(nodes))
}

// log returns the logger for results of Run.
func (w *Watcher) log() *slog.Logger { return safelog.New(cmp.Or(w.options.Console, slog.Default())) }
