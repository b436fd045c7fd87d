package patterns_test

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// commands are the patterns of what agents say to the bot.
func commands() []pattern {
	return []pattern{{
		name: "agent-commands", nodes: agentCommands, prepare: (*stage).ticketing,
		talk: func(s *stage) {
			s.says("agent")
			s.grace.Takes(s.grace.Ticket())
			s.grace.Says("I ask the sales.")
			s.grace.Says("#sales")
			s.hedy.Takes(s.hedy.Ticket())
			s.hedy.Says("That is 20.")
			s.hedy.Says("#done")
		},
		want: "desk: Ada asks for a person.\nHelp!\ndesk: Help!\nAda: I ask the sales.\n" +
			"desk: Ada asks for a person.\nHelp!\ndesk: Help!\nAda: That is 20.\nAda: Bye Ada!\n",
	}}
}

func agentCommands() []*botctx.Node {
	call := asks(func(bot *botctx.Context) livechat.CreateAssignmentParams {
		return livechat.CreateAssignmentParams{Member: bot.Member, AssignmentDetails: livechat.AssignmentDetails{Summary: "Help!"}}
	})
	return []*botctx.Node{
		{ID: "agent", Trigger: botctx.TextIs("agent"), Pre: botctx.Do(call)},
		{ID: "transfer", Tree: "agents", Trigger: botctx.TextIs("#sales"), Pre: botctx.Do(transfer)},
		{ID: "done", Tree: "agents", Trigger: botctx.TextIs("#done"), Pre: botctx.Do(goodbye, archive, endLiveChat)},
	}
}

func transfer(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.ReassignAssignment(ctx, livechat.ReassignAssignmentParams{
		MessageEvent: bot.MessageEvent, Channel: bot.Channel, Label: "sales",
	})
	return err
}

func goodbye(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.SendMessageToInlet(ctx, livechat.SendMessageToInletParams{
		MessageEvent: bot.MessageEvent, Channel: bot.Channel, Response: send.Template("Bye {{firstName}}!"),
	})
	return err
}

func archive(ctx context.Context, bot *botctx.Context) error {
	if bot.ChannelType() != channel.Charlie {
		return nil
	}
	_, err := bot.CharlieArchiveConversation(ctx, send.CharlieArchiveConversationParams{
		MessageEvent: bot.MessageEvent, Channel: bot.Channel,
	})
	return err
}

func endLiveChat(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.EndLiveChat(ctx, livechat.EndLiveChatParams{MessageEvent: bot.MessageEvent, Channel: bot.Channel})
	return err
}
