package botctx_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
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
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/utility"
)

// fault is what panics in a host, once it is on.
type fault struct {
	isOn    atomic.Bool
	reached atomic.Int64
}

// strike panics where the fault is on.
func (f *fault) strike() {
	if f.isOn.Load() {
		f.reached.Add(1)
		panic("the host is broken")
	}
}

// faultyStore is a store that panics at any touch.
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

// faultyPort is a port of each kind that panics.
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

// faultyLog is a handler of logs that panics.
type faultyLog struct {
	slog.Handler

	fault *fault
}

func (l faultyLog) Handle(context.Context, slog.Record) error {
	l.fault.strike()
	return nil
}

func (l faultyLog) Enabled(context.Context, slog.Level) bool { return true }

// faults are what a host can give a Runtime, each so that it panics.
func faults() map[string]func(config *botctx.Config, f *fault) {
	all := faultsOfRuns()
	maps.Copy(all, faultsOfSchedulers())
	return all
}

func faultsOfRuns() map[string]func(config *botctx.Config, f *fault) {
	return map[string]func(*botctx.Config, *fault){
		"Store":       func(c *botctx.Config, f *fault) { c.Store = faultyStore{Store: c.Store, fault: f} },
		"Connectors":  func(c *botctx.Config, f *fault) { c.Connectors[channel.Webchat] = faultyPort{f} },
		"HTTP":        func(c *botctx.Config, f *fault) { c.HTTP = faultyPort{f} },
		"Mailer":      func(c *botctx.Config, f *fault) { c.Mailer = faultyPort{f} },
		"ObjectStore": func(c *botctx.Config, f *fault) { c.ObjectStore = faultyPort{f} },
		"Override": func(c *botctx.Config, f *fault) {
			c.Override = func(record.Scope, botctx.Services) botctx.Services { f.strike(); return botctx.Services{} }
		},
		"LoadChannel": func(c *botctx.Config, f *fault) {
			c.LoadChannel = func(_ context.Context, app, id string) (*channel.Channel, error) {
				f.strike()
				return &channel.Channel{ID: id, App: app, Type: channel.Webchat, On: true}, nil
			}
		},
		"Arrive": func(c *botctx.Config, f *fault) {
			c.Arrive = func(context.Context, botctx.Inbound) (*member.Member, error) {
				f.strike()
				return &member.Member{ID: "ada"}, nil
			}
		},
		"Interceptors": func(c *botctx.Config, f *fault) {
			c.Interceptors = []botctx.Interceptor{func(ctx context.Context, _ *botctx.Call, next botctx.Next) (any, error) {
				f.strike()
				return next(ctx)
			}}
		},
		"Now": func(c *botctx.Config, f *fault) {
			c.Now = func() time.Time { f.strike(); return record.Env{}.WithDefaults().Now() }
		},
		"Pause": func(c *botctx.Config, f *fault) {
			c.Store = withSender(c.Store)
			c.Pause = func(context.Context, time.Duration) { f.strike() }
		},
		"NewEtag": func(c *botctx.Config, f *fault) { c.NewEtag = func() string { f.strike(); return "etag" } },
		"NewID": func(c *botctx.Config, f *fault) {
			c.NewID = func() string { f.strike(); return record.Env{}.WithDefaults().NewID() }
		},
		"DeriveID": func(c *botctx.Config, f *fault) { c.DeriveID = func(of string) string { f.strike(); return of } },
		"Zone": func(c *botctx.Config, f *fault) {
			c.Zone = func(context.Context, *member.Member) (string, error) { f.strike(); return "", nil }
		},
		"Payments": func(c *botctx.Config, f *fault) {
			c.Payments = func(string, string) (utility.PaymentClient, error) { f.strike(); return nil, nil }
		},
		"Flow.IsOpen": func(c *botctx.Config, f *fault) {
			c.Flow.IsOpen = func(context.Context, *botctx.Context) (bool, error) { f.strike(); return true, nil }
		},
		"Flow.PriorityGroup": func(c *botctx.Config, f *fault) {
			c.Flow.PriorityGroup = func(context.Context, *botctx.Context) (string, error) { f.strike(); return "", nil }
		},
		"Flow.HeadNodes": func(c *botctx.Config, f *fault) {
			c.Flow.HeadNodes = func(context.Context, *botctx.Context) ([]botctx.NodeRef, error) { f.strike(); return nil, nil }
		},
		"Flow.LiveChatTree": func(c *botctx.Config, f *fault) {
			c.Flow.LiveChatTree = func(*botctx.Context) string { f.strike(); return "" }
		},
		"LiveChat.CustomAPI": func(c *botctx.Config, f *fault) {
			c.LiveChat.CustomAPI = func(*channel.Channel) (string, error) { f.strike(); return "https://example.com/chat", nil }
		},
		"LiveChat.HistoryURL": func(c *botctx.Config, f *fault) {
			c.LiveChat.HistoryURL = func(*livechat.Assignment) (string, error) { f.strike(); return "https://example.com/history", nil }
		},
		"LiveChat.Pairing": func(c *botctx.Config, f *fault) {
			c.LiveChat.Pairing = func(context.Context, string, string) ([]string, error) { f.strike(); return nil, nil }
		},
		"OnChoice": func(c *botctx.Config, f *fault) {
			c.OnChoice = func(context.Context, botctx.Choice) { f.strike() }
		},
		"OnWarning": func(c *botctx.Config, f *fault) {
			c.OnWarning = func(context.Context, botctx.Warning) { f.strike() }
		},
		"Logger":        func(c *botctx.Config, f *fault) { c.Logger = slog.New(faultyLog{fault: f}) },
		"OnUnfilled":    breaksOnUnfilled,
		"Inbox.Log":     breaksInboxLog,
		"Inbox.Backoff": breaksInboxBackoff,

		"Inbox.Hooks.AroundAccept":  breaksAroundAccept,
		"Inbox.Hooks.AroundHandler": breaksAroundHandler,
		"Inbox.Hooks.Settled":       breaksSettled,
	}
}

