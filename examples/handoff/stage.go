package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
)

// stage is a fake platform on which the conversation is played.
type stage struct {
	platform  *fakes.Platform
	columns   *Columns
	customers map[string]*fakes.Actor
	agents    map[string]*fakes.Agent
	names     map[string]string // The customers' names, by their ids.

	sent     int               // The number of printed messages.
	tickets  map[string]string // The printed tickets, by message.
	liveChat map[string]bool   // The customers who are in a live chat.
}

// play plays the conversation, which takes no time, and returns its transcript.
func play() (string, error) {
	s := newStage()
	s.columns.Head("customers (web)", "agents (desk)")
	for _, step := range conversation {
		if err := s.play(step); err != nil {
			return "", err
		}
		s.printNew()
		if err := s.platform.TryAdvance(pause); err != nil {
			return "", err
		}
	}
	return s.columns.text.String(), nil
}

// morning returns the beginning of the conversation.
func morning() time.Time { return time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC) }

// newStage returns the shop with its customers and agents.
func newStage() *stage {
	p := openShop(fakes.StartAt(morning()))
	s := &stage{
		platform: p, columns: &Columns{},
		customers: map[string]*fakes.Actor{}, agents: map[string]*fakes.Agent{}, names: map[string]string{},
		tickets: map[string]string{}, liveChat: map[string]bool{},
	}
	for _, name := range []string{"Ada", "Bob"} {
		customer := addCustomer(p, name)
		s.customers[name], s.names[customer.ID()] = customer, name
	}
	s.agents["Grace"] = p.AddAgent(desk, "Grace", "default")
	s.agents["Hedy"] = p.AddAgent(desk, "Hedy", "workshop")
	return s
}

func (s *stage) play(step step) error {
	now := s.platform.Now()
	customer, agent := s.customers[step.who], s.agents[step.who]
	switch {
	case step.passes > 0:
		s.columns.Both(now, fmt.Sprintf("%.0f minutes pass", step.passes.Minutes()))
		return s.platform.TryAdvance(step.passes)
	case step.closes:
		s.platform.SwitchChannel(desk, false)
		s.columns.Right(now, "The desk closes.")
		return nil
	case step.takes:
		s.columns.Right(now, step.who+" takes it")
		return agent.TryTakes(agent.Ticket())
	case customer != nil:
		s.columns.Left(now, step.who+": "+step.says)
		return customer.TrySays(step.says)
	default:
		s.columns.Right(now, step.who+": "+step.says)
		return agent.TrySays(step.says)
	}
}

func (s *stage) printNew() {
	all := s.platform.Sent()
	for _, sent := range all[s.sent:] {
		s.printSent(sent)
	}
	s.sent = len(all)
	s.printTickets()
	s.printEnded()
}

// printSent prints a message on its side.
func (s *stage) printSent(sent fakes.Sent) {
	text := sent.Response.Text()
	for _, button := range sent.Response.Buttons() {
		s.tickets[sent.MessageID] = text
		text += "\n[" + button.Title + "]"
	}
	if customer := s.names[sent.Member]; customer != "" {
		s.columns.Left(sent.SentAt, "bot > "+customer+": "+text)
		return
	}
	s.columns.Right(sent.SentAt, "bot > "+s.nameOf(sent.To)+": "+text)
}

// nameOf returns the agents' name for a conversation.
func (s *stage) nameOf(to string) string {
	for _, group := range s.platform.Groups(desk) {
		if group.ExternalID == to {
			return group.Name
		}
	}
	return to
}

// printTickets prints the tickets that have changed.
func (s *stage) printTickets() {
	for _, name := range []string{"Grace", "Hedy"} {
		for _, ticket := range s.agents[name].Tickets() {
			if ticket.Text() == s.tickets[ticket.MessageID] {
				continue
			}
			s.tickets[ticket.MessageID] = ticket.Text()
			now := ticket.Group + " shows: " + ticket.Text()
			if ticket.IsRecalled {
				now = ticket.Group + ": the ticket is gone"
			}
			s.columns.Right(s.platform.Now(), now)
		}
	}
}

