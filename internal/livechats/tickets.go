package livechats

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// sendTicket sends a ticket, or the request itself to a channel that takes it directly. It returns the ticket
// with the ids from the outlet's answer. The message has the id of the ticket in each attempt, so that a
// platform that checks ids shows it once.
func (s *Service) sendTicket(
	ctx context.Context, r *livechat.AssignmentRecord, m *member.Member, ticket livechat.Ticket,
) (livechat.Ticket, error) {
	to, err := s.ports.Channels.Load(ctx, ticket.Channel)
	if err != nil {
		return ticket, err
	}
	address, err := s.apiOf(r, to)
	if err != nil {
		return ticket, err
	}
	if address != "" {
		ticket.ChatID, err = s.askAPI(ctx, address, r, m, to)
		ticket.SentAt = document.TimestampOf(s.env.Now())
		return ticket, err
	}
	message, err := s.messageOf(r, m, to.Type)
	if err != nil {
		return ticket, err
	}
	sent, err := s.deliver(ctx, send.Message{ID: ticket.ID, Channel: to, To: ticket.Group.ID, IsRequest: true, Response: message})
	ticket.MessageID, ticket.ChatID = sent.MessageEvent.MessageID, sent.ChatID
	ticket.SentAt = document.TimestampOf(s.env.Now())
	return ticket, err
}

