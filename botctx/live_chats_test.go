package botctx_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
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
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// desk is a platform with an inlet and an outlet. The agents of the outlet serve the members of the inlet.
type desk struct {
	*fakes.Platform

	kind  channel.Type
	ada   *fakes.Actor
	grace *fakes.Agent
}

// newDesk returns a desk with the inlet "web" and the outlet "desk". Ada is a member of the inlet. The outlet has
// broadcast groups with the labels default and sales; Grace is an agent of the first.
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

// ask makes a live-chat request for Ada, outside of runs.
func (d *desk) ask(t *testing.T) {
	t.Helper()
	_, err := d.ada.Context().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
	require.NoError(t, err)
}

// connect makes a live-chat request for Ada, which Grace takes.
func (d *desk) connect(t *testing.T) {
	t.Helper()
	d.ask(t)
	d.grace.Takes(d.grace.Ticket())
}

// withLiveChatTree sets Flow.LiveChatTree to "live chat".
func withLiveChatTree() fakes.Option {
	return fakes.Config(func(c *botctx.Config) {
		c.Flow.LiveChatTree = func(*botctx.Context) string { return "live chat" }
	})
}

func TestLiveChat_ContextGroup(t *testing.T) {
	t.Parallel()
	groups := map[string]*livechat.Group{}
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{
		{ID: "see", Tree: "live chat", Trigger: botctx.AnyEvent(), Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
			groups[bot.MessageEvent.Text()] = bot.Group
			return nil
		}}},
		{ID: "see", Trigger: botctx.When(func(bot *botctx.Context) bool { // The group is set before triggers are evaluated.
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

// A message that comes while the live chat ends reaches the agent or the bot, wherever the end stops.
func TestLiveChat_EndsMeanwhile(t *testing.T) {
	t.Parallel()
	muteRuns := 0
	answering := func(isOver func(*botctx.Context) bool) []*botctx.Node {
		return []*botctx.Node{
			{ID: "over", Tree: "live chat", Trigger: botctx.When(isOver)},
			{ID: "mute", Tree: "live chat", Trigger: botctx.AnyText(), Priority: botctx.MutePriority, Pre: botctx.Do(func(context.Context, *botctx.Context) error {
				muteRuns++
				return nil
			})},
			{ID: "else", Trigger: botctx.AnyText(), Priority: botctx.FallbackPriority, Responses: botctx.Say("Pardon?")},
			{ID: "done", Trigger: botctx.TextIs("/done"), Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
				_, err := bot.EndLiveChat(ctx, livechat.EndParams{MessageEvent: bot.MessageEvent})
				return err
			})},
		}
	}
	requireReached := func(d *desk, at string) {
		heard := append(d.grace.Messages(), d.ada.Messages()...)
		require.Len(t, heard, 1, at)
		require.Contains(t, []string{"It leaks.", "Pardon?"}, heard[0].Text(), at)
	}

	var d *desk
	d = newDesk(t, channel.Channel{Type: channel.Charlie}, answering(func(*botctx.Context) bool {
		require.NoError(t, d.grace.TryEnds())
		return false
	}), withLiveChatTree(), fakes.WithInbox())
	d.connect(t)
	d.Inject(fakes.Fails(botctx.OpSendResponse, boterr.Unavailable))
	require.Error(t, d.ada.TrySays("It leaks."))
	d.Advance(time.Minute)
	requireReached(d, "within a trigger")
	require.Equal(t, 1, muteRuns)

	for nth := 1; ; nth++ {
		d := newDesk(t, channel.Channel{Type: channel.Charlie}, answering(func(*botctx.Context) bool { return false }), withLiveChatTree())
		d.connect(t)
		d.Inject(fakes.Fails(fakes.ServiceStore, boterr.Unavailable).At(nth)).Optional()
		if d.grace.TrySays("/done") == nil {
			break
		}
		d.ada.Says("It leaks.")
		requireReached(d, fmt.Sprintf("after the failure of request %d", nth))
	}
}

// The retry of a message that did not reach the agent reaches the bot if the live chat has ended since.
func TestLiveChat_EndsBeforeTheRetry(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{
		{ID: "else", Trigger: botctx.AnyText(), Priority: botctx.FallbackPriority, Responses: botctx.Say("Pardon?")},
	}, withLiveChatTree(), fakes.WithInbox())
	d.connect(t)
	d.Inject(fakes.Fails(fakes.ServiceMessages, boterr.Unavailable).Of("desk"))
	require.Error(t, d.ada.TrySays("It leaks."))
	require.NoError(t, d.grace.TryEnds())
	d.Advance(time.Minute)
	require.Equal(t, "Pardon?", d.ada.Last())
}

