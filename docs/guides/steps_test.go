package guides_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// cafe returns a bot that takes an order in two steps.
func cafe() []*botctx.Node {
	return []*botctx.Node{
		{
			ID: "size?", Trigger: botctx.TextIs("order"), Global: botctx.GlobalInTree, SavesPosition: true,
			Responses: []send.Response{send.QuickReplies("Which size?",
				send.QuickReply{Title: "Small", Payload: "small"},
				send.QuickReply{Title: "Large", Payload: "large"},
			)},
		},
		{ID: "size", Parent: "size?", Trigger: botctx.PayloadIs("small", "large"), Pre: botctx.Do(noteSize), Redirect: botctx.To("street?")},
		{
			ID: "no size", Parent: "size?", Trigger: botctx.AnyEvent(), Priority: botctx.FallbackPriority,
			Responses: botctx.Say("Please choose one."), Redirect: botctx.To("size?"),
		},

		{ID: "street?", Responses: botctx.Say("A {{meta.size}} coffee. To which street?"), SavesPosition: true},
		{ID: "street", Parent: "street?", Trigger: botctx.AnyText(), Pre: botctx.Do(noteStreet), Redirect: botctx.To("ordered")},

		{ID: "ordered", Responses: botctx.Say("On its way to {{meta.street}}!"), Post: botctx.Do(toStart)},
		{
			ID: "cancel", Trigger: botctx.TextIs("cancel"), Global: botctx.GlobalInTree, Priority: -1,
			Pre: botctx.Do(toStart), Responses: botctx.Say("Cancelled."),
		},
		{
			ID: "help", Trigger: botctx.AnyEvent(), Global: botctx.GlobalInChannel, Priority: botctx.FallbackPriority,
			Responses: botctx.Say("Say order, or cancel."),
		},
	}
}

// noteSize and noteStreet store the member's answer.
func noteSize(_ context.Context, bot *botctx.Context) error {
	bot.Member.Meta.Set("size", bot.MessageEvent.Payload())
	return nil
}

func noteStreet(_ context.Context, bot *botctx.Context) error {
	bot.Member.Meta.Set("street", bot.MessageEvent.Text())
	return nil
}

// toStart removes the member's position, as for a new member.
func toStart(_ context.Context, bot *botctx.Context) error {
	bot.Member.BotMeta.SetPosition("", "")
	return nil
}

