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
	// Member is the stored member.
	Member *member.Member
	// New is true if the member was created by this arrival.
	New bool
}

// On returns m with defaults from its channel: Platform from the channel's type, BotID from its
// info.
func On(m member.Member, c *channel.Channel) member.Member {
	m.Platform = cmp.Or(m.Platform, string(c.Type))
	m.BotID = cmp.Or(m.BotID, c.BotID())
	return m
}

// Arrive finds the member of the scope's channel with m.ExternalID. If there is none, it creates the member from m.
// It does not change an existing member. It is for hosts, whose platforms only know members by external id.
//
// Concurrent arrivals create only one member. Unless the store serializes inserts, this needs the index of
// EnsureIndexes.
//
// Errors: InvalidArgument if m has no ExternalID or another app or channel than the scope, or the
// scope has no channel; AlreadyExists if m.ID belongs to another member.
func (s *Service) Arrive(ctx context.Context, m member.Member) (*Arrival, error) {
	channelID, err := s.channelOf(ctx, m)
	if err != nil {
		return nil, err
	}
	if m.ExternalID == "" {
		return nil, boterr.Missing(fieldExternalID, "the member's id on its platform")
	}
	complete(&m)
	fields, err := document.Encode(m)
	if err != nil {
		return nil, err
	}
	members := s.members.Where(record.FieldChannel, channelID)
	patch := record.Patch{
		Filter:       document.O(fieldExternalID, m.ExternalID),
		Patch:        document.O("$setOnInsert", fields.Without(fieldExternalID)),
		WithModifier: true,
		Upsert:       true,
	}
	found, err := members.FindAndModify(ctx, patch, true)
	if errors.Is(err, boterr.AlreadyExists) { // A concurrent arrival created the member.
		found, err = members.FindAndModify(ctx, patch, true)
	}
	if err != nil {
		return nil, record.RenameField(record.RenameField(err, "patch.$setOnInsert", ""), "patch", "")
	}
	arrived, err := fromDocument(found.Document)
	return &Arrival{Member: arrived, New: !found.Matched}, err
}

// KnownID returns the id of the member of the scope's channel with an external id, or "" if there
// is none yet. It is cheaper than Arrive, because it writes nothing and needs no Service. Errors come
// from the store; FailedPrecondition means that the stored record is not a member.
func KnownID(ctx context.Context, env record.Env, scope record.Scope, externalID string) (string, error) {
	found, err := record.FindEqual(ctx, env, schema, scope.App,
		query.FieldValue{Name: record.FieldChannel, Value: scope.Channel}, query.FieldValue{Name: fieldExternalID, Value: externalID})
	if err != nil || len(found) == 0 {
		return "", err
	}
	id, isText := found[0].Value(record.FieldID).(string)
	if !isText {
		_, err = fromDocument(found[0])
	}
	return id, err
}

// Insert creates a member of m.Channel, or of the scope's channel if it is empty, and returns the
// stored member. ExternalID defaults to the ID. It is for hosts.
//
// Errors: InvalidArgument if m belongs to another app or there is no channel; NotFound if the app
// has no such channel; AlreadyExists if the ID, or the ExternalID in this channel, is taken.
func (s *Service) Insert(ctx context.Context, m member.Member) (*member.Member, error) {
	if m.ID == "" {
		m.ID = s.env.NewID()
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
	switch {
	case errors.Is(err, boterr.AlreadyExists):
		return nil, boterr.New(boterr.AlreadyExists, "", "there is a member with the _id %s already, "+
			"or with the externalId %s in the channel %s: give each member its own", m.ID, m.ExternalID, channelID)
	case err != nil:
		return nil, err
	}
	return fromDocument(stored)
}

// channelOf returns the id of the channel of a new member.
func (s *Service) channelOf(ctx context.Context, m member.Member) (string, error) {
	if m.App != "" && m.App != s.scope.App {
		return "", boterr.Invalid(record.FieldApp, "the member belongs to another app; leave the app empty, or use the member's own app")
	}
	return s.channelID(ctx, channels.ByID(s.scope, record.FieldChannel, m.Channel))
}
