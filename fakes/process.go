package fakes

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/outbound"
)

// ErrCrashed is the error of what a process does that Crash has ended, and of what reaches one that
// was not started again. Its code is Unavailable.
var ErrCrashed = errors.New("the process has crashed: Restart starts it again")

func errCrashed() error { return boterr.New(boterr.Unavailable, "", "%w", ErrCrashed) }

// process is one life of the program that hosts the bot: a Runtime, from its start to its crash. The
// store and the outside world outlive it.
type process struct {
	runtime *botctx.Runtime
	// life ends with the process.
	life  context.Context //nolint:containedctx // It is the context of all that runs in the process.
	crash context.CancelCauseFunc
	// moving is held while the time moves.
	moving sync.Mutex
	// watching are the ends of what it watches in the store.
	mu       sync.Mutex
	watching []func()
	isDead   atomic.Bool
}

// newProcess starts a process over the platform's store, with the options of Config. If that fails its
// Runtime is nil.
func (p *Platform) newProcess() (*process, error) {
	started := &process{}
	started.life, started.crash = context.WithCancelCause(context.Background())
	config := p.hosted
	if config.Store != nil {
		config.Store = p.storeOf(config.Store, started)
	}
	if config.HTTP != nil {
		config.HTTP = livingWeb{config.HTTP, started}
	}
	config.Interceptors = slices.Concat([]botctx.Interceptor{p.interceptorOf(started)}, config.Interceptors)
	var err error
	started.runtime, err = botctx.New(config)
	return started, err
}

// err returns ErrCrashed if the process has crashed.
func (l *process) err() error {
	if l.isDead.Load() {
		return errCrashed()
	}
	return nil
}

// die ends the process, and reports whether it was alive.
func (l *process) die() bool {
	if l.isDead.Swap(true) {
		return false
	}
	l.crash(errCrashed())
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, stop := range l.watching {
		stop()
	}
	l.watching = nil
	return true
}

// watches notes how to end what the process watches in the store.
func (l *process) watches(stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isDead.Load() {
		stop()
		return
	}
	l.watching = append(l.watching, stop)
}

type livingWeb struct {
	outbound.Doer

	process *process
}

func (w livingWeb) Do(request *http.Request) (*http.Response, error) {
	if err := w.process.err(); err != nil {
		return nil, err
	}
	return w.Doer.Do(request)
}

// Crash ends the process in which the bot runs, as if it were killed: the contexts of its runs end with the
// cause ErrCrashed, and their further work has no effect. Everything that was stored and sent before stays.
// Then there is no answer, and the time may move, until Restart. A second Crash has no effect.
//
// A test calls it between two actions of members; an action may call it, too, and then returns. Faults of
// Crashes and CrashesAfter end the process at a call of an operation.
func (p *Platform) Crash() {
	if p.process.Load().die() {
		p.notef("the process crashes")
	}
}

// Restart starts the bot in a new process over the same store, with the same outside world, after a
// crash or in the place of the process that runs: with the same logic, or with these nodes in the
// place of those before if it was mended meanwhile. It does nothing of what was left: Advance does.
// What was accepted and not begun is run at once; a run that was lost counts as a failure, and is tried again
// after a second, or more if it failed before; an agenda's waits until its lease has passed, which is
// a minute (botctx.SchedulerOptions.Lease). With a Store of Config's that processes may share, messages wait
// for theirs as well (botctx.Config.LaneLease). What Config has set stays; a Context from before belongs to
// the process that was.
//
// It ends the test where Handle refuses the nodes.
func (p *Platform) Restart(nodes ...*botctx.Node) {
	p.test.Helper()
	p.Crash()
	started, err := p.newProcess()
	if err != nil {
		p.test.Fatalf("fakes: Restart: %v", err)
		return
	}
	if len(nodes) > 0 {
		p.nodes.set(nodes)
	}
	if err := started.runtime.Handle(p.nodes.all()...); err != nil {
		p.test.Fatalf("fakes: Restart: %v", err)
		return
	}
	if action := p.action.Load(); action != nil {
		started.runtime.HandleFunc(*action)
	}
	p.process.Store(started)
	p.notef("the process starts again")
}

// IsDown reports whether the process has crashed, and was not started again.
func (p *Platform) IsDown() bool { return p.process.Load().err() != nil }
