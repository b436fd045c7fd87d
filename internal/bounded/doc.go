// Package bounded limits the size and the duration of responses of services, and refuses redirects.
// Every client in backends uses it, so that a server that never stops sending cannot exhaust a host. Address builds
// the addresses of requests.
package bounded
