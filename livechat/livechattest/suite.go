// Package livechattest checks an outlet, a channel in which agents answer members, against the rules of live chats.
// Each rule has a small function, and a text that is part of its failures. Package sendtest checks a connector alone;
// this suite checks it together with its handler and a Runtime, from both sides of a conversation.
//
//   - To test an outlet, call [RunOutlet] with a function that returns a [Harness] for it.
//   - To build the host around a connector, use [NewHost].
//   - To run the rules with your own runner, use [Rules].
//
// The test of an outlet:
//
//	func TestOutlet(t *testing.T) {
//		livechattest.RunOutlet(t, newHarness)
//	}
//
// The Harness connects the suite to a host, and plays the people on both sides.
package livechattest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// App is the app of all channels.
const App = "app-1"

// T is the part of *testing.T that a rule needs.
type T = conformance.T

// Rule is one rule of live chats.
type Rule struct {
	// Name is short, and written like the name of a test.
	Name string
	// Text is the rule in words.
	Text string

	// applies reports whether the rule applies to a harness. nil means always.
	applies func(h *Harness) bool
	check   func(*trial)
}

func rule(check func(*trial), text string) Rule {
	return Rule{Name: conformance.NameOf(check), Text: text, check: check}
}

// only limits a rule to harnesses that meet a condition.
func (r Rule) only(applies func(h *Harness) bool) Rule {
	r.applies = applies
	return r
}

// RunOutlet checks an outlet against every rule, each in a subtest with a new harness. It leaves out rules about
// features that the harness does not have.
func RunOutlet(t *testing.T, newHarness func(t *testing.T) *Harness) {
	t.Helper()
	for _, rule := range Rules(newHarness(t)) {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			rule.Check(t, newHarness(t))
		})
	}
}

// Rules returns the rules that apply to a harness.
func Rules(h *Harness) []Rule {
	rules := slices.Concat(requestRules, conversationRules, endRules, troubleRules)
	return slices.DeleteFunc(rules, func(rule Rule) bool { return rule.applies != nil && !rule.applies(h) })
}

// Check checks an outlet against the rule. The harness must be new.
func (r Rule) Check(t T, h *Harness) {
	t.Helper()
	r.check(newTrial(t, r, h))
}

// Harness connects the suite to a host, and plays the people on both sides of its live chats.
type Harness struct {
	// Host is the host, without nodes. Required.
	Host Host
	// Inlet is the channel of the members. Required.
	Inlet Inlet
	// Outlet is the channel of the agents. Required.
	Outlet Outlet
}

// Host is the program in which the bot runs. It has stored both channels in App, switched on and without
// priority groups, and has paired them. [NewHost] returns one.
type Host interface {
	// Runtime returns the Runtime of the running process.
	Runtime() *botctx.Runtime
	// Handle adds nodes to the bot. The process that Restart starts has them, too.
	Handle(nodes ...*botctx.Node)
	// Advance moves the clock forward, and runs the events and agendas that fall due. If a run fails, it is tried
	// again, and Advance does not fail.
	Advance(by time.Duration)
	// Restart kills the process and starts another one over the same store and the same platforms.
	Restart()
}

// Inlet is the channel of the members, with two members, 0 and 1, who have never written before.
type Inlet struct {
	// Channel is the id of the channel. Required.
	Channel string
	// Says lets a member write a text. It returns once the host has accepted it. Required.
	Says func(who int, text string)
	// Shown returns the messages that a member has got, oldest first. Messages that the platform recognises as
	// repetitions are listed once. Required.
	Shown func(who int) []Line
}

