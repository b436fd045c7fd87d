// Package members keeps the members of an app: it carries out the operations on them, finds or makes the member who
// sent a message, and computes what a run changed.
package members

import (
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

// The fields of members that this package looks for.
const (
	fieldExternalID = "externalId"
	fieldTags       = "tags"
	fieldReferFrom  = "meta.referFrom"
)

// schema is how members are kept.
var schema = &record.Schema{
	Name:       "member",
	Collection: "members",
	Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag},
	Fixed:      []string{record.FieldCreatedAt, record.FieldApp, record.FieldChannel},
	Preserved:  []string{record.FieldTurnFence, record.FieldHandledEvent},
}

// Service is the members of one app. It is safe for concurrent use.
type Service struct {
	scope      record.Scope
	newID      func() string
	channels   channel.Operations
	members    *record.Collection
	checkEtags bool
}

var _ member.Operations = (*Service)(nil)

// Option is a setting of a Service.
type Option func(*Service)

// WithEtagChecks makes UpdateMember answer Conflict where the given etag is not that
// of the stored member. An update that gives no etag is not checked.
func WithEtagChecks() Option {
	return func(s *Service) { s.checkEtags = true }
}

// New returns the members of the scope's app. channels tells which channels the app
// has.
func New(env record.Env, scope record.Scope, channels channel.Operations, options ...Option) *Service {
	s := &Service{
		scope:    scope,
		newID:    env.WithDefaults().NewID,
		channels: channels,
		members:  record.OfApp(env, schema, scope.App),
	}
	for _, option := range options {
		option(s)
	}
	return s
}

// EnsureIndexes makes the indexes that members need in a store, unless they are
// there: no two members of a channel may have the same externalId, a filter by externalId
// alone finds the members of all channels of an app, and pages of the members of an app, or of a channel, in the order
// of their ids read no more than they return. A host calls it
// once, before it uses the store. The errors are those of
// store.Collection.EnsureIndex.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	arrivals := store.Ascending(record.FieldApp, record.FieldChannel, fieldExternalID)
	arrivals.Unique = true
	return ensure(ctx, database, arrivals, store.Ascending(record.FieldApp, fieldExternalID),
		store.Ascending(record.FieldApp, record.FieldID), store.Ascending(record.FieldApp, record.FieldChannel, record.FieldID))
}

// EnsureIndex is botctx.EnsureMemberIndex.
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

// Find returns the members of the app that match, or an empty slice. It is for hosts.
//
// Filter and SortBy name the JSON fields of Member. InvalidArgument: one of them, or a number, is wrong.
// FailedPrecondition: what is stored is no member.
func (s *Service) Find(ctx context.Context, query record.Query) ([]*member.Member, error) {
	found, err := s.members.Find(ctx, query)
	if err != nil {
		return nil, err
	}
	return record.ReadAll(found, fromDocument)
}

// GetMember implements Operations.
func (s *Service) GetMember(ctx context.Context, p member.GetParams) (*member.Member, error) {
	return record.Load(ByRequiredID(p.MemberID), func(id string) (*member.Member, error) { return s.Load(ctx, id) })
}

// Load returns a member of the app. NotFound: the app has no such member.
func (s *Service) Load(ctx context.Context, id string) (*member.Member, error) {
	found, err := s.members.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return fromDocument(found)
}

// inChannel returns the members of the channel that an address names.
func (s *Service) inChannel(ctx context.Context, named record.Ref) (*record.Collection, error) {
	id, err := s.channelID(ctx, named)
	if err != nil {
		return nil, err
	}
	return s.members.Where(record.FieldChannel, id), nil
}

// channelID returns the id of the channel that an address names. One that a call names must be there.
func (s *Service) channelID(ctx context.Context, named record.Ref) (string, error) {
	id, err := named.Resolve()
	if err == nil && !named.IsOwn() {
		_, err = record.Load(named, func(id string) (*channel.Reference, error) {
			return s.channels.GetChannel(ctx, channel.GetParams{ChannelID: id})
		})
	}
	return id, err
}

// fieldMemberID is the parameter that takes the id of a member.
const fieldMemberID = "memberId"

// Getter gives the members of an app, as Operations do.
type Getter interface {
	// GetMember returns the member of that id in the app, or NotFound.
	GetMember(ctx context.Context, p member.GetParams) (*member.Member, error)
}

// ByRecord is the address of a call that takes the member's record as member. The default is
// the scope's own.
func ByRecord(scope record.Scope, given *member.Member) record.Ref {
	named := record.Ref{Kind: schema.Name, RecordParameter: "member", Own: scope.Member, MayBeOwn: true}
	if given != nil {
		named.Record = &given.ID
	}
	return named
}

