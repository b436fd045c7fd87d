// Package agenda schedules nodes: an agenda runs a node for a member, once at a given time or repeatedly by a
// CRON pattern.
//   - To schedule a node, call NewAgenda of botctx.Context with [NewParams].
//   - To move or remove agendas, call UpdateAgenda or DeleteMemberAgenda; see [Operations].
//   - To run agendas when they fall due, call Run of botctx.Runtime in a host. To see each [Run], set [Hooks]
//     or Around of botctx.SchedulerOptions.
//
// # When an agenda runs
//
// An agenda is due at its nextRunAt. Among due agendas, a smaller priority runs first, then the earlier nextRunAt,
// then the earlier creation. After a downtime, or after a run that lasted beyond the next occurrence, a pattern runs
// once, late, and continues from the present. Each occurrence is either run or counted as missed. An agenda without
// a pattern runs however late it is. An agenda never overlaps itself.
//
// Each scheduled time is run at least once: if a process dies, or a run fails, another attempt follows.
// Run.Key, which consists of Agenda.ID and the scheduled time, distinguishes a further attempt from a new
// occurrence; a node that must not repeat its effect should store the key. If a process loses the lease of an
// agenda that it runs, the context of the run ends, and another process begins a new attempt. The two attempts
// overlap if the first one ignores the end of its context, or if its process was suspended.
//
// # CRON patterns
//
// A pattern has 5 to 7 fields, separated by spaces, for the wall clock of a time zone. Five fields are
// minutes (0-59), hours (0-23), days of the month (1-31), months (1-12 or jan-dec) and days of the week (0-7
// or sun-sat; 0 and 7 are Sunday). A sixth field, at the end, is years (1970-2099). If there are seven fields,
// the first is seconds (0-59). Without seconds a pattern fires at second 0.
//
// A field is a list, separated by commas, of values, ranges ("9-17"), steps ("*/5", "0-30/10"; "7/10"
// continues to the end of the field) and "*". Days of the month may be "L" (the last day), "15W" (the weekday
// nearest to the 15th in its month) and "LW" (the last weekday); days of the week may be "5L" (the last
// Friday of the month) and "1#2" (the second Monday). In both fields, "?" is the same as "*". If neither of
// them is "*", a pattern fires on days that match either: "0 0 13 * 5" fires on each 13th and on each Friday.
//
// A pattern may also be one macro: @yearly, @annually, @monthly, @weekly, @daily or @hourly. Upper and lower
// case are the same.
//
// The zone is the one at the start of the pattern, see [InZone], or else the member's. When its clocks
// change:
//   - In a gap, when clocks go forward, a pattern with fixed hours that names times within the gap fires once,
//     at the first instant after the gap. A pattern with a wildcard for its hours does not, because it has
//     missed no hour.
//   - In an overlap, when clocks go back, a pattern with a wildcard for its seconds, minutes or hours fires
//     in both passes, and any other once, in the first.
//
// A wildcard is "*" or "*/n". A pattern that never fires, such as a pattern for 30 February, is
// InvalidArgument.
package agenda

import "github.com/botctx/go-sdk/document"

// Agenda is the record of a scheduled execution, as operations show it.
type Agenda struct {
	// ID is the primary key.
	ID string `json:"_id,omitzero"`
	// App is the id of the agenda's app.
	App string `json:"app,omitzero"`
	// Channel is the id of the member's channel. Member is the id of the member.
	Channel string `json:"channel,omitzero"`
	Member  string `json:"member,omitzero"`
	// Tree is the id of the node's tree. NodeCompositeID is the id of the node.
	Tree            string `json:"tree,omitzero"`
	NodeCompositeID string `json:"nodeCompositeId,omitzero"`
	// NextRunAt is the time of the next run, or of the last run if none follows.
	NextRunAt document.Timestamp `json:"nextRunAt,omitzero"`
	// Priority orders agendas that are due: a smaller number runs first.
	Priority int64 `json:"priority"`
	// Meta becomes the node's AgendaMeta.
	Meta document.Object `json:"meta,omitzero"`
	// Tag is the name by which the agenda is replaced and deleted, or "" if it has none.
	Tag string `json:"tag,omitzero"`
	// Completed is true once the agenda has run for the last time.
	Completed bool `json:"completed"`
}

