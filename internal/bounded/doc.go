// Package bounded reads the answers of services within bounds: on their bytes, on the time they take, and on
// where they come from. Every client of a backend goes through it, so that a server that never stops sending, or
// that sends a client elsewhere, costs a host no more than the bounds.
package bounded
