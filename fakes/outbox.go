package fakes

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// Sent is one message that was sent on the platform.
type Sent struct {
	// SentAt is the virtual time at which it was sent.
	SentAt time.Time
	// Channel is the id of the channel, Type its platform.
	Channel string
	Type    channel.Type
	// Member is the id of the member it went to, "" if it went to a group or to agents.
	// To is the recipient's id on the platform.
	Member string
	To     string
	// Response is the message as it was sent, filled from the member.
	Response send.Response
	// Shown is the message as it shows now: what it was changed to, or Response. It is zero
	// where the message was taken back.
	Shown send.Response
	// ID is the id of the send.Message.
	ID string
	// IsRepeat is true if the recipient got a message of that ID before, as by a run that is tried again. The
	// platform gives its earlier answer, and shows the message once; platforms without such ids would show it
	// twice.
	IsRepeat bool
	// MessagingType and MessagingTag are set on Alpha, ReceiverType and GroupID on Hotel, from the
	// send.Message. They are "" on other platforms.
	MessagingType string
	MessagingTag  string
	ReceiverType  string
	GroupID       string
	// MessageID is the platform's id of the message, ChatID its id of the conversation.
	MessageID string
	ChatID    string
	// Node is the node that sent it, zero if none did.
	Node botctx.NodeRef

	// taken is the text that a ticket shows in place of the message.
	taken string
}

// isRecalled reports whether the message was taken back.
func (s Sent) isRecalled() bool { return s.Shown.IsZero() }

// placeholder matches a placeholder, which a template fills, and a text does not.
var placeholder = regexp.MustCompile(`\{\{[^{}]+\}\}`)

// outbox is the state of the messaging platforms: messages, and everything else on them.
type outbox struct {
	platform *Platform
	mu       sync.Mutex
	kept     kept
}

// kept are the contents of an outbox.
type kept struct {
	sent []Sent
	// known are the positions in sent of what was sent under an id.
	known map[sendKey]int
	// groups are the conversations that were made, the oldest first.
	groups []Group
	// channels are the channels that were made, the oldest first.
	channels []CreatedChannel
	// agents are the names of the added agents, members the names of members.
	agents  map[address]string
	members map[address]person
	// sendFaults are the faults that a test has set for sending.
	sendFaults sendFaults
	alpha      onAlpha
	charlie    onCharlie
	// answers are the answers of platforms to requests with a key, other than messages.
	answers map[string]any
	// tags are the tags of users of Echo, in the order in which they got them.
	tags map[address][]int64
	// read are the messages that expectations have read.
	read marks[readBy]
	// said is the last message of each to the bot.
	said map[address]botctx.Inbound
}

// clone returns a copy that shares nothing that changes.
func (k kept) clone() kept {
	k.sent, k.channels = slices.Clone(k.sent), slices.Clone(k.channels)
	k.known = copyOfMap(k.known)
	k.groups = cloneGroups(k.groups)
	k.agents, k.members = copyOfMap(k.agents), copyOfMap(k.members)
	k.sendFaults, k.alpha, k.charlie = k.sendFaults.clone(), k.alpha.clone(), k.charlie.clone()
	k.answers, k.read = copyOfMap(k.answers), maps.Clone(k.read)
	k.tags, k.said = copyOfLists(k.tags), copyOfMap(k.said)
	return k
}

func (o *outbox) addMember(at address, added person) {
	o.mu.Lock()
	defer o.mu.Unlock()
	put(&o.kept.members, at, added)
}

func (o *outbox) deliver(ctx context.Context, message send.Message, by behavior) (send.Delivery, error) {
	if err := ctx.Err(); err != nil {
		return send.Delivery{}, err
	}
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	asked := asking{part{ServiceMessages, DefaultApp, message.Channel.ID}, "send to", message.To}
	return requested(ctx, o.platform, asked, func() (send.Delivery, error) { return o.delivered(ctx, message, by) })
}

// delivered is deliver if the platform is reached.
func (o *outbox) delivered(ctx context.Context, message send.Message, by behavior) (send.Delivery, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.connectionError(message.Channel.ID); err != nil {
		return send.Delivery{}, o.notTaken(message, err)
	}
	sent, err := o.take(ctx, message, by)
	if err != nil {
		return send.Delivery{}, err
	}
	o.hasSent(ctx)
	return send.Delivery{
		Reply: by.reply(sent), MessageID: sent.MessageID, ChatID: sent.ChatID, Timestamp: document.TimestampOf(sent.SentAt),
	}, nil
}

// take keeps a message that counts against the limit of its channel, or returns why the
// platform does not take it. The caller holds the mutex.
func (o *outbox) take(ctx context.Context, message send.Message, by behavior) (Sent, error) {
	if known := o.repeat(message); known != nil {
		o.kept.sent = append(o.kept.sent, *known)
		return *known, nil
	}
	if err := o.withinLimit(message.Channel.ID); err != nil {
		return Sent{}, o.notTaken(message, err)
	}
	return o.keep(ctx, message, by)
}

// sendKey is by what a platform knows a message that is sent again.
type sendKey struct {
	to address
	id string
}