// keepTicket records that a ticket was sent and renews the call's lease. If the request was withdrawn meanwhile, it
// recalls the ticket and returns Conflict.
func (s *Service) keepTicket(ctx context.Context, r *livechat.AssignmentRecord, sent livechat.Ticket) (*livechat.AssignmentRecord, error) {
	until, err := s.leaseEnd(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := s.noteSent(ctx, r, sent, document.O(fieldSender+".id", r.Sender.ID), document.O(fieldSender+".until", until))
	if err != nil || kept != nil {
		return kept, err
	}
	if kept, err = s.noteSent(ctx, r, sent, document.O(), document.O()); err != nil {
		return nil, err
	}
	if kept != nil {
		return nil, boterr.New(boterr.Conflict, "",
			"an outlet of the assignment %s took so long that another call continued with it: repeat the call to see its progress", r.ID)
	}
	alone := *r
	alone.Tickets = []livechat.Ticket{sent}
	var undone unfinished
	s.recallTickets(ctx, &alone, &undone)
	return nil, joined(withdrawn(r), undone.err(ctx, wantClosed.then()))
}

// noteSent stores that a ticket was sent, unless that is already stored, and sets further fields. It returns
// nil if the assignment has ended or does not meet the condition.
func (s *Service) noteSent(
	ctx context.Context, r *livechat.AssignmentRecord, sent livechat.Ticket, condition, fields document.Object,
) (*livechat.AssignmentRecord, error) {
	const path = fieldTickets + ".$[ticket]."
	found, err := s.assignments().Where(record.FieldID, r.ID).FindAndModify(ctx, record.Patch{
		Filter:       condition.With(fieldEndedAt, isAbsent),
		Patch:        fields.With(path+"messageId", sent.MessageID).With(path+"chatId", sent.ChatID).With(path+fieldSentAt, sent.SentAt),
		ArrayFilters: []document.Object{document.O("ticket.id", sent.ID).With("ticket."+fieldSentAt, isAbsent)},
	}, true)
	if err != nil || !found.Matched {
		return nil, err
	}
	return assignmentFrom(found.Document)
}

// adminNamePlaceholder is replaced by the agent's name in a takenMessage.
const adminNamePlaceholder = "[adminName]"

// takenText returns the text of a ticket after an agent with this name took the assignment. The request's own
// takenMessage only applies on Charlie.
func takenText(r *livechat.AssignmentRecord, ticket livechat.Ticket, name string) string {
	text := livechat.DefaultTakenMessage
	if r.TakenMessage != "" && ticket.Type.Has(channel.TakenMessages) {
		text = r.TakenMessage
	}
	return withName(text, name)
}

func withName(text, name string) string { return strings.ReplaceAll(text, adminNamePlaceholder, name) }

// showOn shows a text on a ticket if the platform can do this.
func (s *Service) showOn(ctx context.Context, r *livechat.AssignmentRecord, ticket livechat.Ticket, text string) error {
	updater, canUpdate := send.PortOf[livechat.TicketUpdater](s.ports.Connectors[ticket.Type])
	if !canUpdate {
		return nil
	}
	return s.onTicket(ctx, r, ticket, fieldTakenAt, func(c *channel.Channel) error {
		return updater.ShowTaken(ctx, c, ticket, text)
	})
}

// recallTickets recalls the sent tickets on platforms that can do this. It continues after failures.
func (s *Service) recallTickets(ctx context.Context, r *livechat.AssignmentRecord, undone *unfinished) {
	for _, ticket := range recallable(r) {
		recaller, canRecall := send.PortOf[livechat.TicketRecaller](s.ports.Connectors[ticket.Type])
		if !canRecall || r.Direct != "" {
			continue
		}
		undone.add(ticketName(ticket), s.onTicket(ctx, r, ticket, fieldRecalledAt, func(c *channel.Channel) error {
			return recaller.RecallTicket(ctx, c, ticket)
		}))
	}
}

// onTicket calls do to change a ticket on its platform, and stores the time of the change in a field of the
// ticket. It is not an error if the platform no longer has the ticket, or the channel was removed.
func (s *Service) onTicket(
	ctx context.Context, r *livechat.AssignmentRecord, ticket livechat.Ticket, field string, do func(c *channel.Channel) error,
) error {
	c, err := s.ports.Channels.Load(ctx, ticket.Channel)
	if err == nil {
		err = sends.PlatformError(ctx, c.Type, do(c))
	}
	if err != nil && !errors.Is(err, boterr.NotFound) {
		return err
	}
	_, err = s.assignments().Where(record.FieldID, r.ID).Update(context.WithoutCancel(ctx), record.Patch{
		Patch:        document.O(fieldTickets+".$[ticket]."+field, document.TimestampOf(s.env.Now())),
		ArrayFilters: []document.Object{document.O("ticket.id", ticket.ID)},
	})
	return err
}

func ticketName(t livechat.Ticket) string { return "ticket of " + t.Group.ID + " in " + t.Channel }

const (
	fieldAssignmentDetails = "assignmentDetails"
	fieldText              = "text"
)

// longestName is the maximum length of a member's name in a message, in Unicode code points.
const longestName = 200

// filledRelayMessages returns the relay messages in the assignment's form, filled from the member. Sends do
// not fill them again.
func (s *Service) filledRelayMessages(given map[channel.Type]send.Response, m *member.Member) (document.Object, error) {
	kept := document.O()
	for _, platform := range slices.Sorted(maps.Keys(given)) {
		if given[platform].IsZero() {
			continue
		}
		about := m
		if given[platform].IsTemplate() {
			about = s.ports.InFlight(m)
		}
		filled, err := send.Fill(given[platform], about)
		if err != nil {
			return document.Object{}, boterr.PrefixField(relayMessageField(platform), err)
		}
		kept = kept.With(string(platform), filled)
	}
	return kept, kept.Err()
}

// opaqueRelayMessages returns the relay messages for an assignment of a custom outlet: messages are filled from the
// member, other values stay unchanged.
func (s *Service) opaqueRelayMessages(d livechat.AssignmentDetails, m *member.Member) document.Object {
	if filled, err := s.filledRelayMessages(d.RelayMessage, m); err == nil && len(d.RelayMessage) > 0 {
		return filled
	}
	return document.Get(d.Unknown, fieldRelayMessage, document.O())
}

// relayMessageField returns the path of a platform's relay message in the parameters.
func relayMessageField(platform channel.Type) string {
	return fieldAssignmentDetails + "." + fieldRelayMessage + "." + string(platform)
}

// messageOf returns the message for an outlet.
func (s *Service) messageOf(r *livechat.AssignmentRecord, m *member.Member, platform channel.Type) (send.Response, error) {
	if r.Direct != "" {
		return s.firstMessage(r, m, platform)
	}
	return s.ticketMessage(r, m, platform)
}

// ticketMessage returns the message that offers an assignment to the broadcast groups of a platform. A tap on it
// sends the assignment's id.
func (s *Service) ticketMessage(r *livechat.AssignmentRecord, m *member.Member, platform channel.Type) (send.Response, error) {
	text := nameOf(m) + " asks for a person."
	if r.Summary != "" {
		room := send.MaxText
		if r.History { // The address of the history follows on a separate line.
			address, err := s.historyOf(r)
			if err != nil {
				return send.Response{}, err
			}
			room -= utf8.RuneCountInString("\n" + address)
		}
		text = shortened(text+"\n"+r.Summary, max(1, room))
	}
	standard := send.Buttons(text, send.Postback("Take", livechat.TakePayload))
	message, err := s.messageFor(r, platform, standard)
	return withAssignment(message, r.ID), err
}

// firstMessage returns the first message of a conversation with a channel that takes the request directly.
func (s *Service) firstMessage(r *livechat.AssignmentRecord, m *member.Member, platform channel.Type) (send.Response, error) {
	standard := send.Text(nameOf(m) + " asks for a person.")
	message, err := s.messageFor(r, platform, standard)
	if !platform.Has(channel.LiveChatAPI) {
		return message, err
	}
	if err != nil { // A relay message for a custom outlet need not be a valid response.
		message, err = s.withHistory(r, standard, platform)
	}
	return message.With("assignmentId", r.ID).With(fieldAssignmentDetails, r.Details), err
}

// messageFor returns the relay message for a platform, or else the standard message, with the history's address if
// the request asks for it.
func (s *Service) messageFor(r *livechat.AssignmentRecord, platform channel.Type, standard send.Response) (send.Response, error) {
	message := standard
	if own := document.Get(r.RelayMessage, string(platform), send.Response{}); !own.IsZero() {
		message = send.Raw(own.Object()) // The message was filled when the request was created.
	}
	message, err := s.withHistory(r, message, platform)
	if err != nil {
		return send.Response{}, err
	}
	return message, boterr.PrefixField(relayMessageField(platform), message.Validate())
}

// withHistory appends the history's address to the text of a message if the request asks for it.
func (s *Service) withHistory(r *livechat.AssignmentRecord, message send.Response, platform channel.Type) (send.Response, error) {
	if !r.History {
		return message, nil
	}
	if message.Text() == "" {
		return message, boterr.Invalid(relayMessageField(platform),
			"has no text to which the address of the history can be added: give it one, or leave history out")
	}
	address, err := s.historyOf(r)
	return message.With(fieldText, message.Text()+"\n"+address), err
}

// checkHistory returns an error if the host has no addresses for histories.
func (s *Service) checkHistory() error {
	if s.ports.HistoryURL == nil {
		return boterr.New(boterr.Unsupported, fieldHistory, "this host has no addresses for histories: leave it out")
	}
	return nil
}

// historyOf returns the address of the history of an assignment's conversation.
func (s *Service) historyOf(r *livechat.AssignmentRecord) (string, error) {
	if err := s.checkHistory(); err != nil {
		return "", err
	}
	shown := r.Assignment
	address, err := s.ports.HistoryURL(&shown)
	return address, boterr.WithField(fieldHistory, err)
}

// shortened shortens a text to at most a number of code points. A shortened text ends with an ellipsis.
func shortened(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// The fields of buttons and quick replies.
const (
	fieldButtons      = "buttons"
	fieldCarousel     = "carousel"
	fieldQuickReplies = "quickReplies"
	fieldContentType  = "content_type"
	fieldPayload      = "payload"
	fieldValue        = "value"
)

// withAssignment returns a ticket on which every tap sends the assignment's id as its value. Buttons that
// already have a value keep it.
func withAssignment(ticket send.Response, assignmentID string) send.Response {
	tap := func(button document.Object) document.Object {
		if document.Get(button, fieldType, "") != send.ButtonPostback {
			return button
		}
		payload, _ := button.Field(fieldPayload)
		switch p := payload.(type) {
		case string:
			return button.With(fieldPayload, document.O(fieldPayload, p, fieldValue, assignmentID))
		case document.Object:
			if !p.Has(fieldValue) {
				return button.With(fieldPayload, p.With(fieldValue, assignmentID))
			}
		}
		return button
	}
	switch ticket.Type() {
	case send.TypeCarousel:
		return withEach(ticket, fieldCarousel, func(card document.Object) document.Object { return withEach(card, fieldButtons, tap) })
	case send.TypeQuickReplies:
		// The id is not in the payload, because a quick reply's payload is a string.
		return withEach(ticket, fieldQuickReplies, func(reply document.Object) document.Object {
			if document.Get(reply, fieldContentType, send.ContentText) != send.ContentText || reply.Has(fieldValue) {
				return reply
			}
			return reply.With(fieldValue, assignmentID)
		})
	default:
		return withEach(ticket, fieldButtons, tap)
	}
}

// withEach changes the objects in a list of a message or card, unless the list is empty.
func withEach[O interface {
	document.Lookuper
	With(field string, value any) O
}](in O, field string, change func(document.Object) document.Object) O {
	items := document.Get(in, field, document.Array{})
	if items.Len() == 0 {
		return in
	}
	changed := make([]any, 0, items.Len())
	for _, item := range items.All() {
		if object, ok := item.(document.Object); ok {
			item = change(object)
		}
		changed = append(changed, item)
	}
	return in.With(field, document.A(changed...))
}

// TakeByTap gives a request to the agent who tapped on its ticket, as Take does, and reports whether the
// agent now has the request. A tap is an event of type PAYLOAD whose payload is TakePayload, or whose value is
// the id of an assignment that was offered in the channel. For other events, TakeByTap does nothing and
// returns no error. Call it for events in outlet channels that no node of the bot answers.
//
// The errors are the errors of Take.
func (s *Service) TakeByTap(ctx context.Context, channelID string, event send.MessageEvent) (bool, error) {
	assignmentID, isTap, err := s.tapped(ctx, channelID, event)
	if err != nil || !isTap {
		return false, err
	}
	_, err = s.Take(ctx, livechat.TakeParams{
		AssignmentID: assignmentID, ChannelID: channelID, AdminExternalID: event.From, BroadcastGroupID: event.To,
	})
	return err == nil, err
}

// tapped reports whether an event is a tap on a ticket, and returns the id of the ticket's assignment.
func (s *Service) tapped(ctx context.Context, channelID string, event send.MessageEvent) (string, bool, error) {
	if event.Type != send.TypePayload {
		return "", false, nil
	}
	id, _ := event.Value().(string)
	if event.Payload() == livechat.TakePayload {
		return id, true, nil
	}
	if id == "" {
		return "", false, nil
	}
	r, err := s.findAssignment(ctx, id)
	return id, r != nil && isOfferedIn(r, channelID), err
}

// fieldLiveChatAPI is the field of a custom channel's metadata with the URL of its live-chat API.
const fieldLiveChatAPI = "liveChatApi"

// A live-chat API gets one POST for each request. The body is a JSON object with assignmentId, member,
// assignmentDetails and meta, and, if the call gave them, history (the address) and externalId (from
// createGroup). The answer is a JSON object whose groupId is the API's id of the conversation; group.id,
// externalId and id are accepted, too. If the answer has none of them, the externalId from the request is
// used. Without that, and without createGroup, the agent who takes the request talks to the member in the
// agent's own conversation. The header Idempotency-Key is the same when a request is repeated.

// apiOf returns the URL of the live-chat API for a request to a channel. It returns "" if the request goes
// through the connector, because the channel is not custom or has no such API. A request with CreateGroup
// requires the API.
func (s *Service) apiOf(r *livechat.AssignmentRecord, c *channel.Channel) (string, error) {
	if !c.Type.Has(channel.LiveChatAPI) {
		return "", nil
	}
	given, err := s.ports.CustomAPI(c)
	switch {
	case err != nil:
		return "", err
	case given == "" && r.CreateGroup == nil:
		return "", nil
	case given == "":
		return "", boterr.New(boterr.FailedPrecondition, "",
			"the custom channel %s has no live-chat API: give its address as %s in the channel's metadata", c.ID, fieldLiveChatAPI)
	case s.ports.HTTP == nil:
		return "", boterr.New(boterr.Unsupported, "",
			"this host provides no HTTP client for the live-chat API of the channel %s: set Config.HTTP", c.ID)
	}
	target, err := outbound.ParseURL(given)
	if err != nil || target.Host == "" || target.Scheme != "https" && target.Scheme != "http" {
		return "", boterr.New(boterr.FailedPrecondition, "",
			"the live-chat API of the channel %s has no usable address: give one that begins with https://", c.ID)
	}
	return given, nil
}

// askAPI sends a request to the live-chat API at an address, and returns the API's id of the conversation. It
// may return "" if the request does not ask for a group.
func (s *Service) askAPI(
	ctx context.Context, address string, r *livechat.AssignmentRecord, m *member.Member, to *channel.Channel,
) (string, error) {
	body, err := s.bodyForAPI(r, m)
	if err != nil {
		return "", err
	}
	answer, err := outbound.Fetch(ctx, s.ports.HTTP, outbound.Request{
		URL:     address,
		Method:  http.MethodPost,
		Headers: map[string]string{"Content-Type": "application/json", "Idempotency-Key": r.ID},
		Body:    body,
	})
	if err != nil {
		return "", boterr.WithField("", err)
	}
	switch {
	case isRefusal(answer.Status):
		return "", boterr.New(boterr.FailedPrecondition, "",
			"the live-chat API of the channel %s refused the request with status %d: check the channel's address and credentials",
			to.ID, answer.Status)
	case !answer.OK():
		return "", boterr.New(boterr.Unavailable, "", "the live-chat API of the channel %s answered with status %d", to.ID, answer.Status)
	}
	group := ""
	for _, path := range []string{"groupId", "group.id", fieldExternalID, "id"} {
		group = cmp.Or(group, answer.Get(path).String())
	}
	if r.CreateGroup == nil {
		return group, nil
	}
	if group = cmp.Or(group, r.CreateGroup.ExternalID); group == "" {
		return "", boterr.New(boterr.Unavailable, "",
			"the live-chat API of the channel %s answered without a groupId: it must return its id of the group", to.ID)
	}
	return group, nil
}

func (s *Service) bodyForAPI(r *livechat.AssignmentRecord, m *member.Member) ([]byte, error) {
	told := document.O("assignmentId", r.ID, fieldMember, m, fieldAssignmentDetails, r.Details, fieldMeta, r.Meta)
	if r.History {
		address, err := s.historyOf(r)
		if err != nil {
			return nil, err
		}
		told = told.With(fieldHistory, address)
	}
	if r.CreateGroup != nil && r.CreateGroup.ExternalID != "" {
		told = told.With(fieldExternalID, r.CreateGroup.ExternalID)
	}
	if err := told.Err(); err != nil {
		return nil, err
	}
	return told.MarshalJSON()
}

// isRefusal reports whether a status means that the request itself is wrong. Such a request must not be tried again.
func isRefusal(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	default:
		return status >= http.StatusBadRequest && status < http.StatusInternalServerError
	}
}
