// Package agendas stores agendas and runs them when they fall due. A Service implements the operations. A Scheduler
// claims due agendas and passes each to a handler. Any number of schedulers on one store share the work.
//
// At most one worker holds an agenda. A claim is one atomic write that sets a lease and increments a fencing token,
// and applies only if the agenda has not changed since it was read. The lease is judged by the store's clock alone,
// so a worker whose clock is wrong neither takes another worker's agenda nor misses its turn.
//
// A worker renews the leases of its agendas. If it cannot, because it was stopped or the store does not answer, it
// loses the agenda at the end of the lease: the context of its run ends, and another worker begins a new attempt.
// The two runs overlap if the first handler ignores the end of its context, or if its process was suspended. The
// result of the first run then has no effect, because the fencing token has changed. A result also has no effect if
// the agenda was deleted or replaced during the run. If the agenda got a new schedule during the run, that schedule
// is kept.
//
// A start of a run never came back if its worker did not store an outcome. This is a failure of the agenda if the
// scheduler held no other agenda. Otherwise the agendas that the scheduler held are run again one at a time, until
// the one that kills its process is found.
package agendas

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/cron"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
)

// Ports are the dependencies of a Service.
type Ports struct {
	// Members serves the members of the scope's app. Required.
	Members members.Getter
	// Zone returns the time zone for a member's patterns that do not name one. The default is UTC.
	Zone Zone
	// Tree returns the tree of a node for a member if a call does not name one. The default is the member's current
	// tree.
	Tree func(ctx context.Context, m *member.Member, nodeCompositeID string) (string, error)
	// CheckNode returns an error if the host has no such node. Updates call it for a node that is partly given and partly
	// stored. By default all nodes exist.
	CheckNode func(tree, nodeCompositeID string) error
}

// Service implements the operations on the agendas of one app. It is safe for concurrent use.
type Service struct {
	env     record.Env
	scope   record.Scope
	ports   Ports
	agendas *record.Collection
}

var _ agenda.Operations = (*Service)(nil)

// New returns the Service for a scope. Missing optional ports get their defaults.
func New(env record.Env, scope record.Scope, ports Ports) *Service {
	if ports.Tree == nil {
		ports.Tree = func(_ context.Context, m *member.Member, _ string) (string, error) { return m.BotMeta.Tree(), nil }
	}
	if ports.CheckNode == nil {
		ports.CheckNode = func(string, string) error { return nil }
	}
	return &Service{
		env:     env.WithDefaults(),
		scope:   scope,
		ports:   ports,
		agendas: record.OfApp(env, schema, scope.App),
	}
}

// EnsureIndexes creates the indexes that the operations need in a store, unless they exist. Call it once before
// the store is used. The indexes find the agendas of a member, and list the agendas of an app or a member in
// pages by id. Errors come from store.Collection.EnsureIndex.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	for _, index := range []store.Index{
		// Completed agendas are in a separate part of the index, so that they do not slow down the operations.
		store.Ascending(record.FieldApp, fieldMember, fieldCompleted, fieldTag),
		store.Ascending(record.FieldApp, record.FieldID),
		store.Ascending(record.FieldApp, fieldMember, record.FieldID),
	} {
		if err := database.Collection(schema.Collection).EnsureIndex(ctx, index); err != nil {
			return err
		}
	}
	return nil
}

// Find returns stored agendas of the app, or an empty slice. For example, this call returns the failed ones:
//
//	service.Find(ctx, record.Query{Filter: document.O("failed", true)})
//
// Filter and SortBy use the JSON names of the fields of agenda.Record. InvalidArgument: the filter, the order
// or a limit is invalid. FailedPrecondition: a stored record is not an agenda.
func (s *Service) Find(ctx context.Context, query record.Query) ([]*agenda.Record, error) {
	found, err := s.agendas.Find(ctx, query)
	if err != nil {
		return nil, err
	}
	return record.ReadAll(found, fromDocument)
}

// List is like Find, but one record does not hide the others: if a stored record is not an agenda, unreadable gets the
// error, and the result has an agenda with only its ID.
func (s *Service) List(ctx context.Context, query record.Query, unreadable func(context.Context, error)) ([]*agenda.Record, error) {
	found, err := s.agendas.Find(ctx, query)
	if err != nil {
		return nil, err
	}
	return record.ReadEach(ctx, found, fromDocument, unreadable)
}

