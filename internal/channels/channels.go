// Package channels implements the operations on an app's channels, and stores the channels of
// hosts.
package channels

import (
	"context"
	"errors"
	"hash/maphash"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/internal/record"
)

var schema = &record.Schema{
	Name:       "channel",
	Collection: "channels",
	Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag},
}

// Service implements channel.Operations for the channels of one app. It is safe for concurrent use.
type Service struct {
	// Decoded is the cache of Load, or nil. It is set before the first call.
	Decoded *Decoded

	scope    record.Scope
	env      record.Env
	channels record.Collection
}

var _ channel.Operations = (*Service)(nil)

// New returns the Service of the scope's app.
func New(env record.Env, scope record.Scope) *Service {
	s := service(env, scope)
	return &s // The compiler inlines this, so that a caller can keep the Service as a part of a struct.
}

func service(env record.Env, scope record.Scope) Service {
	return Service{scope: scope, env: env.WithDefaults(), channels: *record.OfApp(env, schema, scope.App)}
}

// Decoded is a cache of decoded channels. Each event needs its channel, and sealing the credentials
// takes most of the time of decoding. The key is the stored document, which is immutable, so a
// changed channel is decoded again. It is safe for concurrent use.
type Decoded struct {
	seed  maphash.Seed
	slots [256]atomic.Pointer[decodedChannel]
}

type decodedChannel struct {
	document document.Object
	channel  channel.Channel
}

// NewDecoded returns an empty cache.
func NewDecoded() *Decoded { return &Decoded{seed: maphash.MakeSeed()} }

// read decodes a stored channel. The caller may modify the result.
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

// GetChannel implements channel.Operations.
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

// Load returns a channel of the app with its credentials, or NotFound. It is for hosts; bot logic uses GetChannel.
func (s *Service) Load(ctx context.Context, id string) (*channel.Channel, error) {
	found, err := s.channels.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.Decoded.read(found)
}

// All returns at most limit channels of the app with their credentials, in the order of their ids. If a stored record is
// not a channel, unreadable gets the error, and the channel has only its ID.
func (s *Service) All(ctx context.Context, limit int64, unreadable func(context.Context, error)) ([]*channel.Channel, error) {
	found, err := s.channels.Find(ctx, record.Query{SortBy: document.O(record.FieldID, 1), Limit: limit})
	if err != nil {
		return nil, err
	}
	return record.ReadEach(ctx, found, s.Decoded.read, unreadable)
}

// Save stores a channel and returns the stored record. It sets the app and, if c has none, an ID.
// It ignores CreatedAt, UpdatedAt, Version and Etag of c and assigns new values. It is for hosts.
//
// An existing channel with the same ID is replaced. If c has an Etag, it must match the stored one,
// so that a change by another writer is not lost: otherwise the error is Conflict, or NotFound if
// there is no such channel. Without an Etag the stored channel is always replaced.
//
// Other errors: InvalidArgument if Type is missing, Info does not fit Type, or a credential was
// decoded from "[redacted]"; AlreadyExists if another app has a channel with this ID.
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

func (s *Service) check(c *channel.Channel) error {
	switch {
	case c == nil:
		return boterr.Missing("channel", "the channel to save")
	case c.App != "" && c.App != s.scope.App:
		return boterr.Invalid(record.FieldApp, "the channel belongs to another app; leave the app empty, or save it in its own app")
	case c.Type == "":
		return boterr.Missing("type", "the platform, such as %q", channel.Webchat)
	case c.Info != nil && absent.Is(c.Info):
		return boterr.Invalid("info", "is a nil pointer; leave it out, or give the info itself")
	case c.Info != nil && c.Info.Type() != infoType(c.Type):
		return boterr.Invalid("info", "a %T is not the info of a channel of type %q", c.Info, c.Type)
	default:
		return nil
	}
}

func infoType(t channel.Type) channel.Type {
	switch t {
	case channel.Alpha, channel.Bravo, channel.Charlie, channel.Delta, channel.Echo:
		return t
	default:
		return ""
	}
}

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
	return document.Object{}, boterr.New(boterr.Conflict, "etag", "channel %s was changed since it was read; load it again", c.ID)
}

// overwrite stores a channel whether or not it exists. It reads the stored etag first, because the new one must be
// later, and tries again if another writer changes the channel in between.
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

// insert adds a channel. isNew is false if a concurrent call added it first.
func (s *Service) insert(ctx context.Context, id string, given document.Object) (stored document.Object, isNew bool, err error) {
	stored, err = s.versions("").Insert(ctx, given)
	if !errors.Is(err, boterr.AlreadyExists) {
		return stored, err == nil, err
	}
	_, err = s.channels.Get(ctx, id)
	if errors.Is(err, boterr.NotFound) {
		err = boterr.New(boterr.AlreadyExists, record.FieldID, "another app has a channel with the id %q: choose another id", id)
	}
	return document.Object{}, false, err
}

