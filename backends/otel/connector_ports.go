package otel

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// WrapPort implements send.PortWrapper.
func (c *connector) WrapPort(wanted, inner any) any {
	switch wanted.(type) {
	case *send.BatchSender:
		return batches{c, as[send.BatchSender](inner)}
	case *send.Broadcaster:
		return broadcasts{c, as[send.Broadcaster](inner)}
	case *send.AttachmentUploader:
		return attachments{c, as[send.AttachmentUploader](inner)}
	case *send.ThreadPasser:
		return threads{c, as[send.ThreadPasser](inner)}
	case *send.Labeler:
		return labels{c, as[send.Labeler](inner)}
	case *send.Tagger:
		return tags{c, as[send.Tagger](inner)}
	case *send.ConversationArchiver:
		return archives{c, as[send.ConversationArchiver](inner)}
	case *send.MessageUpdater:
		return updates{c, as[send.MessageUpdater](inner)}
	default:
		return c.wrapLiveChatPort(wanted, inner)
	}
}

// as returns a port of the inner connector as what PortOf has found it to be.
func as[Port any](inner any) Port {
	port, _ := inner.(Port)
	return port
}

// The types below are ports of connectors that are reported of.
type (
	broadcasts struct {
		c     *connector
		inner send.Broadcaster
	}
	attachments struct {
		c     *connector
		inner send.AttachmentUploader
	}
	threads struct {
		c     *connector
		inner send.ThreadPasser
	}
	labels struct {
		c     *connector
		inner send.Labeler
	}
	tags struct {
		c     *connector
		inner send.Tagger
	}
	archives struct {
		c     *connector
		inner send.ConversationArchiver
	}
	updates struct {
		c     *connector
		inner send.MessageUpdater
	}
)

// CreateBroadcast implements send.Broadcaster.
func (b broadcasts) CreateBroadcast(
	ctx context.Context, in *channel.Channel, response send.Response,
) ([]send.StoredMessage, error) {
	return ask(ctx, b.c, "createBroadcast", in, func(ctx context.Context) ([]send.StoredMessage, error) {
		return b.inner.CreateBroadcast(ctx, in, response)
	})
}

// SendBroadcast implements send.Broadcaster.
func (b broadcasts) SendBroadcast(ctx context.Context, in *channel.Channel, broadcast send.Broadcast) (int64, error) {
	return ask(ctx, b.c, "sendBroadcast", in, func(ctx context.Context) (int64, error) {
		return b.inner.SendBroadcast(ctx, in, broadcast)
	})
}

// UploadAttachment implements send.AttachmentUploader.
func (a attachments) UploadAttachment(
	ctx context.Context, in *channel.Channel, kind send.Type, url string,
) (string, error) {
	return ask(ctx, a.c, "uploadAttachment", in, func(ctx context.Context) (string, error) {
		return a.inner.UploadAttachment(ctx, in, kind, url)
	})
}

// PassThreadControl implements send.ThreadPasser.
func (t threads) PassThreadControl(
	ctx context.Context, in *channel.Channel, to string, handover send.ThreadHandover,
) error {
	return do(ctx, t.c, "passThreadControl", in, func(ctx context.Context) error {
		return t.inner.PassThreadControl(ctx, in, to, handover)
	})
}

// SaveLabel implements send.Labeler.
func (l labels) SaveLabel(ctx context.Context, in *channel.Channel, to, labelID string) (int64, error) {
	return ask(ctx, l.c, "saveLabel", in, func(ctx context.Context) (int64, error) {
		return l.inner.SaveLabel(ctx, in, to, labelID)
	})
}

// RemoveLabel implements send.Labeler.
func (l labels) RemoveLabel(ctx context.Context, in *channel.Channel, to, labelID string) error {
	return do(ctx, l.c, "removeLabel", in, func(ctx context.Context) error {
		return l.inner.RemoveLabel(ctx, in, to, labelID)
	})
}

// SaveTag implements send.Tagger.
func (t tags) SaveTag(ctx context.Context, in *channel.Channel, to string, tagID int64) (send.TagReply, error) {
	return ask(ctx, t.c, "saveTag", in, func(ctx context.Context) (send.TagReply, error) {
		return t.inner.SaveTag(ctx, in, to, tagID)
	})
}

// ArchiveConversation implements send.ConversationArchiver.
func (a archives) ArchiveConversation(ctx context.Context, in *channel.Channel, conversationID string) error {
	return do(ctx, a.c, "archiveConversation", in, func(ctx context.Context) error {
		return a.inner.ArchiveConversation(ctx, in, conversationID)
	})
}

// UpdateMessage implements send.MessageUpdater.
func (u updates) UpdateMessage(
	ctx context.Context, in *channel.Channel, update send.MessageUpdate,
) (document.Object, error) {
	return ask(ctx, u.c, "updateMessage", in, func(ctx context.Context) (document.Object, error) {
		return u.inner.UpdateMessage(ctx, in, update)
	})
}
