package foxtrot

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/send"
)

// Types of messages that the specification does not define.
const (
	// TypeClose closes the conversation of a request, or solves its ticket.
	TypeClose send.Type = "CLOSE"
	// TypePassControl passes a conversation to another switchboard integration.
	TypePassControl send.Type = "PASS_CONTROL"
	// TypeMarkSeen marks the member's messages as read.
	TypeMarkSeen send.Type = "MARK_SEEN"
)

// Send implements send.Connector. The recipient is one of three:
//
//   - The id of a broadcast group of the channel, or whatever the recipient is if IsRequest is true, even "". The
//     message opens a request. With credentials for conversations, Send opens a conversation in the member's name
//     and passes it to the agents; otherwise it creates a ticket. ChatID of the Delivery is the id of the
//     conversation or ticket, "out:..." or "ticket:...".
//   - The id of such a conversation or ticket. The agent gets the message in the member's name.
//   - The id of a conversation in the helpdesk's widget. The member gets the message from the bot.
//
// These are the messages. An agent gets quick replies, buttons and cards as lines of text:
//
//   - IMAGE, AUDIO, VIDEO and FILE need an address. A caption becomes the file's text. A ticket shows the address.
//   - QUICK_REPLIES and BUTTON become actions: replies, postbacks, links and requests for the location.
//   - CAROUSEL has at most 10 cards, each with a button.
//   - MISC becomes one message for its text and one for each attachment, at most 10, or a single comment on a ticket.
//   - TYPING and MARK_SEEN show a member that the bot is typing or has read. For an agent they do nothing.
//   - PASS_CONTROL passes a conversation to the integration in switchboardIntegration, which is next by default.
//   - CLOSE passes a conversation on with the reason ticketClosed, or solves a ticket.
//   - Other types are Unsupported unless the response has message, an object in the helpdesk's form with its type,
//     such as a form. Tickets do not have these messages.
//
// If a request is sent again with the same Message.ID, Send finds its conversation or ticket and does not post
// its first message twice. Other messages may appear twice if the process dies while sending, because the
// helpdesk has no idempotency keys for them. Message.ID is stored in their metadata.
func (c *Connector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	of, err := accountOf(message.Channel)
	switch {
	case err != nil:
		return send.Delivery{}, err
	case of.isTickets():
		return c.sendTicket(ctx, of, message)
	}
	to := addressOf(message)
	if do := actions[message.Response.Type()]; do != nil {
		reply, err := do(ctx, c, of, to, message.Response)
		return send.Delivery{Reply: reply, ChatID: to.String(), From: of.app}, err
	}
	show := shownToMember
	if to.isOutlet() {
		show = shownToAgent
	}
	parts, err := show(message.Response)
	if err != nil {
		return send.Delivery{}, err
	}
	if n := len(parts); n > maxParts {
		return send.Delivery{}, boterr.Invalid("attachments",
			"and the text make %d messages on foxtrot; the limit is %d: send fewer", n, maxParts)
	}
	if to.isNew {
		return c.open(ctx, of, message, parts)
	}
	return c.post(ctx, of, to, message.ID, parts)
}

// address identifies the recipient of a message.
type address struct {
	conversation string
	// user is the external id of the member in whose name the messages of a request are sent. It is "" for
	// conversations in the widget.
	user string
	// isNew is true if the message is a request or the recipient is a broadcast group, so the message opens a
	// conversation.
	isNew bool
}

// outlet is the prefix of ids of conversations that the Connector opened. Such an id is the prefix, the
// helpdesk's id, a slash and address.user.
const outlet = "out:"

func addressOf(message send.Message) address {
	if message.IsRequest {
		return address{isNew: true}
	}
	for _, label := range message.Channel.BroadcastGroups {
		for _, group := range label.Groups {
			if group.ID == message.To {
				return address{isNew: true}
			}
		}
	}
	if rest, isOutlet := strings.CutPrefix(message.To, outlet); isOutlet {
		conversation, user, _ := strings.Cut(rest, "/")
		return address{conversation: conversation, user: user}
	}
	return address{conversation: message.To}
}

