// Package bounded limits the size, duration and origin of the responses of services. Every client
// of a backend uses it, so that a server that never stops sending, or redirects, costs a host no
// more than the limits.
package bounded