// Outlet is the channel of the agents, with two agents, 0 and 1. Its functions end the test if they fail, unless their
// comment says otherwise.
type Outlet struct {
	// Channel is the id of the channel. It has a broadcast group with the label livechat.DefaultLabel. Required.
	Channel string
	// Agents are the two agents. ExternalID must be the From of their events. The suite stores them. Required.
	Agents [2]livechat.Admin

	// Ticket returns the text of a request as agents see it now in the broadcast group, or "" if they see none.
	// A platform without tickets returns the first message of the conversation. Required.
	Ticket func(of Chat) string
	// Take lets an agent take a request, and waits until the bot has run. It returns the text that the agent gets,
	// such as the name of another agent who has the request, or "". Take is nil if the first message of an agent
	// takes a request on this platform.
	Take func(agent int, of Chat) string
	// Says lets an agent write a text in a conversation. It returns "" once the host has accepted the message. If the
	// platform itself refuses the message, for example because the conversation has ended, Says returns the text that
	// the agent gets. Required.
	Says func(agent int, in Chat, text string) string
	// Shown returns the messages of the host in a conversation, oldest first, without repetitions that the platform
	// recognises. The request itself may be one of them. Required.
	Shown func(in Chat) []Line

	// SendsFile lets an agent send the file at an address. Nil leaves out the rule about files.
	SendsFile func(agent int, in Chat, url string)
	// Ends lets an agent end the conversation by a feature of the platform: its handler calls EndLiveChat of the
	// Runtime, or reports an event whose data has the status "closed". If Ends is nil, the agent writes a command that
	// a node of the bot answers.
	Ends func(agent int, in Chat)
	// HandsBack lets an agent return the conversation to the bot by a feature of the platform. It works like Ends, with
	// the status "returned".
	HandsBack func(agent int, in Chat)
	// IsOver reports whether the platform shows agents that a conversation has ended. Nil if the platform never does.
	IsOver func(in Chat) bool

	// Deliver passes all pending reports of the platform to the host, and reports whether there were any. Nil if the
	// functions above do this themselves.
	Deliver func() bool
	// Repeat makes the platform deliver each report twice from now on. Nil leaves out the rule about repeated reports.
	Repeat func()
	// Fail makes the platform refuse all requests of the host from now on, or accept them again. Nil leaves out the
	// rules about outages.
	Fail func(isDown bool)
}

// Chat is a request for a person, and its conversation.
type Chat struct {
	// ID is the id of the assignment.
	ID string
	// Conversation is the platform's id of the conversation, or "" while there is none.
	Conversation string
	// Ticket is the message that was sent for the request.
	Ticket livechat.Ticket
}

// Line is a message as a person sees it.
type Line struct {
	// From is the side that is shown as its author, or "" if the platform shows none.
	From Side
	// Text is the text, or the address of a file.
	Text string
}

// Side is the author of a message.
type Side string

// The sides.
const (
	FromBot    Side = "bot"
	FromMember Side = "member"
	FromAgent  Side = "agent"
)

// trial is one check of one rule.
type trial struct {
	T
	*Harness

	rule Rule
	// known are the ids of the requests that were made before.
	known map[string]bool
	// mayFail is true while runs may fail.
	mayFail bool
	// heard records the authors of the texts in the outlet.
	heard *heard
}

func newTrial(t T, rule Rule, h *Harness) *trial {
	t.Helper()
	checked := &trial{T: t, Harness: h, rule: rule, known: map[string]bool{}, heard: &heard{}}
	checked.requireComplete()
	for _, agent := range h.Outlet.Agents {
		_, err := h.Host.Runtime().SaveAdmin(t.Context(), App, agent)
		require.NoError(t, err)
	}
	h.Host.Handle(checked.nodes()...)
	return checked
}

// Errorf reports a failure together with the rule that it breaks.
func (t *trial) Errorf(format string, args ...any) {
	t.Helper()
	t.T.Errorf("rule broken: %s\n%s", t.rule.Text, fmt.Sprintf(format, args...))
}

// requireComplete checks that the harness has all required fields.
func (t *trial) requireComplete() {
	t.Helper()
	for field, isGiven := range map[string]bool{
		"Host":          t.Host != nil,
		"Inlet.Channel": t.Inlet.Channel != "", "Inlet.Says": t.Inlet.Says != nil, "Inlet.Shown": t.Inlet.Shown != nil,
		"Outlet.Channel": t.Outlet.Channel != "", "Outlet.Ticket": t.Outlet.Ticket != nil, "Outlet.Says": t.Outlet.Says != nil,
		"Outlet.Shown":  t.Outlet.Shown != nil,
		"Outlet.Agents": t.Outlet.Agents[0].ExternalID != "" && t.Outlet.Agents[1].ExternalID != "",
	} {
		require.True(t, isGiven, "Harness.%s is required: set it", field)
	}
}