// An action may leave a goroutine that still sends when the bot answers outside of the live chat.
func TestLiveChat_EndsWhileAGoroutineSends(t *testing.T) {
	t.Parallel()
	var sending sync.WaitGroup
	var ids atomic.Int64
	var d *desk
	leavesSending := func(ctx context.Context, bot *botctx.Context) error {
		sending.Go(func() {
			for ; ctx.Err() == nil; ids.Add(1) {
				bot.SendID(ctx, "Ada")
			}
		})
		return d.grace.TryEnds()
	}
	afterFurtherIDs := func(*botctx.Context) bool {
		for before := ids.Load(); ids.Load() < before+2; {
			runtime.Gosched()
		}
		return true
	}
	d = newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{
		{ID: "mute", Tree: "live chat", Trigger: botctx.AnyText(), Priority: botctx.MutePriority, Pre: botctx.Do(leavesSending)},
		{ID: "else", Trigger: botctx.When(afterFurtherIDs), Responses: botctx.Say("Pardon?")},
	}, withLiveChatTree())
	d.connect(t)
	d.ada.Says("It leaks.")
	sending.Wait()
	require.Equal(t, "Pardon?", d.ada.Last())
}

// assignments returns Ada's stored assignments.
func (d *desk) assignments(t *testing.T) []*livechat.AssignmentRecord {
	t.Helper()
	found, err := d.Runtime().FindAssignments(t.Context(), fakes.DefaultApp, botctx.Query{Filter: document.O("member", d.ada.ID())})
	require.NoError(t, err)
	return found
}

func TestFindAssignments_Unreadable(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	stored := p.Runtime().Env().Store.Collection("assignments")
	for _, o := range []document.Object{document.O("_id", "a1", "expiry", "soon"), document.O("_id", "a2", "slot", "2")} {
		require.NoError(t, stored.Insert(t.Context(), o.With("app", fakes.DefaultApp)))
	}
	found, err := p.Runtime().FindAssignments(t.Context(), fakes.DefaultApp, botctx.Query{SortBy: document.O("_id", 1)})
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, "a1", found[0].ID)
	require.Equal(t, "2", found[1].Slot)
}

// ownChats is a host's livechat.Operations. The test calls none of its methods.
type ownChats struct{ livechat.Operations }

