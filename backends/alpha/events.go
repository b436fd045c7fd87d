package alpha

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/graph"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/internal/taps"
	"github.com/botctx/go-sdk/send"
)

// Handler answers the platform's check of its address (GET) and accepts its reports (POST). It checks the
// signature of each report, passes the events to accept one after the other, and answers after the last.
//
// Pass the method Accept of a botctx.Runtime as accept. It stores the event, uses Inbound.Key to recognise an
// event that the platform sends again, and runs the events of each sender in the order in which they were
// accepted. One report may contain events of several pages, even of several apps. If one of them cannot be
// accepted now, the answer is the status of botctx.HTTPStatus, and the platform sends the whole report again.
// Meanwhile events of other senders are accepted, and later events of the same sender wait. An event that can
// never be accepted is dropped.
//
// From is the member's id for the page, and To is the page's id. The types of events are:
//
//   - TEXT: a text. If it has a link, the platform's previews of the link are in previews.
//   - MISC: a message with attachments, or any other action of a member, with the platform's own object, such as
//     reaction or pass_thread_control.
//   - PAYLOAD: a tap on a quick reply or a button. If a link starts a conversation with a tap, the data has a field
//     referral.
//   - REFERRAL: an arrival by a link.
//   - OPTIN: a consent.
//   - COMMENT: a new comment on a post of the page, with text, post_id, comment_id and from.
//   - DELIVERY, READ: messages to the member arrived or were read, up to the time in watermark.
//   - ECHO: a message that a person or another application sent for the page. From is the page, and To the member.
//
// Subscribe only to the events that the bot handles. An event of any type runs the bot. A bot that answers every
// event without checking its type also answers each DELIVERY, and its answer causes the next one.
//
// Everything else is dropped and counted in Config.Drops: messages of the host's application (Config.AppID);
// standby, which is a member's message while another application has the conversation; changes in the feed other
// than new comments, and comments by the page; events for pages without a channel; and events without a sender.
//
// Handler answers 401 to a report that is not signed by the application of its channels, 403 to a check with a
// wrong verify token, and 503 if a channel cannot be looked up now. It answers 400, 405 or 413 to requests that
// the platform does not send, and 408 to a request that arrives too slowly.
func (c *Connector) Handler(accept func(ctx context.Context, inbound botctx.Inbound) error) http.Handler {
	return &graph.Webhook{
		Receiver: inbound.Receiver{
			Platform: channel.Alpha, Accept: accept, OnError: c.config.OnError, Drops: c.config.Drops, BodyTime: c.config.BodyTime,
		},
		Object: "page", FirstAccount: "entry.0.id",
		Parcels: parcels, Events: c.events,
		FindChannel: c.config.FindChannel, OwnSecret: ownSecret,
		AppSecret: c.config.AppSecret, VerifyToken: c.config.VerifyToken,
	}
}

// parcels splits a report into its entries. Each entry belongs to one page.
func parcels(report document.Object) []graph.Parcel {
	var all []graph.Parcel
	for _, entry := range pieces.Objects(report, "entry") {
		all = append(all, graph.Parcel{Account: document.Get(entry, "id", ""), Kind: "entry", Content: entry})
	}
	return all
}

func (c *Connector) events(in *channel.Channel, entry graph.Parcel) []inbound.Event {
	var all []inbound.Event
	for _, item := range pieces.Objects(entry.Content, "messaging") {
		all = append(all, reported{item, entry.Account, c.appIDOf(in)}.event())
	}
	for range pieces.Objects(entry.Content, "standby") {
		all = append(all, inbound.Event{Kind: "standby", Drop: send.DropUnsupported})
	}
	for _, change := range pieces.Objects(entry.Content, "changes") {
		all = append(all, changed(change, entry.Account))
	}
	if len(all) == 0 {
		all = append(all, inbound.Event{Kind: entry.Kind, Drop: send.DropIncomplete})
	}
	return all
}

// appIDOf returns the id of the application that sends for a channel, or "" if it is unknown.
func (c *Connector) appIDOf(in *channel.Channel) string {
	if info, _ := in.Info.(channel.AlphaInfo); info.CustomApp {
		return document.Get(info.Unknown.Reveal(), "appId", "")
	}
	return c.config.AppID
}

// reported is one item of an entry's conversations.
type reported struct {
	item  document.Object
	page  string
	appID string
}

