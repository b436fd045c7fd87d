package botctx_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func newRuntime(t *testing.T, config botctx.Config) *botctx.Runtime {
	t.Helper()
	config.Store = memstore.New()
	runtime, err := botctx.New(config)
	require.NoError(t, err)
	return runtime
}

func TestNew_NeedsStore(t *testing.T) {
	t.Parallel()
	runtime, err := botctx.New(botctx.Config{})
	require.Nil(t, runtime)
	e, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, boterr.InvalidArgument, e.Code)
	require.Equal(t, "Store", e.Field)
}

func TestNew_Defaults(t *testing.T) {
	t.Parallel()
	bot := newRuntime(t, botctx.Config{}).Operations(botctx.Scope{App: "shop"})
	_, err := bot.Call(t.Context(), "upsertDataToDataSource", []byte(`{"dataSourceId": "places", "data": {"n": 1}}`))
	require.NoError(t, err)
	counted, err := bot.Call(t.Context(), "countDataSource", []byte(`{"dataSourceId": "places"}`))
	require.NoError(t, err)
	require.Equal(t, "1", string(counted))
	require.False(t, bot.Now().IsZero())
	require.NotNil(t, bot.Values)
	_, err = bot.Fetch(t.Context(), outbound.Request{URL: "http://127.0.0.1/"})
	requireFailure(t, err, "fetch", boterr.InvalidArgument, "url")
}

func TestContext_Loaded(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	eve := p.AddMember(member.Member{App: "app-2"})
	bot, err := p.Runtime().Context(t.Context(), ada.Scope())
	require.NoError(t, err)
	require.Equal(t, "Ada", bot.Member.FirstName)
	require.Equal(t, ada.Scope().Channel, bot.Channel.ID)
	require.Equal(t, ada.Scope(), bot.Scope())
	for name, scope := range map[string]botctx.Scope{
		"no such member":           {App: ada.Scope().App, Channel: ada.Scope().Channel, Member: "nobody"},
		"no such channel":          {App: ada.Scope().App, Channel: "nowhere", Member: ada.ID()},
		"a member of another app":  {App: ada.Scope().App, Channel: ada.Scope().Channel, Member: eve.ID()},
		"a channel of another app": {App: ada.Scope().App, Channel: eve.Scope().Channel, Member: ada.ID()},
		"another app":              {App: "app-2", Channel: ada.Scope().Channel, Member: ada.ID()},
	} {
		_, err := p.Runtime().Context(t.Context(), scope)
		require.ErrorIs(t, err, boterr.NotFound, name)
	}
}

// dying returns a store that allows *left removals and refuses all later ones, as if the process had died. A negative
// number allows all.
func dying(left *int) store.Store {
	return store.Wrap(memstore.New(), func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if call.Method != "delete" || *left < 0 { //nolint:usestdlibvars // It is no method of HTTP.
			return ctx, nil, nil
		}
		if *left == 0 {
			return ctx, nil, errors.New("the process died")
		}
		*left--
		return ctx, nil, nil
	})
}

// knownID returns the id of the member who sends the messages of said, or "" if there is none.
func knownID(t *testing.T, runtime *botctx.Runtime) string {
	t.Helper()
	id, err := members.KnownID(t.Context(), runtime.Env(), record.Scope{App: "shop", Channel: "web"}, "e1")
	require.NoError(t, err)
	return id
}

// An erasure can fail after any number of removals. A second call completes it.
func TestEraseMember_CrashAmid(t *testing.T) {
	t.Parallel()
	completed := false
	for removals := 0; !completed; removals++ {
		require.Less(t, removals, 100)
		left := -1
		runtime, ada := newShop(t, dying(&left), &sentTexts{})
		runtime.HandleFunc(echo)
		require.NoError(t, runtime.Accept(t.Context(), said("hi")))
		_, err := runtime.RunNextEvent(t.Context())
		require.NoError(t, err)
		id := knownID(t, runtime)
		plan(t, ada, id, "reminder", time.Hour)
		left = removals
		first, err := runtime.EraseMember(t.Context(), "shop", id)
		completed = err == nil
		if !completed {
			require.ErrorContains(t, err, "the process died")
			require.Equal(t, id, knownID(t, runtime), "the record goes last: the erasure can be repeated")
		}
		left = -1
		second, err := runtime.EraseMember(t.Context(), "shop", id)
		require.NoError(t, err)
		require.Equal(t, botctx.Erased{Member: true, Events: 1, Agendas: 1}, botctx.Erased{
			Member: first.Member || second.Member, Events: first.Events + second.Events, Agendas: first.Agendas + second.Agendas,
		}, removals)
		third, err := runtime.EraseMember(t.Context(), "shop", id)
		require.NoError(t, err)
		require.Zero(t, third)
	}
}

