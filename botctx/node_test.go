package botctx_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

func says(text string) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text(text)) }
}

func fails(err error) botctx.Action {
	return func(context.Context, *botctx.Context) error { return err }
}

// sets returns an action that sets a path in the meta of bot.Member.
func sets(path string, value any) botctx.Action {
	return func(_ context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set(path, value)
		return nil
	}
}

// texts returns the texts sent to an actor or an agent, joined by line breaks.
func texts(a interface{ Messages() []send.Response }) string {
	var lines []string
	for _, message := range a.Messages() {
		lines = append(lines, message.Text())
	}
	return strings.Join(lines, "\n")
}

func withNodes(t *testing.T, nodes ...*botctx.Node) (*fakes.Platform, *fakes.Actor) {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.Handle(nodes...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	return p, ada
}

func TestNode_ErrorEndsRun(t *testing.T) {
	t.Parallel()
	outOfTea := errors.New("out of tea")
	explode := func(context.Context, *botctx.Context) error { panic("boom") }
	for name, test := range map[string]struct {
		node botctx.Node
		want string
		sent string
	}{
		"trigger": {
			botctx.Node{Trigger: botctx.TriggerFunc(func(context.Context, *botctx.Context) (bool, error) { return false, outOfTea })},
			"node order: trigger: out of tea", "",
		},
		"pre-action": {
			botctx.Node{Pre: []botctx.Action{says("one"), fails(outOfTea)}, Responses: []send.Response{send.Text("two")}},
			"node order: pre-action 2 (botctx_test.", "one",
		},
		"response": {
			botctx.Node{Responses: []send.Response{send.Text("one"), send.Template("{{meta.none}}")}, Post: []botctx.Action{says("two")}},
			"node order: response 2: sendResponse: invalid argument: response.text", "one",
		},
		"post-action": {
			botctx.Node{Post: []botctx.Action{fails(outOfTea), says("two")}},
			"node order: post-action 1 (botctx_test.", "",
		},
		"a panic": {
			botctx.Node{Pre: []botctx.Action{explode}},
			"node order: pre-action 1 (botctx_test.TestNode_ErrorEndsRun.func1): internal: panic: boom", "",
		},
		"redirect": {
			botctx.Node{Redirect: botctx.RedirectFunc(func(context.Context, *botctx.Context) (*botctx.Redirect, error) { return nil, outOfTea })},
			"node order: redirect: out of tea", "",
		},
		"an unknown node": {
			botctx.Node{Redirect: botctx.RedirectFunc(func(context.Context, *botctx.Context) (*botctx.Redirect, error) {
				return botctx.GoTo("nowhere")
			})},
			"node order: redirect: not found: nodeCompositeId: there is no node nowhere", "",
		},
		"a redirect without a node": {
			botctx.Node{Redirect: botctx.RedirectFunc(func(context.Context, *botctx.Context) (*botctx.Redirect, error) {
				return &botctx.Redirect{}, nil
			})},
			"node order: redirect: invalid argument: nodeCompositeId: is missing; give the id of a node", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := test.node
			node.ID = "order"
			if node.Trigger == nil {
				node.Trigger = botctx.AnyText()
			}
			_, ada := withNodes(t, &node)
			err := ada.TrySays("order")
			require.ErrorContains(t, err, test.want)
			var where *botctx.RunError
			require.ErrorAs(t, err, &where)
			require.Equal(t, botctx.NodeRef{CompositeID: "order"}, where.Node)
			require.Equal(t, test.sent, texts(ada))
		})
	}
}

