package member

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
)

// The fields of members that this package looks for.
const (
	fieldExternalID = "externalId"
	fieldTags       = "tags"
	fieldReferFrom  = "meta.referFrom"
)

// kind is how members are kept.
var kind = &record.Kind{
	Name:       "member",
	Collection: "members",
	Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag},
	Fixed:      []string{record.FieldCreatedAt, record.FieldApp, record.FieldChannel},
	Kept:       []string{FieldTurnFence, FieldHandledEvent},
}

// Service is the members of one app. It is safe for concurrent use.
type Service struct {
	scope      record.Scope
	newID      func() string
	channels   channel.Operations
	members    *record.Collection
	checkEtags bool
}

var _ Operations = (*Service)(nil)

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
		members:  record.OfApp(env, kind, scope.App),
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

// EnsureIndex makes the indexes of the members of each app by a path, such as "meta.plan" or "tags", unless they are
// there: one for the operations on one channel, such as PatchMembers, one for those on all. The SDK makes none for meta, since
// only the bot knows what is in it; without one an operation by meta looks at all members. A host calls it once, before
// it uses the store. The errors are those of store.Collection.EnsureIndex.
func EnsureIndex(ctx context.Context, database store.Store, path string) error {
	return ensure(ctx, database,
		store.Ascending(record.FieldApp, record.FieldChannel, path, record.FieldID), store.Ascending(record.FieldApp, path, record.FieldID))
}

func ensure(ctx context.Context, database store.Store, indexes ...store.Index) error {
	for _, index := range indexes {
		if err := database.Collection(kind.Collection).EnsureIndex(ctx, index); err != nil {
			return err
		}
	}
	return nil
}

// Find returns the members of the app that match, or an empty slice. It is for hosts.
//
// Filter and SortBy name the JSON fields of Member. InvalidArgument: one of them, or a number, is wrong.
// FailedPrecondition: what is stored is no member.
func (s *Service) Find(ctx context.Context, query record.Query) ([]*Member, error) {
	found, err := s.members.Find(ctx, query)
	if err != nil {
		return nil, err
	}
	return record.ReadAll(found, fromDocument)
}

// GetMember implements Operations.
func (s *Service) GetMember(ctx context.Context, p GetMemberParams) (*Member, error) {
	return record.Load(ByRequiredID(p.MemberID), func(id string) (*Member, error) { return s.Load(ctx, id) })
}

// Load returns a member of the app. NotFound: the app has no such member.
func (s *Service) Load(ctx context.Context, id string) (*Member, error) {
	found, err := s.members.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return fromDocument(found)
}

// inChannel returns the members of the channel that an address names.
func (s *Service) inChannel(ctx context.Context, named record.Address) (*record.Collection, error) {
	id, err := s.channelID(ctx, named)
	if err != nil {
		return nil, err
	}
	return s.members.Where(record.FieldChannel, id), nil
}

// channelID returns the id of the channel that an address names. One that a call names must be there.
func (s *Service) channelID(ctx context.Context, named record.Address) (string, error) {
	id, err := named.Resolve()
	if err == nil && !named.IsOwn() {
		_, err = record.Load(named, func(id string) (*channel.Reference, error) {
			return s.channels.GetChannel(ctx, channel.GetChannelParams{ChannelID: id})
		})
	}
	return id, err
}
