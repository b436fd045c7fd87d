package livechattest

import (
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

func hasTickets(h *Harness) bool { return h.Outlet.Take != nil }

func hasNoTickets(h *Harness) bool { return h.Outlet.Take == nil }

var requestRules = []Rule{
	rule(requestReachesTheAgents, "a request reaches the agents once, with its relay message"),
	rule(firstTakerWins, "the first agent who takes a request gets it, and the second one is told who has it").only(hasTickets),
	rule(firstWriterWins, "the first agent who writes in the conversation of a request gets it").only(hasNoTickets),
	rule(takenConversationBeginsWithTheSummary, "the agent who takes a request reads its summary, once"),
	rule(keptMessagesReachTheTakerInOrder, "the agent who takes a request reads what the member wrote before, in order and once"),
}

func requestReachesTheAgents(t *trial) {
	c := t.asks(0)
	require.Equal(t, livechat.Pending, c.record().State(), "the state of the request")
	require.True(t, c.member().BotMeta.LiveChat(), "the member is in a live chat")
	require.Contains(t, t.Outlet.Ticket(c.now()), relayed, "the request as agents see it")
	require.Equal(t, 1, strings.Count(t.Outlet.Ticket(c.now()), relayed), "the request as agents see it")
	if hasNoTickets(t.Harness) {
		require.Equal(t, []string{relayed}, textsOf(t.Outlet.Shown(c.now())), "the conversation of the request")
	}
}

func firstTakerWins(t *trial) {
	c := t.asks(0)
	c.isTakenBy(1)
	told := t.Outlet.Take(0, c.now())
	t.settle()
	require.Contains(t, told, t.Outlet.Agents[1].Name, "the second agent is told who has the request")
	require.Equal(t, t.Outlet.Agents[1].ExternalID, c.record().Assignee, "the assignee")
	t.agentSays(1, c, "Good morning")
	t.requireLast(t.Inlet.Shown(0), "Good morning")
}

func firstWriterWins(t *trial) {
	c := t.asks(0)
	c.isTakenBy(1)
	t.agentSays(0, c, "May I help?")
	require.Equal(t, t.Outlet.Agents[1].ExternalID, c.record().Assignee, "the assignee")
}

func takenConversationBeginsWithTheSummary(t *trial) {
	c := t.begins()
	require.Equal(t, 1, count(t.Outlet.Shown(c.now()), summary), "the summary in %v", t.Outlet.Shown(c.now()))
}

func keptMessagesReachTheTakerInOrder(t *trial) {
	c := t.asks(0)
	t.memberSays(0, "one", "two", "three")
	c.isTakenBy(0)
	t.memberSays(0, "four")
	heading := strings.ReplaceAll(livechat.DefaultTexts().Before, "[count]", "3")
	require.Equal(t, []string{heading, "one", "two", "three", "four"}, textsOf(c.agentReads()), "what the agent reads")
}

var conversationRules = []Rule{
	rule(answerReachesTheMemberOnce, "an agent's answer reaches the member once, and nothing else does"),
	rule(answerHasItsAuthor, "an agent's message comes from the agent who wrote it, and is not shown as another side's"),
	rule(memberReachesTheAgentInOrder, "the member's messages reach the agent in order, each once, and are not shown as another side's"),
	rule(repeatedReportIsOneMessage, "a message that the platform reports twice reaches the member once").
		only(func(h *Harness) bool { return h.Outlet.Repeat != nil }),
	rule(ownMessagesAreKnown, "the host's own messages that the platform reports are not relayed again"),
	rule(fileReachesTheMember, "an agent's file reaches the member").
		only(func(h *Harness) bool { return h.Outlet.SendsFile != nil }),
	rule(conversationsAreNotMixed, "a message in one conversation does not appear in another one"),
}

func answerReachesTheMemberOnce(t *trial) {
	c := t.begins()
	before := len(t.Inlet.Shown(0))
	t.agentSays(0, c, "Where does it leak?", "At the lid?")
	require.Equal(t, []string{"Where does it leak?", "At the lid?"}, textsOf(t.Inlet.Shown(0)[before:]), "what the member gets")
}

// heard records the texts of people in the outlet.
type heard struct {
	mu   sync.Mutex
	from map[string]string
}

// add is a trigger that records an event and does not answer it.
func (h *heard) add(bot *botctx.Context) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.from == nil {
		h.from = map[string]string{}
	}
	h.from[bot.MessageEvent.Text()] = bot.MessageEvent.From
	return false
}