// An event that waits for an erasure creates a new member.
func TestEraseMember_MessageThatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sent := &sentTexts{}
		runtime, _ := newShop(t, memstore.New(), sent)
		ids, proceed := make(chan string, 2), make(chan struct{})
		runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
			ids <- bot.Member.ID
			<-proceed
			return echo(ctx, bot)
		})
		ended := make(chan error, 3)
		go func() { ended <- runtime.Receive(t.Context(), said("hi")) }()
		first := <-ids
		go func() {
			_, err := runtime.EraseMember(t.Context(), "shop", first)
			ended <- err
		}()
		synctest.Wait()
		go func() { ended <- runtime.Receive(t.Context(), said("there")) }()
		synctest.Wait()
		close(proceed)
		for range cap(ended) {
			require.NoError(t, <-ended)
		}
		require.NotEqual(t, first, <-ids)
		require.Equal(t, []string{"hi", "there"}, sent.all())
	})
}

// Receive repeats a run whose member was erased before it began. It must not repeat a run that has begun, even if the
// error is about a missing member.
func TestEraseMember_AcceptedEventsThatWaitAreNotRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		database, waits := memstore.New(), make(chan struct{}, 2)
		runtime, _ := shopWith(t, botctx.Config{Store: database, OnWait: func(context.Context, string, <-chan struct{}) { waits <- struct{}{} }})
		began, goOn := make(chan string), make(chan struct{})
		var ran []string
		runtime.HandleFunc(func(_ context.Context, bot *botctx.Context) error {
			ran = append(ran, bot.MessageEvent.Text())
			if len(ran) == 1 {
				began <- bot.Member.ID
				<-goOn
			}
			return nil
		})
		for _, text := range []string{"1", "2", "3"} {
			require.NoError(t, runtime.Accept(t.Context(), said(text)))
		}
		stop := running(t, runtime)
		first := <-began
		erased := make(chan error)
		go func() {
			_, err := runtime.EraseMember(t.Context(), "shop", first)
			erased <- err
		}()
		<-waits
		close(goOn)
		require.NoError(t, <-erased)
		synctest.Wait()
		stop()
		require.Equal(t, []string{"1"}, ran)
		require.Empty(t, knownID(t, runtime))
	})
}

// slowly is the context key of calls whose first search for a member pauses.
type slowly struct{}

func TestEraseMember_AcceptedEventCreatesNoMember(t *testing.T) {
	t.Parallel()
	searches, goOn := make(chan struct{}), make(chan struct{})
	pause := sync.OnceFunc(func() {
		close(searches)
		<-goOn
	})
	database := store.Wrap(memstore.New(), func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if ctx.Value(slowly{}) != nil && call.Collection == "members" {
			pause()
		}
		return ctx, nil, nil
	})
	runtime, _ := newShop(t, database, &sentTexts{})
	runtime.HandleFunc(echo)
	require.NoError(t, runtime.Receive(t.Context(), said("hi")))
	require.NoError(t, runtime.Accept(t.Context(), said("there")))
	failed := make(chan error)
	go func() {
		result, err := runtime.RunNextEvent(context.WithValue(t.Context(), slowly{}, true))
		failed <- errors.Join(result.Err, err)
	}()
	<-searches
	_, err := runtime.EraseMember(t.Context(), "shop", knownID(t, runtime))
	require.NoError(t, err)
	close(goOn)
	require.NoError(t, <-failed)
	require.Empty(t, knownID(t, runtime))
}

