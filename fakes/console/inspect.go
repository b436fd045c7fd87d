package console

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// mostEntries bounds the entries of a data source that are shown.
const mostEntries = 20

func (s *session) data(source string) error {
	names := s.platform.DataSources()
	if source == "" {
		if len(names) == 0 {
			s.screen.notef("There is no data source yet: Platform.AddData adds one, and so does a bot that writes into it.")
		}
		for _, name := range names {
			s.screen.notef("%s: %d", name, len(s.platform.Data(name)))
		}
		return nil
	}
	entries := s.platform.Data(source)
	if len(entries) == 0 {
		hint := ""
		if near := nearest.To(source, names); near != "" && near != source {
			hint = fmt.Sprintf(" Did you mean %s?", near)
		}
		s.screen.notef("%s has no entries.%s", source, hint)
	}
	for _, entry := range entries[:min(len(entries), mostEntries)] {
		shown, err := document.ForReader(entry)
		if err != nil {
			return err
		}
		s.screen.block("   ", plain, fmt.Sprint(shown), plain)
	}
	if more := len(entries) - mostEntries; more > 0 {
		s.screen.notef("and %d more", more)
	}
	return nil
}

// factf prints something that is known under a name.
func (s *session) factf(name, format string, args ...any) {
	s.screen.block(fmt.Sprintf("   %-11s ", name), ofNote, fmt.Sprintf(format, args...), plain)
}

// state prints the state of the speaker.
func (s *session) state(string) error {
	s.factf("time", "%s", s.platform.Now().Format(stamp))
	if s.seat.agent != nil {
		return s.stateOfAgent(s.seat.agent)
	}
	m := s.seat.actor.Member()
	s.factf("member", "%s, %s on the channel %s", s.seat.name, m.ID, m.Channel)
	at, isInLiveChat := m.BotMeta.NodeCompositeID(), m.BotMeta.LiveChat()
	if at != "" || !isInLiveChat {
		s.factf("position", "%s", positionOf(at, m.BotMeta.Tree()))
	}
	if isInLiveChat {
		s.factf("live chat", "yes: nodes of the live-chat tree may answer, and else an agent does")
	}
	if m.Meta.Len() > 0 {
		s.factf("meta", "%s", m.Meta.String())
	}
	for _, due := range s.seat.actor.Agendas() {
		s.factf("agenda", "%s", agendaText(due))
	}
	requests, err := s.platform.Runtime().FindAssignments(context.Background(), s.seat.actor.Scope().App, botctx.Query{
		Filter: document.O("member", m.ID), SortBy: document.O("createdAt", 1),
	})
	for _, request := range requests {
		s.factf("request", "%s: %s", request.ID, s.requestText(request))
	}
	return err
}

// stateOfAgent prints what is known of an agent.
func (s *session) stateOfAgent(agent *fakes.Agent) error {
	s.factf("agent", "%s, %s at the channel %s", agent.Name(), agent.ExternalID(), agent.Channel())
	s.factf("groups", "%s", strings.Join(agent.Groups(), ", "))
	s.printTickets()
	return nil
}

// positionOf names where a conversation stands.
func positionOf(node, tree string) string {
	switch {
	case node == "":
		return "none: the head nodes answer"
	case tree == "":
		return fmt.Sprintf("%q", node)
	default:
		return fmt.Sprintf("%q of the tree %q", node, tree)
	}
}

func agendaText(due *agenda.Record) string {
	text := fmt.Sprintf("%q at %s", due.NodeCompositeID, due.NextRunAt.Time().Format(stamp))
	if due.Tag != "" {
		text += fmt.Sprintf(", tag %q", due.Tag)
	}
	if due.Repeats() {
		text += fmt.Sprintf(", then %q (%s) until %s", due.Pattern, cmp.Or(due.Zone, "UTC"), due.RunUntil.Time().Format(stamp))
	}
	if due.Failures > 0 {
		text += fmt.Sprintf(", failed %d times", due.Failures)
	}
	return text
}

// requestText describes the state of a request for a person.
func (s *session) requestText(request *livechat.AssignmentRecord) string {
	text := string(request.State())
	if request.Assignee != "" {
		text += " by " + s.nameOf(request.Assignee)
	}
	if request.Expiry > 0 && request.State() == livechat.Taken {
		text += ", ends when idle at " + request.Expiry.Time().Format(time.TimeOnly)
	}
	return text
}

// nameOf returns the name of the agent with an id on their platform, or the id if there is none.
func (s *session) nameOf(externalID string) string {
	for _, p := range s.people {
		if isAgent(p) && p.agent.ExternalID() == externalID {
			return p.name
		}
	}
	return externalID
}

