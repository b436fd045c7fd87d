package botctx_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// answering returns a node of a tree that answers every text with its id.
func answering(id, tree string, change ...func(*botctx.Node)) *botctx.Node {
	node := &botctx.Node{ID: id, Tree: tree, Trigger: botctx.AnyText(), Responses: []send.Response{send.Text(id)}}
	for _, alter := range change {
		alter(node)
	}
	return node
}

func below(parent string) func(*botctx.Node) { return func(n *botctx.Node) { n.Parent = parent } }

func priority(number int) func(*botctx.Node) { return func(n *botctx.Node) { n.Priority = number } }

func on(text string) func(*botctx.Node) {
	return func(n *botctx.Node) { n.Trigger = botctx.TextIs(text) }
}

func global(where botctx.Global) func(*botctx.Node) { return func(n *botctx.Node) { n.Global = where } }

// at returns a member with a position.
func at(node, tree string) member.Member {
	var m member.Member
	m.BotMeta.SetPosition(node, tree)
	return m
}

// choosing returns a platform with the nodes of three trees and a live-chat tree, and the id of its only channel.
func choosing(t *testing.T, flow botctx.Flow, groups ...channel.PriorityGroup) (*fakes.Platform, string) {
	t.Helper()
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.Flow = flow }))
	p.Handle(
		answering("shop", "shop"),
		answering("shop child", "shop", below("shop")),
		answering("shop grandchild", "shop", below("shop child")),
		answering("shop help", "shop", below("shop"), global(botctx.GlobalInTree), on("help")),
		answering("music", "music", on("music")),
		answering("stop", "music", below("music"), global(botctx.GlobalInChannel), on("stop")),
		answering("night", "night"),
		answering("night stop", "night", below("night"), on("stop")),
		answering("agent", "live"),
	)
	return p, p.AddChannel(channel.Channel{PriorityGroups: groups}).ID
}

func nodeFor(t *testing.T, p *fakes.Platform, who member.Member, channelID, text string) string {
	t.Helper()
	who.Channel = channelID
	actor := p.AddMember(who)
	actor.Says(text)
	return texts(actor)
}

