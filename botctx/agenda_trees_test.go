package botctx_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

// inTrees are nodes of the unnamed tree and two others. Each notes that it ran.
func inTrees() []*botctx.Node {
	noting := func(id, tree string) *botctx.Node {
		return &botctx.Node{ID: id, Tree: tree, Entry: true, Pre: botctx.Do(func(_ context.Context, bot *botctx.Context) error {
			bot.Member.Meta.Set("ran", bot.Node.String())
			return nil
		})}
	}
	planning := func(id, tree, planned string) *botctx.Node {
		return &botctx.Node{ID: id, Tree: tree, Trigger: botctx.TextIs(id), Global: botctx.GlobalInChannel, Pre: botctx.Do(
			func(ctx context.Context, bot *botctx.Context) error {
				_, err := bot.NewAgenda(ctx, soon(bot.Member.ID, planned))
				return err
			},
		)}
	}
	return []*botctx.Node{
		noting("reminder", ""), noting("reminder", "survey"), noting("menu", ""), noting("result", "survey"),
		noting("answer", "shop"), noting("answer", "survey"),
		planning("plan", "survey", "reminder"), planning("command", "commands", "answer"),
	}
}

// soon returns an agenda for a node in a minute.
func soon(memberID, node string) agenda.NewParams {
	return agenda.NewParams{
		MemberID: memberID, NodeCompositeID: node, Tag: "soon", NextRunAt: document.TimestampOf(fakes.Start().Add(time.Minute)),
	}
}

func newInTrees(t *testing.T) (*fakes.Platform, *fakes.Actor) {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.Handle(inTrees()...)
	ada := p.AddMember(member.Member{})
	return p, ada
}

func TestAgenda_StaysInTheUnnamedTree(t *testing.T) {
	t.Parallel()
	p, ada := newInTrees(t)
	_, err := ada.Context().NewAgenda(t.Context(), soon(ada.ID(), "reminder"))
	require.NoError(t, err)
	ada.SetPosition("result")
	p.Advance(time.Minute)
	require.Equal(t, "reminder", document.Get(ada.Member().Meta, "ran", ""))
}

func TestNewAgenda_TreeOfTheCurrentNode(t *testing.T) {
	t.Parallel()
	p, ada := newInTrees(t)
	ada.Says("plan")
	p.Advance(time.Minute)
	require.Equal(t, "reminder (tree survey)", document.Get(ada.Member().Meta, "ran", ""))
}

func TestNewAgenda_TreeOfTheMember(t *testing.T) {
	t.Parallel()
	p, ada := newInTrees(t)
	ada.SetPosition("result")
	ada.Says("command")
	p.Advance(time.Minute)
	require.Equal(t, "answer (tree survey)", document.Get(ada.Member().Meta, "ran", ""))
}

func TestNewAgenda_NodeOfSeveralTrees(t *testing.T) {
	t.Parallel()
	_, ada := newInTrees(t)
	_, err := ada.Context().NewAgenda(t.Context(), soon(ada.ID(), "answer"))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, `treeId: is missing: several trees have a node answer: "shop", "survey"`)
	require.Empty(t, ada.Agendas())
}

func TestUpdateAgenda_NodeThatTheTreeLacks(t *testing.T) {
	t.Parallel()
	for field, params := range map[string]agenda.UpdateParams{
		"nodeCompositeId": {NodeCompositeID: "menu"},
		"treeId":          {TreeID: "shop"},
	} {
		_, ada := newInTrees(t)
		ada.AddAgenda(soon("", "result"))
		before := ada.Agendas()
		params.MemberID = ada.ID()
		_, err := ada.Context().UpdateAgenda(t.Context(), params)
		require.ErrorIs(t, err, boterr.NotFound, field)
		e, _ := boterr.AsError(err)
		require.Equal(t, field, e.Field)
		require.Equal(t, before, ada.Agendas(), field)
	}
}
