package patterns_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// chatAPI is the live-chat API of the custom outlet.
const chatAPI = "https://shop.example/chats"

// requests are the patterns of members who want a person.
func requests() []pattern {
	return []pattern{
		{
			name: "custom-outlet", nodes: customOutlet,
			prepare: func(s *stage) {
				s.openDesk(channel.Channel{Type: channel.Custom, Metadata: document.O("liveChatApi", chatAPI)})
				s.HTTP.Add("POST", chatAPI, web.JSON(200, `{"groupId": "room 7"}`))
			},
			talk: func(s *stage) { s.says("help", "Where is it?"); s.grace.Says("On its way."); s.says("leave") },
			want: "Ada: One moment, Ada.\ndesk: Where is it?\nAda: On its way.\nAda: You have left.\n",
		},
		{
			name: "ticketing-outlet", nodes: ticketingOutlet,
			prepare: func(s *stage) { s.ticketing(); s.keeps("meta", document.O("order", 7)) },
			talk: func(s *stage) {
				s.says("agent")
				s.grace.Takes(s.grace.Ticket())
				s.says("Where is it?")
				s.grace.Says("On its way.")
				s.says("quit")
			},
			want: "desk: Ada is waiting\nAda: One moment, Ada.\ndesk: Order 7 is late.\ndesk: Where is it?\n" +
				"Ada: On its way.\ndesk: The customer has left.\nAda: Back with the bot.\n",
		},
		{
			name: "explicit-targets", nodes: explicitTargets, prepare: (*stage).ticketing,
			talk: func(s *stage) { s.says("sales"); s.hedy.Takes(s.hedy.Ticket()); s.hedy.Says("Here I am.") },
			want: "desk: Ada asks for a person.\nShe wants to buy.\ndesk: She wants to buy.\nAda: Here I am.\n",
		},
		{
			name: "auto-end", nodes: autoEnd, needs: []string{"moment"}, prepare: (*stage).ticketing,
			talk: func(s *stage) {
				s.says("agent")
				s.grace.Takes(s.grace.Ticket())
				s.Advance(9 * time.Minute)
				s.says("Are you there?")
				s.Advance(9 * time.Minute)
				s.Advance(time.Minute)
			},
			want: "desk: Ada asks for a person.\ndesk: Are you there?\nAda: Nobody has written for ten minutes: back with the bot.\n",
		},
		{
			name: "housekeeping", nodes: housekeeping, prepare: (*stage).ticketing,
			talk: func(s *stage) {
				s.says("agent")
				s.grace.Takes(s.grace.Ticket())
				s.says("rate 5")
				s.grace.Says("#done")
				s.Advance(time.Minute)
				s.says("agent", "cancel", "history")
			},
			want: "desk: Ada asks for a person.\ndesk: Ada asks for a person.\nAda: order 7: 5\n",
		},
	}
}

// asks returns an action that asks for a person.
func asks(params func(bot *botctx.Context) livechat.CreateAssignmentParams) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		asked, err := bot.CreateAssignment(ctx, params(bot))
		if err == nil {
			bot.Member = asked.Member
		}
		return err
	}
}

// leave ends the live chat from the member's side.
func leave(ctx context.Context, bot *botctx.Context) error {
	ended, err := bot.InletEndLiveChat(ctx, livechat.InletEndLiveChatParams{Member: bot.Member, Channel: bot.Channel})
	if err != nil {
		return err
	}
	bot.Member = ended.Member
	bot.Member.Group = ""
	return nil
}

func customOutlet() []*botctx.Node {
	ask := func(ctx context.Context, bot *botctx.Context) error {
		asked, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
			Member:            bot.Member,
			AssignmentDetails: livechat.AssignmentDetails{Summary: "Order 7 is late.", Unknown: document.O("queue", "returns")},
			CreateGroup:       &livechat.CreateGroup{ExternalID: "room 7"},
		})
		if err != nil {
			return err
		}
		bot.Member = asked.Member
		bot.Member.Group = asked.GroupID
		return nil
	}
	return []*botctx.Node{
		{ID: "help", Trigger: botctx.TextIs("help"), Pre: botctx.Do(ask), Responses: botctx.Say("One moment, {{firstName}}.")},
		{
			ID: "leave", Tree: "live chat", Trigger: botctx.TextIs("leave"), Pre: botctx.Do(leave),
			Responses: botctx.Say("You have left."),
		},
	}
}

func ticketingOutlet() []*botctx.Node {
	call := asks(func(bot *botctx.Context) livechat.CreateAssignmentParams {
		order := document.Get(bot.Member.Meta, "order", 0)
		return livechat.CreateAssignmentParams{
			Member: bot.Member,
			AssignmentDetails: livechat.AssignmentDetails{
				Summary: fmt.Sprintf("Order %d is late.", order), GroupName: fmt.Sprintf("Order %d", order),
				RelayMessage: map[channel.Type]send.Response{
					channel.Charlie: send.Raw(document.O("type", "BUTTON", "text", "{{firstName}} is waiting", "buttons", document.A(
						document.O("type", "postback", "title", "Take", "payload", document.O("payload", livechat.TakePayload)),
					))).WithPlaceholders(),
				},
			},
			Meta: document.O("order", order),
		}
	})
	save := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.SaveGroupIDToMember(ctx, livechat.SaveGroupIDToMemberParams{Channel: bot.Channel, MessageEvent: bot.MessageEvent})
		return err
	}
	tell := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.SendMessageToOutletGroup(ctx, livechat.SendMessageToOutletGroupParams{
			GroupID: bot.Member.Group, Response: send.Text("The customer has left."),
		})
		return err
	}
	inLiveChat := botctx.AllOf(botctx.AnyText(), botctx.When(func(bot *botctx.Context) bool { return bot.Group != nil }))
	return []*botctx.Node{
		{ID: "agent", Trigger: botctx.TextIs("agent"), Pre: botctx.Do(call), Responses: botctx.Say("One moment, {{firstName}}.")},
		{
			ID: "quit", Tree: "live chat", Trigger: botctx.TextIs("quit"), Pre: botctx.Do(tell, leave),
			Responses: botctx.Say("Back with the bot."),
		},
		{ID: "save", Tree: "agents", Priority: botctx.MutePriority, Trigger: inLiveChat, Pre: botctx.Do(save)},
	}
}