// String returns the conversation's id in messages and events. For a new request it is "".
func (a address) String() string {
	if a.user == "" {
		return a.conversation
	}
	return outlet + a.conversation + "/" + a.user
}

// isOutlet reports whether the message is for an agent.
func (a address) isOutlet() bool { return a.isNew || a.user != "" }

// author returns the author in the helpdesk's form: messages for agents are the member's, and messages for
// members are the bot's.
func (a address) author() document.Object {
	if a.user != "" {
		return document.O("type", "user", "userExternalId", a.user)
	}
	return document.O("type", "business")
}

func (a address) path(part string) []string { return []string{"conversations", a.conversation, part} }

// metadataMessage is the field in a message's metadata with the message's ID. Reports of the Connector's own
// messages are recognised by it.
const metadataMessage = "botMessageId"

// post posts the parts of a message one by one.
func (c *Connector) post(ctx context.Context, of account, to address, id string, parts []part) (send.Delivery, error) {
	delivery := send.Delivery{ChatID: to.String(), From: of.app}
	for i, part := range parts {
		body := document.O("author", to.author(), "content", part.content)
		if id != "" {
			body = body.With("metadata", document.O(metadataMessage, id))
		}
		reply, err := c.call(ctx, of, request{method: http.MethodPost, path: to.path("messages"), body: body})
		if err != nil {
			return send.Delivery{}, located(pieces.AfterSome(err, "the helpdesk", i, len(parts)), part)
		}
		delivery.Reply = reply
		delivery.MessageID = document.Get(reply, "messages[0].id", "")
		delivery.Timestamp = timestamp(document.Get(reply, "messages[0].received", ""))
		if delivery.MessageID == "" {
			return send.Delivery{}, calls.ErrUnreadable
		}
	}
	return delivery, nil
}

// located adds the path of the part to an InvalidArgument error.
func located(err error, of part) error {
	if boterr.CodeOf(err) == boterr.InvalidArgument && of.path != "" {
		return boterr.WithField(of.path, err)
	}
	return err
}

// Formats of times in answers and reports.
var layouts = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999-07:00"}

// timestamp parses a time, or returns 0 if it is malformed.
func timestamp(text string) document.Timestamp {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil && at.Unix() > 0 {
			return document.TimestampOf(at)
		}
	}
	return 0
}

// action carries out a response that has no content.
type action func(ctx context.Context, c *Connector, of account, to address, response send.Response) (document.Object, error)

var actions = map[send.Type]action{
	send.TypeTyping: activity("typing:start"),
	TypeMarkSeen:    activity("conversation:read"),
	TypePassControl: func(ctx context.Context, c *Connector, of account, to address, response send.Response) (document.Object, error) {
		return c.pass(ctx, of, to, document.Get(response, "switchboardIntegration", "next"), document.Get(response, "reason", ""))
	},
	TypeClose: func(ctx context.Context, c *Connector, of account, to address, response send.Response) (document.Object, error) {
		return c.pass(ctx, of, to, document.Get(response, "switchboardIntegration", "next"), "ticketClosed")
	},
}

// activity returns an action that reports an activity of the bot, such as typing, to a member. It does nothing
// for agents.
func activity(kind string) action {
	return func(ctx context.Context, c *Connector, of account, to address, _ send.Response) (document.Object, error) {
		if to.isOutlet() {
			return document.O(), ctx.Err()
		}
		return c.call(ctx, of, request{
			method: http.MethodPost, path: to.path("activity"), body: document.O("author", to.author(), "type", kind),
		})
	}
}

// pass passes a conversation to a switchboard integration.
func (c *Connector) pass(ctx context.Context, of account, to address, integration, reason string) (document.Object, error) {
	if to.isNew {
		return document.Object{}, boterr.Invalid("type",
			"needs a conversation, and the recipient is a broadcast group: send it to a conversation")
	}
	body := document.O("switchboardIntegration", integration)
	if reason != "" {
		body = body.With("reason", reason)
	}
	return c.call(ctx, of, request{method: http.MethodPost, path: to.path("passControl"), body: body})
}