func TestHandle_RefusesNodes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		nodes []*botctx.Node
		code  boterr.Code
	}{
		"nil":            {[]*botctx.Node{nil}, boterr.InvalidArgument},
		"no id":          {[]*botctx.Node{{Tree: "shop"}}, boterr.InvalidArgument},
		"its own parent": {[]*botctx.Node{{ID: "a", Parent: "a"}}, boterr.InvalidArgument},
		"its own ancestor": {
			[]*botctx.Node{{ID: "a", Parent: "b"}, {ID: "b", Parent: "c"}, {ID: "c", Parent: "b"}}, boterr.InvalidArgument,
		},
		"an unknown parent":            {[]*botctx.Node{{ID: "a", Parent: "gone"}}, boterr.InvalidArgument},
		"a parent in another tree":     {[]*botctx.Node{{ID: "b", Tree: "shop", Parent: "there"}}, boterr.InvalidArgument},
		"a pre-action that is nil":     {[]*botctx.Node{{ID: "a", Pre: []botctx.Action{nil}}}, boterr.InvalidArgument},
		"a post-action that is nil":    {[]*botctx.Node{{ID: "a", Post: []botctx.Action{nil}}}, boterr.InvalidArgument},
		"a response that is zero":      {[]*botctx.Node{{ID: "a", Responses: []send.Response{{}}}}, boterr.InvalidArgument},
		"a response that is too long":  {[]*botctx.Node{{ID: "a", Responses: []send.Response{send.Text(strings.Repeat("x", send.MaxText+1))}}}, boterr.InvalidArgument},
		"global in a way that is none": {[]*botctx.Node{{ID: "a", Global: 77}}, boterr.InvalidArgument},
		"twice":                        {[]*botctx.Node{{ID: "a", Tree: "shop"}, {ID: "a", Tree: "shop"}}, boterr.AlreadyExists},
		"already there":                {[]*botctx.Node{{ID: "there"}}, boterr.AlreadyExists},
	} {
		p := fakes.New(fakes.For(t))
		p.Handle(&botctx.Node{ID: "there"}, &botctx.Node{ID: "a", Tree: "other"})
		fresh := &botctx.Node{ID: "fresh", Trigger: botctx.AnyText(), Responses: []send.Response{send.Text("hi")}}
		require.ErrorIs(t, p.Runtime().Handle(append([]*botctx.Node{fresh}, test.nodes...)...), test.code, name)
		ada := p.AddMember(member.Member{})
		ada.Says("hi")
		require.Empty(t, ada.Messages(), "%s: none of the nodes is added", name)
	}
}

func TestHandle_CopiesNodes(t *testing.T) {
	t.Parallel()
	node := &botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Responses: []send.Response{send.Text("hi")}}
	_, ada := withNodes(t, node)
	node.Responses[0] = send.Text("changed")
	node.Trigger = nil
	ada.Says("hi")
	require.Equal(t, "hi", ada.Last())
}

func TestTriggers_Match(t *testing.T) {
	t.Parallel()
	text := func(text string) *send.MessageEvent {
		return &send.MessageEvent{Type: send.TypeText, Data: document.O("text", text)}
	}
	tap := func(payload any) *send.MessageEvent {
		return &send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", payload)}
	}
	for name, test := range map[string]struct {
		trigger  botctx.Trigger
		matches  []*send.MessageEvent
		mismatch []*send.MessageEvent
	}{
		"TextIs": {
			botctx.TextIs("menu", "start over"),
			[]*send.MessageEvent{text("menu"), text(" MENU "), text("Start over")},
			[]*send.MessageEvent{text("menus"), text(""), tap("menu"), nil},
		},
		"TextMatches": {
			botctx.TextMatches(regexp.MustCompile(`^\d+$`)),
			[]*send.MessageEvent{text("42")},
			[]*send.MessageEvent{text("42!"), tap("42"), nil},
		},
		"AnyText": {botctx.AnyText(), []*send.MessageEvent{text("x"), text("")}, []*send.MessageEvent{tap("x"), nil}},
		"PayloadIs": {
			botctx.PayloadIs("yes", "ok"),
			[]*send.MessageEvent{tap("yes"), tap(document.O("payload", "ok", "value", 1))},
			[]*send.MessageEvent{tap("no"), tap(""), text("yes"), nil},
		},
		"OnText": {
			botctx.OnText(func(said string) bool { return len(said) == 2 }),
			[]*send.MessageEvent{text("hi")},
			[]*send.MessageEvent{text("hello"), tap("hi"), nil},
		},
		"AllOf": {
			botctx.AllOf(botctx.AnyText(), botctx.Not(botctx.TextIs("stop"))),
			[]*send.MessageEvent{text("hi")},
			[]*send.MessageEvent{text("stop"), tap("hi")},
		},
		"AnyOf": {
			botctx.AnyOf(botctx.TextIs("stop"), botctx.PayloadIs("stop")),
			[]*send.MessageEvent{text("stop"), tap("stop")},
			[]*send.MessageEvent{text("hi"), tap("hi")},
		},
		"AnyEvent": {botctx.AnyEvent(), []*send.MessageEvent{text("x"), tap("x"), nil}, nil},
	} {
		for _, event := range test.matches {
			matched, err := test.trigger.Matches(t.Context(), &botctx.Context{MessageEvent: event})
			require.NoError(t, err)
			require.True(t, matched, "%s: %v", name, event)
		}
		for _, event := range test.mismatch {
			matched, err := test.trigger.Matches(t.Context(), &botctx.Context{MessageEvent: event})
			require.NoError(t, err)
			require.False(t, matched, "%s: %v", name, event)
		}
	}
}

