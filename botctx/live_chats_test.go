package botctx_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// desk is a platform on which the members of one inlet are served by the agents of one
// outlet.
type desk struct {
	*fakes.Platform

	kind  channel.Type
	ada   *fakes.Actor
	grace *fakes.Agent
}

// newDesk returns a desk: the inlet is web, the outlet desk, with a broadcast group for each
// of the labels default and sales. Ada is a member, and Grace an agent of the first group.
func newDesk(t *testing.T, outlet channel.Channel, nodes []*botctx.Node, options ...fakes.Option) *desk {
	t.Helper()
	p := fakes.New(append([]fakes.Option{fakes.For(t)}, options...)...)
	p.Handle(nodes...)
	p.AddChannel(channel.Channel{ID: "web"})
	outlet.ID = "desk"
	groupType := "group"
	switch outlet.Type {
	case channel.Foxtrot:
		groupType = "foxtrot"
	case channel.Charlie:
		groupType = "public_channel"
	default:
	}
	outlet.BroadcastGroups = []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support", Type: groupType}}},
		{Label: "sales", Groups: []channel.BroadcastGroupMember{{ID: "sales", Type: groupType}}},
	}
	p.AddChannel(outlet)
	p.Pair("web", "desk")
	return &desk{
		Platform: p,
		kind:     outlet.Type,
		ada:      p.AddMember(member.Member{Channel: "web", FirstName: "Ada"}),
		grace:    p.AddAgent("desk", "Grace", "support"),
	}
}

// ask asks for a person for Ada, outside of a run.
func (d *desk) ask(t *testing.T) {
	t.Helper()
	_, err := d.ada.Context().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
	require.NoError(t, err)
}

// connect asks for a person for Ada, and lets Grace take the request.
func (d *desk) connect(t *testing.T) {
	t.Helper()
	d.ask(t)
	d.grace.Takes(d.grace.Ticket())
}

// withLiveChatTree makes the tree "live chat" that of members who are in one.
func withLiveChatTree() fakes.Option {
	return fakes.Config(func(c *botctx.Config) {
		c.Flow.LiveChatTree = func(*botctx.Context) string { return "live chat" }
	})
}

func TestRelay_BothWays(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{
		{ID: "help", Tree: "live chat", Trigger: botctx.TextIs("help"), Responses: []send.Response{send.Text("Say stop.")}},
		{ID: "time", Trigger: botctx.TextIs("/time"), Responses: []send.Response{send.Text("Midnight.")}},
	}, withLiveChatTree())
	d.connect(t)

	d.ada.Says("It leaks.")
	d.ada.Says("help")
	d.ada.Says("/time") // A node of another tree: for Ada it is not there now.
	d.grace.Says("Where?")
	d.grace.Says("/time")
	d.ada.Sends(send.MessageEvent{Type: send.TypeImage, Data: document.O("url", "https://shop.example/kettle.png")})

	require.Equal(t, "Say stop.\nWhere?", texts(d.ada))
	require.Equal(t, "It leaks.\n/time\nMidnight.\n", texts(d.grace))
	require.Equal(t, send.Image("https://shop.example/kettle.png"), d.grace.LastMessage())
}

func TestRelay_NotFilled(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}})
	d.connect(t)
	d.ada.Says("I am {{firstName}}.")
	d.grace.Says("And {{lastName}}?")
	require.Equal(t, "I am {{firstName}}.", texts(d.grace))
	require.Equal(t, "And {{lastName}}?", texts(d.ada))
}

func TestRelay_NoMessage(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}})
	d.connect(t)
	for _, receipt := range []send.Type{send.TypeDelivery, send.TypeRead, send.TypeEcho} {
		d.ada.Sends(send.MessageEvent{Type: receipt})
		d.grace.Sends(send.MessageEvent{Type: receipt})
	}
	require.Empty(t, texts(d.ada)+texts(d.grace))
}

func TestRelay_NotHandled(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, nil)
	d.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("I am a bot.")) })
	d.ada.Says("Hello?")
	d.ask(t)
	d.ada.Says("Anybody?") // Nobody has taken it: the bot answers, and whoever takes it gets it.
	d.grace.Takes(d.grace.Ticket())
	d.ada.Says("It leaks.")
	d.grace.Says("Where?")
	require.Equal(t, "I am a bot.\nI am a bot.\nWhere?", texts(d.ada), "the bot has spoken: nobody else does")
	require.Equal(t, "Written before (1):\nAnybody?\nIt leaks.", texts(d.grace))
}

func TestRelay_Fails(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}})
	d.connect(t)
	long := strings.Repeat("a", send.MaxText+1)
	require.ErrorIs(t, d.ada.TrySays(long), boterr.InvalidArgument)
	require.ErrorIs(t, d.grace.TrySays(long), boterr.InvalidArgument)
}

