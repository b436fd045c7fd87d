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
	"github.com/botctx/go-sdk/internal/absent"
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

// SaveChannel stores a channel of an app and returns the stored record. It replaces the channel with the same
// ID. If c has no ID, it gets a new one. App, CreatedAt, UpdatedAt, Version and Etag get new values.
//
// If c has an Etag, it must be the Etag of the stored channel. Otherwise SaveChannel returns Conflict, or NotFound
// if there is no such channel. It also returns InvalidArgument if Type is missing, if Info does not fit Type or if
// a credential was decoded from "[redacted]", and AlreadyExists if another app has a channel with this ID.
func (r *Runtime) SaveChannel(ctx context.Context, app string, c *channel.Channel) (*channel.Channel, error) {
	return channels.New(r.env, record.Scope{App: app}).Save(ctx, c)
}

// LoadChannel returns a channel of an app from the store, with its credentials, or NotFound. It does not call
// Config.LoadChannel.
func (r *Runtime) LoadChannel(ctx context.Context, app, id string) (*channel.Channel, error) {
	return channels.New(r.env, record.Scope{App: app}).Load(ctx, id)
}

// Pair sets the outlets that serve the live chats of an inlet, in the order in which requests go to them. It
// replaces the previous outlets. Without outlets, it removes the pairing. It loads the channels to check that they
// exist.
//
// Pair returns InvalidArgument if an outlet appears twice or is the inlet, and NotFound if the app does not have
// one of the channels. After an error, the stored pairing is unchanged.
func (r *Runtime) Pair(ctx context.Context, app, inlet string, outlets ...string) error {
	scope := record.Scope{App: app}
	return channels.New(r.env, scope).Pair(ctx, r.channels(scope, new(channels.Service)), inlet, outlets...)
}

// Pairing returns the pairing of an inlet. Its Outlets are empty if the inlet is not paired.
func (r *Runtime) Pairing(ctx context.Context, app, inlet string) (*channel.Pairing, error) {
	return channels.New(r.env, record.Scope{App: app}).Pairing(ctx, inlet)
}

// Query selects records of an app for a host. Filter and SortBy have MongoDB's syntax and the JSON names of the
// record's fields. Skip is the number of matches to skip. Limit is the maximum number of records to return; 0
// means all.
type Query struct {
	Filter document.Object
	SortBy document.Object
	Skip   int64
	Limit  int64
}

// PostComments returns the comments of an app that SavePostCommentAnalytics stored. The result is never nil
// without an error. This call returns the matching comments on one post:
//
//	rt.PostComments(ctx, "shop", botctx.Query{Filter: document.O("postId", id, "isMatched", true)})
//
// If a stored record is not a comment, PostComments logs that, and the result has a comment with only its ID. It
// returns InvalidArgument if q is invalid.
func (r *Runtime) PostComments(ctx context.Context, app string, q Query) ([]*send.PostComment, error) {
	return sends.New(r.guarded, record.Scope{App: app}, sends.Ports{}).FindPostComments(ctx, record.Query(q), r.unreadable.Warn)
}

// Members returns the selected members from the Store in the order of their ids. With the default of Config.NewID,
// this is the order of creation. Config.Override does not affect it.
//
//	for m, err := range rt.Members(ctx, "shop", member.Selection{Channel: "web", Tag: "vip"}) {
//		if err != nil {
//			return err
//		}
//		...
//	}
//
// It reads 100 members at a time, so the number of members does not affect memory or the time to the first
// result. If few members have the tag or match Filter, an index created with EnsureMemberIndex avoids reading the
// others. To read page by page, set After to the id of the previous page's last member. Members who are created
// during the iteration may be missing.
//
// FailedPrecondition means that a stored record is not a member. The iteration can continue with the others. It ends
// after any other error: InvalidArgument if Filter is invalid or Limit is negative, or an error of the store.
func (r *Runtime) Members(ctx context.Context, app string, chosen member.Selection) iter.Seq2[*member.Member, error] {
	scope := record.Scope{App: app}
	return members.New(r.guarded, scope, r.channels(scope, new(channels.Service))).All(ctx, chosen)
}

// EnsureIndexes creates the indexes that the SDK needs in a store, unless they exist. Call it once, before using
// the store. InvalidArgument: the store is nil. Other errors come from store.Collection.EnsureIndex. A panic of the store
// becomes an error, too.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	if err := requireStore(database); err != nil {
		return err
	}
	guarded := store.Wrap(database, nil)
	for _, ensure := range []func(context.Context, store.Store) error{
		members.EnsureIndexes, agendas.EnsureIndexes, livechats.EnsureIndexes, sends.EnsureIndexes,
	} {
		if err := ensure(ctx, guarded); err != nil {
			return err
		}
	}
	return inbox.EnsureIndexes(ctx, database) // Not guarded: the inbox checks whether the store is a store.Watcher.
}