// ofMember returns a view of a member's agendas. A tag other than "" selects only agendas with this tag.
func (s *Service) ofMember(memberID, tag string) *record.Collection {
	agendas := s.agendas.Where(fieldMember, memberID)
	if tag != "" {
		return agendas.Where(fieldTag, tag)
	}
	return agendas
}

// openFilter returns the filter for the open agendas that a call affects. tag may be "".
func openFilter(tag string) document.Object {
	filter := document.O(fieldCompleted, false)
	if tag == "" {
		filter = filter.With(fieldTag, document.O("$not", document.O("$regex", "^"+agenda.LiveChatTagPrefix)))
	}
	return filter
}

// errNoTag is the error for a replace without a tag.
var errNoTag = boterr.Invalid("tag", "is missing: replace removes the agendas of one tag, so give the tag")

// inMeta adds the field meta to an InvalidArgument error of a write. The other parameters were checked before,
// so the store can only have refused a meta that is too deep or too large.
func inMeta(err error) error {
	if boterr.CodeOf(err) != boterr.InvalidArgument {
		return err
	}
	return boterr.WithField("meta", err)
}

// NewAgenda implements Operations.
func (s *Service) NewAgenda(ctx context.Context, p agenda.NewParams) (*agenda.Agenda, error) {
	given, err := scheduleOf(&p)
	if err != nil {
		return nil, err
	}
	m, err := members.Load(ctx, s.ports.Members, members.ByRequiredID(p.MemberID))
	if err != nil {
		return nil, err
	}
	planned, err := s.plan(ctx, m, given)
	if err != nil {
		return nil, err
	}
	if err := planned.check(given); err != nil {
		return nil, err
	}
	if p.TreeID == "" {
		if p.TreeID, err = s.ports.Tree(ctx, m, p.NodeCompositeID); err != nil {
			return nil, err
		}
	}
	made := s.newRecord(m, p, planned)
	// If the run that creates the agenda is tried again, the agenda gets the same id, and its runs the same
	// keys.
	made.ID = s.env.SendID(ctx, fmt.Sprintf("agenda %q %q %q", m.ID, p.NodeCompositeID, p.Tag))
	if p.Replace {
		last, _, err := s.lastOf(ctx, p.MemberID, p.Tag, openFilter(p.Tag))
		if err != nil {
			return nil, err
		}
		made.Replaces = last + 1
	}
	inserted, err := s.insert(ctx, made)
	if boterr.CodeOf(err) == boterr.AlreadyExists {
		inserted, err = s.agendas.Get(ctx, made.ID)
	}
	if err != nil {
		return nil, err
	}
	if p.Replace {
		// The earlier agendas of the tag are removed only now that the new one exists.
		if err := s.removeReplaced(context.WithoutCancel(ctx), p.MemberID, p.Tag); err != nil {
			return nil, err
		}
	}
	stored, err := fromDocument(inserted)
	if err != nil {
		return nil, err
	}
	return &stored.Agenda, nil
}

// maxRecord is the maximum size of an agenda in an operation. The rest of document.MaxSize is room for the fields of
// claims and failures.
const maxRecord = document.MaxSize - 4<<10

// insert adds a record and returns the stored document.
func (s *Service) insert(ctx context.Context, made agenda.Record) (document.Object, error) {
	encoded, err := document.Encode(made)
	if err == nil {
		err = document.CheckExtent(encoded, maxRecord)
	}
	if err != nil {
		return document.Object{}, inMeta(err)
	}
	inserted, err := s.agendas.Insert(ctx, encoded)
	if err == nil {
		notify(s.env.Store, made.NextRunAt.Time())
	}
	return inserted, inMeta(err)
}

// scheduleOf checks the parameters and returns their schedule.
func scheduleOf(p *agenda.NewParams) (schedule, error) {
	given := schedule{next: p.NextRunAt, pattern: p.Pattern, until: p.RunUntil}
	if _, err := members.ByRequiredID(p.MemberID).Resolve(); err != nil {
		return given, err
	}
	switch {
	case p.NodeCompositeID == "":
		return given, boterr.Missing("nodeCompositeId", "the id of the node to run")
	case given.next == 0 && given.pattern == "":
		return given, boterr.Missing("nextRunAt", "the time of the run, or a pattern")
	case p.Replace && p.Tag == "":
		return given, errNoTag
	}
	return given, given.checkGiven()
}

