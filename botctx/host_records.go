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
	// the app's other channels leave, so that there is always a free worker for the next channel. A single
	// channel uses a quarter of them. The default is 64.
	Workers int
	// Poll is the time between two polls for events that other processes accepted. The default is a second.
	// If the store sends notices (store.Notifier), such events start at once, and it is polled ten times less
	// often.
	Poll time.Duration
	// Limit is the number of failures after which an event is a dead letter. The default is 5.
	Limit int
	// Backoff returns the pause after the given number of failures, from 1 on. The default starts with a
	// second and multiplies it by four, up to a minute: an event that always fails holds up its lane for 80
	// seconds. If the failure asks for a longer pause, up to an hour (boterr.RetryAfter), that is the pause.
	Backoff func(failures int) time.Duration
	// MaxPending is the number of events of an app that may wait. Beyond it, Accept returns ResourceExhausted
	// for that app. The limit is approximate: each process counts all events every ten polls. The default is
	// 100,000; a negative number means no limit.
	MaxPending int
	// AcceptTimeout is the time that Accept waits for a store that does not answer, if its context
	// cannot end, as in a handler that continues after the sender hangs up. It may wait twice as long. The
	// default is 10 seconds.
	AcceptTimeout time.Duration
	// ShutdownTimeout is the time that Run waits for runs after its context has ended, before it ends
	// the contexts of the runs as well. Then they have 5 seconds. The default is 20 seconds.
	ShutdownTimeout time.Duration
	// Hooks are called on events of the inbox.
	Hooks InboxHooks
	// Log receives lines about events: handled ones at debug, failed ones at warn, and dead letters at error.
	// The default is Config.Logger.
	Log *slog.Logger
}

// InboxHooks lets a host observe accepted events: AroundAccept and AroundHandler wrap Accept and each run,
// and Settled is called once the outcome of an attempt is stored. backends/otel uses it for spans and
// metrics.
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

// Pair sets the outlets that an inlet is paired with, in the order in which they are asked, and replaces
// earlier ones. Without outlets the inlet is unpaired. With Config.LoadChannel the channels are the ones that it loads.
//
// InvalidArgument: an outlet appears twice or is the inlet. NotFound: the app has no such channel. In both
// cases nothing is stored.
func (r *Runtime) Pair(ctx context.Context, app, inlet string, outlets ...string) error {
	scope := Scope{App: app}
	return channels.New(r.env, scope).Pair(ctx, r.channels(scope), inlet, outlets...)
}

// Pairing returns the outlets that an inlet is paired with, or none if none were set.
func (r *Runtime) Pairing(ctx context.Context, app, inlet string) (*channel.Pairing, error) {
	return channels.New(r.env, Scope{App: app}).Pairing(ctx, inlet)
}

// Query selects records of an app for a host. Filter and SortBy are MongoDB's, over the JSON fields of the
// records. Limit is the largest number of records to return; 0 means all.
type Query struct {
	Filter document.Object
	SortBy document.Object
	Skip   int64
	Limit  int64
}

// PostComments returns the comments of an app that SavePostCommentAnalytics recorded, or an empty slice. For
// example, the matching comments on one post are
//
//	rt.PostComments(ctx, "shop", botctx.Query{Filter: document.O("postId", id, "isMatched", true)})
//
// InvalidArgument: Filter, SortBy or a number is wrong. FailedPrecondition: a stored record is not a comment.
func (r *Runtime) PostComments(ctx context.Context, app string, q Query) ([]*send.PostComment, error) {
	return sends.New(r.guarded, Scope{App: app}, sends.Ports{}).FindPostComments(ctx, record.Query(q))
}

// Members returns the selected members, as stored in the Store, in the order of their ids, which is the order
// in which they arrived. Config.Override is not used.
//
//	for m, err := range rt.Members(ctx, "shop", member.Selection{Channel: "web", Tag: "vip"}) {
//		if err != nil {
//			return err
//		}
//		...
//	}
//
// It reads 100 members at a time, so memory and the time to the first one do not grow with their number. If
// few members have the tag or match Filter, an index made by EnsureMemberIndex avoids reading the others. To
// read page by page, set After to the id of the previous page's last member. A member who arrives meanwhile
// may be missing.
//
// An error ends the list. InvalidArgument: Filter is wrong, or Limit is negative. FailedPrecondition: a
// stored record is not a member. Other errors come from the store.
func (r *Runtime) Members(ctx context.Context, app string, chosen member.Selection) iter.Seq2[*member.Member, error] {
	scope := Scope{App: app}
	return r.ownMembers(scope, r.channels(scope)).All(ctx, chosen)
}

// EnsureIndexes creates the indexes that the SDK's own parts need in a store, unless they exist. A host calls
// it once, before it uses the store. Errors come from store.Collection.EnsureIndex or from a panic of the
// store.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	guarded := store.Wrap(database, nil)
	for _, ensure := range []func(context.Context, store.Store) error{
		members.EnsureIndexes, agendas.EnsureIndexes, livechats.EnsureIndexes, sends.EnsureIndexes,
	} {
		if err := ensure(ctx, guarded); err != nil {
			return err
		}
	}
	return inbox.EnsureIndexes(ctx, database) // The inbox's indexes depend on whether one process has the store.
}

// EnsureMemberIndex creates the indexes of the members of each app by a path, such as "meta.plan" or "tags",
// unless they exist: one for operations on one channel, such as PatchMembers, and one for operations on all
// channels. The SDK creates none for meta, since only the bot knows its content; without one an operation by
// meta reads all members. A host calls it once, before it uses the store. Errors come from
// store.Collection.EnsureIndex.
func EnsureMemberIndex(ctx context.Context, database store.Store, path string) error {
	return members.EnsureIndex(ctx, database, path)
}

