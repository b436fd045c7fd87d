package botctx_test

import (
	"context"
	"sync"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// outside notes what leaves the store: the names of what the ports are asked for, with the keys.
type outside struct {
	mu    sync.Mutex
	asked []asked
}

type asked struct{ what, key string }

func (o *outside) note(what, key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, asked{what, key})
}

// take returns what was noted, and forgets it.
func (o *outside) take() []asked {
	o.mu.Lock()
	defer o.mu.Unlock()
	taken := o.asked
	o.asked = nil
	return taken
}

// around changes a Config so that all that leaves the store is noted, and a run that fails is tried again at once.
func (o *outside) around(c *botctx.Config) {
	all := send.Connectors{}
	for platform, inner := range c.Connectors {
		all[platform] = notingConnector{inner, o}
	}
	payments := c.Payments
	c.Connectors, c.Mailer, c.ObjectStore = all, notingMailer{c.Mailer, o}, notingFiles{c.ObjectStore, o}
	c.Payments = func(app, name string) (utility.PaymentClient, error) {
		client, err := payments(app, name)
		return notingPayments{client, o}, err
	}
	c.Inbox.Backoff, c.Scheduler.Backoff = noPause, noPause
}

type notingMailer struct {
	utility.Mailer

	outside *outside
}

func (n notingMailer) SendMail(ctx context.Context, mail utility.Mail) error {
	n.outside.note("mail", mail.ID)
	return n.Mailer.SendMail(ctx, mail)
}

type notingFiles struct {
	utility.ObjectStore

	outside *outside
}

func (n notingFiles) Put(ctx context.Context, file utility.StoredFile) error {
	n.outside.note("file", file.ID)
	return n.ObjectStore.Put(ctx, file)
}

type notingPayments struct {
	utility.PaymentClient

	outside *outside
}

func (n notingPayments) Charge(ctx context.Context, charge utility.Charge) (*utility.Payment, error) {
	n.outside.note("charge", charge.IdempotencyKey)
	return n.PaymentClient.Charge(ctx, charge)
}

func (n notingPayments) Refund(ctx context.Context, refund utility.Refund) (*utility.Payment, error) {
	n.outside.note("refund", refund.IdempotencyKey)
	return n.PaymentClient.Refund(ctx, refund)
}

// notingConnector notes what a connector is asked for. Its PortOf finds the same ports as the inner one's.
type notingConnector struct {
	send.Connector

	outside *outside
}

var _ send.PortWrapper = notingConnector{}

func (n notingConnector) Unwrap() send.Connector { return n.Connector }

func (n notingConnector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	n.outside.note("send", message.ID)
	return n.Connector.Send(ctx, message)
}

func (n notingConnector) WrapPort(wanted, _ any) any {
	switch wanted.(type) {
	case *send.BatchSender, *send.Broadcaster, *send.AttachmentUploader, *send.ThreadPasser, *send.Labeler, *send.Tagger,
		*send.ConversationArchiver, *send.MessageUpdater, *livechat.GroupCreator, *livechat.InviteLinker,
		*livechat.GroupIconSetter, *livechat.ChannelCreator:
		return notingPorts{n}
	default:
		return nil
	}
}

// notingPorts are all further ports whose operations have keys.
type notingPorts struct{ notingConnector }

// noting notes what a port of a connector is asked for, and returns the port.
func noting[Port any](ctx context.Context, n notingPorts, what string) Port {
	n.outside.note(what, send.KeyOf(ctx))
	port, _ := send.PortOf[Port](n.Connector)
	return port
}

func (n notingPorts) SendBatch(ctx context.Context, messages []send.Message) (send.Batch, error) {
	return noting[send.BatchSender](ctx, n, "batch").SendBatch(ctx, messages)
}

func (n notingPorts) CreateBroadcast(ctx context.Context, in *channel.Channel, r send.Response) ([]send.StoredMessage, error) {
	return noting[send.Broadcaster](ctx, n, "stored message").CreateBroadcast(ctx, in, r)
}

func (n notingPorts) SendBroadcast(ctx context.Context, in *channel.Channel, b send.Broadcast) (int64, error) {
	return noting[send.Broadcaster](ctx, n, "broadcast").SendBroadcast(ctx, in, b)
}

func (n notingPorts) UploadAttachment(ctx context.Context, in *channel.Channel, kind send.Type, url string) (string, error) {
	return noting[send.AttachmentUploader](ctx, n, "attachment").UploadAttachment(ctx, in, kind, url)
}

func (n notingPorts) PassThreadControl(ctx context.Context, in *channel.Channel, to string, h send.ThreadHandover) error {
	return noting[send.ThreadPasser](ctx, n, "thread").PassThreadControl(ctx, in, to, h)
}

func (n notingPorts) SaveLabel(ctx context.Context, in *channel.Channel, to, labelID string) (int64, error) {
	return noting[send.Labeler](ctx, n, "label").SaveLabel(ctx, in, to, labelID)
}

func (n notingPorts) RemoveLabel(ctx context.Context, in *channel.Channel, to, labelID string) error {
	return noting[send.Labeler](ctx, n, "label off").RemoveLabel(ctx, in, to, labelID)
}

func (n notingPorts) SaveTag(ctx context.Context, in *channel.Channel, to string, tagID int64) (send.TagReply, error) {
	return noting[send.Tagger](ctx, n, "tag").SaveTag(ctx, in, to, tagID)
}

func (n notingPorts) ArchiveConversation(ctx context.Context, in *channel.Channel, id string) error {
	return noting[send.ConversationArchiver](ctx, n, "archive").ArchiveConversation(ctx, in, id)
}

func (n notingPorts) UpdateMessage(ctx context.Context, in *channel.Channel, u send.MessageUpdate) (document.Object, error) {
	return noting[send.MessageUpdater](ctx, n, "update").UpdateMessage(ctx, in, u)
}

func (n notingPorts) CreateGroup(ctx context.Context, in *channel.Channel, g livechat.NewGroup) (livechat.CreatedGroup, error) {
	port, _ := send.PortOf[livechat.GroupCreator](n.Connector)
	n.outside.note("group", g.Key)
	return port.CreateGroup(ctx, in, g)
}

func (n notingPorts) RenewInviteLink(ctx context.Context, in *channel.Channel, group string) (string, error) {
	return noting[livechat.InviteLinker](ctx, n, "link").RenewInviteLink(ctx, in, group)
}

func (n notingPorts) DisableInviteLink(ctx context.Context, in *channel.Channel, group string) error {
	return noting[livechat.InviteLinker](ctx, n, "link off").DisableInviteLink(ctx, in, group)
}

func (n notingPorts) SetGroupIcon(ctx context.Context, in *channel.Channel, group string, icon livechat.Picture) error {
	return noting[livechat.GroupIconSetter](ctx, n, "icon").SetGroupIcon(ctx, in, group, icon)
}

func (n notingPorts) CreateChannel(ctx context.Context, in *channel.Channel, group, name string) (document.Object, error) {
	return noting[livechat.ChannelCreator](ctx, n, "channel").CreateChannel(ctx, in, group, name)
}