func TestFlow_Position(t *testing.T) {
	t.Parallel()
	liveChat := member.Member{}
	liveChat.BotMeta.Set("liveChat", true)
	live := botctx.Flow{LiveChatTree: func(*botctx.Context) string { return "live" }}
	closed := botctx.Flow{IsOpen: func(context.Context, *botctx.Context) (bool, error) { return false, nil }}
	twoTrees := channel.PriorityGroup{
		Group: "day", Trees: []string{"shop", "music"}, OffTrees: []string{"night"},
		GlobalNodes: []string{"shop help"}, OffGlobalNodes: []string{"night stop"},
	}
	vip := channel.PriorityGroup{Group: "vip", Trees: []string{"music"}}
	for name, test := range map[string]struct {
		flow   botctx.Flow
		groups []channel.PriorityGroup
		who    member.Member
		text   string
		want   string
	}{
		"a new member gets a head node":            {who: member.Member{}, text: "hi", want: "shop"},
		"a head node of any tree":                  {who: member.Member{}, text: "music", want: "shop"},
		"a child of the current node":              {who: at("shop", "shop"), text: "hi", want: "shop child"},
		"not a head node, nor the current node":    {who: at("music", "music"), text: "hi", want: ""},
		"a global node of the tree":                {who: at("shop child", "shop"), text: "help", want: "shop grandchild"},
		"a global node of the tree alone":          {who: at("shop grandchild", "shop"), text: "help", want: "shop help"},
		"not a global node of another tree":        {who: at("music", "music"), text: "help", want: ""},
		"a global node of the channel":             {who: at("shop grandchild", "shop"), text: "stop", want: "stop"},
		"a position that is no more counts as new": {who: at("gone", "shop"), text: "hi", want: "shop"},
		"a position in an unknown tree, too":       {who: at("shop", "gone"), text: "hi", want: "shop"},
		"in a live chat its tree alone":            {flow: live, who: liveChat, text: "stop", want: "agent"},
		"in a live chat nothing where the tree is \"\"": {
			flow: botctx.Flow{LiveChatTree: func(*botctx.Context) string { return "" }}, who: liveChat, text: "stop", want: "",
		},
		"and outside of one the others": {
			flow: botctx.Flow{LiveChatTree: func(*botctx.Context) string { return "" }}, who: member.Member{}, text: "hi", want: "shop",
		},
		"in a live chat nothing without a tree":      {who: liveChat, text: "stop", want: ""},
		"the live-chat tree in live chats alone":     {flow: live, who: at("agent", "live"), text: "hi", want: "shop"},
		"outside office hours nothing without trees": {flow: closed, who: member.Member{}, text: "hi", want: ""},
		"outside office hours the off trees":         {flow: closed, groups: []channel.PriorityGroup{twoTrees}, who: at("shop", "shop"), text: "hi", want: "night"},
		"and the off global nodes":                   {flow: closed, groups: []channel.PriorityGroup{twoTrees}, who: at("night stop", "night"), text: "stop", want: "night stop"},
		"off trees are not used within them":         {groups: []channel.PriorityGroup{twoTrees}, who: at("night", "night"), text: "hi", want: "shop"},
		"a global node that the group names":         {groups: []channel.PriorityGroup{twoTrees}, who: at("music", "music"), text: "help", want: "shop help"},
		"nor are those of other groups": {
			groups: []channel.PriorityGroup{{Group: "all"}, twoTrees}, who: at("night", "night"), text: "hi", want: "shop",
		},
		"the first group is the default":           {groups: []channel.PriorityGroup{vip, twoTrees}, who: member.Member{}, text: "music", want: "music"},
		"trees that the group lacks do not answer": {groups: []channel.PriorityGroup{vip, twoTrees}, who: at("shop", "shop"), text: "hi", want: ""},
		"another group by the host's choice": {
			flow:   botctx.Flow{PriorityGroup: func(context.Context, *botctx.Context) (string, error) { return "vip", nil }},
			groups: []channel.PriorityGroup{twoTrees, vip}, who: at("shop", "shop"), text: "hi", want: "",
		},
		"head nodes by the host's choice": {
			flow: botctx.Flow{HeadNodes: func(context.Context, *botctx.Context) ([]botctx.NodeRef, error) {
				return []botctx.NodeRef{{CompositeID: "shop grandchild", Tree: "shop"}}, nil
			}},
			who: member.Member{}, text: "hi", want: "shop grandchild",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, channelID := choosing(t, test.flow, test.groups...)
			require.Equal(t, test.want, nodeFor(t, p, test.who, channelID, test.text))
		})
	}
}

// The priority group names an id that nodes of several trees have.
func TestFlow_GlobalNodesOfSeveralTrees(t *testing.T) {
	t.Parallel()
	help := func(tree string) *botctx.Node {
		node := answering("help", tree, on("help"))
		node.Responses = []send.Response{send.Text("help of " + tree)}
		return node
	}
	for name, test := range map[string]struct {
		isOpen bool
		want   string
	}{"open": {true, "help of day"}, "closed": {false, "help of night"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakes.New(fakes.For(t))
			p.Handle(help("elsewhere"), help("night"), help("day"), answering("start", "day", on("hi")), answering("start", "night", on("hi")))
			c := p.AddChannel(channel.Channel{PriorityGroups: []channel.PriorityGroup{{
				Trees: []string{"day"}, GlobalNodes: []string{"help"}, OffTrees: []string{"night"}, OffGlobalNodes: []string{"help"},
			}}})
			p.SwitchChannel(c.ID, test.isOpen)
			require.Equal(t, test.want, nodeFor(t, p, at("start", "day"), c.ID, "help"))
		})
	}
}

