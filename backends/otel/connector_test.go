package otel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// everything is a connector that has every port, and fails in each with its error.
type everything struct{ err error }

func (e everything) Send(context.Context, send.Message) (send.Delivery, error) {
	return send.Delivery{}, e.err
}

func (e everything) SendBatch(context.Context, []send.Message) (send.Batch, error) {
	return send.Batch{}, e.err
}

func (e everything) CreateBroadcast(context.Context, *channel.Channel, send.Response) ([]send.StoredMessage, error) {
	return nil, e.err
}

func (e everything) SendBroadcast(context.Context, *channel.Channel, send.Broadcast) (int64, error) {
	return 0, e.err
}

func (e everything) UploadAttachment(context.Context, *channel.Channel, send.Type, string) (string, error) {
	return "", e.err
}

func (e everything) PassThreadControl(context.Context, *channel.Channel, string, send.ThreadHandover) error {
	return e.err
}

func (e everything) SaveLabel(context.Context, *channel.Channel, string, string) (int64, error) {
	return 0, e.err
}

func (e everything) RemoveLabel(context.Context, *channel.Channel, string, string) error {
	return e.err
}

func (e everything) SaveTag(context.Context, *channel.Channel, string, int64) (send.TagReply, error) {
	return send.TagReply{}, e.err
}

func (e everything) ArchiveConversation(context.Context, *channel.Channel, string) error {
	return e.err
}

func (e everything) UpdateMessage(context.Context, *channel.Channel, send.MessageUpdate) (document.Object, error) {
	return document.Object{}, e.err
}

func (e everything) CreateGroup(context.Context, *channel.Channel, livechat.NewGroup) (livechat.CreatedGroup, error) {
	return livechat.CreatedGroup{}, e.err
}

func (e everything) RenewInviteLink(context.Context, *channel.Channel, string) (string, error) {
	return "", e.err
}

func (e everything) DisableInviteLink(context.Context, *channel.Channel, string) error { return e.err }

func (e everything) GroupName(context.Context, *channel.Channel, string) (string, error) {
	return "", e.err
}

func (e everything) SetGroupIcon(context.Context, *channel.Channel, string, livechat.Picture) error {
	return e.err
}

func (e everything) ShowTaken(context.Context, *channel.Channel, livechat.Ticket, string) error {
	return e.err
}

func (e everything) RecallTicket(context.Context, *channel.Channel, livechat.Ticket) error {
	return e.err
}

func (e everything) CreateChannel(context.Context, *channel.Channel, string, string) (document.Object, error) {
	return document.Object{}, e.err
}

// port returns a port of a connector, nil where it has none.
func port[Port any](connector send.Connector) Port {
	found, _ := send.PortOf[Port](connector)
	return found
}

// second returns the error of a call that answers something else, too.
func second[R any](_ R, err error) error { return err }