func TestLiveChat_ContextGroup(t *testing.T) {
	t.Parallel()
	groups := map[string]*livechat.Group{}
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{
		{ID: "see", Tree: "live chat", Trigger: botctx.AnyEvent(), Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
			groups[bot.MessageEvent.Text()] = bot.Group
			return nil
		}}},
		{ID: "see", Trigger: botctx.When(func(bot *botctx.Context) bool { // The trigger sees it, too.
			groups[bot.MessageEvent.Text()] = bot.Group
			return false
		})},
	}, withLiveChatTree())
	d.grace.Says("before")
	d.ask(t)
	d.ada.Says("nobody has taken it")
	d.grace.Takes(d.grace.Ticket())
	d.grace.Says("during")
	d.ada.Says("on the inlet")
	d.grace.Sends(send.MessageEvent{Type: send.TypeText, To: "support", Data: document.O("text", "in a broadcast group")})
	d.Advance(livechat.IdleTimeout)
	d.grace.Says("after")
	d.ada.Says("after, too")

	require.Len(t, groups, 7)
	group := groups["during"]
	require.NotNil(t, group)
	require.Equal(t, d.Groups("desk")[0].ExternalID, group.ExternalID)
	require.Equal(t, d.ada.ID(), group.Member)
	require.Equal(t, d.grace.ExternalID(), group.AdminExternalID)
	require.Equal(t, group, groups["on the inlet"])
	delete(groups, "during")
	delete(groups, "on the inlet")
	for said, group := range groups {
		require.Nil(t, group, said)
	}
}

func TestTap_Takes(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Delta}, []*botctx.Node{{ID: "none"}})
	late := d.AddAgent("desk", "Hedy", "support")
	d.ask(t)
	ticket := d.grace.Ticket()
	d.grace.Taps(ticket)
	err := late.TryTaps(ticket)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "Grace")
	d.grace.Says("Hello.")
	require.Equal(t, "Hello.", d.ada.Last())
	require.Equal(t, d.grace.ExternalID(), d.assignments(t)[0].Assignee)
}

func TestTap_Node(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Delta}, []*botctx.Node{
		{ID: "take", Trigger: botctx.PayloadIs(livechat.TakePayload), Responses: []send.Response{send.Text("You are on leave.")}},
	})
	d.ask(t)
	d.grace.Taps(d.grace.Ticket())
	require.Equal(t, "You are on leave.", d.grace.Last())
	require.Len(t, d.Queue("desk"), 1)
}

func TestTap_NoAssignment(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Delta}, []*botctx.Node{{ID: "none"}})
	for _, payload := range []any{livechat.TakePayload, document.O("payload", livechat.TakePayload, "value", 7)} {
		err := d.grace.TrySends(send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", payload)})
		require.ErrorIs(t, err, boterr.InvalidArgument)
	}
}

func TestIdle_EndsLiveChat(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{
		{ID: "livechat:idle", Responses: []send.Response{send.Text("A node of that name ran.")}},
	})
	d.connect(t)
	d.Advance(livechat.IdleTimeout - time.Minute)
	d.grace.Says("Are you there?")
	d.Advance(livechat.IdleTimeout - time.Minute)
	require.Len(t, d.ada.Agendas(), 1)
	require.True(t, d.ada.Member().BotMeta.LiveChat())

	d.Advance(time.Minute)
	require.Empty(t, d.ada.Agendas())
	require.False(t, d.ada.Member().BotMeta.LiveChat())
	require.Equal(t, livechat.EndedByIdle, d.assignments(t)[0].EndedBy)
	require.Equal(t, "Are you there?", texts(d.ada))
}

// assignments returns the assignments of Ada as they are kept.
func (d *desk) assignments(t *testing.T) []*livechat.AssignmentRecord {
	t.Helper()
	found, err := d.Runtime().LiveChats(fakes.DefaultApp).FindAssignments(t.Context(), record.Query{Filter: document.O("member", d.ada.ID())})
	require.NoError(t, err)
	return found
}

// ownChats is a host's own live chats, of which this test needs no operation.
type ownChats struct{ livechat.Operations }

// A host's own live chats have no records in the store: what is said in them goes to the logic, the
// tap on a ticket that has the words of the SDK's included.
func TestHost_OwnLiveChats(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}},
		overriddenBy(func(record.Scope, botctx.Services) botctx.Services { return botctx.Services{LiveChats: ownChats{}} }))
	d.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		require.Nil(t, bot.Group)
		return bot.Reply(ctx, send.Text("My own desk has it."))
	})
	_, err := d.ada.Context().PatchMembers(t.Context(), member.PatchMembersParams{
		MemberID: d.ada.ID(), Patch: document.O("botMeta.liveChat", true),
	})
	require.NoError(t, err)
	grace := d.AddMember(member.Member{Channel: "desk", ExternalID: d.grace.ExternalID()})
	d.ada.Says("It leaks.")
	grace.Says("Where?")
	grace.Sends(send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", document.O("payload", livechat.TakePayload, "value", "request-7"))})
	require.Equal(t, "My own desk has it.", texts(d.ada))
	require.Equal(t, "My own desk has it.\nMy own desk has it.", texts(grace))
	require.True(t, d.ada.Member().BotMeta.LiveChat())
}

