package charlie

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// report is a request of the tool to a channel.
type report struct {
	body document.Object
	in   *channel.Channel
}

// firstText returns the first of some paths at which there is a text.
func firstText(from document.Object, paths ...string) string {
	for _, path := range paths {
		if text := document.Get(from, path, ""); text != "" {
			return text
		}
	}
	return ""
}

// arrivals returns the events of a report that the bot gets. If there are none, it returns what is dropped.
func (r report) arrivals() ([]botctx.Inbound, *send.Drop) {
	switch kind := document.Get(r.body, "type", ""); kind {
	case "event_callback":
		return r.message()
	case "block_actions", "interactive_message":
		return r.taps(kind)
	case "block_suggestion", "dialog_suggestion": // They ask for options, which an answer would have to hold.
		return r.dropped(kind, send.DropUnsupported)
	default:
		return r.interaction(kind)
	}
}

// dropped returns that a report of some kind is dropped.
func (r report) dropped(kind string, reason send.DropReason) ([]botctx.Inbound, *send.Drop) {
	return nil, &send.Drop{Platform: channel.Charlie, App: r.in.App, Channel: r.in.ID, Kind: kind, Reason: reason}
}

// message returns the event of what a member wrote. Other events than messages are dropped.
func (r report) message() ([]botctx.Inbound, *send.Drop) {
	told := document.Get(r.body, "event", document.Object{})
	kind := firstText(told, "subtype", "type")
	switch {
	case !isMessage(told):
		return r.dropped(kind, send.DropUnsupported)
	case r.isByBot(told):
		return r.dropped(kind, send.DropFromBot)
	}
	ts := document.Get(told, fieldTS, "")
	event := send.MessageEvent{
		From: document.Get(told, "user", ""), To: document.Get(told, fieldChannel, ""),
		Type: send.TypeText, Timestamp: millisecondsOf(ts), MessageID: ts,
	}
	if event.From == "" || event.To == "" {
		return r.dropped(kind, send.DropIncomplete)
	}
	text := plainText(withoutMention(document.Get(told, fieldText, ""), r.botIDs()))
	event.Data = document.O(fieldText, text)
	switch files := objectsOf(told, "files"); {
	case len(files) > 0:
		event.Type, event.Data = send.TypeMisc, filesOf(files, text)
	case document.Get(told, fieldText, "") == "": // It has other parts, such as a message that was shared.
		event.Type, event.Data = send.TypeMisc, document.O("event", told)
	}
	event.Data = inThread(event.Data, document.Get(told, fieldThread, ""), ts)
	// The tool reports a mention as a message as well, each under an id of its own.
	return []botctx.Inbound{{Event: event, Key: "message " + event.To + " " + ts}}, nil
}

// inThread returns the data of an event with the thread that it belongs to, if any. A message that others have
// answered in a thread is not in that thread itself.
func inThread(data document.Object, thread, ts string) document.Object {
	if thread == "" || thread == ts {
		return data
	}
	return data.With(fieldThread, thread)
}

// isMessage reports whether an event is a new message that somebody wrote.
func isMessage(told document.Object) bool {
	switch document.Get(told, "type", "") {
	case "message", "app_mention":
	default:
		return false
	}
	switch document.Get(told, "subtype", "") {
	case "", "file_share", "me_message", "thread_broadcast", "bot_message":
		return true
	default:
		return false
	}
}

// isByBot reports whether a bot wrote a message.
func (r report) isByBot(told document.Object) bool {
	return document.Get(told, "subtype", "") == "bot_message" || document.Get(told, "bot_id", "") != "" ||
		slices.Contains(r.botIDs(), document.Get(told, "user", ""))
}

// botIDs returns the ids that the bot of the channel is known by.
func (r report) botIDs() []string {
	var ids []string
	if id := botOf(r.in); id != "" {
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
