package script

import (
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"
)

// A runtime is made in some microseconds, and each run gets a new one. What takes some milliseconds is to
// run modules such as lodash in it: runtimes in which the helpers have run are kept ready, and each is
// used once.

// prepared are runtimes in which some modules have run.
type prepared struct {
	engine  *Engine
	modules []string

	mu    sync.Mutex
	ready []*run
	// isFilling tells that runtimes are being made.
	isFilling bool
}

// mostPrepared is how many runtimes are kept ready for each set of helpers that scripts name. Each takes
// some megabytes.
const mostPrepared = 4

// helpersIn returns the modules of the helpers that a source names, in order.
func (e *Engine) helpersIn(used uses) []string {
	var found []string
	for name, module := range e.options.Helpers {
		if used.names[name] && !slices.Contains(found, module) {
			found = append(found, module)
		}
	}
	slices.Sort(found)
	return found
}

// preparedFor returns the runtimes with some modules.
func (e *Engine) preparedFor(modules []string) *prepared {
	found, _ := e.ready.LoadOrStore(strings.Join(modules, "\n"), &prepared{engine: e, modules: modules})
	return found.(*prepared) //nolint:forcetypeassert // Nothing else is stored.
}

// newRun returns a run that has not begun. Where the program names helpers, they have run in it if one
// was ready, and run when they are first used otherwise.
func (p *Program) newRun() *run {
	if len(p.helpers) == 0 {
		return p.engine.newRuntime()
	}
	return p.engine.preparedFor(p.helpers).take()
}

// take returns a runtime, and sees to it that there are others.
func (p *prepared) take() *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isFilling && p.engine.options.Modules != nil {
		p.isFilling = true
		go p.fill()
	}
	last := len(p.ready) - 1
	if last < 0 {
		return p.engine.newRuntime()
	}
	taken := p.ready[last]
	p.ready = slices.Delete(p.ready, last, last+1)
	return taken
}

// fill makes runtimes until there are enough.
func (p *prepared) fill() {
	for {
		made, err := p.prepare()
		p.mu.Lock()
		if err == nil {
			p.ready = append(p.ready, made)
		}
		// A module that cannot be had is told to the script that uses it.
		p.isFilling = err == nil && len(p.ready) < mostPrepared
		isDone := !p.isFilling
		p.mu.Unlock()
		if isDone {
			return
		}
	}
}

// prepare makes a runtime, and runs the modules in it.
func (p *prepared) prepare() (*run, error) {
	made := p.engine.newRuntime()
	err := made.inScript(func() error {
		for _, module := range p.modules {
			made.require("", module)
		}
		return nil
	})
	return made, err
}

// newRuntime returns a run with a runtime of its own, for no script yet.
func (e *Engine) newRuntime() *run {
	r := &run{engine: e, vm: goja.New(), causes: map[*goja.Object]error{}, paths: map[string]*goja.Object{}, overdue: make(chan struct{})}
	r.vm.SetMaxCallStackSize(e.options.MaxCallDepth)
	r.vm.SetTimeSource(r.now)
	r.vm.SetRandSource(e.options.Random)
	r.vm.SetPromiseRejectionTracker(r.track)
	r.vm.SetAsyncContextTracker(waitTracker{r})
	return r
}