func TestHost_LiveChatConfig(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Custom}, []*botctx.Node{{ID: "none"}}, fakes.Config(func(c *botctx.Config) {
		c.LiveChat = botctx.LiveChat{
			Pairing: func(_ context.Context, app, inlet string) ([]string, error) {
				return map[string][]string{fakes.DefaultApp + " kiosk": {"desk"}}[app+" "+inlet], nil
			},
			CustomAPI:   func(c *channel.Channel) (string, error) { return "https://" + c.ID + ".example/", nil },
			HistoryURL:  func(a *livechat.Assignment) (string, error) { return "https://history.example/of/" + a.Member, nil },
			IdleTimeout: time.Minute,
		}
	}))
	d.HTTP.Add("POST", "https://desk.example/", web.JSON(200, `{"id": "room"}`))
	_, err := d.ada.Context().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
	require.ErrorIs(t, err, boterr.FailedPrecondition, "web is paired in the store alone")

	d.AddChannel(channel.Channel{ID: "kiosk"})
	bob := d.AddMember(member.Member{Channel: "kiosk"})
	_, err = bob.Context().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{CreateGroup: &livechat.CreateGroup{}, History: true})
	require.NoError(t, err)
	require.Contains(t, d.HTTP.Requests()[0].Body, `"https://history.example/of/`+bob.ID()+`"`)
	d.Advance(time.Minute)
	require.False(t, bob.Member().BotMeta.LiveChat())
}

func TestLiveChat_Agendas(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "reminder", Responses: []send.Response{send.Text("Tick.")}}})
	d.connect(t)
	_, err := d.ada.Context().NewAgenda(t.Context(), agenda.NewAgendaParams{
		MemberID: d.ada.ID(), NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(d.Now().Add(time.Minute)), Tag: "livechat",
	})
	require.NoError(t, err)
	d.Advance(time.Minute)
	require.Equal(t, "Tick.", texts(d.ada))
}

func TestLiveChat_NoFallback(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{
		{
			ID: "fallback", Trigger: botctx.AnyText(), Priority: botctx.FallbackPriority,
			Responses: []send.Response{send.Text("Pardon?")},
		},
	})
	d.grace.Says("hi")
	require.Equal(t, "Pardon?", d.Sent()[0].Response.Text(), "outside of live chats it does")
	d.connect(t)
	d.grace.Says("Where does it leak?")
	require.Equal(t, "Where does it leak?", d.ada.Last())
}

func TestLiveChat_AgentAsks(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "silent"}})
	d.AddChannel(channel.Channel{ID: "it", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "helpers", Type: "public_channel"}}},
	}})
	d.Pair("desk", "it")
	hedy := d.AddAgent("it", "Hedy", "helpers")
	d.connect(t)
	d.grace.Says("Hello")
	grace := d.memberOf(t, d.grace)
	_, err := d.Operations(record.Scope{Channel: "desk", Member: grace}).CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
	require.NoError(t, err)
	hedy.Takes(hedy.Ticket())
	sent := len(hedy.Messages())

	d.grace.Says("Ada, your code is 42.")
	require.Equal(t, "Ada, your code is 42.", d.ada.Last())
	require.Len(t, hedy.Messages(), sent)
}

// memberOf returns the id of the member that an agent is in the outlet.
func (d *desk) memberOf(t *testing.T, agent *fakes.Agent) string {
	t.Helper()
	found, err := d.Operations(record.Scope{Channel: "desk"}).FindAndModifyMember(t.Context(), member.FindAndModifyMemberParams{
		Filter: document.O("externalId", agent.ExternalID()), Patch: document.Set("meta.seen", true),
	})
	require.NoError(t, err)
	return found.Member.ID
}

func TestIdle_Uncancelled(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "promo", Pre: []botctx.Action{counts}}})
	d.connect(t)
	ada := d.ada.Context()
	_, err := ada.NewAgenda(t.Context(), agenda.NewAgendaParams{
		MemberID: ada.Member.ID, NodeCompositeID: "promo", NextRunAt: document.TimestampOf(d.Now().Add(time.Minute)), Tag: "livechat:promo",
	})
	require.NoError(t, err)
	_, err = ada.DeleteMemberAgenda(t.Context(), agenda.DeleteMemberAgendaParams{MemberID: ada.Member.ID})
	require.NoError(t, err)
	later := agenda.UpdateAgendaParams{MemberID: ada.Member.ID, NextRunAt: document.TimestampOf(d.Now().AddDate(1, 0, 0))}
	_, err = ada.UpdateAgenda(t.Context(), later)
	require.NoError(t, err)
	d.Advance(livechat.IdleTimeout)
	require.False(t, d.ada.Member().BotMeta.LiveChat())
	require.Equal(t, 1, document.Get(d.ada.Member().Meta, "count", 0), "a bot's own agenda with such a tag runs its node")
}

func TestTap_OwnTicket(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "silent"}})
	_, err := d.ada.Context().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{RelayMessage: map[channel.Type]send.Response{
			channel.Charlie: send.Buttons("Who helps?", send.Postback("I do", "ACCEPT")),
		}},
	})
	require.NoError(t, err)
	d.grace.Taps(d.grace.Ticket())
	d.ada.Says("It leaks.")
	require.Equal(t, "It leaks.", d.grace.Last())
}