// A host's own live chats have no records in the store. So the bot logic gets the messages in them, and taps on their
// tickets, even if the payload looks like the SDK's.
func TestHost_OwnLiveChats(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}},
		overriddenBy(func(botctx.Scope, botctx.Services) botctx.Services { return botctx.Services{LiveChats: ownChats{}} }))
	d.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		require.Nil(t, bot.Group)
		return bot.Reply(ctx, send.Text("My own desk has it."))
	})
	_, err := d.ada.Context().PatchMembers(t.Context(), member.PatchParams{
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
	_, err := d.Operations(botctx.Scope{Channel: "desk", Member: grace}).CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
	require.NoError(t, err)
	hedy.Takes(hedy.Ticket())
	sent := len(hedy.Messages())

	d.grace.Says("Ada, your code is 42.")
	require.Equal(t, "Ada, your code is 42.", d.ada.Last())
	require.Len(t, hedy.Messages(), sent)
}

// memberOf returns the id of the member record of an agent in the outlet.
func (d *desk) memberOf(t *testing.T, agent *fakes.Agent) string {
	t.Helper()
	found, err := d.Operations(botctx.Scope{Channel: "desk"}).FindAndModifyMember(t.Context(), member.FindAndModifyParams{
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
	_, err := ada.NewAgenda(t.Context(), agenda.NewParams{
		MemberID: ada.Member.ID, NodeCompositeID: "promo", NextRunAt: document.TimestampOf(d.Now().Add(time.Minute)), Tag: "livechat:promo",
	})
	require.NoError(t, err)
	_, err = ada.DeleteMemberAgenda(t.Context(), agenda.DeleteParams{MemberID: ada.Member.ID})
	require.NoError(t, err)
	later := agenda.UpdateParams{MemberID: ada.Member.ID, NextRunAt: document.TimestampOf(d.Now().AddDate(1, 0, 0))}
	_, err = ada.UpdateAgenda(t.Context(), later)
	require.NoError(t, err)
	d.Advance(livechat.IdleTimeout)
	require.False(t, d.ada.Member().BotMeta.LiveChat())
	require.Equal(t, 1, document.Get(d.ada.Member().Meta, "count", 0), "a bot's own agenda with such a tag runs its node")
}

// plain is a connector without optional ports.
type plain struct {
	// panics makes Send panic.
	panics bool
	sent   []send.Message
}

func (p *plain) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	if p.panics {
		panic("the platform is broken: token=S3CRET")
	}
	p.sent = append(p.sent, message)
	return send.Delivery{Reply: document.O("ok", true), MessageID: fmt.Sprintf("m%d", len(p.sent)), ChatID: "chat-" + message.To}, nil
}

// host is a Runtime whose only connector is plain. The outlet "desk" serves Ada, who is in the inlet "web".
type host struct {
	*botctx.Runtime

	platform *plain
	// lines is the Runtime's log.
	lines strings.Builder
	ada   *botctx.Context
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{platform: &plain{}}
	h.Runtime, h.ada = shopWith(t, botctx.Config{
		Store: memstore.New(), Connectors: send.Connectors{channel.Webchat: h.platform, channel.Charlie: h.platform},
		Logger: slog.New(slog.NewTextHandler(&h.lines, nil)),
	})
	saveChannel(t, h.Runtime, channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: supportAndSales()})
	require.NoError(t, h.Pair(t.Context(), "shop", "web", "desk"))
	return h
}

// connect makes a live-chat request for Ada, which the agent grace takes.
func (h *host) connect(t *testing.T) {
	t.Helper()
	asked, err := h.ada.CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
	require.NoError(t, err)
	_, err = h.TakeTicket(t.Context(), "shop", livechat.TakeParams{
		AssignmentID: asked.AssignmentID, ChannelID: "desk", AdminExternalID: "grace",
	})
	require.NoError(t, err)
}

var told = livechat.DefaultTexts() //nolint:gochecknoglobals // It does not change.

func TestWaiting_ToldUnlessTheBotSpeaks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		logic botctx.Action
		want  string
	}{
		"no logic":                {nil, told.Waiting},
		"a bot that says nothing": {func(context.Context, *botctx.Context) error { return nil }, told.Waiting},
		"a bot that speaks": {func(ctx context.Context, bot *botctx.Context) error {
			return bot.Reply(ctx, send.Text("I am a bot."))
		}, "I am a bot.\nI am a bot.\nI am a bot."}, // The bot also answers the receipt.
		"a bot that writes to somebody else": {func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.SendResponse(ctx, send.SendResponseParams{MemberID: document.One("member-2"), Response: send.Text("Psst.")})
			return err
		}, told.Waiting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}}, withLiveChatTree())
			if c.logic != nil {
				d.HandleFunc(c.logic)
			}
			d.AddMember(member.Member{Channel: "web", FirstName: "Bob"})
			d.ask(t)
			d.ada.Says("Hello?")
			d.ada.Says("Anybody?")
			d.ada.Sends(send.MessageEvent{Type: send.TypeRead})
			require.Equal(t, c.want, texts(d.ada))
			d.grace.Takes(d.grace.Ticket())
			require.Equal(t, "Written before (2):\nHello?\nAnybody?", texts(d.grace))
		})
	}
}

func TestTap_TooLateIsTold(t *testing.T) {
	t.Parallel()
	for _, platform := range []channel.Type{channel.Alpha, channel.Bravo, channel.Charlie, channel.Delta} {
		t.Run(string(platform), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, channel.Channel{Type: platform}, []*botctx.Node{{ID: "none"}}, fakes.WithInbox())
			d.ask(t)
			ticket := d.grace.Ticket()
			_, err := d.ada.Context().RemovePendingAssignmentByMemberID(t.Context(),
				livechat.RemovePendingAssignmentByMemberIDParams{MemberID: d.ada.ID()})
			require.NoError(t, err)
			d.grace.Taps(ticket)
			tickets := d.grace.Tickets()
			require.Equal(t, told.Late, tickets[len(tickets)-1].Text())
			require.Len(t, d.AddAgent("desk", "Hedy", "support").Tickets(), 2, "the others see it, too")
		})
	}
}

func TestGoodbye_CannotBeSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code boterr.Code
		by   livechat.EndedBy
	}{
		"blocked": {boterr.FailedPrecondition, livechat.EndedByMemberGone},
		"down":    {boterr.Unavailable, livechat.EndedByIdle},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, channel.Channel{Type: channel.Charlie}, shopNodes(), withLiveChatTree())
			d.callsAgent()
			d.Inject(fakes.Refuses(d.ada, c.code))
			for range 5 {
				require.Error(t, d.grace.TrySays("#done"))
				if c.by != livechat.EndedByIdle {
					break
				}
				d.Advance(6 * time.Minute)
			}
			require.False(t, d.ada.Member().BotMeta.LiveChat())
			require.Equal(t, c.by, d.assignments(t)[0].EndedBy)
		})
	}
}

func TestEraseMember_RecallsTickets(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}})
	d.ask(t)
	require.Len(t, d.grace.Tickets(), 1)
	_, err := d.Runtime().EraseMember(t.Context(), fakes.DefaultApp, d.ada.ID())
	require.NoError(t, err)
	require.True(t, d.grace.Tickets()[0].IsRecalled)
}

