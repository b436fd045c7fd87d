package fakes

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// The numbers that come before those of stored messages and of broadcasts.
const (
	firstStoredMessage = 3_000_000_000
	firstBroadcast     = 5_000_000_000
)

// StoredMessage is a message that Alpha keeps to be broadcast.
type StoredMessage struct {
	// Channel is the id of the channel, ID the platform's number of the message.
	Channel string
	ID      int64
	// Response is the message; {{path}} in it is not filled.
	Response send.Response
}

// Broadcast is a stored message that was sent to all members with a label.
type Broadcast struct {
	// SentAt is the virtual time at which it was sent.
	SentAt time.Time
	// Channel is the id of the channel, ID the platform's number of the broadcast.
	Channel string
	ID      int64
	// Message is the message that was sent.
	Message StoredMessage
	// LabelID is the label, NotificationType how members were notified.
	LabelID          string
	NotificationType string
	// Reached are the ids on the platform of those who got it, in the order in which they
	// got the label.
	Reached []string
}

func cloneBroadcasts(broadcasts []Broadcast) []Broadcast {
	copies := slices.Clone(broadcasts)
	for i := range copies {
		copies[i].Reached = slices.Clone(copies[i].Reached)
	}
	return copies
}

// CreateBroadcast implements send.Broadcaster.
func (a alpha) CreateBroadcast(ctx context.Context, in *channel.Channel, response send.Response) ([]send.StoredMessage, error) {
	if err := a.reach(ctx, in); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return answered(ctx, a.outbox, in.ID, "a stored message", func() ([]send.StoredMessage, error) { return a.store(in, response) })
}

// store keeps a message to broadcast. The caller holds the mutex.
func (a alpha) store(in *channel.Channel, response send.Response) ([]send.StoredMessage, error) {
	if err := hasType(in.Type, response); err != nil {
		return nil, err
	}
	if err := a.hasAttachment(Sent{Channel: in.ID, Response: response}); err != nil {
		return nil, err
	}
	stored := StoredMessage{Channel: in.ID, ID: firstStoredMessage + int64(a.platform.ids.count("alpha stored message")), Response: response}
	a.kept.alpha.stored = append(a.kept.alpha.stored, stored)
	a.platform.notef("%s keeps %d to broadcast: %s", in.ID, stored.ID, response)
	return []send.StoredMessage{{
		Response:    document.O("message_creative_id", stored.ID),
		AccessToken: accessToken(in),
	}}, nil
}

// accessToken returns the token of a channel, made up where it has none.
func accessToken(in *channel.Channel) channel.Secret {
	if info, isAlpha := in.Info.(channel.AlphaInfo); isAlpha && !info.AccessToken.IsZero() {
		return info.AccessToken
	}
	return channel.NewSecret("token-of-" + in.ID)
}

// SendBroadcast implements send.Broadcaster. It counts as one message. A member whose messages
// the platform refuses is left out.
func (a alpha) SendBroadcast(ctx context.Context, in *channel.Channel, broadcast send.Broadcast) (int64, error) {
	if err := a.reach(ctx, in); err != nil {
		return 0, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return answered(ctx, a.outbox, in.ID, "a broadcast", func() (int64, error) { return a.broadcast(ctx, in, broadcast) })
}

// broadcast sends a stored message to those with a label. The caller holds the mutex.
func (a alpha) broadcast(ctx context.Context, in *channel.Channel, broadcast send.Broadcast) (int64, error) {
	if err := a.withinLimit(in.ID); err != nil {
		return 0, err
	}
	stored, err := a.storedMessage(in, broadcast.MessageID)
	if err != nil {
		return 0, err
	}
	l, isKnown := a.kept.alpha.labels[labelKey{in.ID, broadcast.LabelID}]
	if !isKnown {
		return 0, boterr.New(boterr.NotFound, "", "the page of %s has no label %q: put it on a member first", in.ID, broadcast.LabelID)
	}
	made := Broadcast{
		SentAt: a.platform.Now(), Channel: in.ID, ID: firstBroadcast + int64(a.platform.ids.count("alpha broadcast")),
		Message: stored, LabelID: broadcast.LabelID, NotificationType: broadcast.NotificationType,
	}
	a.platform.notef("%s broadcasts %d to the label %s as %d", in.ID, stored.ID, made.LabelID, made.ID)
	for _, to := range l.members {
		if _, err := a.keep(ctx, a.messageTo(in, to, stored.Response), a); err == nil {
			made.Reached = append(made.Reached, to)
		}
	}
	a.kept.alpha.broadcasts = append(a.kept.alpha.broadcasts, made)
	return made.ID, nil
}

// messageTo returns a message to one of those with a label. The caller holds the mutex.
func (a alpha) messageTo(in *channel.Channel, to string, response send.Response) send.Message {
	message := send.Message{Channel: in, To: to, Response: response}
	if known, isMember := a.kept.members[address{in.ID, to}]; isMember {
		message.Member = &member.Member{ID: known.memberID, FirstName: known.name, ExternalID: to}
	}
	return message
}

// storedMessage returns a message that was stored. The caller holds the mutex.
func (a alpha) storedMessage(in *channel.Channel, id string) (StoredMessage, error) {
	for _, stored := range a.kept.alpha.stored {
		if stored.Channel == in.ID && strconv.FormatInt(stored.ID, 10) == id {
			return stored, nil
		}
	}
	return StoredMessage{}, boterr.New(boterr.NotFound, "", "the page of %s has no stored message %q: store it first", in.ID, id)
}

// StoredMessages returns the messages that a channel of DefaultApp and type alpha keeps to be
// broadcast, the oldest first.
func (p *Platform) StoredMessages(channelID string) []StoredMessage {
	p.test.Helper()
	p.mustBeOfType(DefaultApp, channelID, channel.Alpha, "stored messages")
	stored := p.outbox.state().alpha.stored
	return slices.DeleteFunc(stored, func(one StoredMessage) bool { return one.Channel != channelID })
}

// Broadcasts returns the broadcasts of a channel of DefaultApp and type alpha, the oldest
// first.
func (p *Platform) Broadcasts(channelID string) []Broadcast {
	p.test.Helper()
	p.mustBeOfType(DefaultApp, channelID, channel.Alpha, "broadcasts")
	broadcasts := p.outbox.state().alpha.broadcasts
	return slices.DeleteFunc(broadcasts, func(one Broadcast) bool { return one.Channel != channelID })
}
