package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/internal/session"
	"github.com/botctx/go-sdk/send"
)

// answer taps an offer of the last messages by number or title, or says the line.
func (s *talk) answer(line string) {
	if i := chosen(line, s.offers[s.seat.ID]); i >= 0 {
		s.tap(s.offers[s.seat.ID][i])
		return
	}
	s.say(line)
}

// chosen returns the index of the offer that a line selects, by a number from 1 on or a title, or -1.
func chosen(line string, offers []fakes.Tappable) int {
	for i := range offers {
		if line == strconv.Itoa(i+1) { // +1 and 01 are not numbers of offers.
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

func (s *talk) say(text string) {
	speaks := s.seat
	if s.isEchoing {
		s.screen.says(ofUser, speaks.Name, text)
	}
	s.act(conversation.Says{By: speaks.Name, Text: text})
	if speaks.Actor != nil && s.console.Ends != nil && s.console.Ends(text) {
		s.isOver = true
	}
}

// tap makes the member tap a button or a quick reply.
func (s *talk) tap(one fakes.Tappable) {
	s.screen.says(ofUser, s.seat.Name, "["+one.Title+"]")
	s.act(s.Tap(s.seat.Name, one))
}

// act carries out an act, prints its results, and keeps it for /save.
func (s *talk) act(act conversation.Act) {
	s.choices = len(s.Platform().Choices())
	_, err := s.Stage.Do(act)
	s.printNew()
	if err != nil {
		s.fail(err)
		return
	}
	for _, choice := range s.Platform().Choices()[s.choices:] {
		if choice.Answer == botctx.AnswerNone {
			s.screen.notef("Nothing answers. /why shows why.")
		}
	}
}

// printNew prints the messages sent since the last time.
func (s *talk) printNew() {
	sent := s.Platform().Sent()
	s.sent = min(s.sent, len(sent))
	s.renewOffers(sent[s.sent:])
	for _, one := range sent[s.sent:] {
		s.printSent(one)
	}
	s.sent = len(sent)
}

// renewOffers finds everything tappable in the newest messages to each member who received any.
func (s *talk) renewOffers(sent []fakes.Sent) {
	people := s.People()
	renewed := map[string]bool{}
	for _, one := range sent {
		i := slices.IndexFunc(people, func(p *session.Person) bool { return p.IsAlone() && p.Gets(one, nil) })
		if i < 0 {
			continue
		}
		p := people[i]
		if !renewed[p.ID] {
			s.offers[p.ID], renewed[p.ID] = nil, true
		}
		for _, offered := range p.Actor.Tappables() {
			if offered.MessageID == one.MessageID {
				s.offers[p.ID] = append(s.offers[p.ID], offered)
			}
		}
	}
}

// printSent prints a message, with the numbers of the speaker's offers.
func (s *talk) printSent(sent fakes.Sent) {
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
	message := render.Of(sent.Shown)
	head := message.Head()
	if sent.Shown.IsZero() {
		head = render.TakenBack
	}
	s.screen.says(ofBot, label, head)
	for _, part := range message.Parts(render.Form{First: number}) {
		s.screen.more(part)
	}
}

// firstOffer returns the number of the first offer in a message to the speaker, or 0 if there is none.
func (s *talk) firstOffer(messageID string) int {
	for i, one := range s.offers[s.seat.ID] {
		if one.MessageID == messageID {
			return i + 1
		}
	}
	return 0
}

// recipient returns the name of a message's recipient, and whether the recipient is the speaker.
func (s *talk) recipient(sent fakes.Sent) (name string, isSeat bool) {
	groups := s.Platform().Groups(sent.Channel)
	for _, p := range s.People() {
		if p.Gets(sent, groups) {
			return p.Name, p.ID == s.seat.ID
		}
	}
	return sent.To, false
}

// onlyMembers returns an error if the speaker is an agent.
func (s *talk) onlyMembers() error {
	if s.seat.Actor == nil {
		return fmt.Errorf("%s is an agent: /as NAME speaks as a member", s.seat.Name)
	}
	return nil
}

// onlyAgents returns an error if the speaker is a member.
func (s *talk) onlyAgents() error {
	if s.seat.Agent == nil {
		return fmt.Errorf("%s is a member: /agent speaks as an agent", s.seat.Name)
	}
	return nil
}
