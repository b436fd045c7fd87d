package main

import (
	"context"
	"errors"
	"regexp"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

var (
	commandForm  = regexp.MustCompile(`^\s*/`)
	transferForm = regexp.MustCompile(`^\s*/transfer\s+(\S+)\s*$`)
)

// agentNodes returns the commands of agents. Messages that they do not answer go to the customer.
func agentNodes() []*botctx.Node {
	return []*botctx.Node{
		{ID: "done", Tree: treeAgents, Trigger: command(botctx.TextIs("/done")), Pre: botctx.Do(end, sayGoodbye)},
		{ID: "transfer", Tree: treeAgents, Trigger: command(botctx.TextMatches(transferForm)), Pre: botctx.Do(transfer)},
		// A message that looks like a command, but is unknown, must not reach the customer.
		{
			ID: "commands", Tree: treeAgents, Trigger: command(botctx.TextMatches(commandForm)), Priority: 900,
			Pre: botctx.Do(answer("I know /done and /transfer TEAM.")),
		},
		{
			ID: "no customer", Tree: treeAgents, Trigger: botctx.AllOf(botctx.AnyText(), botctx.Not(isInLiveChat())),
			Priority: botctx.FallbackPriority, Responses: botctx.Say("There is no customer here, {{firstName}}."),
		},
	}
}

// command matches if a trigger does, in a live chat.
func command(trigger botctx.Trigger) botctx.Trigger { return botctx.AllOf(isInLiveChat(), trigger) }

// isInLiveChat matches an agent's messages in a live chat.
func isInLiveChat() botctx.Trigger {
	return botctx.When(func(bot *botctx.Context) bool { return bot.Group != nil })
}

// sayGoodbye says goodbye to the customer. The chat has already ended, so that it ends even if the customer
// cannot be reached.
func sayGoodbye(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.SendMessageToInlet(ctx, livechat.SendMessageToInletParams{
		Channel: bot.Channel, MessageEvent: bot.MessageEvent, Response: send.Template("Goodbye, {{firstName}}!"),
	})
	return err
}

func end(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.EndLiveChat(ctx, livechat.EndParams{Channel: bot.Channel, MessageEvent: bot.MessageEvent})
	return err
}

// transfer passes the customer on to another team, which gets a new ticket.
func transfer(ctx context.Context, bot *botctx.Context) error {
	team := transferForm.FindStringSubmatch(bot.MessageEvent.Text())[1]
	_, err := bot.ReassignAssignment(ctx, livechat.ReassignAssignmentParams{
		Channel: bot.Channel, MessageEvent: bot.MessageEvent, Label: team,
	})
	if errors.Is(err, boterr.FailedPrecondition) {
		return answer("There is no team "+team+".")(ctx, bot)
	}
	return err
}

// answer returns an action that writes to the agent, in the conversation with the customer, who does not see
// it.
func answer(text string) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.SendMessageToOutletGroup(ctx, livechat.SendMessageToOutletGroupParams{
			GroupID: bot.Group.ID, Response: send.Text(text),
		})
		return err
	}
}