func requireStore(database store.Store) error {
	return absent.Require("database", "the Store of the Runtime", database)
}

// EnsureMemberIndex creates two indexes of members by a path, such as "meta.plan" or "tags", unless they exist: one
// for operations on one channel, such as PatchMembers, and one for operations on all channels of an app. Without
// them, an operation with a filter on meta reads all members of the channel or the app. Call it once, before using
// the store. InvalidArgument: the store is nil. Other errors come from store.Collection.EnsureIndex.
func EnsureMemberIndex(ctx context.Context, database store.Store, path string) error {
	if err := requireStore(database); err != nil {
		return err
	}
	return members.EnsureIndex(ctx, database, path)
}

// EnsureAssignmentIndex creates an index of the assignments of each app by a path, such as "meta.order", unless it
// exists. Without an index, GetAssignmentsByMeta reads all assignments of the app. Call it once, before using the
// store. InvalidArgument: the store is nil. Other errors come from store.Collection.EnsureIndex.
func EnsureAssignmentIndex(ctx context.Context, database store.Store, path string) error {
	if err := requireStore(database); err != nil {
		return err
	}
	return livechats.EnsureIndex(ctx, database, path)
}

// EnsureDataSourceIndex creates an index of a data source of an app, unless it exists. Create one for the columns in
// the filters of bot logic, and one for the column with the points of geo queries. If the columns in an upsert's filter
// have a unique index, only one of several concurrent upserts inserts an entry. By default, only _id has an index. Call
// EnsureDataSourceIndex once, before using the store.
//
//	err := botctx.EnsureDataSourceIndex(ctx, database, "shop", "coupons", store.Ascending("taken"))
//
// It returns InvalidArgument if the store is nil, or if the id of the data source is empty or too long. Other errors come from
// store.Collection.EnsureIndex.
func EnsureDataSourceIndex(ctx context.Context, database store.Store, app, dataSourceID string, index store.Index) error {
	if err := requireStore(database); err != nil {
		return err
	}
	return datasources.EnsureIndex(ctx, database, app, dataSourceID, index)
}

// Erased counts the records that EraseMember removed.
type Erased struct {
	// Member is true if the member's record existed in the Store.
	Member bool
	// Events is the number of the member's events in the inbox: waiting events, dead letters, and handled
	// events, with the results of the messages that their runs sent.
	Events int64
	// Agendas, Assignments, Groups and PostComments are the numbers of removed records of each kind.
	Agendas, Assignments, Groups, PostComments int64
}

// EraseMember removes a member of an app and everything that the SDK stores about the member, including the records
// of connectors that are a send.RecordKeeper. Entries of data sources, files, mails and payments belong to the bot
// and are kept. A later message of the member creates a new member. An open live chat ends first: the agent gets the
// text MemberGone of livechat.Texts, and the tickets of an untaken request are recalled or show that it is over, if the
// platform can do that. A host that overrides Members must remove its own record afterwards, because EraseMember needs
// it.
//
// EraseMember waits for the member's current run, and other runs wait for it. The member's record is removed last.
// After an error or a crash, call it again to remove the rest. Calling it for an erased member has no effect.
//
// Errors:
//   - InvalidArgument: the id of the app or the member is missing.
//   - FailedPrecondition: EraseMember was called in a run.
//   - Unavailable: a run of the member did not end within Config.MaxWait.
//
// If the agent cannot be told or a ticket cannot be changed, the member is erased anyway, and EraseMember returns the
// platform's error. Other errors come from the store.
func (r *Runtime) EraseMember(ctx context.Context, app, memberID string) (erased Erased, err error) {
	scope := record.Scope{App: app, Member: memberID}
	defer r.recovered(ctx, place{scope: scope}, &err)
	if app == "" {
		return erased, boterr.Missing("app", "the id of an app")
	}
	if r.stepOf(ctx) != nil {
		return erased, boterr.New(boterr.FailedPrecondition, "", "a run cannot erase a member: call EraseMember in the host, outside of runs")
	}
	m, err := members.Load(ctx, r.Operations(Scope{App: app}).members(), members.ByRequiredID(memberID))
	switch {
	case errors.Is(err, boterr.NotFound):
		return r.eraseAfterChat(ctx, app, memberID, nil)
	case err != nil:
		return erased, err
	}
	ctx, cancel := r.losable(ctx)
	defer cancel(nil)
	scope.Channel = m.Channel
	erasing := &run{scope: scope, sender: m.ExternalID, own: ownLane{lost: cancel}}
	defer r.leaveLane(ctx, &erasing.own)
	if err := r.takeLane(ctx, erasing); err != nil {
		return erased, boterr.WithField("memberId", err)
	}
	return r.eraseAfterChat(ctx, app, memberID, m)
}