func TestConnector_ReportsEachPort(t *testing.T) {
	t.Parallel()
	in := &channel.Channel{ID: "c1", App: "shop"}
	for name, call := range map[string]func(context.Context, send.Connector) error{
		"createBroadcast": func(ctx context.Context, c send.Connector) error {
			return second(port[send.Broadcaster](c).CreateBroadcast(ctx, in, send.Text("hi")))
		},
		"sendBroadcast": func(ctx context.Context, c send.Connector) error {
			return second(port[send.Broadcaster](c).SendBroadcast(ctx, in, send.Broadcast{}))
		},
		"uploadAttachment": func(ctx context.Context, c send.Connector) error {
			return second(port[send.AttachmentUploader](c).UploadAttachment(ctx, in, send.TypeImage, "https://shop.example"))
		},
		"passThreadControl": func(ctx context.Context, c send.Connector) error {
			return port[send.ThreadPasser](c).PassThreadControl(ctx, in, "ada", send.ThreadHandover{})
		},
		"saveLabel": func(ctx context.Context, c send.Connector) error {
			return second(port[send.Labeler](c).SaveLabel(ctx, in, "ada", "l"))
		},
		"removeLabel": func(ctx context.Context, c send.Connector) error {
			return port[send.Labeler](c).RemoveLabel(ctx, in, "ada", "l")
		},
		"saveTag": func(ctx context.Context, c send.Connector) error {
			return second(port[send.Tagger](c).SaveTag(ctx, in, "ada", 1))
		},
		"archiveConversation": func(ctx context.Context, c send.Connector) error {
			return port[send.ConversationArchiver](c).ArchiveConversation(ctx, in, "x")
		},
		"updateMessage": func(ctx context.Context, c send.Connector) error {
			return second(port[send.MessageUpdater](c).UpdateMessage(ctx, in, send.MessageUpdate{}))
		},
		"createGroup": func(ctx context.Context, c send.Connector) error {
			return second(port[livechat.GroupCreator](c).CreateGroup(ctx, in, livechat.NewGroup{}))
		},
		"renewInviteLink": func(ctx context.Context, c send.Connector) error {
			return second(port[livechat.InviteLinker](c).RenewInviteLink(ctx, in, "g"))
		},
		"disableInviteLink": func(ctx context.Context, c send.Connector) error {
			return port[livechat.InviteLinker](c).DisableInviteLink(ctx, in, "g")
		},
		"groupName": func(ctx context.Context, c send.Connector) error {
			return second(port[livechat.GroupNamer](c).GroupName(ctx, in, "g"))
		},
		"setGroupIcon": func(ctx context.Context, c send.Connector) error {
			return port[livechat.GroupIconSetter](c).SetGroupIcon(ctx, in, "g", livechat.Picture{})
		},
		"showTaken": func(ctx context.Context, c send.Connector) error {
			return port[livechat.TicketUpdater](c).ShowTaken(ctx, in, livechat.Ticket{}, "taken")
		},
		"recallTicket": func(ctx context.Context, c send.Connector) error {
			return port[livechat.TicketRecaller](c).RecallTicket(ctx, in, livechat.Ticket{})
		},
		"createChannel": func(ctx context.Context, c send.Connector) error {
			return second(port[livechat.ChannelCreator](c).CreateChannel(ctx, in, "g", "name"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			failure := errors.New("no answer")
			for _, want := range []error{nil, failure} {
				connector := w.o.Connectors(map[channel.Type]send.Connector{channel.Alpha: everything{want}})[channel.Alpha]
				require.Equal(t, want, call(t.Context(), connector), "the answer is that of the platform")
			}
			attributes := "messaging.destination.name=c1 messaging.operation.name=" + name + " messaging.system=alpha\n"
			require.Equal(t, name+" alpha (client) botctx.app.id=shop "+attributes+
				name+" alpha (client) Error Unavailable botctx.app.id=shop error.type=Unavailable "+attributes, w.tree())
			measured := " messaging.operation.name=" + name + " messaging.system=alpha: 1, 0s"
			require.Equal(t, []string{
				"messaging.client.operation.duration error.type=Unavailable" + measured, "messaging.client.operation.duration" + measured,
			}, named(w.points(), "messaging."), "which are no messages that are sent")
		})
	}
}

func TestConnector_PortsOfInner(t *testing.T) {
	t.Parallel()
	all := newWorld(t).o.Connectors(map[channel.Type]send.Connector{channel.Webchat: &platform{}, channel.Alpha: nil})
	_, ok := send.PortOf[send.Labeler](all[channel.Webchat])
	require.True(t, ok)
	_, ok = send.PortOf[send.Tagger](all[channel.Webchat])
	require.False(t, ok)
	own, ok := send.PortOf[interface{ answers(err error) }](all[channel.Webchat])
	require.True(t, ok, "a port that only the host knows")
	require.IsType(t, &platform{}, own)
	require.Nil(t, all[channel.Alpha], "a platform without a connector")
}

func TestConnector_CountsBatchOneByOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := &channel.Channel{ID: "c1", App: "shop"}
	for _, inner := range []send.Connector{&platform{}, everything{}, everything{boterr.New(boterr.NotFound, "", "no such channel")}} {
		sender := port[send.BatchSender](w.o.Connectors(map[channel.Type]send.Connector{channel.Delta: inner})[channel.Delta])
		_, _ = sender.SendBatch(t.Context(), []send.Message{{Channel: in}, {Channel: in}, {Channel: in}})
	}
	attributes := "messaging.batch.message_count=3 messaging.destination.name=c1 messaging.operation.name=sendBatch messaging.operation.type=send messaging.system=delta\n"
	span := "sendBatch delta (producer) botctx.app.id=shop "
	require.Equal(t, span+attributes+span+attributes+span+"error.type=NotFound "+attributes, w.tree())
	of := "messaging.operation.name=sendBatch messaging.operation.type=send messaging.system=delta: "
	require.Equal(t, []string{
		"messaging.client.sent.messages error.type=NotFound " + of + "3",
		"messaging.client.sent.messages error.type=Unavailable " + of + "1",
		"messaging.client.sent.messages " + of + "5",
	}, named(w.points(), "messaging.client.sent"))
}
