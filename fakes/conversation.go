package fakes

import (
	"slices"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// conversation is one that an agent is in, or was.
type conversation struct {
	// externalID is the platform's id.
	externalID string
	// isLive is whether it lasts.
	isLive bool
}

// With returns the agent in her conversation with a member: what she writes and reads there.
func (a *Agent) With(partner *Actor) *Agent {
	other := *a
	other.partner = partner.ID()
	return &other
}

// conversations returns the conversations of the agent, the oldest first: those of the
// assignments that she has or had, and the groups that she is in without one.
func (a *Agent) conversations() []conversation {
	var all []conversation
	groups := slices.DeleteFunc(a.platform.Groups(a.channel), func(g Group) bool { return !slices.Contains(g.Members, a.externalID) })
	known := map[string]bool{}
	for _, r := range a.platform.assignmentsIn(a.channel) {
		id := livechatGroup(r)
		if r.Outlet != a.channel || id == "" {
			continue
		}
		known[id] = true
		isIn := slices.ContainsFunc(groups, func(g Group) bool { return g.ExternalID == id })
		if (isIn || a.has(r)) && (a.partner == "" || a.partner == r.Member) {
			all = append(all, conversation{externalID: id, isLive: r.State() == livechat.Taken})
		}
	}
	for _, group := range groups {
		if !known[group.ExternalID] && a.partner == "" {
			all = append(all, conversation{externalID: group.ExternalID})
		}
	}
	return all
}

// livechatGroup returns the platform's id of the conversation of an assignment, "" where
// there is none yet.
func livechatGroup(r *livechat.AssignmentRecord) string {
	if r.Group == "" {
		return ""
	}
	id, _ := r.GroupInfo.Field("externalId")
	text, _ := id.(string)
	return text
}

// has reports whether the agent has an assignment. One that a live-chat API has taken is
// everybody's in its channel.
func (a *Agent) has(r *livechat.AssignmentRecord) bool {
	return r.Assignee == a.externalID || r.Assignee == "" && r.Direct == a.channel
}

// current returns the newest conversation that lasts, else the newest one.
func (a *Agent) current() (conversation, bool) {
	all := a.conversations()
	for _, c := range slices.Backward(all) {
		if c.isLive {
			return c, true
		}
	}
	if len(all) == 0 {
		return conversation{}, false
	}
	return all[len(all)-1], true
}

// writesTo returns where the agent writes: to a group, or to the bot.
func (a *Agent) writesTo() string {
	in, isIn := a.current()
	if !isIn || in.externalID == a.externalID { // What is sent to her comes from the bot.
		return a.channel
	}
	return in.externalID
}

// Ends ends her live chat, as EndLiveChat does for a bot whose agents have a command for it. It ends
// the test where she is in none.
func (a *Agent) Ends() {
	a.platform.test.Helper()
	if err := a.TryEnds(); err != nil {
		a.platform.test.Fatalf("fakes: %s cannot end the live chat: %v", a.name, err)
	}
}

// TryEnds is Ends, and returns the error where she is in none.
func (a *Agent) TryEnds() error {
	p := a.platform
	p.notef("%s ends the live chat", a.name)
	_, err := p.Runtime().LiveChats(DefaultApp).EndLiveChat(p.contextIn(p.process.Load()), livechat.EndLiveChatParams{
		Channel:      &channel.Channel{ID: a.channel},
		MessageEvent: &send.MessageEvent{From: a.externalID, To: a.writesTo()},
	})
	if err != nil {
		p.notef("%s did not end it: %v", a.name, err)
	}
	return err
}

// Messages returns what was sent to the conversations of the agent, and to her alone, in
// order.
func (a *Agent) Messages() []send.Response {
	a.platform.test.Helper()
	sees := a.sees()
	var messages []send.Response
	for _, sent := range a.platform.Sent() {
		if sees(sent) {
			messages = append(messages, sent.Response)
		}
	}
	return messages
}

// sees returns what tells whether the agent sees a message: in one of her conversations, or to her alone.
func (a *Agent) sees() func(Sent) bool {
	a.platform.test.Helper()
	ids := map[string]bool{}
	if a.partner == "" {
		ids[a.externalID] = true
	}
	for _, c := range a.conversations() {
		ids[c.externalID] = true
	}
	return func(sent Sent) bool {
		return sent.Channel == a.channel && !sent.IsRepeat && (ids[sent.To] || ids[sent.ChatID])
	}
}

// Last returns the text of the last message to the agent. It ends the test where there is
// none.
func (a *Agent) Last() string {
	a.platform.test.Helper()
	return a.LastMessage().Text()
}

// LastMessage returns the last message to the agent. It ends the test where there is none.
func (a *Agent) LastMessage() send.Response {
	a.platform.test.Helper()
	messages := a.Messages()
	if len(messages) == 0 {
		a.platform.test.Fatalf("fakes: %s was sent nothing yet", a.name)
		return send.Response{}
	}
	return messages[len(messages)-1]
}