// EnsureAssignmentIndex creates an index of the assignments of each app by a path, such as "meta.order",
// unless it exists. The SDK creates none for meta, since only the bot knows its content; without one
// GetAssignmentsByMeta reads all assignments of the app. A host calls it once, before it uses the store.
// Errors come from store.Collection.EnsureIndex.
func EnsureAssignmentIndex(ctx context.Context, database store.Store, path string) error {
	return livechats.EnsureIndex(ctx, database, path)
}

// EnsureDataSourceIndex creates an index of a data source of an app, unless it exists, for the columns by
// which bot logic filters or for the column with the points of a geo query. The SDK itself only creates the
// index of _id. A host calls it once, before it uses the store.
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
	// Events are the member's events in the inbox: waiting ones, dead letters, and the records of handled
	// ones with the answers to their runs' messages.
	Events int64
	// Agendas, Assignments, Groups and PostComments are the numbers of these records.
	Agendas, Assignments, Groups, PostComments int64
}

// EraseMember removes a member of an app with everything that the SDK stores about them, and the records of
// connectors that are a send.RecordKeeper. It waits for the member's lane, so that no run writes meanwhile. The
// member's record is removed last: after an error or a crash, the same call removes the rest, and once all is
// removed it does nothing. A later message of the member creates a new member. Entries of data sources, files,
// mails and payments belong to the bot and are kept. End a live chat first, so that the agent gets notice.
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

// eraseAll erases all records of a member. m is the member's record, or nil if there is none.
func (r *Runtime) eraseAll(ctx context.Context, app, memberID string, m *member.Member) (erased Erased, err error) {
	if m != nil {
		err := r.eachKeeper(ctx, func(k send.RecordKeeper) error { return k.EraseMember(ctx, m) })
		if err != nil {
			return erased, err
		}
	}
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

// eachKeeper calls do with each connector that keeps records, and returns the errors of all.
func (r *Runtime) eachKeeper(ctx context.Context, do func(send.RecordKeeper) error) error {
	var all []error
	for platform, connector := range r.config.Connectors {
		if keeper, ok := send.PortOf[send.RecordKeeper](connector); ok {
			all = append(all, boterr.PrefixField("Connectors["+string(platform)+"]", r.keep(ctx, keeper, do)))
		}
	}
	return errors.Join(all...)
}

func (r *Runtime) keep(ctx context.Context, by send.RecordKeeper, do func(send.RecordKeeper) error) (err error) {
	defer r.recovered(ctx, place{}, &err)
	return do(by)
}

// EraseEntries removes entries of a data source of an app, and returns their number: for example a member's
// entries, or entries that the bot no longer needs. It works in batches, so other calls continue meanwhile;
// after an error or a crash, the same call removes the rest. An entry that changes meanwhile and no longer
// matches is kept. With an index by updatedAt, old entries are found without reading the others.
//
// InvalidArgument: the app or the data source is missing, there is neither a filter nor an age, the age is
// negative, or the filter is wrong. Other errors come from the store.
func (r *Runtime) EraseEntries(ctx context.Context, app string, p datasource.EraseEntriesParams) (removed int64, err error) {
	return datasources.EraseEntries(ctx, r.guarded, app, p)
}

// Retention sets how long the SDK's records are kept after their use. 0 means the default, and a negative
// duration forever. Members and the entries of data sources belong to the bot: only the bot or EraseMember and
// EraseEntries remove them.
type Retention struct {
	// HandledEvents is the time during which the repetition of a handled event is recognised. The default is 30
	// days.
	HandledEvents time.Duration
	// DeadLetters is the retention time of dead letters. The default is 90 days.
	DeadLetters time.Duration
	// Agendas is the retention time of completed agendas. The default is 30 days.
	Agendas time.Duration
	// FailedAgendas is the retention time of agendas that failed for good. The default is 90 days.
	FailedAgendas time.Duration
	// Assignments is the retention time of ended assignments and their groups. The default is 90 days.
	Assignments time.Duration
	// PostComments is the retention time of comments on posts. The default is 90 days.
	PostComments time.Duration
}

const (
	defaultAssignments  = 90 * 24 * time.Hour
	defaultPostComments = 90 * 24 * time.Hour
	// retentionPause is the time between two removals of old records by Run.
	retentionPause = time.Hour
)

// RemoveOld removes records of all apps that are older than Config.Retention allows, and calls RemoveOld of
// connectors that are a send.RecordKeeper. Run does so each hour; a host that drives the time itself must call it.
// It works in batches, so other calls continue meanwhile; after an error the next call removes the rest. Errors
// come from the store and from connectors.
func (r *Runtime) RemoveOld(ctx context.Context) error {
	_, ofInbox := r.inbox.RemoveOld(ctx)
	_, ofAgendas := r.scheduler.RemoveCompleted(ctx)
	return errors.Join(ofInbox, ofAgendas, r.removeRecords(ctx))
}

// removeRecords removes old records, except for the records of the inbox and the scheduler.
func (r *Runtime) removeRecords(ctx context.Context) (err error) {
	_, ofLiveChats := livechats.RemoveEnded(ctx, r.guarded, r.config.Retention.Assignments)
	_, ofComments := sends.RemovePostComments(ctx, r.guarded, r.config.Retention.PostComments)
	ofConnectors := r.eachKeeper(ctx, func(k send.RecordKeeper) error { return k.RemoveOld(ctx) })
	return errors.Join(ofLiveChats, ofComments, ofConnectors)
}

// runRetention removes old records at intervals, until ctx ends. The inbox and the scheduler remove their
// own.
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
