// Package members implements the operations on an app's members, finds or creates the sender of a message, and
// computes what a run changed in its member.
package members

import (
	"cmp"
	"context"
	"iter"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

const (
	fieldExternalID = "externalId"
	fieldTags       = "tags"
	fieldReferFrom  = "meta.referFrom"
)

var schema = &record.Schema{
	Name:       "member",
	Collection: "members",
	Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag},
	Fixed: []string{
		record.FieldCreatedAt, record.FieldApp, record.FieldChannel, record.FieldLaneFence, record.FieldHandledEvent,
	},
}

// runSchema is for the writes of a run itself, which may change the SDK's internal fields.
var runSchema = &record.Schema{Name: schema.Name, Collection: schema.Collection, Stamps: schema.Stamps, Fixed: schema.Fixed[:3]}

// Service implements member.Operations for the members of one app. It is safe for concurrent use.
type Service struct {
	// ChecksEtags makes UpdateMember return Conflict if the given etag differs from the stored one. Updates without an
	// etag are not checked. It is set before the first call.
	ChecksEtags bool

	env      record.Env
	scope    record.Scope
	channels channel.Operations
	members  record.Collection
}

var _ member.Operations = (*Service)(nil)

// New returns the Service of the scope's app. It uses channels to check that channels exist.
func New(env record.Env, scope record.Scope, channels channel.Operations) *Service {
	s := service(env, scope, channels)
	return &s // The compiler inlines this, so that a caller can keep the Service as a part of a struct.
}

func service(env record.Env, scope record.Scope, channels channel.Operations) Service {
	return Service{env: env.WithDefaults(), scope: scope, channels: channels, members: *record.OfApp(env, schema, scope.App)}
}

// EnsureIndexes creates the missing indexes that members need. They make externalId unique within a channel, find
// members by externalId in all channels of an app, and serve pages of members in the order of their ids. A host calls
// it once, before it uses the store. Errors come from store.Collection.EnsureIndex.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	arrivals := store.Ascending(record.FieldApp, record.FieldChannel, fieldExternalID)
	arrivals.Unique = true
	return ensure(ctx, database, arrivals, store.Ascending(record.FieldApp, fieldExternalID),
		store.Ascending(record.FieldApp, record.FieldID), store.Ascending(record.FieldApp, record.FieldChannel, record.FieldID))
}

// EnsureIndex implements botctx.EnsureMemberIndex.
func EnsureIndex(ctx context.Context, database store.Store, path string) error {
	return ensure(ctx, database,
		store.Ascending(record.FieldApp, record.FieldChannel, path, record.FieldID), store.Ascending(record.FieldApp, path, record.FieldID))
}

func ensure(ctx context.Context, database store.Store, indexes ...store.Index) error {
	for _, index := range indexes {
		if err := database.Collection(schema.Collection).EnsureIndex(ctx, index); err != nil {
			return err
		}
	}
	return nil
}

// List returns the matching members of the app, or an empty slice. It is for hosts. Filter and SortBy use the JSON names
// of Member's fields. If a stored record is not a member, unreadable gets the error, and the result has a member with
// only its ID. InvalidArgument: the query is invalid. Other errors come from the store.
func (s *Service) List(ctx context.Context, query record.Query, unreadable func(context.Context, error)) ([]*member.Member, error) {
	found, err := s.members.Find(ctx, query)
	if err != nil {
		return nil, err
	}
	return record.ReadEach(ctx, found, fromDocument, unreadable)
}

// GetMember implements member.Operations.
func (s *Service) GetMember(ctx context.Context, p member.GetParams) (*member.Member, error) {
	id, err := ByRequiredID(p.MemberID).Resolve()
	if err != nil {
		return nil, err
	}
	found, err := s.members.Get(ctx, id)
	if err != nil {
		return nil, boterr.WithField(fieldMemberID, err)
	}
	m, err := fromDocument(found)
	return m, boterr.WithField(fieldMemberID, err)
}

// channelID returns the id of the channel that a call names. It checks that the channel exists, unless it is the
// scope's own.
func (s *Service) channelID(ctx context.Context, named record.Ref) (string, error) {
	id, err := named.Resolve()
	if err == nil && !named.IsOwn() {
		_, err = record.Load(named, func(id string) (*channel.Reference, error) {
			return s.channels.GetChannel(ctx, channel.GetParams{ChannelID: id})
		})
	}
	return id, err
}

const fieldMemberID = "memberId"

// Getter loads the members of an app.
type Getter interface {
	// GetMember returns a member of the app, or NotFound.
	GetMember(ctx context.Context, p member.GetParams) (*member.Member, error)
}

// ByRecord returns the reference of a call that names a member by its record in the parameter member. The default is
// the scope's own member.
func ByRecord(scope record.Scope, given *member.Member) record.Ref {
	named := record.Ref{Kind: schema.Name, RecordParameter: "member", Own: scope.Member, MayBeOwn: true}
	if given != nil {
		named.Record = &given.ID
	}
	return named
}

