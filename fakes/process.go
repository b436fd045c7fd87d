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

// ErrCrashed is the error of calls made by a process that Crash has ended, and of events that arrive before
// Restart. Its code is Unavailable.
var ErrCrashed = errors.New("the process has crashed: Restart starts it again")

func errCrashed() error { return boterr.New(boterr.Unavailable, "", "%w", ErrCrashed) }

// process is one life of the program that hosts the bot: a Runtime, from its start to its crash. The store
// and the outside world outlive it.
type process struct {
	runtime *botctx.Runtime
	// life ends when the process does.
	life  context.Context //nolint:containedctx // It is the context of all that runs in the process.
	crash context.CancelCauseFunc
	// moving is held while the time moves.
	moving sync.Mutex
	// watching are the functions that end its watches of the store.
	mu       sync.Mutex
	watching []func()
	isDead   atomic.Bool
}

// newProcess starts a process over the platform's store, with the options of Config. On failure the process
// has a nil Runtime.
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

// die ends the process, and reports whether it was running.
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

// watches records how to end one of the process's watches of the store.
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
// cause ErrCrashed, and their further work has no effect. Everything stored and sent before remains. Until
// Restart, nothing is answered, but time may pass. A second Crash has no effect.
//
// A test calls Crash between two actions of members. An action may also call it, and must then return. The
// faults Crashes and CrashesAfter end the process at a call of an operation.
func (p *Platform) Crash() {
	if p.process.Load().die() {
		p.notef("the process crashes")
	}
}

// Restart starts the bot in a new process over the same store and the same outside world, after a crash or in
// place of the running process. It uses the same logic, or the given nodes instead of the earlier ones, such
// as a corrected bot.
//
// Restart itself runs no work; Advance does. Events that were accepted and not started run at once. An
// interrupted run counts as a failure and is tried again after a second, or later if it had failed before. An
// interrupted agenda waits until its lease has expired, after a minute (botctx.SchedulerOptions.Lease). If
// Config sets a Store that processes may share, messages wait for their lease as well
// (botctx.Config.LaneLease). Settings of Config remain. A Context from before belongs to the old process.
//
// It ends the test if Handle refuses the nodes.
func (p *Platform) Restart(nodes ...*botctx.Node) {
	p.test.Helper()
	p.Crash()
	started, err := p.newProcess()
	if err != nil {
		p.test.Fatalf("fakes: Restart: %v", err)
		return
	}
	if len(nodes) > 0 {
		p.nodes.set(slices.Clone(nodes))
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

// IsDown reports whether the process has crashed and was not restarted.
func (p *Platform) IsDown() bool { return p.process.Load().err() != nil }
