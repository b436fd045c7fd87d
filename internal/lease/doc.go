// Package lease keeps who may work on what, for any number of processes on one store: claims that
// hold for a time, by the store's clock, and that a fencing token tells from later ones.
//
//   - To let one process at a time do something, use [New] and [Leases.Acquire].
//   - To renew the claims that a process has, use [Held].
//   - To store what a holder has done, find the record by [Holds].
//
// Agendas are claimed in their own records, leases of lanes in records of theirs (see Leases). What
// they have in common is here: a claim sets FieldUntil and counts up FieldFence in one atomic write
// that finds the record only as it was seen; Held renews what a process holds each quarter of the
// lease, and ends what it cannot renew; what a holder stores afterwards finds nothing where
// somebody else has claimed since, see Holds.
//
// What lasts is measured by the clock that is handed in, and judged by the store's: a process
// whose clock is wrong takes nothing that another one holds.
package lease
