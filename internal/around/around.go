// Package around wraps the optional ports of connectors. Wrappers of connectors use it instead of listing the
// ports themselves, so a port that is added to Port works in all of them.
package around

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// Call wraps a call of a port. name is the method, such as "saveLabel"; in is the channel, or nil if the caller gave
// none. It must call do once, with the context for the request to the platform, and return the error for the caller.
type Call func(ctx context.Context, name string, in *channel.Channel, do func(ctx context.Context) error) error

// Port returns a port with call around each of its methods, for send.PortWrapper. wanted and inner are as in
// WrapPort. It returns nil, which leaves inner unwrapped, for send.ResponseFormatter, which makes no requests, and for a
// port that the SDK does not define.
func Port(wanted, inner any, call Call) any {
	switch wanted.(type) {
	case *send.BatchSender:
		return batches{call, as[send.BatchSender](inner)}
	case *send.Broadcaster:
		return broadcasts{call, as[send.Broadcaster](inner)}
	case *send.AttachmentUploader:
		return attachments{call, as[send.AttachmentUploader](inner)}
	case *send.ThreadPasser:
		return threads{call, as[send.ThreadPasser](inner)}
	case *send.Labeler:
		return labels{call, as[send.Labeler](inner)}
	case *send.Tagger:
		return tags{call, as[send.Tagger](inner)}
	case *send.ConversationArchiver:
		return archives{call, as[send.ConversationArchiver](inner)}
	case *send.MessageUpdater:
		return updates{call, as[send.MessageUpdater](inner)}
	default:
		return liveChatPort(wanted, inner, call)
	}
}

// as returns inner as a P. send.PortOf has already checked its type.
func as[P any](inner any) P {
	port, _ := inner.(P)
	return port
}

func ask[R any](
	ctx context.Context, call Call, name string, in *channel.Channel, do func(ctx context.Context) (R, error),
) (answer R, err error) {
	err = call(ctx, name, in, func(ctx context.Context) error {
		var failed error
		answer, failed = do(ctx)
		return failed
	})
	return answer, err
}

// wrapped is a port with call around each of its methods.
type wrapped[P any] struct {
	call  Call
	inner P
}

// The types below wrap the ports of package send.
type (
	batches     wrapped[send.BatchSender]
	broadcasts  wrapped[send.Broadcaster]
	attachments wrapped[send.AttachmentUploader]
	threads     wrapped[send.ThreadPasser]
	labels      wrapped[send.Labeler]
	tags        wrapped[send.Tagger]
	archives    wrapped[send.ConversationArchiver]
	updates     wrapped[send.MessageUpdater]
)

func (b batches) SendBatch(ctx context.Context, messages []send.Message) (send.Batch, error) {
	var in *channel.Channel
	if len(messages) > 0 {
		in = messages[0].Channel
	}
	return ask(ctx, b.call, "sendBatch", in, func(ctx context.Context) (send.Batch, error) {
		return b.inner.SendBatch(ctx, messages)
	})
}

func (b broadcasts) CreateBroadcast(
	ctx context.Context, in *channel.Channel, response send.Response,
) ([]send.StoredMessage, error) {
	return ask(ctx, b.call, "createBroadcast", in, func(ctx context.Context) ([]send.StoredMessage, error) {
		return b.inner.CreateBroadcast(ctx, in, response)
	})
}

func (b broadcasts) SendBroadcast(ctx context.Context, in *channel.Channel, broadcast send.Broadcast) (int64, error) {
	return ask(ctx, b.call, "sendBroadcast", in, func(ctx context.Context) (int64, error) {
		return b.inner.SendBroadcast(ctx, in, broadcast)
	})
}

func (a attachments) UploadAttachment(
	ctx context.Context, in *channel.Channel, kind send.Type, url string,
) (string, error) {
	return ask(ctx, a.call, "uploadAttachment", in, func(ctx context.Context) (string, error) {
		return a.inner.UploadAttachment(ctx, in, kind, url)
	})
}

func (t threads) PassThreadControl(
	ctx context.Context, in *channel.Channel, to string, handover send.ThreadHandover,
) error {
	return t.call(ctx, "passThreadControl", in, func(ctx context.Context) error {
		return t.inner.PassThreadControl(ctx, in, to, handover)
	})
}

func (l labels) SaveLabel(ctx context.Context, in *channel.Channel, to, labelID string) (int64, error) {
	return ask(ctx, l.call, "saveLabel", in, func(ctx context.Context) (int64, error) {
		return l.inner.SaveLabel(ctx, in, to, labelID)
	})
}

func (l labels) RemoveLabel(ctx context.Context, in *channel.Channel, to, labelID string) error {
	return l.call(ctx, "removeLabel", in, func(ctx context.Context) error {
		return l.inner.RemoveLabel(ctx, in, to, labelID)
	})
}

func (t tags) SaveTag(ctx context.Context, in *channel.Channel, to string, tagID int64) (send.TagReply, error) {
	return ask(ctx, t.call, "saveTag", in, func(ctx context.Context) (send.TagReply, error) {
		return t.inner.SaveTag(ctx, in, to, tagID)
	})
}

func (a archives) ArchiveConversation(ctx context.Context, in *channel.Channel, conversationID string) error {
	return a.call(ctx, "archiveConversation", in, func(ctx context.Context) error {
		return a.inner.ArchiveConversation(ctx, in, conversationID)
	})
}

func (u updates) UpdateMessage(
	ctx context.Context, in *channel.Channel, update send.MessageUpdate,
) (document.Object, error) {
	return ask(ctx, u.call, "updateMessage", in, func(ctx context.Context) (document.Object, error) {
		return u.inner.UpdateMessage(ctx, in, update)
	})
}
