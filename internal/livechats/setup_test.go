package livechats_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
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

// noon is 2024-03-01 12:00 in UTC: the time of a fixture's clock at the start.
const noon = 1_709_294_400_000

// fixture is two apps in one store, with a stopped clock and numbered ids.
//
// The app mine has the inlet web (webchat), which is paired with desk and team. Its members ada (the context's own)
// and bob are in web. The outlets are desk (charlie, with the broadcast groups C1 and U1 by default, and C9 for the
// label sales), team (delta, D1), phone (bravo, B1), help (foxtrot, F1), shop (custom, with a live-chat API), kiosk
// (custom, without an API), hotel, and closed (charlie, switched off). The app theirs has the channel foreign and the
// member tom.
type fixture struct {
	t            *testing.T
	mine, theirs *app

	// platform receives the messages for all types of channels.
	platform *platform
	// web answers requests to live-chat APIs and for pictures.
	web *web.Replies

	store store.Store
	now   atomic.Int64
	ids   atomic.Int64
}

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

// newFixture returns a fixture. changes apply to the ports of mine.
func newFixture(t *testing.T, changes ...func(*livechats.Ports)) *fixture {
	t.Helper()
	s := &fixture{t: t, store: memstore.New(), platform: newPlatform(), web: &web.Replies{}}
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

func (s *fixture) app(scope record.Scope, changes ...func(*livechats.Ports)) *app {
	a := &app{scope: scope, env: record.Env{
		Store:   s.store,
		Now:     func() time.Time { return time.UnixMilli(s.now.Load()) },
		NewID:   func() string { return "id" + strconv.FormatInt(s.ids.Add(1), 10) },
		NewEtag: func() string { return "etag" + strconv.FormatInt(s.ids.Add(1), 10) },
	}}
	a.ports = livechats.Ports{Connectors: s.platform.connectors(), HTTP: s.web}
	a.channels, a.members, a.agendas = a.over(a.env, &a.ports)
	a.ports.Pairing = pairingOf(a.channels)
	for _, change := range changes {
		change(&a.ports)
	}
	a.Service = livechats.New(a.env, scope, a.ports)
	return a
}

// as returns the app's live chats with another channel and member in the scope.
func (a *app) as(channelID, memberID string) *livechats.Service {
	return livechats.New(a.env, record.Scope{App: a.scope.App, Channel: channelID, Member: memberID}, a.ports)
}

// advance moves the clock forward.
func (s *fixture) advance(d time.Duration) { s.now.Add(d.Milliseconds()) }

// at returns the clock's time plus d.
func (s *fixture) at(d time.Duration) document.Timestamp {
	return document.Timestamp(s.now.Load() + d.Milliseconds())
}

// stored returns all records of both apps as text.
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

// put stores a record directly in the store. It must have _id and app.
func (s *fixture) put(t *testing.T, collection, text string) {
	t.Helper()
	require.NoError(t, s.store.Collection(collection).Insert(t.Context(), object(t, text)))
}

// change changes matching records directly in the store.
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

func (s *fixture) record(t *testing.T, id string) *livechat.AssignmentRecord {
	t.Helper()
	found := s.assignmentsThat(t, document.O("_id", id))
	require.Len(t, found, 1)
	return found[0]
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
	require.NoError(t, a.channels.Pair(t.Context(), a.channels, "web", outlets...))
}

// addMember makes a member from JSON.
func (a *app) addMember(t *testing.T, text string) {
	t.Helper()
	var m member.Member
	require.NoError(t, json.Unmarshal([]byte(text), &m))
	_, err := a.members.Insert(t.Context(), m)
	require.NoError(t, err)
}

func (a *app) member(t *testing.T, id string) *member.Member {
	t.Helper()
	m, err := members.Get(t.Context(), a.members, id)
	require.NoError(t, err)
	return m
}

func (a *app) onlyAgenda(t *testing.T) *agenda.Record {
	t.Helper()
	found := a.openAgendas(t, "ada")
	require.Len(t, found, 1)
	return found[0]
}

func (a *app) openAgendas(t *testing.T, memberID string) []*agenda.Record {
	t.Helper()
	found, err := a.agendas.Find(t.Context(), record.Query{Filter: document.O("member", memberID, "completed", false)})
	require.NoError(t, err)
	return found
}

// pairingOf returns the port Pairing for a Service of channels.
func pairingOf(channels *channels.Service) func(context.Context, string) ([]string, error) {
	return func(ctx context.Context, inlet string) ([]string, error) {
		found, err := channels.Pairing(ctx, inlet)
		if err != nil {
			return nil, err
		}
		return found.Outlets, nil
	}
}

// withoutConnector removes the connector for a type of channel.
func withoutConnector(platform channel.Type) func(*livechats.Ports) {
	return func(p *livechats.Ports) { delete(p.Connectors, platform) }
}

// thatOnlySends removes the ports of the connector for a type of channel.
func thatOnlySends(platform channel.Type) func(*livechats.Ports) {
	return func(p *livechats.Ports) {
		p.Connectors[platform] = struct{ send.Connector }{p.Connectors[platform]}
	}
}

// pending stores an open request of a member with the member's flag and idle agenda. It has tickets in C1 and U1 of
// desk, D1 of team and B1 of phone.
func (s *fixture) pending(t *testing.T, id, memberID string, changes ...func(*livechat.AssignmentRecord)) {
	t.Helper()
	r := &livechat.AssignmentRecord{
		Assignment: livechat.Assignment{
			ID: id, App: "mine", Version: 1, Inlet: "web", Member: memberID, Meta: document.O(), Targets: []livechat.Target{},
			CreatedAt: s.at(0), UpdatedAt: s.at(0), Expiry: s.at(livechat.IdleTimeout),
		},
		Progress: livechat.Progress{Slot: "member/" + memberID, SentAt: s.at(0)},
		Label:    livechat.DefaultLabel, Summary: "Order 7, for {{firstName}}", GroupName: "Order 7", LiveChatAgenda: true,
	}
	for _, to := range []struct {
		channel, group string
		kind           channel.Type
	}{{"desk", "C1", channel.Charlie}, {"desk", "U1", channel.Charlie}, {"team", "D1", channel.Delta}, {"phone", "B1", channel.Bravo}} {
		r.Tickets = append(r.Tickets, livechat.Ticket{
			ID: "ticket-" + to.group, Channel: to.channel, Type: to.kind, Group: channel.BroadcastGroupMember{ID: to.group},
			MessageID: "message-" + to.group, SentAt: s.at(0),
		})
	}
	for _, change := range changes {
		change(r)
	}
	encoded, err := document.Encode(r)
	require.NoError(t, err)
	require.NoError(t, s.store.Collection("assignments").Insert(t.Context(), encoded))
	if r.State() == livechat.Ended {
		return
	}
	_, err = s.mine.members.PatchMembers(t.Context(), member.PatchParams{
		MemberID: memberID, Patch: document.O("botMeta.liveChat", true),
	})
	require.NoError(t, err)
	if r.LiveChatAgenda {
		_, err = s.mine.agendas.NewAgenda(t.Context(), agenda.NewParams{
			MemberID: memberID, NodeCompositeID: "livechat:idle", NextRunAt: r.Expiry, Replace: true, Tag: "livechat:idle",
		})
		require.NoError(t, err)
	}
}

// onlyInDesk removes the tickets of other channels.
func onlyInDesk(r *livechat.AssignmentRecord) {
	r.Tickets = slices.DeleteFunc(r.Tickets, func(ticket livechat.Ticket) bool { return ticket.Channel != "desk" })
}

// taken stores a request of a member that an agent takes in a channel, such as "eve@desk". It clears the platform's
// records.
func (s *fixture) taken(t *testing.T, id, memberID, by string, changes ...func(*livechat.AssignmentRecord)) *livechat.TakeResult {
	t.Helper()
	s.pending(t, id, memberID, changes...)
	took := s.take(t, id, by)
	s.platform.forget()
	return took
}

// takenBy returns the parameters with which an agent takes a request in a channel, such as "eve@desk".
func takenBy(id, agent string) livechat.TakeParams {
	agent, channelID, _ := strings.Cut(agent, "@")
	return livechat.TakeParams{AssignmentID: id, ChannelID: channelID, AdminExternalID: agent}
}

// take gives a request to an agent, such as "eve@desk".
func (s *fixture) take(t *testing.T, id, agent string) *livechat.TakeResult {
	t.Helper()
	took, err := s.mine.Take(t.Context(), takenBy(id, agent))
	require.NoError(t, err)
	return took
}

// end ends the live chat of an agent, such as "eve@desk", by a message to a group or to the bot.
func (s *fixture) end(t *testing.T, agent, to string) {
	t.Helper()
	agent, channelID, _ := strings.Cut(agent, "@")
	_, err := s.mine.EndLiveChat(t.Context(), livechat.EndParams{
		Channel: &channel.Channel{ID: channelID}, MessageEvent: event(agent, to, "bye"),
	})
	require.NoError(t, err)
}

// saveAdmin stores an agent with a name.
func (s *fixture) saveAdmin(t *testing.T, id, externalID, name string) {
	t.Helper()
	s.put(t, "admins", `{"_id": "mine/`+id+`", "app": "mine", "appId": "mine", "adminId": "`+id+`", "externalId": "`+externalID+`", "name": "`+name+`"}`)
}

func (s *fixture) group(t *testing.T, id string) *livechat.Group {
	t.Helper()
	groups := s.groups(t, document.O("_id", id))
	require.Len(t, groups, 1)
	return groups[0]
}

// groups returns the matching groups.
func (s *fixture) groups(t *testing.T, filter document.Object) []*livechat.Group {
	t.Helper()
	return recordsThat[livechat.Group](t, s.store, "groups", filter)
}

// event returns a text message from one address to another.
func event(from, to, text string) *send.MessageEvent {
	return &send.MessageEvent{From: from, To: to, Type: send.TypeText, Data: document.O("text", text)}
}

// requireOver checks that the live chat of an assignment has ended, with all its effects.
func (s *fixture) requireOver(t *testing.T, id, memberID string, by livechat.EndedBy) {
	t.Helper()
	r := s.record(t, id)
	require.Equal(t, livechat.Ended, r.State())
	require.Equal(t, by, r.EndedBy)
	require.Equal(t, "ended/"+id, r.Slot)
	require.NotZero(t, r.ClosedAt)
	require.Zero(t, r.Expiry)
	require.Empty(t, s.groups(t, document.O("assignment", id, "active", true)))
	require.False(t, s.mine.member(t, memberID).BotMeta.LiveChat())
	require.Empty(t, s.mine.openAgendas(t, memberID))
}

// errInterrupted is the error of an interrupted store.
var errInterrupted = errors.New("interrupted")

// interrupted returns the app's live chats on a store that fails after a number of writes, and a function that
// reports whether it has failed.
func (s *fixture) interrupted(writes int) (*livechats.Service, func() bool) {
	hasBroken := false
	return s.on(beforeWrites(s.store, writes, func() error {
		hasBroken = true
		return boterr.New(boterr.Unavailable, "", "%w", errInterrupted)
	})), func() bool { return hasBroken }
}

// failing returns the app's live chats on a store that fails once, after a number of calls, and a function that reports
// whether it has failed.
func (s *fixture) failing(calls int) (*livechats.Service, func() bool) {
	done := 0
	return s.on(store.Wrap(s.store, func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
		done++
		if done == calls+1 {
			return ctx, nil, boterr.New(boterr.Unavailable, "", "%w", errInterrupted)
		}
		return ctx, nil, nil
	})), func() bool { return done > calls }
}

