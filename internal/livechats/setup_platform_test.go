package livechats_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// platform is a connector to every type of channel, which offers every port, and notes what
// it is asked to do. It can be made to fail for one target.
type platform struct {
	mutex    sync.Mutex
	log      []string
	messages []send.Message
	failing  map[string]error
	ids      int
}

var (
	_ send.Connector           = (*platform)(nil)
	_ livechat.GroupCreator    = (*platform)(nil)
	_ livechat.InviteLinker    = (*platform)(nil)
	_ livechat.GroupIconSetter = (*platform)(nil)
	_ livechat.TicketUpdater   = (*platform)(nil)
	_ livechat.TicketRecaller  = (*platform)(nil)
	_ livechat.ChannelCreator  = (*platform)(nil)
)

// errDown is how the platform fails where nothing else is said: it does not answer.
var errDown = errors.New("connection reset")

func newPlatform() *platform { return &platform{failing: map[string]error{}} }

// connectors returns the platform as the connector to each type of channel.
func (p *platform) connectors() map[channel.Type]send.Connector {
	connectors := map[channel.Type]send.Connector{}
	for _, platform := range []channel.Type{
		channel.Alpha, channel.Bravo, channel.Charlie, channel.Delta, channel.Echo, channel.Foxtrot,
		channel.Hotel, channel.Custom, channel.Webchat,
	} {
		connectors[platform] = p
	}
	return connectors
}

// fail makes all that is done to a target fail: a recipient, the broadcast group of a ticket,
// a group, or the name of a new one.
func (p *platform) fail(target string, err error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.failing[target] = err
}

// work makes all that is done to a target succeed again.
func (p *platform) work(target string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.failing, target)
}

// did returns what was done, each as a line such as `desk: send to C1: hello`.
func (p *platform) did() []string {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clone(p.log)
}

// forget empties what did and sent return.
func (p *platform) forget() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.log, p.messages = nil, nil
}

// sent returns the messages that were sent, in order.
func (p *platform) sent() []send.Message {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return slices.Clone(p.messages)
}

// note notes what is done to a target, unless that fails. It returns a number that no other
// call gets. The caller holds the mutex.
func (p *platform) note(in *channel.Channel, target, format string, args ...any) (string, error) {
	if err := p.failing[target]; err != nil {
		return "", err
	}
	p.log = append(p.log, in.ID+": "+fmt.Sprintf(format, args...))
	p.ids++
	return strconv.Itoa(p.ids), nil
}

// Send implements send.Connector.
func (p *platform) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if err := ctx.Err(); err != nil {
		return send.Delivery{}, err
	}
	n, err := p.note(message.Channel, message.To, "send to %s: %s", message.To, message.Response.Text())
	if err != nil {
		return send.Delivery{}, err
	}
	p.messages = append(p.messages, message)
	delivery := send.Delivery{
		Reply:     document.O("n", n),
		MessageID: "message" + n,
		ChatID:    "chat-" + message.To,
		From:      "bot",
		Timestamp: noon,
	}
	if message.Channel.Type == channel.Charlie {
		delivery.Reply = document.O("ok", true, "channel", delivery.ChatID, "ts", noon, "message", message.Response.Object())
	}
	return delivery, nil
}

// CreateGroup implements livechat.GroupCreator.
func (p *platform) CreateGroup(_ context.Context, in *channel.Channel, group livechat.NewGroup) (livechat.CreatedGroup, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	n, err := p.note(in, group.Name, "create group %q for %q", group.Name, group.AdminExternalID)
	if err != nil {
		return livechat.CreatedGroup{}, err
	}
	created := livechat.CreatedGroup{ExternalID: "group" + n}
	if group.NeedsInvitationLink {
		created.InvitationLink = "https://invite.example/" + n
	}
	return created, nil
}

// RenewInviteLink implements livechat.InviteLinker.
func (p *platform) RenewInviteLink(_ context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	n, err := p.note(in, groupExternalID, "renew link of %s", groupExternalID)
	return "https://invite.example/" + n, err
}

// DisableInviteLink implements livechat.InviteLinker.
func (p *platform) DisableInviteLink(_ context.Context, in *channel.Channel, groupExternalID string) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	_, err := p.note(in, groupExternalID, "disable link of %s", groupExternalID)
	return err
}

// SetGroupIcon implements livechat.GroupIconSetter.
func (p *platform) SetGroupIcon(_ context.Context, in *channel.Channel, groupExternalID string, icon livechat.Picture) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	_, err := p.note(in, groupExternalID, "icon of %s: %s %s", groupExternalID, icon.ContentType, icon.Bytes)
	return err
}

// ShowTaken implements livechat.TicketUpdater.
func (p *platform) ShowTaken(_ context.Context, in *channel.Channel, ticket livechat.Ticket, text string) error {
	return p.onTicket(in, ticket, "show on the ticket of "+ticket.Group.ID+": "+text)
}

// RecallTicket implements livechat.TicketRecaller.
func (p *platform) RecallTicket(_ context.Context, in *channel.Channel, ticket livechat.Ticket) error {
	return p.onTicket(in, ticket, "recall the ticket of "+ticket.Group.ID)
}

// onTicket notes what is done to a ticket that was sent.
func (p *platform) onTicket(in *channel.Channel, ticket livechat.Ticket, what string) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if ticket.MessageID == "" {
		return boterr.New(boterr.NotFound, "", "the ticket of %s was never sent", ticket.Group.ID)
	}
	_, err := p.note(in, ticket.Group.ID, "%s", what)
	return err
}

// CreateChannel implements livechat.ChannelCreator.
func (p *platform) CreateChannel(_ context.Context, in *channel.Channel, groupID, displayName string) (document.Object, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	n, err := p.note(in, groupID, "create channel %q in %s", displayName, groupID)
	return document.O("channelId", "channel"+n), err
}
