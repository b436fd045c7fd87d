package main

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// customerNodes returns what customers may say. Those of the second tree answer while the
// customer is in a live chat; what they do not answer goes to the agent.
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

// callPerson asks for a person. If there is none, the customer stays with the bot.
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

// leave ends the live chat for the customer. It tells the agent; if none has come yet, it
// takes the tickets back.
func leave(ctx context.Context, bot *botctx.Context) error {
	group, err := bot.GetGroupByMemberID(ctx, livechat.GetGroupByMemberIDParams{Inlet: bot.Channel.ID, MemberID: bot.Member.ID})
	hasAgent := err == nil && group.Active
	switch {
	case hasAgent:
		_, err = bot.SendMessageToOutletGroup(ctx, livechat.SendMessageToOutletGroupParams{
			Group: group, Response: send.Text("The customer has left."),
		})
	case errors.Is(err, boterr.NotFound): // The customer has never talked to anybody.
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
