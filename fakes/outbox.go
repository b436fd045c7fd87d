package fakes

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// Sent is a message sent on the platform.
type Sent struct {
	// SentAt is the virtual time at which it was sent.
	SentAt time.Time
	// Channel is the id of the channel. Type is its platform.
	Channel string
	Type    channel.Type
	// Member is the id of the recipient, or "" if the message went to a group or to agents. To is the
	// platform's id of the recipient.
	Member string
	To     string
	// Response is the message as it was sent, filled from the member.
	Response send.Response
	// Shown is the message as it shows now: its latest change, or Response. It is zero if the message was
	// recalled.
	Shown send.Response
	// ID is the id of the send.Message.
	ID string
	// IsRepeat is true if the recipient already got a message with this ID, for example from a run that is
	// tried again. The platform returns its earlier answer and shows the message once; a platform without
	// such ids would show it twice.
	IsRepeat bool
	// MessagingType and MessagingTag are set on Alpha, ReceiverType and GroupID on Hotel, from the
	// send.Message. On other platforms they are "".
	MessagingType string
	MessagingTag  string
	ReceiverType  string
	GroupID       string
	// MessageID is the platform's id of the message. ChatID is the platform's id of the conversation.
	MessageID string
	ChatID    string
	// Node is the node that sent it, or zero if it was not sent by a node.
	Node botctx.NodeRef

	// taken is the text that a ticket shows instead of the message.
	taken string
}

// placeholder matches a placeholder, which is filled in templates and not in plain texts.
var placeholder = regexp.MustCompile(`\{\{[^{}]+\}\}`)

// outbox is the state of the messaging platforms: messages, groups, files and so on.
type outbox struct {
	guarded[kept]

	platform *Platform
}

// kept is the contents of an outbox.
type kept struct {
	sent []Sent
	// known maps an id of a message to its position in sent.
	known map[sendKey]int
	// groups are the groups created, oldest first.
	groups []Group
	// channels are the channels created, oldest first.
	channels []CreatedChannel
	// agents are the names of the added agents. members are the names of members.
	agents  map[address]string
	members map[address]person
	alpha   onAlpha
	charlie onCharlie
	// answers are the platforms' answers to requests with a key, except messages.
	answers map[string]any
	// tags are the tags of Echo users, in the order in which they were added.
	tags map[address][]int64
	// read marks the messages that expectations have read.
	read marks[readBy]
	// said is the last message to the bot from each address.
	said map[address]botctx.Inbound
}

// clone returns a copy. It shares the messages, which find copies before a change.
func (k kept) clone() kept {
	k.sent, k.channels = slices.Clip(k.sent), slices.Clone(k.channels)
	k.known = copyOfMap(k.known)
	k.groups = cloneGroups(k.groups)
	k.agents, k.members = copyOfMap(k.agents), copyOfMap(k.members)
	k.alpha, k.charlie = k.alpha.clone(), k.charlie.clone()
	k.answers, k.read = copyOfMap(k.answers), maps.Clone(k.read)
	k.tags, k.said = copyOfLists(k.tags), copyOfMap(k.said)
	return k
}

func (o *outbox) addMember(at address, added person) {
	o.mu.Lock()
	defer o.mu.Unlock()
	put(&o.kept.members, at, added)
}

func (o *outbox) deliver(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := ctx.Err(); err != nil {
		return send.Delivery{}, err
	}
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	by := o.fakeOf(message.Channel.Type)
	asked := asking{partOfChannel(message.Channel), "send to", message.To}
	return requested(ctx, o.platform, asked, func() (send.Delivery, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if err := o.platform.downErr(asked.at); err != nil {
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
	})
}

// take stores a message, which counts toward its channel's limit, or returns the reason for refusing it. The
// caller holds the mutex.
func (o *outbox) take(ctx context.Context, message send.Message, by behavior) (Sent, error) {
	if known := o.repeat(message); known != nil {
		o.kept.sent = append(o.kept.sent, *known)
		return *known, nil
	}
	if err := o.platform.withinLimit(message.Channel); err != nil {
		return Sent{}, o.notTaken(message, err)
	}
	return o.keep(ctx, message, by)
}

// sendKey identifies a message that is sent again.
type sendKey struct {
	to address
	id string
}

func keyOf(message send.Message) sendKey {
	return sendKey{address{message.Channel.ID, message.To}, message.ID}
}

// repeat returns the repetition of an earlier message, or nil for a new message. The caller holds the mutex.
func (o *outbox) repeat(message send.Message) *Sent {
	at, isKnown := o.kept.known[keyOf(message)]
	if !isKnown {
		return nil
	}
	first := o.kept.sent[at]
	o.platform.notef("%s has %s already, which was sent under the id %s", o.nameOf(message), render.Line(first.Response), first.ID)
	again := first
	again.SentAt, again.IsRepeat, again.Response = o.platform.Now(), true, message.Response
	return &again
}

// keep takes a message without checking the channel's limit. The caller holds the mutex.
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
		err = o.platform.refusalErr(message.Channel, sent.To)
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
	o.platform.noteMessage(o.nameOf(message), render.Sent, sent.Response)
	if literal := placeholder.FindString(sent.Response.Text()); literal != "" {
		o.platform.noteDetailf("%s got %s to the letter, as a text has it: send.Template is filled from the member", o.nameOf(message), literal)
	}
	return sent, nil
}

// notTaken records in the transcript that a platform refuses a message, and returns why. The caller holds the
// mutex.
func (o *outbox) notTaken(message send.Message, why error) error {
	o.platform.notef("%s does not get %s: %v", o.nameOf(message), render.Line(message.Response), why)
	return why
}

// nameOf returns the name of a message's recipient in a transcript. The caller holds the mutex.
func (o *outbox) nameOf(message send.Message) string {
	to := address{message.Channel.ID, message.To}
	if _, isAgent := o.kept.agents[to]; message.Member != nil && !isAgent {
		return nameOf(message.Member)
	}
	return o.kept.called(to)
}

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

// find returns a channel's message that was not recalled, or nil if there is none. The caller holds the mutex, and may
// change the message.
func (o *outbox) find(channelID, messageID string) *Sent {
	at := slices.IndexFunc(o.kept.sent, func(sent Sent) bool {
		return sent.Channel == channelID && sent.MessageID == messageID && !sent.Shown.IsZero()
	})
	if at < 0 {
		return nil
	}
	o.kept.sent = slices.Clone(o.kept.sent)
	return &o.kept.sent[at]
}

func (o *outbox) all() []Sent {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.kept.sent)
}

// editable is the part common to platforms on which messages can be changed and recalled, and groups created.
type editable struct{ plain }

func (e editable) CreateGroup(ctx context.Context, in *channel.Channel, group livechat.NewGroup) (livechat.CreatedGroup, error) {
	return e.createGroup(ctx, in, group)
}

// UpdateMessage implements send.MessageUpdater. It finds a message by its conversation and its id.
func (e editable) UpdateMessage(ctx context.Context, in *channel.Channel, update send.MessageUpdate) (document.Object, error) {
	return atPlatform(ctx, e.outbox, in, func() (document.Object, error) { return e.updateMessage(in, update) })
}

// updateMessage changes a message. The caller holds the mutex.
func (e editable) updateMessage(in *channel.Channel, update send.MessageUpdate) (document.Object, error) {
	sent := e.find(in.ID, update.MessageID)
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
	e.platform.notef("%s shows on %s: %s", in.ID, sent.MessageID, render.Line(sent.Shown))
	return document.O("ok", true, "channel", sent.ChatID, "ts", sent.MessageID, "text", sent.Shown.Text()), nil
}
