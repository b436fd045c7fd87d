package script

// memoryWatch ends scripts that have run for long while the memory of the process grows.
type memoryWatch struct{ most int64 }

// watched is what the watch knows of a run.
type watched struct{}

// begin tells that a run begins to compute.
func (w *watched) begin() {}

func newMemoryWatch(most int64) *memoryWatch { return &memoryWatch{most: most} }

func (m *memoryWatch) add(*run) {}

func (m *memoryWatch) remove(*run) {}