func keyOf(message send.Message) sendKey {
	return sendKey{address{message.Channel.ID, message.To}, message.ID}
}

// repeat returns the repetition of a message that was sent before, nil if it is a new one. The caller holds
// the mutex.
func (o *outbox) repeat(message send.Message) *Sent {
	at, isKnown := o.kept.known[keyOf(message)]
	if !isKnown {
		return nil
	}
	first := o.kept.sent[at]
	o.platform.notef("%s has %s already, which was sent under the id %s", o.nameOf(message), first.Response, first.ID)
	again := first
	again.SentAt, again.IsRepeat, again.Response = o.platform.Now(), true, message.Response
	return &again
}

// keep is take without the limit. The caller holds the mutex.
func (o *outbox) keep(ctx context.Context, message send.Message, by behavior) (Sent, error) {
	sent := Sent{
		SentAt: o.platform.Now(), Channel: message.Channel.ID, Type: message.Channel.Type,
		To: message.To, Response: message.Response, Shown: message.Response, ID: message.ID,
		MessagingType: message.MessagingType, MessagingTag: message.MessagingTag,
		ReceiverType: message.ReceiverType, GroupID: message.GroupID, Node: botctx.NodeOf(ctx),
	}
	if message.Member != nil {
		sent.Member = message.Member.ID
	}
	err := hasType(sent.Type, sent.Response)
	if err == nil {
		err = o.refusalOf(sent)
	}
	if err == nil {
		err = by.refusal(sent)
	}
	if err != nil {
		return Sent{}, o.notTaken(message, err)
	}
	sent.ChatID = by.chatID(sent)
	sent.MessageID = by.messageID(sent)
	if sent.ID != "" {
		put(&o.kept.known, keyOf(message), len(o.kept.sent))
	}
	o.kept.sent = append(o.kept.sent, sent)
	o.platform.noteMessage(o.nameOf(message)+" <- ", sent.Response)
	if literal := placeholder.FindString(sent.Response.Text()); literal != "" {
		o.platform.noteDetailf("%s got %s to the letter, as a text has it: send.Template is filled from the member", o.nameOf(message), literal)
	}
	return sent, nil
}

// notTaken notes that a platform does not take a message, and returns why. The caller holds
// the mutex.
func (o *outbox) notTaken(message send.Message, why error) error {
	o.platform.notef("%s does not get %s: %v", o.nameOf(message), message.Response, why)
	return why
}

// nameOf returns the name of a message's recipient in a transcript. The caller holds the mutex.
func (o *outbox) nameOf(message send.Message) string {
	to := address{message.Channel.ID, message.To}
	if _, isAgent := o.kept.agents[to]; message.Member != nil && !isAgent {
		return nameOf(message.Member)
	}
	return o.called(to)
}

// called returns the name of a recipient in a transcript. The caller holds the mutex.
func (o *outbox) called(to address) string { return o.kept.called(to) }

func (k kept) called(to address) string {
	if name, isAgent := k.agents[to]; isAgent {
		return name
	}
	if member, isMember := k.members[to]; isMember {
		return member.name
	}
	return to.channel + "/" + to.externalID
}

// isAgent reports whether a message goes to an agent. The caller holds the mutex.
func (o *outbox) isAgent(sent Sent) bool {
	_, isAgent := o.kept.agents[address{sent.Channel, sent.To}]
	return isAgent
}

// find returns a message of a channel that was not recalled, nil if there is none. The caller holds the
// mutex.
func (o *outbox) find(channelID, messageID string) *Sent {
	for i := range o.kept.sent {
		if sent := &o.kept.sent[i]; sent.Channel == channelID && sent.MessageID == messageID && !sent.isRecalled() {
			return sent
		}
	}
	return nil
}

// all returns what was sent, in order.
func (o *outbox) all() []Sent {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.kept.sent)
}

// state returns a copy of what is kept.
func (o *outbox) state() kept {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept.clone()
}

// set takes over what another one kept.
func (o *outbox) set(state kept) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept = state
}

// update changes a message, as a platform does whose messages are found by the conversation
// and their ids.
func (o *outbox) update(ctx context.Context, in *channel.Channel, update send.MessageUpdate) (document.Object, error) {
	if err := o.reach(ctx, in); err != nil {
		return document.Object{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	sent := o.find(in.ID, update.MessageID)
	if sent == nil || sent.ChatID != update.ConversationID {
		return document.Object{}, boterr.New(boterr.NotFound, "", "message_not_found: the conversation %q of %s has no message %q: "+
			"give the conversation and the timestamp that the platform answered with", update.ConversationID, in.ID, update.MessageID)
	}
	if update.Text != "" {
		sent.Shown = sent.Shown.With("text", update.Text)
	}
	if update.Attachments != nil {
		sent.Shown = sent.Shown.With("attachments", update.Attachments)
	}
	o.platform.notef("%s shows on %s: %s", in.ID, sent.MessageID, sent.Shown)
	return document.O("ok", true, "channel", sent.ChatID, "ts", sent.MessageID, "text", sent.Shown.Text()), nil
}
