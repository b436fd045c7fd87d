package fakes

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/expect"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// speaker is the part common to members and agents: it writes to the bot, and reads the messages that it gets.
type speaker struct {
	platform *Platform
	// scope is a member's scope. For an agent it is the app and the outlet channel.
	scope      botctx.Scope
	externalID string
	name       string
	isAgent    bool
	// partner is the id of the member in the agent's conversation, or "" for any member.
	partner string
}

// ExternalID returns the id on the channel's messaging platform.
func (s *speaker) ExternalID() string { return s.externalID }

func (s *speaker) address() address { return address{s.scope.Channel, s.externalID} }

// Says sends a text to the bot and waits until its logic has run. An agent writes to the newest open conversation, else to
// the newest of all, and without any to the bot; a node answers, or the text goes to the member. A failed run ends the
// test, which only the test's own goroutine may do: other goroutines use TrySays. Actions must use neither, because a run
// waits until the member's current run has ended.
func (s *speaker) Says(text string) {
	s.platform.test.Helper()
	s.Sends(send.MessageEvent{Type: send.TypeText, Data: document.O("text", text)})
}

// TrySays is like Says, but returns the error of a failed run.
func (s *speaker) TrySays(text string) error {
	return s.TrySends(send.MessageEvent{Type: send.TypeText, Data: document.O("text", text)})
}

// Sends sends any message event to the bot, as Says does. From, To, Timestamp and MessageID are filled in if
// absent.
func (s *speaker) Sends(event send.MessageEvent) {
	s.platform.test.Helper()
	s.platform.checkIsUp(s.name)
	if err := butForCrash(s.TrySends(event)); err != nil {
		s.platform.test.Fatalf("fakes: %s sent %s: %v%s", s.name, event.Type, err, framesOf(err))
	}
}

// TrySends is like Sends, but returns the error of a failed run. The error is ErrCrashed if the process had
// crashed or crashed during the run, which Sends accepts as intended by the test.
func (s *speaker) TrySends(event send.MessageEvent) error {
	inbound := botctx.Inbound{App: s.scope.App, Channel: s.scope.Channel, GroupExternalID: s.scope.GroupExternalID}
	inbound.Event = s.platform.fillIn(event, s.externalID, s.writesTo())
	if s.isAgent {
		inbound.Profile, inbound.GroupExternalID = member.Member{FirstName: s.name}, s.groupOnBravo(inbound.Event.To)
	}
	s.platform.noteMessage(s.name, render.Said, inbound.Event.Response())
	return s.platform.arrives(inbound)
}

// SaysAgain delivers the last message of the member or agent to the bot once more, under the same message id, like a
// platform that got no answer. It ends the test if there is no message or if the run fails. To repeat an earlier
// message, use Sends with its MessageID.
func (s *speaker) SaysAgain() {
	s.platform.test.Helper()
	s.platform.checkIsUp(s.name)
	if err := butForCrash(s.TrySaysAgain()); err != nil {
		s.platform.test.Fatalf("fakes: SaysAgain: the repeated message of %s: %v%s", s.name, err, framesOf(err))
	}
}

// TrySaysAgain is like SaysAgain, but returns the error of a failed run. It returns FailedPrecondition if nothing was
// sent yet.
func (s *speaker) TrySaysAgain() error {
	last, hasOne := s.platform.outbox.lastSaid(s.address())
	if !hasOne {
		return boterr.New(boterr.FailedPrecondition, "", "%s has sent nothing that could be repeated", s.name)
	}
	s.platform.notef("%s -> %s, repeated by the platform", s.name, render.Line(last.Event.Response()))
	return s.platform.arrives(last)
}

// Sees expects that the next messages to the member or agent have exactly these texts, in this order and without a
// message in between. Each expectation continues after the one before. TYPING does not count as a message, and neither
// do tickets; see Agent.Tickets. At the first difference Sees ends the test and shows the message.
//
//	ada.Says("book")
//	ada.Sees("Which day?")
//	ada.SeesNothing()
//
// An agent sees the messages to the agent's conversations (after With, only the one with that member) and to the agent
// alone. To skip messages that a test does not check, use Reads. SeesMatch and SeesMessage check more than a text.
func (s *speaker) Sees(texts ...string) {
	s.platform.test.Helper()
	s.reader().seesTexts(texts)
}

// SeesMatch is Sees for one message whose text matches a pattern.
func (s *speaker) SeesMatch(pattern *regexp.Regexp) {
	s.platform.test.Helper()
	s.reader().sees(expect.Match(pattern))
}

// SeesMessage is Sees for one message that meets all expectations:
//
//	ada.SeesMessage(expect.Text("Which size?"), expect.Choice("Small", "Large"))
func (s *speaker) SeesMessage(expected ...expect.Message) {
	s.platform.test.Helper()
	s.reader().sees(expected...)
}

// SeesNothing expects that there is no unread message. Otherwise it ends the test and shows the messages.
func (s *speaker) SeesNothing() {
	s.platform.test.Helper()
	s.reader().seesNothing()
}

// Reads returns the unread messages and marks them as read, so that later expectations skip them.
func (s *speaker) Reads() []send.Response {
	s.platform.test.Helper()
	return s.reader().reads()
}

func (s *speaker) reader() reader {
	s.platform.test.Helper()
	return reader{platform: s.platform, who: s.address(), name: s.name, isSeen: s.sees(), hint: func() string {
		s.platform.test.Helper()
		return s.whyNothing() + s.waiting()
	}}
}