func TestTriggers_Errors(t *testing.T) {
	t.Parallel()
	broken := botctx.TriggerFunc(func(context.Context, *botctx.Context) (bool, error) { return true, boterr.Unavailable })
	for name, trigger := range map[string]botctx.Trigger{
		"AllOf": botctx.AllOf(botctx.AnyEvent(), broken),
		"AnyOf": botctx.AnyOf(botctx.Not(botctx.AnyEvent()), broken),
		"Not":   botctx.Not(broken),
	} {
		matched, err := trigger.Matches(t.Context(), &botctx.Context{})
		require.ErrorIs(t, err, boterr.Unavailable, name)
		require.False(t, matched, name)
	}
}

func toMenu(context.Context, *botctx.Context) (*botctx.Redirect, error) { return botctx.GoTo("menu") }

func TestHandle_RefusesWhatLeadsNowhere(t *testing.T) {
	t.Parallel()
	const noTrigger = `Trigger: the node new has a trigger with a nil part, or one such as TextIs without texts: ` +
		`give a trigger, a function or a text, or remove it`
	elsewhere := func(tree, id string) botctx.Redirector {
		return botctx.Redirect{NodeCompositeID: id, TreeID: tree}.Always()
	}
	for name, test := range map[string]struct {
		node botctx.Node
		want string
	}{
		"a redirect": {
			botctx.Node{Redirect: botctx.To("menus")},
			`Redirect: the node new redirects to menus, but there is no node menus: check the id, or give the node to Handle: did you mean "menu"?`,
		},
		"one of several redirects": {
			botctx.Node{Redirect: botctx.ToOneOf(toMenu, "menu", "checkout")},
			`Redirect: the node new redirects to checkout, but there is no node checkout: check the id, or give the node to Handle`,
		},
		"a redirect to a tree": {
			botctx.Node{Redirect: elsewhere("shop", "menu")},
			`Redirect: the node new redirects to menu (tree shop), but there is no node menu in tree shop: it is in ""`,
		},
		"a redirect to several trees": {
			botctx.Node{Redirect: botctx.To("order")},
			`Redirect: the node new redirects to order, but several trees have a node order: "shop", "bar": name the tree, too`,
		},
		"an agenda": {
			botctx.Node{Schedules: botctx.Nodes("menu", "remindr")},
			`Schedules: the node new schedules remindr, but there is no node remindr: ` +
				`check the id, or give the node to Handle: did you mean "reminder"?`,
		},
		"a redirect without an id": {
			botctx.Node{Redirect: botctx.To("")},
			`Redirect: the node new redirects to a node without an id: give its nodeCompositeId`,
		},
		"an agenda without an id": {
			botctx.Node{Schedules: botctx.Nodes("")},
			`Schedules: the node new schedules a node without an id: give its nodeCompositeId`,
		},
		"one of none": {
			botctx.Node{Redirect: botctx.ToOneOf(toMenu)},
			`Redirect: the node new redirects to an empty list of nodes: name the nodes that its function may return`,
		},
		"a redirect by a nil function": {
			botctx.Node{Redirect: botctx.RedirectFunc(nil)},
			`Redirect: the node new redirects with a nil function: leave Redirect out if the run ends`,
		},
		"a redirect by a nil function to one of several": {
			botctx.Node{Redirect: botctx.ToOneOf(nil, "menu")},
			`Redirect: the node new redirects with a nil function: leave Redirect out if the run ends`,
		},
		"options that do not exist": {
			botctx.Node{Redirect: botctx.Redirect{
				NodeCompositeID: "menu", Options: botctx.RedirectOptions{Unknown: document.O("sendResponses", false)},
			}.Always()},
			`Redirect.Options.sendResponses: is not an option; the options are runPreAction, sendResponse and runPostAction`,
		},
		"a trigger of a nil function": {
			botctx.Node{Trigger: botctx.AllOf(botctx.AnyText(), botctx.Not(botctx.When(nil)))},
			noTrigger,
		},
		"a trigger of no texts":    {botctx.Node{Trigger: botctx.TextIs()}, noTrigger},
		"a trigger of no payloads": {botctx.Node{Trigger: botctx.PayloadIs()}, noTrigger},
		"a trigger of no triggers": {botctx.Node{Trigger: botctx.Not(botctx.AnyOf())}, noTrigger},
		"a trigger of a nil pattern": {
			botctx.Node{Trigger: botctx.AnyOf(botctx.Described("a number", botctx.TextMatches(nil)))},
			noTrigger,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runtime := newRuntime(t, botctx.Config{})
			require.NoError(t, runtime.Handle(
				&botctx.Node{ID: "menu"}, &botctx.Node{ID: "reminder"},
				&botctx.Node{ID: "order", Tree: "shop"}, &botctx.Node{ID: "order", Tree: "bar"},
			))
			test.node.ID = "new"
			err := runtime.Handle(&test.node)
			require.EqualError(t, err, "invalid argument: "+test.want)
			require.ErrorIs(t, err, boterr.InvalidArgument)
			require.Len(t, runtime.Graph().Nodes, 4, "nothing is added")
		})
	}
}