// printEnded prints the live chats that have ended.
func (s *stage) printEnded() {
	for _, name := range []string{"Ada", "Bob"} {
		now := s.customers[name].Member()
		was, is := s.liveChat[name], now.BotMeta.LiveChat()
		s.liveChat[name] = is
		if was && !is {
			s.columns.Both(now.UpdatedAt.Time(), name+"'s live chat is over")
		}
	}
}

// step is a part of the conversation: a message, an agent who takes the newest ticket, time that passes, or
// the closing of the desk.
type step struct {
	who, says string
	takes     bool
	passes    time.Duration
	closes    bool
}

// pause is the time until the next step.
const pause = 20 * time.Second

var conversation = []step{
	{who: "Ada", says: "hi"},
	{who: "Ada", says: "person"},
	{who: "Ada", says: "My brakes squeak."},
	{who: "Grace", takes: true},
	{who: "Grace", says: "Hello Ada, since when do they?"},
	{who: "Ada", says: "Since it rained."},
	{who: "Grace", says: "/transfer kitchen"},
	{who: "Grace", says: "/transfer workshop"},
	{who: "Hedy", takes: true},
	{who: "Ada", says: "Can I ride it?"},
	{who: "Hedy", says: "Yes. Clean the rims with alcohol, that helps."},
	{who: "Ada", says: "Thank you!"},
	{who: "Hedy", says: "/done"},
	{who: "Ada", says: "hours"},

	{who: "Bob", says: "person"},
	{who: "Bob", says: "Do you buy old bicycles?"},
	{who: "Grace", takes: true},
	{who: "Grace", says: "What is it?"},
	{passes: 30 * time.Minute}, // Bob does not answer, so the live chat ends.
	{who: "Bob", says: "A racer of 1983."},
	{who: "Bob", says: "person"},
	{who: "Bob", says: "About my racer."},
	{who: "Bob", says: "bye"}, // Before an agent joins.

	{closes: true},
	{who: "Bob", says: "person"},
	{who: "Bob", says: "Are you there?"},
}

// Columns prints two sides: on the left what customers see, on the right what agents do.
type Columns struct{ text strings.Builder }

// width is the number of characters of a column.
const width = 46

// Head prints the heads of the columns.
func (c *Columns) Head(left, right string) { c.print("", left, right) }

// Left prints a text on the left side.
func (c *Columns) Left(at time.Time, text string) { c.rows(at, text, "") }

// Right prints a text on the right side.
func (c *Columns) Right(at time.Time, text string) { c.rows(at, "", text) }

// Both prints a text that concerns both sides.
func (c *Columns) Both(at time.Time, text string) {
	text = "-- " + text + " "
	c.print(at.UTC().Format(time.TimeOnly), text+strings.Repeat("-", width-utf8.RuneCountInString(text)), strings.Repeat("-", width))
}

// rows prints a text on one side, in as many rows as it needs, the first with the time.
func (c *Columns) rows(at time.Time, left, right string) {
	stamp := at.UTC().Format(time.TimeOnly)
	lefts, rights := wrapped(boterr.Visible(left)), wrapped(boterr.Visible(right))
	for i := range max(len(lefts), len(rights)) {
		c.print(stamp, rowOf(lefts, i), rowOf(rights, i))
		stamp = ""
	}
}

// rowOf returns a row, or "" if there are fewer.
func rowOf(rows []string, i int) string {
	if i < len(rows) {
		return rows[i]
	}
	return ""
}

func (c *Columns) print(stamp, left, right string) {
	row := fmt.Sprintf("%8s  %-*s | %s", stamp, width, left, right)
	c.text.WriteString(strings.TrimRight(row, " ") + "\n")
}

// wrapped returns a text in rows that fit into a column, broken between words.
func wrapped(text string) []string {
	var rows []string
	for line := range strings.SplitSeq(text, "\n") {
		row := ""
		for word := range strings.FieldsSeq(line) {
			switch {
			case row == "":
				row = word
			case utf8.RuneCountInString(row+" "+word) <= width:
				row += " " + word
			default:
				rows = append(rows, row)
				row = "  " + word
			}
		}
		rows = append(rows, row)
	}
	return rows
}
