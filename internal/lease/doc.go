// Package lease decides which process may work on something, for any number of processes on one store. A claim
// expires by the store's clock. Its fencing token distinguishes it from later claims.
//   - To restrict work to one process at a time, use [New] and [Leases.Acquire].
//   - To renew the claims of a process, use [Held].
//   - To store a holder's results safely, select the record with [Holds].
//
// Agendas are claimed in their own records, lanes in separate records (see Leases). Both use the same
// protocol. A claim sets FieldUntil and increments FieldFence in one atomic write, which applies only if the
// record has not changed since it was read. Held renews the claims of a process four times per lease, and
// ends the runs whose claims it cannot renew. If another process has claimed a record, late writes of the
// former holder match no record (see Holds).
//
// Durations are measured with the given clock, but only the store's clock decides whether a lease has expired. So a
// process with a wrong clock cannot take another process's claim.
package lease