func TestTrigger_OfNothingMatchesNothing(t *testing.T) {
	t.Parallel()
	for _, trigger := range []botctx.Trigger{botctx.TextIs(), botctx.PayloadIs(), botctx.When(nil), botctx.Not(botctx.TextIs())} {
		matches, err := trigger.Matches(t.Context(), &botctx.Context{})
		require.False(t, matches)
		require.ErrorIs(t, err, boterr.InvalidArgument, trigger.String())
	}
}

func TestHandle_TakesWhatLeadsToNodesThatComeWithIt(t *testing.T) {
	t.Parallel()
	runtime := newRuntime(t, botctx.Config{})
	require.NoError(t, runtime.Handle(
		&botctx.Node{ID: "hello", Redirect: botctx.To("menu"), Schedules: botctx.Nodes("reminder")},
		&botctx.Node{ID: "menu"}, &botctx.Node{ID: "reminder", Tree: "later"},
	))
	require.NoError(t, runtime.Handle(&botctx.Node{ID: "hi", Redirect: botctx.ToOneOf(toMenu, "hello", "menu")}))
	require.NoError(t, runtime.Handle(&botctx.Node{ID: "any", Redirect: botctx.RedirectFunc(toMenu)}))
}

// A tree may be added after the nodes that redirect to it. It must contain the nodes that they name.
func TestHandle_TreeThatComesLater(t *testing.T) {
	t.Parallel()
	runtime := newRuntime(t, botctx.Config{})
	survey := botctx.RedirectFunc(func(context.Context, *botctx.Context) (*botctx.Redirect, error) {
		return nil, nil
	}).Among(botctx.NodeRef{CompositeID: "stars?", Tree: "survey"})
	require.NoError(t, runtime.Handle(&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Redirect: survey}))
	require.Equal(t, []botctx.Warning{{
		Kind: botctx.WarningMissing, Node: botctx.NodeRef{CompositeID: "hello"},
		Text: "the node hello redirects to stars? (tree survey), but there is no node in that tree: give its nodes to Handle, too",
	}}, runtime.Graph().Warnings)

	require.ErrorContains(t, runtime.Handle(&botctx.Node{ID: "thanks", Tree: "survey", Trigger: botctx.AnyText()}),
		"the node hello redirects to stars? (tree survey), but there is no node stars? in tree survey")
	require.NoError(t, runtime.Handle(&botctx.Node{ID: "stars?", Tree: "survey"}))
	require.Empty(t, runtime.Graph().Warnings)
}

