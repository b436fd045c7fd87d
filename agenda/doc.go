// Package agenda schedules nodes: an agenda says that a node runs for a member at a time, once or by a CRON pattern.
//
//   - To schedule a node, call NewAgenda of botctx.Context with [NewAgendaParams].
//   - To move or remove what is scheduled, call UpdateAgenda and DeleteMemberAgenda, see
//     [Operations].
//   - To run what falls due, call Run of botctx.Runtime in a host. [Hooks] and a [Handler] around its own, which
//     botctx.SchedulerOptions take, see each [Run].
//
// # When an agenda runs
//
// An agenda is due at its nextRunAt. Of those that are due, a smaller priority runs first, then the
// earlier nextRunAt, then the one that was made first. After a downtime a pattern runs once, late,
// and goes on from the time it is then; so it does after a run that took longer than until the next
// occurrence, which is then late. Each occurrence is run, or told as missed. An agenda without a
// pattern always runs. An agenda never overlaps itself.
//
// Each scheduled time is run at least once: where a process dies, or a run fails, another
// attempt follows. Agenda.ID and the scheduled time together, Run.Key, tell a repetition
// from a new occurrence; a node that must not do something twice remembers the key. Where a process loses
// the lease of an agenda that it runs, the context of the run ends, and another process begins a new attempt. The two
// may overlap for as long as the first one goes on after its context has ended, or its process stood still.
//
// # CRON patterns
//
// A pattern has 5 to 7 fields, apart by spaces, for the wall clock of a time zone. Five fields are minutes (0-59), hours
// (0-23), days of the month (1-31), months (1-12 or jan-dec) and days of the week (0-7 or sun-sat; 0 and 7 are Sunday).
// A sixth, at the end, is years (1970-2099). Seven begin with seconds (0-59). Without seconds a pattern fires at
// second 0.
//
// A field is a list, apart by commas, of values, ranges ("9-17"), steps ("*/5", "0-30/10"; "7/10" goes on to the end
// of the field) and "*". Days of the month may be "L" (the last day), "15W" (the weekday nearest to the 15th in its
// month) and "LW" (the last weekday); days of the week may be "5L" (the last Friday of the month) and "1#2" (the second
// Monday). In both, "?" is "*". Where neither of the two is "*", either of them is enough: "0 0 13 * 5" fires on each
// 13th and on each Friday.
//
// Instead of fields there may be one macro: @yearly, @annually, @monthly, @weekly, @daily or @hourly. Upper and lower
// case are the same.
//
// The zone is the one that the pattern names in front, see [InZone], else that of the member. Where it changes its
// clocks:
//
//   - In a gap, when clocks go forward, a pattern of fixed hours that names times within the
//     gap fires once, at the first instant after it. One whose hours are a wildcard has
//     nothing to make up for and does not.
//   - In an overlap, when clocks go back, a pattern with a wildcard for its seconds, minutes or
//     hours fires in both passes, and any other once, in the first.
//
// A wildcard is "*" or "*/n". A pattern that never fires, such as one for 30 February, is InvalidArgument.
package agenda
