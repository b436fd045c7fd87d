// Package lease decides which process may work on something, for any number of processes on one store: by
// claims that hold for a time of the store's clock, with a fencing token to distinguish them from later ones.
//
//   - To let one process at a time do something, use [New] and [Leases.Acquire].
//   - To renew the claims that a process has, use [Held].
//   - To store what a holder has done, find the record by [Holds].
//
// Agendas are claimed in their own records, lanes in separate records (see Leases). This package has the
// common part: a claim sets FieldUntil and increments FieldFence in one atomic write that applies only if the
// record has not changed since it was read; Held renews the claims of a process each quarter of the lease,
// and ends the ones that it cannot renew; a later write of a former holder matches no record if another
// process has claimed it since, see Holds.
//
// Durations are measured by the given clock, and leases are judged by the store's clock: a process whose
// clock is wrong takes nothing that another one holds.
package lease
