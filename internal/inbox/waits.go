package inbox

import "time"

// wait is a lane that waits for a time.
type wait struct {
	lane string
	at   time.Time
}

// waits are in the order of time.
type waits []wait

// Len implements heap.Interface.
func (w waits) Len() int { return len(w) }

// Less implements heap.Interface.
func (w waits) Less(i, j int) bool { return w[i].at.Before(w[j].at) }

// Swap implements heap.Interface.
func (w waits) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

// Push implements heap.Interface.
func (w *waits) Push(x any) {
	next, _ := x.(wait)
	*w = append(*w, next)
}

// Pop implements heap.Interface.
func (w *waits) Pop() any {
	last := len(*w) - 1
	popped := (*w)[last]
	*w = (*w)[:last]
	return popped
}
