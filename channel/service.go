package channel

import (
	"context"
	"errors"
	"reflect"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/query"
)

// kind is how channels are kept.
var kind = &record.Kind{
	Name:       "channel",
	Collection: "channels",
	Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag},
}

// Service is the channels of one app. It is safe for concurrent use.
type Service struct {
	scope    record.Scope
	env      record.Env
	channels *record.Collection
}

var _ Operations = (*Service)(nil)

// New returns the channels of the scope's app.
func New(env record.Env, scope record.Scope) *Service {
	return &Service{
		scope:    scope,
		env:      env.WithDefaults(),
		channels: record.OfApp(env, kind, scope.App),
	}
}

func (s *Service) pairings() *record.Collection { return record.OfApp(s.env, pairingKind, s.scope.App) }

// GetChannel implements Operations.
func (s *Service) GetChannel(ctx context.Context, p GetChannelParams) (*Reference, error) {
	return record.Load(ByRequiredID(p.ChannelID), func(id string) (*Reference, error) {
		found, err := s.channels.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return &Reference{
			ChannelID: document.Get(found, record.FieldID, ""),
			AppID:     document.Get(found, record.FieldApp, ""),
		}, nil
	})
}

// Load returns a channel of the app with its credentials. It is for hosts; bot logic
// has GetChannel. NotFound: the app has no such channel.
func (s *Service) Load(ctx context.Context, id string) (*Channel, error) {
	found, err := s.channels.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return fromDocument(found)
}

// Save stores a channel and returns it as it is stored then: with an ID where it has
// none, with the app, and with CreatedAt, UpdatedAt, Version and Etag, which it does
// not take from c. It is for hosts.
//
// A channel whose ID exists becomes what c is. Where c has an Etag, it must be that
// of the stored channel, which makes reading, changing and saving safe: otherwise
// Conflict, or NotFound where there is no such channel. A c without an Etag is saved
// over whatever is there.
//
// InvalidArgument: Type is missing, Info is not the one of Type, or a credential in
// it was redacted when c was read. AlreadyExists: another app has a channel with
// this ID.
func (s *Service) Save(ctx context.Context, c *Channel) (*Channel, error) {
	if err := s.check(c); err != nil {
		return nil, err
	}
	given, err := document.Encode(c)
	if err != nil {
		return nil, err
	}
	var stored document.Object
	if c.ID == "" {
		stored, err = s.versions("").Insert(ctx, given)
	} else {
		stored, err = s.replace(ctx, c, given)
	}
	if err != nil {
		return nil, err
	}
	return fromDocument(stored)
}

// check refuses a channel that cannot be stored.
func (s *Service) check(c *Channel) error {
	switch {
	case c == nil:
		return boterr.Invalid("channel", "is missing")
	case c.App != "" && c.App != s.scope.App:
		return boterr.Invalid(record.FieldApp, "the channel belongs to another app")
	case c.Type == "":
		return boterr.Missing("type", "the platform, such as %q", Webchat)
	case isNilPointer(c.Info):
		return boterr.Invalid("info", "is a nil pointer: leave it out, or give the info itself")
	case c.Info != nil && c.Info.Type() != infoType(c.Type):
		return boterr.Invalid("info", "a %T is not the info of a channel of type %q", c.Info, c.Type)
	default:
		return nil
	}
}

// isNilPointer reports whether an info is a pointer to none.
func isNilPointer(info Info) bool {
	v := reflect.ValueOf(info)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// infoType returns what Type of the info of a channel's type returns.
func infoType(t Type) Type {
	switch t {
	case Alpha, Bravo, Charlie, Delta, Echo:
		return t
	default:
		return ""
	}
}

// replace stores a channel that has an ID.
func (s *Service) replace(ctx context.Context, c *Channel, given document.Object) (document.Object, error) {
	if c.Etag == "" {
		return s.overwrite(ctx, c.ID, given)
	}
	stored, err := s.replaceVersion(ctx, c.ID, c.Etag, given)
	if err != nil || !stored.IsZero() {
		return stored, err
	}
	if _, err := s.channels.Get(ctx, c.ID); err != nil {
		return document.Object{}, err
	}
	return document.Object{}, boterr.New(boterr.Conflict, "etag", "channel %s was changed since it was read: load it again", c.ID)
}

// overwrite stores a channel over whatever is there. It reads what that is, so that the new
// etag is later, and starts anew where another change came between.
func (s *Service) overwrite(ctx context.Context, id string, given document.Object) (document.Object, error) {
	for {
		found, isThere, err := s.channels.First(ctx, query.FieldValue{Name: record.FieldID, Value: id})
		if err != nil {
			return document.Object{}, err
		}
		if !isThere {
			stored, isNew, err := s.insert(ctx, id, given)
			if isNew || err != nil {
				return stored, err
			}
			continue
		}
		stored, err := s.replaceVersion(ctx, id, document.Get[any](found, record.FieldEtag, nil), given)
		if err != nil || !stored.IsZero() {
			return stored, err
		}
	}
}

// insert adds a channel, unless another call has added it meanwhile.
func (s *Service) insert(ctx context.Context, id string, given document.Object) (stored document.Object, isNew bool, err error) {
	stored, err = s.versions("").Insert(ctx, given)
	if !errors.Is(err, boterr.AlreadyExists) {
		return stored, err == nil, err
	}
	if _, notMine := s.channels.Get(ctx, id); notMine != nil {
		return document.Object{}, false, err
	}
	return document.Object{}, false, nil
}

// replaceVersion replaces a channel if it has an etag still, which is nil where it has none.
func (s *Service) replaceVersion(ctx context.Context, id string, etag any, given document.Object) (document.Object, error) {
	text, _ := etag.(string)
	result, err := s.versions(text).FindAndModify(ctx, record.Patch{
		Filter:       document.O(record.FieldID, document.O("$eq", id), record.FieldEtag, document.O("$eq", etag)),
		Patch:        given.Without(record.FieldCreatedAt),
		WithModifier: true,
	}, true)
	return result.Document, err
}
