package member

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/store"
)

// The fields of members that this package looks for.
const (
	fieldExternalID = "externalId"
	fieldReferFrom  = "meta.referFrom"
)

// kind is how members are kept.
func kind() record.Kind {
	return record.Kind{
		Name:       "member",
		Collection: "members",
		Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag},
		Fixed:      []string{record.FieldChannel},
	}
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
		members:  record.Open(env, kind()).Where(record.FieldApp, scope.App),
	}
	for _, option := range options {
		option(s)
	}
	return s
}

// EnsureIndexes makes the indexes that members need in a store, unless they are
// there: no two members of a channel may have the same externalId. A host calls it
// once, before it uses the store. The errors are those of
// store.Collection.EnsureIndex.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	return database.Collection(kind().Collection).EnsureIndex(ctx, store.Index{
		Keys: []store.IndexKey{
			{Path: record.FieldApp, Kind: query.Ascending},
			{Path: record.FieldChannel, Kind: query.Ascending},
			{Path: fieldExternalID, Kind: query.Ascending},
		},
		Unique: true,
	})
}

// GetMember implements Operations.
func (s *Service) GetMember(ctx context.Context, p GetMemberParams) (*Member, error) {
	if p.MemberID == "" {
		return nil, missingMember()
	}
	m, err := s.Load(ctx, p.MemberID)
	return m, boterr.In("memberId", err)
}

// missingMember is the error for a memberId that was not given.
func missingMember() error {
	return boterr.Missing("memberId", "the id of a member")
}

// Load returns a member of the app. NotFound: the app has no such member.
func (s *Service) Load(ctx context.Context, id string) (*Member, error) {
	found, err := s.members.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return fromDocument(found)
}

// inChannel returns the members of the channel that is given, or of the context's
// own.
func (s *Service) inChannel(ctx context.Context, given *channel.Channel) (*record.Collection, error) {
	id := s.scope.Channel
	if given != nil {
		if id = given.ID; id == "" {
			return nil, boterr.Invalid("channel._id", "is missing: a channel is found by its _id")
		}
		if _, err := s.channels.GetChannel(ctx, channel.GetChannelParams{ChannelID: id}); err != nil {
			return nil, record.RenameField(err, "channelId", "channel._id")
		}
	}
	if id == "" {
		return nil, boterr.Invalid("channel", "is missing, and the context has no channel of its own")
	}
	return s.members.Where(record.FieldChannel, id), nil
}
