package botctx_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// textLogger returns a logger that writes plain text without times.
func textLogger(to io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// loggedHost returns a Runtime whose clock advances by a second at each call, and the scope of the member ada in the
// webchat channel web.
func loggedHost(t *testing.T, config botctx.Config) (*botctx.Runtime, botctx.Scope) {
	t.Helper()
	now := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	config.Now = func() time.Time {
		now = now.Add(time.Second)
		return now
	}
	runtime := newRuntime(t, config)
	saveChannel(t, runtime, channel.Channel{ID: "web", Type: channel.Webchat})
	_, err := insertMember(t, runtime, member.Member{ID: "ada", FirstName: "Ada"})
	require.NoError(t, err)
	return runtime, botctx.Scope{App: "shop", Channel: "web", Member: "ada"}
}

func adaWrites(ctx context.Context, runtime *botctx.Runtime, text string) error {
	return runtime.Receive(ctx, fromAda(text, ""))
}

func TestLogged_Lines(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	broken := func(ctx context.Context, call *botctx.Call, next botctx.Next) (any, error) {
		if call.Op == botctx.OpGetChannel {
			return nil, errors.New("the password is open sesame")
		}
		return next(ctx)
	}
	runtime, scope := loggedHost(t, botctx.Config{
		Interceptors: []botctx.Interceptor{botctx.Logged(textLogger(&lines, slog.LevelDebug)), broken},
	})
	bot := runtime.Operations(scope)
	_, err := bot.GetMember(t.Context(), member.GetParams{MemberID: "ada"})
	require.NoError(t, err)
	_, err = bot.CountDataSource(t.Context(), datasource.CountParams{
		DataSourceID: "diary", Filter: document.O("secret", document.O("$nonsense", "open sesame")),
	})
	require.Error(t, err)
	_, err = runtime.Operations(botctx.Scope{App: "shop"}).GetChannel(t.Context(), channel.GetParams{ChannelID: "web"})
	require.Error(t, err)
	require.Equal(t, `level=DEBUG msg="botctx: operation" op=getMember app=shop channel=web member=ada duration=1s
level=WARN msg="botctx: operation" op=countDataSource app=shop channel=web member=ada duration=1s code=InvalidArgument field=filter
level=ERROR msg="botctx: operation" op=getChannel app=shop duration=1s code=Internal
`, lines.String())
}

func TestLogged_Field(t *testing.T) {
	t.Parallel()
	for field, logged := range map[string]string{
		"memberId": "memberId", "memberId.secret": "memberId", "memberId[3].secret": "memberId", "secret": "", "secret.memberId": "", "": "",
	} {
		var lines bytes.Buffer
		fails := func(context.Context, *botctx.Call, botctx.Next) (any, error) {
			return nil, boterr.New(boterr.NotFound, field, "it is not there")
		}
		runtime, scope := loggedHost(t, botctx.Config{
			Interceptors: []botctx.Interceptor{botctx.Logged(textLogger(&lines, slog.LevelDebug)), fails},
		})
		_, err := runtime.Operations(scope).GetMember(t.Context(), member.GetParams{MemberID: "ada"})
		require.ErrorIs(t, err, boterr.NotFound)
		require.NotContains(t, lines.String(), "secret")
		if logged == "" {
			require.NotContains(t, lines.String(), "field=")
		} else {
			require.Contains(t, lines.String(), "field="+logged+"\n")
		}
	}
}

func TestLogged_Level(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	for _, logger := range []*slog.Logger{textLogger(&lines, slog.LevelInfo), nil} {
		runtime, scope := loggedHost(t, botctx.Config{Interceptors: []botctx.Interceptor{botctx.Logged(logger)}})
		_, err := runtime.Operations(scope).GetMember(t.Context(), member.GetParams{MemberID: "ada"})
		require.NoError(t, err)
	}
	require.Empty(t, lines.String())
}

var stacks = regexp.MustCompile(`stack="(?:[^"\\]|\\.)*"`)

func TestLogger_Panics(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config botctx.Config
		logic  botctx.Action
		want   string
	}{
		"of an action": {
			logic: func(context.Context, *botctx.Context) error { panic("accessToken=open-sesame") },
			want:  `level=ERROR msg="botctx: panic" app=shop channel=web member=ada panic="accessToken=[redacted]" stack` + "\n",
		},
		"of an operation": {
			config: botctx.Config{Override: func(botctx.Scope, botctx.Services) botctx.Services {
				return botctx.Services{Channels: panicking{}}
			}},
			logic: func(ctx context.Context, bot *botctx.Context) error {
				_, err := bot.GetChannel(ctx, channel.GetParams{ChannelID: "web"})
				return err
			},
			want: `level=ERROR msg="botctx: panic" app=shop channel=web member=ada op=getChannel panic="no channels today" stack` + "\n",
		},
		"of what makes members": {
			config: botctx.Config{Arrive: func(context.Context, botctx.Inbound) (*member.Member, error) { panic("nobody") }},
			logic:  func(context.Context, *botctx.Context) error { return nil },
			want:   `level=ERROR msg="botctx: panic" app=shop channel=web panic=nobody stack` + "\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var lines bytes.Buffer
			c.config.Logger = textLogger(&lines, slog.LevelInfo) // The debug level would add each Choice.
			if c.config.Arrive == nil {
				c.config.Arrive = func(context.Context, botctx.Inbound) (*member.Member, error) {
					return &member.Member{ID: "ada"}, nil
				}
			}
			runtime, _ := loggedHost(t, c.config)
			runtime.HandleFunc(c.logic)
			require.ErrorIs(t, adaWrites(t.Context(), runtime, "hi"), boterr.Internal)
			require.Contains(t, lines.String(), "_test.go", "the stack")
			require.Equal(t, c.want, stacks.ReplaceAllString(lines.String(), "stack"))
		})
	}
}

