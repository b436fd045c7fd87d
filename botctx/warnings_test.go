package botctx_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
)

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

// What the host has beside nodes may lead anywhere.
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

// toldOf returns a host that writes warnings to a log and to a list.
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

// misspelt is the text of an error for a node.
const misspelt = `there is no node remindr: check the id, or give the node to Handle: perhaps "reminder" is meant`

// planLater plans to run a node, and changes an agenda to run it.
func planLater(t *testing.T, bot *botctx.Context, node string) (made, changed error) {
	t.Helper()
	later := agenda.NewAgendaParams{MemberID: "ada", NodeCompositeID: node, NextRunAt: 4_000_000_000_000, Tag: "later"}
	_, made = bot.NewAgenda(t.Context(), later)
	_, changed = bot.UpdateAgenda(t.Context(), agenda.UpdateAgendaParams{MemberID: "ada", Tag: "later", NodeCompositeID: node})
	return made, changed
}

func TestAgendas_NodeThatIsNotThere(t *testing.T) {
	t.Parallel()
	runtime, _, told := toldOf(t, botctx.Config{})
	bot := runtime.Operations(record.Scope{App: "shop", Channel: "web", Member: "ada"})
	made, changed := planLater(t, bot, "remindr")
	require.NoError(t, errors.Join(made, changed), "a host without nodes does not know")

	require.NoError(t, runtime.Handle(&botctx.Node{ID: "reminder", Entry: true}))
	before, err := bot.UpdateAgenda(t.Context(), agenda.UpdateAgendaParams{MemberID: "ada", Tag: "later", NextRunAt: 4_000_000_000_000})
	require.NoError(t, err)
	made, changed = planLater(t, bot, "remindr")
	for _, err := range []error{made, changed} {
		require.Equal(t, boterr.NotFound, boterr.CodeOf(err))
		require.ErrorContains(t, err, "nodeCompositeId: "+misspelt)
	}
	_, err = bot.NewAgenda(t.Context(), agenda.NewAgendaParams{
		MemberID: "ada", TreeID: "shop", NodeCompositeID: "reminder", NextRunAt: 4_000_000_000_000,
	})
	require.ErrorContains(t, err, "there is no node reminder in tree shop")
	after, err := bot.UpdateAgenda(t.Context(), agenda.UpdateAgendaParams{MemberID: "ada", Tag: "later", NextRunAt: 4_000_000_000_000})
	require.NoError(t, err)
	require.Equal(t, before.DocsIDs, after.DocsIDs, "nothing was made")
	made, changed = planLater(t, bot, "reminder")
	require.NoError(t, errors.Join(made, changed))
	require.Empty(t, *told)
}

func TestWarnings_OfAgendasWhoseNodeMayBeElsewhere(t *testing.T) {
	t.Parallel()
	runtime, lines, told := toldOf(t, botctx.Config{OtherNodes: true})
	bot := runtime.Operations(record.Scope{App: "shop", Channel: "web", Member: "ada"})
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