// ByID is the address of a call that takes the member's id as memberId. The default is the
// scope's own.
func ByID(scope record.Scope, id string) record.Ref {
	return record.Ref{Kind: schema.Name, IDParameter: fieldMemberID, ID: id, Own: scope.Member, MayBeOwn: true}
}

// ByRecordOrID is the address of a call that takes the member's record as member, or its id as
// memberId. The default is the scope's own.
func ByRecordOrID(scope record.Scope, given *member.Member, id string) record.Ref {
	named := ByRecord(scope, given)
	named.IDParameter, named.ID = fieldMemberID, id
	return named
}

// ByRequiredID is the address of a call that must give the member's id as memberId.
func ByRequiredID(id string) record.Ref {
	return record.Ref{Kind: schema.Name, IDParameter: fieldMemberID, ID: id}
}

// Load returns the member that an address names, as it is stored.
//
// InvalidArgument: the call names no member, or two. NotFound: the app has no such member.
func Load(ctx context.Context, from Getter, named record.Ref) (*member.Member, error) {
	return record.Load(named, func(id string) (*member.Member, error) { return Get(ctx, from, id) })
}

// Get returns the member of an id, or NotFound: always one of the two.
func Get(ctx context.Context, from Getter, id string) (*member.Member, error) {
	m, err := from.GetMember(ctx, member.GetParams{MemberID: id})
	return record.Found(schema.Name, id, m, err)
}

// complete gives the member empty objects and an empty list where it has none: bot logic reads
// and writes meta.x without asking.
func complete(m *member.Member) {
	if m.BotMeta.IsZero() {
		m.BotMeta.Object = document.O()
	}
	if m.Meta.IsZero() {
		m.Meta = document.O()
	}
	if m.Profile.IsZero() {
		m.Profile = document.O()
	}
	if m.Tags.IsZero() {
		m.Tags = document.A()
	}
}

// fromDocument reads a member that the store holds.
func fromDocument(o document.Object) (*member.Member, error) {
	m, err := record.Read[member.Member](schema, o)
	if err != nil {
		return nil, err
	}
	complete(m)
	return m, nil
}

// listed is the number of members that All reads at once.
const listed = 100

// All is Members of a botctx.Runtime.
func (s *Service) All(ctx context.Context, chosen member.Selection) iter.Seq2[*member.Member, error] {
	return func(yield func(*member.Member, error) bool) {
		if err := checkSelection(chosen); err != nil {
			yield(nil, err)
			return
		}
		rest := chosen // The list can be read again.
		for hasMore := true; hasMore; {
			var found []*member.Member
			var err error
			if found, hasMore, err = s.page(ctx, &rest); err != nil {
				yield(nil, err)
				return
			}
			for _, m := range found {
				if !yield(m, nil) {
					return
				}
			}
		}
	}
}

// page returns the next members of a selection, which becomes that of the rest, and whether there may be more.
func (s *Service) page(ctx context.Context, chosen *member.Selection) (found []*member.Member, hasMore bool, err error) {
	size := listed
	if chosen.Limit > 0 {
		size = min(size, chosen.Limit)
	}
	found, err = s.Find(ctx, record.Query{
		Filter: filter(*chosen), SortBy: document.O(record.FieldID, 1), Limit: int64(size),
	})
	if err != nil || len(found) < size {
		return found, false, err
	}
	chosen.After = found[size-1].ID
	if chosen.Limit == 0 {
		return found, true, nil
	}
	chosen.Limit -= size
	return found, chosen.Limit > 0, nil
}

// check refuses a selection that no member can be in.
func checkSelection(s member.Selection) error {
	if s.Limit < 0 {
		return boterr.Invalid("limit", "must not be negative, got %d", s.Limit)
	}
	_, err := query.CompileFilter(s.Filter)
	return boterr.PrefixField("filter", err)
}

// filter returns the condition of the members that follow.
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

// Erase removes the record of a member of an app, and reports whether there was one. What else is kept about the
// member is elsewhere: see botctx.Runtime.EraseMember. It is for hosts. InvalidArgument: the
// id of the app or of the member is missing. The other errors are those of the store.
func Erase(ctx context.Context, env record.Env, app, memberID string) (bool, error) {
	switch {
	case app == "":
		return false, boterr.Missing("app", "the app of the member")
	case memberID == "":
		return false, boterr.Missing("memberId", "the member to erase")
	}
	removed, err := record.OfApp(env, schema, app).Delete(ctx, document.O(record.FieldID, memberID))
	return removed > 0, err
}
