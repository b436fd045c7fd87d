package fakes

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// TapsOn taps a button or quick reply by the title that the member sees, and waits as Says does. Its payload,
// with its value, goes to the bot. Buttons remain, including buttons of cards, so the newest message with
// that title counts. Quick replies disappear when another message follows, except TYPING. If nothing has the
// title, TapsOn ends the test and lists the possible titles. It also ends the test if several in one message
// have the title and different payloads; use Taps then.
func (a *Actor) TapsOn(title string) {
	a.platform.test.Helper()
	if err := a.TryTapsOn(title); err != nil {
		a.platform.test.Fatalf("fakes: %s tapped on %q: %v", a.name, title, err)
	}
}

// TryTapsOn is like TapsOn, but returns the error of a failed run. It returns FailedPrecondition if nothing
// has the title or several have it.
func (a *Actor) TryTapsOn(title string) error {
	var titles []string
	var meant []Tappable
	for _, one := range a.Tappables() {
		titles = append(titles, "["+one.Title+"]")
		if one.Title == title && (len(meant) == 0 || one.MessageID == meant[0].MessageID) {
			meant = append(meant, one)
		}
	}
	if len(meant) > 0 {
		if err := sendOne(meant); err != nil {
			return err
		}
		return a.TrySends(meant[0].Event())
	}
	if len(titles) == 0 {
		return boterr.New(boterr.FailedPrecondition, "", "%s sees nothing that can be tapped", a.name)
	}
	return boterr.New(boterr.FailedPrecondition, "", "%s sees nothing with that title to tap, but %s",
		a.name, strings.Join(titles, ", "))
}

// sendOne returns an error if the buttons send different payloads.
func sendOne(meant []Tappable) error {
	var payloads []string
	for _, one := range meant {
		if text := render.Value(one.Payload); !slices.Contains(payloads, text) {
			payloads = append(payloads, text)
		}
	}
	if len(payloads) == 1 {
		return nil
	}
	return boterr.New(boterr.FailedPrecondition, "",
		"%d buttons of one message have that title, with the payloads %s: give one of them to Taps", len(meant), strings.Join(payloads, ", "))
}

// Tappables returns everything that the member can tap now, newest message first.
func (a *Actor) Tappables() []Tappable {
	var all []Tappable
	isNewest, sees := true, a.sees()
	for _, sent := range slices.Backward(a.platform.Sent()) {
		if !sees(sent) || sent.Shown.Type() == send.TypeTyping {
			continue
		}
		shown := render.Of(sent.Shown)
		if !isNewest {
			shown.QuickReplies = nil
		}
		isNewest = false
		all = append(all, tappablesOf(shown, sent.MessageID)...)
	}
	return all
}

// Tappable is a button or a quick reply that sends a payload.
type Tappable struct {
	// Title is the title that the member sees.
	Title string
	// Payload is sent to the bot. It is usually a text; for a button with a value it is an object of both.
	Payload any
	// MessageID is the platform's id of the message that contains it.
	MessageID string
}

// Event returns the event of a tap, for Actor.Sends.
func (t Tappable) Event() send.MessageEvent {
	return send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", t.Payload)}
}

// tappablesOf returns the choices of a message that send a payload.
func tappablesOf(message render.Message, id string) (all []Tappable) {
	for _, one := range message.Choices() {
		if one.Number >= 0 {
			all = append(all, Tappable{Title: one.Title, Payload: one.Payload, MessageID: id})
		}
	}
	return all
}

// Ticket is a message to a broadcast group, in its current state.
type Ticket struct {
	// SentAt is the virtual time at which it was sent.
	SentAt time.Time
	// Channel is the id of the outlet channel. Group is the id of the broadcast group.
	Channel string
	Group   string
	// MessageID is the platform's id of the message.
	MessageID string
	// Assignment is the id of the assignment that the ticket offers, or "" if it offers none or no longer does.
	Assignment string
	// Response is the message as it was sent. Shown is the message as it shows now.
	Response send.Response
	Shown    send.Response
	// Taken is the text that replaces the message, or "" while the message shows.
	Taken string
	// IsRecalled is true if the ticket was recalled, so that agents no longer see it.
	IsRecalled bool
}

