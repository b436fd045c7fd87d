// Package channels keeps the channels of an app: it carries out getChannel and stores what hosts save.
package channels

import (
	"context"
	"errors"
	"hash/maphash"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/record"
)

// schema is how channels are kept.
var schema = &record.Schema{
	Name:       "channel",
	Collection: "channels",
	Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag},
}

// Service is the channels of one app. It is safe for concurrent use.
type Service struct {
	scope    record.Scope
	env      record.Env
	channels *record.Collection
	decoded  *Decoded
}

var _ channel.Operations = (*Service)(nil)

// New returns the channels of the scope's app.
func New(env record.Env, scope record.Scope) *Service {
	return &Service{
		scope:    scope,
		env:      env.WithDefaults(),
		channels: record.OfApp(env, schema, scope.App),
	}
}

// Remembering makes Load look in decoded before it decodes a channel, and returns the Service.
func (s *Service) Remembering(decoded *Decoded) *Service {
	s.decoded = decoded
	return s
}

// Decoded has some of the channels that were decoded last, by their documents, which never change: each event needs its
// channel, and credentials take longer to decode than the rest of it. It is safe for concurrent use.
type Decoded struct {
	seed  maphash.Seed
	slots [256]atomic.Pointer[decodedChannel]
}

type decodedChannel struct {
	document document.Object
	channel  channel.Channel
}

// NewDecoded returns a Decoded without channels.
func NewDecoded() *Decoded { return &Decoded{seed: maphash.MakeSeed()} }

// read is fromDocument. What it returns is the caller's.
func (d *Decoded) read(stored document.Object) (*channel.Channel, error) {
	if d == nil {
		return fromDocument(stored)
	}
	slot := &d.slots[maphash.Comparable(d.seed, stored)%uint64(len(d.slots))]
	known := slot.Load()
	if known == nil || known.document != stored {
		read, err := fromDocument(stored)
		if err != nil {
			return nil, err
		}
		known = &decodedChannel{document: stored, channel: *read}
		slot.Store(known)
	}
	own := known.channel.Clone()
	return &own, nil
}

func (s *Service) pairings() *record.Collection {
	return record.OfApp(s.env, pairingSchema, s.scope.App)
}

// GetChannel implements Operations.
func (s *Service) GetChannel(ctx context.Context, p channel.GetParams) (*channel.Reference, error) {
	return record.Load(ByRequiredID(p.ChannelID), func(id string) (*channel.Reference, error) {
		found, err := s.channels.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return &channel.Reference{
			ChannelID: document.Get(found, record.FieldID, ""),
			AppID:     document.Get(found, record.FieldApp, ""),
		}, nil
	})
}