// author returns the id of a text's author.
func (h *heard) author(text string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.from[text]
}

func answerHasItsAuthor(t *trial) {
	c := t.begins()
	t.agentSays(0, c, "Where does it leak?")
	require.Equal(t, t.Outlet.Agents[0].ExternalID, t.heard.author("Where does it leak?"), "the sender of the event")
	t.requireShownAs(t.Inlet.Shown(0), "Where does it leak?", FromAgent)
}

// requireShownAs checks the author of a text that has arrived, if the platform shows one.
func (t *trial) requireShownAs(lines []Line, text string, from Side) {
	t.Helper()
	require.Equal(t, 1, count(lines, text), "%q in %v", text, lines)
	for _, line := range lines {
		if line.Text == text && line.From != "" {
			require.Equal(t, from, line.From, "the author of %q", text)
		}
	}
}

func memberReachesTheAgentInOrder(t *trial) {
	c := t.begins()
	said := []string{"At the lid.", "Since Monday.", "Hello?"}
	t.memberSays(0, said...)
	require.Equal(t, said, textsOf(c.agentReads()), "what the agent reads")
	for _, text := range said {
		t.requireShownAs(t.Outlet.Shown(c.now()), text, FromMember)
	}
}

func repeatedReportIsOneMessage(t *trial) {
	t.Outlet.Repeat()
	c := t.begins()
	before := len(t.Inlet.Shown(0))
	t.agentSays(0, c, "Once", "Once", "Twice")
	require.Equal(t, []string{"Once", "Once", "Twice"}, textsOf(t.Inlet.Shown(0)[before:]), "what the member gets")
}

func ownMessagesAreKnown(t *trial) {
	c := t.begins()
	member, agent := len(t.Inlet.Shown(0)), len(t.Outlet.Shown(c.now()))
	t.memberSays(0, "At the lid.")
	_, err := c.bot().SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("An agent is with you.")})
	require.NoError(t, err)
	t.settle()
	t.settle() // The platform may report messages that the host sent in the first call.
	require.Equal(t, []string{"An agent is with you."}, textsOf(t.Inlet.Shown(0)[member:]), "what the member gets")
	require.Equal(t, []string{"At the lid."}, textsOf(t.Outlet.Shown(c.now())[agent:]), "what the agent reads")
}

const fileURL = "https://files.example/manual.pdf"

func fileReachesTheMember(t *trial) {
	c := t.begins()
	before := len(t.Inlet.Shown(0))
	t.Outlet.SendsFile(0, c.now(), fileURL)
	t.settle()
	got := textsOf(t.Inlet.Shown(0)[before:])
	require.Len(t, got, 1, "what the member gets")
	require.Contains(t, got[0], fileURL, "the address of the file")
}

func conversationsAreNotMixed(t *trial) {
	first, second := t.asks(0), t.asks(1)
	t.memberSays(0, "I am the first")
	t.memberSays(1, "I am the second")
	first.isTakenBy(0)
	second.isTakenBy(1)
	require.NotEqual(t, first.now().Conversation, second.now().Conversation, "the conversations")
	toFirst, toSecond := len(t.Inlet.Shown(0)), len(t.Inlet.Shown(1))
	t.agentSays(0, first, "To the first")
	t.agentSays(1, second, "To the second")
	t.memberSays(1, "From the second")
	t.memberSays(0, "From the first")
	t.agentSays(0, first, "Again to the first")
	require.Equal(t, []string{"To the first", "Again to the first"}, textsOf(t.Inlet.Shown(0)[toFirst:]), "what the first member gets")
	require.Equal(t, []string{"To the second"}, textsOf(t.Inlet.Shown(1)[toSecond:]), "what the second member gets")
	heading := strings.ReplaceAll(livechat.DefaultTexts().Before, "[count]", "1")
	require.Equal(t, []string{heading, "I am the first", "From the first"}, textsOf(first.agentReads()), "what the first agent reads")
	require.Equal(t, []string{heading, "I am the second", "From the second"}, textsOf(second.agentReads()), "what the second agent reads")
	second.agentEnds()
	second.requireOver(livechat.EndedByOutlet)
	t.agentSays(0, first, "Still here")
	t.requireLast(t.Inlet.Shown(0), "Still here")
}

