package botctx_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
	"github.com/botctx/go-sdk/utility"
)

// customers is a host's member.Operations, with only the method that the test needs.
type customers struct {
	member.Operations
}

func (customers) GetMember(_ context.Context, p member.GetParams) (*member.Member, error) {
	if p.MemberID != "customer-7" {
		return nil, boterr.NotFound
	}
	return &member.Member{ID: "customer-7", App: "shop", Channel: "web", ExternalID: "e7", FirstName: "Ada"}, nil
}

// mailbox is a connector that keeps the sent messages.
type mailbox struct{ sent []send.Message }

func (m *mailbox) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	m.sent = append(m.sent, message)
	return send.Delivery{}, nil
}

// A host that loads members and channels from elsewhere needs no such records in the store.
func TestHost_OwnRecords(t *testing.T) {
	t.Parallel()
	var box mailbox
	runtime, err := botctx.New(botctx.Config{
		Store:      memstore.New(),
		Connectors: map[channel.Type]send.Connector{channel.Webchat: &box},
		Override:   func(botctx.Scope, botctx.Services) botctx.Services { return botctx.Services{Members: customers{}} },
		LoadChannel: func(_ context.Context, app, id string) (*channel.Channel, error) {
			return &channel.Channel{ID: id, App: app, Type: channel.Webchat, On: true}, nil
		},
		Arrive: func(ctx context.Context, _ botctx.Inbound) (*member.Member, error) {
			return customers{}.GetMember(ctx, member.GetParams{MemberID: "customer-7"})
		},
	})
	require.NoError(t, err)
	runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		return bot.Reply(ctx, send.Template("Hello {{firstName}}"))
	})
	require.NoError(t, runtime.Receive(t.Context(), message("e7", "hi", "")))
	require.Len(t, box.sent, 1)
	require.Equal(t, "e7", box.sent[0].To)
	require.Equal(t, "Hello Ada", box.sent[0].Response.Text())

	bot, err := runtime.Context(t.Context(), botctx.Scope{App: "shop", Channel: "web", Member: "customer-7"})
	require.NoError(t, err)
	require.Equal(t, "Ada", bot.Member.FirstName)
	_, err = runtime.Operations(bot.Scope()).GetMember(t.Context(), member.GetParams{MemberID: "nobody"})
	require.ErrorIs(t, err, boterr.NotFound)
	require.ErrorContains(t, err, "getMember: ")
}

// TestRun_ChangesItsOwnCopyOfAChannel changes bot.Channel in a run. The change must not affect the run's sends, the
// host's record, or the run of a second member.
func TestRun_ChangesItsOwnCopyOfAChannel(t *testing.T) {
	t.Parallel()
	newChannel := func() *channel.Channel {
		return &channel.Channel{
			ID: "web", App: "shop", Type: channel.Webchat, On: true, Name: "Web", Metadata: document.O("open", true),
			PriorityGroups: []channel.PriorityGroup{{Group: "all", Trees: []string{"a tree"}}},
		}
	}
	var box mailbox
	kept := newChannel()
	runtime, err := botctx.New(botctx.Config{
		Store: memstore.New(), Connectors: map[channel.Type]send.Connector{channel.Webchat: &box},
		LoadChannel: func(context.Context, string, string) (*channel.Channel, error) { return kept, nil },
	})
	require.NoError(t, err)
	runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		require.Equal(t, newChannel(), bot.Channel)
		bot.Channel.Name, bot.Channel.On = "changed", false
		bot.Channel.Metadata.Set("open", false)
		bot.Channel.PriorityGroups[0].Trees[0] = "changed"
		return bot.Reply(ctx, send.Text("hello"))
	})
	for _, from := range []string{"ada", "bob"} {
		require.NoError(t, runtime.Receive(t.Context(), message(from, "", "")))
	}
	require.Equal(t, newChannel(), kept, "the host's")
	for _, message := range box.sent {
		require.Equal(t, newChannel(), message.Channel, "what the connector sees")
	}
}