// metadataTicket is the field in a conversation's metadata with the ID of the request. Conversations that the
// Connector opened are recognised by it.
const metadataTicket = "botTicketId"

// agentWorkspace is the type of the agents' switchboard integration.
const agentWorkspace = "zd:agentWorkspace"

// open opens a conversation, posts the parts of the first message, and passes the conversation to the agents. If
// an earlier call did some of these steps, open does only the rest.
func (c *Connector) open(ctx context.Context, of account, message send.Message, parts []part) (send.Delivery, error) {
	key := message.ID
	if key == "" {
		return send.Delivery{}, boterr.Missing("id", "the message's ID, by which a repeated request finds its conversation")
	}
	user := document.O("externalId", key)
	if name := document.Get(message.Response, "requester.name", ""); name != "" {
		user = user.With("profile", document.O("givenName", name))
	}
	_, err := c.call(ctx, of, request{method: http.MethodPost, path: []string{"users"}, body: user})
	var begun opened
	if calls.RefusalIn(err).Status == http.StatusConflict {
		begun, err = c.find(ctx, of, key)
	}
	if err != nil {
		return send.Delivery{}, err
	}
	if begun.to.conversation == "" {
		if begun.to, err = c.create(ctx, of, key); err != nil {
			return send.Delivery{}, err
		}
	}
	delivery := begun.last
	if rest := parts[min(begun.posted, len(parts)):]; len(rest) > 0 {
		if delivery, err = c.post(ctx, of, begun.to, key, rest); err != nil {
			return send.Delivery{}, err
		}
	}
	if !begun.isPassed {
		if _, err := c.pass(ctx, of, begun.to, of.next, ""); err != nil {
			return send.Delivery{}, err
		}
	}
	return delivery, nil
}

func (c *Connector) create(ctx context.Context, of account, key string) (address, error) {
	reply, err := c.call(ctx, of, request{method: http.MethodPost, path: []string{"conversations"}, body: document.O(
		"type", "personal", "participants", document.A(document.O("userExternalId", key)), "metadata", document.O(metadataTicket, key),
	)})
	id := document.Get(reply, "conversation.id", "")
	if err == nil && id == "" {
		err = calls.ErrUnreadable
	}
	return address{conversation: id, user: key}, err
}

// opened has the results of an earlier call that failed halfway.
type opened struct {
	to address
	// posted is the number of parts of the first message that were posted. last is the delivery of the last one.
	posted   int
	last     send.Delivery
	isPassed bool
}

// find returns what an earlier call with this key created: the conversation and the parts of the first message.
func (c *Connector) find(ctx context.Context, of account, key string) (opened, error) {
	listed, err := c.call(ctx, of, request{
		method: http.MethodGet, path: []string{"conversations"}, query: url.Values{"filter[userExternalId]": {key}},
	})
	if err != nil {
		return opened{}, err
	}
	for _, conversation := range pieces.Objects(listed, "conversations") {
		if document.Get(conversation, "metadata."+metadataTicket, "") != key {
			continue
		}
		found := opened{
			to:       address{conversation: document.Get(conversation, "id", ""), user: key},
			isPassed: document.Get(conversation, "activeSwitchboardIntegration.integrationType", "") == agentWorkspace,
		}
		posted, err := c.call(ctx, of, request{method: http.MethodGet, path: found.to.path("messages")})
		if err != nil {
			return opened{}, err
		}
		for _, message := range pieces.Objects(posted, "messages") {
			if document.Get(message, "metadata."+metadataMessage, "") == key {
				found.posted++
				found.last = send.Delivery{
					Reply: document.O("messages", document.A(message)), MessageID: document.Get(message, "id", ""),
					ChatID: found.to.String(), From: of.app, Timestamp: timestamp(document.Get(message, "received", "")),
				}
			}
		}
		return found, nil
	}
	return opened{}, nil
}
