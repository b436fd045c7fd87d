package conversation_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// shop is a bot that answers, charges and mails.
func shop() []*botctx.Node {
	return []*botctx.Node{
		{ID: "hi", Trigger: botctx.TextIs("hi"), Responses: botctx.Say("Hello {{firstName}}!")},
		{ID: "buy", Trigger: botctx.TextIs("buy"), Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
			shop, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
			if err != nil {
				return err
			}
			_, err = shop.Client.Charge(ctx, utility.Charge{Amount: 100, Currency: "eur", PaymentMethod: "card"})
			return said(ctx, bot, "Paid.", err)
		})},
		{ID: "mail", Trigger: botctx.TextIs("mail"), Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
			_, err := bot.SendEmail(ctx, utility.SendEmailParams{
				Destination: utility.EmailDestination{ToAddresses: []string{"ada@example.com"}},
				Message:     utility.EmailMessage{Subject: utility.EmailText{Data: "Hello"}, Body: utility.EmailBody{Text: &utility.EmailText{Data: "Hello!"}}},
			})
			return said(ctx, bot, "Sent.", err)
		})},
	}
}

// said says how something ended.
func said(ctx context.Context, bot *botctx.Context, done string, err error) error {
	if err != nil {
		done = "That failed: " + string(boterr.CodeOf(err))
	}
	return bot.Reply(ctx, send.Text(done))
}

// holds plays a conversation on a new platform with the shop, and requires that it comes as it is written.
func holds(t *testing.T, text string) *conversation.Session {
	t.Helper()
	kept, err := conversation.Parse("kept.chat", text)
	require.NoError(t, err)
	p := fakes.New(fakes.For(t))
	p.AddAccount("shop")
	p.Handle(shop()...)
	stage := conversation.NewSession(p)
	came, err := stage.Play(kept)
	require.NoError(t, err)
	require.Empty(t, conversation.Difference(kept, came))
	return stage
}

func TestPlay_MembersOfAGroupReadWhatItIsSent(t *testing.T) {
	t.Parallel()
	stage := holds(t, `member Ada
member Bob
Ada joins the group family
Bob joins the group family

Ada in family: hi
Bot: Hello Ada!
Bot to Bob in family: Hello Ada!

Ada: hi
Bot: Hello Ada!
`)
	test, err := stage.GoTest(conversation.GoTest{Nodes: "shop()"})
	require.NoError(t, err)
	require.Contains(t, test, "adaInFamily := ada.InGroup(\"family\")\n")
	require.Contains(t, test, "adaInFamily.Says(\"hi\")\n\trequire.Equal(t, \"Hello Ada!\", adaInFamily.Last())\n"+
		"\trequire.Equal(t, \"Hello Ada!\", bobInFamily.Last())\n")
}

func TestPlay_WhatServicesRefuse(t *testing.T) {
	t.Parallel()
	stage := holds(t, `member Ada

The next charge of shop is declined: insufficient_funds

Ada: buy
Bot: That failed: FailedPrecondition

Ada: buy
Bot: Paid.

The next mail fails: Unavailable

Ada: mail
Bot: That failed: Unavailable

Ada: mail
Bot: Sent.

Mail to ada@example.com bounces

Ada: mail
Bot: That failed: InvalidArgument

The next file fails: NotFound
`)
	test, err := stage.GoTest(conversation.GoTest{Nodes: "shop()"})
	require.NoError(t, err)
	for _, line := range []string{
		"p.Account(\"shop\").DeclineNext(\"insufficient_funds\").Optional()", "p.FailNextMail(boterr.Unavailable).Optional()",
		"p.RefuseMailTo(\"ada@example.com\")", "p.FailNextFile(boterr.NotFound).Optional()",
	} {
		require.Contains(t, test, line)
	}
}

func TestPlay_GroupsThatCannotBeJoinedAreMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Eve joins the group a\nEve joins the group a":                            "somebody is called Eve in a already",
		"Bob joins the group a\nBob in a joins the group b":                       "speaks in a group",
		"member Ada\nEve joins the group a":                                       "nobody is called Eve",
		"member Ada\nThe next charge of bank is declined: x":                      "there is no payment account \"bank\"",
		"member Ada\nMail to nobody bounces":                                      "is no address",
		"member Ada\ndesk d\nagent Grace at d\nGrace joins the group family\nx:y": "Grace is an agent",
	} {
		kept, err := conversation.Parse("kept.chat", text)
		require.NoError(t, err)
		p := fakes.New()
		_, err = conversation.NewSession(p).Play(kept)
		require.ErrorContains(t, err, want)
		require.ErrorIs(t, err, boterr.InvalidArgument)
	}
}
