package fakes

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// The forms of Alpha's ids: of messages, and of users within the scope of a page.
const (
	alphaMessage = "m_%06d"
	alphaUser    = "1000000%09d"
)

// alpha is the connector to Alpha, which keeps files, labels and messages to broadcast, and
// where several applications share the conversations of a page.
type alpha struct{ plain }

var (
	_ send.Broadcaster        = alpha{}
	_ send.AttachmentUploader = alpha{}
	_ send.ThreadPasser       = alpha{}
	_ send.Labeler            = alpha{}
)

// onAlpha is what there is on Alpha.
type onAlpha struct {
	attachments []Attachment
	// threads are the conversations that other applications control.
	threads map[address]Thread
	// labels are the labels that there are; labelled are those of members, in the order in
	// which they got them.
	labels   map[labelKey]label
	labelled map[address][]string
	// stored are the messages to broadcast, broadcasts those that were sent.
	stored     []StoredMessage
	broadcasts []Broadcast
}

func (a onAlpha) clone() onAlpha {
	a.attachments, a.stored = slices.Clone(a.attachments), slices.Clone(a.stored)
	a.threads, a.labels, a.labelled = copyOfMap(a.threads), copyOfMap(a.labels), copyOfLists(a.labelled)
	for key, l := range a.labels {
		l.members = slices.Clone(l.members)
		a.labels[key] = l
	}
	a.broadcasts = cloneBroadcasts(a.broadcasts)
	return a
}

// Send implements send.Connector.
func (a alpha) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	return a.deliver(ctx, message, a)
}

// refusal refuses messages in conversations that another application controls, and those
// with a file that Alpha does not have.
func (a alpha) refusal(sent Sent) error {
	if thread, isPassed := a.kept.alpha.threads[address{sent.Channel, sent.To}]; isPassed {
		return boterr.New(boterr.FailedPrecondition, "", "the application %q controls the conversation with %s: "+
			"wait until it has given it back", thread.AppID, sent.To)
	}
	return a.hasAttachment(sent)
}

func (alpha) chatID(sent Sent) string { return "t_" + sent.To }

func (a alpha) messageID(Sent) string { return a.platform.ids.formed(alphaMessage) }

func (a alpha) userID(string) string { return a.platform.ids.formed(alphaUser) }

func (alpha) reply(sent Sent) document.Object {
	return document.O("recipient_id", sent.To, "message_id", sent.MessageID)
}
