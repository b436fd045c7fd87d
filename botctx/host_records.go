package botctx

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/datasources"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// Scope is the app, channel and member that a Context works for.
type Scope = record.Scope

// InboxOptions configures how a Runtime handles accepted events, see Config.Inbox. The zero value of each
// field means its default.
type InboxOptions struct {
	// Workers is the number of lanes that Run handles at once. Apps and channels share them: an app may hold
	// half of the workers that other apps leave, and a channel half of the workers that its app may hold and
	// the app's other channels leave, so the next one finds a worker. One channel alone uses a quarter of
	// them. The default is 64.
	Workers int
	// Poll is the time after which Run looks for events that other processes accepted. The default
	// is a second.
	Poll time.Duration
	// Limit is the number of failures after which an event is a dead letter. The default is 5.
	Limit int
	// Backoff returns the pause after the given number of failures, from 1 on. The default begins with a
	// second and multiplies it by four, up to a minute: a lane whose event always fails continues after 80
	// seconds. If the failure asks for a longer pause, up to an hour (boterr.RetryAfter), that is the pause.
	Backoff func(failures int) time.Duration
	// MaxPending is the number of events of an app that may wait; beyond it Accept is ResourceExhausted
	// for that app. The bound is approximate: each process counts every ten polls what all have accepted.
	// The default is 100,000; a negative number means no bound.
	MaxPending int
	// AcceptTimeout is the time for which Accept waits for a store that does not answer, if its context
	// cannot end, as in a handler that continues after the sender hangs up. It may wait twice as long. The
	// default is 10 seconds.
	AcceptTimeout time.Duration
	// ShutdownTimeout is the time for which Run waits for runs after its context has ended, before it ends
	// the contexts of the runs as well. Then they have 5 seconds. The default is 20 seconds.
	ShutdownTimeout time.Duration
	// Hooks let the host see what happens.
	Hooks InboxHooks
	// Log takes lines about what happens: handled events at debug, failed ones at warn, and dead
	// letters at error. The default is Config.Logger.
	Log *slog.Logger
}

// InboxHooks lets a host see what happens to accepted events: AroundAccept and AroundHandler return what is called
// in the place of Accept and of a run, and Settled is called once the outcome of an attempt is stored.
// backends/otel makes spans and metrics with it.
type InboxHooks = inbox.Hooks

// SaveChannel stores a channel of an app and returns it as stored: with an ID if it had none, with App,
// CreatedAt, UpdatedAt, Version and Etag. It replaces the channel with the same ID. If c has an Etag, it must be
// the stored channel's, or SaveChannel fails with Conflict, or with NotFound if there is no such channel.
//
// InvalidArgument: Type is missing, Info does not belong to Type, or a credential in it was redacted when c was
// read. AlreadyExists: another app has a channel with this ID.
func (r *Runtime) SaveChannel(ctx context.Context, app string, c *channel.Channel) (*channel.Channel, error) {
	return channels.New(r.env, Scope{App: app}).Save(ctx, c)
}

// LoadChannel returns a channel of an app with its credentials, as Config.LoadChannel does by default.
// NotFound: the app has no such channel.
func (r *Runtime) LoadChannel(ctx context.Context, app, id string) (*channel.Channel, error) {
	return channels.New(r.env, Scope{App: app}).Load(ctx, id)
}

// Pair sets which outlets an inlet is paired with, in the order in which they are asked, and replaces the outlets
// set before. Without outlets the inlet is unpaired.
//
// InvalidArgument: an outlet comes twice or is the inlet. NotFound: the app has no such channel. Nothing is stored
// then.
func (r *Runtime) Pair(ctx context.Context, app, inlet string, outlets ...string) error {
	return channels.New(r.env, Scope{App: app}).Pair(ctx, inlet, outlets...)
}

// Pairing returns which outlets an inlet is paired with: none if nothing was set.
func (r *Runtime) Pairing(ctx context.Context, app, inlet string) (*channel.Pairing, error) {
	return channels.New(r.env, Scope{App: app}).Pairing(ctx, inlet)
}

// Query chooses records of an app for a host. Filter and SortBy are MongoDB's, over the JSON fields of the records.
// Limit is the most records to return; 0 is all.
type Query struct {
	Filter document.Object
	SortBy document.Object
	Skip   int64
	Limit  int64
}

// PostComments returns the comments of an app that SavePostCommentAnalytics recorded, or an empty slice. Those on one
// post that matched are
//
//	rt.PostComments(ctx, "shop", botctx.Query{Filter: document.O("postId", id, "isMatched", true)})
//
// InvalidArgument: Filter, SortBy or a number is wrong. FailedPrecondition: what is stored is no comment.
func (r *Runtime) PostComments(ctx context.Context, app string, q Query) ([]*send.PostComment, error) {
	return sends.New(r.guarded, Scope{App: app}, sends.Ports{}).FindPostComments(ctx, record.Query(q))
}

