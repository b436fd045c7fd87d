package fakes_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func textNode(id, text string) *botctx.Node {
	return &botctx.Node{ID: id, Trigger: botctx.TextIs(text), Responses: []send.Response{send.Text(id)}}
}

// childNode returns a node that answers a text if its parent is the position.
func childNode(id, parent, text string) *botctx.Node {
	node := textNode(id, text)
	node.Parent = parent
	return node
}

// at returns a member whose position is a node.
func at(node string) member.Member {
	ada := member.Member{FirstName: "Ada"}
	ada.BotMeta.SetPosition(node, "")
	return ada
}

// choices returns the answers in the transcript, without times.
func choices(p *fakes.Platform) []string {
	var found []string
	for line := range strings.Lines(p.Transcript()) {
		_, said, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if strings.Contains(said, "answers: ") || strings.Contains(said, "takes it") {
			found = append(found, said)
		}
	}
	return found
}

func savingPosition(node *botctx.Node) *botctx.Node {
	node.SavesPosition = true
	return node
}

func TestTranscript_WhatAnswers(t *testing.T) {
	t.Parallel()
	anywhere := textNode("help", "help")
	anywhere.Global = botctx.GlobalInChannel
	inTree := childNode("back", "more", "back")
	inTree.Global = botctx.GlobalInTree
	fallback := textNode("pardon", "?")
	fallback.Trigger, fallback.Priority = botctx.AnyText(), botctx.FallbackPriority
	mute := textNode("log", "")
	mute.Trigger, mute.Priority = botctx.AnyText(), botctx.MutePriority
	for name, c := range map[string]struct {
		nodes []*botctx.Node
		who   member.Member
		want  []string
	}{
		"a head node": {
			[]*botctx.Node{textNode("hello", "hi")},
			member.Member{},
			[]string{`node hello answers: head, no position`},
		},
		"a child": {
			[]*botctx.Node{textNode("menu", "menu"), childNode("answer", "menu", "hi")},
			at("menu"),
			[]string{`node answer answers: child, position "menu"`},
		},
		"after others that refused": {
			[]*botctx.Node{textNode("buy", "buy"), fallback},
			member.Member{},
			[]string{`node pardon answers: head, no position; before it buy (trigger did not match)`},
		},
		"a mute node, and then none": {
			[]*botctx.Node{mute, textNode("buy", "buy")},
			member.Member{},
			[]string{
				`mute node log answers: head, no position`,
				`nothing answers: no position - heads: log (answered), buy (trigger did not match)`,
			},
		},
		"none, since no node saves its position": {
			[]*botctx.Node{textNode("ask", "start"), childNode("answer", "ask", "hi")},
			member.Member{},
			[]string{`nothing answers: no position - heads: ask (trigger did not match); "answer" needs the position "ask", which no node saves`},
		},
		"none, where a child waits for its parent": {
			[]*botctx.Node{savingPosition(textNode("ask", "start")), childNode("answer", "ask", "hi")},
			member.Member{},
			[]string{`nothing answers: no position - heads: ask (trigger did not match); "answer" needs the position "ask"`},
		},
		"none, each by its rule": {
			[]*botctx.Node{
				textNode("menu", "menu"), childNode("more", "menu", "more"), inTree, anywhere, {ID: "reminder"},
			},
			at("menu"),
			[]string{`nothing answers: position "menu" - children: more (trigger did not match); ` +
				`global in the tree: back (trigger did not match); global in the channel: help (trigger did not match); ` +
				`"menu" is a head node, for a member without a position; "reminder" has no trigger: redirects and agendas run it`},
		},
		"none, at a position that is no more": {
			[]*botctx.Node{textNode("menu", "menu")},
			at("gone"),
			[]string{`nothing answers: position "gone" (no such node: as a new member) - heads: menu (trigger did not match)`},
		},
		"none, since nodes have no triggers": {
			[]*botctx.Node{{ID: "menu"}},
			member.Member{},
			[]string{`nothing answers: no position - no candidates among the trees of the channel; "menu" has no trigger: redirects and agendas run it`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes.New(fakes.For(t))
			p.Handle(c.nodes...)
			p.AddMember(c.who).Says("hi")
			require.Equal(t, c.want, choices(p))
		})
	}
}