// meanwhile returns the app's live chats on a store that calls the function happens after a number of writes. The
// second result reports whether happens was called.
func (s *fixture) meanwhile(writes int, happens func()) (*livechats.Service, func() bool) {
	hasHappened := false
	return s.on(beforeWrites(s.store, writes, func() error {
		if !hasHappened {
			hasHappened = true
			happens()
		}
		return nil
	})), func() bool { return hasHappened }
}

// on returns the live chats of mine on another store.
func (s *fixture) on(store store.Store) *livechats.Service {
	env, ports := s.mine.env, s.mine.ports
	env.Store = store
	s.mine.over(env, &ports)
	return livechats.New(env, s.mine.scope, ports)
}

// over returns the app's services with an environment, and sets them as ports.
func (a *app) over(env record.Env, ports *livechats.Ports) (*channels.Service, *members.Service, *agendas.Service) {
	in := channels.New(env, a.scope)
	of := members.New(env, a.scope, in)
	due := agendas.New(env, a.scope, agendas.Ports{Members: of})
	ports.Channels, ports.Members, ports.Agendas = in, of, due
	return in, of, due
}

// beforeWrites returns a store that calls then before each write, once a number of writes has passed.
func beforeWrites(inner store.Store, left int, then func() error) store.Store {
	return store.Wrap(inner, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		switch call.Method {
		case "insert", "update", "findAndModify", "delete": //nolint:usestdlibvars // These are methods of a store.
		default:
			return ctx, nil, nil
		}
		if left > 0 {
			left--
			return ctx, nil, nil
		}
		return ctx, nil, then()
	})
}

