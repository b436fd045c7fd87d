package bravo

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/graph"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/internal/taps"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Handler answers the platform's check of its address (GET) and accepts its reports (POST). It checks the
// signature of each report, passes the events to accept one after the other, and answers after the last.
//
// Pass the method Accept of a botctx.Runtime as accept. It stores the event, uses Inbound.Key or the message's
// id to recognise an event that the platform sends again, and runs the events of each sender in the order in
// which they were accepted. One report may contain events of several numbers, even of several apps. If one of
// them cannot be accepted now, the answer is the status of botctx.HTTPStatus, and the platform sends the whole
// report again. Meanwhile events of other senders are accepted, and later events of the same sender wait. An
// event that can never be accepted is dropped.
//
// From is the member's id. To is the id of the phone number, or the group's id for messages in a group. The types of
// events are:
//
//   - TEXT: a text.
//   - PAYLOAD: a tap on a reply button, a line of a list or a button of a template.
//   - MISC: a file or a location, as attachments whose payload has the attachment_id for Open, or coordinates; any
//     other message of a member, with the platform's own object, such as contacts, reaction, order, or the errors
//     of an unsupported message; or an agent or a member who joins or leaves a group, or asks to join. The data of the
//     last kind has group, the platform's own object, whose type is for example group_participants_add.
//   - DELIVERY, READ: the platform's status of a delivered, failed or read message. For a failed message, data has
//     errors, from the platform, and error, an object with a code of package boterr and a sentence.
//
// If the member answered a message, data has context. If the member came from an advertisement, data has referral.
//
// Everything else is dropped and counted in Config.Drops: the status "sent", which repeats the answer to the
// request; changes of groups (new groups also go to CreateGroup); reports about the account and its templates;
// and reports for numbers without a channel.
//
// Handler answers 401 to a report that is not signed by the application of its channels, 403 to a check with a
// wrong verify token, and 503 if a channel cannot be looked up now. It answers 400, 405 or 413 to requests that
// the platform does not send, and 408 to a request that arrives too slowly.
func (c *Connector) Handler(accept func(ctx context.Context, inbound botctx.Inbound) error) http.Handler {
	return &graph.Webhook{
		Receiver: inbound.Receiver{
			Platform: channel.Bravo, Accept: accept, OnError: c.config.OnError, Drops: c.config.Drops, BodyTime: c.config.BodyTime,
		},
		Object: "whatsapp_business_account", FirstAccount: "entry.0.changes.0.value.metadata.phone_number_id",
		Parcels: parcels, Events: c.events,
		FindChannel: c.config.FindChannel, OwnSecret: ownSecret,
		AppSecret: c.config.AppSecret, VerifyToken: c.config.VerifyToken,
	}
}

// parcels splits a report into its changes. Each change belongs to one number.
func parcels(report document.Object) []graph.Parcel {
	var all []graph.Parcel
	for _, entry := range pieces.Objects(report, "entry") {
		for _, change := range pieces.Objects(entry, "changes") {
			value := document.Get(change, "value", document.Object{})
			all = append(all, graph.Parcel{
				Account: document.Get(value, "metadata.phone_number_id", ""), Kind: document.Get(change, "field", "change"), Content: value,
			})
		}
	}
	return all
}

func (c *Connector) events(_ *channel.Channel, change graph.Parcel) []inbound.Event {
	var all []inbound.Event
	for _, message := range pieces.Objects(change.Content, "messages") {
		all = append(all, written(message, change))
	}
	for _, status := range pieces.Objects(change.Content, "statuses") {
		all = append(all, statusOf(status, change))
	}
	for _, group := range pieces.Objects(change.Content, "groups") {
		if change.Kind == "group_lifecycle_update" {
			c.confirm(change.Account, group)
			all = append(all, inbound.Event{Kind: document.Get(group, "type", change.Kind), Drop: send.DropUnsupported})
			continue
		}
		all = append(all, inGroup(group)...)
	}
	if len(all) == 0 {
		all = append(all, inbound.Event{Kind: change.Kind, Drop: send.DropUnsupported})
	}
	return all
}

// event returns the event of a sender. It is addressed to the group, or to the number if group is "".
func event(kind, from, group string, change graph.Parcel, e send.MessageEvent) inbound.Event {
	if from == "" {
		return inbound.Event{Kind: kind, Drop: send.DropIncomplete}
	}
	e.From, e.To = from, cmp.Or(group, change.Account)
	return inbound.Event{Kind: kind, Inbound: botctx.Inbound{Event: e, GroupExternalID: group}}
}

func field(of document.Object, name string) any {
	value, _ := of.Field(name)
	return value
}

func written(message document.Object, change graph.Parcel) inbound.Event {
	kind, from := document.Get(message, "type", "message"), document.Get(message, "from", "")
	e := send.MessageEvent{MessageID: document.Get(message, "id", ""), Timestamp: milliseconds(message)}
	e.Type, e.Data = contentIn(kind, message)
	for _, name := range []string{"context", "referral"} {
		if about := field(message, name); about != nil {
			e.Data = e.Data.With(name, about)
		}
	}
	made := event(kind, from, document.Get(message, "group_id", ""), change, e)
	for _, contact := range pieces.Objects(change.Content, "contacts") {
		if document.Get(contact, "wa_id", "") == from {
			made.Inbound.Profile = member.Member{FirstName: document.Get(contact, "profile.name", "")}
		}
	}
	return made
}

