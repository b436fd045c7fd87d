package sendtest

import "time"

// Impatient returns a harness of which no call may take long that is to end by itself.
func Impatient(h *Harness) *Harness {
	h.patience = 300 * time.Millisecond
	return h
}
