package botctxtest

import (
	"context"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var nodeRules = needing([]Capability{handleNodes}, []Rule{
	rule(redirectMemberToNodeTellsWhatEachNodeSent,
		"redirectMemberToNode returns one result for each node, the node itself first, with one for each of its responses"),
	rule(redirectMemberToNodeRunsThePartsInOrder,
		"a node runs its pre-actions, then its responses, then its post-actions, and then the node that it redirects to", readSent),
	rule(redirectMemberToNodeOptionsAreTrueByDefault,
		"runPreAction, sendResponse and runPostAction are true by default, and false leaves out that part of the node alone"),
	rule(redirectMemberToNodeGivesMeta, "the AgendaMeta of the node is the meta of the redirect, and {} by default"),
	rule(redirectMemberToNodeTakesTheTree,
		"if several trees have the node, redirectMemberToNode runs the node in the given tree, which the context shows"),
	rule(redirectMemberToNodeIsForAnyMemberOfTheChannel, "the node runs for the given member, in that member's channel"),
	rule(redirectMemberToNodeWritesBack, "when redirectMemberToNode returns, the run's changes to the member are stored"),
	rule(redirectMemberToNodeWritesNothingBackWhereItFails,
		"if an action fails, redirectMemberToNode returns an error, the rest does not run, and nothing is written back"),
	rule(redirectMemberToNodeStopsEndlessRedirects, "endless redirects are ResourceExhausted"),
})

// journal holds the notes that nodes wrote, in order.
type journal struct {
	mu    sync.Mutex
	notes []string
}

func (j *journal) note(text string) botctx.Action {
	return func(context.Context, *botctx.Context) error {
		j.add(text)
		return nil
	}
}

func (j *journal) add(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.notes = append(j.notes, text)
}

// read returns the notes and clears the journal.
func (j *journal) read() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	notes := j.notes
	j.notes = nil
	return append([]string{}, notes...)
}

func (t *trial) redirect(p botctx.RedirectMemberToNodeParams) botctx.RedirectMemberToNodeResult {
	t.Helper()
	if p.MemberID == "" {
		p.MemberID = t.home.scope.Member
	}
	return must(t, t.home.RedirectMemberToNode, p)
}

func redirectMemberToNodeTellsWhatEachNodeSent(t *trial) {
	first, second, third := unique("node"), unique("node"), unique("node")
	t.Handle(
		&botctx.Node{ID: first, Responses: []send.Response{send.Text("one"), send.Text("two")}, Redirect: botctx.To(second)},
		&botctx.Node{ID: second, Redirect: botctx.To(third)},
		&botctx.Node{ID: third, Responses: []send.Response{send.Text("three")}},
	)
	result := t.redirect(botctx.RedirectMemberToNodeParams{NodeCompositeID: first, ChannelID: t.home.scope.Channel})
	require.EqualValues(t, 1, result.OK)
	require.Equal(t, t.home.scope.Member, result.Member)
	require.Len(t, result.SendResults, 3)
	for i, responses := range []int{2, 0, 1} {
		require.EqualValues(t, 1, result.SendResults[i].OK)
		require.Equal(t, t.home.scope.Member, result.SendResults[i].Member)
		require.NotNil(t, result.SendResults[i].Result)
		require.Len(t, result.SendResults[i].Result, responses)
	}
}

func redirectMemberToNodeRunsThePartsInOrder(t *trial) {
	say := func(text string) botctx.Action {
		return func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text(text)) }
	}
	first, second := unique("node"), unique("node")
	t.Handle(
		&botctx.Node{
			ID: first, Pre: []botctx.Action{say("1"), say("2")}, Responses: []send.Response{send.Text("3"), send.Text("4")},
			Post: []botctx.Action{say("5"), say("6")}, Redirect: botctx.To(second),
		},
		&botctx.Node{ID: second, Pre: []botctx.Action{say("7")}, Responses: []send.Response{send.Text("8")}},
	)
	before := len(t.Sent())
	t.redirect(botctx.RedirectMemberToNodeParams{NodeCompositeID: first})
	texts := []string{}
	for _, sent := range t.Sent()[before:] {
		require.Equal(t, t.home.member.ExternalID, sent.To)
		texts = append(texts, sent.Response.Text())
	}
	require.Equal(t, []string{"1", "2", "3", "4", "5", "6", "7", "8"}, texts)
}

func redirectMemberToNodeOptionsAreTrueByDefault(t *trial) {
	var ran journal
	first, second := unique("node"), unique("node")
	t.Handle(
		&botctx.Node{
			ID: first, Pre: []botctx.Action{ran.note("pre")}, Responses: []send.Response{send.Text("response")},
			Post: []botctx.Action{ran.note("post")}, Redirect: botctx.To(second),
		},
		&botctx.Node{ID: second, Pre: []botctx.Action{ran.note("then")}},
	)
	for name, c := range map[string]struct {
		options   botctx.RedirectOptions
		notes     []string
		responses int
	}{
		"by default":      {botctx.RedirectOptions{}, []string{"pre", "post", "then"}, 1},
		"no pre-actions":  {botctx.RedirectOptions{RunPreAction: new(false)}, []string{"post", "then"}, 1},
		"no responses":    {botctx.RedirectOptions{SendResponse: new(false)}, []string{"pre", "post", "then"}, 0},
		"no post-actions": {botctx.RedirectOptions{RunPostAction: new(false)}, []string{"pre", "then"}, 1},
	} {
		t.try(name, func(t *trial) {
			ran.read()
			result := t.redirect(botctx.RedirectMemberToNodeParams{NodeCompositeID: first, RedirectOptions: c.options})
			require.Equal(t, c.notes, ran.read())
			require.Len(t, result.SendResults, 2)
			require.Len(t, result.SendResults[0].Result, c.responses)
		})
	}
}

