package script

import (
	"context"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// watch ends scripts whose context has ended, scripts that compute for too long, and scripts while the memory of
// the process grows by more than they may take. Which of them takes it cannot be known: that one goes first that
// has computed for longest without a pause, and another one where that did not help.
//
// It looks while scripts run, and not otherwise. How long a script computes is counted in looks: where
// the machine is busy with something else, there are fewer.
type watch struct {
	most           int64
	maxBusy, grace time.Duration

	mu   sync.Mutex
	runs map[*run]bool
	next *time.Timer
	// sample is what is read of the process.
	sample [1]metrics.Sample
}

const (
	// lookEvery is the pause between two looks. Memory is filled at some GB a second at most.
	lookEvery = 2 * time.Millisecond
	// longLooks is the number of looks after which a script has computed for long.
	longLooks = 3
	// farTooMuch is how many times more than it may the memory can grow before it is found out what of
	// it is garbage.
	farTooMuch = 4
	// metricHeap is the memory of objects, those that are garbage included.
	metricHeap = "/memory/classes/heap/objects:bytes"
)

// watched is what the watch knows of a run.
type watched struct {
	// looks counts the looks since the script began to compute, and looksEnded those since it was
	// interrupted.
	looks      atomic.Int32
	looksEnded int
	// before is the memory at the first of them.
	before int64
}

// begin tells that a run begins to compute.
func (w *watched) begin() { w.looks.Store(0) }

func newWatch(options Options) *watch {
	m := &watch{most: options.MaxMemory, maxBusy: options.MaxBusy, grace: usualGrace, runs: map[*run]bool{}}
	m.sample[0].Name = metricHeap
	return m
}

// add watches a run.
func (m *watch) add(r *run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs[r] = true
	if m.next == nil {
		m.next = time.AfterFunc(lookEvery, m.look)
	}
}

// remove watches a run no longer.
func (m *watch) remove(r *run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.runs, r)
}

// look looks at the memory, and ends the runs that have to go.
func (m *watch) look() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.runs) == 0 {
		m.next = nil
		return
	}
	now := m.heap()
	m.count(now)
	if m.suspects(now) && (m.suspects(now-(farTooMuch-1)*m.most) || !m.isEnding() && m.suspects(m.heapWithoutGarbage())) {
		m.endLongest()
	}
	m.next = time.AfterFunc(lookEvery, m.look)
}

// heap returns the memory of objects.
func (m *watch) heap() int64 {
	metrics.Read(m.sample[:])
	return int64(m.sample[0].Value.Uint64())
}

// heapWithoutGarbage collects the garbage, and returns what is left.
func (m *watch) heapWithoutGarbage() int64 {
	runtime.GC() //nolint:revive // What is garbage is not the script's.
	return m.heap()
}

// count counts a look, and ends the runs that have computed for too long. Those that go on when they
// were interrupted are left behind.
func (m *watch) count(now int64) {
	for r := range m.runs {
		if r.ctx.Err() != nil && !r.isInterrupted.Load() {
			r.interrupt(context.Cause(r.ctx))
		}
		if r.waits.Load() {
			continue
		}
		looks := r.watched.looks.Add(1)
		if looks == 1 {
			r.watched.before = now
		}
		if time.Duration(looks)*lookEvery > m.maxBusy && !r.isInterrupted.Load() {
			r.interrupt(m.tooBusy())
		}
		if r.isInterrupted.Load() {
			r.watched.looksEnded++
		}
		if time.Duration(r.watched.looksEnded)*lookEvery > m.grace {
			r.giveUp()
		}
	}
}

// usualGrace is how long a script may go on after it was interrupted. It ends with the step of the
// language under way, and a few of those can be long.
const usualGrace = time.Second

// tooBusy is the error of a script that has computed for too long.
func (m *watch) tooBusy() error {
	return boterr.New(boterr.ResourceExhausted, "",
		"the script computed for more than %v without waiting for anything: see Options.MaxBusy", m.maxBusy)
}

// suspects reports whether the memory has grown too much for a run that has computed for long.
func (m *watch) suspects(now int64) bool {
	for r := range m.runs {
		if r.mayBeEnded() && r.watched.before < now-m.most {
			return true
		}
	}
	return false
}

// mayBeEnded reports whether a run has computed for long.
func (r *run) mayBeEnded() bool {
	return !r.waits.Load() && !r.isInterrupted.Load() && r.watched.looks.Load() > longLooks
}

// isEnding reports whether a run was ended whose memory may be free soon.
func (m *watch) isEnding() bool {
	for r := range m.runs {
		if r.isInterrupted.Load() && !r.isLeft.Load() {
			return true
		}
	}
	return false
}

// endLongest ends the run that has computed for longest.
func (m *watch) endLongest() {
	var longest *run
	for r := range m.runs {
		if r.mayBeEnded() && (longest == nil || r.watched.looks.Load() > longest.watched.looks.Load()) {
			longest = r
		}
	}
	if longest != nil {
		longest.interrupt(boterr.New(boterr.ResourceExhausted, "",
			"the memory grew by more than %d bytes while the script ran: see Options.MaxMemory", m.most))
	}
}
