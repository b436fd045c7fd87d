package script

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// memoryWatch ends scripts while the memory of the process grows by more than they may take. Which of
// them takes it cannot be known: those go that have computed for some time without a pause. It looks
// while scripts run, and not otherwise.
type memoryWatch struct {
	most int64

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
	// looks counts the looks since the script began to compute.
	looks atomic.Int32
	// before is the memory at the first of them.
	before int64
}

// begin tells that a run begins to compute.
func (w *watched) begin() { w.looks.Store(0) }

func newMemoryWatch(most int64) *memoryWatch {
	m := &memoryWatch{most: most, runs: map[*run]bool{}}
	m.sample[0].Name = metricHeap
	return m
}

// add watches a run.
func (m *memoryWatch) add(r *run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs[r] = true
	if m.next == nil {
		m.next = time.AfterFunc(lookEvery, m.look)
	}
}

// remove watches a run no longer.
func (m *memoryWatch) remove(r *run) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.runs, r)
}

// look looks at the memory, and ends the runs that have to go.
func (m *memoryWatch) look() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.runs) == 0 {
		m.next = nil
		return
	}
	now := m.heap()
	if m.suspects(now) && (m.isFarTooMuch(now) || m.suspects(m.heapWithoutGarbage())) {
		m.end()
	}
	m.next = time.AfterFunc(lookEvery, m.look)
}

// heap returns the memory of objects.
func (m *memoryWatch) heap() int64 {
	metrics.Read(m.sample[:])
	return int64(m.sample[0].Value.Uint64())
}

// heapWithoutGarbage collects the garbage, and returns what is left.
func (m *memoryWatch) heapWithoutGarbage() int64 {
	runtime.GC() //nolint:revive // What is garbage is not the script's.
	return m.heap()
}

// suspects counts a look, and reports whether the memory has grown too much for a run that has computed
// for long.
func (m *memoryWatch) suspects(now int64) bool {
	found := false
	for r := range m.runs {
		if r.waits.Load() {
			continue
		}
		if r.watched.looks.Add(1) == 1 {
			r.watched.before = now
		}
		found = found || m.isSuspect(r, now-m.most)
	}
	return found
}

// isSuspect reports whether a run has computed for long, and there was less memory than some when it began.
func (m *memoryWatch) isSuspect(r *run, most int64) bool {
	return !r.waits.Load() && r.watched.looks.Load() > longLooks && r.watched.before < most
}

// isFarTooMuch reports whether there is no time to find out what is garbage.
func (m *memoryWatch) isFarTooMuch(now int64) bool {
	for r := range m.runs {
		if m.isSuspect(r, now-farTooMuch*m.most) {
			return true
		}
	}
	return false
}

// end ends the runs that have computed for long.
func (m *memoryWatch) end() {
	for r := range m.runs {
		if !r.waits.Load() && r.watched.looks.Load() > longLooks {
			r.watched.begin()
			r.interrupt(boterr.New(boterr.ResourceExhausted, "",
				"the memory grew by more than %d bytes while the script ran: see Options.MaxMemory", m.most))
		}
	}
}