func TestRun_LoadsItsChannelOnce(t *testing.T) {
	t.Parallel()
	var box mailbox
	var loaded []string
	runtime, err := botctx.New(botctx.Config{
		Store:      memstore.New(),
		Connectors: map[channel.Type]send.Connector{channel.Webchat: &box},
		LoadChannel: func(_ context.Context, app, id string) (*channel.Channel, error) {
			loaded = append(loaded, id)
			return &channel.Channel{ID: id, App: app, Type: channel.Webchat, On: true}, nil
		},
	})
	require.NoError(t, err)
	runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		bot.Channel.ID, bot.Channel.Type = "lost", channel.Alpha
		if err := bot.Reply(ctx, send.Text("one"), send.Text("two")); err != nil {
			return err
		}
		_, err := bot.GetChannel(ctx, channel.GetParams{ChannelID: "other"})
		return err
	})
	require.NoError(t, runtime.Receive(t.Context(), said("hi")))
	require.Equal(t, []string{"web", "other"}, loaded)
	require.Len(t, box.sent, 2)
	for _, m := range box.sent {
		require.Equal(t, "web", m.Channel.ID)
	}
}

// A host may set LoadChannel without Arrive. The SDK then creates the members.
func TestHost_OwnArrival(t *testing.T) {
	t.Parallel()
	runtime, err := botctx.New(botctx.Config{
		Store: memstore.New(),
		LoadChannel: func(_ context.Context, app, id string) (*channel.Channel, error) {
			if id != "web" {
				return nil, nil //nolint:nilnil // The Runtime treats this as NotFound.
			}
			return &channel.Channel{ID: id, App: app, Type: channel.Webchat}, nil
		},
	})
	require.NoError(t, err)
	var arrived *member.Member
	runtime.HandleFunc(func(_ context.Context, bot *botctx.Context) error {
		arrived = bot.Member
		return nil
	})
	inbound := said("hi")
	require.NoError(t, runtime.Receive(t.Context(), inbound))
	require.Equal(t, "e1", arrived.ExternalID)
	inbound.Channel = "other"
	require.ErrorIs(t, runtime.Receive(t.Context(), inbound), boterr.NotFound)
	reference, err := runtime.Operations(botctx.Scope{App: "shop"}).GetChannel(t.Context(), channel.GetParams{ChannelID: "web"})
	require.NoError(t, err)
	require.Equal(t, &channel.Reference{ChannelID: "web", AppID: "shop"}, reference)
}

func TestNew_RefusesWhatCanOnlyFail(t *testing.T) {
	t.Parallel()
	for field, config := range map[string]botctx.Config{
		"Store":                {Store: (*memstore.Store)(nil)},
		"HTTP":                 {HTTP: (*http.Client)(nil)},
		"Mailer":               {Mailer: (*hung)(nil)},
		"ObjectStore":          {ObjectStore: storeFunc(nil)},
		"Connectors[alpha]":    {Connectors: send.Connectors{channel.Alpha: (*sentTexts)(nil)}},
		"Connectors[bravo]":    {Connectors: send.Connectors{channel.Bravo: nil}},
		"Connectors[delta]":    {Connectors: send.Connectors{channel.Delta: send.Limited((*sentTexts)(nil), send.Rate{})}},
		"Connectors[echo]":     {Connectors: send.Connectors{channel.Echo: send.Limited(nil, send.Rate{})}},
		"Connectors[webchat]":  {Connectors: send.Connectors{channel.Webchat: sendingBy(nil)}},
		"Interceptors[1]":      {Interceptors: []botctx.Interceptor{botctx.Logged(nil), nil}},
		"Scheduler.Workers":    {Scheduler: botctx.SchedulerOptions{Workers: 10_001}},
		"Inbox.Workers":        {Inbox: botctx.InboxOptions{Workers: 1 << 30}},
		"Scheduler.Lease":      {Scheduler: botctx.SchedulerOptions{Lease: 25 * time.Hour}},
		"Inbox.Limit":          {Inbox: botctx.InboxOptions{Limit: -1}},
		"Inbox.AcceptTimeout":  {Inbox: botctx.InboxOptions{AcceptTimeout: math.MaxInt64}},
		"LaneLease":            {LaneLease: math.MaxInt64},
		"ParallelSends":        {ParallelSends: -1},
		"MaxRedirects":         {MaxRedirects: -1},
		"MaxWait":              {MaxWait: -1},
		"AgendaWait":           {AgendaWait: -1},
		"Upload.MaxBytes":      {Upload: utility.UploadLimits{MaxBytes: -1}},
		"Upload.Timeout":       {Upload: utility.UploadLimits{Timeout: -1}},
		"LiveChat.IdleTimeout": {LiveChat: botctx.LiveChat{IdleTimeout: -1}},
	} {
		if config.Store == nil {
			config.Store = memstore.New()
		}
		runtime, err := botctx.New(config)
		require.Nil(t, runtime, field)
		require.ErrorIs(t, err, boterr.InvalidArgument, field)
		e, _ := boterr.AsError(err)
		require.Equal(t, field, e.Field)
	}
}

func TestReady_ProvesThatTheStoreTakesWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		writes, isFull := 0, false
		database := store.Wrap(memstore.New(), func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
			writes++
			if isFull {
				return ctx, nil, errors.New("no space left on device")
			}
			return ctx, nil, nil
		})
		runtime, err := botctx.New(botctx.Config{Store: database})
		require.NoError(t, err)
		for range 100 {
			require.NoError(t, runtime.Ready(t.Context()))
		}
		require.Equal(t, 1, writes, "an answer stands for a second")
		isFull = true
		pass(time.Second)
		require.ErrorContains(t, runtime.Ready(t.Context()), "no space left")
		isFull = false
		pass(time.Second)
		require.NoError(t, runtime.Ready(t.Context()))
	})
}

func TestEnsureIndex_ServesFiltersOfBotLogic(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	require.NoError(t, botctx.EnsureMemberIndex(t.Context(), database, "meta.plan"))
	require.NoError(t, botctx.EnsureAssignmentIndex(t.Context(), database, "meta.order"))
	require.NoError(t, botctx.EnsureDataSourceIndex(t.Context(), database, "shop", "coupons", store.Ascending("taken")))
	for _, c := range []struct {
		collection, index string
		filter            document.Object
	}{
		{"members", "app_1_channel_1_meta.plan_1__id_1", document.O("app", "shop", "channel", "web", "meta.plan", "gold")},
		{"members", "app_1_meta.plan_1__id_1", document.O("app", "shop", "meta.plan", "gold")},
		{"assignments", "app_1_meta.order_1", document.O("app", "shop", "meta.order", 7)},
		{"data/shop/coupons", "taken_1", document.O("taken", false)},
	} {
		filter, err := query.CompileFilter(c.filter)
		require.NoError(t, err)
		plan, err := database.Explain(t.Context(), c.collection, filter, store.FindOptions{})
		require.NoError(t, err)
		require.Equal(t, c.index, plan.Index)
	}
	err := botctx.EnsureDataSourceIndex(t.Context(), database, "shop", "", store.Ascending("taken"))
	require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err))
}

func TestEnsureIndex_NeedsAStore(t *testing.T) {
	t.Parallel()
	for _, database := range []store.Store{nil, (*memstore.Store)(nil)} {
		for _, err := range []error{
			botctx.EnsureIndexes(t.Context(), database),
			botctx.EnsureMemberIndex(t.Context(), database, "meta.plan"),
			botctx.EnsureAssignmentIndex(t.Context(), database, "meta.order"),
			botctx.EnsureDataSourceIndex(t.Context(), database, "shop", "coupons", store.Ascending("taken")),
		} {
			require.ErrorIs(t, err, boterr.InvalidArgument)
		}
	}
}

