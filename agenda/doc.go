// Package agenda schedules nodes: it keeps agendas, reads CRON patterns, and runs what
// falls due.
//
// An agenda says that a node runs for a member at a time, once or by a pattern.
// Operations make, change and delete agendas; a Scheduler claims those that are due and
// gives each to a handler. Any number of schedulers on one store share the work.
//
// # When an agenda runs
//
// An agenda is due at its nextRunAt. Of those that are due, a smaller priority runs
// first, then the earlier nextRunAt, then the one that was made first. After a downtime a
// pattern runs once, late, and goes on from the time it is then; an agenda without a
// pattern always runs. An agenda never overlaps itself.
//
// Each scheduled time is run at least once: where a worker dies, or a run fails, another
// attempt follows. Agenda.ID and the scheduled time together, Run.Key, tell a repetition
// from a new occurrence.
package agenda
