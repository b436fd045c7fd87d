package botctx_test

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// newRuntime returns a Runtime over a new store.
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
	bot := newRuntime(t, botctx.Config{}).Operations(record.Scope{App: "shop"})
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

func TestRuntime_NoConnector(t *testing.T) {
	t.Parallel()
	p, bot := newCaller(t)
	host := newRuntime(t, botctx.Config{})
	store := botctx.Config{Store: p.Runtime().Env().Store}
	bare, err := botctx.New(store)
	require.NoError(t, err)
	_, err = bare.Operations(bot.Scope()).SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hello")})
	requireFailure(t, err, "sendResponse", boterr.Unsupported, "")
	_, err = host.Operations(bot.Scope()).SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hello")})
	requireFailure(t, err, "sendResponse", boterr.NotFound, "channelId")
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
	for name, scope := range map[string]record.Scope{
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

func TestFetch_AsksTheWeb(t *testing.T) {
	t.Parallel()
	p, bot := newCaller(t)
	p.HTTP.Add("GET", "https://api.example.com/weather?city=Oslo", web.JSON(200, `{"celsius": 3}`))
	response, err := bot.Fetch(t.Context(), outbound.Request{URL: "https://api.example.com/weather?city=Oslo"})
	require.NoError(t, err)
	require.Equal(t, 200, response.Status)
	require.JSONEq(t, `{"celsius": 3}`, string(response.Body))

	_, err = bot.Fetch(t.Context(), outbound.Request{URL: "https://api.example.com/elsewhere"})
	requireFailure(t, err, "fetch", boterr.Unavailable, "")
	_, err = bot.Fetch(t.Context(), outbound.Request{URL: "http://169.254.169.254/"})
	requireFailure(t, err, "fetch", boterr.InvalidArgument, "url")
	_, err = bot.Fetch(t.Context(), outbound.Request{URL: "file:///etc/passwd"})
	requireFailure(t, err, "fetch", boterr.InvalidArgument, "url")
}

func TestContext_Concurrency(t *testing.T) {
	t.Parallel()
	p, bot := newCaller(t, overriddenBy(func(record.Scope, botctx.Services) botctx.Services { return botctx.Services{} }))
	given, before, called := map[string]string{}, len(p.Sent()), len(p.Calls())
	for name := range templates {
		given[name] = arguments(t, p, name)
	}
	var group sync.WaitGroup
	const rounds = 4
	once := map[string]*atomic.Int32{"endLiveChat": {}, "inletEndLiveChat": {}, "alphaPassThreadControl": {}}
	failures := make(chan error, rounds*len(given))
	for range rounds {
		for name, args := range given {
			group.Go(func() {
				_, err := bot.Call(t.Context(), name, []byte(args))
				if refused := once[name]; refused != nil && errors.Is(err, boterr.FailedPrecondition) {
					refused.Add(1)
					err = nil
				}
				if name == "handleAdminJoinedGroup" && errors.Is(err, boterr.FailedPrecondition) {
					err = nil // endBravoLiveChat ended the same live chat at that moment.
				}
				failures <- err
			})
		}
	}
	group.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
	require.Len(t, p.Calls(), called+rounds*len(given))
	require.Len(t, slices.DeleteFunc(p.Sent()[before:], func(s fakes.Sent) bool { return s.Member != "member-1" }), rounds)
	for name, refused := range once {
		require.Less(t, refused.Load(), int32(rounds), "%s did nothing", name)
	}
	require.Len(t, p.Data("places"), 1+rounds)
}