func TestEraseMember_RemovesAllAndCanBeRepeated(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]store.Store{"alone": memstore.New(), "shared": sharedStore{memstore.New()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runtime, ada := newShop(t, database, &sentTexts{})
			runtime.HandleFunc(echo)
			require.NoError(t, runtime.Accept(t.Context(), said("hi")))
			_, err := runtime.RunNextEvent(t.Context())
			require.NoError(t, err)
			require.NoError(t, runtime.Accept(t.Context(), said("waits")))
			e1 := knownID(t, runtime)
			plan(t, ada, e1, "reminder", time.Hour)
			erased, err := runtime.EraseMember(t.Context(), "shop", e1)
			require.NoError(t, err)
			require.Equal(t, botctx.Erased{Member: true, Events: 2, Agendas: 1}, erased)
			again, err := runtime.EraseMember(t.Context(), "shop", e1)
			require.NoError(t, err)
			require.Zero(t, again)
			other, err := runtime.EraseMember(t.Context(), "another", "ada")
			require.NoError(t, err)
			require.Zero(t, other, "a member of another app does not exist")
			still, err := runtime.EraseMember(t.Context(), "shop", "ada")
			require.NoError(t, err)
			require.True(t, still.Member)
		})
	}
}

// archive is a connector that keeps records of members.
type archive struct {
	sentTexts
	fails  func() error
	erased []*member.Member
	sweeps int
}

func (a *archive) EraseMember(_ context.Context, m *member.Member) error {
	a.erased = append(a.erased, m)
	return a.fails()
}

func (a *archive) RemoveOld(context.Context) error {
	a.sweeps++
	return a.fails()
}

func TestEraseMember_RecordsOfConnectors(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]func() error{
		"fails":  func() error { return errors.New("the archive is away") },
		"panics": func() error { panic("the archive is away") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := &archive{fails: fails}
			limited := send.Limited(kept, send.Rate{Messages: 1, Per: time.Second})
			runtime, _ := shopWith(t, botctx.Config{Store: memstore.New(), Connectors: send.Connectors{channel.Webchat: limited}})
			erased, err := runtime.EraseMember(t.Context(), "shop", "ada")
			require.ErrorContains(t, err, "Connectors[webchat]: ")
			require.ErrorContains(t, err, "the archive is away")
			require.Zero(t, erased, "the member's record stays, so that the call can be repeated")
			require.ErrorContains(t, runtime.RemoveOld(t.Context()), "the archive is away")

			kept.fails = func() error { return nil }
			erased, err = runtime.EraseMember(t.Context(), "shop", "ada")
			require.NoError(t, err)
			require.True(t, erased.Member)
			require.NoError(t, runtime.RemoveOld(t.Context()))
			require.Equal(t, 2, kept.sweeps)
			require.Len(t, kept.erased, 2)
			require.Equal(t, "Ada", kept.erased[1].FirstName)
		})
	}
}

// The host keeps the members, and the SDK the rest.
func TestEraseMember_MembersOfTheHost(t *testing.T) {
	t.Parallel()
	kept := &archive{fails: func() error { return nil }}
	runtime, err := botctx.New(botctx.Config{
		Store: memstore.New(), Connectors: send.Connectors{channel.Webchat: kept},
		Override: func(botctx.Scope, botctx.Services) botctx.Services { return botctx.Services{Members: customers{}} },
	})
	require.NoError(t, err)
	require.NoError(t, runtime.Accept(t.Context(), message("e7", "a secret", "")))
	erased, err := runtime.EraseMember(t.Context(), "shop", "customer-7")
	require.NoError(t, err)
	require.Equal(t, botctx.Erased{Events: 1}, erased)
	require.Len(t, kept.erased, 1)
}

// fault makes a part of a host panic while it is on.
type fault struct {
	isOn    atomic.Bool
	reached atomic.Int64
}

func (f *fault) strike() {
	if f.isOn.Load() {
		f.reached.Add(1)
		panic("the host is broken")
	}
}

