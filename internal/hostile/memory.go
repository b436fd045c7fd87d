package hostile

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// meter measures the memory of calls, one after the other, beside that of the store.
type meter struct {
	// idle are the bytes of the heap while no call runs.
	idle uint64
}

// tolerated is what calls may leave to be collected before a collection is worth its time.
const tolerated = 32 << 20

// rest collects what others left, where that is much.
func (m *meter) rest() {
	if m.idle == 0 || heapNow().objects > m.idle+tolerated {
		runtime.GC() //nolint:revive // What others left is not the call's.
		m.idle = heapNow().objects
	}
}

// pace lets the heap grow to nearly the bound before it is collected, and keeps it there as
// long as that is possible: so nobody pays for going through the store for a call that makes
// little, and one that grows beyond the bound needs as much. The result sets the usual pace.
func (m *meter) pace() (usual func()) {
	const room = MostMemory / 4 * 3 // A collection takes time, while the call goes on.
	now := heapNow()
	limit := debug.SetMemoryLimit(int64(min(m.idle+now.beside+room, math.MaxInt64)))
	percent := debug.SetGCPercent(-1)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// memoryWatch samples the heap while a call runs.
type memoryWatch struct {
	idle, most  uint64
	stop, ended chan struct{}
}

// betweenSamples is short beside the time in which a call can make much.
const betweenSamples = time.Millisecond

func (m *meter) watch() *memoryWatch {
	w := &memoryWatch{idle: m.idle, stop: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		ticker := time.NewTicker(betweenSamples)
		defer ticker.Stop()
		for {
			w.most = max(w.most, heapNow().objects)
			select {
			case <-w.stop:
				return
			case <-ticker.C:
			}
		}
	}()
	return w
}

// end returns the most bytes that there were beside the store, those that waited to be
// collected included.
func (w *memoryWatch) end() uint64 {
	close(w.stop)
	<-w.ended
	w.most = max(w.most, heapNow().objects)
	return w.most - min(w.most, w.idle)
}

// heap is what the runtime tells of its memory in bytes: objects that have not been
// collected, and what the limit of the memory counts beside them.
type heap struct{ objects, beside uint64 }

func heapNow() heap {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	value := func(i int) uint64 { return samples[i].Value.Uint64() }
	return heap{objects: value(0), beside: value(1) - value(2) - value(3) - value(0)}
}
