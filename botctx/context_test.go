package botctx_test

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestSay_TakesConstantsOnly(t *testing.T) {
	t.Parallel()
	text := reflect.TypeOf(botctx.Say).In(0).Elem()
	require.False(t, reflect.TypeFor[string]().AssignableTo(text), "a text of a member could contain placeholders")
	require.Equal(t, reflect.TypeFor[send.Constant](), text, "Say and Template must have the same parameter type")
}

func TestReply_TellsWhatIsFilledWithNothing(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	var told []string
	runtime, _ := loggedHost(t, botctx.Config{
		Connectors: map[channel.Type]send.Connector{channel.Webchat: &sentTexts{}},
		Logger:     textLogger(&lines, slog.LevelDebug),
		OnUnfilled: func(_ context.Context, scope botctx.Scope, path string) { told = append(told, scope.Member+" "+path) },
	})
	require.NoError(t, runtime.Handle(&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Responses: []send.Response{
		send.Template("See you on {{meta.dya}}, {{_id}}."), send.Text("{{meta.literal}}"),
	}}))
	require.NoError(t, adaWrites(t.Context(), runtime, "hi"))
	require.Equal(t, []string{"ada meta.dya"}, told)
	require.Regexp(t, `level=DEBUG msg="botctx: filled with nothing" [^\n]*node=hello path=meta.dya\n`, lines.String())
}

func TestPause_MovesTheClockOfTheFakes(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	before := p.Now()
	p.AddMember(member.Member{}).Context().Pause(t.Context(), time.Second)
	require.Equal(t, time.Second, p.Now().Sub(before))
}

func TestPause_EndsWithTheContext(t *testing.T) {
	t.Parallel()
	rt, err := botctx.New(botctx.Config{Store: memstore.New()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rt.Operations(botctx.Scope{App: "shop"}).Pause(ctx, time.Hour)
	require.Error(t, ctx.Err(), "it is over")
}

func TestReply_StopsAtError(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	ada := p.AddMember(member.Member{})
	err := ada.Context().Reply(t.Context(), send.Text("one"), send.Text(""), send.Text("three"))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, "sendResponse: invalid argument: response.text")
	require.Equal(t, "one", ada.Last())
}

// panicking is a host's channel.Operations whose GetChannel panics.
type panicking struct{ channel.Operations }

func (panicking) GetChannel(context.Context, channel.GetParams) (*channel.Reference, error) {
	panic("no channels today")
}

func TestPanic_Operation(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]fakes.Option{
		"of an operation": {overriddenBy(func(botctx.Scope, botctx.Services) botctx.Services { return botctx.Services{Channels: panicking{}} })},
		"below interceptors": {
			overriddenBy(func(botctx.Scope, botctx.Services) botctx.Services { return botctx.Services{Channels: panicking{}} }),
			interceptedBy(func(ctx context.Context, _ *botctx.Call, next botctx.Next) (any, error) { return next(ctx) }),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes.New(append(options, fakes.For(t))...)
			bot := p.Operations(botctx.Scope{})
			found, err := bot.GetChannel(t.Context(), channel.GetParams{ChannelID: "channel-1"})
			requireFailure(t, err, "getChannel", boterr.Internal, "")
			require.ErrorContains(t, err, "panic: no channels today")
			requireStack(t, err)
			require.Nil(t, found)
			_, err = bot.Call(t.Context(), "getChannel", []byte(`{"channelId": "channel-1"}`))
			requireFailure(t, err, "getChannel", boterr.Internal, "")
		})
	}
}

// requireStack requires that err wraps a panic in this file. The text of err must not contain the stack, which differs
// from run to run.
func requireStack(t *testing.T, err error) {
	t.Helper()
	var panicked *boterr.PanicError
	require.ErrorAs(t, err, &panicked)
	require.Contains(t, string(panicked.Stack), "context_test.go")
	require.NotContains(t, err.Error(), "context_test.go")
}

func strictly() fakes.Option {
	return fakes.Config(func(c *botctx.Config) { c.Strict = true })
}

func interceptedBy(interceptors ...botctx.Interceptor) fakes.Option {
	return fakes.Config(func(c *botctx.Config) { c.Interceptors = interceptors })
}

func overriddenBy(parts func(scope botctx.Scope, own botctx.Services) botctx.Services) fakes.Option {
	return fakes.Config(func(c *botctx.Config) { c.Override = parts })
}