func TestCafe_TakesAnOrder(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(cafe()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("order")
	require.Equal(t, "size?", ada.Member().BotMeta.NodeCompositeID())
	ada.TapsOn("Large")
	require.Equal(t, "A large coffee. To which street?", ada.Last())
	ada.Says("Main Street")
	require.Equal(t, "On its way to Main Street!", ada.Last())
	require.Empty(t, ada.Member().BotMeta.NodeCompositeID())
}

func TestCafe_AsksAgainAndCancels(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(cafe()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("hello")
	require.Equal(t, "Say order, or cancel.", ada.Last())
	ada.Says("order")
	ada.Says("medium")
	require.Equal(t, "Please choose one.", ada.Messages()[2].Text())
	require.Equal(t, "Which size?", ada.Last())
	ada.TapsOn("Small")
	ada.Says("cancel")
	require.Equal(t, "Cancelled.", ada.Last(), "and no coffee goes to a street of that name")
}

// forgetful is a bot whose first node should save its position, but does not.
func forgetful() []*botctx.Node {
	return []*botctx.Node{
		{ID: "name?", Trigger: botctx.TextIs("hi"), Responses: botctx.Say("What is your name?")},
		{ID: "name", Parent: "name?", Trigger: botctx.AnyText(), Responses: botctx.Say("Nice to meet you!")},
	}
}

// The transcript if nothing answers.
func Example_nothingAnswers() {
	p := fakes.New()
	p.Handle(forgetful()...)
	ada := p.AddMember(member.Member{})

	ada.Says("hi")
	ada.Says("Ada")

	fmt.Print(p.Transcript())
	// Output:
	// 2026-01-01 00:00:00.000  member-1 -> "hi"
	// 2026-01-01 00:00:00.000  node name? answers: head, no position
	// 2026-01-01 00:00:00.000  member-1 <- "What is your name?"
	// 2026-01-01 00:00:00.000  member-1 -> "Ada"
	// 2026-01-01 00:00:00.000  nothing answers: no position - heads: name? (trigger did not match); "name" needs the position "name?", which no node saves
}

// again returns a node that continues according to the member's fields.
func again() *botctx.Node {
	return &botctx.Node{ID: "again", Trigger: botctx.TextIs("the same again"), Redirect: botctx.ToOneOf(route, "street?", "ordered")}
}

// route asks for the street if it is not known.
func route(_ context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
	if document.Get(bot.Member.Meta, "street", "") == "" {
		return botctx.GoTo("street?")
	}
	return botctx.GoTo("ordered")
}

func TestRoute(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(cafe()...)
	p.Handle(again())
	ada := p.AddMember(member.Member{Meta: document.O("size", "small")})
	bob := p.AddMember(member.Member{Meta: document.O("size", "small", "street", "High Street")})

	ada.Says("the same again")
	require.Equal(t, "A small coffee. To which street?", ada.Last())
	bob.Says("the same again")
	require.Equal(t, "On its way to High Street!", bob.Last())
}

// count is mute: it counts all messages, and another node answers them.
func count() *botctx.Node {
	return &botctx.Node{
		ID: "count", Trigger: botctx.AnyEvent(), Global: botctx.GlobalInChannel, Priority: botctx.MutePriority,
		Pre: botctx.Do(func(_ context.Context, bot *botctx.Context) error {
			bot.Member.Meta.Set("messages", document.Get(bot.Member.Meta, "messages", 0)+1)
			return nil
		}),
	}
}

func TestCount_OthersAnswer(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(append(cafe(), count())...)
	ada := p.AddMember(member.Member{})

	ada.Says("order")
	ada.TapsOn("Small")

	require.Equal(t, 2, document.Get(ada.Member().Meta, "messages", 0))
	require.Equal(t, "A small coffee. To which street?", ada.Last())
}

// openingHours decides when the off trees answer.
func openingHours(c *botctx.Config) {
	c.Flow.IsOpen = func(_ context.Context, bot *botctx.Context) (bool, error) { return bot.Now().Hour() >= 8, nil }
}

// trees returns a channel with the trees that serve it.
func trees() channel.Channel {
	return channel.Channel{ID: "web", PriorityGroups: []channel.PriorityGroup{
		{Group: "all", Trees: []string{"", "survey"}, OffTrees: []string{"night"}},
	}}
}

// further returns the nodes of two more trees.
func further() []*botctx.Node {
	return []*botctx.Node{
		{
			ID: "stars?", Tree: "survey", Trigger: botctx.TextIs("feedback"), Global: botctx.GlobalInChannel,
			Responses: botctx.Say("How many stars?"), SavesPosition: true,
		},
		{
			ID: "stars", Tree: "survey", Parent: "stars?", Trigger: botctx.TextIs("1", "2", "3"),
			Responses: botctx.Say("Thank you!"), Redirect: botctx.To("size?"),
		},
		{ID: "closed", Tree: "night", Trigger: botctx.AnyEvent(), Responses: botctx.Say("We open at eight.")},
	}
}

func TestTrees(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t), fakes.Config(openingHours))
	p.AddChannel(trees())
	p.Handle(append(cafe(), further()...)...)
	ada := p.AddMember(member.Member{Channel: "web"})

	ada.Says("order") // It is midnight.
	require.Equal(t, "We open at eight.", ada.Last())
	p.AdvanceTo(fakes.Start().Add(8 * time.Hour))
	ada.Says("feedback")
	require.Equal(t, "How many stars?", ada.Last())
	ada.Says("3")
	require.Equal(t, "Which size?", ada.Last(), "a redirect leads to another tree")
}

// The café as a drawing.
func Example_graph() {
	graph, err := botctx.GraphOf(cafe()...)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(graph.Mermaid())
	// Output:
	// flowchart TD
	//   n0(["size?<br>text is #quot;order#quot;<br>anywhere in the tree"])
	//   n1["size<br>payload is #quot;small#quot; or #quot;large#quot;"]
	//   n2["no size<br>any event"]
	//   n3(["street?"])
	//   n4["street<br>any text"]
	//   n5["ordered"]
	//   n6["cancel<br>text is #quot;cancel#quot;<br>anywhere in the tree"]
	//   n7["help<br>any event<br>anywhere in the channel"]
	//   n0 --> n1
	//   n1 ==> n3
	//   n0 --> n2
	//   n2 ==> n0
	//   n3 --> n4
	//   n4 ==> n5
}
