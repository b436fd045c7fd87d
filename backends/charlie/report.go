package charlie

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// report is a request of the tool.
type report struct{ body document.Object }

// firstText returns the first of some paths at which there is a text.
func firstText(from document.Object, paths ...string) string {
	for _, path := range paths {
		if text := document.Get(from, path, ""); text != "" {
			return text
		}
	}
	return ""
}

// arrivals returns the message events of a report to a channel: none where it is about
// something else.
func (r report) arrivals(in *channel.Channel) []botctx.Inbound {
	switch document.Get(r.body, "type", "") {
	case "event_callback":
		return r.message(in)
	case "block_actions", "interactive_message":
		return r.taps()
	default:
		return nil
	}
}

// message returns the event of what a member wrote.
func (r report) message(in *channel.Channel) []botctx.Inbound {
	told := document.Get(r.body, "event", document.Object{})
	if !isWritten(told, r.botIDs(in)) {
		return nil
	}
	ts := document.Get(told, "ts", "")
	event := send.MessageEvent{
		From: document.Get(told, "user", ""), To: document.Get(told, fieldChannel, ""),
		Type: send.TypeText, Timestamp: millisecondsOf(ts), MessageID: ts,
	}
	text := plainText(withoutMention(document.Get(told, fieldText, ""), r.botIDs(in)))
	event.Data = document.O(fieldText, text)
	if files := objectsOf(told, "files"); len(files) > 0 {
		event.Type, event.Data = send.TypeMisc, filesOf(files, text)
	}
	if event.From == "" || event.To == "" {
		return nil
	}
	// The tool reports a mention as a message as well, each under an id of its own.
	return []botctx.Inbound{{Event: event, Key: "message " + event.To + " " + ts}}
}

// isWritten reports whether an event is a message that a person wrote.
func isWritten(told document.Object, bots []string) bool {
	switch document.Get(told, "type", "") {
	case "message", "app_mention":
	default:
		return false
	}
	switch document.Get(told, "subtype", "") {
	case "", "file_share", "me_message", "thread_broadcast":
	default:
		return false
	}
	isOwn := slices.Contains(bots, document.Get(told, "user", ""))
	return !isOwn && document.Get(told, "bot_id", "") == ""
}

// botIDs returns the ids that the bot of a channel is known by.
func (r report) botIDs(in *channel.Channel) []string {
	var ids []string
	if id := botOf(in); id != "" {
		ids = append(ids, id)
	}
	for _, authorization := range objectsOf(r.body, "authorizations") {
		if id := document.Get(authorization, "user_id", ""); id != "" && document.Get(authorization, "is_bot", false) {
			ids = append(ids, id)
		}
	}
	return ids
}

// filesOf returns the data of a message with files.
func filesOf(files []document.Object, text string) document.Object {
	attachments := document.A()
	for _, file := range files {
		kind, _, _ := strings.Cut(document.Get(file, "mimetype", ""), "/")
		switch kind {
		case "image", "audio", "video":
		default:
			kind = "file"
		}
		attachments = attachments.Append(document.O(
			"type", kind,
			"payload", document.O(
				"url", firstText(file, "url_private_download", "url_private", "permalink"),
				"attachment_id", document.Get(file, "id", ""),
			),
			"title", firstText(file, "title", "name"),
		))
	}
	data := document.O(fieldAttachments, attachments)
	if text != "" {
		data = data.With(fieldText, text)
	}
	return data
}

// taps returns the events of what a user tapped on. A tap on something without a value, such as a
// button that opens an address, gives none.
func (r report) taps() []botctx.Inbound {
	to := firstText(r.body, "channel.id", "container.channel_id")
	from := document.Get(r.body, "user.id", "")
	if from == "" || to == "" {
		return nil
	}
	var taps []botctx.Inbound
	for _, action := range objectsOf(r.body, "actions") {
		value := firstText(action, "value", "selected_option.value", "selected_options.0.value")
		if value == "" {
			continue
		}
		at := firstText(action, "action_ts")
		if at == "" {
			at = document.Get(r.body, "action_ts", "")
		}
		event := send.MessageEvent{
			From: from, To: to, Type: send.TypePayload, Data: document.O("payload", payloadOf(value)),
			Timestamp: millisecondsOf(at),
			MessageID: firstText(r.body, "message.ts", "container.message_ts", "message_ts"),
		}
		if address := document.Get(r.body, "response_url", ""); address != "" {
			event.Unknown = document.O("responseUrl", address)
		}
		id := document.Get(action, "block_id", "") + " " + firstText(action, "action_id", "name")
		taps = append(taps, botctx.Inbound{Event: event, Key: "tap " + strings.Join([]string{to, from, at, id}, " ")})
	}
	return taps
}
