// Package lease decides which process may work on something, for any number of processes on one store. Claims
// expire by the store's clock, and have a fencing token that distinguishes them from later ones.
//   - To restrict work to one process at a time, use [New] and [Leases.Acquire].
//   - To renew the claims of a process, use [Held].
//   - To store a holder's results, select the record with [Holds].
//
// Agendas are claimed in their own records, lanes in separate records (see Leases). This package has the
// common part: a claim sets FieldUntil and increments FieldFence in one atomic write that applies only if the
// record has not changed since it was read; Held renews the claims of a process each quarter of the lease,
// and ends the ones that it cannot renew; a later write of a former holder matches no record if another
// process has claimed it since, see Holds.
//
// Durations are measured by the given clock, and leases are judged by the store's clock: a process whose
// clock is wrong cannot take another process's claim.
package lease
