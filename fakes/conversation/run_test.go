package conversation_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

var _ = flag.Bool("update", false, "write the files that tests compare with")

func TestRun(t *testing.T) {
	t.Parallel()
	conversation.Run(t, "testdata/*.chat", func(t *testing.T) *conversation.Session {
		t.Helper()
		p := fakes.New(fakes.For(t))
		p.Handle(nodes()...)
		return conversation.NewSession(p)
	})
}

func TestPlay_FailsWithItsCode(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]fakes.Option{"at once": nil, "in the inbox": {fakes.WithInbox()}} {
		p := fakes.New(options...)
		p.Handle(nodes()...)
		played, err := conversation.NewSession(p).Play(conversation.Conversation{
			Steps: []conversation.Step{{Act: conversation.Says{By: "Ada", Text: "pay"}}},
		})
		require.NoError(t, err, name)
		require.Equal(t, conversation.Failure{Fails: true, Code: boterr.Unavailable}, played.Steps[0].Failure, name)
	}
}

// nodes returns the bot of a shop that sells kettles.
func nodes() []*botctx.Node {
	return []*botctx.Node{
		{ID: "kettles", Trigger: botctx.TextIs("kettles"), Responses: []send.Response{send.Carousel(
			send.Card{Title: "Steel", Subtitle: "holds two litres", Buttons: []send.Button{
				send.Postback("Buy", "steel"), send.WebURL("More", "https://shop.example/steel"),
			}},
			send.Card{Title: "Glass", Buttons: []send.Button{send.Postback("Buy", "glass")}},
		).With("text", "Which one?")}},
		{ID: "bought", Trigger: botctx.TriggerFunc(isTap), Pre: botctx.Do(confirm)},
		{ID: "pay", Trigger: botctx.TextIs("pay"), Pre: botctx.Do(func(context.Context, *botctx.Context) error {
			return boterr.New(boterr.Unavailable, "", "the till does not answer: try it later")
		})},
		{ID: "person", Trigger: botctx.TextIs("a person"), Pre: botctx.Do(callPerson), Responses: botctx.Say("Somebody comes.")},
		{ID: "remind", Trigger: botctx.TextIs("remind me"), Pre: botctx.Do(schedule), Responses: botctx.Say("I will.")},
		{ID: "unknown", Trigger: botctx.TextIs("שלום"), Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
			return bot.Reply(ctx, send.Text(`אני לא מבין "`+bot.MessageEvent.Text()+`".`))
		})},
		{ID: "reminder", Responses: botctx.Say("The kettle boils.")},
	}
}

func isTap(_ context.Context, bot *botctx.Context) (bool, error) {
	return bot.MessageEvent.Type == send.TypePayload, nil
}

func confirm(ctx context.Context, bot *botctx.Context) error {
	return bot.Reply(ctx, send.Text("You bought "+bot.MessageEvent.Payload()+"."))
}

func callPerson(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
		AssignmentDetails: livechat.AssignmentDetails{Summary: "A kettle leaks."},
	})
	return err
}

func schedule(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.NewAgenda(ctx, agenda.NewParams{
		MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(bot.Now().Add(24 * time.Hour)),
	})
	return err
}

// shop returns a bot that answers, charges and mails.
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

// said replies done, or a failure if err is set.
func said(ctx context.Context, bot *botctx.Context, done string, err error) error {
	if err != nil {
		done = "That failed: " + string(boterr.CodeOf(err))
	}
	return bot.Reply(ctx, send.Text(done))
}

// holds plays a conversation on a new platform with the shop, and requires the written results.
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

Back in service: mail to ada@example.com

Ada: mail
Bot: Sent.

The next file fails: NotFound
`)
	test, err := stage.GoTest(conversation.GoTest{Nodes: "shop()"})
	require.NoError(t, err)
	for _, line := range []string{
		"p.Inject(fakes.Declines(\"shop\", \"insufficient_funds\")).Optional()", "p.Inject(fakes.Fails(fakes.ServiceMail, boterr.Unavailable)).Optional()",
		"p.Inject(fakes.Refuses(\"ada@example.com\", boterr.InvalidArgument))\n", "p.Inject(fakes.Fails(fakes.ServiceFiles, boterr.NotFound)).Optional()",
	} {
		require.Contains(t, test, line)
	}
}

func TestPlay_RefusedPeopleAndLimits(t *testing.T) {
	t.Parallel()
	stage := holds(t, `channel page of type alpha
