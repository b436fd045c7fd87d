package script

import (
	"cmp"
	"context"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/script/internal/nodefile"
)

// Watcher loads the folder of a bot again when a file of it has changed: for development. It is used by one
// goroutine.
//
//	watcher := script.Watch(os.DirFS("bot"), options)
//	go watcher.Run(ctx, time.Tick(time.Second), runtime.Replace)
type Watcher struct {
	files   fs.FS
	options Options
	beside  []*botctx.Node
	seen    []stamp
	isRead  bool
	// unreadable is the last error of reading the folder, "" for none.
	unreadable string
}

// stamp is by what a change of a file is known.
type stamp struct {
	path    string
	size    int64
	changed time.Time
}

// Watch returns a Watcher of what Load would be given. It has seen nothing yet: its first look is one at a
// change.
func Watch(fsys fs.FS, options Options, beside ...*botctx.Node) *Watcher {
	return &Watcher{files: fsys, options: options, beside: slices.Clone(beside)}
}

// Look looks once, and returns what Load does where a file was added, removed or written since the last look, and
// hasChanged false where none was. A change is known by the time at which a file was written, or its size. Files
// of node_modules and of folders whose names begin with a dot do not count.
//
// A change that is broken is told once: then hasChanged is true, and the error that of Load.
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
	nodes, err = Load(w.files, w.options, w.beside...)
	return nodes, true, err
}

// stamps returns the stamps of all files.
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

// Run looks at each tick until ctx ends, and hands the nodes of each change to a function, such as Replace of a
// Runtime; where nodes in Go stand beside, to one that adds them. A change that is broken, or that the function
// refuses, is logged to Options.Console with all that is wrong with it, and the bot stays as it was.
func (w *Watcher) Run(ctx context.Context, ticks <-chan time.Time, replace func(nodes ...*botctx.Node) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			w.step(ctx, replace)
		}
	}
}

// step is what Run does at a tick.
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

// log returns where what happens is told.
func (w *Watcher) log() *slog.Logger { return safelog.New(cmp.Or(w.options.Console, slog.Default())) }
