package fakes_test

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/expect"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// kettles returns nodes that answer in several messages.
func kettles() []*botctx.Node {
	return []*botctx.Node{
		{ID: "hi", Trigger: botctx.TextIs("hi"), Responses: []send.Response{
			send.Text("Hello!"), send.Typing(time.Second), send.Text("What do you want?"),
		}},
		{ID: "size", Trigger: botctx.TextIs("kettle"), Responses: []send.Response{
			send.Buttons("Which size?", send.Postback("Small", "s"), send.Postback("Large", "l")),
		}},
		{ID: "lines", Trigger: botctx.TextIs("list"), Responses: botctx.Say("one\ntwo\nthree")},
		{ID: "picture", Trigger: botctx.TextIs("show"), Responses: []send.Response{send.Image("https://shop.example/kettle.png")}},
	}
}

// adaIn adds Ada, who talks to kettles.
func adaIn(p *fakes.Platform) *fakes.Actor {
	p.Handle(kettles()...)
	return p.AddMember(member.Member{FirstName: "Ada"})
}

func TestSees_ReadsOn(t *testing.T) {
	t.Parallel()
	ada := adaIn(fakes.New(fakes.For(t), fakes.EveryMessageExpected()))
	ada.SeesNothing()
	ada.Says("hi")
	ada.Sees("Hello!")
	ada.Sees("What do you want?")
	ada.SeesNothing()
	ada.Says("hi")
	ada.Says("kettle")
	ada.Sees("Hello!", "What do you want?")
	ada.SeesMessage(expect.Text("Which size?"), expect.Choice("Small", "Large"), expect.Choice("Large"), expect.Type(send.TypeButton))
	ada.Says("list")
	ada.SeesMatch(regexp.MustCompile(`two\nth`))
	ada.Says("show")
	ada.SeesMessage(expect.Media("https://shop.example/kettle.png"))
	ada.Says("show")
	ada.SeesMessage(expect.Exactly(send.Image("https://shop.example/kettle.png")))
	ada.SeesNothing()
	ada.Says("hi")
	require.Len(t, ada.Reads(), 2)
	require.Empty(t, ada.Reads())
	ada.Says("hi")
	ada.SeesMessage()
	ada.Sees("What do you want?")
}