func TestFlow_SmallestPriority(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		nodes []*botctx.Node
		want  string
	}{
		"a smaller number": {[]*botctx.Node{answering("b", "", priority(2)), answering("a", "", priority(1))}, "a"},
		"below zero":       {[]*botctx.Node{answering("b", ""), answering("a", "", priority(-1))}, "a"},
		"a fallback last":  {[]*botctx.Node{answering("fallback", "", priority(1000)), answering("a", "", on("hi"))}, "a"},
		"a fallback where nothing else matches": {
			[]*botctx.Node{answering("fallback", "", priority(1000)), answering("a", "", on("bye"))}, "fallback",
		},
		"of equal ones the first that was given": {[]*botctx.Node{answering("b", ""), answering("a", "")}, "b"},
		"mute nodes first, and then another": {
			[]*botctx.Node{
				answering("a", ""), answering("mute", "", priority(botctx.MutePriority)),
				answering("mute before", "", priority(-20)), answering("b", "", priority(5)),
				answering("mute of another text", "", priority(-30), on("bye")),
			}, "mute before\nmute\na",
		},
		"mute nodes alone": {[]*botctx.Node{answering("mute", "", priority(-10)), answering("a", "", on("bye"))}, "mute"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, ada := withNodes(t, test.nodes...)
			ada.Says("hi")
			require.Equal(t, test.want, texts(ada))
		})
	}
}

func TestFlow_FirstOfEquals(t *testing.T) {
	t.Parallel()
	const many = 100 // Enough nodes for an unstable sort to change their order.
	for first := range 10 {
		var nodes []*botctx.Node
		for i := range many {
			trigger := on("something else")
			if i >= first {
				trigger = on("hi")
			}
			nodes = append(nodes, answering(strconv.Itoa(i), "", priority(i%2), trigger))
		}
		_, ada := withNodes(t, nodes...)
		ada.Says("hi")
		require.Equal(t, strconv.Itoa(first+first%2), texts(ada))
	}
}

func TestFlow_ClosestOfEquals(t *testing.T) {
	t.Parallel()
	nodes := []*botctx.Node{
		answering("channel", "other", global(botctx.GlobalInChannel)),
		answering("tree", "shop", global(botctx.GlobalInTree)),
		answering("child", "shop", below("here")),
		answering("here", "shop"),
	}
	for from, want := range []string{"child", "tree", "channel"} {
		p := fakes.New(fakes.For(t))
		var left []*botctx.Node
		left = append(left, nodes[:len(nodes)-1-from]...)
		p.Handle(append(left, nodes[len(nodes)-1])...)
		require.Equal(t, want, nodeFor(t, p, at("here", "shop"), p.AddChannel(channel.Channel{}).ID, "hi"))
	}
}

func TestFlow_MuteNode(t *testing.T) {
	t.Parallel()
	var seen []string
	look := func(_ context.Context, bot *botctx.Context) (bool, error) {
		seen = append(seen, bot.Node.CompositeID+bot.AgendaMeta.String())
		return true, nil
	}
	_, ada := withNodes(
		t,
		&botctx.Node{ID: "mute", Trigger: botctx.AnyText(), Priority: -10, Redirect: botctx.Redirect{
			NodeCompositeID: "log", Meta: document.O("secret", 1),
		}.Always()},
		&botctx.Node{ID: "log"},
		&botctx.Node{ID: "hello", Trigger: botctx.TriggerFunc(look), Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
			seen = append(seen, bot.Node.CompositeID+bot.AgendaMeta.String())
			return nil
		}}},
	)
	ada.Says("hi")
	require.Equal(t, []string{"{}", "hello{}"}, seen)
}

