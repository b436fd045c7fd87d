package fakes

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// Ticket is a message to a broadcast group, as it shows now.
type Ticket struct {
	// SentAt is the virtual time at which it was sent.
	SentAt time.Time
	// Channel is the id of the outlet channel, Group that of the broadcast group.
	Channel string
	Group   string
	// MessageID is the platform's id of the message.
	MessageID string
	// Assignment is the id of the assignment that it offers, "" where there is none, or none
	// any more.
	Assignment string
	// Response is the message as it was sent, Shown as it shows now.
	Response send.Response
	Shown    send.Response
	// Taken is the text that it shows in place of the message, "" while it shows the message.
	Taken string
	// IsRecalled is whether it was taken back, so that nobody sees it any more.
	IsRecalled bool
}

// IsOpen reports whether it shows the message that was sent.
func (t Ticket) IsOpen() bool { return t.Taken == "" && !t.IsRecalled }

// Text returns the text that it shows, "" where it was taken back.
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
			Shown: sent.Shown, Taken: sent.taken, IsRecalled: sent.isRecalled(),
		})
	}
	return tickets
}

// isTicket reports whether a message went neither to somebody nor to a group. The caller holds the mutex.
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
	found, err := p.Runtime().LiveChats(DefaultApp).FindAssignments(testContext(), record.Query{
		Filter: document.O("$or", document.A(
			document.O("outlet", channelID), document.O("direct", channelID), document.O("tickets.channel", channelID))),
		SortBy: document.O("createdAt", 1),
	})
	if err != nil {
		p.test.Fatalf("fakes: the assignments in %s: %v", channelID, err)
	}
	return found
}
