package livechats

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// RelayFromMember sends a member's message to the agent, unchanged, and restarts the idle time. If no agent can read
// it, because the request is untaken or being handed on, the message is kept for the agent who takes the request;
// TellWaiting informs the member. A tap is relayed as the text on the button, if the platform reports it, else as
// the text of its payload, or of all chosen values. A text of at most 40,000 characters that is too long for the SDK
// or for the other platform is relayed as several texts. Instead of a message that the outlet's platform cannot
// show, the agent gets the text Unshown. Receipts and submitted forms are not relayed. Call it for messages that no
// node of the bot answers.
//
// If the agent's conversation is gone (send.IsGone), the live chat ends, the member gets a text, and the outcome is
// OutcomeAnswered. Other errors come from the send; the message may then not have been relayed, and the idle time is
// not restarted. If the message was refused, or no further attempt follows, the member gets the text Unsent.
func (s *Service) RelayFromMember(ctx context.Context, memberID string, event send.MessageEvent) (Outcome, error) {
	return eachPart(event, func(response send.Response) (Outcome, error) { return s.relayFromMember(ctx, memberID, response) })
}

func (s *Service) relayFromMember(ctx context.Context, memberID string, response send.Response) (Outcome, error) {
	id := s.env.SendID(ctx, "relayed "+memberID) // The same in all tries and attempts, whether it is kept or sent at once.
	for range mostTries {
		r, err := s.current(ctx, memberID)
		if err != nil {
			return OutcomeNone, err
		}
		if r == nil {
			return s.afterEnd(ctx, memberID)
		}
		outcome, err := s.relayToAgent(ctx, r, id, response)
		if !errors.Is(err, errChanged) {
			return outcome, err
		}
	}
	return OutcomeNone, boterr.New(boterr.Conflict, "", "the live chat of the member %s kept changing: try again", memberID)
}

// afterEnd completes the end of a member's live chat. The outcome is OutcomeNone if the member's flag remains, because
// bot logic or the host has set it.
func (s *Service) afterEnd(ctx context.Context, memberID string) (Outcome, error) {
	if err := s.closeEnded(ctx, endedOf(memberID)); err != nil {
		return OutcomeNone, err
	}
	m, err := members.Get(ctx, s.ports.Members, memberID)
	if err != nil || m.BotMeta.LiveChat() {
		return OutcomeNone, err
	}
	return OutcomeOver, nil
}

// relayToAgent sends a message to the agent who has an assignment, after any kept messages. If no agent can
// read it yet, relayToAgent keeps it. The message has the id in both cases. The error is errChanged if the assignment
// changed meanwhile.
func (s *Service) relayToAgent(ctx context.Context, r *livechat.AssignmentRecord, id string, response send.Response) (Outcome, error) {
	g, err := s.openGroup(ctx, r)
	if err != nil {
		return OutcomeNone, err
	}
	toMember := func(id, text string) error { return s.tellMember(ctx, r, id, text) }
	if g == nil || len(r.Kept) > 0 {
		outcome, err := s.keep(ctx, r, id, response)
		switch {
		case errors.Is(err, errChanged):
			return OutcomeNone, err
		case err != nil:
			return OutcomeNone, s.tellUnsent(ctx, err, r.ID, toMember)
		case outcome != OutcomeKept:
			return outcome, nil
		case g == nil:
			return outcome, s.watchIdle(ctx, r)
		}
		_, err = s.passOnKept(ctx, r) // If another call is sending, it also sends this message.
		return s.afterSend(ctx, r, err, livechat.EndedByAgentGone)
	}
	outlet, err := s.ports.Channels.Load(ctx, g.Outlet)
	if err == nil {
		err = s.sendToAgent(ctx, r, outlet, g, livechat.KeptMessage{ID: id, Response: response.Object()})
	}
	return s.afterSend(ctx, r, s.tellUnsent(ctx, err, r.ID, toMember), livechat.EndedByAgentGone)
}

// RelayFromAgent sends an agent's message in a group of an outlet channel to the member, unchanged, and
// restarts the idle time. If the conversation is a group on the inlet's side, the message goes to that group.
// GroupOf finds the outlet's group of an event. In the conversation that a helpdesk opened for an untaken
// request, the agent's first message takes the request.
//
// A message that the agent wrote before the end, by the time of the event, reaches the member, even if it is handled
// after the end. The outcome is OutcomeAnswered if the agent got a text instead: once in a group that is no longer
// live, and if the member is gone (send.IsGone), which ends the live chat. The rules of RelayFromMember about messages
// and errors apply, except that a message that the member's platform cannot show is an error, and the agent gets the
// text Unsent.
func (s *Service) RelayFromAgent(ctx context.Context, outletChannelID string, event send.MessageEvent) (Outcome, error) {
	return eachPart(event, func(response send.Response) (Outcome, error) {
		return s.relayFromAgent(ctx, outletChannelID, event, response)
	})
}

