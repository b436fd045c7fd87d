package botctx_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// family is a platform with Ada in the channel "phone": alone with the bot, and in a group.
type family struct {
	*fakes.Platform

	ada, inGroup *fakes.Actor
}

// newFamily returns a family with the type and the priority groups of the channel "phone", and with nodes.
func newFamily(t *testing.T, kind channel.Type, groups []channel.PriorityGroup, nodes []*botctx.Node, options ...fakes.Option) *family {
	t.Helper()
	p := fakes.New(append([]fakes.Option{fakes.For(t)}, options...)...)
	p.Handle(nodes...)
	p.AddChannel(channel.Channel{ID: "phone", Type: kind, PriorityGroups: groups})
	ada := p.AddMember(member.Member{Channel: "phone", FirstName: "Ada"})
	return &family{Platform: p, ada: ada, inGroup: ada.InGroup("family")}
}

func TestGroups_Trees(t *testing.T) {
	t.Parallel()
	nodes := []*botctx.Node{
		answering("private", "shop"), answering("group", "gt"), answering("night", "night"), answering("agent", "live"),
		{ID: "private help", Tree: "shop", Trigger: botctx.TextIs("help"), Parent: "private", Priority: -1, Responses: []send.Response{send.Text("private help")}},
		{ID: "group help", Tree: "gt", Trigger: botctx.TextIs("help"), Parent: "group", Priority: -1, Responses: []send.Response{send.Text("group help")}},
		{ID: "stop", Tree: "gt", Trigger: botctx.TextIs("stop"), Parent: "group", Priority: -1, Global: botctx.GlobalInChannel, Responses: []send.Response{send.Text("stop")}},
	}
	closed := botctx.Flow{IsOpen: func(context.Context, *botctx.Context) (bool, error) { return false, nil }}
	withTrees := channel.PriorityGroup{
		Trees: []string{"shop"}, GroupTrees: []string{"gt"}, OffTrees: []string{"night"},
		GlobalNodes: []string{"private help"}, GroupGlobalNodes: []string{"group help"},
	}
	byDefault := channel.PriorityGroup{GroupTrees: []string{"gt"}, OffTrees: []string{"night", "live"}}
	for name, c := range map[string]struct {
		flow           botctx.Flow
		kind           channel.Type
		groups         []channel.PriorityGroup
		text           string
		alone, inGroup string
	}{
		"its trees":                      {groups: []channel.PriorityGroup{withTrees}, text: "hi", alone: "private", inGroup: "group"},
		"its global nodes":               {groups: []channel.PriorityGroup{withTrees}, text: "help", alone: "private help", inGroup: "group help"},
		"what is global in its trees":    {groups: []channel.PriorityGroup{withTrees}, text: "stop", alone: "private", inGroup: "stop"},
		"the default set has none":       {groups: []channel.PriorityGroup{byDefault}, text: "hi", alone: "private", inGroup: "group"},
		"nor those of another group":     {groups: []channel.PriorityGroup{{OffTrees: []string{"live"}}, byDefault}, text: "stop", alone: "private", inGroup: ""},
		"nothing without group trees":    {groups: []channel.PriorityGroup{{Trees: []string{"shop"}}}, text: "hi", alone: "private", inGroup: ""},
		"all without configuration":      {text: "hi", alone: "private", inGroup: "private"},
		"the off trees outside of hours": {flow: closed, groups: []channel.PriorityGroup{withTrees}, text: "hi", alone: "night", inGroup: "night"},
		"on Delta there are none":        {kind: channel.Delta, groups: []channel.PriorityGroup{{Trees: []string{"shop"}}}, text: "hi", alone: "private", inGroup: "private"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.kind == "" {
				c.kind = channel.Bravo
			}
			f := newFamily(t, c.kind, c.groups, nodes, fakes.Config(func(config *botctx.Config) { config.Flow = c.flow }))
			f.inGroup.Says(c.text)
			require.Equal(t, c.inGroup, texts(f.inGroup))
			require.Empty(t, texts(f.ada), "what is written in the group is answered there")
			f.ada.Says(c.text)
			require.Equal(t, c.alone, texts(f.ada))
			require.Equal(t, c.inGroup, texts(f.inGroup), "what is written to the bot alone is answered alone")
		})
	}
}

func TestGroups_Reply(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]botctx.Action{
		"Reply": func(ctx context.Context, bot *botctx.Context) error {
			return bot.Reply(ctx, send.Template("Hi {{firstName}}"))
		},
		"sendResponse": func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.SendResponse(ctx, send.SendResponseParams{Response: send.Template("Hi {{firstName}}")})
			return err
		},
		"sendDeltaResponse": func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.SendDeltaResponse(ctx, send.SendDeltaResponseParams{Response: send.Template("Hi {{firstName}}")})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFamily(t, channel.Delta, nil, nil)
			f.HandleFunc(reply)
			f.inGroup.Says("hi")
			require.Equal(t, "Hi Ada", texts(f.inGroup))
			require.Empty(t, texts(f.ada))
		})
	}
}

func TestGroups_ReplyFails(t *testing.T) {
	t.Parallel()
	f := newFamily(t, channel.Bravo, nil, nil)
	f.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("hi")) })
	f.Inject(fakes.Down(fakes.ServiceMessages).Of("phone"))
	err := f.inGroup.TrySays("hi")
	require.ErrorIs(t, err, boterr.Unavailable)
	undelivered, ok := errors.AsType[*send.UndeliveredError](err)
	require.True(t, ok)
	require.Len(t, undelivered.Failures, 1)
	require.Empty(t, undelivered.Failures[0].MemberID)
}

