package fakes_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// trees are nodes of two trees, of which both have a menu.
func trees() []*botctx.Node {
	return []*botctx.Node{
		{ID: "menu", Tree: "shop", Trigger: botctx.TextIs("shop"), Responses: botctx.Say("The shop."), SavesPosition: true},
		{ID: "size", Tree: "shop", Parent: "menu", Trigger: botctx.TextIs("kettle"), Responses: botctx.Say("Which size?"), SavesPosition: true},
		{ID: "large", Tree: "shop", Parent: "size", Trigger: botctx.TextIs("large"), Responses: []send.Response{
			send.Template("A large one for {{meta.name}}."),
		}},
		{ID: "menu", Tree: "help", Trigger: botctx.TextIs("help"), Responses: botctx.Say("How can I help?"), SavesPosition: true},
		{ID: "hours", Tree: "help", Parent: "menu", Trigger: botctx.TextIs("hours"), Responses: botctx.Say("From 9 to 5.")},
		{ID: "reminder", Tree: "help", Responses: botctx.Say("Still there?")},
		{ID: "outside", Tree: "help", Entry: true},
	}
}

func TestSetPosition_ItsChildrenAnswerNext(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
	p.Handle(trees()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	bob := p.AddMember(member.Member{FirstName: "Bob"})
	ada.SetPosition("size")
	ada.Patch(document.Set("meta.name", "Ada L."))
	ada.Says("large")
	ada.Sees("A large one for Ada L..")
	bob.SetPositionIn("help", "menu")
	bob.Says("hours")
	bob.Sees("From 9 to 5.")
	bob.SetPosition("outside")
	require.Equal(t, "outside", bob.Member().BotMeta.NodeCompositeID())
	require.Empty(t, p.Calls(botctx.OpPatchMembers), "what a test sets up is no call of the bot's")
}

func TestPatch_PatchWithoutModifiersSetsItsFields(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(greet)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	ada.Patch(document.O("firstName", "Eve", "customLocale", "nb"))
	ada.Says("hi")
	require.Equal(t, "Hello Eve, you said: hi", ada.Last(), "she is the same member")
	require.Equal(t, "nb", ada.Member().CustomLocale)
}

func TestStart_EndsTheTestWhereItCannotBegin(t *testing.T) {
	t.Parallel()
	begin := func(p *fakes.Platform) *fakes.Actor {
		p.Handle(trees()...)
		return p.AddMember(member.Member{FirstName: "Ada"})
	}
	for prints, misuse := range map[string]func(p *fakes.Platform){
		`fakes: there is no node "sise": perhaps "size" is meant`:                                func(p *fakes.Platform) { begin(p).SetPosition("sise") },
		`fakes: there is no node "size": the platform handles none. Give Handle the nodes first`: func(p *fakes.Platform) { p.AddMember(member.Member{}).SetPosition("size") },
		`fakes: several trees have a node "menu": "shop", "help". Name the tree`:                 func(p *fakes.Platform) { begin(p).SetPosition("menu") },
		`fakes: there is no node "hour": perhaps "hours" is meant`:                               func(p *fakes.Platform) { begin(p).SetPositionIn("help", "hour") },
		`fakes: no conversation stands at the node large (tree shop): it never saves the position. Set SavesPosition, or Entry where an action sets the position there`: func(p *fakes.Platform) {
			begin(p).SetPosition("large")
		},
		`fakes: Ada cannot become {"$set":{"channel":"other"}}: invalid argument: patch.channel: the field is fixed and cannot be changed`: func(p *fakes.Platform) { begin(p).Patch(document.Set("channel", "other")) },
		`fakes: there is no node "remindr": perhaps "reminder" is meant`: func(p *fakes.Platform) {
			begin(p).AddAgenda(agenda.NewAgendaParams{NodeCompositeID: "remindr", NextRunAt: document.TimestampOf(fakes.Start())})
		},
		`fakes: the agenda of Ada: invalid argument: nextRunAt: is missing: give when the node runs, or a pattern`: func(p *fakes.Platform) {
			begin(p).AddAgenda(agenda.NewAgendaParams{NodeCompositeID: "reminder"})
		},
		`fakes: Ada has the assignment id-1 already`: func(p *fakes.Platform) {
			ada, _ := desk(p)
			ada.AddAssignment(livechat.CreateAssignmentParams{})
			ada.AddAssignment(livechat.CreateAssignmentParams{})
		},
		`fakes: Linus cannot take the request of Ada: failed precondition: assignmentId: Grace (U000001) has the assignment id-1 already, since 00:00:00 UTC`: func(p *fakes.Platform) {
			ada, grace := desk(p)
			grace.AddConversation(ada)
			p.AddAgent("desk", "Linus").AddConversation(ada)
		},
	} {
		var tb recordedTB
		tb.run(misuse)
		require.Equal(t, []string{prints}, tb.failures)
	}
}

func TestAddAgenda_RunsWhenItIsDue(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
	p.Handle(trees()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	made := ada.AddAgenda(agenda.NewAgendaParams{
		NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(fakes.Start().Add(time.Hour)), Tag: "reminder",
	})
	require.Equal(t, "help", made.Tree)
	require.Len(t, ada.Agendas(), 1)
	p.Advance(time.Hour - 1)
	ada.SeesNothing()
	p.Advance(1)
	ada.Sees("Still there?")
	require.Empty(t, p.Calls(botctx.OpNewAgenda))
}

func TestAddAssignment_IsPendingUntilAnAgentTakesIt(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("the bot")) })
	ada, grace := desk(p)
	made := ada.AddAssignment(livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Summary: "It leaks."},
	})
	require.Equal(t, []*livechat.Assignment{made}, pendingIn(p))
	grace.Takes(grace.Ticket())
	ada.Reads()
	grace.Reads()
	ada.Says("Help!")
	grace.Sees("Help!")
	require.Empty(t, p.Calls())
}

// pendingIn returns the requests that wait at the desk.
func pendingIn(p *fakes.Platform) (all []*livechat.Assignment) {
	for _, one := range p.Queue("desk") {
		all = append(all, &one.Assignment)
	}
	return all
}

func TestAddConversation_BeginsAmidALiveChat(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("the bot")) })
	ada, grace := desk(p)
	p.AddChannel(channel.Channel{ID: "other"})
	grace.AddConversation(ada)
	ada.SeesNothing()
	grace.SeesNothing()
	ada.Says("Help!")
	grace.Sees("Help!")
	grace.Says("Where?")
	ada.Sees("Where?")
	grace.Ends()
	ada.Reads()
	grace.Reads()
	ada.Says("hi")
	ada.Sees("the bot")
}

func TestAddConversation_TakesTheRequestThatIsThere(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	ada, grace := desk(p)
	made := ada.AddAssignment(livechat.CreateAssignmentParams{})
	grace.AddConversation(ada)
	taken, err := ada.Context().GetAssignment(t.Context(), livechat.GetAssignmentParams{AssignmentID: made.ID})
	require.NoError(t, err)
	require.Equal(t, grace.ExternalID(), taken.Assignee)
}