func (s *Service) relayFromAgent(
	ctx context.Context, outletChannelID string, event send.MessageEvent, response send.Response,
) (Outcome, error) {
	g, isLive, err := s.groupToRelay(ctx, outletChannelID, event)
	if err != nil || g == nil {
		return OutcomeNone, err
	}
	r, err := s.assignmentOf(ctx, g)
	switch {
	case err != nil || r == nil:
		return OutcomeNone, err
	case r.AssignedAt <= event.Timestamp && event.Timestamp < r.HeardUntil: // Written before the end, and handled after it.
	case !isLive || r.State() == livechat.Ended:
		return s.tellOver(ctx, r, g)
	case r.State() != livechat.Taken:
		return OutcomeNone, nil
	}
	message, err := s.toInlet(ctx, r, g.InletGroupExternalID, response)
	if err == nil {
		err = s.sendRelayed(ctx, message)
	}
	toAgent := func(id, text string) error { return s.tellAgent(ctx, g, id, text) }
	return s.afterSend(ctx, r, s.tellUnsent(ctx, err, g.ID, toAgent), livechat.EndedByMemberGone)
}

// groupToRelay returns the group to which an agent's message belongs, or nil, and reports whether it is live.
func (s *Service) groupToRelay(ctx context.Context, outletID string, event send.MessageEvent) (g *livechat.Group, isLive bool, err error) {
	g, err = s.GroupOf(ctx, outletID, event)
	if err == nil && g == nil {
		g, err = s.takeByWriting(ctx, outletID, event)
	}
	if err != nil || g != nil {
		return g, true, err
	}
	last, err := s.lastGroups(ctx, outletID, event)
	if err != nil || len(last) == 0 {
		return nil, false, err
	}
	return last[0], false, nil
}

// toInlet returns a message to the member of a live chat or, if group is not "", to that group on the inlet's side.
func (s *Service) toInlet(
	ctx context.Context, r *livechat.AssignmentRecord, group string, response send.Response,
) (send.Message, error) {
	inlet, err := s.ports.Channels.Load(ctx, r.Inlet)
	if err != nil {
		return send.Message{}, err
	}
	m, err := members.Get(ctx, s.ports.Members, r.Member)
	if err != nil {
		return send.Message{}, err
	}
	if group != "" {
		return s.messageTo(inlet, group, m, response)
	}
	externalID, err := m.RequireExternalID()
	if err != nil {
		return send.Message{}, err
	}
	message, err := s.messageTo(inlet, externalID, m, response)
	message.Member = m
	return message, err
}

// tellUnsent sends the text Unsent to the writer of a message if the live chat continues without it: failed is the error
// of its send, and either it was refused, or no further attempt follows. to identifies the writer. tellUnsent returns
// failed.
func (s *Service) tellUnsent(ctx context.Context, failed error, to string, tell func(id, text string) error) error {
	_, isLost := errors.AsType[*lostError](failed)
	if failed == nil || isLost || !record.IsPermanent(failed) && !s.isLastAttempt(ctx) || s.texts.Unsent == "" {
		return failed
	}
	return joined(failed, tell(s.env.SendID(ctx, "unsent "+to), s.texts.Unsent))
}

// isLastAttempt reports whether an event becomes a dead letter if its run fails now.
func (s *Service) isLastAttempt(ctx context.Context) bool {
	attempt, err := s.env.Attempt(ctx)
	return err == nil && attempt != nil && attempt.IsLast()
}

// afterSend restarts the idle time after a message was sent. If the send failed because the other side is
// gone, it ends the assignment, with gone as its EndedBy.
func (s *Service) afterSend(ctx context.Context, r *livechat.AssignmentRecord, failed error, gone livechat.EndedBy) (Outcome, error) {
	if lost, isLost := errors.AsType[*lostError](failed); isLost {
		isTold, err := s.endGone(ctx, r, gone, lost.cause)
		if err != nil || !isTold {
			return OutcomeNone, err
		}
		return OutcomeAnswered, nil
	}
	if failed != nil {
		return OutcomeNone, failed
	}
	if err := s.watchIdle(ctx, r); err != nil {
		return OutcomeNone, err
	}
	return OutcomeDelivered, nil
}

// inletGroupInfo returns the value of an assignment's field inletGroupInfo. externalID is the platform's id of the
// group in which the member made the request, and in which the member is answered. For "" it returns the zero
// Object.
func inletGroupInfo(externalID string) document.Object {
	if externalID == "" {
		return document.Object{}
	}
	return document.O(fieldExternalID, externalID)
}

