package botctx

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/internal/datasources"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Erased is how many records EraseMember removed.
type Erased struct {
	// Member is true if there was a record of the member.
	Member bool
	// Events are those that the inbox had: waiting, dead, and the marks of handled ones, with the answers to what
	// their runs sent.
	Events int64
	// Agendas, Assignments, Groups and PostComments are the numbers of these records.
	Agendas, Assignments, Groups, PostComments int64
}

// EraseMember removes a member of an app with all that the SDK keeps about them. It waits for the member's
// turn, so that no run writes meanwhile. The record goes last: after an error or a crash, the same call
// removes the rest, and once all is gone it removes nothing. What the member writes later makes a new
// member. Entries of data sources, files, mails and payments are the bot's own, and stay; end a live chat
// before, so that the agent is told.
//
// InvalidArgument: the id of the app or of the member is missing. FailedPrecondition: it is called in a run.
// Unavailable: a run of the member did not end within Config.MaxWait. The other errors are those of the store.
func (r *Runtime) EraseMember(ctx context.Context, app, memberID string) (erased Erased, err error) {
	scope := record.Scope{App: app, Member: memberID}
	defer func() { err = r.orPanic(ctx, place{scope: scope}, err, recover()) }()
	if app == "" {
		return erased, boterr.Missing("app", "the id of an app")
	}
	if r.stepOf(ctx, nil) != nil {
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
	taken := turns{lost: cancel}
	scope.Channel = m.Channel
	if err := r.takeTurns(ctx, runInput{scope: scope, sender: m.ExternalID}, &taken); err != nil {
		return erased, boterr.WithField("memberId", err)
	}
	defer r.giveTurnsBack(ctx, &taken)
	return r.eraseAll(ctx, app, memberID, m)
}

// eraseAll erases what there is of a member. m is the record, nil if there is none.
func (r *Runtime) eraseAll(ctx context.Context, app, memberID string, m *member.Member) (erased Erased, err error) {
	chats, err := livechat.EraseMember(ctx, r.guarded, app, memberID)
	erased.Assignments, erased.Groups = chats.Assignments, chats.Groups
	if err != nil {
		return erased, err
	}
	if erased.Agendas, err = agenda.EraseMember(ctx, r.guarded, app, memberID); err != nil {
		return erased, err
	}
	if erased.PostComments, err = send.EraseMember(ctx, r.guarded, app, memberID); err != nil {
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

// EraseEntries removes entries of a data source of an app, and returns how many: those of a member, for example,
// or those that are older than the bot needs. It works in batches, so other calls go on meanwhile; after an error or
// a crash, the same call removes the rest. An entry that changes meanwhile, and then no longer matches, stays. With
// an index by updatedAt, old entries are found without reading the others.
//
// InvalidArgument: the app or the data source is missing, there is neither a filter nor an age, the age is negative,
// or the filter is wrong. The other errors are those of the store.
func (r *Runtime) EraseEntries(ctx context.Context, app string, p datasource.EraseEntriesParams) (removed int64, err error) {
	defer func() { err = r.orPanic(ctx, place{scope: record.Scope{App: app}}, err, recover()) }()
	return datasources.EraseEntries(ctx, r.guarded, app, p)
}
