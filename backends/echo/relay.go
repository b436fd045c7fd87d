package echo

import (
	"context"
	"errors"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// maxParts is the largest number of messages that a relayed message becomes. The platform accepts no more after
// a member's message.
const maxParts = 5

// fileTypes maps the types of attachments in events to types of messages.
var fileTypes = map[string]send.Type{"image": send.TypeImage, "audio": send.TypeAudio, "video": send.TypeVideo}

// relayedOf converts a message of another channel, which looks like an event. The result is a message for its
// text and one for each attachment. Files with an address are uploaded. An attachment_id is only valid in the
// channel that received the file, so it is only used if there is no address.
func (c *Connector) relayedOf(ctx context.Context, from account, response send.Response) ([]shown, error) {
	attachments := objects(response, "attachments")
	var parts []shown
	if text := response.Text(); text != "" {
		part, err := textOf(literal(text), text)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	switch n := len(parts) + len(attachments); {
	case n == 0:
		return nil, boterr.New(boterr.Unsupported, "type",
			"on channels of type echo, a message of type %s needs text or attachments, and this one has neither: "+
				"send another type, or give message, an object in the platform's format", response.Type())
	case n > maxParts:
		return nil, boterr.Invalid("attachments", "and the text make %d messages on echo; the limit is %d: send fewer", n, maxParts)
	}
	for i, attachment := range attachments {
		part, err := c.attachmentOf(ctx, from, attachment)
		if err != nil {
			return nil, boterr.PrefixField("attachments["+strconv.Itoa(i)+"]", err)
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// attachmentOf converts an attachment to the platform's form. Errors have the path of the faulty field in the
// attachment.
func (c *Connector) attachmentOf(ctx context.Context, from account, attachment document.Object) (shown, error) {
	payload := document.Get(attachment, "payload", document.Object{})
	if at := document.Get(payload, "coordinates", document.Object{}); !at.IsZero() {
		place := coordinate(at, "lat") + ", " + coordinate(at, "long")
		return textOf(place, place)
	}
	name := document.Get(attachment, "type", "")
	kind, isShown := fileTypes[name]
	if !isShown {
		return shown{}, boterr.New(boterr.Unsupported, "type",
			"channels of type echo cannot show attachments of type %.40q: send a picture, a recording, a video or a text", name)
	}
	file := send.Other(kind, document.O("url", document.Get(payload, "url", "")))
	if id := document.Get(payload, "attachment_id", ""); id != "" && document.Get(payload, "url", "") == "" {
		file = send.Attachment(kind, id)
	}
	part, err := c.fileOf(ctx, from, file)
	return part, boterr.PrefixField("payload", err)
}

func coordinate(at document.Object, name string) string {
	return strconv.FormatFloat(document.Get(at, name, 0.0), 'f', -1, 64)
}

// afterParts returns the error for a message whose first parts the platform accepted. It has no wait, so
// send.Limited does not send the message again and repeat these parts.
func afterParts(err error, taken, of int) error {
	if _, isLimit := errors.AsType[*send.RetryAfterError](err); isLimit && taken > 0 {
		return boterr.New(boterr.ResourceExhausted, "",
			"the platform accepted %d of the %d parts of the message, then limited the rate: send fewer parts", taken, of)
	}
	return err
}