member Ada at page
member Bob at page
desk support
agent Grace at support

Out of service: messages to Ada

Out of service for 1 hour with NotFound: messages to Grace

Ada: hi
Fails: FailedPrecondition

Bob: hi
Bot: Hello Bob!

Back in service: messages to Ada

Ada: hi
Bot: Hello Ada!

At most 1 message in 1 minute: channel page

Ada: hi
Bot: Hello Ada!

Bob: hi
Fails: ResourceExhausted

No limit of messages: channel page

Bob: hi
Bot: Hello Bob!
`)
	test, err := stage.GoTest(conversation.GoTest{Nodes: "shop()"})
	require.NoError(t, err)
	for _, line := range []string{
		"grace := p.AddAgent(", "p.Inject(fakes.Refuses(ada, boterr.FailedPrecondition))\n", "p.Lift(fakes.Refuses(ada, boterr.FailedPrecondition))\n",
		"p.Inject(fakes.Refuses(grace, boterr.NotFound).Lasting(time.Hour))\n", "p.Inject(fakes.Limits(\"page\", 1, time.Minute))\n",
		"p.Lift(fakes.Limits(\"page\", 0, 0))\n",
	} {
		require.Contains(t, test, line)
	}
	_, err = stage.Do(conversation.Lifts{Fault: fakes.Refuses("Eve", nil).Of("")})
	require.ErrorContains(t, err, "there is no person Eve")
}

func TestPlay_CrashesAndOutages(t *testing.T) {
	t.Parallel()
	holds(t, `member Ada

Out of service: payments

Ada: buy
Bot: That failed: Unavailable

Back in service: payments

Ada: buy
Bot: Paid.

The next message comes twice

Ada: mail
Bot: Sent.

The process crashes

The process starts again