func (s *Service) newRecord(m *member.Member, p agenda.NewParams, planned schedule) agenda.Record {
	made := agenda.Record{
		Agenda: agenda.Agenda{
			Channel: m.Channel, Member: m.ID,
			Tree: p.TreeID, NodeCompositeID: p.NodeCompositeID,
			NextRunAt: planned.next, Meta: p.Meta, Tag: p.Tag,
		},
		Pattern: planned.pattern, Zone: planned.zone, RunUntil: planned.until,
	}
	if m.ID == s.scope.Member {
		made.GroupExternalID = s.scope.GroupExternalID
	}
	if p.Priority != nil {
		made.Priority = *p.Priority
	}
	if made.Meta.IsZero() {
		made.Meta = document.O()
	}
	return made
}

// DeleteMemberAgenda implements Operations.
func (s *Service) DeleteMemberAgenda(
	ctx context.Context, p agenda.DeleteParams,
) (agenda.DeleteResult, error) {
	if _, err := members.ByRequiredID(p.MemberID).Resolve(); err != nil {
		return agenda.DeleteResult{}, err
	}
	if _, err := s.ofMember(p.MemberID, p.Tag).Delete(ctx, openFilter(p.Tag)); err != nil {
		return agenda.DeleteResult{}, err
	}
	return agenda.DeleteResult{ClientMutationID: s.env.NewID()}, nil
}

// latestTime is the latest time in a schedule. It is the latest Date of ECMAScript, in which bot logic may be
// written.
const latestTime document.Timestamp = 8_640_000_000_000_000

// A schedule is the part of an agenda that decides when it runs, as given or stored.
type schedule struct {
	// next is the next run. pattern gives the runs after next, up to and including until. Absent fields are
	// zero. An agenda repeats only if it has both pattern and until.
	next    document.Timestamp
	pattern string
	until   document.Timestamp
	// zone is the zone of pattern. It is "" for UTC, and if the pattern names a zone.
	zone string
}

// checkGiven returns an error for an invalid time or pattern, even if the call does not need it.
func (s schedule) checkGiven() error {
	if err := checkTime("nextRunAt", s.next); err != nil {
		return err
	}
	if err := checkTime("runUntil", s.until); err != nil || s.pattern == "" {
		return err
	}
	_, err := cron.Parse(s.pattern, "")
	return err
}

func checkTime(field string, at document.Timestamp) error {
	if at < 0 || at > latestTime {
		return boterr.Invalid(field, "must be a time in Unix milliseconds between 1 and %d, got %d", latestTime, at)
	}
	return nil
}

// firstRun returns the first run of a schedule: next if it is set, otherwise the first time of the pattern after now.
// It returns 0 if the schedule has neither.
func (s schedule) firstRun(now time.Time) (document.Timestamp, error) {
	if s.pattern == "" || s.next != 0 {
		return s.next, nil
	}
	pattern, err := cron.Parse(s.pattern, s.zone)
	if err != nil {
		return 0, err
	}
	first, ok := pattern.Next(now)
	if !ok {
		return 0, boterr.Invalid("pattern", "never fires after %s", now.UTC().Format(time.RFC3339))
	}
	return document.TimestampOf(first), nil
}

// check returns an error for a schedule that no agenda may have: a given pattern with neither next nor until,
// or a schedule that checkEnd refuses. given is the schedule in the call, for the error.
func (s schedule) check(given schedule) error {
	if given.pattern != "" && given.next == 0 && s.until == 0 {
		return boterr.Missing("runUntil", "the last instant at which the pattern may run")
	}
	return s.checkEnd(given)
}

// checkEnd returns an error if the pattern ends before the next run.
func (s schedule) checkEnd(given schedule) error {
	switch {
	case s.pattern == "" || s.until == 0 || s.next <= s.until:
		return nil
	case given.next != 0:
		return boterr.Invalid("nextRunAt", "is %s, which is after runUntil, %s: no run is left; give an earlier nextRunAt or a later runUntil",
			text(s.next), text(s.until))
	case given.pattern != "":
		return boterr.Invalid("pattern", "first fires at %s, which is after runUntil, %s: no run is left; give a later runUntil, in milliseconds",
			text(s.next), text(s.until))
	default:
		return boterr.Invalid("runUntil", "is %s, and the next run is at %s: no run is left; delete the agenda to end it",
			text(s.until), text(s.next))
	}
}

// text formats a time for errors.
func text(at document.Timestamp) string { return at.Time().Format(time.RFC3339Nano) }

