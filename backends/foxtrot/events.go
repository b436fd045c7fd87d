package foxtrot

import (
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/internal/taps"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Values of status in the data of a MISC event: the request was closed, or handed back to the bot.
const (
	statusClosed   = "closed"
	statusReturned = "returned"
)

// eventsIn returns the events of a report. There is at least one, which may be a drop.
func (a account) eventsIn(told document.Object) []inbound.Event {
	if a.isTickets() {
		return []inbound.Event{a.ticketEvent(told)}
	}
	if app := document.Get(told, "app.id", a.app); app != a.app {
		return []inbound.Event{{Kind: "report", Drop: send.DropNoChannel}}
	}
	var all []inbound.Event
	for _, item := range pieces.Objects(told, "events") {
		kind := document.Get(item, "type", "")
		one := occurrence{account: a, item: item, payload: document.Get(item, "payload", document.Object{})}.event(kind)
		one.Kind = kind
		if id := document.Get(item, "id", ""); id != "" {
			one.Inbound.Key = "event " + id
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		all = append(all, inbound.Event{Kind: "report", Drop: send.DropIncomplete})
	}
	return all
}

// occurrence is one event in a report about conversations.
type occurrence struct {
	account

	item, payload document.Object
}

// place returns the conversation to which the event belongs.
func (o occurrence) place() address {
	return address{
		conversation: document.Get(o.payload, "conversation.id", ""),
		user:         document.Get(o.payload, "conversation.metadata."+metadataTicket, ""),
	}
}

// event converts the occurrence to an event for the bot.
func (o occurrence) event(kind string) inbound.Event {
	at := o.place()
	switch {
	case at.conversation == "" && strings.HasPrefix(kind, "conversation:"):
		return inbound.Event{Drop: send.DropIncomplete}
	case kind == "conversation:message":
		return o.message(at)
	case strings.HasPrefix(kind, "switchboard:"):
		return o.switched(at, kind)
	case at.user != "": // All other kinds are about members in the widget.
		return inbound.Event{Drop: send.DropUnsupported}
	case kind == "conversation:postback":
		return o.fromMember(at, document.Get(o.payload, "user", document.Object{}), send.TypePayload, document.O(
			"payload", taps.Payload(document.Get(o.payload, "postback.payload", "")),
		))
	case kind == "conversation:read":
		return o.fromMember(at, document.Object{}, send.TypeRead, document.O("watermark", int64(o.time())))
	case kind == "conversation:referral":
		return o.fromMember(at, document.Get(o.payload, "user", document.Object{}), send.TypeReferral, document.O(
			"ref", document.Get(o.payload, "referral.code", ""), "details", document.Get(o.payload, "referral.details", document.O()),
		))
	case kind == "conversation:message:delivery:failure":
		return o.fromMember(at, document.Object{}, send.TypeDelivery, document.O(
			"mids", document.A(document.Get(o.payload, "message.id", "")), "status", "failed",
			"error", document.Get(o.payload, "error", document.O()),
		))
	default:
		return inbound.Event{Drop: send.DropUnsupported}
	}
}

func (o occurrence) time() document.Timestamp {
	return timestamp(document.Get(o.item, "createdAt", ""))
}

func (o occurrence) fromMember(at address, user document.Object, kind send.Type, data document.Object) inbound.Event {
	if kind == send.TypePayload && document.Get(data, "payload", any("")) == "" {
		return inbound.Event{Drop: send.DropIncomplete}
	}
	return inbound.Event{Inbound: botctx.Inbound{
		Event: send.MessageEvent{Type: kind, From: at.conversation, To: o.app, Data: data, Timestamp: o.time()},
		Profile: member.Member{
			FirstName: document.Get(user, "profile.givenName", ""), LastName: document.Get(user, "profile.surname", ""),
			ProfilePic: document.Get(user, "profile.avatarUrl", ""),
		},
	}}
}

func (o occurrence) message(at address) inbound.Event {
	told := document.Get(o.payload, "message", document.Object{})
	author := document.Get(told, "author", document.Object{})
	isOwn := document.Get(told, "metadata."+metadataMessage, "") != ""
	byMember := document.Get(author, "type", "") == "user"
	kind, data := contentIn(document.Get(told, "content", document.Object{}))
	var one inbound.Event
	switch {
	case isOwn, at.user != "" && byMember:
		return inbound.Event{Drop: send.DropFromBot}
	case at.user != "":
		if closed := document.Get(told, "activity.type", ""); closed != "" {
			return o.fromAgent(at, author, send.TypeMisc, document.O("status", statusClosed, "event", closed))
		}
		if document.Get(told, "source.type", "") == "zd:answerBot" {
			return inbound.Event{Drop: send.DropFromBot}
		}
		one = o.fromAgent(at, author, kind, data)
	case byMember:
		one = o.fromMember(at, document.Get(author, "user", document.Object{}), kind, data)
		if name := document.Get(author, "displayName", ""); one.Inbound.Profile.FirstName == "" {
			one.Inbound.Profile.FirstName = name
		}
	default:
		one = o.fromMember(at, document.Object{}, send.TypeEcho, document.Get(told, "content", document.O()))
	}
	one.Inbound.Event.MessageID = document.Get(told, "id", "")
	if received := timestamp(document.Get(told, "received", "")); received != 0 {
		one.Inbound.Event.Timestamp = received
	}
	return one
}

// agent is the prefix of agents' ids.
const agent = "agent:"

// fromAgent returns an event of an agent in a request's conversation.
func (o occurrence) fromAgent(at address, author document.Object, kind send.Type, data document.Object) inbound.Event {
	name := document.Get(author, "displayName", "")
	from := agent + name
	if id := document.Get(author, "userId", ""); id != "" {
		from = agent + id
	}
	return inGroup(at.String(), from, name, send.MessageEvent{Type: kind, Data: data, Timestamp: o.time()})
}

// inGroup returns an event of an agent. group is the id of the request's conversation, which is the event's
// group.
func inGroup(group, from, name string, event send.MessageEvent) inbound.Event {
	event.From, event.To = from, group
	return inbound.Event{Inbound: botctx.Inbound{Event: event, GroupExternalID: group, Profile: member.Member{FirstName: name}}, Order: group}
}

// switched returns the event of a conversation that was passed to or from the agents.
func (o occurrence) switched(at address, kind string) inbound.Event {
	active := document.Get(o.payload, "conversation.activeSwitchboardIntegration.integrationType", "")
	reason := document.Get(o.payload, "reason", "")
	isDone := kind == "switchboard:passControl" || kind == "switchboard:releaseControl"
	switch {
	case !isDone, at.conversation == "", at.user != "" && active == agentWorkspace && reason == "":
		return inbound.Event{Drop: send.DropUnsupported}
	case at.user == "":
		return o.fromMember(at, document.Object{}, send.TypeMisc, document.O("event", kind, "integration", active, "reason", reason))
	}
	status := statusReturned
	if reason == "ticketClosed" || reason == "transferToEmail" {
		status = statusClosed
	}
	return o.fromAgent(at, document.Object{}, send.TypeMisc, document.O("status", status, "event", kind, "reason", reason))
}

// contentIn converts a message to the type and the data of its event.
func contentIn(content document.Object) (send.Type, document.Object) {
	text := document.Get(content, "text", "")
	switch kind := document.Get(content, "type", ""); {
	case kind == "text" && document.Get(content, "payload", "") != "":
		return send.TypePayload, document.O("payload", taps.Payload(document.Get(content, "payload", "")), "text", text)
	case kind == "text" && text != "":
		return send.TypeText, document.O("text", text)
	case kind == "image", kind == "file":
		if media, _, _ := strings.Cut(document.Get(content, "mediaType", ""), "/"); media == "audio" || media == "video" {
			kind = media
		}
		return pieces.Attached(kind, document.O("url", document.Get(content, "mediaUrl", "")), text)
	case kind == "location":
		at := document.O("lat", document.Get(content, "coordinates.lat", 0.0), "long", document.Get(content, "coordinates.long", 0.0))
		return pieces.Attached("location", document.O("coordinates", at), "")
	default:
		return send.TypeMisc, document.O("message", content)
	}
}

// Types of reports about tickets.
const (
	ticketComment = "zen:event-type:ticket.comment_added"
	ticketStatus  = "zen:event-type:ticket.status_changed"
)

// ticketEvent converts a report about a ticket.
func (a account) ticketEvent(told document.Object) inbound.Event {
	kind := document.Get(told, "type", "")
	id := pieces.ID(told, "detail.id")
	place := ticketChat + id
	var one inbound.Event
	switch status := strings.ToLower(document.Get(told, "event.current", "")); {
	case id == "":
		return inbound.Event{Kind: kind, Drop: send.DropIncomplete}
	case kind == ticketComment:
		one = a.comment(told, place)
	case kind == ticketStatus && (status == "solved" || status == "closed"):
		one = inGroup(place, agent, "", send.MessageEvent{Type: send.TypeMisc, Data: document.O("status", statusClosed, "event", kind)})
	default:
		return inbound.Event{Kind: kind, Drop: send.DropUnsupported}
	}
	one.Kind, one.Inbound.Event.Timestamp = kind, timestamp(document.Get(told, "time", ""))
	if key := document.Get(told, "id", ""); key != "" {
		one.Inbound.Key = "event " + key
	}
	return one
}

// comment converts a comment on a ticket.
func (a account) comment(told document.Object, place string) inbound.Event {
	comment := document.Get(told, "event.comment", document.Object{})
	author := document.Get(comment, "author", document.Object{})
	by, text := pieces.ID(author, "id"), document.Get(comment, "body", "")
	switch {
	case by != "" && by == a.self:
		return inbound.Event{Drop: send.DropFromBot}
	case !document.Get(comment, "is_public", true), !document.Get(author, "is_staff", true):
		return inbound.Event{Drop: send.DropUnsupported} // An internal note, or an email from the requester.
	case text == "" || by == "":
		return inbound.Event{Drop: send.DropIncomplete}
	}
	return inGroup(place, agent+by, document.Get(author, "name", ""), send.MessageEvent{
		Type: send.TypeText, Data: document.O("text", text), MessageID: pieces.ID(comment, "id"),
	})
}
