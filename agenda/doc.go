// Package agenda schedules nodes: it keeps agendas, reads CRON patterns, and runs what
// falls due.
//
//   - To schedule a node, call NewAgenda of botctx.Context with [NewAgendaParams].
//   - To move or remove what is scheduled, call UpdateAgenda and DeleteMemberAgenda, see
//     [Operations].
//   - To run what falls due, call Run of botctx.Runtime in a host, which has a [Scheduler].
//
// An agenda says that a node runs for a member at a time, once or by a pattern.
// Operations make, change and delete agendas; a Scheduler claims those that are due and
// gives each to a handler. Any number of schedulers on one store share the work.
//
// # When an agenda runs
//
// An agenda is due at its nextRunAt. Of those that are due, a smaller priority runs first, then the
// earlier nextRunAt, then the one that was made first. After a downtime a pattern runs once, late,
// and goes on from the time it is then; so it does after a run that took longer than until the next
// occurrence, which is then late. Each occurrence is run, or told as missed. An agenda without a
// pattern always runs. An agenda never overlaps itself.
//
// # What holds across processes
//
// Each scheduled time is run at least once: where a worker dies, or a run fails, another
// attempt follows. Agenda.ID and the scheduled time together, Run.Key, tell a repetition
// from a new occurrence; a handler that must not do something twice remembers the key.
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
package agenda