// The fields of the documents.
const (
	fieldMember          = "member"
	fieldTree            = "tree"
	fieldNodeCompositeID = "nodeCompositeId"
	fieldNextRunAt       = "nextRunAt"
	fieldPriority        = "priority"
	fieldMeta            = "meta"
	fieldTag             = "tag"
	fieldCompleted       = "completed"
	fieldGroupExternalID = "groupExternalId"
	fieldPattern         = "pattern"
	fieldZone            = "zone"
	fieldRunUntil        = "runUntil"
	fieldReplaces        = "replaces"
	fieldFence           = lease.FieldFence
	fieldLeaseUntil      = lease.FieldUntil
	fieldHeldAt          = "heldAt"
	fieldClaim           = "claim"
	fieldNotAlone        = lease.FieldNotAlone
	fieldLost            = "lost"
	fieldBegun           = "begun"
	fieldAttempts        = "attempts"
	fieldFailures        = "failures"
	fieldRetryAt         = "retryAt"
	fieldFailed          = "failed"
	fieldError           = "error"
	fieldFailedAt        = "failedAt"
)

// schema describes the records of agendas.
var schema = &record.Schema{
	Name:       "agenda",
	Collection: "agendas",
	Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt},
	Fixed:      []string{record.FieldCreatedAt, record.FieldApp, record.FieldChannel, fieldMember},
}

// fromDocument decodes a stored agenda.
func fromDocument(o document.Object) (*agenda.Record, error) {
	r := new(agenda.Record)
	if err := read(r, o); err != nil {
		return nil, err
	}
	return r, nil
}

// read decodes a stored document into r.
func read(r *agenda.Record, o document.Object) error {
	*r = agenda.Record{}
	if err := document.Decode(o, r); err != nil {
		return record.Unreadable(schema, o, err)
	}
	if r.Meta.IsZero() {
		r.Meta = document.O()
	}
	return nil
}

// retentionPause is the time between two removals by Run.
const retentionPause = time.Hour

// RemoveCompleted removes the completed agendas whose last scheduled time is longer ago than
// SchedulerConfig.Retention, and the agendas that failed for good longer ago than FailedRetention, by the
// store's clock. It returns their number. Run calls it each hour. Errors come from the store.
func (s *Scheduler) RemoveCompleted(ctx context.Context) (removed int64, err error) {
	now, err := s.clock.Now(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.agendas.EnsureIndex(ctx, store.Ascending(timesIndex()...)); err != nil {
		return 0, err
	}
	if s.config.Retention >= 0 {
		which := record.Removal{Filter: completedBefore(now.Add(-s.config.Retention))}
		if removed, err = s.records.Remove(ctx, which); err != nil {
			return removed, err
		}
	}
	if s.config.FailedRetention < 0 {
		return removed, nil
	}
	failed, err := s.records.Remove(ctx, record.Removal{Filter: failedBefore(now.Add(-s.config.FailedRetention))})
	return removed + failed, err
}

// completedBefore returns a filter for completed agendas whose last scheduled time is before a time.
func completedBefore(at time.Time) document.Object {
	return document.O(fieldCompleted, true, fieldFailedAt, nil, fieldNextRunAt, document.O("$lt", millis(at)))
}

// failedBefore returns a filter for agendas that failed for good before a time.
func failedBefore(at time.Time) document.Object {
	return document.O(fieldCompleted, false, fieldFailedAt, document.O("$gt", 0, "$lt", millis(at)))
}

// applyRetention removes old agendas and logs an error.
func (s *Scheduler) applyRetention(ctx context.Context) {
	back := s.inFlight.begin("the removal of completed agendas")
	defer back()
	defer safelog.Recovered(ctx, s.log, "agenda: removal panicked", nil)
	if _, err := s.RemoveCompleted(ctx); err != nil && ctx.Err() == nil {
		s.log.LogAttrs(ctx, slog.LevelWarn, "agenda: completed agendas not removed", slog.String("error", display.Text(err)))
	}
}

// EraseMember removes all agendas of a member and returns their number. A run in progress finishes, but its result is
// not stored. EraseMember works in batches; after an error, call it again. It returns InvalidArgument if the id of
// the app or the member is missing. Other errors come from the store.
func EraseMember(ctx context.Context, env record.Env, app, memberID string) (removed int64, err error) {
	switch {
	case app == "":
		return 0, boterr.Missing("app", "the id of the member's app")
	case memberID == "":
		return 0, boterr.Missing("memberId", "the id of the member to erase")
	}
	return record.OfApp(env, schema, app).Remove(ctx, record.Removal{Filter: document.O(fieldMember, memberID)})
}
