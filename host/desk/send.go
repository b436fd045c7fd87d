package desk

import (
	"cmp"
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// The authors of entries.
const (
	fromMember = "member"
	fromBot    = "bot"
	fromAgent  = "agent"
	// fromNote is a note of an agent, which only agents see.
	fromNote = "note"
	// fromDesk is a line about the chat itself, such as its end.
	fromDesk = "desk"
)

// Send implements send.Connector. The recipient is a conversation, a team of the channel, or an agent who has opened
// the page before. Messages of every type are stored, and shown as far as the page knows the type; a message that is
// sent again with the same ID is stored once. Typing is shown in conversations, for six seconds.
//
// NotFound: the channel has no such recipient. FailedPrecondition: the conversation is archived. Other errors come
// from the store.
func (d *Desk) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	in := message.Channel
	isConversation, err := d.recipient(ctx, in, message.To)
	if err != nil {
		return send.Delivery{}, err
	}
	at, isTyping := d.now(), message.Response.Type() == send.TypeTyping
	switch {
	case isConversation && isTyping:
		err = d.chats.SetTyping(ctx, logOf(message), chatlog.Typist{Key: fromMember, From: fromMember})
	case isTyping: // A team or an agent shows no typing.
	case isConversation:
		at, err = d.append(ctx, message)
	case !isAnsweredOtherwise(ctx, message):
		err = d.post(ctx, message)
	}
	if err != nil {
		return send.Delivery{}, err
	}
	d.hub.wake()
	return send.Delivery{MessageID: message.ID, ChatID: message.To, From: in.ID, Timestamp: at}, nil
}

// recipient finds a recipient in a channel, and reports whether it is a conversation. Otherwise, it is a team, which gets
// tickets, or an agent who gets a ticket or a line about a tap.
func (d *Desk) recipient(ctx context.Context, in *channel.Channel, to string) (isConversation bool, err error) {
	c, exists, err := d.conversation(ctx, in.App, in.ID, to)
	switch {
	case err != nil:
		return false, err
	case c.isArchived:
		return false, boterr.New(boterr.FailedPrecondition, "", "the conversation %s is archived: %w", to, &send.GoneError{})
	case exists:
		return true, nil
	case channels.HasBroadcastGroup(in, to):
		return false, nil
	}
	isAgent, err := d.hasAgent(ctx, in.App, to)
	if err == nil && !isAgent {
		err = boterr.New(boterr.NotFound, "", "the channel %s has no conversation, team or agent %s", in.ID, to)
	}
	return false, err
}

// OnTyping shows agents that a member is typing. externalID is the member's id in the channel. A host passes OnTyping
// to connectors that report typing, such as in OnTyping of webchat.Config. Failures are logged.
func (d *Desk) OnTyping(ctx context.Context, in *channel.Channel, externalID string) {
	if err := d.memberTypes(ctx, in, externalID); err != nil && ctx.Err() == nil {
		d.warn(ctx, "desk: typing is not shown", err)
	}
}

func (d *Desk) memberTypes(ctx context.Context, in *channel.Channel, externalID string) error {
	id, err := members.KnownID(ctx, d.env, record.Scope{App: in.App, Channel: in.ID}, externalID)
	if err != nil || id == "" {
		return err
	}
	open, err := livechats.New(d.env, record.Scope{App: in.App}, livechats.Ports{}).FindAssignments(ctx, record.Query{
		Filter: document.O("member", id, "closedAt", nil, "endedAt", nil), Limit: 1,
	})
	if err != nil || len(open) == 0 || channelOf(open[0]) == "" || chatOf(open[0]) == "" {
		return err
	}
	to := chatlog.Conversation{App: in.App, Channel: channelOf(open[0]), ID: chatOf(open[0])}
	err = d.chats.SetTyping(ctx, to, chatlog.Typist{Key: fromMember, From: fromMember})
	d.hub.wake()
	return err
}

func logOf(message send.Message) chatlog.Conversation {
	return chatlog.Conversation{App: message.Channel.App, Channel: message.Channel.ID, ID: message.To}
}

func (d *Desk) append(ctx context.Context, message send.Message) (document.Timestamp, error) {
	from := fromBot
	if message.AuthorID != "" {
		from = fromMember
	}
	stored, _, err := d.chats.Append(ctx, logOf(message), chatlog.Entry{
		Key: d.keyOf(message), From: from, Body: document.O(fieldResponse, message.Response.Object()),
	})
	if err == nil && from == fromMember {
		_ = d.chats.StopTyping(ctx, logOf(message), fromMember) // If this fails, the mark soon expires.
	}
	return stored.At, err
}

// keyOf returns the key of a message's entry. A message without an ID is never a repetition.
func (d *Desk) keyOf(message send.Message) string {
	switch {
	case message.ID == "":
		return "sent " + d.env.NewID()
	case len(message.ID) > chatlog.MaxName/2:
		return "sent " + idOf(message.ID)
	default:
		return "sent " + message.ID
	}
}

// post puts a message on the board of a team or an agent. A message without an ID is never a repetition.
func (d *Desk) post(ctx context.Context, message send.Message) error {
	in := message.Channel
	id := cmp.Or(message.ID, d.env.NewID())
	button, _ := tapIn(message.Response)
	assignmentID, _ := button.value.(string)
	_, err := d.tickets(in.App).Insert(ctx, document.O(
		record.FieldID, idOf(in.App, in.ID, message.To, id), record.FieldChannel, in.ID, fieldTo, message.To,
		fieldMessage, message.ID, fieldResponse, message.Response.Object(), fieldAssignment, assignmentID,
	))
	if boterr.CodeOf(err) == boterr.AlreadyExists {
		return nil
	}
	return err
}

