package members

import (
	"cmp"
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// Arrival is a member who wrote to a channel.
type Arrival struct {
	// Member is the member as it is stored.
	Member *member.Member
	// New is whether the member was made by this arrival.
	New bool
}

// On returns the member with what m lacks and its channel tells: Platform from the channel's type,
// BotID from its info.
func On(m member.Member, c *channel.Channel) member.Member {
	m.Platform = cmp.Or(m.Platform, string(c.Type))
	m.BotID = cmp.Or(m.BotID, c.BotID())
	return m
}

// Arrive finds the member of the scope's channel with an external id, and makes it
// where there is none, out of the fields of m. A member who is there stays as it is. It
// is for hosts, whose platforms know members by external ids only.
//
// Of several arrivals at once, one makes the member. Where a store does not serialise inserts, that
// needs the index of EnsureIndexes.
//
// InvalidArgument: m has no ExternalID, another app or channel than the scope, or the
// scope has no channel. AlreadyExists: m has an ID, and another member has it.
func (s *Service) Arrive(ctx context.Context, m member.Member) (*Arrival, error) {
	channelID, err := s.channelOf(ctx, m)
	if err != nil {
		return nil, err
	}
	if m.ExternalID == "" {
		return nil, boterr.Missing(fieldExternalID, "the member's id on its platform")
	}
	stored, isKnown, err := s.members.First(ctx, known(channelID, m.ExternalID)...)
	if err == nil && !isKnown {
		stored, isKnown, err = arriveFirst(ctx, s.members.Where(record.FieldChannel, channelID), m)
	}
	if err != nil {
		return nil, err
	}
	arrived, err := fromDocument(stored)
	return &Arrival{Member: arrived, New: !isKnown}, err
}

// KnownID returns the id of the member of the scope's channel with an external id, "" where there is none yet: then
// Arrive makes it. It is for hosts, which need no Service for the many events of members whom they know. The errors
// are those of the store, and FailedPrecondition where what is stored is no member.
func KnownID(ctx context.Context, env record.Env, scope record.Scope, externalID string) (string, error) {
	found, err := record.FindEqual(ctx, env, schema, scope.App, known(scope.Channel, externalID)...)
	if err != nil || len(found) == 0 {
		return "", err
	}
	id, isText := found[0].Value(record.FieldID).(string)
	if !isText {
		_, err = fromDocument(found[0])
	}
	return id, err
}

// known are the fields by which the member of a channel is found who has an external id. No two have the same.
func known(channelID, externalID string) []query.FieldValue {
	return []query.FieldValue{{Name: record.FieldChannel, Value: channelID}, {Name: fieldExternalID, Value: externalID}}
}

// arriveFirst makes a member, unless another arrival was faster and has made it meanwhile.
func arriveFirst(ctx context.Context, members *record.Collection, m member.Member) (stored document.Object, wasFaster bool, err error) {
	complete(&m)
	fields, err := document.Encode(m)
	if err != nil {
		return stored, false, err
	}
	patch := record.Patch{
		Filter:       document.O(fieldExternalID, m.ExternalID),
		Patch:        document.O("$setOnInsert", fields.Without(fieldExternalID)),
		WithModifier: true,
		Upsert:       true,
	}
	found, err := members.FindAndModify(ctx, patch, true)
	if errors.Is(err, boterr.AlreadyExists) { // Another arrival was faster.
		found, err = members.FindAndModify(ctx, patch, true)
	}
	if err != nil {
		return stored, false, record.RenameField(record.RenameField(err, "patch.$setOnInsert", ""), "patch", "")
	}
	return found.Document, found.Matched, nil
}

// Insert makes a member of m.Channel, or of the scope's own channel where m has none,
// and returns it as it is stored. Without an ExternalID it gets its ID as that. It is
// for hosts.
//
// InvalidArgument: m belongs to another app, or there is no channel. NotFound: the app
// has no such channel. AlreadyExists: there is a member with this ID, or in this
// channel with this ExternalID.
func (s *Service) Insert(ctx context.Context, m member.Member) (*member.Member, error) {
	if m.ID == "" {
		m.ID = s.newID()
	}
	if m.ExternalID == "" {
		m.ExternalID = m.ID
	}
	channelID, err := s.channelOf(ctx, m)
	if err != nil {
		return nil, err
	}
	complete(&m)
	fields, err := document.Encode(m)
	if err != nil {
		return nil, err
	}
	stored, err := s.members.Where(record.FieldChannel, channelID).Insert(ctx, fields)
	if err != nil {
		return nil, err
	}
	return fromDocument(stored)
}

// channelOf returns the id of the channel to which a new member belongs.
func (s *Service) channelOf(ctx context.Context, m member.Member) (string, error) {
	if m.App != "" && m.App != s.scope.App {
		return "", boterr.Invalid(record.FieldApp, "the member belongs to another app")
	}
	return s.channelID(ctx, channels.ByID(s.scope, record.FieldChannel, m.Channel))
}