// why prints the answer to the speaker's last event, or the reason of each node that refused.
func (s *session) why(string) error {
	made := s.lastChoices()
	if len(made) == 0 {
		return fmt.Errorf("nothing has come from %s yet", s.seat.name)
	}
	for _, choice := range made {
		s.printChoice(choice)
	}
	return nil
}

// lastChoices returns the choices for the speaker's last event: of mute nodes, and the one after them.
func (s *session) lastChoices() []botctx.Choice {
	var last []botctx.Choice
	isMore := false
	for _, choice := range s.platform.Choices() {
		if !s.seat.made(choice.Scope) {
			continue
		}
		if !isMore {
			last = nil
		}
		last, isMore = append(last, choice), choice.IsMute
	}
	return last
}

// made reports whether an event of a scope is the person's.
func (p *person) made(scope record.Scope) bool {
	if p.actor != nil {
		return scope.Member == p.actor.ID()
	}
	return p.agent.Wrote(scope)
}

// printChoice prints a choice, with the result of each node.
func (s *session) printChoice(choice botctx.Choice) {
	switch choice.Answer {
	case botctx.AnswerNode:
		s.screen.notef("The node %q answered. The conversation stood at %s.", choice.Node.CompositeID, standing(choice))
	case botctx.AnswerLogic:
		s.screen.notef("HandleFunc answered: %s.", choice.Logic)
	case botctx.AnswerLiveChat:
		s.screen.notef("The live chat took it.")
	default:
		s.screen.notef("Nothing answered. The conversation stood at %s.", standing(choice))
	}
	for _, one := range choice.Candidates {
		s.screen.block("   ", plain, fmt.Sprintf("%q, %s: %s", one.Node.CompositeID, one.Rule, one.Why), plain)
	}
	for _, one := range choice.Others {
		s.screen.block("   ", plain, fmt.Sprintf("%q %s", one.Node.CompositeID, one.Why), plain)
	}
}

// standing names the position of a choice.
func standing(choice botctx.Choice) string {
	text := positionOf(choice.Position.CompositeID, choice.Position.Tree)
	if choice.Lost != "" {
		text += " (" + choice.Lost + ": as a new member)"
	}
	return text
}

type response = send.Response

// shownParts returns the visible parts of a message, a block for each. number is the number of the first
// thing to tap in it, 0 if there is none.
func shownParts(shown response, number int) []string {
	parts := []string{whatItSays(shown)}
	taps := &taps{number: number}
	parts = appendText(parts, taps.ofButtons(shown.Buttons()))
	for _, card := range shown.Cards() {
		text := "* " + card.Title
		if card.Subtitle != "" {
			text += ": " + card.Subtitle
		}
		parts = append(parts, text)
		parts = appendText(parts, taps.ofButtons(card.Buttons))
	}
	return appendText(parts, taps.ofQuickReplies(shown))
}

func appendText(parts []string, text string) []string {
	if text == "" {
		return parts
	}
	return append(parts, text)
}

// whatItSays returns the text of a message, and of one without any what it is.
func whatItSays(shown response) string {
	text := shown.Text()
	switch shown.Type() {
	case send.TypeText, send.TypeButton, send.TypeQuickReplies:
		return text
	case send.TypeCarousel:
		return cmp.Or(text, "("+string(shown.Type())+")")
	default:
		if shown.IsZero() {
			return "(a message that was taken back)"
		}
		return "(" + string(shown.Type()) + " " + shown.Data().String() + ")"
	}
}

// taps counts what there is to tap in a message.
type taps struct{ number int }

// ofButtons shows buttons, those that send a payload with a number.
func (t *taps) ofButtons(buttons []send.Button) string {
	var shown []string
	for _, button := range buttons {
		if button.Payload == nil {
			shown = append(shown, "["+button.Title+"] "+button.URL)
			continue
		}
		shown = append(shown, t.next(button.Title))
	}
	return strings.Join(shown, "  ")
}

func (t *taps) ofQuickReplies(message response) string {
	var shown []string
	for _, reply := range document.Get(message, "quickReplies", []document.Object(nil)) {
		title := document.Get(reply, "title", "")
		if reply.Has("payload") {
			title = t.next(title)
		} else {
			title = "[" + cmp.Or(title, document.Get(reply, "content_type", "")) + "]"
		}
		shown = append(shown, title)
	}
	return strings.Join(shown, "  ")
}

// next shows a title, with the next number if there are any.
func (t *taps) next(title string) string {
	text := numbered(t.number, title)
	if t.number > 0 {
		t.number++
	}
	return text
}
