package fakes

import (
	"slices"
	"strings"
	"unicode"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// Agent is a person at an outlet channel who answers members: an agent sees tickets, takes them, writes, and
// reads the messages in their conversations.
type Agent struct {
	speaker

	adminID string
	// groups are the broadcast groups that the agent is in. "" is one of them if the agent gets requests that
	// go to no group.
	groups []string
}

// AddAgent adds an agent to an outlet channel of DefaultApp, with an admin record. groups are labels or ids
// of the agent's broadcast groups; without any, the agent is in all of the channel's groups. Requests may also name groups
// that the channel does not list. AddAgent ends the test if a name looks like a misspelled label or id of the channel.
func (p *Platform) AddAgent(outlet, name string, groups ...string) *Agent {
	p.test.Helper()
	id := p.ids.next("agent")
	a := &Agent{
		speaker: speaker{platform: p, scope: botctx.Scope{App: DefaultApp, Channel: outlet}, name: name, isAgent: true}, adminID: id,
	}
	loaded, err := p.channelOf(DefaultApp, outlet)
	if err == nil {
		a.externalID = p.outbox.userID(loaded.Type, id)
		a.groups, err = groupsNamed(loaded, groups)
	}
	if err == nil {
		_, err = p.Runtime().SaveAdmin(testContext(), DefaultApp, livechat.Admin{AdminID: id, ExternalID: a.externalID, Name: name})
	}
	if err != nil {
		p.test.Fatalf("fakes: AddAgent %s to the channel %s: %v", name, outlet, err)
	}
	p.outbox.addAgent(address{outlet, a.externalID}, name)
	return a
}

func (o *outbox) addAgent(key address, name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	put(&o.kept.agents, key, name)
}

// groupsNamed returns the ids of the channel's broadcast groups with one of the given labels or ids, or all
// ids if names is empty. Another name is the id of a group that only requests name, unless it looks like a misspelling. A
// number that differs is no misspelling. On a platform without tickets, the result includes "" for requests that go to no
// group.
func groupsNamed(c *channel.Channel, names []string) (ids []string, err error) {
	var known []string
	for _, labelled := range c.BroadcastGroups {
		known = append(known, labelled.Label)
		for _, group := range labelled.Groups {
			known = append(known, group.ID)
			if len(names) == 0 || slices.Contains(names, labelled.Label) || slices.Contains(names, group.ID) {
				ids = append(ids, group.ID)
			}
		}
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		if near := nearest.To(name, known); near != "" && withoutDigits(near) != withoutDigits(name) {
			return nil, boterr.New(boterr.NotFound, "groups", "the channel has no group %q: its labels and ids are %q%s", name, known, perhaps(near))
		}
		ids = append(ids, name)
	}
	if c.Type.Has(channel.DirectRequests) {
		ids = append(ids, "")
	}
	return ids, nil
}

// withoutDigits returns a text without the digits in it.
func withoutDigits(text string) string {
	return strings.Map(func(letter rune) rune {
		if unicode.IsDigit(letter) {
			return -1
		}
		return letter
	}, text)
}

// AdminID returns the id of the agent's admin record.
func (a *Agent) AdminID() string { return a.adminID }

// Name returns the agent's name.
func (a *Agent) Name() string { return a.name }

// Channel returns the id of the agent's outlet channel.
func (a *Agent) Channel() string { return a.scope.Channel }

// Groups returns the ids of the broadcast groups that the agent is in.
func (a *Agent) Groups() []string {
	return slices.DeleteFunc(slices.Clone(a.groups), func(id string) bool { return id == "" })
}

// Wrote reports whether an event with this scope, such as a Choice's, came from the agent: on the outlet
// channel, from a member with the agent's id on the platform.
func (a *Agent) Wrote(scope botctx.Scope) bool {
	if scope.App != DefaultApp || scope.Channel != a.scope.Channel {
		return false
	}
	bot, err := a.platform.Runtime().Context(testContext(), scope)
	return err == nil && bot.Member.ExternalID == a.externalID
}

// In returns the same agent on a fork of the platform.
func (a *Agent) In(fork *Platform) *Agent {
	other := *a
	other.platform = fork
	return &other
}

// Tickets returns the messages to the agent's broadcast groups, as they show now, in order.
func (a *Agent) Tickets() []Ticket {
	a.platform.test.Helper()
	offered := map[string]string{}
	for _, r := range a.platform.assignmentsIn(a.scope.Channel) {
		for _, ticket := range r.Tickets {
			if ticket.Channel == a.scope.Channel && ticket.MessageID != "" {
				offered[ticket.MessageID] = r.ID
			}
		}
	}
	var tickets []Ticket
	for _, ticket := range a.platform.outbox.tickets(a.scope.Channel) {
		if slices.Contains(a.groups, ticket.Group) {
			ticket.Assignment = offered[ticket.MessageID]
			tickets = append(tickets, ticket)
		}
	}
	return tickets
}

// Ticket returns the newest ticket that is open. It ends the test if there is none.
func (a *Agent) Ticket() Ticket {
	a.platform.test.Helper()
	for _, ticket := range slices.Backward(a.Tickets()) {
		if ticket.IsOpen() {
			return ticket
		}
	}
	a.platform.test.Fatalf("fakes: %s has no open ticket: createAssignment sends tickets to broadcast groups, and the agent is in %q",
		a.name, a.groups)
	return Ticket{}
}

// Takes takes the request of a ticket, as botctx.Runtime.TakeTicket does. It reads only the ticket's
// Assignment. It ends the test if the agent does not get the request.
func (a *Agent) Takes(ticket Ticket) {
	a.platform.test.Helper()
	if err := a.TryTakes(ticket); err != nil {
		a.platform.test.Fatalf("fakes: %s cannot take %s: %v", a.name, ticket.MessageID, err)
	}
}

// TryTakes is like Takes, but returns the error if the agent does not get the request.
func (a *Agent) TryTakes(ticket Ticket) error {
	if ticket.Assignment == "" {
		return boterr.New(boterr.FailedPrecondition, "", "the message %q offers no assignment, or no longer offers one", ticket.MessageID)
	}
	return a.take(ticket.Assignment)
}

func (a *Agent) take(assignment string) error {
	p := a.platform
	p.notef("%s takes %s", a.name, assignment)
	_, err := p.Runtime().TakeTicket(p.contextIn(p.process.Load()), DefaultApp, livechat.TakeParams{
		AssignmentID: assignment, ChannelID: a.scope.Channel, AdminExternalID: a.externalID,
	})
	if err != nil {
		p.notef("%s did not get %s: %v", a.name, assignment, err)
	}
	return err
}

// Taps taps a ticket's first button or quick reply that sends a payload. The outlet's bot gets it as an event
// from the broadcast group, including the button's value if it has one.
func (a *Agent) Taps(ticket Ticket) {
	a.platform.test.Helper()
	if err := a.TryTaps(ticket); err != nil {
		a.platform.test.Fatalf("fakes: %s tapped %s: %v", a.name, ticket.MessageID, err)
	}
}

// TryTaps is like Taps, but returns the error of a failed run.
func (a *Agent) TryTaps(ticket Ticket) error {
	tappables := tappablesOf(render.Of(ticket.Response), ticket.MessageID)
	if len(tappables) == 0 {
		return boterr.New(boterr.FailedPrecondition, "", "the message %q has no button that sends a payload", ticket.MessageID)
	}
	tap := tappables[0].Event()
	tap.To = ticket.Group
	return a.TrySends(tap)
}

// Joins joins a group of the channel's platform through an invitation link. On Bravo the bot gets an event of type MISC
// about it, from the agent and to the group, as from package bravo, unless the agent already was in the group. Joins
// ends the test if the link is unknown or no longer works, or if the run fails.
func (a *Agent) Joins(link string) {
	a.platform.test.Helper()
	if err := butForCrash(a.TryJoins(link)); err != nil {
		a.platform.test.Fatalf("fakes: %s cannot join by %s: %v", a.name, link, err)
	}
}

// TryJoins is like Joins, but returns NotFound if the link does not work, or the error of a failed run.
func (a *Agent) TryJoins(link string) error {
	group, isNew, err := a.platform.outbox.joinBy(link, a)
	if err != nil || !isNew || a.groupOnBravo(group) == "" {
		return err
	}
	const kind = "group_participants_add"
	return a.TrySends(send.MessageEvent{Type: send.TypeMisc, To: group, Data: document.O("type", kind, "group", document.O(
		"type", kind, "group_id", group, "reason", "invite_link", "added_participants", document.A(document.O("wa_id", a.externalID)),
	))})
}

// joinBy adds an agent to the group with a link. It returns the group's id, and whether the agent was not in it before.
func (o *outbox) joinBy(link string, a *Agent) (id string, isNew bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.kept.groups {
		group := &o.kept.groups[i]
		if link == "" || group.Channel != a.scope.Channel || group.InvitationLink != link {
			continue
		}
		isNew = !slices.Contains(group.Members, a.externalID)
		group.add(a.externalID)
		o.platform.notef("%s joins %s/%s", a.name, a.scope.Channel, group.ExternalID)
		return group.ExternalID, isNew, nil
	}
	return "", false, boterr.New(boterr.NotFound, "", "no group of the channel %s has the link %q, or no longer has it", a.scope.Channel, link)
}

// With returns the agent in the conversation with a member. It writes and reads only there.
func (a *Agent) With(partner *Actor) *Agent {
	other := *a
	other.partner = partner.ID()
	return &other
}

// Ends ends the agent's live chat, as EndLiveChat does for a bot whose agents have a command for it. It ends
// the test if the agent is not in a live chat.
func (a *Agent) Ends() {
	a.platform.test.Helper()
	if err := a.TryEnds(); err != nil {
		a.platform.test.Fatalf("fakes: %s cannot end the live chat: %v", a.name, err)
	}
}

// TryEnds is like Ends, but returns the error if the agent is not in a live chat.
func (a *Agent) TryEnds() error {
	p := a.platform
	p.notef("%s ends the live chat", a.name)
	_, err := p.Runtime().EndLiveChat(p.contextIn(p.process.Load()), DefaultApp, livechat.EndParams{
		Channel:      &channel.Channel{ID: a.scope.Channel},
		MessageEvent: &send.MessageEvent{From: a.externalID, To: a.writesTo()},
	})
	if err != nil {
		p.notef("%s did not end it: %v", a.name, err)
	}
	return err
}
