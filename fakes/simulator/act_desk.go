package simulator

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
)

// deskPlays are what agents do.
func deskPlays() map[string]reader {
	return map[string]reader{
		"take":     of(take),
		"end":      of(end),
		"addAgent": of(addAgent),
	}
}

// agentOf returns the agent of an id, and who she is on the branch's platform.
func agentOf(b *branch, id string) (*person, *fakes.Agent, error) {
	by, err := b.personOf(id)
	if err != nil {
		return nil, nil, err
	}
	if !by.isAgent() {
		return nil, nil, boterr.Invalid("person", "%s is a member: agents do that", by.name)
	}
	return by, by.agent.In(b.platform), nil
}

// takeWith is a ticket that an agent takes, by the id of its message.
type takeWith struct {
	Person  string `json:"person"`
	Message string `json:"message"`
}

func take(b *branch, with takeWith) (moment, error) {
	by, agent, err := agentOf(b, with.Person)
	if err != nil {
		return moment{}, err
	}
	tickets := agent.Tickets()
	i := slices.IndexFunc(tickets, func(t fakes.Ticket) bool { return t.MessageID == with.Message })
	if i < 0 {
		return moment{}, boterr.New(boterr.NotFound, "message", "is no ticket that %s sees", by.name)
	}
	return b.does(conversation.Takes{By: by.name, Ticket: i + 1}, moment{what: by.name + " takes a ticket", by: by})
}

func end(b *branch, with personWith) (moment, error) {
	by, _, err := agentOf(b, with.Person)
	if err != nil {
		return moment{}, err
	}
	return b.does(conversation.Ends{By: by.name}, moment{what: by.name + " ends the live chat", by: by})
}

// addAgentWith is an agent to be added to an outlet channel.
type addAgentWith struct {
	Name    string `json:"name"`
	Channel string `json:"channel"`
}

func addAgent(b *branch, with addAgentWith) (moment, error) {
	name := strings.TrimSpace(with.Name)
	if name == "" {
		return moment{}, boterr.Missing("name", "what the agent is called")
	}
	m, err := b.does(conversation.AddAgent{Name: name, Channel: with.Channel}, moment{what: name + " sits at " + with.Channel})
	if err != nil {
		return moment{}, err
	}
	m.by = ofAgent(b.stage.Agent(name), name)
	m.people = append(slices.Clone(b.people()), m.by)
	return m, nil
}
