package livechat

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// SendMessageToOutletGroup implements Operations.
func (s *Service) SendMessageToOutletGroup(ctx context.Context, p SendMessageToOutletGroupParams) (_ send.Result, err error) {
	defer s.guard(ctx, &err)
	if p.Response.IsZero() {
		return send.Result{}, boterr.In(fieldResponse, p.Response.Validate())
	}
	g, err := s.conversations.groupParameter(ctx, p.Group, p.GroupID)
	if err != nil {
		return send.Result{}, err
	}
	outlet, err := s.conversations.sideOf(ctx, g, g.Outlet, channel.Bravo, channel.Charlie, channel.Delta)
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
	if p.ResponseURL != "" && outlet.Type == channel.Charlie {
		return s.respond(ctx, g, message, p.ResponseURL)
	}
	if err := s.keepGroupAlive(ctx, g); err != nil {
		return send.Result{}, err
	}
	return s.deliver(ctx, message)
}

// respond posts a message back to an address. Whether the host allows that is only known
// when it is asked, so idle time starts anew afterwards.
func (s *Service) respond(ctx context.Context, g *Group, message send.Message, url string) (send.Result, error) {
	result, err := send.Deliver(ctx, s.env, responder{doer: s.ports.HTTP, url: url}, message)
	if err != nil {
		return send.Result{}, at(fieldResponseURL, err)
	}
	if err := s.keepGroupAlive(ctx, g); err != nil {
		return send.Result{}, err
	}
	return result, nil
}

const fieldResponseURL = "responseUrl"

// checkResponseURL refuses an address that is none, and in strict mode one off Charlie.
func (s *Service) checkResponseURL(outlet *channel.Channel, url string) error {
	switch {
	case url == "":
		return nil
	case outlet.Type != channel.Charlie && s.ports.IsStrict:
		return boterr.Invalid(fieldResponseURL, "is for charlie alone, and the outlet is of type %s", outlet.Type)
	case outlet.Type != channel.Charlie:
		return nil
	}
	_, err := outbound.ParseURL(url)
	return at(fieldResponseURL, err)
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
	body, err := message.Response.MarshalJSON()
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