// failuresOfSees are expectations that fail, and the test's output.
var failuresOfSees = map[string]struct {
	says    string
	expects func(ada *fakes.Actor)
	prints  string
}{
	"no pattern": {"hi", func(ada *fakes.Actor) { ada.SeesMessage(expect.Match(nil)) }, `fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node hi:
  expected a text that matches a pattern
    Match was given no pattern
the messages after it:
  "What do you want?"`},
	"no function": {"hi", func(ada *fakes.Actor) { ada.SeesMessage(expect.That("a price", nil)) }, `fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node hi:
  expected a price
    That has no function: give one that checks a message
the messages after it:
  "What do you want?"`},
	"another text": {"hi", func(ada *fakes.Actor) { ada.Sees("Hallo!") }, `fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node hi:
  expected "Hallo!"
    "Hallo!"
    "Hello!"
      ^
the messages after it:
  "What do you want?"`},
	"one that comes later": {"hi", func(ada *fakes.Actor) { ada.Sees("What do you want?") }, `fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node hi:
  expected "What do you want?"
    "What do you want?"
    "Hello!"
     ^
the messages after it:
  "What do you want?"   <- this is what was expected`},
	"several lines": {"list", func(ada *fakes.Actor) { ada.Sees("one\n2\nthree") }, `fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node lines:
  expected "one\n2\nthree"
    @@ -1,3 +1,3 @@
     one
    -2
    +two
     three`},
	"a title misspelt": {"kettle", func(ada *fakes.Actor) { ada.SeesMessage(expect.Text("Which size?"), expect.Choice("Smal")) }, `fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node size:
  expected a choice of [Smal]
    there is no [Smal]: it shows [Small] [Large]; did you mean [Small]?`},
	"titles in another order": {"kettle", func(ada *fakes.Actor) { ada.SeesMessage(expect.Choice("Large", "Small")) }, `fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node size:
  expected a choice of [Large] [Small]
    [Small] comes in another place: it shows [Small] [Large]`},
	"nothing to choose": {"list", func(ada *fakes.Actor) { ada.SeesMessage(expect.Choice("Small")) }, `fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node lines:
  expected a choice of [Small]
    there is no [Small]: it shows nothing to choose`},
	"a pattern": {"kettle", func(ada *fakes.Actor) { ada.SeesMatch(regexp.MustCompile(`^\d+$`)) }, `fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node size:
  expected a text that matches ^\d+$
    not in  "Which size?" [Small: "s"] [Large: "l"]`},
	"a predicate": {"show", func(ada *fakes.Actor) {
		ada.SeesMessage(expect.That("a short text", func(m send.Response) bool { return m.Text() != "" && len(m.Text()) < 9 }))
	}, `fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node picture:
  expected a short text
    this is not so in  IMAGE https://shop.example/kettle.png`},
	"no text": {"show", func(ada *fakes.Actor) { ada.Sees("kettle") }, `fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node picture:
  expected "kettle"
    it has no text: IMAGE https://shop.example/kettle.png`},
	"another address": {"show", func(ada *fakes.Actor) { ada.SeesMessage(expect.Media("https://shop.example/cup.png")) }, `fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node picture:
  expected the file at https://shop.example/cup.png
    it has the file at https://shop.example/kettle.png`},
	"no address, another type": {"list", func(ada *fakes.Actor) {
		ada.SeesMessage(expect.Media("https://shop.example/"), expect.Type(send.TypeImage))
	}, `fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node lines:
  expected the file at https://shop.example/
    there is no address in  "one\ntwo\nthree"
  expected a message of type IMAGE
    it is of type TEXT: "one\ntwo\nthree"`},
	"another message": {"list", func(ada *fakes.Actor) { ada.SeesMessage(expect.Exactly(send.Text("one"))) }, `fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node lines:
  expected {"type":"TEXT","text":"one"}
    it is    {"type":"TEXT","text":"one\ntwo\nthree"}`},
	"no further one": {"hi", func(ada *fakes.Actor) { ada.Sees("Hello!", "What do you want?", "Bye!") }, `fakes: Ada sees no further message; expected "Bye!"; Ada has read all up to "What do you want?"`},
	"none at all": {"bye", func(ada *fakes.Actor) { ada.Sees("Bye!") }, `fakes: Ada sees no further message; expected "Bye!"; nothing was sent to Ada yet; ` +
		`nothing answers: no position - heads: hi (trigger did not match), size (trigger did not match), lines (trigger did not match), picture (trigger did not match)`},
	"any": {"bye", func(ada *fakes.Actor) { ada.SeesMessage() }, `fakes: Ada sees no further message; expected a message; nothing was sent to Ada yet; ` +
		`nothing answers: no position - heads: hi (trigger did not match), size (trigger did not match), lines (trigger did not match), picture (trigger did not match)`},
	"something": {"kettle", func(ada *fakes.Actor) { ada.SeesNothing() }, `fakes: Ada sees messages that no expectation has read:
  "Which size?" [Small: "s"] [Large: "l"], sent at 2026-01-01 00:00:00 by the node size`},
	"no expectation": {"hi", func(ada *fakes.Actor) { ada.Sees() }, `fakes: Sees has no text: give the texts that Ada sees, or use SeesNothing`},
}

func TestSees_FailureShowsBoth(t *testing.T) {
	t.Parallel()
	for name, c := range failuresOfSees {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tb recordedTB
			tb.run(func(p *fakes.Platform) {
				ada := adaIn(p)
				ada.Says(c.says)
				c.expects(ada)
			})
			require.Equal(t, []string{c.prints}, tb.failures)
		})
	}
}

// locatedTB is a recordedTB that records the location of the failure: the first caller that is not a helper.
type locatedTB struct {
	recordedTB

	helpers map[string]bool
	at      string
}

func (l *locatedTB) Helper() {
	callers := make([]uintptr, 1)
	frame, _ := runtime.CallersFrames(callers[:runtime.Callers(2, callers)]).Next()
	l.helpers[frame.Function] = true
}

func (l *locatedTB) Fatalf(format string, args ...any) {
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	frame, more := frames.Next()
	for more && l.helpers[frame.Function] {
		frame, more = frames.Next()
	}
	l.at = fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
	l.recordedTB.Fatalf(format, args...)
}

// lineHere returns the caller's file and line, as failures print them.
func lineHere() string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

func TestSees_FailsWhereItIsCalled(t *testing.T) {
	t.Parallel()
	var here string
	for name, expects := range map[string]func(ada *fakes.Actor, grace *fakes.Agent){
		"Sees":        func(ada *fakes.Actor, _ *fakes.Agent) { here = lineHere(); ada.Sees("Bye!") },
		"SeesMatch":   func(ada *fakes.Actor, _ *fakes.Agent) { here = lineHere(); ada.SeesMatch(regexp.MustCompile("Bye")) },
		"SeesMessage": func(ada *fakes.Actor, _ *fakes.Agent) { here = lineHere(); ada.SeesMessage(expect.Text("Bye!")) },
		"SeesNothing": func(ada *fakes.Actor, _ *fakes.Agent) { here = lineHere(); ada.SeesNothing() },
		"of an agent": func(_ *fakes.Actor, grace *fakes.Agent) { here = lineHere(); grace.Sees("Bye!") },
	} {
		tb := locatedTB{helpers: map[string]bool{}}
		tb.runOn(func() {
			p := fakes.New(fakes.For(&tb))
			p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie})
			ada := adaIn(p)
			ada.Says("hi")
			expects(ada, p.AddAgent("desk", "Grace"))
		})
		require.Equal(t, here, tb.at, name)
	}
}

