package main

import (
	"context"
	"errors"
	"regexp"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// The channels of the shop: one for customers, one for agents.
const (
	web  = "web"
	desk = "desk"
)

// The trees of nodes: for customers, for customers who are in a live chat, and for agents.
const (
	treeCustomers = "customers"
	treeLiveChat  = "live chat"
	treeAgents    = "agents"
)

// Channels returns the channels of the shop, the inlet first. A label of the outlet's broadcast groups is a
// team: "default" gets a request first.
func Channels() (inlet, outlet channel.Channel) {
	inlet = channel.Channel{ID: web, Type: channel.Webchat, PriorityGroups: served(treeCustomers)}
	outlet = channel.Channel{
		ID: desk, Type: channel.Charlie, PriorityGroups: served(treeAgents),
		BroadcastGroups: []channel.BroadcastGroup{
			{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "#counter", Type: "public_channel"}}},
			{Label: "workshop", Groups: []channel.BroadcastGroupMember{{ID: "#workshop", Type: "public_channel"}}},
		},
	}
	return inlet, outlet
}

// served returns the priority groups of a channel that one tree serves.
func served(tree string) []channel.PriorityGroup {
	return []channel.PriorityGroup{{Group: "everybody", Trees: []string{tree}}}
}

// Flow selects the nodes that may answer customers in a live chat.
func Flow() botctx.Flow {
	return botctx.Flow{LiveChatTree: func(*botctx.Context) string { return treeLiveChat }}
}

// Nodes returns the bot's nodes, and the commands of agents.
func Nodes() []*botctx.Node { return append(customerNodes(), agentNodes()...) }

// openShop returns a fake platform with the shop.
func openShop(options ...fakes.Option) *fakes.Platform {
	p := fakes.New(append(options, fakes.Config(func(c *botctx.Config) { c.Flow = Flow() }))...)
	p.Handle(Nodes()...)
	inlet, outlet := Channels()
	p.AddChannel(inlet)
	p.AddChannel(outlet)
	p.Pair(web, desk)
	return p
}

func addCustomer(p *fakes.Platform, name string) *fakes.Actor {
	return p.AddMember(member.Member{Channel: web, FirstName: name})
}

// customerNodes returns the nodes for customers. The second tree answers while the customer is in a live
// chat; messages that it does not answer go to the agent.
func customerNodes() []*botctx.Node {
	return []*botctx.Node{
		{
			ID: "hours", Tree: treeCustomers, Trigger: botctx.TextIs("hours"), Global: botctx.GlobalInTree,
			Responses: botctx.Say("We are open from 9 to 18, Monday to Saturday."),
		},
		{
			ID: "person", Tree: treeCustomers, Trigger: botctx.TextIs("person"), Global: botctx.GlobalInTree,
			Responses: botctx.Say("What is it about?"), SavesPosition: true,
		},
		{
			ID: "about", Tree: treeCustomers, Parent: "person", Trigger: botctx.AnyText(), Priority: 1,
			Redirect: botctx.ToOneOf(callPerson, "called", "away"),
		},
		{
			ID: "called", Tree: treeCustomers, SavesPosition: true,
			Responses: botctx.Say("I have called a colleague. Say bye to continue with me."),
		},
		{ID: "away", Tree: treeCustomers, Responses: botctx.Say("Sorry, no colleague is there. Try again later."), SavesPosition: true},
		{
			ID: "help", Tree: treeCustomers, Trigger: botctx.AnyText(), Global: botctx.GlobalInTree, Priority: 1000,
			Responses: botctx.Say("Hello {{firstName}}! Say hours, or person to talk to one."),
		},

		{
			ID: "bye", Tree: treeLiveChat, Trigger: botctx.TextIs("bye"), Global: botctx.GlobalInChannel,
			Pre: botctx.Do(leave), Responses: botctx.Say("Back with me."),
		},
	}
}

// callPerson requests a person. If none is available, the customer stays with the bot.
func callPerson(ctx context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
	_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{
			Summary:   bot.MessageEvent.Text(),
			GroupName: bot.Member.FirstName + " (web)",
		},
	})
	switch {
	case errors.Is(err, boterr.FailedPrecondition): // The desk is closed.
		return botctx.GoTo("away")
	case err != nil:
		return nil, err
	default:
		return botctx.GoTo("called")
	}
}

// leave ends the live chat for the customer. It informs the agent, or withdraws the tickets if none has come
// yet.
func leave(ctx context.Context, bot *botctx.Context) error {
	group, err := bot.GetGroupByMemberID(ctx, livechat.GetGroupByMemberIDParams{Inlet: bot.Channel.ID, MemberID: bot.Member.ID})
	hasAgent := err == nil && group.Active
	switch {
	case hasAgent:
		_, err = bot.SendMessageToOutletGroup(ctx, livechat.SendMessageToOutletGroupParams{
			Group: group, Response: send.Text("The customer has left."),
		})
	case errors.Is(err, boterr.NotFound): // The customer has never talked to an agent.
		err = nil
	}
	if err != nil {
		return err
	}
	_, err = bot.InletEndLiveChat(ctx, livechat.InletEndParams{
		Options: livechat.InletEndLiveChatOptions{RecallRelayMessage: livechat.Truthy(!hasAgent)},
	})
	return err
}

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