func faultsOfSchedulers() map[string]func(config *botctx.Config, f *fault) {
	return map[string]func(*botctx.Config, *fault){
		"Scheduler.Around": func(c *botctx.Config, f *fault) {
			c.Scheduler.Around = func(handler agenda.Handler) agenda.Handler {
				return func(ctx context.Context, run agenda.Run) error { f.strike(); return handler(ctx, run) }
			}
		},
		"Scheduler.Hooks.Claimed": func(c *botctx.Config, f *fault) {
			c.Scheduler.Hooks.Claimed = func(context.Context, agenda.Event) { f.strike() }
		},
		"Scheduler.Hooks.Late": func(c *botctx.Config, f *fault) {
			c.Scheduler.Hooks.Late = func(context.Context, agenda.Event) { f.strike() }
		},
		"Scheduler.Hooks.Finished": func(c *botctx.Config, f *fault) {
			c.Scheduler.Hooks.Finished = func(context.Context, agenda.Event) { f.strike() }
		},
		"Scheduler.Hooks.Failed": func(c *botctx.Config, f *fault) {
			c.Connectors[channel.Webchat] = faultyPort{f} // So that there is a failure.
			c.Scheduler.Hooks.Failed = func(context.Context, agenda.Event) { f.strike() }
		},
		"Scheduler.Log": func(c *botctx.Config, f *fault) { c.Scheduler.Log = slog.New(faultyLog{fault: f}) },
		"Scheduler.Backoff": func(c *botctx.Config, f *fault) {
			c.Connectors[channel.Webchat] = faultyPort{f} // So that there is a failure.
			c.Scheduler.Backoff = func(int) time.Duration { f.strike(); return time.Second }
		},
	}
}

func breaksOnUnfilled(c *botctx.Config, f *fault) {
	c.OnUnfilled = func(context.Context, record.Scope, string) { f.strike() }
}

func breaksInboxLog(c *botctx.Config, f *fault) {
	c.Connectors[channel.Webchat] = faultyPort{f} // So that there is a failure.
	c.Inbox.Log = slog.New(faultyLog{fault: f})
}

func breaksInboxBackoff(c *botctx.Config, f *fault) {
	c.Connectors[channel.Webchat] = faultyPort{f} // So that there is a failure.
	c.Inbox.Backoff = func(int) time.Duration { f.strike(); return time.Second }
}

func breaksAroundAccept(c *botctx.Config, f *fault) {
	c.Inbox.Hooks.AroundAccept = func(accept inbox.Acceptor) inbox.Acceptor {
		return func(ctx context.Context, e inbox.Event) (inbox.Accepted, error) { f.strike(); return accept(ctx, e) }
	}
}

func breaksAroundHandler(c *botctx.Config, f *fault) {
	c.Inbox.Hooks.AroundHandler = func(handler inbox.Handler) inbox.Handler {
		return func(ctx context.Context, d *inbox.Delivery) error { f.strike(); return handler(ctx, d) }
	}
}

func breaksSettled(c *botctx.Config, f *fault) {
	c.Inbox.Hooks.Settled = func(context.Context, inbox.Settled) { f.strike() }
}

// portsOf returns the fields in which a host gives what is called, in a struct and those inside.
func portsOf(config reflect.Type, prefix string) []string {
	var names []string
	for field := range config.Fields() {
		name := prefix + field.Name
		switch field.Type.Kind() {
		case reflect.Func, reflect.Interface, reflect.Map, reflect.Slice, reflect.Pointer:
			names = append(names, name)
		case reflect.Struct:
			names = append(names, portsOf(field.Type, name+".")...)
		default: // Numbers and flags.
		}
	}
	return names
}

func TestPanic_EachPortIsTried(t *testing.T) {
	t.Parallel()
	ports := slices.DeleteFunc(portsOf(reflect.TypeFor[botctx.Config](), ""), func(name string) bool {
		return strings.HasPrefix(name, "Scheduler.Env.") || name == "Scheduler.Handler" || name == "Scheduler.Zone" || // New refuses them.
			name == "LiveChat.Texts" || // They are data.
			name == "OnWait" || // TestOnWait_APanicLeavesTheQueue tries it, where a run waits.
			strings.HasPrefix(name, "Inbox.Env.") || slices.Contains([]string{"Inbox.DeriveID", "Inbox.Turns", "Inbox.Handler", "Inbox.Enter"}, name)
	})
	require.ElementsMatch(t, ports, slices.Collect(maps.Keys(faults())))
}