func TestLogger_NotWrittenBack(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	runtime, _ := loggedHost(t, botctx.Config{Logger: textLogger(&lines, slog.LevelInfo)})
	runtime.HandleFunc(func(_ context.Context, bot *botctx.Context) error {
		bot.Member = &member.Member{ID: "eve"}
		return nil
	})
	require.ErrorIs(t, adaWrites(t.Context(), runtime, "hi"), boterr.FailedPrecondition)
	require.Equal(t, `level=WARN msg="botctx: member not written back" app=shop channel=web member=ada code=FailedPrecondition field=Member`+"\n",
		lines.String())
}

func TestLogger_Redirects(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	runtime, _ := loggedHost(t, botctx.Config{Logger: textLogger(&lines, slog.LevelInfo), MaxRedirects: 1})
	require.NoError(t, runtime.Handle(&botctx.Node{
		ID: "loop", Global: botctx.GlobalInChannel, Trigger: botctx.TextIs("hi"), Redirect: botctx.To("loop"),
	}))
	require.ErrorIs(t, adaWrites(t.Context(), runtime, "hi"), boterr.ResourceExhausted)
	require.Equal(t, `level=WARN msg="botctx: too many redirects" app=shop channel=web member=ada node=loop path="loop -> loop -> loop"`+"\n",
		lines.String())
}

func TestLogger_ChoiceAtDebugLevel(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	runtime, _ := loggedHost(t, botctx.Config{Logger: textLogger(&lines, slog.LevelDebug)})
	require.NoError(t, runtime.Handle(
		&botctx.Node{ID: "ask", Trigger: botctx.TextIs("hi"), Entry: true}, // Entry prevents a warning.
		&botctx.Node{ID: "answer", Parent: "ask", Trigger: botctx.AnyText()},
	))
	for _, text := range []string{"hi", "bye"} {
		require.NoError(t, adaWrites(t.Context(), runtime, text))
	}
	require.Equal(t, `level=DEBUG msg="botctx: choice" app=shop channel=web member=ada node=ask answer=node why="node ask answers: head, no position"
level=DEBUG msg="botctx: choice" app=shop channel=web member=ada answer=nothing `+
		`why="nothing answers: no position - heads: ask (trigger did not match); \"answer\" needs the position \"ask\", which no node saves"
`, lines.String())
}

