// Package agendas keeps agendas, and runs what falls due. A Service carries out the operations; a Scheduler claims the
// agendas that are due and gives each to a handler. Any number of schedulers on one store share the work.
//
// At most one worker holds an agenda. Its claim is one atomic write that sets a lease and counts up
// a fencing token, and finds the agenda only as it was seen; the lease is judged by the store's
// clock alone, so that a worker whose clock is wrong neither takes what another one holds nor
// misses its turn. A worker renews the leases of what it runs. One that cannot, because it or the
// store does not answer, loses the agenda at the end of the lease: the context of its run ends, and
// another worker begins a new attempt. The two may overlap for as long as the first handler goes on
// after its context has ended, or its process stood still; what the first one stores at its end has
// no effect, since the fencing token has changed. Nor has it where the agenda was deleted or
// replaced while it ran. Where the agenda was given another schedule, that schedule stays.
//
// A start that never came back is a failure of the agenda if its scheduler held nothing else. Otherwise
// the agendas that it held are run again one at a time, until it is known which one ends its process.
package agendas