// eraseAfterChat ends the live chat of a member and erases all records of the member. If the live chat cannot be ended
// completely, the member is erased anyway.
func (r *Runtime) eraseAfterChat(ctx context.Context, app, memberID string, m *member.Member) (erased Erased, err error) {
	untold := r.liveChats(app).EndErased(ctx, memberID)
	erased, err = r.eraseAll(ctx, app, memberID, m)
	return erased, errors.Join(err, untold)
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

// eachKeeper calls do with each connector that keeps records, and joins their errors.
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

// EraseEntries removes entries of a data source of an app, for example the entries of one member or old entries, and
// returns their number. It works in batches, so other calls are not blocked. After an error or a crash, call it again
// to remove the rest. An entry that changes during the call and no longer matches is kept. An index on updatedAt
// avoids reading all entries to find old ones.
//
// EraseEntries returns InvalidArgument if the app or the data source is missing, if there is neither a filter nor an
// age, if the age is negative, or if the filter is invalid. Other errors come from the store.
func (r *Runtime) EraseEntries(ctx context.Context, app string, p datasource.EraseEntriesParams) (removed int64, err error) {
	return datasources.EraseEntries(ctx, r.guarded, app, p)
}

// Retention sets how long records are kept after their use. 0 means the default, and a negative duration means
// forever. Retention does not apply to members and entries of data sources: EraseMember and EraseEntries remove
// these.
type Retention struct {
	// HandledEvents is the retention time of handled events. A repetition of an event is recognised until then.
	// The default is 30 days.
	HandledEvents time.Duration
	// DeadLetters is the retention time of dead letters. The default is 90 days.
	DeadLetters time.Duration
	// Agendas is the retention time of completed agendas. The default is 30 days.
	Agendas time.Duration
	// FailedAgendas is the retention time of agendas that failed and are not tried again. The default is 90 days.
	FailedAgendas time.Duration
	// Assignments is the retention time of ended assignments and their groups. The default is 90 days.
	Assignments time.Duration
	// PostComments is the retention time of comments on posts. The default is 90 days.
	PostComments time.Duration
}

const (
	defaultAssignments  = 90 * 24 * time.Hour
	defaultPostComments = 90 * 24 * time.Hour
	// retentionPause is the interval at which Run removes old records.
	retentionPause = time.Hour
)

// RemoveOld removes the records of all apps that are older than Config.Retention allows, and calls RemoveOld of
// connectors that are a send.RecordKeeper. Run calls it each hour; hosts that do not call Run must call RemoveOld.
// It works in batches, so other calls are not blocked. After an error, the next call removes the rest. Errors come
// from the store and from connectors.
func (r *Runtime) RemoveOld(ctx context.Context) error {
	_, ofInbox := r.inbox.RemoveOld(ctx)
	_, ofAgendas := r.scheduler.RemoveCompleted(ctx)
	return errors.Join(ofInbox, ofAgendas, r.removeRecords(ctx))
}

// removeRecords removes old records other than events and agendas.
func (r *Runtime) removeRecords(ctx context.Context) (err error) {
	_, ofLiveChats := livechats.RemoveEnded(ctx, r.guarded, r.config.Retention.Assignments)
	_, ofComments := sends.RemovePostComments(ctx, r.guarded, r.config.Retention.PostComments)
	ofConnectors := r.eachKeeper(ctx, func(k send.RecordKeeper) error { return k.RemoveOld(ctx) })
	return errors.Join(ofLiveChats, ofComments, ofConnectors)
}

// applyRetention calls removeRecords and logs an error. The inbox and the scheduler remove old events and agendas.
func (r *Runtime) applyRetention(ctx context.Context) {
	if err := r.removeRecords(ctx); err != nil && ctx.Err() == nil {
		r.config.Logger.LogAttrs(ctx, slog.LevelWarn, "botctx: old records not removed", slog.String("error", display.Text(err)))
	}
}
