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
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/livechat"
)

// mostEntries bounds the entries of a data source that are shown.
const mostEntries = 20

func (s *talk) data(source string) error {
	names := s.Platform().DataSources()
	if source == "" {
		if len(names) == 0 {
			s.screen.notef("There are no data sources yet: Platform.AddData adds one, and so does a bot that writes to it.")
		}
		for _, name := range names {
			s.screen.notef("%s: %d", name, len(s.Platform().Data(name)))
		}
		return nil
	}
	entries := s.Platform().Data(source)
	if len(entries) == 0 {
		hint := ""
		if near := nearest.To(source, names); near != "" && near != source {
			hint = fmt.Sprintf(" Did you mean %s?", near)
		}
		s.screen.notef("%s has no entries.%s", source, hint)
	}
	for _, entry := range entries[:min(len(entries), mostEntries)] {
		id, _ := entry.Field(record.FieldID)
		s.screen.block("   ", plain, render.Record("entry", fmt.Sprint(id), "", entry).Line(), plain)
	}
	if more := len(entries) - mostEntries; more > 0 {
		s.screen.notef("and %d more", more)
	}
	return nil
}

// factf prints a fact under a name.
func (s *talk) factf(name, format string, args ...any) {
	s.screen.block(fmt.Sprintf("   %-11s ", name), ofNote, fmt.Sprintf(format, args...), plain)
}

func (s *talk) state(string) error {
	s.factf("time", "%s", s.Platform().Now().Format(stamp))
	if s.seat.Agent != nil {
		return s.stateOfAgent(s.seat.Agent)
	}
	m := s.seat.Actor.Member()
	s.factf("member", "%s, %s on the channel %s", s.seat.Name, m.ID, m.Channel)
	at, isInLiveChat := m.BotMeta.NodeCompositeID(), m.BotMeta.LiveChat()
	if at != "" || !isInLiveChat {
		s.factf("position", "%s", positionOf(at, m.BotMeta.Tree()))
	}
	if isInLiveChat {
		s.factf("live chat", "yes: nodes of the live-chat tree may answer; otherwise an agent does")
	}
	if m.Meta.Len() > 0 {
		s.factf("meta", "%s", m.Meta.String())
	}
	for _, due := range s.seat.Actor.Agendas() {
		s.factf("agenda", "%s", agendaText(due))
	}
	requests, err := s.Platform().Runtime().FindAssignments(context.Background(), s.seat.Actor.Scope().App, botctx.Query{
		Filter: document.O("member", m.ID), SortBy: document.O("createdAt", 1),
	})
	for _, request := range requests {
		s.factf("request", "%s: %s", request.ID, s.requestText(request))
	}
	return err
}

func (s *talk) stateOfAgent(agent *fakes.Agent) error {
	s.factf("agent", "%s, %s at the channel %s", agent.Name(), agent.ExternalID(), agent.Channel())
	s.factf("groups", "%s", strings.Join(agent.Groups(), ", "))
	s.printTickets()
	return nil
}

// positionOf names the position of a conversation.
func positionOf(node, tree string) string {
	switch {
	case node == "":
		return "none, so the head nodes may answer"
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
func (s *talk) requestText(request *livechat.AssignmentRecord) string {
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
func (s *talk) nameOf(externalID string) string {
	for _, p := range s.People() {
		if p.IsAgent() && p.Agent.ExternalID() == externalID {
			return p.Name
		}
	}
	return externalID
}

// why prints the answer to the speaker's last event, or the reason of each node that refused.
func (s *talk) why(string) error {
	made := s.lastChoices()
	if len(made) == 0 {
		return fmt.Errorf("%s has not said anything yet: say something first", s.seat.Name)
	}
	for _, choice := range made {
		s.printChoice(choice)
	}
	return nil
}

// lastChoices returns the choices for the speaker's last event: one for each mute node, and the answer.
func (s *talk) lastChoices() []botctx.Choice {
	var last []botctx.Choice
	isMore := false
	for _, choice := range s.Platform().Choices() {
		if !s.seat.Wrote(choice.Scope, s.Platform()) {
			continue
		}
		if !isMore {
			last = nil
		}
		last, isMore = append(last, choice), choice.IsMute
	}
	return last
}

// printChoice prints a choice, with the result of each node.
func (s *talk) printChoice(choice botctx.Choice) {
	switch choice.Answer {
	case botctx.AnswerNode:
		s.screen.notef("The node %q answered. Position before: %s.", choice.Node.CompositeID, standing(choice))
	case botctx.AnswerLogic:
		s.screen.notef("HandleFunc answered: %s.", choice.Logic)
	case botctx.AnswerLiveChat:
		s.screen.notef("It went to the live chat.")
	default:
		s.screen.notef("Nothing answered. Position: %s.", standing(choice))
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