// Members returns the selected members, as the Store keeps them, in the order of their ids, which is the
// order in which they arrived. Config.Override is not used.
//
//	for m, err := range rt.Members(ctx, "shop", member.Selection{Channel: "web", Tag: "vip"}) {
//		if err != nil {
//			return err
//		}
//		...
//	}
//
// It reads 100 members at a time, so memory and the time to the first one do not grow with their number. If
// few members have the tag, or for a Filter, EnsureMemberIndex makes an index that avoids reading the others.
// The id of the last member of a page is After of the next page. A member who arrives meanwhile may be
// missing.
//
// An error ends the list. InvalidArgument: Filter is wrong, or Limit is negative. FailedPrecondition: a
// stored record is no member. Other errors come from the store.
func (r *Runtime) Members(ctx context.Context, app string, chosen member.Selection) iter.Seq2[*member.Member, error] {
	scope := Scope{App: app}
	return r.ownMembers(scope, r.channels(scope)).All(ctx, chosen)
}

// EnsureIndexes makes the indexes that the SDK's own parts need in a store, unless
// they are there. A host calls it once, before it uses the store. The errors are those
// of store.Collection.EnsureIndex; a store that panics is one, too.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	guarded := store.Wrap(database, nil)
	for _, ensure := range []func(context.Context, store.Store) error{
		members.EnsureIndexes, agendas.EnsureIndexes, livechats.EnsureIndexes, sends.EnsureIndexes,
	} {
		if err := ensure(ctx, guarded); err != nil {
			return err
		}
	}
	return inbox.EnsureIndexes(ctx, database) // Which asks whether one process has the store.
}

// EnsureMemberIndex makes the indexes of the members of each app by a path, such as "meta.plan" or "tags",
// unless they exist: one for the operations on one channel, such as PatchMembers, one for the operations on
// all. The SDK makes none for meta, since only the bot knows its content; without one an operation by meta
// reads all members. A host calls it once, before it uses the store. Errors come from
// store.Collection.EnsureIndex.
func EnsureMemberIndex(ctx context.Context, database store.Store, path string) error {
	return members.EnsureIndex(ctx, database, path)
}

// EnsureAssignmentIndex makes an index of the assignments of each app by a path, such as "meta.order", unless
// it exists. The SDK makes none for meta, since only the bot knows its content; without one
// GetAssignmentsByMeta reads all assignments of the app. A host calls it once, before it uses the store.
// Errors come from store.Collection.EnsureIndex.
func EnsureAssignmentIndex(ctx context.Context, database store.Store, path string) error {
	return livechats.EnsureIndex(ctx, database, path)
}

// EnsureDataSourceIndex makes an index of a data source of an app, unless it exists: for the columns by which
// bot logic filters, and for the column that holds the places of a geo query. The SDK only makes the index of
// _id. A host calls it once, before it uses the store.
//
//	err := botctx.EnsureDataSourceIndex(ctx, database, "shop", "coupons", store.Ascending("taken"))
//
// InvalidArgument: the data source has no id, or one that is too long. Other errors come from
// store.Collection.EnsureIndex.
func EnsureDataSourceIndex(ctx context.Context, database store.Store, app, dataSourceID string, index store.Index) error {
	return datasources.EnsureIndex(ctx, database, app, dataSourceID, index)
}

// Erased counts the records that EraseMember removed.
type Erased struct {
	// Member is true if there was a record of the member.
	Member bool
	// Events are those that the inbox had: waiting, dead, and the marks of handled ones, with the answers to what
	// their runs sent.
	Events int64
	// Agendas, Assignments, Groups and PostComments are the numbers of these records.
	Agendas, Assignments, Groups, PostComments int64
}

// EraseMember removes a member of an app with everything that the SDK keeps about them. It waits for the
// member's lane, so that no run writes meanwhile. The record goes last: after an error or a crash, the same
// call removes the rest, and once all is gone it removes nothing. A later message of the member makes a new
// member. Entries of data sources, files, mails and payments belong to the bot, and stay; end a live chat
// first, so that the agent is told.
//
// InvalidArgument: the id of the app or of the member is missing. FailedPrecondition: it is called in a run.
// Unavailable: a run of the member did not end within Config.MaxWait. Other errors come from the store.
func (r *Runtime) EraseMember(ctx context.Context, app, memberID string) (erased Erased, err error) {
	scope := record.Scope{App: app, Member: memberID}
	if app == "" {
		return erased, boterr.Missing("app", "the id of an app")
	}
	if r.stepOf(ctx) != nil {
		return erased, boterr.New(boterr.FailedPrecondition, "", "a run cannot erase a member: have the host do it outside of runs")
	}
	m, err := members.Load(ctx, r.ownMembers(Scope{App: app}, r.channels(Scope{App: app})), members.ByRequiredID(memberID))
	switch {
	case errors.Is(err, boterr.NotFound):
		return r.eraseAll(ctx, app, memberID, nil)
	case err != nil:
		return erased, err
	}
	ctx, cancel := r.losable(ctx)
	defer cancel(nil)
	erasing := &run{own: ownLane{lost: cancel}}
	scope.Channel = m.Channel
	if err := r.takeLane(ctx, runInput{scope: scope, sender: m.ExternalID}, erasing); err != nil {
		return erased, boterr.WithField("memberId", err)
	}
	defer r.leaveLane(ctx, &erasing.own)
	return r.eraseAll(ctx, app, memberID, m)
}