func TestFlow_SavesPosition(t *testing.T) {
	t.Parallel()
	saves := func(n *botctx.Node) { n.SavesPosition = true }
	_, ada := withNodes(t, answering("name?", "form", saves), answering("age?", "form", below("name?"), saves), answering("done", "form", below("age?")))
	for _, text := range []string{"hi", "Ada", "36"} {
		ada.Says(text)
	}
	require.Equal(t, "name?\nage?\ndone", texts(ada))
	require.Equal(t, "age?", ada.Member().BotMeta.NodeCompositeID())
	require.Equal(t, "form", ada.Member().BotMeta.Tree())
}

func TestFlow_HostFails(t *testing.T) {
	t.Parallel()
	asleep := errors.New("the calendar is asleep")
	for name, test := range map[string]struct {
		flow botctx.Flow
		want error
	}{
		"IsOpen":        {botctx.Flow{IsOpen: func(context.Context, *botctx.Context) (bool, error) { return false, asleep }}, asleep},
		"PriorityGroup": {botctx.Flow{PriorityGroup: func(context.Context, *botctx.Context) (string, error) { return "", asleep }}, asleep},
		"a group that is not there": {
			botctx.Flow{PriorityGroup: func(context.Context, *botctx.Context) (string, error) { return "vip", nil }}, boterr.NotFound,
		},
		"HeadNodes": {botctx.Flow{HeadNodes: func(context.Context, *botctx.Context) ([]botctx.NodeRef, error) { return nil, asleep }}, asleep},
		"a head node that is not there": {
			botctx.Flow{HeadNodes: func(context.Context, *botctx.Context) ([]botctx.NodeRef, error) {
				return []botctx.NodeRef{{CompositeID: "gone"}}, nil
			}}, boterr.NotFound,
		},
		"a panic": {
			botctx.Flow{IsOpen: func(context.Context, *botctx.Context) (bool, error) { panic("asleep") }}, boterr.Internal,
		},
	} {
		p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.Flow = test.flow }))
		p.Handle(answering("hello", ""))
		ada := p.AddMember(member.Member{})
		require.ErrorIs(t, ada.TrySays("hi"), test.want, name)
		require.Empty(t, ada.Messages(), name)
	}
}

func TestHandleFunc_NoNode(t *testing.T) {
	t.Parallel()
	p, ada := withNodes(t, answering("hello", "", on("hello")), answering("mute", "", priority(-10)))
	p.HandleFunc(says("Pardon?"))
	ada.Says("hello")
	ada.Says("gibberish")
	require.Equal(t, "mute\nhello\nmute\nPardon?", texts(ada))
}

// A run ends all conversations of an agent, and fails after the first. The next attempt finds one conversation fewer. It
// must not use the stored result of the first call for another conversation.
func TestRun_TriedAgainEndsTheConversationsThatAreLeft(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(context.Context, *botctx.Context, *livechat.AssignmentRecord) (of string, err error){
		"EndLiveChat": func(ctx context.Context, bot *botctx.Context, r *livechat.AssignmentRecord) (string, error) {
			ended, err := bot.EndLiveChat(ctx, livechat.EndParams{Channel: bot.Channel, MessageEvent: &send.MessageEvent{
				From: r.Assignee, To: document.Get(r.GroupInfo, "externalId", ""), Type: send.TypeText, Data: document.O("text", "bye"),
			}})
			return ended.ID, err
		},
		"ReassignAssignment": func(ctx context.Context, bot *botctx.Context, r *livechat.AssignmentRecord) (string, error) {
			handed, err := bot.ReassignAssignment(ctx, livechat.ReassignAssignmentParams{
				Channel: bot.Channel, Label: "sales", PreviousAssignment: &r.Assignment,
			})
			if err != nil || handed.Member.ID != r.Member {
				return "another one", err
			}
			return r.ID, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d *desk
			tries := 0
			open := func() []*livechat.AssignmentRecord {
				found, err := d.Runtime().FindAssignments(t.Context(), fakes.DefaultApp,
					botctx.Query{Filter: document.O("assignee", d.grace.ExternalID(), "endedAt", nil)})
				require.NoError(t, err)
				return found
			}
			endAll := func(ctx context.Context, bot *botctx.Context) error {
				tries++
				for i, r := range open() {
					if tries == 1 && i == 1 {
						return boterr.New(boterr.Unavailable, "", "the database does not answer")
					}
					of, err := end(ctx, bot, r)
					if err != nil {
						return err
					}
					require.Equal(t, r.ID, of)
				}
				return nil
			}
			d = newDesk(t, channel.Channel{Type: channel.Charlie},
				[]*botctx.Node{{ID: "all", Trigger: botctx.TextIs("/all"), Pre: []botctx.Action{endAll}}}, fakes.WithInbox())
			d.connect(t)
			_, err := d.AddMember(member.Member{Channel: "web", FirstName: "Bob"}).Context().
				CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
			require.NoError(t, err)
			d.grace.Takes(d.grace.Ticket())
			require.Len(t, open(), 2)

			_ = d.grace.TrySends(send.MessageEvent{Type: send.TypeText, To: "support", Data: document.O("text", "/all"), MessageID: "m1"})
			d.Advance(10 * time.Minute)
			require.Equal(t, 2, tries)
			require.Empty(t, open())
		})
	}
}