// Load returns a channel of the app with its credentials. It is for hosts; bot logic
// has GetChannel. NotFound: the app has no such channel.
func (s *Service) Load(ctx context.Context, id string) (*channel.Channel, error) {
	found, err := s.channels.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.decoded.read(found)
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
func (s *Service) Save(ctx context.Context, c *channel.Channel) (*channel.Channel, error) {
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
func (s *Service) check(c *channel.Channel) error {
	switch {
	case c == nil:
		return boterr.Invalid("channel", "is missing")
	case c.App != "" && c.App != s.scope.App:
		return boterr.Invalid(record.FieldApp, "the channel belongs to another app")
	case c.Type == "":
		return boterr.Missing("type", "the platform, such as %q", channel.Webchat)
	case isNilPointer(c.Info):
		return boterr.Invalid("info", "is a nil pointer: leave it out, or give the info itself")
	case c.Info != nil && c.Info.Type() != infoType(c.Type):
		return boterr.Invalid("info", "a %T is not the info of a channel of type %q", c.Info, c.Type)
	default:
		return nil
	}
}

// isNilPointer reports whether an info is a pointer to none.
func isNilPointer(info channel.Info) bool {
	v := reflect.ValueOf(info)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

func infoType(t channel.Type) channel.Type {
	switch t {
	case channel.Alpha, channel.Bravo, channel.Charlie, channel.Delta, channel.Echo:
		return t
	default:
		return ""
	}
}

// replace stores a channel that has an ID.
func (s *Service) replace(ctx context.Context, c *channel.Channel, given document.Object) (document.Object, error) {
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

// fromDocument reads a channel that the store holds.
func fromDocument(o document.Object) (*channel.Channel, error) {
	return record.Read[channel.Channel](schema, o)
}

// versions returns the app's channels such that the next change gives one of them an etag
// that is later than the one it has.
func (s *Service) versions(etag string) *record.Collection {
	env := s.env
	env.NewEtag = func() string { return etagAfter(etag, env.Now()) }
	return record.OfApp(env, schema, s.scope.App)
}

// etagAfter returns the time in milliseconds as an etag, or the millisecond after that of the
// etag that is there, if that is later. What stands behind a dash in an etag is left out.
func etagAfter(etag string, now time.Time) string {
	next := int64(document.TimestampOf(now))
	digits, _, _ := strings.Cut(etag, "-")
	if digits == "" {
		return strconv.FormatInt(next, 10)
	}
	if last, err := strconv.ParseInt(digits, 10, 64); err == nil && last >= next {
		next = last + 1
	}
	return strconv.FormatInt(next, 10)
}

// pairingSchema is how pairings are kept: one record for each inlet.
var pairingSchema = &record.Schema{
	Name:       "pairing",
	Collection: "pairings",
	Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt},
}

func (s *Service) pairingID(inlet string) string {
	return url.PathEscape(s.scope.App) + "/" + url.PathEscape(inlet)
}

// Pair sets which outlets an inlet is paired with, in order, in place of those before;
// none unpairs it. It is for hosts.
//
// InvalidArgument: an outlet comes twice or is the inlet. NotFound: the app has no
// such channel. Nothing is stored then.
func (s *Service) Pair(ctx context.Context, inlet string, outlets ...string) error {
	if _, err := s.channels.Get(ctx, inlet); err != nil {
		return boterr.PrefixField("inlet", err)
	}
	for i, outlet := range outlets {
		if err := s.checkOutlet(ctx, inlet, outlets[:i], outlet); err != nil {
			return boterr.PrefixField("outlets["+strconv.Itoa(i)+"]", err)
		}
	}
	_, err := s.pairings().FindAndModify(ctx, record.Patch{
		Filter: document.O(record.FieldID, s.pairingID(inlet)),
		Patch:  document.O("inlet", inlet, "outlets", append([]string{}, outlets...)),
		Upsert: true,
	}, true)
	return err
}

// checkOutlet refuses what cannot be an outlet beside those before it.
func (s *Service) checkOutlet(ctx context.Context, inlet string, before []string, outlet string) error {
	switch {
	case outlet == inlet:
		return boterr.Invalid("", "a channel cannot be its own outlet")
	case slices.Contains(before, outlet):
		return boterr.Invalid("", "the channel %s comes twice", outlet)
	}
	_, err := s.channels.Get(ctx, outlet)
	return err
}

// Pairing returns which outlets an inlet is paired with: none, where nothing was
// set. It is for hosts.
func (s *Service) Pairing(ctx context.Context, inlet string) (*channel.Pairing, error) {
	found, err := s.pairings().Find(ctx, record.Query{Filter: document.O(record.FieldID, s.pairingID(inlet)), Limit: 1})
	if err != nil {
		return nil, err
	}
	pairing := &channel.Pairing{App: s.scope.App, Inlet: inlet, Outlets: []string{}}
	if len(found) > 0 {
		pairing.Outlets = document.Get(found[0], "outlets", pairing.Outlets)
	}
	return pairing, nil
}

// fieldChannelID is the parameter that takes the id of a channel.
const fieldChannelID = "channelId"

// Loader gives the channels of an app.
type Loader interface {
	// Load returns the channel of that id in the app with its credentials, or NotFound.
	Load(ctx context.Context, id string) (*channel.Channel, error)
}

// ByRecord is the address of a call that takes the channel's record as channel. The default is
// the scope's own.
func ByRecord(scope record.Scope, given *channel.Channel) record.Ref {
	named := record.Ref{Kind: schema.Name, RecordParameter: "channel", Own: scope.Channel, MayBeOwn: true}
	if given != nil {
		named.Record = &given.ID
	}
	return named
}

// ByID is the address of a call that takes the channel's id as parameter. The default is the
// scope's own.
func ByID(scope record.Scope, parameter, id string) record.Ref {
	return record.Ref{Kind: schema.Name, IDParameter: parameter, ID: id, Own: scope.Channel, MayBeOwn: true}
}

// ByRequiredID is the address of a call that must give the channel's id as channelId.
func ByRequiredID(id string) record.Ref {
	return record.Ref{Kind: schema.Name, IDParameter: fieldChannelID, ID: id}
}

// ByRecordOrID is the address of a call that takes the channel's record as channel, or its id as
// channelId. The default is the scope's own.
func ByRecordOrID(scope record.Scope, given *channel.Channel, id string) record.Ref {
	named := ByRecord(scope, given)
	named.IDParameter, named.ID = fieldChannelID, id
	return named
}

// Load returns the channel that an address names, as it is stored. It must be of one of the
// types allowed; none stands for any.
//
// InvalidArgument: the call names no channel, or two. NotFound: the app has no such channel. Unsupported: its
// type is another one.
func Load(ctx context.Context, from Loader, named record.Ref, allowed ...channel.Type) (*channel.Channel, error) {
	loaded, err := record.Load(named, func(id string) (*channel.Channel, error) { return from.Load(ctx, id) })
	if err != nil {
		return nil, err
	}
	if len(allowed) > 0 {
		if err := loaded.RequireType(allowed...); err != nil {
			return nil, boterr.WithField(named.Field(), err)
		}
	}
	return loaded, nil
}