// The texts of the bot.
const (
	greeting   = "Hello, I am the bot."
	relayed    = "A member asks for a person."
	summary    = "The kettle leaks."
	chatIsOver = "The chat is over."
	botIsBack  = "The bot is back."
)

// The texts of people that nodes of the bot answer.
const (
	hello          = "hi"
	askForPerson   = "a person"
	commandEnd     = "/end"
	commandReturns = "/return"
)

// nodes returns the bot: it greets, asks for a person, and ends a live chat that an agent ends or hands back.
func (t *trial) nodes() []*botctx.Node {
	within := func(id string, trigger func(bot *botctx.Context) bool) botctx.Trigger {
		return botctx.When(func(bot *botctx.Context) bool { return bot.Channel.ID == id && trigger(bot) })
	}
	says := func(text string) func(bot *botctx.Context) bool {
		return func(bot *botctx.Context) bool { return bot.MessageEvent.Text() == text }
	}
	ends := func(command, status string) func(bot *botctx.Context) bool {
		return func(bot *botctx.Context) bool {
			return bot.MessageEvent.Text() == command || document.Get(bot.MessageEvent.Data, "status", "") == status
		}
	}
	inlet, outlet := t.Inlet.Channel, t.Outlet.Channel
	nodes := []*botctx.Node{
		{ID: "hello", Trigger: within(inlet, says(hello)), Responses: botctx.Say(greeting)},
		{ID: "person", Trigger: within(inlet, says(askForPerson)), Pre: botctx.Do(t.call)},
		{ID: "heard", Trigger: within(outlet, t.heard.add)},
		{ID: "end", Trigger: within(outlet, ends(commandEnd, "closed")), Pre: botctx.Do(finish(chatIsOver))},
		{ID: "return", Trigger: within(outlet, ends(commandReturns, "returned")), Pre: botctx.Do(finish(botIsBack))},
	}
	for _, node := range nodes {
		node.Global = botctx.GlobalInChannel
	}
	return nodes
}

// call asks for a person.
func (t *trial) call(ctx context.Context, bot *botctx.Context) error {
	outlet, err := t.Host.Runtime().LoadChannel(ctx, App, t.Outlet.Channel)
	if err != nil {
		return err
	}
	ticket := send.Text(relayed)
	if t.Outlet.Take != nil {
		ticket = send.Buttons(relayed, send.Postback("Take", livechat.TakePayload))
	}
	_, err = bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{AssignmentDetails: livechat.AssignmentDetails{
		Summary: summary, RelayMessage: map[channel.Type]send.Response{outlet.Type: ticket},
	}})
	return err
}

// finish returns an action for an agent's event that sends the member a text and ends the live chat.
func finish(text string) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.SendMessageToInlet(ctx, livechat.SendMessageToInletParams{
			Channel: bot.Channel, MessageEvent: bot.MessageEvent, Response: send.Text(text),
		})
		if err == nil {
			_, err = bot.EndLiveChat(ctx, livechat.EndParams{Channel: bot.Channel, MessageEvent: bot.MessageEvent})
		}
		return err
	}
}

// settle delivers all reports and runs all events, until there are no more.
func (t *trial) settle() {
	t.Helper()
	const most = 1000
	for range most {
		hasDelivered := t.Outlet.Deliver != nil && t.Outlet.Deliver()
		result, err := t.Host.Runtime().RunNextEvent(t.Context())
		require.NoError(t, err, "the Runtime runs the accepted events")
		require.True(t, t.mayFail || result.Err == nil, "the run of an event failed: %v", result.Err)
		if !result.Ran && !hasDelivered {
			return
		}
	}
	require.Fail(t, "the events do not end", "there are more than %d", most)
}

// memberSays lets a member write, and waits for the result.
func (t *trial) memberSays(who int, texts ...string) {
	t.Helper()
	for _, text := range texts {
		t.Inlet.Says(who, text)
		t.settle()
	}
}

