package main

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

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
