package send_test

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// labeler notes the labels that it puts on and takes off.
type labeler struct {
	log []string
	err error
}

func (l *labeler) SaveLabel(_ context.Context, in *channel.Channel, to, labelID string) (int64, error) {
	l.log = append(l.log, fmt.Sprintf("%s/%s + %s", in.ID, to, labelID))
	return 7, l.err
}

func (l *labeler) RemoveLabel(_ context.Context, in *channel.Channel, to, labelID string) error {
	l.log = append(l.log, fmt.Sprintf("%s/%s - %s", in.ID, to, labelID))
	return l.err
}

// able is a connector that has every port. It notes what it is asked, and answers with what
// is set, or err.
type able struct {
	outbox
	labeler

	batch   send.Batch
	batched []send.Message
	stored  []send.StoredMessage
	fileID  string
	tag     send.TagReply
	updated document.Object
	update  send.MessageUpdate
}

func (a *able) SendBatch(_ context.Context, messages []send.Message) (send.Batch, error) {
	a.batched = messages
	return a.batch, a.err
}

func (a *able) CreateBroadcast(_ context.Context, in *channel.Channel, response send.Response) ([]send.StoredMessage, error) {
	a.log = append(a.log, in.ID+" stores "+response.String())
	return a.stored, a.err
}

func (a *able) SendBroadcast(_ context.Context, in *channel.Channel, broadcast send.Broadcast) (int64, error) {
	a.log = append(a.log, fmt.Sprintf("%s sends %s to %s, %s", in.ID, broadcast.MessageID, broadcast.LabelID, broadcast.NotificationType))
	return 11, a.err
}

func (a *able) UploadAttachment(_ context.Context, in *channel.Channel, kind send.Type, url string) (string, error) {
	a.log = append(a.log, fmt.Sprintf("%s takes %s %s", in.ID, kind, url))
	return a.fileID, a.err
}

func (a *able) PassThreadControl(_ context.Context, in *channel.Channel, to string, handover send.ThreadHandover) error {
	a.log = append(a.log, fmt.Sprintf("%s/%s to %q with %q", in.ID, to, handover.TargetAppID, handover.Metadata))
	return a.err
}

func (a *able) SaveTag(_ context.Context, in *channel.Channel, to string, tagID int64) (send.TagReply, error) {
	a.log = append(a.log, fmt.Sprintf("%s/%s # %d", in.ID, to, tagID))
	return a.tag, a.err
}

func (a *able) ArchiveConversation(_ context.Context, in *channel.Channel, conversationID string) error {
	a.log = append(a.log, in.ID+" archives "+conversationID)
	return a.err
}

func (a *able) UpdateMessage(_ context.Context, in *channel.Channel, update send.MessageUpdate) (document.Object, error) {
	a.log = append(a.log, fmt.Sprintf("%s changes %s/%s", in.ID, update.ConversationID, update.MessageID))
	a.update = update
	return a.updated, a.err
}
