package agenda

import "github.com/botctx/go-sdk/document"

// Agenda is the record of a scheduled execution, as operations show it.
type Agenda struct {
	// ID is the primary key.
	ID string `json:"_id,omitzero"`
	// App is the app that it belongs to.
	App string `json:"app,omitzero"`
	// Channel is the id of the member's channel, Member that of the member.
	Channel string `json:"channel,omitzero"`
	Member  string `json:"member,omitzero"`
	// Tree is the id of the node's tree, NodeCompositeID that of the node.
	Tree            string `json:"tree,omitzero"`
	NodeCompositeID string `json:"nodeCompositeId,omitzero"`
	// NextRunAt is when it runs next, and after its last run when that was due.
	NextRunAt document.Timestamp `json:"nextRunAt,omitzero"`
	// Priority decides among those that are due: a smaller number runs first.
	Priority int64 `json:"priority"`
	// Meta is what the node sees as AgendaMeta.
	Meta document.Object `json:"meta,omitzero"`
	// Tag is the name by which it is replaced and deleted, "" where it has none.
	Tag string `json:"tag,omitzero"`
	// Completed tells that it has run for the last time.
	Completed bool `json:"completed"`
}

// String returns the agenda as JSON with readable times and without credentials, for logs and failures of tests.
func (a *Agenda) String() string { return document.Text(a) }

// GoString is String, for failures of tests.
func (a *Agenda) GoString() string { return a.String() }

//go:generate go run ../internal/genfields Record

// Record is an agenda as the store keeps it: with its schedule, and with what the
// scheduler notes. Operations show the Agenda in it.
type Record struct {
	Agenda

	// GroupExternalID is the id on the platform of the group in which the member was talking
	// with the bot when it was made. "" for none.
	GroupExternalID string `json:"groupExternalId,omitzero"`
	// Pattern is the CRON pattern that gives the runs after NextRunAt up to RunUntil. Where
	// either is absent it runs once. Zone is the IANA name of the time zone that Pattern is
	// read in, as the host gave it for the member before NextRunAt was found. It is "" for UTC,
	// and where Pattern names its own, see InZone.
	Pattern string `json:"pattern,omitzero"`
	Zone    string `json:"zone,omitzero"`
	// RunUntil is the last instant for which the pattern may schedule a run.
	RunUntil document.Timestamp `json:"runUntil,omitzero"`
	// CreatedAt is when the record was made, UpdatedAt when an operation last changed it.
	CreatedAt document.Timestamp `json:"createdAt,omitzero"`
	UpdatedAt document.Timestamp `json:"updatedAt,omitzero"`
	// Replaces is the number of the replacement that made it, counted for each member and
	// tag. 0 where it was made without replace.
	Replaces int64 `json:"replaces,omitzero"`

	// Fence is the fencing token of the last claim. It grows with each claim, and when one is lost.
	Fence int64 `json:"fence,omitzero"`
	// LeaseUntil is set while a worker holds it: nobody else claims it before that instant
	// of the store's clock. If it has passed, the worker died or lost the agenda.
	LeaseUntil document.Timestamp `json:"leaseUntil,omitzero"`
	// HeldAt is when the lease, or the pause until RetryAt, was written, by the store's clock. If that is
	// in the future, the clock was set back, and neither of them counts as it stands.
	HeldAt document.Timestamp `json:"heldAt,omitzero"`
	// Claim names the scheduler that holds it and, if one write claimed several agendas, that claim.
	Claim string `json:"claim,omitzero"`
	// Beside is true while it is held if another agenda of the same scheduler was lost.
	Beside bool `json:"beside,omitzero"`
	// Lost is how many starts for this NextRunAt never came back beside others, which is no failure.
	Lost int64 `json:"lost,omitzero"`
	// Begun is true while it is held, until updateAgenda gives it another schedule.
	Begun bool `json:"begun,omitzero"`
	// Attempts is the number of claims for this NextRunAt whose run began, or may have, and Failures the
	// number of those that failed, before it began, too, or never came back and ran alone. A new schedule removes
	// both, and Begun. So an agenda that is held, has no Attempts and is not Begun was given another schedule
	// after it was claimed, perhaps for the same time: the end of the run leaves that schedule as it is, and counts no
	// failure. RunUntil may change without it: the end of the run schedules nothing later than the RunUntil
	// that is stored then.
	Attempts int64 `json:"attempts,omitzero"`
	Failures int64 `json:"failures,omitzero"`
	// RetryAt is when the next attempt is due after one that failed.
	RetryAt document.Timestamp `json:"retryAt,omitzero"`
	// Failed is true if all attempts for NextRunAt, or for the occurrence of the pattern before it,
	// failed. Error is the text of the last failure.
	Failed bool   `json:"failed,omitzero"`
	Error  string `json:"error,omitzero"`
	// FailedAt is when an agenda that failed for good did so, by the store's clock. No attempt follows,
	// until updateAgenda gives it another schedule.
	FailedAt document.Timestamp `json:"failedAt,omitzero"`
}

// String returns the agenda as JSON with readable times and without credentials, for logs and failures of tests.
func (r *Record) String() string { return document.Text(r) }

// GoString is String, for failures of tests.
func (r *Record) GoString() string { return r.String() }

// Repeats reports whether the agenda may run again after NextRunAt: by its pattern, up to its RunUntil. Without
// either it runs once.
func (r *Record) Repeats() bool { return r.Pattern != "" && r.RunUntil != 0 }