// withSender returns a store in which another call sends the request of ada, so that one has to
// wait for it.
func withSender(store store.Store) store.Store {
	const farAway = 4_102_444_800_000
	err := store.Collection("assignments").Insert(context.Background(), document.O(
		"_id", "a1", "app", "shop", "member", "ada", "inlet", "web", "slot", "member/ada",
		"sender", document.O("id", "another call", "until", farAway)))
	if err != nil {
		panic(err)
	}
	return store
}

// brokenHost returns a Runtime of the app "shop" with Ada in the channel "web", an agenda of
// hers that is late, and the outlet "desk", and then turns a fault on.
func brokenHost(t *testing.T, breaks func(*botctx.Config, *fault), f *fault) (*botctx.Runtime, *botctx.Context) {
	t.Helper()
	config := botctx.Config{
		Store: memstore.New(), Connectors: map[channel.Type]send.Connector{channel.Webchat: &sentTexts{}, channel.Custom: &sentTexts{}}, HTTP: faultyPort{&fault{}},
		LiveChat: botctx.LiveChat{HistoryURL: func(*livechat.Assignment) (string, error) { return "https://example.com/history", nil }},
	}
	breaks(&config, f)
	runtime, bot := shopWith(t, config)
	require.NoError(t, runtime.Handle(&botctx.Node{
		ID: "hello", Trigger: botctx.TextIs("hi"), Responses: []send.Response{send.Template("Hello{{meta.nothing}}")},
	}))
	_, err := bot.NewAgenda(t.Context(), agenda.NewAgendaParams{
		MemberID: "ada", NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(bot.Now().Add(-time.Hour)),
		Pattern: "* * * * *", RunUntil: document.TimestampOf(bot.Now().Add(time.Hour)),
	})
	require.NoError(t, err)
	channels := channels.New(runtime.Env(), bot.Scope())
	_, err = channels.Save(t.Context(), &channel.Channel{ID: "desk", Type: channel.Custom, On: true})
	require.NoError(t, err)
	require.NoError(t, channels.Pair(t.Context(), "web", "desk"))
	f.isOn.Store(true)
	return runtime, bot
}

// leastArguments are arguments with which the operations get as far as the host's parts.
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

// enterEverywhere calls every entry of a Runtime, of which none may panic.
func enterEverywhere(t *testing.T, runtime *botctx.Runtime, bot *botctx.Context) {
	t.Helper()
	scope := bot.Scope()
	require.NotPanics(t, func() {
		_ = runtime.Receive(t.Context(), botctx.Inbound{App: "shop", Channel: "web", Event: send.MessageEvent{
			From: "ext-ada", Type: send.TypeText, Data: document.O("text", "hi"), MessageID: "m1",
		}})
		_ = runtime.Accept(t.Context(), botctx.Inbound{App: "shop", Channel: "web", Event: send.MessageEvent{
			From: "ext-ada", Type: send.TypeText, Data: document.O("text", "hi"), MessageID: "m2",
		}})
		_, _ = runtime.Inbox().RunNext(t.Context())
		_ = botctx.EnsureIndexes(t.Context(), runtime.Env().Store)
		_, _ = runtime.Context(t.Context(), scope)
		_, _ = runtime.LiveChats("shop").RelayFromMember(t.Context(), "ada", send.MessageEvent{
			From: "ext-ada", Type: send.TypeText, Data: document.O("text", "hi"),
		})
		for _, each := range []*botctx.Context{bot, runtime.Operations(scope)} {
			for _, op := range botctx.Ops() {
				args := leastArguments()[op]
				if args == "" {
					args = "{}"
				}
				_, _ = each.Call(t.Context(), string(op), json.RawMessage(args))
			}
			_, _ = each.Fetch(t.Context(), outbound.Request{URL: "https://example.com"})
			_ = each.Reply(t.Context(), send.Text("hi"))
			_, _ = each.Location(t.Context())
		}
		_, _ = runtime.Scheduler().RunNext(t.Context())
		_, _ = runtime.Scheduler().Due(t.Context())
		_, _, _ = runtime.Scheduler().Next(t.Context())
	})
}

func TestPanic_OfEachPort(t *testing.T) {
	t.Parallel()
	for name, breaks := range faults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var f fault
				runtime, bot := brokenHost(t, breaks, &f)
				enterEverywhere(t, runtime, bot)
				require.Positive(t, f.reached.Load(), "nothing has called it")
			})
		})
	}
}

func TestRun_SurvivesPanics(t *testing.T) {
	t.Parallel()
	for name, breaks := range faults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var f fault
				runtime, _ := brokenHost(t, breaks, &f)
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- runtime.Run(ctx) }()
				pass(5 * time.Minute)
				cancel()
				require.NoError(t, <-ended)
			})
		})
	}
}