func TestReceive_RunsOnceWhoeverIsMissing(t *testing.T) {
	t.Parallel()
	sent := &sentTexts{}
	runtime, _ := newShop(t, memstore.New(), sent)
	runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		if err := echo(ctx, bot); err != nil {
			return err
		}
		_, err := bot.RedirectMemberToNode(ctx, botctx.RedirectMemberToNodeParams{
			MemberID: "gone", ChannelID: "web", NodeCompositeID: "reminder",
		})
		return err
	})
	require.ErrorIs(t, runtime.Receive(t.Context(), said("hi")), boterr.NotFound)
	require.Equal(t, []string{"hi"}, sent.all())
}

// TestRemoveOld_EachKind checks that each kind of record is kept for exactly the time in Config.Retention, and forever if
// that is negative. Open records, members and entries of data sources are never removed.
func TestRemoveOld_EachKind(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	now := time.UnixMilli(1_800_000_000_000)
	kinds := map[string]struct {
		collection string
		kept       time.Duration
		record     func(id string, at int64) document.Object
	}{
		"handled event": {"inbox", 1 * day, func(id string, at int64) document.Object {
			return document.O("_id", id, "doneAt", at, "sender", 1)
		}},
		"dead letter": {"inbox", 2 * day, func(id string, at int64) document.Object {
			return document.O("_id", id, "state", "dead", "app", "shop", "acceptedAt", 1, "diedAt", at, "sender", 1)
		}},
		"completed agenda": {"agendas", 3 * day, func(id string, at int64) document.Object {
			return document.O("_id", id, "app", "shop", "completed", true, "nextRunAt", at)
		}},
		"failed agenda": {"agendas", 4 * day, func(id string, at int64) document.Object {
			return document.O("_id", id, "app", "shop", "completed", false, "failed", true, "failedAt", at, "nextRunAt", 1)
		}},
		"assignment": {"assignments", 5 * day, func(id string, at int64) document.Object {
			return document.O("_id", id, "app", "shop", "slot", id, "endedAt", at, "createdAt", 1)
		}},
		"group": {"groups", 5 * day, func(id string, at int64) document.Object {
			return document.O("_id", id, "app", "shop", "active", false, "updatedAt", at, "createdAt", 1)
		}},
		"comment": {"postComments", 6 * day, func(id string, at int64) document.Object {
			return document.O("_id", id, "app", "shop", "createdAt", at)
		}},
	}
	stays := map[string]document.Object{
		"agendas":     document.O("_id", "open", "app", "shop", "completed", false, "nextRunAt", 1),
		"assignments": document.O("_id", "open", "app", "shop", "slot", "open", "createdAt", 1),
		"groups":      document.O("_id", "live", "app", "shop", "active", true, "updatedAt", 1, "createdAt", 1),
		"members":     document.O("_id", "ada", "app", "shop", "channel", "web", "externalId", "e1", "createdAt", 1, "updatedAt", 1),
	}
	for _, isForEver := range []bool{false, true} {
		t.Run("for ever "+strconv.FormatBool(isForEver), func(t *testing.T) {
			t.Parallel()
			database := memstore.New(memstore.WithNow(func() time.Time { return now }))
			retention := botctx.Retention{
				HandledEvents: 1 * day, DeadLetters: 2 * day, Agendas: 3 * day, FailedAgendas: 4 * day, Assignments: 5 * day, PostComments: 6 * day,
			}
			if isForEver {
				retention = botctx.Retention{
					HandledEvents: -1, DeadLetters: -1, Agendas: -1, FailedAgendas: -1, Assignments: -1, PostComments: -1,
				}
			}
			runtime, err := botctx.New(botctx.Config{Store: database, Now: func() time.Time { return now }, Retention: retention})
			require.NoError(t, err)
			for collection, one := range stays {
				require.NoError(t, database.Collection(collection).Insert(t.Context(), one))
			}
			for name, kind := range kinds {
				limit := int64(document.TimestampOf(now.Add(-kind.kept)))
				require.NoError(t, database.Collection(kind.collection).Insert(t.Context(),
					kind.record(name+" old", limit-1), kind.record(name+" kept", limit)))
			}
			require.NoError(t, runtime.RemoveOld(t.Context()))
			for name, kind := range kinds {
				ids := idsIn(t, database, kind.collection)
				require.Contains(t, ids, name+" kept")
				require.Equal(t, isForEver, ids[name+" old"], name)
			}
			for collection, one := range stays {
				id, _ := one.Field("_id")
				require.Contains(t, idsIn(t, database, collection), id)
			}
		})
	}
}

