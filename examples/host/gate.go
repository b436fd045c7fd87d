package main

import "sync"

// gate lets runs in until it is closed, and tells when the last one has left.
type gate struct {
	lock     sync.Mutex
	isClosed bool
	inside   int
	empty    chan struct{}
}

func newGate() *gate { return &gate{empty: make(chan struct{})} }

// enter reports whether a run may begin. One that may leaves when it ends.
func (g *gate) enter() bool {
	g.lock.Lock()
	defer g.lock.Unlock()
	if g.isClosed {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.inside--
	g.tellEmpty()
}

// close lets no more runs in. The channel that it returns is closed when no run is left. It is
// called once.
func (g *gate) close() <-chan struct{} {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.isClosed = true
	g.tellEmpty()
	return g.empty
}

func (g *gate) tellEmpty() {
	if g.isClosed && g.inside == 0 {
		close(g.empty)
	}
}

func (g *gate) isOpen() bool {
	g.lock.Lock()
	defer g.lock.Unlock()
	return !g.isClosed
}