// tap is a button of a ticket.
type tap struct{ payload, value any }

// tapIn returns the first button of a ticket that names an assignment. The value of such a button is the assignment's id.
func tapIn(ticket send.Response) (tap, bool) {
	var found []document.Object
	for _, list := range []string{"buttons", "quickReplies"} {
		found = append(found, objectsIn(ticket.Object(), list)...)
	}
	for _, card := range objectsIn(ticket.Object(), "carousel") {
		found = append(found, objectsIn(card, "buttons")...)
	}
	for _, button := range found {
		payload, _ := button.Field("payload")
		value, has := button.Field("value")
		if o, isObject := payload.(document.Object); isObject {
			payload, _ = o.Field("payload")
			value, has = o.Field("value")
		}
		if _, isText := value.(string); has && isText && payload != nil {
			return tap{payload, value}, true
		}
	}
	return tap{}, false
}

func objectsIn(in document.Object, field string) []document.Object {
	var all []document.Object
	for _, item := range document.Get(in, field, document.Array{}).All() {
		if o, isObject := item.(document.Object); isObject {
			all = append(all, o)
		}
	}
	return all
}

// tapping is the context key for the id of the agent whose tap is being handled.
type tapping struct{}

// isAnsweredOtherwise reports whether a message is a line to the agent whose tap is being handled: the response
// to the page's request already contains it.
func isAnsweredOtherwise(ctx context.Context, message send.Message) bool {
	agent, _ := ctx.Value(tapping{}).(string)
	return agent != "" && message.To == agent && message.Response.Type() == send.TypeText
}

// CreateGroup implements livechat.GroupCreator: it creates a conversation. The same Key gives the same conversation.
func (d *Desk) CreateGroup(ctx context.Context, in *channel.Channel, group livechat.NewGroup) (livechat.CreatedGroup, error) {
	if err := send.RequireChannel(in); err != nil {
		return livechat.CreatedGroup{}, err
	}
	key := group.Key
	if key == "" {
		key = d.env.NewID()
	}
	id := "chat-" + idOf("chat", in.App, in.ID, key)
	err := d.insertConversation(ctx, in, id, group.Name, group.Key)
	return livechat.CreatedGroup{ExternalID: id}, err
}

// insertConversation stores a conversation, unless it exists.
func (d *Desk) insertConversation(ctx context.Context, in *channel.Channel, id, name, assignmentID string) error {
	_, err := d.conversations(in.App).Insert(ctx, document.O(
		record.FieldID, idOf(in.App, in.ID, id), record.FieldChannel, in.ID, fieldTo, id, fieldName, name,
		fieldAssignment, assignmentID, fieldIsArchived, false,
	))
	if boterr.CodeOf(err) == boterr.AlreadyExists {
		return nil
	}
	return err
}

// GroupName implements livechat.GroupNamer.
func (d *Desk) GroupName(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	if err := send.RequireChannel(in); err != nil {
		return "", err
	}
	c, exists, err := d.conversation(ctx, in.App, in.ID, groupExternalID)
	if err == nil && !exists && !channels.HasBroadcastGroup(in, groupExternalID) {
		err = noConversation(in, groupExternalID)
	}
	return c.name, err
}

func noConversation(in *channel.Channel, id string) error {
	return boterr.New(boterr.NotFound, "", "the channel %s has no conversation %s", in.ID, id)
}

// ArchiveConversation implements send.ConversationArchiver. Nothing can be sent to an archived conversation or team.
func (d *Desk) ArchiveConversation(ctx context.Context, in *channel.Channel, conversationID string) error {
	if err := send.RequireChannel(in); err != nil {
		return err
	}
	if channels.HasBroadcastGroup(in, conversationID) {
		if err := d.insertConversation(ctx, in, conversationID, "", ""); err != nil {
			return err
		}
	}
	done, err := d.conversations(in.App).Update(ctx, record.Patch{
		Filter: document.O(record.FieldID, idOf(in.App, in.ID, conversationID)), Patch: document.O(fieldIsArchived, true),
	})
	if err == nil && done.Matched == 0 {
		return noConversation(in, conversationID)
	}
	d.hub.wake()
	return err
}

// ShowTaken implements livechat.TicketUpdater.
func (d *Desk) ShowTaken(ctx context.Context, in *channel.Channel, ticket livechat.Ticket, text string) error {
	return d.change(ctx, in, ticket, document.O(fieldShown, text))
}

// RecallTicket implements livechat.TicketRecaller. It removes the ticket's content, because EraseMember finds no tickets
// of a withdrawn request.
func (d *Desk) RecallTicket(ctx context.Context, in *channel.Channel, ticket livechat.Ticket) error {
	return d.change(ctx, in, ticket, document.O(fieldIsRecalled, true, fieldResponse, document.O()))
}

// change sets fields of a ticket that was not recalled.
func (d *Desk) change(ctx context.Context, in *channel.Channel, ticket livechat.Ticket, fields document.Object) error {
	if err := send.RequireChannel(in); err != nil {
		return err
	}
	done, err := d.tickets(in.App).Update(ctx, record.Patch{
		Filter: document.O(
			record.FieldID, idOf(in.App, in.ID, ticket.Group.ID, ticket.MessageID), fieldIsRecalled, document.O("$ne", true)),
		Patch: fields,
	})
	if err == nil && done.Matched == 0 {
		return boterr.New(boterr.NotFound, "", "the channel %s has no ticket %s for %s", in.ID, ticket.MessageID, ticket.Group.ID)
	}
	d.hub.wake()
	return err
}