var endRules = []Rule{
	rule(handBackReturnsTheMember, "an agent who hands a conversation back returns the member to the bot"),
	rule(endByTheAgent, "an end from the agent's side ends the live chat on both sides: the bot answers the member again"),
	rule(endByTheMember, "an end from the member's side ends the live chat on both sides: the agent can no longer reach the member"),
	rule(endByTheHost, "an end by the host ends the live chat on both sides, like an end in the outlet"),
	rule(endByIdling, "a live chat without messages ends after the idle time"),
	rule(endBeforeAnAgentCame, "if a member ends the live chat before an agent takes the request, no agent can take it any more"),
	rule(chatAfterAChat, "a member whose live chat has ended can ask again, and is answered"),
}

// agentEnds lets the agent who has the chat end it.
func (c *chat) agentEnds() {
	c.Helper()
	if c.Outlet.Ends != nil {
		c.Outlet.Ends(c.agent(), c.now())
		c.settle()
		return
	}
	c.agentSays(c.agent(), c, commandEnd)
}

// agent returns the number of the agent who has the chat.
func (c *chat) agent() int {
	c.Helper()
	assignee := c.record().Assignee
	for i, agent := range c.Outlet.Agents {
		if agent.ExternalID == assignee {
			return i
		}
	}
	require.Fail(c, "no agent has the request", "%q", assignee)
	return 0
}

// requireOver checks that the live chat has ended on both sides.
func (c *chat) requireOver(by livechat.EndedBy) {
	c.Helper()
	r := c.record()
	require.Equal(c, livechat.Ended, r.State(), "the state of the request")
	require.Equal(c, string(by), string(r.EndedBy), "who ended it")
	require.False(c, c.member().BotMeta.LiveChat(), "the member is still in the live chat")
	if c.Outlet.IsOver != nil {
		require.True(c, c.Outlet.IsOver(c.now()), "the platform shows that the conversation is over")
	}
	c.memberSays(c.who, hello)
	c.requireLast(c.Inlet.Shown(c.who), greeting)
}

// requireAgentIsTold checks that the agent's messages no longer reach the member, and that the agent gets a text about it.
func (c *chat) requireAgentIsTold(agent int) {
	c.Helper()
	toMember, inOutlet := len(c.Inlet.Shown(c.who)), count(c.Outlet.Shown(c.now()), livechat.DefaultTexts().Over)
	refused := c.Outlet.Says(agent, c.now(), "Are you there?")
	c.settle()
	require.Len(c, c.Inlet.Shown(c.who), toMember, "what the agent writes after the end reaches the member")
	if refused == "" {
		require.Equal(c, inOutlet+1, count(c.Outlet.Shown(c.now()), livechat.DefaultTexts().Over), "the agent is told that it is over")
	}
}

func handBackReturnsTheMember(t *trial) {
	c := t.begins()
	if t.Outlet.HandsBack != nil {
		t.Outlet.HandsBack(0, c.now())
		t.settle()
	} else {
		t.agentSays(0, c, commandReturns)
	}
	t.requireLast(t.Inlet.Shown(0), botIsBack)
	c.requireOver(livechat.EndedByOutlet)
}

func endByTheAgent(t *trial) {
	c := t.begins()
	c.agentEnds()
	c.requireOver(livechat.EndedByOutlet)
	t.memberSays(0, "Thank you")
	require.Zero(t, count(t.Outlet.Shown(c.now()), "Thank you"), "what the member writes after the end reaches the agent")
}

func endByTheMember(t *trial) {
	c := t.begins()
	_, err := c.bot().InletEndLiveChat(t.Context(), livechat.InletEndParams{})
	require.NoError(t, err)
	t.settle()
	c.requireOver(livechat.EndedByInlet)
	c.requireAgentIsTold(0)
}

func endByTheHost(t *trial) {
	c := t.begins()
	require.NoError(t, c.hostEnds())
	t.settle()
	c.requireOver(livechat.EndedByOutlet)
	c.requireAgentIsTold(0)
}

// hostEnds ends the live chat with EndLiveChat of the Runtime.
func (c *chat) hostEnds() error {
	_, err := c.Host.Runtime().EndLiveChat(c.Context(), App, livechat.EndParams{
		Channel:      &channel.Channel{ID: c.Outlet.Channel},
		MessageEvent: &send.MessageEvent{From: c.record().Assignee, To: c.now().Conversation},
	})
	return err
}

func endByIdling(t *trial) {
	c := t.begins()
	t.memberSays(0, "Hello?")
	t.Host.Advance(livechat.IdleTimeout / 2)
	require.Equal(t, livechat.Taken, c.record().State(), "half of the idle time has passed")
	t.Host.Advance(livechat.IdleTimeout)
	t.settle()
	c.requireOver(livechat.EndedByIdle)
}