// filledByOthers returns, by kind of record, the fields that the SDK never sets. Each value is the part that sets them.
func filledByOthers() map[string]map[string]string {
	const (
		platform = "the platform, by Inbound.Profile, when the member first arrives"
		logic    = "bot logic, or the host"
	)
	return map[string]map[string]string{
		"member": {
			"firstName": platform, "lastName": platform, "gender": platform, "email": platform, "locale": platform,
			"profilePic": platform, "profile": platform,
			"customLocale": logic, "group": logic, "admin": logic, "tags": logic, "meta": logic,
		},
		"group":  {"meta": logic},
		"agenda": {"meta": logic},
	}
}

// familyDesk returns a platform on which Ada, a new member, has asked for a person in a group, and Grace has transferred
// the live chat to Hedy.
func familyDesk(t *testing.T) *fakes.Platform {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: "family", Type: channel.Delta, Info: channel.DeltaInfo{TbID: "bot-1"}})
	p.AddChannel(channel.Channel{
		ID: "desk", Type: channel.Charlie, Info: channel.CharlieInfo{BotID: "bot-2"}, BroadcastGroups: supportAndSales(),
	})
	p.Pair("family", "desk")
	p.Handle(
		&botctx.Node{
			ID: "person", Tree: "main", SavesPosition: true, Trigger: botctx.TextIs("a person"), Pre: []botctx.Action{callAgent},
			Responses: []send.Response{send.Text("One moment.")},
		},
		&botctx.Node{ID: "transfer", Tree: "main", Trigger: botctx.TextIs("/sales"), Pre: []botctx.Action{transferInGroup}},
	)
	grace, hedy := p.AddAgent("desk", "Grace", "support"), p.AddAgent("desk", "Hedy", "sales")
	require.NoError(t, p.Runtime().Receive(t.Context(), botctx.Inbound{
		App: fakes.DefaultApp, Channel: "family", GroupExternalID: "hall", Event: send.MessageEvent{
			From: "ada", Type: send.TypeText, Data: document.O("text", "a person"), MessageID: "m-1",
		},
	}))
	grace.Takes(grace.Ticket())
	grace.Says("/sales")
	hedy.Takes(hedy.Ticket())
	return p
}

// transferInGroup transfers a live chat in a group to the sales agents.
func transferInGroup(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.ReassignAssignment(ctx, livechat.ReassignAssignmentParams{
		MessageEvent: bot.MessageEvent, Label: "sales", InletGroup: true,
	})
	return err
}

// recordsOf returns the records on a platform by kind, as operations return them.
func recordsOf(t *testing.T, p *fakes.Platform) map[string]gjson.Result {
	t.Helper()
	all, err := p.Runtime().FindAssignments(t.Context(), fakes.DefaultApp, botctx.Query{})
	require.NoError(t, err)
	r := all[len(all)-1]
	bot := p.Operations(botctx.Scope{Channel: "family", Member: r.Member})
	redirected := callf(t, bot, "redirectMemberToNode",
		`{"memberId": %q, "channelId": "family", "nodeCompositeId": "person", "redirectOptions": {"runPreAction": false}}`, r.Member).Get("sendResults.0")
	return map[string]gjson.Result{
		"member":           callf(t, bot, "getMember", `{"memberId": %q}`, r.Member),
		"assignment":       callf(t, bot, "getAssignment", `{"assignmentId": %q}`, r.ID),
		"target":           callf(t, bot, "getAssignment", `{"assignmentId": %q}`, r.ID).Get("targets.0"),
		"group":            callf(t, bot, "getGroup", `{"groupId": %q}`, r.Group),
		"admin":            callf(t, bot, "getAdminByExternalId", `{"externalId": %q}`, r.Assignee),
		"channelReference": callf(t, bot, "getChannel", `{"channelId": "family"}`),
		"agenda": callf(t, bot, "newAgenda",
			`{"memberId": %q, "nodeCompositeId": "person", "nextRunAt": 5, "tag": "once"}`, r.Member),
		"nodeSendResult": redirected,
		"sendResult":     redirected.Get("result.0"),
		"messageEvent":   redirected.Get("result.0.messageEvent"),
	}
}

func TestRecords_EachFieldIsFilled(t *testing.T) {
	t.Parallel()
	for name, shown := range recordsOf(t, familyDesk(t)) {
		kind, ok := operations.KindNamed(name)
		require.True(t, ok, name)
		var empty []string
		for _, field := range kind.Fields {
			if slices.Contains([]string{"", "null", `""`, "{}", "[]"}, shown.Get(field.Name).Raw) {
				empty = append(empty, field.Name)
			}
		}
		require.ElementsMatch(t, slices.Collect(maps.Keys(filledByOthers()[name])), empty, "%s: %s", name, shown.Raw)
	}
}