func TestToOneOf_AnotherNode(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(
		&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Redirect: botctx.ToOneOf(toMenu, "hello")},
		&botctx.Node{ID: "menu", Responses: botctx.Say("Tea?")},
	)
	ada := p.AddMember(member.Member{})
	err := ada.TrySays("hi")
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, "node hello: redirect: invalid argument: nodeCompositeId: "+
		"is menu, which is not a declared target of the redirect: add it to ToOneOf, or use RedirectFunc instead")
	require.Empty(t, ada.Messages())
}

func TestReplace_PutsNodesInThePlaceOfThoseBefore(t *testing.T) {
	t.Parallel()
	p, ada := withNodes(
		t,
		&botctx.Node{ID: "greeting", Trigger: botctx.TextIs("hi"), Responses: botctx.Say("Hello"), SavesPosition: true},
		&botctx.Node{ID: "more", Parent: "greeting", Trigger: botctx.TextIs("more"), Responses: botctx.Say("More")},
	)
	ada.Says("hi")
	p.Replace(&botctx.Node{ID: "welcome", Trigger: botctx.AnyText(), Responses: botctx.Say("Welcome")})
	ada.Says("more")
	require.Equal(t, "Hello\nWelcome", texts(ada), "where the conversation stood is gone: it begins anew")
	fork := p.Fork()
	again := ada.In(fork)
	again.Says("hi")
	require.Equal(t, "Welcome", again.Last(), "a fork has the new ones, too")
}

func TestReplace_RefusedNodesChangeNothing(t *testing.T) {
	t.Parallel()
	p, ada := withNodes(t, &botctx.Node{ID: "greeting", Trigger: botctx.AnyText(), Responses: botctx.Say("Hello")})
	err := p.Runtime().Replace(&botctx.Node{ID: "welcome", Redirect: botctx.To("nowhere")})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	ada.Says("hi")
	require.Equal(t, "Hello", ada.Last())
}

func TestCheckNodes_TellsAllThatIsWrong(t *testing.T) {
	t.Parallel()
	faults := botctx.CheckNodes(
		&botctx.Node{ID: "a", Parent: "gone", Redirect: botctx.To("nowhere"), Schedules: botctx.Nodes("never")},
		nil,
		&botctx.Node{ID: "a"},
		&botctx.Node{ID: "b", Parent: "a", Pre: []botctx.Action{nil}},
		&botctx.Node{ID: "c", Parent: "d"},
		&botctx.Node{ID: "d", Parent: "c"},
		&botctx.Node{ID: "e", Parent: "d", Redirect: botctx.To("b")},
	)
	type fault struct {
		index int
		field string
	}
	found := make([]fault, len(faults))
	for i, one := range faults {
		require.Error(t, one)
		coded, ok := boterr.AsError(one)
		require.True(t, ok, one)
		found[i] = fault{one.Index, coded.Field}
	}
	require.Equal(t, []fault{
		{1, ""}, {2, "ID"}, {0, "Parent"}, {0, "Redirect"}, {0, "Schedules"}, {3, "Pre"}, {4, "Parent"}, {5, "Parent"},
	}, found, "each once, at the node at fault: those that stand behind it are not told of")
	require.Empty(t, botctx.CheckNodes(&botctx.Node{ID: "a"}))
}

// booking returns nodes that ask for a day and then refuse every answer.
func booking() []*botctx.Node {
	return []*botctx.Node{
		{ID: "ask", Trigger: botctx.AnyText(), SavesPosition: true, Responses: botctx.Say("Which day?")},
		{ID: "day", Parent: "ask", Trigger: botctx.AnyText(), SavesPosition: true, Responses: botctx.Say("That is no day.")},
	}
}