// files maps the platform's types of messages to types of attachments.
var files = map[string]string{"image": "image", "sticker": "image", "audio": "audio", "video": "video", "document": "file"}

// contentIn converts a message to the type and the data of its event.
func contentIn(kind string, message document.Object) (send.Type, document.Object) {
	content, isObject := field(message, kind).(document.Object)
	if text := document.Get(content, "body", ""); kind == "text" && text != "" {
		return send.TypeText, document.O("text", text)
	}
	for _, tapped := range []document.Object{
		document.Get(content, "button_reply", document.Object{}), document.Get(content, "list_reply", document.Object{}),
	} {
		if id := document.Get(tapped, "id", ""); kind == "interactive" && id != "" {
			return send.TypePayload, document.O("payload", taps.Payload(id), "text", document.Get(tapped, "title", ""))
		}
	}
	if payload := document.Get(content, "payload", ""); kind == "button" && payload != "" {
		return send.TypePayload, document.O("payload", taps.Payload(payload), "text", document.Get(content, "text", ""))
	}
	if name, isFile := files[kind]; isFile && isObject {
		return send.TypeMisc, fileIn(name, content)
	}
	if kind == "location" && isObject {
		return send.TypeMisc, document.O("attachments", document.A(document.O(
			"type", kind, "title", document.Get(content, "name", ""),
			"payload", document.O("coordinates", document.O("lat", field(content, "latitude"), "long", field(content, "longitude"))),
		)), kind, content)
	}
	data := message
	for _, name := range []string{"from", "id", "timestamp", "type", "group_id", "context", "referral"} {
		data = data.Without(name)
	}
	return send.TypeMisc, data
}

// fileIn converts a message with a file to the data of its event.
func fileIn(kind string, content document.Object) document.Object {
	payload := document.O("attachment_id", document.Get(content, "id", ""))
	for _, name := range []string{"mime_type", "sha256"} {
		if value := field(content, name); value != nil {
			payload = payload.With(name, value)
		}
	}
	data := document.O("attachments", document.A(document.O(
		"type", kind, "payload", payload, "title", document.Get(content, "filename", ""),
	)))
	if caption := document.Get(content, "caption", ""); caption != "" {
		data = data.With("text", caption)
	}
	return data
}

// milliseconds returns the time of an item, or 0 if it has none. The platform sends seconds, as a text or a
// number.
func milliseconds(item document.Object) document.Timestamp {
	given := field(item, "timestamp")
	if seconds, isNumber := document.WholeNumber(given); isNumber {
		given = strconv.FormatInt(seconds, 10)
	}
	var e send.MessageEvent
	if e.DecodeValue(document.O("timestamp", given)) != nil {
		return 0
	}
	return e.Timestamp
}

// statusOf returns the event of a status, which reports what happened to a message from the bot.
func statusOf(status document.Object, change graph.Parcel) inbound.Event {
	word := document.Get(status, "status", "")
	kind := "status " + word
	e := send.MessageEvent{MessageID: document.Get(status, "id", ""), Timestamp: milliseconds(status), Data: status}
	switch word {
	case "delivered":
		e.Type = send.TypeDelivery
	case "failed":
		e.Type, e.Data = send.TypeDelivery, status.With("error", failureOf(status))
	case "read":
		e.Type = send.TypeRead
	case "sent":
		return inbound.Event{Kind: kind, Drop: send.DropFromBot}
	default:
		e.Type = send.TypeMisc
	}
	group := document.Get(status, "group_id", "")
	from := cmp.Or(document.Get(status, "recipient_participant_id", ""), document.Get(status, "recipient_id", ""))
	made := event(kind, from, group, change, e)
	made.Inbound.Key = strings.Join([]string{kind, e.MessageID, from}, " ")
	return made
}

// failureOf returns the reason for a failed status, as an object with a code of package boterr and a sentence.
func failureOf(status document.Object) document.Object {
	var told document.Object
	if problems := pieces.Objects(status, "errors"); len(problems) > 0 {
		told = problems[0]
	}
	err := meanings.ErrorOf(told)
	code, sentence := boterr.Unavailable, err.Error()
	if coded, ok := boterr.AsError(err); ok {
		code, sentence = coded.Code, coded.Message()
	}
	return document.O("code", string(code), "message", sentence)
}

// inGroup returns one event for each person in a change of a group. A change without people is dropped.
func inGroup(group document.Object) []inbound.Event {
	kind := document.Get(group, "type", "group")
	var people []string
	for _, person := range slices.Concat(pieces.Objects(group, "added_participants"), pieces.Objects(group, "removed_participants")) {
		people = append(people, pieces.ID(person, "wa_id"))
	}
	if id := pieces.ID(group, "wa_id"); id != "" { // The person asks to join.
		people = append(people, id)
	}
	groupID := document.Get(group, "group_id", "")
	if len(people) == 0 || groupID == "" {
		return []inbound.Event{{Kind: kind, Drop: send.DropUnsupported}}
	}
	var all []inbound.Event
	at := milliseconds(group)
	for _, person := range people {
		made := event(kind, person, groupID, graph.Parcel{}, send.MessageEvent{
			Type: send.TypeMisc, Timestamp: at, Data: document.O("type", kind, "group", group),
		})
		made.Inbound.Key = fmt.Sprintf("%s %s %s %d", kind, groupID, person, at)
		all = append(all, made)
	}
	return all
}