// faultyStore is a store whose methods panic while the fault is on.
type faultyStore struct {
	store.Store

	fault *fault
}

func (s faultyStore) Now(ctx context.Context) (time.Time, error) {
	s.fault.strike()
	return s.Store.Now(ctx)
}

func (s faultyStore) Collection(name string) store.Collection {
	s.fault.strike()
	return s.Store.Collection(name)
}

// faultyPort implements several ports, whose methods panic while the fault is on.
type faultyPort struct{ fault *fault }

func (p faultyPort) Send(context.Context, send.Message) (send.Delivery, error) {
	p.fault.strike()
	return send.Delivery{}, nil
}

func (p faultyPort) SendMail(context.Context, utility.Mail) error {
	p.fault.strike()
	return nil
}

func (p faultyPort) Put(context.Context, utility.StoredFile) error {
	p.fault.strike()
	return nil
}

func (p faultyPort) Do(request *http.Request) (*http.Response, error) {
	p.fault.strike()
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Header: http.Header{}, Request: request}, nil
}

type faultyLog struct {
	slog.Handler

	fault *fault
}

func (l faultyLog) Handle(context.Context, slog.Record) error {
	l.fault.strike()
	return nil
}

func (l faultyLog) Enabled(context.Context, slog.Level) bool { return true }

// faults returns, for each field of Config with a function or a port, a change that makes it panic while the fault is
// on.
func faults() map[string]func(config *botctx.Config, f *fault) {
	all := map[string]func(*botctx.Config, *fault){
		"Store":         func(c *botctx.Config, f *fault) { c.Store = faultyStore{Store: c.Store, fault: f} },
		"Connectors":    func(c *botctx.Config, f *fault) { c.Connectors[channel.Webchat] = faultyPort{f} },
		"HTTP":          func(c *botctx.Config, f *fault) { c.HTTP = faultyPort{f} },
		"Mailer":        func(c *botctx.Config, f *fault) { c.Mailer = faultyPort{f} },
		"ObjectStore":   func(c *botctx.Config, f *fault) { c.ObjectStore = faultyPort{f} },
		"Logger":        func(c *botctx.Config, f *fault) { c.Logger = slog.New(faultyLog{fault: f}) },
		"Inbox.Log":     func(c *botctx.Config, f *fault) { c.Inbox.Log = slog.New(faultyLog{fault: f}) },
		"Scheduler.Log": func(c *botctx.Config, f *fault) { c.Scheduler.Log = slog.New(faultyLog{fault: f}) },
		"Interceptors": func(c *botctx.Config, f *fault) {
			c.Interceptors = []botctx.Interceptor{func(ctx context.Context, _ *botctx.Call, next botctx.Next) (any, error) {
				f.strike()
				return next(ctx)
			}}
		},
		"Scheduler.Around": func(c *botctx.Config, f *fault) {
			c.Scheduler.Around = func(handler agenda.Handler) agenda.Handler {
				return func(ctx context.Context, run agenda.Run) error { f.strike(); return handler(ctx, run) }
			}
		},
	}
	for _, name := range portsOf(reflect.TypeFor[botctx.Config](), "") {
		if at := fieldAt(&botctx.Config{}, name); at.Kind() == reflect.Func && all[name] == nil {
			all[name] = func(c *botctx.Config, f *fault) { fieldAt(c, name).Set(faultyFunc(at.Type(), f, working()[name])) }
		}
	}
	return all
}

// fieldAt returns the field of a Config at a path.
func fieldAt(c *botctx.Config, path string) reflect.Value {
	at := reflect.ValueOf(c).Elem()
	for name := range strings.SplitSeq(path, ".") {
		at = at.FieldByName(name)
	}
	return at
}

// faultyFunc returns a function that panics while the fault is on, and else calls works. If works is nil, it returns
// zero values.
func faultyFunc(of reflect.Type, f *fault, works any) reflect.Value {
	return reflect.MakeFunc(of, func(args []reflect.Value) []reflect.Value {
		f.strike()
		if works != nil {
			return reflect.ValueOf(works).Call(args)
		}
		results := make([]reflect.Value, of.NumOut())
		for i := range results {
			results[i] = reflect.Zero(of.Out(i))
		}
		return results
	})
}