func TestSees_EachWhoIsInAGroupReadsIt(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
	p.Handle(kettles()...)
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Foxtrot})
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: "page"})
	bob := p.AddMember(member.Member{FirstName: "Bob", Channel: "page"})
	ada.InGroup("family").Says("list")
	ada.SeesNothing()
	ada.InGroup("family").Sees("one\ntwo\nthree")
	bob.InGroup("family").Sees("one\ntwo\nthree")
	ada.InGroup("family").SeesNothing()
}

// desk sets up a platform on which Ada is connected to Grace after the first message.
func desk(p *fakes.Platform) (*fakes.Actor, *fakes.Agent) {
	p.AddChannel(channel.Channel{ID: "shop"})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
		{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
	}})
	p.Pair("shop", "desk")
	return p.AddMember(member.Member{FirstName: "Ada", Channel: "shop"}), p.AddAgent("desk", "Grace")
}

func TestSees_AgentReadsHerConversations(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
	p.HandleFunc(wantPerson)
	ada, grace := desk(p)
	ada.Says("a person, please")
	grace.Takes(grace.Ticket())
	grace.Reads()
	ada.Says("It leaks.")
	ada.Says("Help!")
	grace.Sees("It leaks.")
	grace.With(ada).Sees("Help!")
	grace.SeesNothing()
	grace.With(ada).SeesNothing()
	grace.Says("Where?")
	ada.Reads()
	ada.Says("here")
	grace.SeesMatch(regexp.MustCompile("he.e"))
	grace.Says("I see.")
	ada.SeesMessage(expect.Text("I see."))
}

func TestSees_GoesOnInForksAndBehindSnapshots(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.EveryMessageExpected())
	ada := adaIn(p)
	ada.Says("hi")
	ada.Sees("Hello!")
	before := p.Snapshot()
	fork := p.Fork()
	ada.Sees("What do you want?")
	ada.In(fork).Sees("What do you want?")
	ada.Says("kettle")
	p.Restore(before)
	ada.Sees("What do you want?")
	ada.SeesNothing()
	ada.In(fork).SeesNothing()
}

func TestEveryMessageExpected_NamesWhatNothingHasRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		test   func(p *fakes.Platform)
		prints string
	}{
		"a message": {func(p *fakes.Platform) {
			ada := adaIn(p)
			ada.Says("hi")
			ada.Sees("Hello!")
		}, `  Ada <- "What do you want?", sent at 2026-01-01 00:00:00 by the node hi`},
		"one on a fork": {func(p *fakes.Platform) {
			ada := adaIn(p)
			ada.Says("hi")
			ada.Reads()
			ada.In(p.Fork()).Says("kettle")
		}, `  Ada <- "Which size?" [Small: "s"] [Large: "l"], sent at 2026-01-01 00:00:00 by the node size`},
		"one to an agent": {func(p *fakes.Platform) {
			p.HandleFunc(wantPerson)
			ada, grace := desk(p)
			ada.Says("a person, please")
			grace.Takes(grace.Ticket())
			ada.Reads()
			grace.Reads()
			ada.Says("It leaks.")
		}, `  desk/C000001 <- "It leaks.", sent at 2026-01-01 00:00:00`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tb recordedTB
			tb.runOn(func() { c.test(fakes.New(fakes.For(&tb), fakes.EveryMessageExpected())) })
			require.Empty(t, tb.failures)
			for _, atEnd := range tb.atEnd {
				tb.runOn(atEnd)
			}
			require.Equal(t, []string{"fakes: EveryMessageExpected: no expectation has read these messages; " +
				"read them with Sees, or skip them with Reads:\n" + c.prints}, tb.failures)
		})
	}
}

func TestEveryMessageExpected_SaysNothingOfATestThatFailed(t *testing.T) {
	t.Parallel()
	requireFailure(t, "Bye!", func(p *fakes.Platform) {
		ada := adaIn(p)
		ada.Says("hi")
		ada.Sees("Bye!")
	}, fakes.EveryMessageExpected())
}

func TestEveryMessageExpected_NeedsATest(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "fakes: EveryMessageExpected needs a test to check at its end: give For(t), too",
		func() { fakes.New(fakes.EveryMessageExpected()) })
}

func wantPerson(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{})
	return err
}