func redirectMemberToNodeGivesMeta(t *trial) {
	var seen journal
	node := unique("node")
	t.Handle(&botctx.Node{ID: node, Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
		seen.add(bot.AgendaMeta.String())
		return nil
	}}})
	meta := document.O("order", document.O("$id", "{{firstName}}"))
	t.redirect(botctx.RedirectMemberToNodeParams{NodeCompositeID: node, Meta: meta})
	t.redirect(botctx.RedirectMemberToNodeParams{NodeCompositeID: node})
	require.Equal(t, []string{meta.String(), "{}"}, seen.read())
}

func redirectMemberToNodeTakesTheTree(t *trial) {
	var ran journal
	node, oak, elm := unique("node"), unique("tree"), unique("tree")
	shown := func(_ context.Context, bot *botctx.Context) error {
		ran.add(bot.Node.Tree + " " + bot.Node.CompositeID)
		return nil
	}
	t.Handle(
		&botctx.Node{ID: node, Tree: oak, Pre: []botctx.Action{ran.note("oak"), shown}},
		&botctx.Node{ID: node, Tree: elm, Pre: []botctx.Action{ran.note("elm"), shown}},
	)
	t.redirect(botctx.RedirectMemberToNodeParams{NodeCompositeID: node, TreeID: elm})
	t.redirect(botctx.RedirectMemberToNodeParams{NodeCompositeID: node, TreeID: oak})
	require.Equal(t, []string{"elm", elm + " " + node, "oak", oak + " " + node}, ran.read())
}

func redirectMemberToNodeIsForAnyMemberOfTheChannel(t *trial) {
	var ran journal
	node := unique("node")
	t.Handle(&botctx.Node{ID: node, Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
		ran.add(bot.Member.ID + " " + bot.Channel.ID)
		return nil
	}}})
	m := t.neighbour(member.Member{})
	elsewhere := t.newMember(member.Member{App: m.App, Channel: t.newChannel(m.App).ID})
	require.Equal(t, m.ID, t.redirect(botctx.RedirectMemberToNodeParams{MemberID: m.ID, NodeCompositeID: node}).Member)
	t.redirect(botctx.RedirectMemberToNodeParams{MemberID: elsewhere.ID, ChannelID: elsewhere.Channel, NodeCompositeID: node})
	require.Equal(t, []string{m.ID + " " + m.Channel, elsewhere.ID + " " + elsewhere.Channel}, ran.read())
}

func sets(field string) botctx.Action {
	return func(_ context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set(field, true)
		return nil
	}
}

func redirectMemberToNodeWritesBack(t *trial) {
	first, second := unique("node"), unique("node")
	t.Handle(
		&botctx.Node{ID: first, Pre: []botctx.Action{sets("first")}, Redirect: botctx.To(second)},
		&botctx.Node{ID: second, Post: []botctx.Action{sets("second")}},
	)
	m := t.neighbour(member.Member{Meta: document.O("kept", 1)})
	t.redirect(botctx.RedirectMemberToNodeParams{MemberID: m.ID, NodeCompositeID: first})
	require.JSONEq(t, `{"kept": 1, "first": true, "second": true}`, t.load(m).Meta.String())
	require.Equal(t, "{}", t.load(t.home.member).Meta.String(), "another member")
}

func redirectMemberToNodeWritesNothingBackWhereItFails(t *trial) {
	var ran journal
	node := unique("node")
	t.Handle(&botctx.Node{
		ID: node, Post: []botctx.Action{ran.note("post")},
		Pre: []botctx.Action{sets("first"), func(context.Context, *botctx.Context) error {
			return boterr.New(boterr.Conflict, "", "the coupon has been used")
		}, ran.note("pre")},
	})
	before := t.state()
	result, err := t.home.RedirectMemberToNode(t.Context(), botctx.RedirectMemberToNodeParams{
		MemberID: t.home.scope.Member, NodeCompositeID: node,
	})
	t.requireCode(boterr.Conflict, err)
	require.Zero(t, result)
	require.Equal(t, before, t.state())
	require.Empty(t, ran.read())
}

func redirectMemberToNodeStopsEndlessRedirects(t *trial) {
	ping, pong := unique("ping"), unique("pong")
	t.Handle(&botctx.Node{ID: ping, Redirect: botctx.To(pong)}, &botctx.Node{ID: pong, Redirect: botctx.To(ping)})
	result, err := t.home.RedirectMemberToNode(t.Context(), botctx.RedirectMemberToNodeParams{
		MemberID: t.home.scope.Member, NodeCompositeID: ping,
	})
	t.requireCode(boterr.ResourceExhausted, err)
	require.ErrorContains(t, err, ping, "the error shows the path")
	require.ErrorContains(t, err, pong, "the error shows the path")
	require.Zero(t, result)
}