// dueAction adds a due agenda of Ada whose node runs one action.
func dueAction(t *testing.T, runtime *botctx.Runtime, bot *botctx.Context, action botctx.Action) {
	t.Helper()
	require.NoError(t, runtime.Handle(&botctx.Node{ID: "due", Pre: []botctx.Action{action}}))
	plan(t, bot, "ada", "due", 0)
}

func TestRun_LeftAction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent sentTexts
		runtime, bot := newShop(t, memstore.New(), &sent)
		begun, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
		var late []error
		dueAction(t, runtime, bot, func(ctx context.Context, bot *botctx.Context) error {
			defer close(ended)
			close(begun)
			<-release
			own := context.WithoutCancel(ctx)
			late = append(late, bot.Reply(own, send.Text("late")))
			_, err := bot.Fetch(own, outbound.Request{URL: "https://example.com"})
			late = append(late, err)
			bot.Member.Meta.Set("late", true)
			return nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		returned := make(chan error)
		go func() { returned <- runtime.Run(ctx) }()
		<-begun
		cancel()
		require.ErrorIs(t, <-returned, boterr.Canceled)
		close(release)
		<-ended
		synctest.Wait()
		for _, err := range late {
			require.ErrorIs(t, err, boterr.Canceled)
			require.ErrorContains(t, err, "the scheduler is stopping")
		}
		require.Empty(t, sent.all())
		again, err := runtime.Context(t.Context(), bot.Scope())
		require.NoError(t, err)
		require.False(t, again.Member.Meta.Has("late"))
	})
}

func TestRun_ErrorIsNotShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lines strings.Builder
		runtime, bot := shopWith(t, botctx.Config{
			Store:      memstore.New(),
			Connectors: map[channel.Type]send.Connector{channel.Webchat: &sentTexts{}},
			Logger:     slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		fails := func(context.Context, *botctx.Context) error {
			return errors.New("get https://u:S3CRET99@example.com?token=S3CRET99")
		}
		dueAction(t, runtime, bot, fails)
		result, err := runtime.RunNextAgenda(t.Context())
		require.NoError(t, err)
		runtime.HandleFunc(fails)
		received := runtime.Receive(t.Context(), botctx.Inbound{App: "shop", Channel: "web", Event: send.MessageEvent{From: "e1", Type: send.TypeText}})
		for _, failure := range []error{result.Err, received} {
			require.ErrorContains(t, failure, "get https://[redacted]@example.com")
			require.NotContains(t, failure.Error(), "S3CRET99")
		}
		require.Contains(t, lines.String(), "agenda: failed")
		require.NotContains(t, lines.String(), "S3CRET99")
	})
}
