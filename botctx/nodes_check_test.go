package botctx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

// toMenu is a function that goes on at the menu.
func toMenu(context.Context, *botctx.Context) (*botctx.Redirect, error) { return botctx.GoTo("menu") }

func TestHandle_RefusesWhatLeadsNowhere(t *testing.T) {
	t.Parallel()
	elsewhere := func(tree, id string) botctx.Redirector {
		return botctx.Redirect{NodeCompositeID: id, TreeID: tree}.Always()
	}
	for name, test := range map[string]struct {
		node botctx.Node
		want string
	}{
		"a redirect": {
			botctx.Node{Redirect: botctx.To("menus")},
			`Redirect: the node new redirects to menus, but there is no node menus: check the id, or give the node to Handle: perhaps "menu" is meant`,
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
				`check the id, or give the node to Handle: perhaps "reminder" is meant`,
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
			`Redirect: the node new redirects to one of no nodes: name those to which its function may lead`,
		},
		"a redirect by a nil function": {
			botctx.Node{Redirect: botctx.RedirectFunc(nil)},
			`Redirect: the node new redirects by a function that is nil: leave Redirect out where the run ends`,
		},
		"a redirect by a nil function to one of several": {
			botctx.Node{Redirect: botctx.ToOneOf(nil, "menu")},
			`Redirect: the node new redirects by a function that is nil: leave Redirect out where the run ends`,
		},
		"options that do not exist": {
			botctx.Node{Redirect: botctx.Redirect{
				NodeCompositeID: "menu", Options: botctx.RedirectOptions{Unknown: document.O("sendResponses", false)},
			}.Always()},
			`Redirect.Options.sendResponses: is no option; there are runPreAction, sendResponse and runPostAction`,
		},
		"a trigger of a nil function": {
			botctx.Node{Trigger: botctx.AllOf(botctx.AnyText(), botctx.Not(botctx.When(nil)))},
			`Trigger: the node new has a trigger of which a part is nil`,
		},
		"a trigger of a nil pattern": {
			botctx.Node{Trigger: botctx.AnyOf(botctx.Described("a number", botctx.TextMatches(nil)))},
			`Trigger: the node new has a trigger of which a part is nil`,
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

// A tree may be given after what leads there, but then it has to have the node.
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
	require.ErrorContains(t, err, "node hello: redirect: invalid argument: nodeCompositeId: is menu, which the redirect does not name among its targets: "+
		"name it in ToOneOf, or give the function as a RedirectFunc")
	require.Empty(t, ada.Messages())
}

// broken is a Redirector and a Trigger that does not stand for being nil.
type broken struct{ node string }

func (b *broken) Next(context.Context, *botctx.Context) (*botctx.Redirect, error) {
	return botctx.GoTo(b.node)
}

func (b *broken) Targets() (targets []botctx.NodeRef, areKnown bool) {
	return botctx.Nodes(b.node), true
}

func (b *broken) Matches(context.Context, *botctx.Context) (bool, error) { return b.node != "", nil }

func (b *broken) String() string { return b.node }

func TestHandle_RedirectorThatPanics(t *testing.T) {
	t.Parallel()
	var none *broken
	runtime := newRuntime(t, botctx.Config{})
	err := runtime.Handle(&botctx.Node{ID: "menu", Redirect: none})
	require.Equal(t, boterr.Internal, boterr.CodeOf(err))
	require.NoError(t, runtime.Handle(&botctx.Node{ID: "menu"}), "nothing was added")
}

func TestGraphOf_TriggerThatPanics(t *testing.T) {
	t.Parallel()
	var none *broken
	graph, err := botctx.GraphOf(&botctx.Node{ID: "menu", Trigger: none})
	require.NoError(t, err)
	require.Equal(t, "*botctx_test.broken, whose String panics", graph.Nodes[0].Trigger)
}