func TestGroups_Agenda(t *testing.T) {
	t.Parallel()
	f := newFamily(t, channel.Bravo, nil, []*botctx.Node{{ID: "later", Responses: []send.Response{send.Text("Time to go.")}}})
	bob := f.AddMember(member.Member{Channel: "phone", FirstName: "Bob"})
	f.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		for _, id := range []string{bot.Member.ID, bob.ID()} {
			_, err := bot.NewAgenda(ctx, agenda.NewParams{MemberID: id, NodeCompositeID: "later", NextRunAt: document.TimestampOf(bot.Now().Add(time.Minute))})
			if err != nil {
				return err
			}
		}
		return nil
	})
	f.inGroup.Says("remind us")
	f.Advance(time.Minute)
	require.Equal(t, "Time to go.", texts(f.inGroup))
	require.Empty(t, texts(f.ada))
	require.Equal(t, "Time to go.", texts(bob), "who did not write in the group is answered alone")
}

func TestGroups_Redirect(t *testing.T) {
	t.Parallel()
	f := newFamily(t, channel.Bravo, nil, []*botctx.Node{{ID: "hello", Responses: []send.Response{send.Template("Hello {{firstName}}")}}})
	bob := f.AddMember(member.Member{Channel: "phone", FirstName: "Bob"})
	f.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		for _, id := range []string{bot.Member.ID, bob.ID()} {
			if _, err := bot.RedirectMemberToNode(ctx, botctx.RedirectMemberToNodeParams{MemberID: id, NodeCompositeID: "hello"}); err != nil {
				return err
			}
		}
		return nil
	})
	f.inGroup.Says("hi")
	require.Equal(t, "Hello Ada", texts(f.inGroup))
	require.Equal(t, "Hello Bob", texts(bob))
}

func TestGroups_Context(t *testing.T) {
	t.Parallel()
	f := newFamily(t, channel.Bravo, nil, nil)
	var told []string
	f.HandleFunc(func(_ context.Context, bot *botctx.Context) error {
		require.Nil(t, bot.Group, "that is the group of a live chat")
		told = append(told, bot.Scope().GroupExternalID+" to "+bot.MessageEvent.To)
		return nil
	})
	f.inGroup.Says("hi")
	f.ada.Says("hi")
	require.Equal(t, []string{"family to family", " to phone"}, told)
}

// newFamilyWithDesk returns a family and an agent on Charlie who serves its live chats.
func newFamilyWithDesk(t *testing.T, options ...fakes.Option) (*family, *fakes.Agent) {
	t.Helper()
	f := newFamily(t, channel.Bravo, []channel.PriorityGroup{{Trees: []string{"shop"}, GroupTrees: []string{"gt"}}}, []*botctx.Node{
		{ID: "person", Tree: "gt", Trigger: botctx.TextIs("a person"), Pre: []botctx.Action{ask}},
		{ID: "alone", Tree: "shop", Trigger: botctx.TextIs("a person"), Pre: []botctx.Action{ask}},
		answering("menu", "gt", priority(botctx.FallbackPriority)), answering("shop", "shop", priority(botctx.FallbackPriority)),
	}, options...)
	f.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: supportAndSales()[:1]})
	f.Pair("phone", "desk")
	grace := f.AddAgent("desk", "Grace")
	return f, grace
}

func ask(ctx context.Context, bot *botctx.Context) error {
	asked, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{})
	if err == nil {
		bot.Member = asked.Member
	}
	return err
}

func TestGroups_LiveChat(t *testing.T) {
	t.Parallel()
	f, grace := newFamilyWithDesk(t)
	f.inGroup.Says("a person")
	grace.Takes(grace.Ticket())
	f.inGroup.Says("It leaks.")
	require.Equal(t, "It leaks.", grace.Last())
	grace.Says("Where?")
	require.Equal(t, "Where?", f.inGroup.Last())
	require.Empty(t, texts(f.ada))
}

func TestGroups_OutsideLiveChat(t *testing.T) {
	t.Parallel()
	for name, inGroup := range map[string]bool{"began in the group": true, "began alone": false} {
		for state, take := range map[string]bool{"pending": false, "taken": true} {
			t.Run(name+", "+state, func(t *testing.T) {
				t.Parallel()
				f, grace := newFamilyWithDesk(t)
				here, elsewhere, answer := f.ada, f.inGroup, "menu"
				if inGroup {
					here, elsewhere, answer = f.inGroup, f.ada, "shop"
				}
				here.Says("a person")
				if take {
					grace.Takes(grace.Ticket())
				}
				elsewhere.Says("between us")
				require.Equal(t, answer, elsewhere.Last())
				for _, sent := range grace.Messages() {
					require.NotEqual(t, "between us", sent.Text())
				}
			})
		}
	}
}

func TestGroups_Agent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		groups []channel.PriorityGroup
		want   string
	}{
		"by the group trees":             {[]channel.PriorityGroup{{Trees: []string{"shop"}, GroupTrees: []string{"gt"}}}, "group"},
		"by the others where none is":    {[]channel.PriorityGroup{{Trees: []string{"shop"}}}, "shop"},
		"by all where nothing is set up": {nil, "shop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, channel.Channel{Type: channel.Bravo, PriorityGroups: c.groups}, []*botctx.Node{
				{ID: "shop", Tree: "shop", Trigger: botctx.TextIs("/who"), Responses: []send.Response{send.Text("shop")}},
				{ID: "group", Tree: "gt", Trigger: botctx.TextIs("/who"), Responses: []send.Response{send.Text("group")}},
			})
			d.connect(t)
			d.grace.Says("/who")
			sent := d.Sent()[len(d.Sent())-1]
			require.Equal(t, c.want, sent.Response.Text())
			require.Equal(t, d.Groups("desk")[0].ExternalID, sent.To)
		})
	}
}
