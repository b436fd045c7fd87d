package hostile

import (
	"runtime/metrics"
	"time"
)

// memoryWatch samples the memory that is in use: what the last collection left, and before
// the first one what there is. A collection comes at the latest when the heap has doubled, so
// that what waits for it stays below what is in use, and tells nothing about the call.
type memoryWatch struct {
	first, most uint64
	// collections is their number at the beginning.
	collections uint64
	stop, ended chan struct{}
}

// betweenSamples is short beside the time in which a call can make much.
const betweenSamples = time.Millisecond

func watchMemory() *memoryWatch {
	before := heap()
	w := &memoryWatch{
		first: before.objects, collections: before.collections, stop: make(chan struct{}), ended: make(chan struct{}),
	}
	go func() {
		defer close(w.ended)
		ticker := time.NewTicker(betweenSamples)
		defer ticker.Stop()
		for {
			w.most = max(w.most, w.inUse())
			select {
			case <-w.stop:
				return
			case <-ticker.C:
			}
		}
	}()
	return w
}

// end returns how much more memory there was than at the beginning.
func (w *memoryWatch) end() uint64 {
	close(w.stop)
	<-w.ended
	w.most = max(w.most, w.inUse())
	return w.most - min(w.most, w.first)
}

// inUse returns the bytes that are in use, as far as that is known without a collection.
func (w *memoryWatch) inUse() uint64 {
	now := heap()
	if now.collections > w.collections {
		return now.live
	}
	return now.objects
}

// heapSize is what the runtime tells about the heap: the bytes that the last collection left,
// those of all objects, and the number of collections.
type heapSize struct{ live, objects, collections uint64 }

func heap() heapSize {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(samples)
	return heapSize{live: samples[0].Value.Uint64(), objects: samples[1].Value.Uint64(), collections: samples[2].Value.Uint64()}
}