func TestEraseMember_AgentCannotBeTold(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}})
	d.connect(t)
	group := document.Get(d.assignments(t)[0].GroupInfo, "externalId", "")
	d.Inject(fakes.Refuses(group, boterr.Unavailable).Of("desk"))
	erased, err := d.Runtime().EraseMember(t.Context(), fakes.DefaultApp, d.ada.ID())
	require.ErrorIs(t, err, boterr.Unavailable)
	require.True(t, erased.Member)
	_, err = d.Runtime().EraseMember(t.Context(), fakes.DefaultApp, d.ada.ID())
	require.NoError(t, err)
}

func TestLiveChatPosition_OfTheMemberAndForTheHost(t *testing.T) {
	t.Parallel()
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, []*botctx.Node{{ID: "none"}})
	at, err := d.ada.Context().LiveChatPosition(t.Context())
	require.NoError(t, err)
	require.Zero(t, at)
	d.ask(t)
	at, err = d.ada.Context().LiveChatPosition(t.Context())
	require.NoError(t, err)
	require.Equal(t, livechat.Position{Place: 1, Waiting: 1}, at)
	_, err = d.Operations(botctx.Scope{App: fakes.DefaultApp, Channel: "desk"}).LiveChatPosition(t.Context())
	require.ErrorIs(t, err, boterr.FailedPrecondition)

	asked := d.assignments(t)[0]
	at, err = d.Runtime().LiveChatPosition(t.Context(), fakes.DefaultApp, asked.ID)
	require.NoError(t, err)
	require.Equal(t, livechat.Position{Place: 1, Waiting: 1}, at)
	_, err = d.Runtime().LiveChatPosition(t.Context(), "another app", asked.ID)
	require.ErrorIs(t, err, boterr.NotFound)
	for label, want := range map[string]int64{"": 1, asked.Label: 1, "another": 0} {
		waiting, err := d.Runtime().WaitingRequests(t.Context(), fakes.DefaultApp, label)
		require.NoError(t, err)
		require.Equal(t, want, waiting, label)
	}
}

func TestTexts_OfTheHost(t *testing.T) {
	t.Parallel()
	own := livechat.Texts{Over: "C'est fini."}
	d := newDesk(t, channel.Channel{Type: channel.Charlie}, shopNodes(), withLiveChatTree(),
		fakes.Config(func(c *botctx.Config) { c.LiveChat.Texts = &own }))
	d.ada.Says("agent")
	before := len(d.ada.Messages())
	d.ada.Says("Hello?")
	require.Len(t, d.ada.Messages(), before, "switched off")
	d.grace.Takes(d.grace.Ticket())
	require.Equal(t, "Hello?", d.grace.Last())
	d.grace.Says("#done")
	d.grace.Says("Hello?")
	require.Equal(t, "C'est fini.", d.grace.Last())
}

func TestLiveChats_ConnectorPanics(t *testing.T) {
	t.Parallel()
	said := send.MessageEvent{Type: send.TypeText, Data: document.O("text", "hi"), From: "grace", To: "desk"}
	for name, inbound := range map[string]botctx.Inbound{
		"from the agent": {App: "shop", Channel: "desk", Event: said}, "from the member": fromAda("hi", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t)
			h.HandleFunc(func(context.Context, *botctx.Context) error { return nil })
			h.connect(t)
			h.platform.panics = true
			var err error
			require.NotPanics(t, func() { err = h.Receive(t.Context(), inbound) })
			require.Equal(t, boterr.Internal, boterr.CodeOf(err), "%v", err)
			var panicked *boterr.PanicError
			require.ErrorAs(t, err, &panicked)
			require.Contains(t, string(panicked.Stack), "plain")
			require.Contains(t, h.lines.String(), "botctx: panic")
			require.Contains(t, h.lines.String(), "app=shop")
			require.NotContains(t, h.lines.String(), "S3CRET")
		})
	}
}

func TestPanic_LoggedOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.platform.panics = true
	_, err := insertMember(t, h.Runtime, member.Member{ID: "bob", FirstName: "Bob"})
	require.NoError(t, err)
	_, err = h.ada.SendResponse(t.Context(), send.SendResponseParams{MemberID: document.One("ada", "bob"), Response: send.Text("hi")})
	require.Error(t, err)
	require.Equal(t, 1, strings.Count(h.lines.String(), "botctx: panic"), h.lines.String())
	require.Contains(t, h.lines.String(), "op=sendResponse")
	require.Contains(t, h.lines.String(), "plain")
	require.NotContains(t, h.lines.String(), "S3CRET")
}