// replaceVersion replaces a channel if its stored etag equals etag. A nil etag matches a channel
// without one. If the etags differ, it returns the zero Object.
func (s *Service) replaceVersion(ctx context.Context, id string, etag any, given document.Object) (document.Object, error) {
	text, _ := etag.(string)
	result, err := s.versions(text).FindAndModify(ctx, record.Patch{
		Filter:       document.O(record.FieldID, document.O("$eq", id), record.FieldEtag, document.O("$eq", etag)),
		Patch:        given.Without(record.FieldCreatedAt),
		WithModifier: true,
	}, true)
	return result.Document, err
}

func fromDocument(o document.Object) (*channel.Channel, error) {
	return record.Read[channel.Channel](schema, o)
}

// versions returns a collection of the app's channels. Its writes assign etags later than etag.
func (s *Service) versions(etag string) *record.Collection {
	env := s.env
	env.NewEtag = func() string { return etagAfter(etag, env.Now()) }
	return record.OfApp(env, schema, s.scope.App)
}

// etagAfter returns an etag: now in milliseconds, or the last etag plus one if that is later. A suffix of the last
// etag after a dash is ignored.
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

// pairingSchema describes pairings, one record for each inlet.
var pairingSchema = &record.Schema{
	Name:       "pairing",
	Collection: "pairings",
	Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt},
}

func (s *Service) pairingID(inlet string) string {
	return url.PathEscape(s.scope.App) + "/" + url.PathEscape(inlet)
}

// Pair replaces the outlets of an inlet and keeps their order. Without outlets, it removes the
// pairing. It loads the channels through from to check that they exist. It is for hosts.
//
// Errors: InvalidArgument if an outlet is given twice or is the inlet itself; NotFound if the app
// does not have one of the channels. After an error, the stored pairing is unchanged.
func (s *Service) Pair(ctx context.Context, from Loader, inlet string, outlets ...string) error {
	if _, err := from.Load(ctx, inlet); err != nil {
		return boterr.PrefixField("inlet", err)
	}
	for i, outlet := range outlets {
		if err := checkOutlet(ctx, from, inlet, outlets[:i], outlet); err != nil {
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

func checkOutlet(ctx context.Context, from Loader, inlet string, before []string, outlet string) error {
	switch {
	case outlet == inlet:
		return boterr.Invalid("", "the channel %s cannot be its own outlet; give another channel", outlet)
	case slices.Contains(before, outlet):
		return boterr.Invalid("", "the channel %s is given twice; give it once", outlet)
	}
	_, err := from.Load(ctx, outlet)
	return err
}

// Pairing returns the pairing of an inlet. Its Outlets are empty if the inlet is not paired. It is
// for hosts.
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

const fieldChannelID = "channelId"

// Loader loads the channels of an app.
type Loader interface {
	// Load returns a channel of the app with its credentials, or NotFound.
	Load(ctx context.Context, id string) (*channel.Channel, error)
}

// ByRecord returns the reference of a call that names a channel by its record in the parameter channel. The default
// is the scope's own channel.
func ByRecord(scope record.Scope, given *channel.Channel) record.Ref {
	named := record.Ref{Kind: schema.Name, RecordParameter: "channel", Own: scope.Channel, MayBeOwn: true}
	if given != nil {
		named.Record = &given.ID
	}
	return named
}

// ByID returns the reference of a call that names a channel by its id in the given parameter. The default is the
// scope's own channel.
func ByID(scope record.Scope, parameter, id string) record.Ref {
	return record.Ref{Kind: schema.Name, IDParameter: parameter, ID: id, Own: scope.Channel, MayBeOwn: true}
}

// ByRequiredID returns the reference of a call that must name a channel in channelId.
func ByRequiredID(id string) record.Ref {
	return record.Ref{Kind: schema.Name, IDParameter: fieldChannelID, ID: id}
}

// ByRecordOrID returns the reference of a call that names a channel by its record in channel or by its id in
// channelId. The default is the scope's own channel.
func ByRecordOrID(scope record.Scope, given *channel.Channel, id string) record.Ref {
	named := ByRecord(scope, given)
	named.IDParameter, named.ID = fieldChannelID, id
	return named
}

// Load returns the stored channel that a call names. If allowed is not empty, the channel must have one of these
// types.
//
// Errors: InvalidArgument if the call names no channel or two; NotFound if the app has no such
// channel; Unsupported if its type is not allowed.
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

// Find returns a channel of any app with its credentials, or NotFound. Ids of channels are unique
// across apps. It is for connectors whose requests name a channel but no app.
func Find(ctx context.Context, env record.Env, decoded *Decoded, id string) (*channel.Channel, error) {
	found, err := record.Open(env, schema).Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return decoded.read(found)
}

// HasBroadcastGroup reports whether a channel has a broadcast group with an id. No group has the id "".
func HasBroadcastGroup(c *channel.Channel, id string) bool {
	return id != "" && slices.ContainsFunc(c.BroadcastGroups, func(labelled channel.BroadcastGroup) bool {
		return slices.ContainsFunc(labelled.Groups, func(group channel.BroadcastGroupMember) bool { return group.ID == id })
	})
}
