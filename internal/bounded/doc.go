// Package bounded limits the size and duration of responses from services, and refuses redirects. Every client of a
// backend uses it, so that a server that sends endlessly, or redirects, costs the host no more than the limits.
package bounded
