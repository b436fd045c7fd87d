package botctx_test

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// says returns an action that replies with a text.
func says(text string) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text(text)) }
}

// fails returns an action that fails.
func fails(err error) botctx.Action {
	return func(context.Context, *botctx.Context) error { return err }
}

// sets returns an action that sets a path in the meta of the member in flight.
func sets(path string, value any) botctx.Action {
	return func(_ context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set(path, value)
		return nil
	}
}

// texts returns the texts that an actor or an agent was sent, one on each line.
func texts(a interface{ Messages() []send.Response }) string {
	var lines []string
	for _, message := range a.Messages() {
		lines = append(lines, message.Text())
	}
	return strings.Join(lines, "\n")
}

// withNodes returns a platform with nodes, and a member on it.
func withNodes(t *testing.T, nodes ...*botctx.Node) (*fakes.Platform, *fakes.Actor) {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.Handle(nodes...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	return p, ada
}

func TestNode_Order(t *testing.T) {
	t.Parallel()
	_, ada := withNodes(
		t,
		&botctx.Node{
			ID: "order", Trigger: botctx.TextIs("order"),
			Pre:       []botctx.Action{says("pre 1"), says("pre 2")},
			Responses: []send.Response{send.Text("response 1"), send.Text("response 2")},
			Post:      []botctx.Action{says("post 1"), says("post 2")},
			Redirect:  botctx.To("thanks"),
		},
		&botctx.Node{ID: "thanks", Responses: []send.Response{send.Template("Thanks, {{firstName}}.")}},
	)
	ada.Says("order")
	require.Equal(t, "pre 1\npre 2\nresponse 1\nresponse 2\npost 1\npost 2\nThanks, Ada.", texts(ada))
}

func TestNode_FilledResponse(t *testing.T) {
	t.Parallel()
	_, ada := withNodes(t, &botctx.Node{
		ID: "order", Trigger: botctx.AnyText(),
		Pre:       []botctx.Action{sets("order.drink", "tea")},
		Responses: []send.Response{send.Template("One {{meta.order.drink}}.")},
	})
	ada.Says("order")
	require.Equal(t, "One tea.", ada.Last())
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
			botctx.Node{Responses: []send.Response{send.Text("one"), send.Text("")}, Post: []botctx.Action{says("two")}},
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

func TestNode_ErrorNoWriteBack(t *testing.T) {
	t.Parallel()
	_, ada := withNodes(t, &botctx.Node{
		ID: "order", Trigger: botctx.AnyText(), SavesPosition: true,
		Pre: []botctx.Action{sets("drink", "tea")}, Redirect: botctx.To("broken"),
	}, &botctx.Node{ID: "broken", Pre: []botctx.Action{fails(boterr.Conflict)}})
	require.ErrorIs(t, ada.TrySays("order"), boterr.Conflict)
	require.JSONEq(t, "{}", ada.Member().Meta.String())
	require.Empty(t, ada.Member().BotMeta.NodeCompositeID())
}

func TestNode_Values(t *testing.T) {
	t.Parallel()
	_, ada := withNodes(t, &botctx.Node{
		ID: "order", Trigger: botctx.AnyText(),
		Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
			bot.Values["drink"] = "tea"
			return nil
		}},
		Redirect: botctx.To("thanks"),
	}, &botctx.Node{ID: "thanks", Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
		return bot.Reply(ctx, send.Text("Enjoy your "+bot.Values["drink"].(string)))
	}}})
	ada.Says("order")
	require.Equal(t, "Enjoy your tea", ada.Last())
}

func TestNode_Context(t *testing.T) {
	t.Parallel()
	var seen []botctx.NodeRef
	look := func(_ context.Context, bot *botctx.Context) error {
		seen = append(seen, bot.Node)
		return nil
	}
	_, ada := withNodes(
		t,
		&botctx.Node{ID: "order", Tree: "shop", Trigger: botctx.AnyText(), Pre: []botctx.Action{look}, Redirect: botctx.To("thanks")},
		&botctx.Node{ID: "thanks", Tree: "shop", Pre: []botctx.Action{look}},
	)
	ada.Says("order")
	require.Equal(t, []botctx.NodeRef{{CompositeID: "order", Tree: "shop"}, {CompositeID: "thanks", Tree: "shop"}}, seen)
}

func TestNode_ComputedRedirect(t *testing.T) {
	t.Parallel()
	byHour := func(_ context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
		if bot.Now().Hour() < 8 {
			return &botctx.Redirect{NodeCompositeID: "closed", Meta: document.O("opens", "8:00")}, nil
		}
		return &botctx.Redirect{NodeCompositeID: "menu"}, nil
	}
	p, ada := withNodes(
		t,
		&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Redirect: botctx.ToOneOf(byHour, "closed", "menu")},
		&botctx.Node{ID: "menu", Responses: []send.Response{send.Text("What would you like?")}},
		&botctx.Node{ID: "closed", Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
			return bot.Reply(ctx, send.Text("We open at "+document.Get(bot.AgendaMeta, "opens", "")))
		}}},
	)
	ada.Says("hi")
	require.Equal(t, "We open at 8:00", ada.Last())
	p.Advance(9 * time.Hour)
	ada.Says("hi")
	require.Equal(t, "What would you like?", ada.Last())
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
