package charlie

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// The methods of the API for messages.
const (
	methodPost   = "chat.postMessage"
	methodUpdate = "chat.update"
	methodDelete = "chat.delete"
)

// The fields of requests and replies.
const (
	fieldChannel     = "channel"
	fieldTS          = "ts"
	fieldThread      = "thread_ts"
	fieldText        = "text"
	fieldBlocks      = "blocks"
	fieldAttachments = "attachments"
	fieldPayload     = "payload"
)

// Send implements send.Connector. The recipient is a user, who gets the message from the bot
// directly, or a conversation.
//
// A text keeps to its type; files are pictures or links; quick replies and buttons are
// buttons, of which quick replies stay in sight after a tap; a carousel is a list of cards.
// Other types are Unsupported unless they have blocks or attachments, which go to the tool
// as they are. The tool has no way to show that a bot is typing: such a message counts as
// delivered and nothing is sent.
//
// The tool has no place for the message's ID by which it would drop a repetition: what was under way
// when a process died, and what the run of an agenda sends again, may be there twice. What the run of an
// accepted event has sent is not sent again, see botctx.Runtime.Accept.
//
// Any message may have the fields thread_ts, reply_broadcast, unfurl_links, unfurl_media,
// username, icon_url, icon_emoji and metadata of the tool's own.
func (c *Connector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	if message.Response.Type() == send.TypeTyping {
		return send.Delivery{Reply: document.O("ok", true, fieldChannel, message.To)}, ctx.Err()
	}
	form, err := formOf(message.Response)
	if err != nil {
		return send.Delivery{}, err
	}
	form.Set(fieldChannel, message.To)
	reply, err := c.post(ctx, message.Channel, methodPost, form)
	if err != nil {
		return send.Delivery{}, located(err, message.Response)
	}
	ts := document.Get(reply, fieldTS, "")
	return send.Delivery{
		Reply:     reply,
		MessageID: ts,
		ChatID:    document.Get(reply, fieldChannel, message.To),
		From:      document.Get(reply, "message.user", botOf(message.Channel)),
		Timestamp: millisecondsOf(ts),
	}, nil
}

// botOf returns the id of a channel's bot, "" where it is not known.
func botOf(in *channel.Channel) string {
	info, _ := in.Info.(channel.CharlieInfo)
	return info.BotID
}

// millisecondsOf returns the time that the id of a message tells: seconds with a fraction.
// It is zero for an id that tells none.
func millisecondsOf(ts string) document.Timestamp {
	whole, fraction, _ := strings.Cut(ts, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || seconds < 0 || seconds > 1<<40 {
		return 0
	}
	milliseconds, err := strconv.ParseInt((fraction + "000")[:3], 10, 64)
	if err != nil || milliseconds < 0 {
		milliseconds = 0
	}
	return document.Timestamp(seconds*1000 + milliseconds)
}

// located gives an error about what a message holds the path in the response.
func located(err error, response send.Response) error {
	found, ok := errors.AsType[*rejection](err)
	if !ok || !errors.Is(err, boterr.InvalidArgument) {
		return err
	}
	if _, isRaw := response.Lookup(fieldBlocks); isRaw && strings.Contains(found.word, "block") {
		return boterr.PrefixField(blockPath(found.details), err)
	}
	switch found.word {
	case "msg_too_long", "no_text":
		return boterr.PrefixField(fieldText, err)
	case "invalid_attachment", "too_many_attachments":
		return boterr.PrefixField(fieldAttachments, err)
	default:
		return err
	}
}

// blockPath returns the path of the block that the tool points at, such as
// "blocks[0].text", or that of all blocks.
func blockPath(details []string) string {
	for _, detail := range details {
		_, pointer, found := strings.Cut(detail, "[json-pointer:/")
		if !found {
			continue
		}
		pointer, _, _ = strings.Cut(pointer, "]")
		var path strings.Builder
		for i, part := range strings.Split(pointer, "/") {
			switch _, err := strconv.Atoi(part); {
			case err == nil:
				path.WriteString("[" + part + "]")
			case i > 0:
				path.WriteString("." + part)
			default:
				path.WriteString(part)
			}
		}
		return path.String()
	}
	return fieldBlocks
}