// inletGroupID returns the platform's id of the group on the inlet's side, or "" if the request was not made in a
// group.
func inletGroupID(r *livechat.AssignmentRecord) string {
	return document.Get(r.InletGroupInfo, fieldExternalID, "")
}

// IsAskedHere reports whether a member made the open request in the scope's group or, if the scope has no
// group, in the conversation with the bot alone. Only messages from the same place are relayed to the agent.
// Without an open request it returns true, because the place of the live chat is unknown.
func (s *Service) IsAskedHere(ctx context.Context, memberID string) (bool, error) {
	r, err := s.openAssignment(ctx, memberID)
	if err != nil || r == nil || inletGroupID(r) == s.scope.GroupExternalID {
		return err == nil, err
	}
	groups, err := s.findGroups(ctx, document.O(record.FieldID, r.Group)) // It may have been removed.
	return len(groups) > 0 && groups[0].InletGroupExternalID == s.scope.GroupExternalID, err
}

// SendMessageToInlet implements Operations.
func (s *Service) SendMessageToInlet(ctx context.Context, p livechat.SendMessageToInletParams) (send.Result, error) {
	if p.Response.IsZero() {
		return send.Result{}, boterr.PrefixField(fieldResponse, p.Response.Validate())
	}
	outlet, err := channels.Load(ctx, s.ports.Channels, channels.ByRecord(s.scope, p.Channel))
	if err != nil {
		return send.Result{}, err
	}
	r, err := s.eventAssignment(ctx, outlet, p.MessageEvent)
	if err != nil {
		return send.Result{}, err
	}
	message, err := s.toInlet(ctx, r, "", p.Response)
	if err != nil {
		return send.Result{}, err
	}
	return s.sendInChat(ctx, r, message, livechat.EndedByMemberGone)
}

// SendMessageToInletGroup implements Operations.
func (s *Service) SendMessageToInletGroup(ctx context.Context, p livechat.SendMessageToInletGroupParams) (send.Result, error) {
	if p.Response.IsZero() {
		return send.Result{}, boterr.PrefixField(fieldResponse, p.Response.Validate())
	}
	g, err := s.namedGroup(ctx, groupByRecordOrID(p.Group, p.GroupID))
	if err != nil {
		return send.Result{}, err
	}
	inlet, err := s.sideOf(ctx, g, g.Inlet, channel.InletGroups)
	if err != nil {
		return send.Result{}, err
	}
	if g.InletGroupExternalID == "" {
		return send.Result{}, boterr.New(boterr.FailedPrecondition, fieldGroup,
			"the conversation of the group %s is not a group on the inlet's side: send to the member", g.ID)
	}
	message, err := s.messageInGroup(ctx, g, inlet, g.InletGroupExternalID, p.Response)
	if err != nil {
		return send.Result{}, err
	}
	r, err := s.assignmentOf(ctx, g)
	if err != nil {
		return send.Result{}, err
	}
	return s.sendInChat(ctx, r, message, livechat.EndedByMemberGone)
}

// sideOf returns the channel on one side of a live group. The channel's type must have the feature groups.
func (s *Service) sideOf(ctx context.Context, g *livechat.Group, channelID string, groups channel.Feature) (*channel.Channel, error) {
	if !g.Active {
		return nil, boterr.New(boterr.FailedPrecondition, fieldGroup,
			"the group %s is no longer live: give the group of the current conversation", g.ID)
	}
	if channelID == "" {
		return nil, boterr.New(boterr.FailedPrecondition, fieldGroup,
			"the group %s is not linked to a channel on that side: link it to an assignment first", g.ID)
	}
	c, err := s.ports.Channels.Load(ctx, channelID)
	if err == nil {
		err = c.Require(groups)
	}
	return c, boterr.WithField(fieldGroup, err)
}

// messageInGroup returns a message to the group on one side of a live chat. Its placeholders are filled from the
// group's member.
func (s *Service) messageInGroup(
	ctx context.Context, g *livechat.Group, to *channel.Channel, externalID string, response send.Response,
) (send.Message, error) {
	m, err := s.groupMember(ctx, g)
	if err != nil {
		return send.Message{}, err
	}
	return s.messageTo(to, externalID, m, response)
}

