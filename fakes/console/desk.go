package console

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
)

// deskID is the id of the channel of the console's own desk.
const deskID = "desk"

// sitAsAgent lets the agent of a name speak, the first one without any.
func (s *session) sitAsAgent(name string) error {
	agent, err := s.agentNamed(name)
	if err != nil {
		return err
	}
	s.seat = agent
	s.screen.notef("%s sits at %s. /take takes a ticket, /end ends the live chat, /as NAME goes back.", agent.name, agent.agent.Channel())
	s.printTickets()
	return nil
}

// agentNamed returns the agent of a name, who is made at the console's own desk.
func (s *session) agentNamed(name string) (*person, error) {
	for _, p := range s.people {
		if isAgent(p) && name == "" {
			return p, nil
		}
	}
	if found := s.find(name, isAgent); found != nil {
		return found, nil
	}
	if !s.hasDesk {
		return nil, fmt.Errorf("there is no agent%s: give the Console its Agents", strings.TrimRight(" "+name, " "))
	}
	return s.addAgent(s.platform.AddAgent(deskID, nameOr(name, "Grace"))), nil
}

// nameOr returns a name, and another one where there is none.
func nameOr(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

// openTickets returns the tickets that the agent can take, and their places among all.
func openTickets(agent *fakes.Agent) (tickets []fakes.Ticket, places []int) {
	for i, ticket := range agent.Tickets() {
		if ticket.IsOpen() && ticket.Assignment != "" {
			tickets, places = append(tickets, ticket), append(places, i)
		}
	}
	return tickets, places
}

// printTickets lists the tickets that are open, with their numbers.
func (s *session) printTickets() {
	tickets, _ := openTickets(s.seat.agent)
	if len(tickets) == 0 {
		s.screen.notef("There is no open ticket.")
	}
	for i, ticket := range tickets {
		s.screen.notef("%d  %s", i+1, ticket.Text())
	}
}

// take takes the ticket of a number, the newest one without any.
func (s *session) take(number string) error {
	if err := s.onlyAgents(); err != nil {
		return err
	}
	agent := s.seat.agent
	tickets, places := openTickets(agent)
	if len(tickets) == 0 {
		return errors.New("there is no open ticket: a bot asks for a person by createAssignment")
	}
	i := len(tickets) - 1
	if number != "" {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(tickets) {
			return fmt.Errorf("%q is no ticket: give a number from 1 to %d", number, len(tickets))
		}
		i = n - 1
	}
	s.act(conversation.Takes{By: s.seat.name, Ticket: places[i] + 1})
	return nil
}

// end ends the agent's live chat.
func (s *session) end(string) error {
	if err := s.onlyAgents(); err != nil {
		return err
	}
	s.act(conversation.Ends{By: s.seat.name})
	return nil
}
