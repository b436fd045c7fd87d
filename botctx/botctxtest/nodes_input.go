package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

var redirectInputRules = []Rule{
	{
		Name:  "RedirectFindsNoOthers",
		Text:  "a node, tree, member or channel that does not exist, or is of another app, is NotFound, and the error names it",
		check: redirectFindsNoOthers,
	},
	{
		Name:  "RedirectRefusesBadInput",
		Text:  "bad input of redirectMemberToNode is InvalidArgument with the name of the parameter, and runs nothing",
		check: redirectRefusesBadInput,
	},
}

func redirectFindsNoOthers(t *trial) {
	var ran journal
	node, gone := unique("node"), unique("gone")
	t.Handle(&botctx.Node{ID: node, Pre: []botctx.Action{ran.note("ran")}})
	type params = botctx.RedirectMemberToNodeParams
	for name, c := range map[string]struct {
		params       params
		field, names string
	}{
		"no such node":            {params{NodeCompositeID: gone}, "nodeCompositeId", gone},
		"no such tree":            {params{NodeCompositeID: node, TreeID: gone}, "nodeCompositeId", gone},
		"nobody":                  {params{NodeCompositeID: node, MemberID: gone}, "memberId", gone},
		"no such channel":         {params{NodeCompositeID: node, ChannelID: gone}, "channelId", gone},
		"a member of another app": {params{NodeCompositeID: node, MemberID: t.away.scope.Member}, "memberId", t.away.scope.Member},
	} {
		t.try(name, func(t *trial) {
			if c.params.MemberID == "" {
				c.params.MemberID = t.home.scope.Member
			}
			before := t.state()
			result, err := t.home.RedirectMemberToNode(t.ctx(), c.params)
			t.requireError(botctx.OpRedirectMemberToNode, boterr.NotFound, c.field, err)
			require.ErrorContains(t, err, c.names)
			require.Zero(t, result)
			require.Equal(t, before, t.state())
			require.Empty(t, ran.read())
		})
	}
}

func redirectRefusesBadInput(t *trial) {
	type params = botctx.RedirectMemberToNodeParams
	var ran journal
	node := unique("node")
	t.Handle(&botctx.Node{ID: node, Pre: []botctx.Action{ran.note("ran")}})
	id := t.home.scope.Member
	elsewhere := t.newMember(member.Member{App: t.home.scope.App, Channel: t.newChannel(t.home.scope.App).ID})
	requireRefused(t, botctx.OpRedirectMemberToNode, t.home.RedirectMemberToNode, []badInput[params]{
		{"no memberId", params{NodeCompositeID: node}, "memberId"},
		{"no nodeCompositeId", params{MemberID: id}, "nodeCompositeId"},
		{"a member of another channel", params{MemberID: elsewhere.ID, NodeCompositeID: node}, "channelId"},
		{"another channel than the member's", params{MemberID: id, ChannelID: elsewhere.Channel, NodeCompositeID: node}, "channelId"},
		{"an option that does not exist", params{MemberID: id, NodeCompositeID: node, RedirectOptions: botctx.RedirectOptions{
			Unknown: document.O("runPreActions", false),
		}}, "redirectOptions"},
		{"a meta of what is no value", params{MemberID: id, NodeCompositeID: node, Meta: document.O("x", make(chan int))}, "meta"},
	})
	require.Empty(t, ran.read())
}