// SendMessageToOutletGroup implements Operations.
func (s *Service) SendMessageToOutletGroup(ctx context.Context, p livechat.SendMessageToOutletGroupParams) (send.Result, error) {
	if p.Response.IsZero() {
		return send.Result{}, boterr.PrefixField(fieldResponse, p.Response.Validate())
	}
	g, err := s.namedGroup(ctx, groupByRecordOrID(p.Group, p.GroupID))
	if err != nil {
		return send.Result{}, err
	}
	outlet, err := s.sideOf(ctx, g, g.Outlet, channel.OutletGroups)
	if err != nil {
		return send.Result{}, err
	}
	if err := s.checkResponseURL(outlet, p.ResponseURL); err != nil {
		return send.Result{}, err
	}
	message, err := s.messageInGroup(ctx, g, outlet, g.ExternalID, p.Response)
	if err != nil {
		return send.Result{}, err
	}
	if p.ResponseURL != "" && outlet.Type.Has(channel.ResponseURLs) {
		body := message.Response.Object()
		if formatter, ok := send.PortOf[send.ResponseFormatter](s.ports.Connectors[outlet.Type]); ok {
			if body, err = formatter.FormatResponse(message.Response); err != nil {
				return send.Result{}, boterr.PrefixField(fieldResponse, err)
			}
		}
		return s.respond(ctx, g, message, responder{doer: s.ports.HTTP, url: p.ResponseURL, body: body})
	}
	r, err := s.assignmentOf(ctx, g)
	if err != nil {
		return send.Result{}, err
	}
	gone := livechat.EndedByAgentGone
	if r != nil && r.Group != g.ID {
		gone = "" // The assignment has another conversation by now, so the loss of this one does not end it.
	}
	return s.sendInChat(ctx, r, message, gone)
}

// respond posts a message to a response URL. It restarts the idle time only afterwards, because the post
// fails if the host does not allow the address.
func (s *Service) respond(ctx context.Context, g *livechat.Group, message send.Message, through responder) (send.Result, error) {
	result, err := sends.Deliver(ctx, s.env, through, message)
	if err != nil {
		return send.Result{}, boterr.WithField(fieldResponseURL, err)
	}
	r, err := s.assignmentOf(ctx, g)
	if err == nil && r != nil {
		err = s.watchIdle(ctx, r)
	}
	if err != nil {
		return send.Result{}, err
	}
	return result, nil
}

const fieldResponseURL = "responseUrl"

// checkResponseURL returns an error for an invalid address and, in strict mode, for a channel that is not on Charlie.
func (s *Service) checkResponseURL(outlet *channel.Channel, url string) error {
	switch {
	case url == "":
		return nil
	case !outlet.Type.Has(channel.ResponseURLs) && s.ports.IsStrict:
		return boterr.Invalid(fieldResponseURL,
			"is only for %s, but the outlet is of type %s: leave it out", channel.ResponseURLs.Owners(), outlet.Type)
	case !outlet.Type.Has(channel.ResponseURLs):
		return nil
	}
	_, err := outbound.ParseURL(url)
	return boterr.WithField(fieldResponseURL, err)
}

// responder is a connector that posts a message to the response URL of an interaction on Charlie. body is the message
// in the platform's form.
type responder struct {
	doer outbound.Doer
	url  string
	body document.Object
}

var _ send.Connector = responder{}

func (r responder) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	body, err := r.body.MarshalJSON()
	if err != nil {
		return send.Delivery{}, err
	}
	answer, err := outbound.Fetch(ctx, r.doer, outbound.Request{
		URL: r.url, Method: "POST", Headers: map[string]string{"Content-Type": "application/json"}, Body: body,
	})
	if err != nil {
		return send.Delivery{}, err
	}
	switch {
	case isRefusal(answer.Status):
		return send.Delivery{}, boterr.New(boterr.FailedPrecondition, fieldResponseURL,
			"refused the message with the status %d: the address may have expired; leave it out to send to the group", answer.Status)
	case !answer.OK():
		return send.Delivery{}, boterr.New(boterr.Unavailable, fieldResponseURL, "answered with the status %d", answer.Status)
	}
	delivery := send.Delivery{ChatID: message.To}
	var reply document.Object
	if answer.Get("@this").IsObject() && reply.UnmarshalJSON(answer.Body) == nil {
		delivery.Reply = reply // Charlie may also answer with a plain text.
	}
	return delivery, nil
}

// Outcome is the result of relaying a message.
type Outcome string

// Outcomes of relaying a message.
const (
	// OutcomeNone means that the message does not belong to a live chat. It is for the bot.
	OutcomeNone Outcome = ""
	// OutcomeDelivered means that the message was sent to the other side.
	OutcomeDelivered Outcome = "delivered"
	// OutcomeKept means that no agent can read the message yet. It is kept for the agent who takes the request.
	OutcomeKept Outcome = "kept"
	// OutcomeFull means that no agent can read the message yet and it is not kept, because MostKept messages or
	// MostKeptBytes are already kept.
	OutcomeFull Outcome = "full"
	// OutcomeOver means that the member is not, or no longer, in a live chat. The message is for the bot.
	OutcomeOver Outcome = "over"
	// OutcomeAnswered means that the live chat has ended and the writer got a text about that.
	OutcomeAnswered Outcome = "answered"
)