// String returns the agenda as JSON with readable times and without credentials, for logs and test failures.
func (a *Agenda) String() string { return document.Text(a) }

// GoString returns String, so that test failures are readable.
func (a *Agenda) GoString() string { return a.String() }

// Record is an agenda as it is stored, with its schedule and the fields of the scheduler. Operations return
// only the Agenda in it.
type Record struct {
	Agenda

	// GroupExternalID is the platform's id of the group in which the member was talking with the bot when the
	// agenda was created, or "" if there was none.
	GroupExternalID string `json:"groupExternalId,omitzero"`
	// Pattern is the CRON pattern for the runs after NextRunAt up to RunUntil. If either is absent, the
	// agenda runs once. Zone is the IANA name of the pattern's time zone, as the host gave it for the member
	// before NextRunAt was computed. It is "" for UTC, and if Pattern names its own zone, see InZone.
	Pattern string `json:"pattern,omitzero"`
	Zone    string `json:"zone,omitzero"`
	// RunUntil is the last instant for which the pattern may schedule a run.
	RunUntil document.Timestamp `json:"runUntil,omitzero"`
	// CreatedAt is the time of creation. UpdatedAt is the time of the last change by an operation.
	CreatedAt document.Timestamp `json:"createdAt,omitzero"`
	UpdatedAt document.Timestamp `json:"updatedAt,omitzero"`
	// Replaces is the number of the replacement that created the agenda, counted for each member and tag. It
	// is 0 if the agenda was created without replace.
	Replaces int64 `json:"replaces,omitzero"`

	// Fence is the fencing token of the last claim. It increases with each claim, and when a claim is lost.
	Fence int64 `json:"fence,omitzero"`
	// LeaseUntil is set while a worker holds the agenda: no other worker claims it before that time of the
	// store's clock. If the time has passed, the worker died or lost the agenda.
	LeaseUntil document.Timestamp `json:"leaseUntil,omitzero"`
	// HeldAt is the time at which the lease, or the pause until RetryAt, was written, by the store's clock.
	// If it is in the future, the clock was set back, and neither of them counts.
	HeldAt document.Timestamp `json:"heldAt,omitzero"`
	// Claim identifies the scheduler that holds the agenda.
	Claim string `json:"claim,omitzero"`
	// NotAlone is true if the scheduler that held this agenda was lost while it also held others. Such a loss does
	// not count as a failure of the agenda.
	NotAlone bool `json:"notAlone,omitzero"`
	// Lost is the number of runs for this NextRunAt that began while other agendas ran, and whose worker was lost
	// before it stored the outcome. They do not count as failures.
	Lost int64 `json:"lost,omitzero"`
	// Begun is true while the agenda is claimed, until updateAgenda changes its schedule.
	Begun bool `json:"begun,omitzero"`
	// Attempts is the number of claims for this NextRunAt whose run began, or may have begun. Failures is the number
	// of claims that failed, even before the run began, or whose worker was lost while no other agenda ran.
	//
	// A new schedule removes Attempts, Failures and Begun. So if a claimed agenda has neither Attempts nor
	// Begun, it got a new schedule after the claim, perhaps for the same time. The end of the run then keeps
	// that schedule, and counts no failure. If only RunUntil has changed, the end of the run schedules nothing
	// after the stored RunUntil.
	Attempts int64 `json:"attempts,omitzero"`
	Failures int64 `json:"failures,omitzero"`
	// RetryAt is the time of the next attempt after a failed one.
	RetryAt document.Timestamp `json:"retryAt,omitzero"`
	// Failed is true if all attempts for NextRunAt, or for the occurrence of the pattern before it,
	// failed. Error is the text of the last failure.
	Failed bool   `json:"failed,omitzero"`
	Error  string `json:"error,omitzero"`
	// FailedAt is the time at which an agenda failed for good, by the store's clock. No attempt follows until
	// updateAgenda gives it another schedule.
	FailedAt document.Timestamp `json:"failedAt,omitzero"`
}

// String returns the agenda as JSON with readable times and without credentials, for logs and test failures.
func (r *Record) String() string { return document.Text(r) }

// GoString returns String, so that test failures are readable.
func (r *Record) GoString() string { return r.String() }

// Repeats reports whether the agenda may run again after NextRunAt. It needs both a Pattern and a RunUntil.
func (r *Record) Repeats() bool { return r.Pattern != "" && r.RunUntil != 0 }
