package console

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/send"
)

// answer taps an offer of the last messages by number or title, or says the line.
func (s *session) answer(line string) {
	if i := chosen(line, s.seat.offers); i >= 0 {
		s.tap(s.seat.offers[i])
		return
	}
	s.say(line)
}

// chosen returns the place of what a number from 1 or a title chooses, -1 if that is nothing.
func chosen(line string, offers []fakes.Tappable) int {
	for i := range offers {
		if line == strconv.Itoa(i+1) { // +1 and 01 are texts.
			return i
		}
	}
	for i, one := range offers {
		if strings.EqualFold(line, strings.TrimSpace(one.Title)) {
			return i
		}
	}
	return -1
}

// say lets who speaks say a text.
func (s *session) say(text string) {
	speaks := s.seat
	if s.isEchoing {
		s.screen.says(ofUser, speaks.name, text)
	}
	s.act(conversation.Says{By: speaks.name, Text: text})
	if speaks.actor != nil && s.console.Ends != nil && s.console.Ends(text) {
		s.isOver = true
	}
}

// tap lets the member tap a button or a quick reply.
func (s *session) tap(one fakes.Tappable) {
	s.screen.says(ofUser, s.seat.name, "["+one.Title+"]")
	s.act(conversation.Taps{By: s.seat.name, Title: one.Title, Which: placeOf(one, s.seat.actor.Tappables())})
}

// placeOf returns the place of an offer among the ones with its title, from 1 on.
func placeOf(one fakes.Tappable, among []fakes.Tappable) int {
	place := 0
	for _, other := range among {
		if other.Title != one.Title {
			continue
		}
		place++
		if other.MessageID == one.MessageID && document.Identical(other.Payload, one.Payload) {
			break
		}
	}
	return place
}

// act carries out an act, prints its results, and keeps it for /save.
func (s *session) act(act conversation.Act) {
	s.choices = len(s.platform.Choices())
	_, err := s.stage.Do(act)
	s.printNew()
	if err != nil {
		s.fail(err)
		return
	}
	for _, choice := range s.platform.Choices()[s.choices:] {
		if choice.Answer == botctx.AnswerNone {
			s.screen.notef("Nothing answers. /why shows why.")
		}
	}
}

// printNew prints what was sent since the last time.
func (s *session) printNew() {
	sent := s.platform.Sent()
	s.sent = min(s.sent, len(sent))
	s.renewOffers(sent[s.sent:])
	for _, one := range sent[s.sent:] {
		s.printSent(one)
	}
	s.sent = len(sent)
}

// renewOffers finds what there is to tap in the newest messages to each member who got any.
func (s *session) renewOffers(sent []fakes.Sent) {
	for _, p := range s.people {
		isRenewed := false
		for _, one := range sent {
			if p.actor == nil || one.Member != p.actor.ID() {
				continue
			}
			if !isRenewed {
				p.offers, isRenewed = nil, true
			}
			for _, offered := range p.actor.Tappables() {
				if offered.MessageID == one.MessageID {
					p.offers = append(p.offers, offered)
				}
			}
		}
	}
}

// printSent prints a message, with the numbers of the speaker's offers.
func (s *session) printSent(sent fakes.Sent) {
	if sent.Shown.Type() == send.TypeTyping {
		return
	}
	to, isSeat := s.recipient(sent)
	label, number := s.console.Bot, 0
	if isSeat {
		number = s.firstOffer(sent.MessageID)
	} else {
		label += " to " + to
	}
	parts := shownParts(sent.Shown, number)
	s.screen.says(ofBot, label, parts[0])
	for _, part := range parts[1:] {
		s.screen.more(part)
	}
}

// firstOffer returns the number of the first offer in a message to the speaker, 0 if there is none.
func (s *session) firstOffer(messageID string) int {
	for i, one := range s.seat.offers {
		if one.MessageID == messageID {
			return i + 1
		}
	}
	return 0
}

// recipient returns the recipient of a message, and whether that is the speaker.
func (s *session) recipient(sent fakes.Sent) (name string, isSeat bool) {
	for _, p := range s.people {
		if p.gets(sent, s.platform) {
			return p.name, p == s.seat
		}
	}
	return sent.To, false
}

// gets reports whether a message goes to a person.
func (p *person) gets(sent fakes.Sent, platform *fakes.Platform) bool {
	if p.actor != nil {
		return sent.Member == p.actor.ID()
	}
	if sent.Channel != p.agent.Channel() || sent.Member != "" {
		return false
	}
	if sent.To == p.agent.ExternalID() || sent.ChatID == p.agent.ExternalID() {
		return true
	}
	for _, group := range platform.Groups(sent.Channel) {
		for _, in := range group.Members {
			if group.ExternalID == sent.To && in == p.agent.ExternalID() {
				return true
			}
		}
	}
	return false
}

// onlyMembers refuses an agent what members do.
func (s *session) onlyMembers() error {
	if s.seat.actor == nil {
		return fmt.Errorf("%s is an agent: /as NAME speaks as a member", s.seat.name)
	}
	return nil
}

// onlyAgents refuses a member what agents do.
func (s *session) onlyAgents() error {
	if s.seat.agent == nil {
		return fmt.Errorf("%s is a member: /agent sits as the agent", s.seat.name)
	}
	return nil
}

// numbered returns what stands before something to tap.
func numbered(number int, title string) string {
	if number == 0 {
		return "[" + title + "]"
	}
	return fmt.Sprintf("%d [%s]", number, title)
}