Ada: mail
Bot: Sent.
`)
}

func TestPlay_GroupsThatCannotBeJoinedAreMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Eve joins the group a\nEve joins the group a":                            "the name Eve in a is taken",
		"Bob joins the group a\nBob in a joins the group b":                       "speaks in a group",
		"member Ada\nEve joins the group a":                                       "there is no person Eve",
		"member Ada\nThe next charge of bank is declined: x":                      "there is no payment account \"bank\"",
		"member Ada\nMail to nobody bounces":                                      "is not a mail address",
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

func TestDo_ActOfNobodyIsAMistake(t *testing.T) {
	t.Parallel()
	for _, act := range []conversation.Act{
		conversation.Says{Text: "hi"},
		conversation.Sends{Event: send.MessageEvent{Type: send.TypeText}},
		conversation.Taps{Title: "Yes"},
		conversation.Takes{},
		conversation.TapsTicket{},
		conversation.Ends{},
	} {
		_, err := conversation.NewSession(fakes.New(fakes.For(t))).Do(act)
		var mistake *conversation.UsageError
		require.ErrorAs(t, err, &mistake, "%T", act)
	}
}

func TestDo_ImpossibleActs(t *testing.T) {
	t.Parallel()
	s := conversation.NewSession(fakes.New(fakes.For(t)))
	for _, act := range []conversation.Act{nil, (*conversation.Says)(nil), conversation.Waits{For: -1}} {
		_, err := s.Do(act)
		var mistake *conversation.UsageError
		require.ErrorAs(t, err, &mistake, "%T", act)
	}
	require.Empty(t, s.Conversation().Steps)
}

func TestPlay_StepWithoutAnAct(t *testing.T) {
	t.Parallel()
	c := conversation.Conversation{Steps: []conversation.Step{{Line: 7}}}
	require.Equal(t, "# a step without an act\n", c.String())
	_, err := conversation.NewSession(fakes.New(fakes.For(t))).Play(c)
	require.EqualError(t, err, "line 7: the act is missing: give one, such as Says")
}

func TestSession_AddsNoNil(t *testing.T) {
	t.Parallel()
	s := conversation.NewSession(fakes.New(fakes.For(t)))
	require.PanicsWithError(t, "Add: the actor is nil: give a member, such as one from AddMember", func() { s.Add(nil) })
	require.PanicsWithError(t, "AddAgent: the agent is nil: give one from AddAgent of the platform", func() { s.AddAgent(nil) })
}

// rerun runs TestRun of this package's own program in a folder with one file in testdata, and returns its
// output and the file's new content.
func rerun(t *testing.T, file string, flags ...string) (out, after string, err error) {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "testdata", "kettles.chat")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o750))
	require.NoError(t, os.WriteFile(path, []byte(file), 0o600))
	program, err := os.Executable()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), program, append([]string{"-test.run", "^TestRun$"}, flags...)...)
	command.Dir = folder
	printed, failed := command.CombinedOutput()
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(printed), string(written), failed
}

// outdated is the bot's conversation with a wrong title and one answer too many.
const outdated = `# Ada buys a kettle.
Ada: kettles
Bot: Which one?
  * Steel
    : holds two litres
    [Buy] [More](https://shop.example/steel)
  * Copper
    [Buy]
Ada taps [Buy]
# She is thanked.
Bot: You bought steel.
Bot: Thank you!
`

func TestRun_ShowsWhatDiffers(t *testing.T) {
	t.Parallel()
	out, after, err := rerun(t, outdated)
	require.Error(t, err)
	require.Contains(t, out, "--- FAIL: TestRun/kettles")
	require.Contains(t, out, "kettles.chat differs: - is the file, + is the output\n")
	require.Contains(t, out, "-  * Copper\n            +  * Glass\n")
	require.Contains(t, out, "-Bot: Thank you!\n")
	require.Contains(t, out, "go test -run '^TestRun/kettles$' -update")
	require.NotContains(t, out, "needs the flag")
	require.Equal(t, outdated, after)
}

func TestRun_TakesAnyLineEnds(t *testing.T) {
	t.Parallel()
	checkedOut := "Ada: kettles\r\nBot: Which one?\r\n  * Steel\r\n    : holds two litres\r\n    [Buy] [More](https://shop.example/steel)\r\n" +
		"  * Glass\r\n    [Buy]\r\n\r\nAda: pay\r\n  | now\r\n"
	for _, flags := range [][]string{nil, {"-update"}} {
		out, after, err := rerun(t, checkedOut, flags...)
		require.NoError(t, err, out)
		require.Equal(t, checkedOut, after, "it is not written anew either")
	}
}

func TestRun_Update(t *testing.T) {
	t.Parallel()
	out, after, err := rerun(t, outdated, "-update")
	require.NoError(t, err, out)
	require.Equal(t, `# Ada buys a kettle.
Ada: kettles
Bot: Which one?
  * Steel
    : holds two litres
    [Buy] [More](https://shop.example/steel)
  * Glass
    [Buy]

Ada taps [Buy]
# She is thanked.
Bot: You bought steel.
`, after)
}

func TestRun_Mistakes(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"Ada: kettles\nwhat\n":                                 "testdata/kettles.chat:2: \"what\" is not a line of a conversation",
		"Ada: x\nAda taps [Buy]\n":                             "testdata/kettles.chat: line 2: Ada sees nothing that can be tapped",
		"Ada: kettles\nAda taps [Pay]\n":                       "line 2: Ada sees nothing with the title \"Pay\" to tap, but [Buy], [Buy]",
		"Ada takes the ticket\n":                               "line 1: Ada is no agent: agents take tickets, and a line such as \"agent Grace at support\" adds one",
		"Ada ends the chat\n":                                  "line 1: Ada is no agent: agents end live chats",
		"member Ada\nAad: hi\n":                                "line 2: there is no person Aad: a line such as \"member Aad\" adds a member; did you mean Ada?",
		"member Ada\nmember Ada\n":                             "line 2: the name Ada is taken",
		"member Ada at page\n":                                 "testdata/kettles.chat: the test ended at line 1",
		"desk support\n":                                       "line 1: a desk serves the members who were added before it",
		"member Ada\ndesk s\nagent G at s\nG takes the ticket": "line 4: G has no open ticket",
		"member Ada\ndesk s\nagent G at s\nG takes ticket 2":   "line 4: G has no ticket 2: there are 0",
	} {
		for _, flags := range [][]string{nil, {"-update"}} {
			out, after, err := rerun(t, file, flags...)
			require.Error(t, err, file)
			require.Contains(t, out, want, file)
			require.Equal(t, file, after)
		}
	}
}
