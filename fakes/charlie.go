package fakes

import (
	"context"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// charlieDirect is the form of the ids of direct conversations.
const charlieDirect = "D%06d"

// charlieStep is the difference between the timestamps of two messages sent at the same moment.
const charlieStep = 100 * time.Microsecond

// charlie is the connector to Charlie, a platform on which a message's timestamp is its id and messages can
// be changed.
type charlie struct{ editable }

var (
	_ livechat.GroupCreator     = charlie{}
	_ livechat.TicketUpdater    = charlie{}
	_ livechat.TicketRecaller   = charlie{}
	_ send.MessageUpdater       = charlie{}
	_ send.ConversationArchiver = charlie{}
)

type onCharlie struct {
	// last is the timestamp of the last message, in Unix microseconds.
	last int64
	// direct holds the direct conversation with each user.
	direct map[address]string
	// archived is the set of archived conversations.
	archived map[address]bool
}

func (c onCharlie) clone() onCharlie {
	c.direct, c.archived = copyOfMap(c.direct), copyOfMap(c.archived)
	return c
}

// refusal returns the error for a message to an archived conversation, or nil.
func (c charlie) refusal(sent Sent) error {
	for _, id := range []string{sent.To, c.kept.charlie.direct[address{sent.Channel, sent.To}]} {
		if c.kept.charlie.archived[address{sent.Channel, id}] {
			return boterr.New(boterr.FailedPrecondition, "",
				"is_archived: the conversation %s is archived; nothing can be sent to it: %w", id, &send.GoneError{})
		}
	}
	return nil
}

// chatID returns the id of the direct conversation with a member or an agent. Any other recipient is itself a
// conversation.
func (c charlie) chatID(sent Sent) string {
	if sent.Member == "" && !c.isAgent(sent) {
		return sent.To
	}
	at := address{sent.Channel, sent.To}
	id, isOpen := c.kept.charlie.direct[at]
	if !isOpen {
		id = c.platform.ids.formed(charlieDirect)
		put(&c.kept.charlie.direct, at, id)
	}
	return id
}

// messageID returns a timestamp in seconds, later than all earlier ones.
func (c charlie) messageID(Sent) string {
	state := &c.kept.charlie
	state.last = max(c.platform.Now().UnixMicro(), state.last) + charlieStep.Microseconds()
	return fmt.Sprintf("%d.%06d", state.last/time.Second.Microseconds(), state.last%time.Second.Microseconds())
}

func (charlie) reply(sent Sent) document.Object {
	message := sent.Response.Object().With("type", "message").With("ts", sent.MessageID)
	return document.O("ok", true, "channel", sent.ChatID, "ts", sent.MessageID, "message", message)
}

func (c charlie) ArchiveConversation(ctx context.Context, in *channel.Channel, conversationID string) error {
	return c.change(ctx, in, func() error {
		at := address{in.ID, conversationID}
		switch {
		case !c.hasConversation(in, conversationID):
			return boterr.New(boterr.NotFound, "", "channel_not_found: the workspace of %s has no conversation %q: "+
				"give the id of a channel, or the chatId of a message that was sent", in.ID, conversationID)
		case !c.kept.charlie.archived[at]:
			put(&c.kept.charlie.archived, at, true)
			c.platform.notef("%s is archived", c.kept.called(at))
		}
		return nil
	})
}

// hasConversation reports whether a conversation with this id exists: one that was created or sent to, or one
// that gets requests for live chat. The caller holds the mutex.
func (c charlie) hasConversation(in *channel.Channel, id string) bool {
	if id == "" {
		return false
	}
	if c.group(in.ID, id) != nil {
		return true
	}
	for _, labelled := range in.BroadcastGroups {
		for _, group := range labelled.Groups {
			if group.ID == id && group.Type != "user" {
				return true
			}
		}
	}
	for _, sent := range c.kept.sent {
		if sent.Channel == in.ID && sent.ChatID == id {
			return true
		}
	}
	return false
}

// IsArchived reports whether a conversation of a channel of DefaultApp and type charlie is
// archived. It ends the test if there is no such conversation.
func (p *Platform) IsArchived(channelID, conversationID string) bool {
	p.test.Helper()
	p.mustBeOfType(DefaultApp, channelID, channel.Charlie, "archived conversations")
	in, err := p.channelOf(DefaultApp, channelID)
	p.outbox.mu.Lock()
	defer p.outbox.mu.Unlock()
	if err != nil || !(charlie{editable{plain{&p.outbox}}}).hasConversation(in, conversationID) {
		p.test.Fatalf("fakes: IsArchived: the channel %s has no conversation %q", channelID, conversationID)
	}
	return p.outbox.kept.charlie.archived[address{channelID, conversationID}]
}