// ByID returns the reference of a call that names a member by its id in memberId. The default is the scope's own
// member.
func ByID(scope record.Scope, id string) record.Ref {
	return record.Ref{Kind: schema.Name, IDParameter: fieldMemberID, ID: id, Own: scope.Member, MayBeOwn: true}
}

// ByRecordOrID returns the reference of a call that names a member by its record in member or by its id in memberId.
// The default is the scope's own member.
func ByRecordOrID(scope record.Scope, given *member.Member, id string) record.Ref {
	named := ByRecord(scope, given)
	named.IDParameter, named.ID = fieldMemberID, id
	return named
}

// ByRequiredID returns the reference of a call that must name a member in memberId.
func ByRequiredID(id string) record.Ref {
	return record.Ref{Kind: schema.Name, IDParameter: fieldMemberID, ID: id}
}

// Load returns the stored member that a call names.
//
// Errors: InvalidArgument if the call names no member or two; NotFound if the app has no such
// member.
func Load(ctx context.Context, from Getter, named record.Ref) (*member.Member, error) {
	return record.Load(named, func(id string) (*member.Member, error) {
		return from.GetMember(ctx, member.GetParams{MemberID: id})
	})
}

// Get returns the member with an id, or NotFound. It also returns NotFound if from returns nil
// without an error.
func Get(ctx context.Context, from Getter, id string) (*member.Member, error) {
	m, err := from.GetMember(ctx, member.GetParams{MemberID: id})
	return record.Found(schema.Name, id, m, err)
}

// complete sets missing objects and lists to empty ones, so that bot logic can use meta.x without a check.
func complete(m *member.Member) {
	none := document.O()
	m.BotMeta.Object, m.Meta, m.Profile = cmp.Or(m.BotMeta.Object, none), cmp.Or(m.Meta, none), cmp.Or(m.Profile, none)
	m.Tags = cmp.Or(m.Tags, document.A())
}

func fromDocument(o document.Object) (*member.Member, error) {
	m, err := record.Read[member.Member](schema, o)
	if err != nil {
		return nil, err
	}
	complete(m)
	return m, nil
}

// listed is the page size of All.
const listed = 100

// All implements botctx.Runtime.Members. It continues after a stored record that is not a member.
func (s *Service) All(ctx context.Context, chosen member.Selection) iter.Seq2[*member.Member, error] {
	return func(yield func(*member.Member, error) bool) {
		if err := checkSelection(chosen); err != nil {
			yield(nil, err)
			return
		}
		rest := chosen // Keep chosen unchanged, so that the sequence can be iterated again.
		for hasMore := true; hasMore; {
			var found []document.Object
			var err error
			found, hasMore, err = s.page(ctx, &rest)
			for _, stored := range found {
				if !yield(fromDocument(stored)) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// page returns the next members of chosen and advances chosen to the following page. hasMore is
// false after the last page.
func (s *Service) page(ctx context.Context, chosen *member.Selection) (found []document.Object, hasMore bool, err error) {
	size := listed
	if chosen.Limit > 0 {
		size = min(size, chosen.Limit)
	}
	found, err = s.members.Find(ctx, record.Query{
		Filter: filter(*chosen), SortBy: document.O(record.FieldID, 1), Limit: int64(size),
	})
	if err != nil || len(found) < size {
		return found, false, err
	}
	after, isText := found[size-1].Value(record.FieldID).(string)
	if !isText {
		return found, false, boterr.New(boterr.FailedPrecondition, "",
			"no page can begin after the member %v, whose id is no text", found[size-1].Value(record.FieldID))
	}
	chosen.After = after
	if chosen.Limit == 0 {
		return found, true, nil
	}
	chosen.Limit -= size
	return found, chosen.Limit > 0, nil
}

// checkSelection checks the limit and the filter of a selection.
func checkSelection(s member.Selection) error {
	if s.Limit < 0 {
		return boterr.Invalid("limit", "must not be negative, got %d", s.Limit)
	}
	_, err := query.CompileFilter(s.Filter)
	return boterr.PrefixField("filter", err)
}

func filter(s member.Selection) document.Object {
	filter := document.O()
	if s.Channel != "" {
		filter = filter.With(record.FieldChannel, document.O("$eq", s.Channel))
	}
	if s.Tag != "" {
		filter = filter.With(fieldTags, document.O("$eq", s.Tag))
	}
	if s.After != "" {
		filter = filter.With(record.FieldID, document.O("$gt", s.After))
	}
	if !s.Filter.IsZero() {
		filter = filter.With("$and", document.A(s.Filter))
	}
	return filter
}

// Erase deletes a member's record and reports whether it existed. It deletes nothing else, unlike
// botctx.Runtime.EraseMember. It is for hosts. It returns InvalidArgument if an id is missing; other
// errors come from the store.
func Erase(ctx context.Context, env record.Env, app, memberID string) (bool, error) {
	switch {
	case app == "":
		return false, boterr.Missing("app", "the app of the member")
	case memberID == "":
		return false, boterr.Missing("memberId", "the id of the member to erase")
	}
	removed, err := record.OfApp(env, schema, app).Delete(ctx, document.O(record.FieldID, memberID))
	return removed > 0, err
}
