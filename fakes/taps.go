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
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// TapsOn taps a button or a quick reply by its title, as the member sees it, and waits as Says does: its
// payload goes to the bot, with its value. Buttons stay, also buttons of cards, so the newest message with
// one of that title counts. Quick replies are gone once another message follows, other than TYPING. If
// nothing has the title, it ends the test with the possible titles; so it does if several in one message have
// the title and send different payloads: Taps sends one of them.
func (a *Actor) TapsOn(title string) {
	a.platform.test.Helper()
	if err := a.TryTapsOn(title); err != nil {
		a.platform.test.Fatalf("fakes: %s tapped on %q: %v", a.name, title, err)
	}
}

// TryTapsOn is TapsOn, and returns the error of a run that fails. FailedPrecondition: nothing
// has the title, or several have it.
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
		return boterr.New(boterr.FailedPrecondition, "", "%s is shown nothing that can be tapped", a.name)
	}
	return boterr.New(boterr.FailedPrecondition, "", "%s is shown nothing of that title to tap: there is %s",
		a.name, strings.Join(titles, ", "))
}

// sendOne refuses what sends different payloads.
func sendOne(meant []Tappable) error {
	var payloads []string
	for _, one := range meant {
		payload := document.O("payload", one.Payload)
		if text := strings.TrimSuffix(strings.TrimPrefix(payload.String(), `{"payload":`), "}"); !slices.Contains(payloads, text) {
			payloads = append(payloads, text)
		}
	}
	if len(payloads) == 1 {
		return nil
	}
	return boterr.New(boterr.FailedPrecondition, "",
		"%d buttons of one message have that title, with the payloads %s: give one of them to Taps", len(meant), strings.Join(payloads, ", "))
}

// Tappables returns everything that the member can tap now, the newest message first.
func (a *Actor) Tappables() []Tappable {
	var all []Tappable
	isNewest := true
	for _, sent := range slices.Backward(a.platform.Sent()) {
		if !a.sees(sent) || sent.Shown.Type() == send.TypeTyping {
			continue
		}
		shown := buttonsOf(sent.Shown)
		if isNewest {
			shown = append(shown, quickRepliesOf(sent.Shown)...)
		}
		isNewest = false
		for _, one := range shown {
			one.MessageID = sent.MessageID
			all = append(all, one)
		}
	}
	return all
}

// Tappable is a button or a quick reply that sends a payload.
type Tappable struct {
	// Title is the title that the member sees.
	Title string
	// Payload goes to the bot: a text, as a rule, and with a value an object of both.
	Payload any
	// MessageID is the platform's id of the message that shows it.
	MessageID string
}

// Event returns the event of a tap, for Actor.Sends.
func (t Tappable) Event() send.MessageEvent {
	return send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", t.Payload)}
}

// buttonsOf returns the buttons of a message that send a payload, including buttons of its cards.
func buttonsOf(message send.Response) []Tappable {
	all := tappablesOf(document.Get(message, "buttons", []document.Object(nil)))
	for _, card := range document.Get(message, "carousel", []document.Object(nil)) {
		all = append(all, tappablesOf(document.Get(card, "buttons", []document.Object(nil)))...)
	}
	return all
}

func quickRepliesOf(message send.Response) []Tappable {
	return tappablesOf(document.Get(message, "quickReplies", []document.Object(nil)))
}

// tappablesOf returns the ones that send a payload, with their value, if they have one.
func tappablesOf(shown []document.Object) []Tappable {
	var all []Tappable
	for _, one := range shown {
		payload, sends := one.Field("payload")
		if !sends {
			continue
		}
		if value, hasValue := one.Field("value"); hasValue {
			payload = document.O("payload", payload, "value", value)
		}
		all = append(all, Tappable{Title: document.Get(one, "title", ""), Payload: payload})
	}
	return all
}

// Ticket is a message to a broadcast group, as it shows now.
type Ticket struct {
	// SentAt is the virtual time at which it was sent.
	SentAt time.Time
	// Channel is the id of the outlet channel, Group the id of the broadcast group.
	Channel string
	Group   string
	// MessageID is the platform's id of the message.
	MessageID string
	// Assignment is the id of the assignment that it offers, "" if there is none, or none
	// any more.
	Assignment string
	// Response is the message as it was sent, Shown as it shows now.
	Response send.Response
	Shown    send.Response
	// Taken is the text that it shows in place of the message, "" while it shows the message.
	Taken string
	// IsRecalled is true if it was recalled, so that no agent sees it any more.
	IsRecalled bool
}

// IsOpen reports whether it shows the message that was sent.
func (t Ticket) IsOpen() bool { return t.Taken == "" && !t.IsRecalled }

// Text returns the text that it shows, "" if it was taken back.
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

// showTaken makes a ticket show a text.
func (o *outbox) showTaken(ctx context.Context, in *channel.Channel, messageID, text string) error {
	err := o.changeTicket(ctx, in, messageID, func(sent *Sent) { sent.taken, sent.Shown = text, send.Text(text) })
	if err == nil {
		o.platform.notef("%s shows on %s: %s", in.ID, messageID, text)
	}
	return err
}

// recall takes a ticket back.
func (o *outbox) recall(ctx context.Context, in *channel.Channel, messageID string) error {
	err := o.changeTicket(ctx, in, messageID, func(sent *Sent) { sent.Shown = send.Response{} })
	if err == nil {
		o.platform.notef("%s takes %s back", in.ID, messageID)
	}
	return err
}

// changeTicket changes how a message of a channel shows. NotFound: the platform does not
// have it, or not any more.
func (o *outbox) changeTicket(ctx context.Context, in *channel.Channel, messageID string, change func(sent *Sent)) error {
	if err := o.reach(ctx, in); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	sent := o.find(in.ID, messageID)
	if sent == nil {
		return boterr.New(boterr.NotFound, "", "the channel %s has no message %s, or not any more", in.ID, messageID)
	}
	change(sent)
	return nil
}

// tickets returns the messages to agents of a channel that were not sent to a conversation
// with one of them.
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

// Queue returns the requests for live chat that are pending in an outlet channel of
// DefaultApp, the oldest first. It ends the test where there is no such channel.
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

// assignmentsIn returns the assignments that were offered or taken in a channel of
// DefaultApp, the oldest first.
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
