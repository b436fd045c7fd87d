package hostile

import (
	"runtime/metrics"
	"time"
)

// memoryWatch samples the memory of the heap, what waits to be collected included.
type memoryWatch struct {
	first, most uint64
	stop, ended chan struct{}
}

// betweenSamples is short beside the time in which a call can make much.
const betweenSamples = time.Millisecond

func watchMemory() *memoryWatch {
	w := &memoryWatch{first: heap(), stop: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		ticker := time.NewTicker(betweenSamples)
		defer ticker.Stop()
		for {
			w.most = max(w.most, heap())
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
	w.most = max(w.most, heap())
	return w.most - min(w.most, w.first)
}

func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
