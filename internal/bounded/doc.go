// Package bounded limits the size and the duration of responses of services, and refuses redirects.
// Every client in backends uses it, so that a server that never stops sending cannot exhaust a host. It
// also has what all of them need for addresses, and for errors of requests without an answer.
package bounded