func TestLogger_Scheduler(t *testing.T) {
	t.Parallel()
	var lines, own bytes.Buffer
	for _, config := range []botctx.Config{
		{Logger: textLogger(&lines, slog.LevelWarn)},
		{
			Logger:    textLogger(&lines, slog.LevelWarn),
			Scheduler: botctx.SchedulerOptions{Log: textLogger(&own, slog.LevelWarn)},
		},
	} {
		runtime, scope := loggedHost(t, config)
		_, err := runtime.Operations(scope).NewAgenda(t.Context(), agenda.NewParams{
			MemberID: "ada", NodeCompositeID: "nowhere", NextRunAt: document.TimestampOf(time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)),
		})
		require.NoError(t, err)
		result, err := runtime.RunNextAgenda(t.Context())
		require.NoError(t, err)
		require.ErrorIs(t, result.Err, boterr.NotFound)
	}
	for _, log := range []*bytes.Buffer{&lines, &own} {
		require.Regexp(t, `(?s)^level=WARN msg="agenda: late".*level=WARN msg="agenda: failed"[^\n]*node=nowhere[^\n]*$`, log.String()[:log.Len()-1])
	}
}

func TestWarnings_OfNodes(t *testing.T) {
	t.Parallel()
	const unreached = "nothing leads to the node %s: it has no Trigger, no Redirect leads to it, and no Schedules name it; " +
		"give it a Trigger, name it in Schedules of the node whose action schedules it, " +
		"or set Entry where RedirectMemberToNode or the host runs it"
	const position = "the node %s never saves the position, so that its children are never asked: %s; " +
		"set SavesPosition, or Entry where an action sets the position there"
	hello := botctx.Node{ID: "hello", Trigger: botctx.AnyText()}
	helloWith := func(change func(*botctx.Node)) *botctx.Node {
		changed := hello
		change(&changed)
		return &changed
	}
	child := func(change func(*botctx.Node)) *botctx.Node {
		node := &botctx.Node{ID: "answer", Parent: "hello", Trigger: botctx.AnyText()}
		change(node)
		return node
	}
	asIs := func(*botctx.Node) {}
	for name, c := range map[string]struct {
		nodes []*botctx.Node
		want  []string
	}{
		"a node that nothing leads to": {
			[]*botctx.Node{&hello, {ID: "menu", Tree: "shop"}},
			[]string{fmt.Sprintf(unreached, "menu (tree shop)")},
		},
		"nodes that lead to each other alone": {
			[]*botctx.Node{&hello, {ID: "a", Redirect: botctx.To("b")}, {ID: "b", Redirect: botctx.RedirectFunc(toMenu), Schedules: botctx.Nodes("a")}},
			[]string{fmt.Sprintf(unreached, "a"), fmt.Sprintf(unreached, "b")},
		},
		"nodes to which redirects and agendas lead": {
			[]*botctx.Node{
				helloWith(func(n *botctx.Node) { n.Redirect = botctx.ToOneOf(toMenu, "menu", "other") }),
				{ID: "menu", Schedules: botctx.Nodes("reminder")},
				{ID: "other"},
				{ID: "reminder", Redirect: botctx.To("end")},
				{ID: "end", Tree: "shop"},
			},
			nil,
		},
		"what leads somewhere is not known": {
			[]*botctx.Node{helloWith(func(n *botctx.Node) { n.Redirect = botctx.RedirectFunc(toMenu) }), {ID: "menu"}},
			nil,
		},
		"an entry": {[]*botctx.Node{&hello, {ID: "paid", Entry: true, Redirect: botctx.To("thanks")}, {ID: "thanks"}}, nil},
		"a position that is never saved": {
			[]*botctx.Node{&hello, child(asIs), child(func(n *botctx.Node) { n.ID = "other" })},
			[]string{fmt.Sprintf(position, "hello", "answer, other")},
		},
		"a position that is not saved before a redirect": {
			[]*botctx.Node{helloWith(func(n *botctx.Node) { n.Redirect = botctx.To("answer") }), child(asIs)},
			[]string{fmt.Sprintf(position, "hello", "answer")},
		},
		"a position that is saved": {
			[]*botctx.Node{helloWith(func(n *botctx.Node) { n.SavesPosition = true }), child(asIs)},
			nil,
		},
		"a position that an action may set": {
			[]*botctx.Node{helloWith(func(n *botctx.Node) { n.Post = botctx.Do(says("hi")) }), child(asIs)},
			nil,
		},
		"a position that a redirect may set": {
			[]*botctx.Node{helloWith(func(n *botctx.Node) { n.Redirect = botctx.ToOneOf(toMenu, "hello") }), child(asIs)},
			nil,
		},
		"a position that is set elsewhere": {
			[]*botctx.Node{helloWith(func(n *botctx.Node) { n.Entry = true }), child(asIs)},
			nil,
		},
		"a child that is global":          {[]*botctx.Node{&hello, child(func(n *botctx.Node) { n.Global = botctx.GlobalInChannel })}, nil},
		"a child that is an entry":        {[]*botctx.Node{&hello, child(func(n *botctx.Node) { n.Entry = true })}, nil},
		"a child that redirects run":      {[]*botctx.Node{helloWith(func(n *botctx.Node) { n.Redirect = botctx.To("answer") }), child(func(n *botctx.Node) { n.Trigger = nil })}, nil},
		"no nodes, and nothing to say of": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			graph, err := botctx.GraphOf(c.nodes...)
			require.NoError(t, err)
			var told []string
			for _, warning := range graph.Warnings {
				told = append(told, warning.String())
			}
			require.Equal(t, c.want, told)
		})
	}
}