// eraseAll erases what there is of a member. m is the record, nil if there is none.
func (r *Runtime) eraseAll(ctx context.Context, app, memberID string, m *member.Member) (erased Erased, err error) {
	chats, err := livechats.EraseMember(ctx, r.guarded, app, memberID)
	erased.Assignments, erased.Groups = chats.Assignments, chats.Groups
	if err != nil {
		return erased, err
	}
	if erased.Agendas, err = agendas.EraseMember(ctx, r.guarded, app, memberID); err != nil {
		return erased, err
	}
	if erased.PostComments, err = sends.EraseMember(ctx, r.guarded, app, memberID); err != nil {
		return erased, err
	}
	if m != nil && m.ExternalID != "" {
		if erased.Events, err = r.inbox.Erase(ctx, app, m.Channel, m.ExternalID); err != nil {
			return erased, err
		}
	}
	erased.Member, err = members.Erase(ctx, r.guarded, app, memberID)
	return erased, err
}

// EraseEntries removes entries of a data source of an app, and returns how many: for example a member's
// entries, or entries that are older than the bot needs. It works in batches, so other calls continue
// meanwhile; after an error or a crash, the same call removes the rest. An entry that changes meanwhile, and
// then no longer matches, stays. With an index by updatedAt, old entries are found without reading the
// others.
//
// InvalidArgument: the app or the data source is missing, there is neither a filter nor an age, the age is
// negative, or the filter is wrong. Other errors come from the store.
func (r *Runtime) EraseEntries(ctx context.Context, app string, p datasource.EraseEntriesParams) (removed int64, err error) {
	return datasources.EraseEntries(ctx, r.guarded, app, p)
}

// Retention sets how long the SDK's records are kept after their use. 0 means the default, and a negative
// duration for ever. Members and the entries of data sources belong to the bot: only the bot removes them, or
// a host by EraseMember.
type Retention struct {
	// HandledEvents is the time for which the repetition of a handled event is recognised. The default is 30
	// days.
	HandledEvents time.Duration
	// DeadLetters is the time for which events that were given up are kept. The default is 90 days.
	DeadLetters time.Duration
	// Agendas is the time for which a completed agenda is kept. The default is 30 days.
	Agendas time.Duration
	// FailedAgendas is the time for which an agenda that failed for good is kept. The default is 90 days.
	FailedAgendas time.Duration
	// Assignments is the time for which an ended assignment is kept, with its groups. The default is 90 days.
	Assignments time.Duration
	// PostComments is the time for which a comment on a post is kept. The default is 90 days.
	PostComments time.Duration
}

const (
	defaultAssignments  = 90 * 24 * time.Hour
	defaultPostComments = 90 * 24 * time.Hour
	// retentionPause is the time between two removals of old records by Run.
	retentionPause = time.Hour
)

// RemoveOld removes the records of all apps that are older than Config.Retention allows. Run does so each
// hour; a host that drives the time itself calls it. It works in batches while other work goes on; after an
// error the next call removes the rest. Errors come from the store.
func (r *Runtime) RemoveOld(ctx context.Context) error {
	_, ofInbox := r.inbox.RemoveOld(ctx)
	_, ofAgendas := r.scheduler.RemoveCompleted(ctx)
	return errors.Join(ofInbox, ofAgendas, r.removeRecords(ctx))
}

// removeRecords removes what neither the inbox nor the scheduler has.
func (r *Runtime) removeRecords(ctx context.Context) (err error) {
	_, ofLiveChats := livechats.RemoveEnded(ctx, r.guarded, r.config.Retention.Assignments)
	_, ofComments := sends.RemovePostComments(ctx, r.guarded, r.config.Retention.PostComments)
	return errors.Join(ofLiveChats, ofComments)
}

// runRetention removes what is old now and then, until ctx ends. The inbox and the scheduler see to
// theirs themselves.
func (r *Runtime) runRetention(ctx context.Context) {
	ticker := time.NewTicker(retentionPause)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := r.removeRecords(ctx); err != nil && ctx.Err() == nil {
			r.config.Logger.LogAttrs(ctx, slog.LevelWarn, "botctx: old records not removed", slog.String("error", display.Text(err)))
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}
