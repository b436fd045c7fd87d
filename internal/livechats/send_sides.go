package livechats

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// SendMessageToInlet implements Operations.
func (s *Service) SendMessageToInlet(ctx context.Context, p livechat.SendMessageToInletParams) (send.Result, error) {
	if p.Response.IsZero() {
		return send.Result{}, boterr.PrefixField(fieldResponse, p.Response.Validate())
	}
	outlet, err := s.namedChannel(ctx, channels.ByRecord(s.scope, p.Channel))
	if err != nil {
		return send.Result{}, err
	}
	r, err := s.conversations.eventAssignment(ctx, outlet, p.MessageEvent)
	if err != nil {
		return send.Result{}, err
	}
	inlet, err := s.ports.Channels.Load(ctx, r.Inlet)
	if err != nil {
		return send.Result{}, err
	}
	m, err := s.memberOf(ctx, r)
	if err != nil {
		return send.Result{}, err
	}
	message, err := s.messageToMember(inlet, m, p.Response)
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
	inlet, err := s.conversations.sideOf(ctx, g, g.Inlet, channel.InletGroups)
	if err != nil {
		return send.Result{}, err
	}
	if g.InletGroupExternalID == "" {
		return send.Result{}, boterr.New(boterr.FailedPrecondition, fieldGroup,
			"the conversation of the group %s is no group on the inlet's side: send to the member", g.ID)
	}
	message, err := s.conversations.messageInGroup(ctx, g, inlet, g.InletGroupExternalID, p.Response)
	if err != nil {
		return send.Result{}, err
	}
	r, err := s.assignmentOf(ctx, g)
	if err != nil {
		return send.Result{}, err
	}
	return s.sendInChat(ctx, r, message, livechat.EndedByMemberGone)
}

// sideOf returns the channel on one side of a live group, which must be of a type that has
// groups.
func (s *conversations) sideOf(ctx context.Context, g *livechat.Group, channelID string, groups channel.Feature) (*channel.Channel, error) {
	if !g.Active {
		return nil, boterr.New(boterr.FailedPrecondition, fieldGroup,
			"the group %s is not live any more: give that of the conversation that lasts", g.ID)
	}
	if channelID == "" {
		return nil, boterr.New(boterr.FailedPrecondition, fieldGroup, "the group %s does not know its channel on that side", g.ID)
	}
	c, err := s.ports.Channels.Load(ctx, channelID)
	if err == nil {
		err = c.Require(groups)
	}
	return c, boterr.WithField(fieldGroup, err)
}

// messageInGroup returns a message to the group on one side of a live chat, filled from its
// member.
func (s *conversations) messageInGroup(
	ctx context.Context, g *livechat.Group, to *channel.Channel, externalID string, response send.Response,
) (send.Message, error) {
	m, err := s.groupMember(ctx, g)
	if err != nil {
		return send.Message{}, err
	}
	return s.messageTo(to, externalID, m, response)
}

// keepGroupAlive starts the idle time of a group's assignment anew, if it has one.
func (s *Service) keepGroupAlive(ctx context.Context, g *livechat.Group) error {
	r, err := s.assignmentOf(ctx, g)
	if err != nil || r == nil {
		return err
	}
	return s.machine.watchIdle(ctx, r)
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
	outlet, err := s.conversations.sideOf(ctx, g, g.Outlet, channel.OutletGroups)
	if err != nil {
		return send.Result{}, err
	}
	if err := s.checkResponseURL(outlet, p.ResponseURL); err != nil {
		return send.Result{}, err
	}
	message, err := s.conversations.messageInGroup(ctx, g, outlet, g.ExternalID, p.Response)
	if err != nil {
		return send.Result{}, err
	}
	if p.ResponseURL != "" && outlet.Type.Has(channel.ResponseURLs) {
		return s.respond(ctx, g, message, p.ResponseURL)
	}
	r, err := s.assignmentOf(ctx, g)
	if err != nil {
		return send.Result{}, err
	}
	gone := livechat.EndedByAgentGone
	if r != nil && r.Group != g.ID {
		gone = "" // The conversation with the agent is another one.
	}
	return s.sendInChat(ctx, r, message, gone)
}

// respond posts a message back to an address. Whether the host allows that is only known
// when it is asked, so idle time starts anew afterwards.
func (s *Service) respond(ctx context.Context, g *livechat.Group, message send.Message, url string) (send.Result, error) {
	result, err := sends.Deliver(ctx, s.env, responder{doer: s.ports.HTTP, url: url}, message)
	if err != nil {
		return send.Result{}, boterr.WithField(fieldResponseURL, err)
	}
	if err := s.keepGroupAlive(ctx, g); err != nil {
		return send.Result{}, err
	}
	return result, nil
}

const fieldResponseURL = "responseUrl"

// checkResponseURL refuses an invalid address, and in strict mode one off Charlie.
func (s *Service) checkResponseURL(outlet *channel.Channel, url string) error {
	switch {
	case url == "":
		return nil
	case !outlet.Type.Has(channel.ResponseURLs) && s.ports.IsStrict:
		return boterr.Invalid(fieldResponseURL, "is for %s alone, and the outlet is of type %s", channel.ResponseURLs.Owners(), outlet.Type)
	case !outlet.Type.Has(channel.ResponseURLs):
		return nil
	}
	_, err := outbound.ParseURL(url)
	return boterr.WithField(fieldResponseURL, err)
}

// responder is a connector that posts a message back to where an interaction on Charlie
// happened.
type responder struct {
	doer outbound.Doer
	url  string
}

var _ send.Connector = responder{}

// Send implements send.Connector.
func (r responder) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	body, err := message.Response.Object().MarshalJSON()
	if err != nil {
		return send.Delivery{}, err
	}
	answer, err := outbound.Fetch(ctx, r.doer, outbound.Request{
		URL: r.url, Method: "POST", Headers: map[string]string{"Content-Type": "application/json"}, Body: body,
	})
	if err != nil {
		return send.Delivery{}, err
	}
	if !answer.OK() {
		return send.Delivery{}, boterr.New(boterr.Unavailable, fieldResponseURL, "answered with the status %d", answer.Status)
	}
	delivery := send.Delivery{ChatID: message.To}
	var reply document.Object
	if answer.Get("@this").IsObject() && reply.UnmarshalJSON(answer.Body) == nil {
		delivery.Reply = reply // Charlie may also answer with a plain text.
	}
	return delivery, nil
}