func endBeforeAnAgentCame(t *trial) {
	c := t.asks(0)
	_, err := c.bot().InletEndLiveChat(t.Context(), livechat.InletEndParams{})
	require.NoError(t, err)
	t.settle()
	toMember := len(t.Inlet.Shown(0))
	if t.Outlet.Take != nil {
		require.NotEmpty(t, t.Outlet.Take(0, c.now()), "the agent is told that the request is over")
	} else {
		_ = t.Outlet.Says(0, c.now(), "May I help?")
	}
	t.settle()
	require.Len(t, t.Inlet.Shown(0), toMember, "what the member gets after the end")
	require.Empty(t, c.record().Assignee, "the assignee")
	t.memberSays(0, hello)
	t.requireLast(t.Inlet.Shown(0), greeting)
}

func chatAfterAChat(t *trial) {
	for range 2 {
		c := t.begins()
		before := len(t.Inlet.Shown(0))
		t.agentSays(0, c, "Good morning")
		require.Equal(t, []string{"Good morning"}, textsOf(t.Inlet.Shown(0)[before:]), "what the member gets")
		t.memberSays(0, "Good morning, too")
		t.requireLast(c.agentReads(), "Good morning, too")
		c.agentEnds()
		c.requireOver(livechat.EndedByOutlet)
	}
}

func canFail(h *Harness) bool { return h.Outlet.Fail != nil }

var troubleRules = []Rule{
	rule(requestSurvivesAnOutage, "a request made during an outage reaches the agents once when the platform works again").only(canFail),
	rule(messagesSurviveAnOutage, "the member's messages during an outage reach the agent afterwards, in order and once").only(canFail),
	rule(endSurvivesAnOutage, "an end while the platform fails is complete once it works again").only(canFail),
	rule(restartLosesNothing, "a restarted process continues each live chat, and repeats nothing"),
}

// later is longer than the pauses before failed runs are tried again.
const later = 10 * time.Minute

// duringOutage calls do while the platform fails, and then waits until failed runs were tried again.
func (t *trial) duringOutage(do func()) {
	t.Helper()
	t.mayFail = true
	t.Outlet.Fail(true)
	do()
	t.Outlet.Fail(false)
	t.Host.Advance(later)
	t.mayFail = false
	t.settle()
}

func requestSurvivesAnOutage(t *trial) {
	t.duringOutage(func() { t.memberSays(0, askForPerson) })
	c := t.request(0)
	require.Equal(t, livechat.Pending, c.record().State(), "the state of the request")
	require.Equal(t, 1, strings.Count(t.Outlet.Ticket(c.now()), relayed), "the request as agents see it")
	c.isTakenBy(0)
	t.agentSays(0, c, "Good morning")
	t.requireLast(t.Inlet.Shown(0), "Good morning")
}

func messagesSurviveAnOutage(t *trial) {
	c := t.begins()
	t.duringOutage(func() { t.memberSays(0, "one", "two") })
	t.memberSays(0, "three")
	require.Equal(t, []string{"one", "two", "three"}, textsOf(c.agentReads()), "what the agent reads")
}

func endSurvivesAnOutage(t *trial) {
	c := t.begins()
	var first error
	t.duringOutage(func() { first = c.hostEnds() })
	if second := c.hostEnds(); first != nil {
		require.NoError(t, second, "the end is repeated after an error: %v", first)
	} else {
		require.ErrorIs(t, second, boterr.FailedPrecondition, "the end succeeds once")
	}
	t.settle()
	c.requireOver(livechat.EndedByOutlet)
	c.requireAgentIsTold(0)
}

func restartLosesNothing(t *trial) {
	c := t.asks(0)
	t.memberSays(0, "one")
	t.restarts()
	c.isTakenBy(0)
	t.restarts()
	before := len(t.Inlet.Shown(0))
	t.agentSays(0, c, "Where does it leak?")
	t.restarts()
	t.memberSays(0, "two")
	heading := strings.ReplaceAll(livechat.DefaultTexts().Before, "[count]", "1")
	require.Equal(t, []string{heading, "one", "two"}, textsOf(c.agentReads()), "what the agent reads")
	require.Equal(t, []string{"Where does it leak?"}, textsOf(t.Inlet.Shown(0)[before:]), "what the member gets")
	t.restarts()
	c.agentEnds()
	c.requireOver(livechat.EndedByOutlet)
}

func (t *trial) restarts() {
	t.Helper()
	t.Host.Restart()
	t.settle()
}