// IsOpen reports whether the ticket offers an assignment and still shows the message that was sent.
func (t Ticket) IsOpen() bool { return t.Assignment != "" && t.Taken == "" && !t.IsRecalled }

// Text returns the text that the ticket shows, or "" if it was recalled.
func (t Ticket) Text() string {
	switch {
	case t.IsRecalled:
		return ""
	case t.Taken != "":
		return t.Taken
	default:
		return t.Shown.Text()
	}
}

// ShowTaken replaces a ticket's message with a text.
func (e editable) ShowTaken(ctx context.Context, in *channel.Channel, ticket livechat.Ticket, text string) error {
	err := e.changeTicket(ctx, in, ticket.MessageID, func(sent *Sent) { sent.taken, sent.Shown = text, send.Text(text) })
	if err == nil {
		e.platform.notef("%s shows on %s: %s", in.ID, ticket.MessageID, render.Line(send.Text(text)))
	}
	return err
}

func (e editable) RecallTicket(ctx context.Context, in *channel.Channel, ticket livechat.Ticket) error {
	err := e.changeTicket(ctx, in, ticket.MessageID, func(sent *Sent) { sent.Shown = send.Response{} })
	if err == nil {
		e.platform.notef("%s takes %s back", in.ID, ticket.MessageID)
	}
	return err
}

// changeTicket changes a message of a channel. It returns NotFound if the platform no longer has the message
// or never had it.
func (o *outbox) changeTicket(ctx context.Context, in *channel.Channel, messageID string, change func(sent *Sent)) error {
	return o.change(ctx, in, func() error {
		sent := o.find(in.ID, messageID)
		if sent == nil {
			return boterr.New(boterr.NotFound, "", "the channel %s does not have the message %s, or no longer has it", in.ID, messageID)
		}
		change(sent)
		return nil
	})
}

// tickets returns the messages to agents of a channel that were not sent to a conversation with one agent.
func (o *outbox) tickets(channelID string) []Ticket {
	o.mu.Lock()
	defer o.mu.Unlock()
	var tickets []Ticket
	for _, sent := range o.kept.sent {
		if sent.IsRepeat || sent.Channel != channelID || !o.isTicket(sent) {
			continue
		}
		tickets = append(tickets, Ticket{
			SentAt: sent.SentAt, Channel: channelID, Group: sent.To, MessageID: sent.MessageID, Response: sent.Response,
			Shown: sent.Shown, Taken: sent.taken, IsRecalled: sent.Shown.IsZero(),
		})
	}
	return tickets
}

// isTicket reports whether a message went neither to a person nor to a group. The caller holds the mutex.
func (o *outbox) isTicket(sent Sent) bool {
	return sent.Member == "" && !o.isAgent(sent) && o.group(sent.Channel, sent.To) == nil
}

// Queue returns the pending requests for live chat in an outlet channel of DefaultApp, oldest first. It ends
// the test if there is no such channel.
func (p *Platform) Queue(channelID string) []*livechat.AssignmentRecord {
	p.test.Helper()
	if _, err := p.channelOf(DefaultApp, channelID); err != nil {
		p.test.Fatalf("fakes: Queue of the channel %s: %v", channelID, err)
	}
	var pending []*livechat.AssignmentRecord
	for _, r := range p.assignmentsIn(channelID) {
		if r.State() == livechat.Pending {
			pending = append(pending, r)
		}
	}
	return pending
}

// assignmentsIn returns the assignments offered or taken in a channel of DefaultApp, oldest first.
func (p *Platform) assignmentsIn(channelID string) []*livechat.AssignmentRecord {
	p.test.Helper()
	found, err := p.Runtime().FindAssignments(testContext(), DefaultApp, botctx.Query{
		Filter: document.O("$or", document.A(
			document.O("outlet", channelID), document.O("direct", channelID), document.O("tickets.channel", channelID))),
		SortBy: document.O("createdAt", 1),
	})
	if err != nil {
		p.test.Fatalf("fakes: the assignments in %s: %v", channelID, err)
	}
	return found
}