func TestTranscript_NothingAnswersInALiveChat(t *testing.T) {
	t.Parallel()
	chats := fakes.NewLiveChats(fakes.For(t))
	p := chats.Platform
	p.Handle(textNode("hello", "hi"))
	must(t, chats.CreateAssignment, livechat.CreateAssignmentParams{})
	chats.Agent.Takes(chats.Agent.Ticket())
	chats.Member.Says("hi")
	require.True(t, p.Choices()[len(p.Choices())-1].IsInLiveChat)
	require.Contains(t, choices(p), `the live chat takes it; no node answers: no position - no candidates among the live-chat tree; `+
		`"hello" is in the tree "", which is none of the live-chat tree`)
}

func TestTranscript_ClosedChannel(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(textNode("hello", "hi"))
	ada := p.AddMember(member.Member{})
	p.SwitchChannel(ada.Scope().Channel, false)
	ada.Says("hi")
	require.Equal(t, []string{
		`nothing answers: no position - no candidates among the off trees, since the channel is not On; "hello" is in the tree "", which is none of the off trees`,
	}, choices(p))
}

func TestTranscript_HandleFuncIsNamed(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(claim)
	ada := p.AddMember(member.Member{})
	ada.Says("hi")
	p.Handle(textNode("ask", "start"))
	ada.Says("hi")
	require.Equal(t, []string{
		"HandleFunc answers: fakes_test.claim",
		`HandleFunc answers: fakes_test.claim; no node does: no position - heads: ask (trigger did not match)`,
	}, choices(p))
}

func TestTranscript_LongListsAreCut(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	for id := range strings.SplitSeq("abcdefghijklmnopqrst", "") {
		p.Handle(textNode(id, id))
	}
	p.AddMember(member.Member{}).Says("hi")
	require.Len(t, choices(p), 1)
	require.Contains(t, choices(p)[0], "h (trigger did not match) and 12 more")
}

func TestConfig_OnChoiceOfTheTest(t *testing.T) {
	t.Parallel()
	var chosen []botctx.Choice
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.OnChoice = func(_ context.Context, choice botctx.Choice) { chosen = append(chosen, choice) }
	}))
	p.Handle(textNode("hello", "hi"), textNode("bye", "bye"))
	ada := p.AddMember(member.Member{})
	ada.Says("hi")
	require.Equal(t, []botctx.Choice{{
		Scope: ada.Scope(), Answer: botctx.AnswerNode, Node: botctx.NodeRef{CompositeID: "hello"}, Serving: "the trees of the channel",
		Candidates: []botctx.Candidate{
			{Node: botctx.NodeRef{CompositeID: "hello"}, Rule: botctx.RuleHead, Why: "answered"},
			{Node: botctx.NodeRef{CompositeID: "bye"}, Rule: botctx.RuleHead, Why: "was not asked, because another node had answered"},
		},
	}}, chosen)
	require.Len(t, choices(p), 1)
}

// transcriptOfFailed returns the transcript printed when a test fails.
func transcriptOfFailed(test func(p *fakes.Platform)) string {
	var tb recordedTB
	tb.run(func(p *fakes.Platform) {
		test(p)
		tb.Fatalf("the test fails")
	})
	return strings.Join(tb.logged, "\n")
}

func fetched(bot *botctx.Context, dataSourceID string) {
	_, _ = bot.FetchDataFromDataSource(context.Background(), datasource.FetchParams{DataSourceID: dataSourceID})
}

func TestTranscriptOfFailedTest_ReadsTellWhatTheyFound(t *testing.T) {
	t.Parallel()
	printed := transcriptOfFailed(func(p *fakes.Platform) {
		p.AddData("coupons", document.O("code", "A"), document.O("code", "B"))
		bot := p.AddMember(member.Member{}).Context()
		fetched(bot, "coupons")
		_, _ = bot.CountDataSource(context.Background(), datasource.CountParams{CollectionName: "coupons"})
		_, _ = bot.GetMember(context.Background(), member.GetParams{MemberID: bot.Member.ID})
		_, _ = bot.FetchDataFromDataSource(context.Background(), datasource.FetchParams{
			DataSourceID: "coupons", Filter: document.O("code", "C"),
		})
		require.NotContains(t, p.Transcript(), "fetchDataFromDataSource", "a golden transcript has what happened alone")
	})
	for _, line := range []string{
		`fetchDataFromDataSource {"dataSourceId":"coupons"} -> 2 found` + "\n",
		`countDataSource {"collectionName":"coupons"} -> 2 found` + "\n",
		`getMember {"memberId":"member-1"} -> 1 found` + "\n",
		`fetchDataFromDataSource {"dataSourceId":"coupons","filter":{"code":"C"}} -> 0 found` + "\n",
	} {
		require.Contains(t, printed, line)
	}
}