// TestAccept_DoneAfterItsWriteBack ends the process after the write-back of a run and before its event is stored as
// done. If the event ran again, the node after the saved position would answer it, and the counter would count twice.
func TestAccept_DoneAfterItsWriteBack(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	isForgetting := false
	f.database = store.Wrap(f.database, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if isForgetting && call == (store.Call{Method: "update", Collection: "inbox"}) {
			isForgetting = false
			return ctx, nil, boterr.New(boterr.Unavailable, "", "the store is gone")
		}
		return ctx, nil, nil
	})
	nodes := booking()
	nodes[0].Post = botctx.Do(func(_ context.Context, bot *botctx.Context) error {
		isForgetting = true // The next write to the inbox stores that the event is done.
		bot.Member.Meta.Set("asked", document.Get(bot.Member.Meta, "asked", 0)+1)
		return nil
	})
	first := f.processOf(nodes...)
	require.NoError(t, first.Accept(t.Context(), fromAda("hi", "m1")))
	_, err := first.RunNextEvent(t.Context())
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(err))

	second := f.processOf(nodes...)
	require.NoError(t, second.Accept(t.Context(), fromAda("monday", "m2")))
	f.runAll(second)
	require.Equal(t, []string{"Which day?", "That is no day."}, f.sent.all())
	require.JSONEq(t, `{"asked": 1}`, f.ada().Meta.String())
}

// TestAccept_TriedAgainByTheNodeThatBegan runs an action that sets the position and then fails. The next attempt runs
// the same node, and not the node after the new position.
func TestAccept_TriedAgainByTheNodeThatBegan(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var asked, muted atomic.Int64
	moves := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.PatchMembers(ctx, member.PatchParams{
			MemberID: bot.Member.ID, WithModifier: true, Patch: document.Set("botMeta.nodeCompositeId", "ask"),
		})
		return err
	}
	failsOnce := func(context.Context, *botctx.Context) error {
		if asked.Add(1) == 1 {
			return boterr.New(boterr.Unavailable, "", "no answer")
		}
		return nil
	}
	counts := func(context.Context, *botctx.Context) error {
		muted.Add(1)
		return nil
	}
	nodes := booking()
	nodes[0].Post = botctx.Do(moves, failsOnce)
	nodes = append(nodes, &botctx.Node{ID: "count", Priority: -10, Global: botctx.GlobalInChannel, Trigger: botctx.AnyText(), Post: botctx.Do(counts)})
	process := f.processOf(nodes...)
	require.NoError(t, process.Accept(t.Context(), fromAda("hi", "m1")))
	f.runAll(process)
	require.Equal(t, []string{"Which day?"}, f.sent.all())
	require.Equal(t, []int64{2, 2}, []int64{asked.Load(), muted.Load()})
}

// TestAccept_TriedAgainWhereItsNodeIsGone replaces the nodes between two attempts.
func TestAccept_TriedAgainWhereItsNodeIsGone(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	fails := func(context.Context, *botctx.Context) error { return boterr.New(boterr.Unavailable, "", "no answer") }
	nodes := booking()
	nodes[0].Post = botctx.Do(fails)
	old := f.processOf(nodes...)
	require.NoError(t, old.Accept(t.Context(), fromAda("hi", "m1")))
	require.Error(t, f.runNext(old).Err)
	f.runAll(f.processOf(&botctx.Node{ID: "new", Trigger: botctx.AnyText(), Responses: botctx.Say("Hello.")}))
	require.Equal(t, []string{"Which day?", "Hello."}, f.sent.all())
}

func (f *fleet) processOf(nodes ...*botctx.Node) *botctx.Runtime {
	f.t.Helper()
	runtime := f.process(func(_ context.Context, bot *botctx.Context) error {
		f.t.Errorf("no node answers %s", bot.MessageEvent.Data)
		return nil
	})
	require.NoError(f.t, runtime.Handle(nodes...))
	return runtime
}

// runAll runs accepted events until no event is waiting.
func (f *fleet) runAll(by *botctx.Runtime) {
	f.t.Helper()
	for range 20 {
		next, isWaiting, err := by.NextEvent(f.t.Context())
		require.NoError(f.t, err)
		if !isWaiting {
			return
		}
		f.advance(max(0, next.Sub(f.clock())))
		f.runNext(by)
	}
	f.t.Fatal("something still waits")
}

func TestRedirect_LongIDIsCut(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	long := strings.Repeat("x", 100_000)
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.RedirectMemberToNode(ctx, botctx.RedirectMemberToNodeParams{MemberID: bot.Member.ID, NodeCompositeID: long, TreeID: long})
		return err
	})
	err := p.AddMember(member.Member{}).TrySays("go")
	require.ErrorIs(t, err, boterr.NotFound)
	require.Less(t, len(err.Error()), 2000)
}
