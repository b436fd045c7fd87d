package script

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/safelog"
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
	return l.load(others)
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
	nodes  []loaded
	// programs are the compiled scripts by file. For a script with errors, the value is nil.
	programs map[string]*Program
	problems []*Error
}

func (l *loader) load(others []*botctx.Node) ([]*botctx.Node, error) {
	paths := l.find()
	hasAllIDs := len(l.problems) == 0
	for _, path := range paths {
		file := nodesFile{loader: l, path: path}
		hasAllIDs = file.read() && hasAllIDs
	}
	nodes := make([]*botctx.Node, len(l.nodes))
	for i, read := range l.nodes {
		nodes[i] = read.Node
		hasAllIDs = hasAllIDs && read.ID != ""
	}
	if hasAllIDs { // Otherwise, references cannot be checked.
		for _, fault := range botctx.CheckNodes(slices.Concat(nodes, others)...) {
			if fault.Index < len(nodes) {
				l.refuseNode(l.nodes[fault.Index], fault.Err)
			}
		}
	}
	if len(l.problems) > 0 {
		slices.SortStableFunc(l.problems, byPlace)
		return nil, &FolderError{Problems: l.problems}
	}
	return nodes, nil
}

// complainf records a problem of a file.
func (l *loader) complainf(at place, field, format string, args ...any) {
	l.problems = append(l.problems, &Error{File: at.file, Line: at.line, Column: at.column, Err: boterr.Invalid(field, format, args...)})
}

// refuseNode records an error of botctx about a node.
func (l *loader) refuseNode(node loaded, err error) {
	at, text := node.located, err.Error()
	if coded, ok := boterr.AsError(err); ok {
		text = coded.Message()
		if field, isKnown := node.fields[coded.Field]; isKnown {
			at = field
		}
	}
	l.complainf(at.place, at.path, "%s", text)
}

// find returns the paths of all nodes files, parent folders first.
func (l *loader) find() (paths []string) {
	err := walk(l.files, func(name string, _ fs.DirEntry) error {
		if path.Base(name) == nodesName {
			paths = append(paths, name)
		}
		return nil
	})
	switch {
	case err != nil:
		l.complainf(place{file: "."}, "", "cannot be read: %v", err)
	case len(paths) == 0:
		l.complainf(place{file: nodesName}, "", "is not there: the nodes of a bot stand in files of this name")
	}
	slices.SortStableFunc(paths, func(a, b string) int {
		return cmp.Compare(strings.TrimSuffix(a, nodesName), strings.TrimSuffix(b, nodesName))
	})
	return paths
}

// walk calls visit for the files that may belong to a bot. It skips node_modules, and folders whose names start with a
// dot.
func walk(fsys fs.FS, visit func(path string, entry fs.DirEntry) error) error {
	if fsys == nil {
		return boterr.Missing("", "the folder of the bot")
	}
	return fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		return visit(name, entry)
	})
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
	err = walk(w.files, func(path string, entry fs.DirEntry) error {
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