// agentSays lets an agent write, and waits for the result. The platform must not refuse it.
func (t *trial) agentSays(agent int, in *chat, texts ...string) {
	t.Helper()
	for _, text := range texts {
		require.Empty(t, t.Outlet.Says(agent, in.now(), text), "the platform refuses the text of an agent")
		t.settle()
	}
}

// chat is a request of a member.
type chat struct {
	*trial

	id  string
	who int
}

// asks lets a member ask for a person.
func (t *trial) asks(who int) *chat {
	t.Helper()
	t.memberSays(who, askForPerson)
	return t.request(who)
}

// request returns the only request that is not yet known. It must be the member's.
func (t *trial) request(who int) *chat {
	t.Helper()
	open, err := t.Host.Runtime().FindAssignments(t.Context(), App, botctx.Query{Filter: document.O("endedAt", nil)})
	require.NoError(t, err)
	open = slices.DeleteFunc(open, func(r *livechat.AssignmentRecord) bool { return t.known[r.ID] })
	require.Len(t, open, 1, "new requests")
	t.known[open[0].ID] = true
	return &chat{t, open[0].ID, who}
}

// begins lets the first member ask for a person, and the first agent take the request.
func (t *trial) begins() *chat {
	t.Helper()
	c := t.asks(0)
	c.isTakenBy(0)
	return c
}

// isTakenBy lets an agent take the request: by its ticket, or by a first message if there are no tickets.
func (c *chat) isTakenBy(agent int) {
	c.Helper()
	if c.Outlet.Take == nil {
		greeting := fmt.Sprintf("I am agent %d.", agent)
		c.agentSays(agent, c, greeting)
		c.requireLast(c.Inlet.Shown(c.who), greeting)
	} else {
		c.Outlet.Take(agent, c.now())
		c.settle()
	}
	require.Equal(c, c.Outlet.Agents[agent].ExternalID, c.record().Assignee, "the assignee")
}

// record returns the stored request.
func (c *chat) record() *livechat.AssignmentRecord {
	c.Helper()
	found, err := c.Host.Runtime().FindAssignments(c.Context(), App, botctx.Query{Filter: document.O("_id", c.id)})
	require.NoError(c, err)
	require.Len(c, found, 1, "the request")
	return found[0]
}

// now returns the request in its current state, for the functions of the Outlet.
func (c *chat) now() Chat {
	c.Helper()
	r := c.record()
	is := Chat{ID: c.id, Conversation: document.Get(r.GroupInfo, "externalId", "")}
	if len(r.Tickets) > 0 {
		is.Ticket = r.Tickets[0]
	}
	if is.Conversation == "" && r.Direct != "" {
		is.Conversation = is.Ticket.ChatID
	}
	return is
}

// bot returns the operations for the member.
func (c *chat) bot() *botctx.Context {
	c.Helper()
	bot, err := c.Host.Runtime().Context(c.Context(), botctx.Scope{App: App, Channel: c.Inlet.Channel, Member: c.record().Member})
	require.NoError(c, err)
	return bot
}

func (c *chat) member() *member.Member {
	c.Helper()
	return c.bot().Member
}

// agentReads returns the messages that the agent sees in the conversation, without the request or the summary.
func (c *chat) agentReads() []Line {
	c.Helper()
	return slices.DeleteFunc(c.Outlet.Shown(c.now()), func(line Line) bool {
		return line.Text == summary || strings.HasPrefix(line.Text, relayed)
	})
}

// requireLast checks that lines end with the given texts.
func (t *trial) requireLast(lines []Line, texts ...string) {
	t.Helper()
	got := textsOf(lines)
	require.Equal(t, texts, got[max(len(got)-len(texts), 0):], "the last messages")
}

func textsOf(lines []Line) []string {
	texts := make([]string, len(lines))
	for i, line := range lines {
		texts[i] = line.Text
	}
	return texts
}

// count returns the number of lines with a text.
func count(lines []Line, text string) int {
	n := 0
	for _, line := range lines {
		if line.Text == text {
			n++
		}
	}
	return n
}