// working returns functions of a host for the fields of Config whose functions must not return zero values.
func working() map[string]any {
	defaults := record.Env{}.WithDefaults()
	return map[string]any{
		"Now": defaults.Now, "NewID": defaults.NewID, "DeriveID": func(of string) string { return of },
		"LoadChannel": func(_ context.Context, app, id string) (*channel.Channel, error) {
			return &channel.Channel{ID: id, App: app, Type: channel.Webchat, On: true}, nil
		},
		"Arrive":      func(context.Context, botctx.Inbound) (*member.Member, error) { return &member.Member{ID: "ada"}, nil },
		"Flow.IsOpen": func(context.Context, *botctx.Context) (bool, error) { return true, nil },
		"Inbox.Hooks.AroundAccept": func(
			ctx context.Context, _ *botctx.InboxEvent, next func(context.Context) (botctx.Accepted, error),
		) (botctx.Accepted, error) {
			return next(ctx)
		},
		"Inbox.Hooks.AroundRun": func(ctx context.Context, _ botctx.InboxAttempt, next func(context.Context) error) error {
			return next(ctx)
		},
	}
}

// needsFailure reports whether a part of a host is only called after a failure.
func needsFailure(name string) bool {
	return slices.Contains([]string{"Inbox.Log", "Inbox.Backoff", "Scheduler.Backoff", "Scheduler.Hooks.Failed"}, name)
}

// portsOf returns the paths of the fields of a struct that hold functions or interfaces, including nested structs. It
// leaves out data, and OnWait, which TestOnWait_APanicLeavesTheQueue tests.
func portsOf(config reflect.Type, prefix string) []string {
	var names []string
	for field := range config.Fields() {
		name := prefix + field.Name
		switch field.Type.Kind() {
		case reflect.Func, reflect.Interface, reflect.Map, reflect.Slice, reflect.Pointer:
			if name != "LiveChat.Texts" && name != "OnWait" {
				names = append(names, name)
			}
		case reflect.Struct:
			names = append(names, portsOf(field.Type, name+".")...)
		default: // Fields such as numbers cannot panic.
		}
	}
	return names
}

func TestPanic_EachPortIsTried(t *testing.T) {
	t.Parallel()
	require.ElementsMatch(t, portsOf(reflect.TypeFor[botctx.Config](), ""), slices.Collect(maps.Keys(faults())))
}

// brokenHost returns a Runtime of the app "shop" and turns the fault on. Ada, in the channel "web", has a late agenda and
// an accepted event whose run calls every operation. The outlet of the channel is "desk".
func brokenHost(t *testing.T, name string, f *fault) *botctx.Runtime {
	t.Helper()
	config := botctx.Config{
		Store: memstore.New(), Connectors: map[channel.Type]send.Connector{channel.Webchat: &sentTexts{}, channel.Custom: &sentTexts{}}, HTTP: faultyPort{&fault{}},
		LiveChat: botctx.LiveChat{HistoryURL: func(*livechat.Assignment) (string, error) { return "https://example.com/history", nil }},
	}
	if needsFailure(name) {
		config.Connectors[channel.Webchat] = faultyPort{f}
	}
	faults()[name](&config, f)
	runtime, bot := shopWith(t, config)
	require.NoError(t, runtime.Handle(&botctx.Node{
		ID: "hello", Trigger: botctx.TextIs("hi"), Pre: []botctx.Action{callAll(runtime)},
		Responses: []send.Response{send.Template("Hello{{meta.nothing}}")},
	}))
	_, err := bot.NewAgenda(t.Context(), agenda.NewParams{
		MemberID: "ada", NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(bot.Now().Add(-time.Hour)),
		Pattern: "* * * * *", RunUntil: document.TimestampOf(bot.Now().Add(time.Hour)),
	})
	require.NoError(t, err)
	saveChannel(t, runtime, channel.Channel{ID: "desk", Type: channel.Custom})
	require.NoError(t, runtime.Pair(t.Context(), "shop", "web", "desk"))
	require.NoError(t, runtime.Accept(t.Context(), message("ext-ada", "hi", "m1")))
	f.isOn.Store(true)
	return runtime
}