func explicitTargets() []*botctx.Node {
	ask := asks(func(bot *botctx.Context) livechat.CreateAssignmentParams {
		return livechat.CreateAssignmentParams{
			Member: bot.Member, AssignmentDetails: livechat.AssignmentDetails{Summary: "She wants to buy."}, Label: "nobody's",
			Targets: []livechat.Target{{
				Channel: "desk", BroadcastGroups: []channel.BroadcastGroupMember{{Type: "public_channel", ID: "sales"}},
			}},
		}
	})
	return []*botctx.Node{{ID: "sales", Trigger: botctx.TextIs("sales"), Pre: botctx.Do(ask)}}
}

func autoEnd() []*botctx.Node {
	call := asks(func(bot *botctx.Context) livechat.CreateAssignmentParams {
		return livechat.CreateAssignmentParams{Member: bot.Member, SetLiveChatAgenda: new(false)}
	})
	arm := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.NewAgenda(ctx, agenda.NewAgendaParams{
			MemberID: bot.Member.ID, TreeID: "live chat", NodeCompositeID: "auto end",
			NextRunAt: document.TimestampOf(bot.Now().Add(10 * time.Minute)), Tag: "auto end", Replace: true,
		})
		return err
	}
	end := func(ctx context.Context, bot *botctx.Context) error {
		ended, err := bot.InletEndLiveChat(ctx, livechat.InletEndLiveChatParams{Member: bot.Member, Channel: bot.Channel})
		if err == nil {
			bot.Member = ended.Member
		}
		return err
	}
	later := []botctx.NodeRef{{CompositeID: "auto end", Tree: "live chat"}}
	return []*botctx.Node{
		{ID: "agent", Trigger: botctx.TextIs("agent"), Pre: botctx.Do(call, arm), Schedules: later},
		{ID: "again", Tree: "live chat", Trigger: botctx.AnyText(), Priority: botctx.MutePriority, Pre: botctx.Do(arm)},
		{
			ID: "auto end", Tree: "live chat", Pre: botctx.Do(end),
			Responses: botctx.Say("Nobody has written for ten minutes: back with the bot."),
		},
	}
}

func housekeeping() []*botctx.Node {
	call := asks(func(bot *botctx.Context) livechat.CreateAssignmentParams {
		return livechat.CreateAssignmentParams{Member: bot.Member, Meta: document.O("order", 7)}
	})
	cancel := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.RemovePendingAssignmentByMemberID(ctx, livechat.RemovePendingAssignmentByMemberIDParams{MemberID: bot.Member.ID})
		return err
	}
	return []*botctx.Node{
		{ID: "agent", Trigger: botctx.TextIs("agent"), Pre: botctx.Do(call)},
		{ID: "rate", Tree: "live chat", Trigger: botctx.TextMatches(regexp.MustCompile(`^rate \d$`)), Pre: botctx.Do(rate)},
		{ID: "history", Trigger: botctx.TextIs("history"), Pre: botctx.Do(history)},
		{ID: "cancel", Tree: "live chat", Trigger: botctx.TextIs("cancel"), Pre: botctx.Do(cancel)},
		{ID: "done", Tree: "agents", Trigger: botctx.TextIs("#done"), Pre: botctx.Do(endLiveChat)},
	}
}

func rate(ctx context.Context, bot *botctx.Context) error {
	found, err := bot.GetAssignmentsByMemberID(ctx, livechat.GetAssignmentsByMemberIDParams{
		MemberID: bot.Member.ID, SortBy: document.O("createdAt", -1),
	})
	if err != nil {
		return err
	}
	rating, err := strconv.Atoi(strings.TrimPrefix(bot.MessageEvent.Text(), "rate "))
	if err != nil {
		return err
	}
	_, err = bot.UpdateAssignmentMeta(ctx, livechat.UpdateAssignmentMetaParams{
		AssignmentID: found[0].ID, Meta: found[0].Meta.With("rating", rating),
	})
	return err
}

func history(ctx context.Context, bot *botctx.Context) error {
	found, err := bot.GetAssignmentsByMeta(ctx, livechat.GetAssignmentsByMetaParams{Meta: document.O("order", 7)})
	if err != nil {
		return err
	}
	lines := make([]string, len(found))
	for i, listed := range found {
		one, err := bot.GetAssignment(ctx, livechat.GetAssignmentParams{AssignmentID: listed.ID})
		if err != nil {
			return err
		}
		rating := "not rated"
		if stars := document.Get(one.Meta, "rating", 0); stars > 0 {
			rating = strconv.Itoa(stars)
		}
		lines[i] = fmt.Sprintf("order %d: %s", document.Get(one.Meta, "order", 0), rating)
	}
	slices.Sort(lines)
	return reply(ctx, bot, strings.Join(lines, ", "))
}