// The functions of HandleFunc and Flow.HeadNodes may lead to any node. With them, warnings that could be wrong for
// this reason are left out.
func TestWarnings_OfAHost(t *testing.T) {
	t.Parallel()
	nodes := []*botctx.Node{
		{ID: "hello", Trigger: botctx.AnyText()},
		{ID: "answer", Parent: "hello", Trigger: botctx.AnyText()},
		{ID: "reminder"},
	}
	kinds := func(r *botctx.Runtime) []botctx.WarningKind {
		require.NoError(t, r.Handle(nodes...))
		var found []botctx.WarningKind
		for _, warning := range r.Graph().Warnings {
			found = append(found, warning.Kind)
		}
		return found
	}
	plain, withLogic := newRuntime(t, botctx.Config{}), newRuntime(t, botctx.Config{})
	withLogic.HandleFunc(says("hi"))
	withHeads := newRuntime(t, botctx.Config{Flow: botctx.Flow{
		HeadNodes: func(context.Context, *botctx.Context) ([]botctx.NodeRef, error) { return nil, nil },
	}})
	require.Equal(t, []botctx.WarningKind{botctx.WarningPosition, botctx.WarningUnreached}, kinds(plain))
	require.Empty(t, kinds(withLogic))
	require.Equal(t, []botctx.WarningKind{botctx.WarningUnreached}, kinds(withHeads))
}

// toldOf returns a Runtime that writes warnings to lines and appends them to told.
func toldOf(t *testing.T, config botctx.Config) (runtime *botctx.Runtime, lines *bytes.Buffer, told *[]botctx.Warning) {
	t.Helper()
	lines, told = &bytes.Buffer{}, &[]botctx.Warning{}
	config.Logger = textLogger(lines, slog.LevelWarn)
	config.OnWarning = func(_ context.Context, warning botctx.Warning) { *told = append(*told, warning) }
	runtime, _ = loggedHost(t, config)
	return runtime, lines, told
}

func TestWarnings_AreToldOnceBeforeTheFirstRun(t *testing.T) {
	t.Parallel()
	runtime, lines, told := toldOf(t, botctx.Config{})
	require.NoError(t, runtime.Handle(&botctx.Node{ID: "hello", Trigger: botctx.AnyText()}, &botctx.Node{ID: "menu"}))
	require.Empty(t, *told, "a later Handle may bring what leads there")
	for range 2 {
		require.NoError(t, adaWrites(t.Context(), runtime, "hi"))
	}
	require.Equal(t, runtime.Graph().Warnings, *told)
	require.Len(t, *told, 1)
	require.Regexp(t, `^level=WARN msg="botctx: warning" node=menu kind=unreached text="nothing leads to the node menu: [^"]*"\n$`, lines.String())

	require.NoError(t, runtime.Handle(&botctx.Node{ID: "buy", Trigger: botctx.TextIs("buy"), Redirect: botctx.To("menu")}))
	require.NoError(t, adaWrites(t.Context(), runtime, "hi"))
	require.Len(t, *told, 1, "now something leads there")
}