func idsIn(t *testing.T, database store.Store, collection string) map[string]bool {
	t.Helper()
	found, err := database.Collection(collection).Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, one := range found {
		ids[document.Get(one, "_id", "")] = true
	}
	return ids
}

// hangingConnector is a connector whose sends in the channel "hung" block until ctx ends.
type hangingConnector struct{ sentTexts }

func (c *hangingConnector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if message.Channel.ID == "hung" {
		<-ctx.Done()
		return send.Delivery{}, ctx.Err()
	}
	return c.sentTexts.Send(ctx, message)
}

// place is an app and its only channel.
type place struct{ app, channel string }

// street is a Runtime with the apps "hung" and "shop". The platform of "hung" does not answer.
type street struct {
	t       *testing.T
	runtime *botctx.Runtime
	sent    *hangingConnector
}

func newStreet(t *testing.T, database store.Store) *street {
	t.Helper()
	s := &street{t: t, sent: &hangingConnector{}}
	var err error
	s.runtime, err = botctx.New(botctx.Config{Store: database, Connectors: send.Connectors{channel.Webchat: s.sent}})
	require.NoError(t, err)
	require.NoError(t, s.runtime.Handle(&botctx.Node{ID: "reminder", Responses: []send.Response{send.Text("reminded")}}))
	s.runtime.HandleFunc(echo)
	for _, at := range []place{{"hung", "hung"}, {"shop", "web"}} {
		_, err := s.runtime.SaveChannel(t.Context(), at.app, &channel.Channel{ID: at.channel, Type: channel.Webchat, On: true})
		require.NoError(t, err)
	}
	return s
}

func (s *street) writes(at place, from string) {
	s.t.Helper()
	inbound := message(from, "hi", from)
	inbound.App, inbound.Channel = at.app, at.channel
	require.NoError(s.t, s.runtime.Accept(s.t.Context(), inbound))
}

// isReminded creates a due agenda for a member.
func (s *street) isReminded(at place, from string) {
	s.t.Helper()
	scope := botctx.Scope{App: at.app, Channel: at.channel}
	known, err := members.New(s.runtime.Env(), record.Scope(scope), channels.New(s.runtime.Env(), record.Scope(scope))).
		Arrive(s.t.Context(), member.Member{Channel: at.channel, ExternalID: from})
	require.NoError(s.t, err)
	bot := s.runtime.Operations(botctx.Scope{App: at.app, Channel: at.channel, Member: known.Member.ID})
	plan(s.t, bot, known.Member.ID, "reminder", 0)
}

// TestRun_PlatformThatHangsHoldsUpNoOtherApp accepts events of many members of an app whose platform does not answer,
// and then an event in another app. The member of the other app gets an answer at once.
func TestRun_PlatformThatHangsHoldsUpNoOtherApp(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]struct {
		with func(*street, place, string)
		want string
	}{
		"messages": {(*street).writes, "hi"},
		"agendas":  {(*street).isReminded, "reminded"},
	} {
		for _, members := range []int{16, 64, 1000} {
			t.Run(fmt.Sprint(members, " ", name), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := newStreet(t, memstore.New())
					for i := range members {
						begin.with(s, place{"hung", "hung"}, fmt.Sprint("h", i))
					}
					defer running(t, s.runtime)()
					synctest.Wait()
					begin.with(s, place{"shop", "web"}, "ada")
					synctest.Wait()
					require.Equal(t, []string{begin.want}, s.sent.all())
				})
			})
		}
	}
}

// A store that does not answer delays the end of Run by no more than a run that does not end.
func TestRun_EndsInTimeIfTheStoreDoesNotAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		hung := store.Wrap(memstore.New(), func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
			<-answer
			return ctx, nil, nil
		})
		runtime, err := botctx.New(botctx.Config{Store: hung})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- runtime.Run(ctx) }()
		synctest.Wait()
		stop()
		<-time.After(26 * time.Second)
		require.Len(t, ended, 1)
		require.Equal(t, boterr.Canceled, boterr.CodeOf(<-ended))
		close(answer)
	})
}