func (r reported) event() inbound.Event {
	kind := r.kind()
	event := send.MessageEvent{
		From: document.Get(r.item, "sender.id", ""), To: cmp.Or(document.Get(r.item, "recipient.id", ""), r.page),
		Timestamp: milliseconds(r.item),
	}
	content := document.Get(r.item, kind, document.Object{})
	key := ""
	switch kind {
	case "message":
		event.MessageID = document.Get(content, "mid", "")
		if document.Get(content, "is_echo", false) {
			return r.echo(event, content)
		}
		event.Type, event.Data = written(content)
	case "postback":
		event.MessageID = document.Get(content, "mid", "")
		event.Type, event.Data = send.TypePayload, withPayload(content.Without("mid"), "payload")
	case "optin":
		event.Type, event.Data = send.TypeOptIn, content
		if reference := document.Get(content, "user_ref", ""); event.From == "" && reference != "" {
			event.From = userRef + reference
		}
	case "referral":
		event.Type, event.Data = send.TypeReferral, content
	case "delivery":
		event.Type, event.Data = send.TypeDelivery, content
		key = fmt.Sprintf("delivery %v %v", field(content, "watermark"), field(content, "mids"))
	case "read":
		event.Type, event.Data = send.TypeRead, content
		key = fmt.Sprintf("read %v", field(content, "watermark"))
	default:
		event.Type, event.Data = send.TypeMisc, r.item.Without("sender").Without("recipient").Without("timestamp")
	}
	if event.From == "" {
		return inbound.Event{Kind: kind, Drop: send.DropIncomplete}
	}
	if key == "" && event.MessageID == "" { // Without an id, a repeated item is recognised by its time.
		key = fmt.Sprintf("%s %d %s", kind, event.Timestamp, event.Data)
	}
	if key != "" {
		key += " " + event.From
	}
	return inbound.Event{Kind: kind, Inbound: botctx.Inbound{Event: event, Key: key}}
}

// kind names an item's content, such as message or postback.
func (r reported) kind() string {
	for _, known := range []string{"message", "postback", "optin", "referral", "delivery", "read"} {
		if _, isObject := field(r.item, known).(document.Object); isObject {
			return known
		}
	}
	for _, name := range r.item.Keys() {
		if name != "sender" && name != "recipient" && name != "timestamp" {
			return name
		}
	}
	return "messaging"
}

func field(of document.Object, name string) any {
	value, _ := of.Field(name)
	return value
}

// echo returns the event of a message that the page sent. It drops messages of the channel's own application.
func (r reported) echo(event send.MessageEvent, content document.Object) inbound.Event {
	if id := field(content, "app_id"); r.appID != "" && fmt.Sprint(id) == r.appID {
		return inbound.Event{Kind: "echo", Drop: send.DropFromBot}
	}
	if event.From == "" {
		return inbound.Event{Kind: "echo", Drop: send.DropIncomplete}
	}
	event.Type, event.Data = send.TypeEcho, content.Without("mid").Without("is_echo")
	return inbound.Event{Kind: "echo", Inbound: botctx.Inbound{Event: event}}
}

func written(message document.Object) (send.Type, document.Object) {
	data := message.Without("mid")
	if tapped, isTap := field(message, "quick_reply").(document.Object); isTap {
		data = withPayload(data.Without("quick_reply").With("payload", field(tapped, "payload")), "payload")
		return send.TypePayload, data
	}
	attachments := pieces.Objects(message, "attachments")
	isFile := func(one document.Object) bool { return document.Get(one, "type", "") != "fallback" }
	switch {
	case document.Get(message, "text", "") == "", slices.ContainsFunc(attachments, isFile):
		return send.TypeMisc, data
	case len(attachments) > 0: // The platform adds a preview to a text with a link.
		data = data.Without("attachments").With("previews", attachments)
	}
	return send.TypeText, data
}

// withPayload parses the text of the named field as a payload.
func withPayload(data document.Object, name string) document.Object {
	if text := document.Get(data, name, ""); text != "" {
		return data.With(name, taps.Payload(text))
	}
	return data
}

// milliseconds returns the time of an item, or 0 if it has none. The platform sends milliseconds as a number,
// or seconds as a text.
func milliseconds(item document.Object) document.Timestamp {
	var event send.MessageEvent
	if event.DecodeValue(document.O("timestamp", field(item, "timestamp"))) != nil {
		return 0
	}
	return event.Timestamp
}

// changed returns the event of a new comment in the feed of a page. It drops other changes and the page's own
// comments.
func changed(change document.Object, pageID string) inbound.Event {
	value := document.Get(change, "value", document.Object{})
	item, verb := document.Get(value, "item", ""), document.Get(value, "verb", "")
	kind := document.Get(change, "field", "change")
	if item != "" {
		kind += " " + item + " " + verb
	}
	from := document.Get(value, "from.id", "")
	switch {
	case kind != "feed comment add":
		return inbound.Event{Kind: kind, Drop: send.DropUnsupported}
	case from == pageID && from != "":
		return inbound.Event{Kind: kind, Drop: send.DropFromBot}
	case from == "":
		return inbound.Event{Kind: kind, Drop: send.DropIncomplete}
	}
	id := document.Get(value, "comment_id", "")
	event := send.MessageEvent{
		Type: send.TypeComment, From: from, To: pageID, MessageID: id,
		Timestamp: document.Timestamp(document.Get(value, "created_time", int64(0)) * 1000), // created_time is in seconds.
		Data: document.O(
			"text", document.Get(value, "message", ""), "post_id", document.Get(value, "post_id", ""),
			"comment_id", id, "from", document.Get(value, "from", document.O()),
		),
	}
	for _, name := range []string{"parent_id", "photo", "video", "link"} {
		if more := field(value, name); more != nil {
			event.Data = event.Data.With(name, more)
		}
	}
	return inbound.Event{Kind: kind, Inbound: botctx.Inbound{Event: event}}
}