type operation[P, R any] = func(context.Context, P) (R, error)

// call calls an operation with parameters in JSON and returns the result's JSON.
func call[P, R any](t *testing.T, run operation[P, R], params string) (string, error) {
	t.Helper()
	var p P
	if err := document.DecodeJSON([]byte(params), &p); err != nil {
		return "", err
	}
	result, err := run(t.Context(), p)
	if err != nil {
		require.Zero(t, result, "beside an error the result is the zero value")
		return "", err
	}
	text, err := document.EncodeJSON(result)
	require.NoError(t, err)
	return string(text), nil
}

// must is call for an operation that must succeed.
func must[P, R any](t *testing.T, run operation[P, R], params string) string {
	t.Helper()
	result, err := call(t, run, params)
	require.NoError(t, err, params)
	return result
}

// refused is a call that must be refused, with the code and field of its error.
type refused struct {
	params string
	code   boterr.Code
	field  string
}

// requireRefused makes calls that must be refused. It compares the errors and requires that nothing is stored or
// sent.
func requireRefused[P, R any](t *testing.T, s *fixture, run operation[P, R], calls ...refused) {
	t.Helper()
	before, done := s.stored(t), s.platform.did()
	for _, c := range calls {
		_, err := call(t, run, c.params)
		require.ErrorIs(t, err, c.code, c.params)
		require.Equal(t, c.field, fieldOf(t, err), "%s: %v", c.params, err)
		require.Equal(t, before, s.stored(t), "%s changes nothing", c.params)
		require.Equal(t, done, s.platform.did(), "%s sends nothing", c.params)
	}
}

func fieldOf(t *testing.T, err error) string {
	t.Helper()
	e, ok := boterr.AsError(err)
	require.True(t, ok, "%v has no field", err)
	return e.Field
}

// object parses a JSON object.
func object(t *testing.T, text string) document.Object {
	t.Helper()
	var o document.Object
	require.NoError(t, json.Unmarshal([]byte(text), &o), text)
	return o
}
