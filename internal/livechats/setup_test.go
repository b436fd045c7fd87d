package livechats_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// noon is what the clock of a fixture shows at first: 2024-03-01 12:00 in UTC.
const noon = 1_709_294_400_000

// fixture is two apps in one store, with a clock that stands still and ids that count.
//
// Mine has the inlet web (webchat), which is paired with desk and team, and the members
// ada and bob in it, of whom ada is the context's own. The outlets are desk (charlie, with
// the broadcast groups C1 and U1 by default, and C9 of the label sales), team (delta, D1),
// phone (bravo, B1), help (foxtrot, F1), shop (custom, with a live-chat API), kiosk (without), hotel, and
// closed (charlie, not on). Theirs has the channel foreign and the member tom.
type fixture struct {
	mine, theirs *app

	// platform is where everything goes that is sent, on every channel type.
	platform *platform
	// web answers the requests to the addresses of live-chat APIs and pictures.
	web *web.Replies

	store store.Store
	now   atomic.Int64
	ids   atomic.Int64
}

// app is one app of a fixture.
type app struct {
	*livechats.Service

	env      record.Env
	scope    record.Scope
	ports    livechats.Ports
	channels *channels.Service
	members  *members.Service
	agendas  *agendas.Service
}

// shopAPI is the live-chat API of the channel shop.
const shopAPI = "https://shop.example/livechat"

// newFixture returns a fixture. Changes are made to the ports of mine.
func newFixture(t *testing.T, changes ...func(*livechats.Ports)) *fixture {
	t.Helper()
	s := &fixture{store: memstore.New(), platform: newPlatform(), web: &web.Replies{}}
	s.now.Store(noon)
	require.NoError(t, livechats.EnsureIndexes(t.Context(), s.store))
	require.NoError(t, members.EnsureIndexes(t.Context(), s.store))
	s.mine = s.app(record.Scope{App: "mine", Channel: "web", Member: "ada"}, changes...)
	s.theirs = s.app(record.Scope{App: "theirs", Channel: "foreign", Member: "tom"})
	for _, text := range []string{
		`{"_id": "web", "type": "webchat", "on": true}`,
		`{"_id": "desk", "type": "charlie", "on": true, "broadcastGroups": [
			{"label": "default", "groups": [{"id": "C1", "type": "public_channel"}, {"id": "U1", "type": "user"}]},
			{"label": "sales", "groups": [{"id": "C9", "type": "private_channel"}]}]}`,
		`{"_id": "team", "type": "delta", "on": true, "broadcastGroups": [{"label": "default", "groups": [{"id": "D1"}]}]}`,
		`{"_id": "phone", "type": "bravo", "on": true, "broadcastGroups": [{"label": "default", "groups": [{"id": "B1"}]}]}`,
		`{"_id": "help", "type": "foxtrot", "on": true, "broadcastGroups": [{"label": "default", "groups": [{"id": "F1", "type": "foxtrot"}]}]}`,
		`{"_id": "shop", "type": "custom", "on": true, "metadata": {"liveChatApi": "` + shopAPI + `"}}`,
		`{"_id": "kiosk", "type": "custom", "on": true}`,
		`{"_id": "hotel", "type": "hotel", "on": true}`,
		`{"_id": "closed", "type": "charlie", "on": false, "broadcastGroups": [{"label": "default", "groups": [{"id": "C5", "type": "public_channel"}]}]}`,
	} {
		s.mine.addChannel(t, text)
	}
	s.mine.pair(t, "desk", "team")
	s.mine.addMember(t, `{"_id": "ada", "channel": "web", "externalId": "ada-web", "botId": "bot", "firstName": "Ada", "lastName": "King"}`)
	s.mine.addMember(t, `{"_id": "bob", "channel": "web", "externalId": "bob-web", "botId": "bot", "firstName": "Bob"}`)
	s.theirs.addChannel(t, `{"_id": "foreign", "type": "charlie", "on": true}`)
	s.theirs.addMember(t, `{"_id": "tom", "channel": "foreign", "firstName": "Tom"}`)
	return s
}

// app returns an app with nothing in it.
func (s *fixture) app(scope record.Scope, changes ...func(*livechats.Ports)) *app {
	a := &app{scope: scope, env: record.Env{
		Store:   s.store,
		Now:     func() time.Time { return time.UnixMilli(s.now.Load()) },
		NewID:   func() string { return "id" + strconv.FormatInt(s.ids.Add(1), 10) },
		NewEtag: func() string { return "etag" + strconv.FormatInt(s.ids.Add(1), 10) },
	}}
	a.channels = channels.New(a.env, scope)
	a.members = members.New(a.env, scope, a.channels)
	a.agendas = agendas.New(a.env, scope, agendas.Ports{Members: a.members})
	a.ports = livechats.Ports{
		Members:    a.members,
		Channels:   a.channels,
		Pairing:    pairingOf(a.channels),
		Agendas:    a.agendas,
		Connectors: s.platform.connectors(),
		HTTP:       s.web,
	}
	for _, change := range changes {
		change(&a.ports)
	}
	a.Service = livechats.New(a.env, scope, a.ports)
	return a
}