func TestWarnings_AreToldWhereAgendasBeginToRun(t *testing.T) {
	t.Parallel()
	runtime, _, told := toldOf(t, botctx.Config{})
	require.NoError(t, runtime.Handle(&botctx.Node{ID: "menu"}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, runtime.Run(ctx))
	require.Len(t, *told, 1)
}

// misspelt is the error for the unknown node remindr.
const misspelt = `there is no node remindr: check the id, or give the node to Handle: did you mean "reminder"?`

// planLater creates an agenda for a node, and changes another agenda to this node. It returns both errors.
func planLater(t *testing.T, bot *botctx.Context, node string) (made, changed error) {
	t.Helper()
	later := agenda.NewParams{MemberID: "ada", NodeCompositeID: node, NextRunAt: 4_000_000_000_000, Tag: "later"}
	_, made = bot.NewAgenda(t.Context(), later)
	_, changed = bot.UpdateAgenda(t.Context(), agenda.UpdateParams{MemberID: "ada", Tag: "later", NodeCompositeID: node})
	return made, changed
}

func TestAgendas_NodeThatIsNotThere(t *testing.T) {
	t.Parallel()
	runtime, _, told := toldOf(t, botctx.Config{})
	bot := runtime.Operations(botctx.Scope{App: "shop", Channel: "web", Member: "ada"})
	made, changed := planLater(t, bot, "remindr")
	require.NoError(t, errors.Join(made, changed), "a host without nodes does not know")

	require.NoError(t, runtime.Handle(&botctx.Node{ID: "reminder", Entry: true}))
	before, err := bot.UpdateAgenda(t.Context(), agenda.UpdateParams{MemberID: "ada", Tag: "later", NextRunAt: 4_000_000_000_000})
	require.NoError(t, err)
	made, changed = planLater(t, bot, "remindr")
	for _, err := range []error{made, changed} {
		require.Equal(t, boterr.NotFound, boterr.CodeOf(err))
		require.ErrorContains(t, err, "nodeCompositeId: "+misspelt)
	}
	_, err = bot.NewAgenda(t.Context(), agenda.NewParams{
		MemberID: "ada", TreeID: "shop", NodeCompositeID: "reminder", NextRunAt: 4_000_000_000_000,
	})
	require.ErrorContains(t, err, "there is no node reminder in tree shop")
	after, err := bot.UpdateAgenda(t.Context(), agenda.UpdateParams{MemberID: "ada", Tag: "later", NextRunAt: 4_000_000_000_000})
	require.NoError(t, err)
	require.Equal(t, before.DocsIDs, after.DocsIDs, "nothing was made")
	made, changed = planLater(t, bot, "reminder")
	require.NoError(t, errors.Join(made, changed))
	require.Empty(t, *told)
}

func TestWarnings_OfAgendasWhoseNodeMayBeElsewhere(t *testing.T) {
	t.Parallel()
	runtime, lines, told := toldOf(t, botctx.Config{OtherNodes: true})
	bot := runtime.Operations(botctx.Scope{App: "shop", Channel: "web", Member: "ada"})
	require.NoError(t, runtime.Handle(&botctx.Node{ID: "reminder", Entry: true}))
	for _, node := range []string{"reminder", "remindr"} {
		made, changed := planLater(t, bot, node)
		require.NoError(t, errors.Join(made, changed), "another process may handle it")
	}
	want := botctx.Warning{
		Kind: botctx.WarningMissing, Node: botctx.NodeRef{CompositeID: "remindr"}, Text: "the agenda may fail: " + misspelt,
	}
	require.Equal(t, []botctx.Warning{want, want}, *told)
	require.Equal(t, 2, strings.Count(lines.String(),
		`level=WARN msg="botctx: warning" app=shop channel=web member=ada kind=missing text="the agenda may fail: `), lines)
}