// Messages returns the messages to the member in order, or after InGroup the messages to the group. For an agent it
// returns the messages to the agent's conversations and to the agent alone.
func (s *speaker) Messages() []send.Response {
	s.platform.test.Helper()
	sees := s.sees()
	var messages []send.Response
	for _, sent := range s.platform.Sent() {
		if sees(sent) {
			messages = append(messages, sent.Response)
		}
	}
	return messages
}

// Last returns the text of the last message to the member or agent. It ends the test if there is none.
func (s *speaker) Last() string {
	s.platform.test.Helper()
	return s.LastMessage().Text()
}

// LastMessage returns the last message to the member or agent. It ends the test if there is none.
func (s *speaker) LastMessage() send.Response {
	s.platform.test.Helper()
	messages := s.Messages()
	if len(messages) == 0 {
		s.platform.test.Fatalf("fakes: nothing was sent to %s yet%s", s.name, s.waiting())
		return send.Response{}
	}
	return messages[len(messages)-1]
}

// sees returns a function that reports whether a message is shown: to a member in this conversation, which is a group or
// the member's own, or to an agent alone or in one of the agent's conversations.
func (s *speaker) sees() func(Sent) bool {
	s.platform.test.Helper()
	if !s.isAgent {
		return func(sent Sent) bool {
			if s.scope.GroupExternalID != "" {
				return !sent.IsRepeat && sent.Channel == s.scope.Channel && sent.To == s.scope.GroupExternalID
			}
			return !sent.IsRepeat && sent.Member == s.scope.Member
		}
	}
	ids := map[string]bool{}
	if s.partner == "" {
		ids[s.externalID] = true
	}
	for _, c := range s.conversations() {
		ids[c.externalID] = true
	}
	return func(sent Sent) bool {
		return sent.Channel == s.scope.Channel && !sent.IsRepeat && (ids[sent.To] || ids[sent.ChatID])
	}
}

// waiting describes a member's next agenda, or "" if there is none.
func (s *speaker) waiting() string {
	s.platform.test.Helper()
	if s.isAgent {
		return ""
	}
	open := s.agendas()
	if len(open) == 0 {
		return ""
	}
	next := open[0]
	return fmt.Sprintf("; an agenda waits until %s to run the node %s: Advance moves the time",
		next.NextRunAt.Time().UTC().Format(time.RFC3339), next.NodeCompositeID)
}

// whyNothing describes the last answer to a member if no node answered.
func (s *speaker) whyNothing() string {
	for _, choice := range slices.Backward(s.platform.Choices()) {
		if s.isAgent || choice.Scope.Member != s.scope.Member {
			continue
		}
		if choice.Answer == botctx.AnswerNone || choice.Answer == botctx.AnswerLiveChat {
			return "; " + choice.String()
		}
		return ""
	}
	return ""
}

// writesTo returns the id to which a message goes: a group, or the bot's channel.
func (s *speaker) writesTo() string {
	if !s.isAgent {
		return cmp.Or(s.scope.GroupExternalID, s.scope.Channel)
	}
	in, isIn := s.current()
	if !isIn || in.externalID == s.externalID { // Messages to the agent alone come from the bot.
		return s.scope.Channel
	}
	return in.externalID
}

// groupOnBravo returns to if it is a group on Bravo, whose events name their group. Otherwise it returns "":
// on other platforms a group is a conversation like any other.
func (s *speaker) groupOnBravo(to string) string {
	isGroup := slices.ContainsFunc(s.platform.Groups(s.scope.Channel), func(g Group) bool { return g.ExternalID == to })
	if !isGroup || !s.platform.typeOf(DefaultApp, s.scope.Channel).Has(channel.GroupTrees) {
		return ""
	}
	return to
}

type conversation struct {
	// externalID is the platform's id of the conversation.
	externalID string
	// isLive reports whether the conversation is still open.
	isLive bool
}

// conversations returns an agent's conversations, oldest first: the ones of assignments that the agent has or
// had, and groups of the platform that the agent is in.
func (s *speaker) conversations() []conversation {
	var all []conversation
	groups := slices.DeleteFunc(s.platform.Groups(s.scope.Channel), func(g Group) bool { return !slices.Contains(g.Members, s.externalID) })
	known := map[string]bool{}
	for _, r := range s.platform.assignmentsIn(s.scope.Channel) {
		id := document.Get(r.GroupInfo, "externalId", "")
		if r.Outlet != s.scope.Channel || r.Group == "" || id == "" {
			continue
		}
		known[id] = true
		isIn := slices.ContainsFunc(groups, func(g Group) bool { return g.ExternalID == id })
		if (isIn || s.has(r)) && (s.partner == "" || s.partner == r.Member) {
			all = append(all, conversation{externalID: id, isLive: r.State() == livechat.Taken})
		}
	}
	for _, group := range groups {
		if !known[group.ExternalID] && s.partner == "" {
			all = append(all, conversation{externalID: group.ExternalID})
		}
	}
	return all
}

// has reports whether an agent has an assignment. An assignment taken by a live-chat API belongs to every
// agent of its channel.
func (s *speaker) has(r *livechat.AssignmentRecord) bool {
	return r.Assignee == s.externalID || r.Assignee == "" && r.Direct == s.scope.Channel
}

// current returns an agent's newest open conversation, or the newest one if none is open.
func (s *speaker) current() (conversation, bool) {
	all := s.conversations()
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