// as returns the live chats of the app for another channel and member.
func (a *app) as(channelID, memberID string) *livechats.Service {
	return livechats.New(a.env, record.Scope{App: a.scope.App, Channel: channelID, Member: memberID}, a.ports)
}

// advance moves the clock.
func (s *fixture) advance(d time.Duration) { s.now.Add(d.Milliseconds()) }

// at is the clock's time, moved by d.
func (s *fixture) at(d time.Duration) document.Timestamp {
	return document.Timestamp(s.now.Load() + d.Milliseconds())
}

// stored returns all that is stored of all apps as text.
func (s *fixture) stored(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, collection := range []string{"assignments", "groups", "admins", "members", "agendas", "pairings"} {
		found, err := s.store.Collection(collection).Find(t.Context(), nil, store.FindOptions{})
		require.NoError(t, err)
		text, err := json.Marshal(found)
		require.NoError(t, err)
		all.WriteString(collection + ": " + string(text) + "\n")
	}
	return all.String()
}

// put stores a record as it is given, behind the services' backs. It needs _id and app.
func (s *fixture) put(t *testing.T, collection, text string) {
	t.Helper()
	require.NoError(t, s.store.Collection(collection).Insert(t.Context(), object(t, text)))
}

// change changes the records that match, behind the services' backs.
func (s *fixture) change(t *testing.T, collection string, filter, update document.Object) {
	t.Helper()
	which, err := query.CompileFilter(filter)
	require.NoError(t, err)
	compiled, err := query.CompileUpdate(update)
	require.NoError(t, err)
	result, err := s.store.Collection(collection).Update(t.Context(), which, query.Change{Update: compiled}, store.UpdateOptions{Multi: true})
	require.NoError(t, err)
	require.NotZero(t, result.Matched)
}

// record returns an assignment as the store keeps it.
func (s *fixture) record(t *testing.T, id string) *livechat.AssignmentRecord {
	t.Helper()
	which, err := query.CompileFilter(document.O("_id", id))
	require.NoError(t, err)
	found, err := s.store.Collection("assignments").Find(t.Context(), which, store.FindOptions{})
	require.NoError(t, err)
	require.Len(t, found, 1)
	var r livechat.AssignmentRecord
	require.NoError(t, document.Decode(found[0], &r))
	return &r
}

// addChannel saves a channel from JSON.
func (a *app) addChannel(t *testing.T, text string) {
	t.Helper()
	var c channel.Channel
	require.NoError(t, json.Unmarshal([]byte(text), &c))
	_, err := a.channels.Save(t.Context(), &c)
	require.NoError(t, err)
}

// pair pairs the inlet web with outlets.
func (a *app) pair(t *testing.T, outlets ...string) {
	t.Helper()
	require.NoError(t, a.channels.Pair(t.Context(), "web", outlets...))
}

// addMember makes a member from JSON.
func (a *app) addMember(t *testing.T, text string) {
	t.Helper()
	var m member.Member
	require.NoError(t, json.Unmarshal([]byte(text), &m))
	_, err := a.members.Insert(t.Context(), m)
	require.NoError(t, err)
}

// member returns a member as it is stored.
func (a *app) member(t *testing.T, id string) *member.Member {
	t.Helper()
	m, err := a.members.Load(t.Context(), id)
	require.NoError(t, err)
	return m
}

// onlyAgenda returns the one open agenda of a member.
func (a *app) onlyAgenda(t *testing.T, memberID string) *agenda.Record {
	t.Helper()
	found := a.openAgendas(t, memberID)
	require.Len(t, found, 1)
	return found[0]
}

// openAgendas returns the agendas of a member that have not ended.
func (a *app) openAgendas(t *testing.T, memberID string) []*agenda.Record {
	t.Helper()
	found, err := a.agendas.Find(t.Context(), record.Query{Filter: document.O("member", memberID, "completed", false)})
	require.NoError(t, err)
	return found
}

// pairingOf returns the port of the channels that says which outlets serve an inlet.
func pairingOf(channels *channels.Service) func(context.Context, string) ([]string, error) {
	return func(ctx context.Context, inlet string) ([]string, error) {
		found, err := channels.Pairing(ctx, inlet)
		if err != nil {
			return nil, err
		}
		return found.Outlets, nil
	}
}

// withoutConnector takes away the connector to a type.
func withoutConnector(platform channel.Type) func(*livechats.Ports) {
	return func(p *livechats.Ports) { delete(p.Connectors, platform) }
}

// thatOnlySends makes the connector to a type offer nothing but Send.
func thatOnlySends(platform channel.Type) func(*livechats.Ports) {
	return func(p *livechats.Ports) {
		p.Connectors[platform] = struct{ send.Connector }{p.Connectors[platform]}
	}
}