func TestTranscript_DataSourceOfAFork(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddData("coupon")
	p.HandleFunc(claim)
	ada := p.AddMember(member.Member{})
	fork := p.Fork()
	ada.In(fork).Says("coupon")
	require.Contains(t, fork.Transcript(), `(the data source "coupons" was never added; did you mean "coupon"?)`)
}

func TestTranscript_DataSourceThatIsKnown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(p *fakes.Platform){
		"added without entries": func(p *fakes.Platform) {
			p.AddData("coupons")
			fetched(p.Operations(botctx.Scope{}), "coupons")
		},
		"emptied by the bot": func(p *fakes.Platform) {
			p.AddData("coupons", document.O("code", "A"))
			bot := p.Operations(botctx.Scope{})
			_, _ = bot.FindAndModifyDataFromDataSource(context.Background(), datasource.FindAndModifyParams{
				DataSourceID: "coupons", Filter: document.O("code", "B"), Patch: document.Set("code", "C"),
			})
		},
		"added by the bot": func(p *fakes.Platform) {
			bot := p.Operations(botctx.Scope{})
			_, _ = bot.UpsertDataToDataSource(context.Background(), datasource.UpsertParams{
				DataSourceID: "coupons", Data: document.One(document.O("code", "A")),
			})
			_, _ = bot.PatchDataToDataSource(context.Background(), datasource.PatchParams{
				DataSourceID: "coupons", Filter: document.O("code", "B"), Patch: document.Set("code", "C"),
			})
		},
	} {
		require.NotContains(t, transcriptOfFailed(test), "never added", name)
	}
}

// panicsInside panics two calls below an action.
func panicsInside() { panic("no tea today") }

func TestPanic_ShowsTheFramesOfTheUsersCode(t *testing.T) {
	t.Parallel()
	brew := func(context.Context, *botctx.Context) error { panicsInside(); return nil }
	for name, test := range map[string]func(p *fakes.Platform){
		"of a run": func(p *fakes.Platform) {
			p.HandleFunc(brew)
			p.AddMember(member.Member{}).Says("tea")
		},
		"of an agenda": func(p *fakes.Platform) {
			p.Handle(&botctx.Node{ID: "tea", Pre: []botctx.Action{brew}})
			plan(t, p.AddMember(member.Member{}).Context(), "tea", p.Now().Add(time.Hour), 0)
			p.Advance(2 * time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tb recordedTB
			tb.run(test)
			require.Len(t, tb.failures, 1)
			for _, shown := range []string{tb.failures[0], strings.Join(tb.logged, "\n")} {
				require.Regexp(t, `panic: no tea today
    at fakes_test\.panicsInside \(why_test\.go:\d+\)
    at fakes_test\.TestPanic_ShowsTheFramesOfTheUsersCode\.func1 \(why_test\.go:\d+\)\n?`, shown)
				require.NotContains(t, shown, "perform.go")
			}
		})
	}
}

func TestRunError_NamesHandleFunc(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(claim)
	p.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Conflict))
	err := p.AddMember(member.Member{}).TrySays("coupon")
	require.ErrorContains(t, err, "HandleFunc (fakes_test.claim): ")
}

func TestRunError_NodeThatIsMisspelt(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"menus":    `there is no node menus: check the id, or give the node to Handle: did you mean "menu"?`,
		"checkout": `there is no node checkout: check the id, or give the node to Handle`,
	} {
		p := fakes.New(fakes.For(t))
		hello := textNode("hello", "hi")
		hello.Redirect = botctx.RedirectFunc(func(context.Context, *botctx.Context) (*botctx.Redirect, error) { return botctx.GoTo(id) })
		p.Handle(hello, textNode("menu", "menu"))
		err := p.AddMember(member.Member{}).TrySays("hi")
		require.ErrorIs(t, err, boterr.NotFound)
		require.Regexp(t, regexp.QuoteMeta(want)+"$", err.Error())
	}
}

func TestTranscriptOfFailedTest_WarningsOfNodes(t *testing.T) {
	t.Parallel()
	printed := transcriptOfFailed(func(p *fakes.Platform) {
		p.Handle(textNode("ask", "start"), childNode("answer", "ask", "hi"), &botctx.Node{ID: "reminder"})
		ada := p.AddMember(member.Member{})
		ada.Says("start")
		require.NotContains(t, p.Transcript(), "warning", "a golden transcript has what happened alone")
	})
	for _, line := range []string{
		"warning: the node ask never saves the position, so that its children are never asked: answer; set SavesPosition,",
		"warning: nothing leads to the node reminder: it has no Trigger,",
	} {
		require.Contains(t, printed, line)
	}
}