// callAll returns an action that calls every operation, and every other method that calls the host's functions. A panic
// ends the action, and the next attempt continues with the remaining calls.
func callAll(runtime *botctx.Runtime) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		for _, op := range botctx.Ops() {
			args := cmp.Or(leastArguments()[op], "{}")
			_, _ = bot.Call(ctx, string(op), json.RawMessage(args))
		}
		bot.Pause(ctx, time.Second)
		_, _ = bot.Location(ctx)
		_, _ = bot.Fetch(ctx, outbound.Request{URL: "https://example.com"})
		return runtime.Accept(ctx, message("ext-ada", "hi", "m2"))
	}
}

// leastArguments returns arguments with which each operation calls the host's functions and ports.
func leastArguments() map[botctx.Op]string {
	return map[botctx.Op]string{
		botctx.OpGolf:             `{"golfName": "shop"}`,
		botctx.OpSendResponse:     `{"response": {"type": "TEXT", "text": "hi"}}`,
		botctx.OpCreateAssignment: `{"assignmentDetails": {"summary": "help"}, "history": true}`,
		botctx.OpNewAgenda:        `{"memberId": "ada", "nodeCompositeId": "reminder", "nextRunAt": 4102444800000, "pattern": "* * * * *"}`,
		botctx.OpUpdateMember:     `{"member": {"_id": "ada", "firstName": "Ada"}}`,
		botctx.OpSendEmail: `{"destination": {"toAddresses": ["ada@example.com"]},
			"message": {"subject": {"data": "hi"}, "body": {"text": {"data": "hi"}}}}`,
		botctx.OpUploadFileToObjectStore: `{"url": "https://example.com/a.png", "filename": "a.png", "channel": "web", "contentType": "image/png"}`,
		botctx.OpUpsertDataToDataSource:  `{"dataSourceId": "coupons", "data": [{"code": "A"}]}`,
	}
}

// TestRun_SurvivesPanics makes each function and port of a host panic, in runs and outside of them. The Runtime
// continues, and tries failed work again after the fault is off.
func TestRun_SurvivesPanics(t *testing.T) {
	t.Parallel()
	for name := range faults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var f fault
				runtime := brokenHost(t, name, &f)
				stop := running(t, runtime)
				pass(5 * time.Minute)
				require.Positive(t, f.reached.Load(), "nothing has called it")
				f.isOn.Store(false)
				pass(5 * time.Minute)
				stats, err := runtime.InboxStats(t.Context())
				require.NoError(t, err)
				require.Zero(t, stats.Pending, "a lane is stuck")
				stop()
			})
		})
	}
}

func TestPair_ChannelsOfTheHost(t *testing.T) {
	t.Parallel()
	rt, err := botctx.New(botctx.Config{
		Store: memstore.New(),
		LoadChannel: func(_ context.Context, app, id string) (*channel.Channel, error) {
			if app == "shop" && (id == "web" || id == "desk") {
				return &channel.Channel{ID: id, App: app, Type: channel.Custom, On: true}, nil
			}
			return nil, boterr.New(boterr.NotFound, "", "no channel")
		},
	})
	require.NoError(t, err)
	require.NoError(t, rt.Pair(t.Context(), "shop", "web", "desk"))
	require.ErrorIs(t, rt.Pair(t.Context(), "shop", "web", "other"), boterr.NotFound)
	paired, err := rt.Pairing(t.Context(), "shop", "web")
	require.NoError(t, err)
	require.Equal(t, []string{"desk"}, paired.Outlets)
}
