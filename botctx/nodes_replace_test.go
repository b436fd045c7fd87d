package botctx_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
)

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
