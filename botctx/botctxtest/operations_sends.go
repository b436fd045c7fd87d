package botctxtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// saying returns the input of a send with a text as the response.
func saying(pairs ...any) func(*place) document.Object {
	return func(*place) document.Object {
		return document.O(append([]any{"response", send.Text("Hello")}, pairs...)...)
	}
}

// badResponse is a response that operations must refuse, with the field of the error.
type badResponse struct {
	name     string
	response send.Response
	field    string
}

// badResponses are responses that every operation must refuse.
var badResponses = []badResponse{
	{"no type", send.Raw(document.O("text", "Hello")), "response.type"},
	{"an empty text", send.Text(""), "response.text"},
	{
		"too many quick replies",
		send.QuickReplies("Hello", slicesOf(send.MaxQuickReplies+1, send.QuickReply{Title: "Yes"})...), "response.quickReplies",
	},
	{"no buttons", send.Buttons("Hello"), "response.buttons"},
	{"too many buttons", send.Buttons("Hello", slicesOf(send.MaxButtons+1, send.Postback("Yes", "yes"))...), "response.buttons"},
	{"a long button", send.Buttons("Hello", send.Postback(long(send.MaxButtonTitle), "x")), "response.buttons[0].title"},
	{"an image without address", send.Raw(document.O("type", "IMAGE")), "response.url"},
}

// emptyWhenFilled is refused only by operations that fill placeholders.
var emptyWhenFilled = badResponse{"a text that is empty when it is filled", send.Template("{{meta.nothing}}"), "response.text"}

// moreBadResponses are tried only with sendResponse, because all operations validate responses in the same way.
var moreBadResponses = []badResponse{
	{"a type that is a number", send.Raw(document.O("type", 1)), "response.type"},
	{"no text", send.Raw(document.O("type", "TEXT")), "response.text"},
	{"a text that is a number", send.Raw(document.O("type", "TEXT", "text", 1)), "response.text"},
	{"a text that is too long", send.Text(long(send.MaxText)), "response.text"},
	{"no quick replies", send.QuickReplies("Hello"), "response.quickReplies"},
	{
		"a long quick reply",
		send.QuickReplies("Hello", send.QuickReply{Title: long(send.MaxQuickReplyTitle)}), "response.quickReplies[0].title",
	},
	{"too many cards", send.Carousel(slicesOf(send.MaxCards+1, send.Card{Title: "One"})...), "response.carousel"},
	{"a long card", send.Carousel(send.Card{Title: long(send.MaxCardTitle)}), "response.carousel[0].title"},
}

func long(most int) string { return strings.Repeat("ä", most+1) }

func refusing(responses ...badResponse) []change {
	changes := make([]change, 0, len(responses))
	for _, bad := range responses {
		changes = append(changes, change{bad.name, document.O("response", bad.response), bad.field})
	}
	return changes
}

// badAsIs returns invalid responses for an operation that does not fill placeholders.
func badAsIs(*trial, *place) []change { return refusing(badResponses...) }

// badFilled returns invalid responses for an operation that fills placeholders.
func badFilled(*trial, *place) []change { return refusing(append(badResponses, emptyWhenFilled)...) }

var sendOperations = slices.Concat([]operation{
	{
		op: botctx.OpSendResponse, call: calling(botctx.Operations.SendResponse), input: saying(),
		refuses: badSendResponse, findsNot: strangersToSendTo,
	}, {
		op: botctx.OpSendHotelResponse, call: calling(botctx.Operations.SendHotelResponse), scene: onHotel, refuses: badHotelSends,
		input: func(p *place) document.Object { return saying("recipientId", p.member.ExternalID)(p) },
	}, {
		op: botctx.OpSendDeltaResponse, call: calling(botctx.Operations.SendDeltaResponse), needs: []Capability{Batches},
		scene: onDelta, input: saying(), refuses: badBatches,
	}, {
		op: botctx.OpSavePostCommentAnalytics, call: calling(botctx.Operations.SavePostCommentAnalytics), needs: []Capability{Comments},
		input: func(*place) document.Object {
			return document.O("comment", "Mine!", "fbId", "psid", "name", "Ada", "postId", "post")
		},
	}, {
		op: botctx.OpCharlieArchiveConversation, call: calling(botctx.Operations.CharlieArchiveConversation),
		needs: []Capability{Archives}, scene: onCharlie, isOnce: true,
		input: func(p *place) document.Object { return document.O("messageEvent", document.O("to", p.room())) },
		refuses: func(*trial, *place) []change {
			return []change{{"no to", document.O("messageEvent", document.O("from", "U1")), "messageEvent.to"}}
		},
	}, {
		op: botctx.OpUpdateMessage, call: calling(botctx.Operations.UpdateMessage), needs: []Capability{MessageUpdates},
		scene: onCharlie, refuses: badMessageUpdates,
		input: func(p *place) document.Object {
			return document.O("externalChannelId", p.prepared.conversation, "messageTs", string(p.prepared.message), "text", "Bye")
		},
	}, {
		op: botctx.OpEchoSaveMemberTag, call: calling(botctx.Operations.EchoSaveMemberTag), needs: []Capability{Tags}, scene: onEcho,
		input: func(*place) document.Object { return document.O("tagId", firstTag) },
		refuses: func(*trial, *place) []change {
			return []change{{"a negative tagId", document.O("tagId", -1), "tagId"}}
		},
	},
}, alphaOperations)

var alphaOperations = []operation{
	{
		op: botctx.OpSendAlphaResponse, call: calling(botctx.Operations.SendAlphaResponse), scene: onAlpha, input: saying(),
		refuses: badFilled,
	}, {
		op: botctx.OpSendAlphaResponseToMemberIDs, call: calling(botctx.Operations.SendAlphaResponseToMemberIDs), scene: onAlpha,
		names: []string{"memberId"}, refuses: badBatches,
		input: func(p *place) document.Object { return saying("memberId", p.member.ID)(p) },
	}, {
		op: botctx.OpAlphaCreateBroadcast, call: calling(botctx.Operations.AlphaCreateBroadcast), needs: []Capability{Broadcasts},
		scene: onAlpha, input: saying(), refuses: badAsIs,
	}, {
		op: botctx.OpAlphaSendBroadcast, call: calling(botctx.Operations.AlphaSendBroadcast),
		needs: []Capability{Broadcasts, Labels}, scene: onAlpha, // A label is created when it is put on a member.
		input: func(p *place) document.Object {
			return document.O("broadcastId", string(p.prepared.broadcast), "labelId", p.prepared.label, "notificationType", "REGULAR")
		},
	}, {
		op: botctx.OpAlphaGetAttachmentID, call: calling(botctx.Operations.AlphaGetAttachmentID), needs: []Capability{Attachments},
		scene: onAlpha, refuses: badAttachments,
		input: func(*place) document.Object { return document.O("type", "IMAGE", "url", "https://example.com/a.png") },
	}, {
		op: botctx.OpAlphaPassThreadControl, call: calling(botctx.Operations.AlphaPassThreadControl), needs: []Capability{Threads},
		scene: onAlpha, isOnce: true, input: func(*place) document.Object { return document.O() },
	}, {
		op: botctx.OpAlphaSaveCustomLabel, call: calling(botctx.Operations.AlphaSaveCustomLabel), needs: []Capability{Labels},
		scene: onAlpha, input: func(p *place) document.Object { return document.O("labelId", p.prepared.label) },
	}, {
		op: botctx.OpAlphaRemoveCustomLabel, call: calling(botctx.Operations.AlphaRemoveCustomLabel), needs: []Capability{Labels},
		scene: onAlpha, isOnce: true, input: func(p *place) document.Object { return document.O("labelId", p.prepared.label) },
	},
}

// badSendResponse returns calls of sendResponse with contradicting recipients or invalid responses.
func badSendResponse(t *trial, p *place) []change {
	second := t.newChannel(p.scope.App)
	there := t.newMember(member.Member{App: second.App, Channel: second.ID})
	bob := t.neighbour(member.Member{})
	return append(refusing(slices.Concat(badResponses, moreBadResponses, []badResponse{emptyWhenFilled})...), []change{
		{"member and more", document.O("member", bob, "memberId", document.A(bob.ID, p.member.ID)), "memberId"},
		{"a member elsewhere", document.O("memberId", there.ID), "memberId"},
		{"a record elsewhere", document.O("member", there), "member"},
		{"a channel elsewhere", document.O("channelId", second.ID), "memberId"},
		{"nobody", document.O("memberId", document.A()), "memberId"},
		{"an empty id", document.O("memberId", document.A(bob.ID, "")), "memberId"},
	}...)
}

// strangersToSendTo returns calls of sendResponse with a recipient of another app.
func strangersToSendTo(t *trial, p *place) []change {
	return []change{
		{"one of several", document.O("memberId", document.A(p.member.ID, t.away.member.ID)), "memberId"},
		{"both of elsewhere", document.O("channel", t.away.channel, "member", t.away.member), "channel"},
	}
}

// badBatches returns calls with invalid recipients or responses, for an operation that sends to several members.
func badBatches(t *trial, p *place) []change {
	other := t.newPlaceOn(p.scope.App, p.channel.Type)
	return append(badFilled(t, p), []change{
		{"nobody", document.O("memberId", document.A()), "memberId"},
		{"an empty id", document.O("memberId", document.A(p.member.ID, "")), "memberId"},
		{"a member elsewhere", document.O("memberId", other.member.ID), "memberId"},
	}...)
}

func badHotelSends(t *trial, p *place) []change {
	return append(badFilled(t, p), []change{
		{"a type alone", document.O("recipientId", nil, "receiverType", "channel"), "recipientId"},
		{"no user", document.O("recipientId", nil, "receiverType", send.ReceiverUser, "hotelGroupId", "group"), "recipientId"},
	}...)
}

func badMessageUpdates(_ *trial, p *place) []change {
	return []change{
		{"a text that is too long", document.O("text", long(send.MaxText)), "text"},
		{
			"an event without messageId",
			document.O("messageTs", nil, "messageEvent", document.O("to", p.prepared.conversation)), "messageEvent.messageId",
		},
		{"two messages", document.O("messageEvent", document.O("messageId", "1.000001")), "messageTs"},
	}
}

func badAttachments(*trial, *place) []change {
	changes := []change{{"a type that is no file", document.O("type", "TEXT"), "type"}}
	for name, url := range map[string]string{
		"no address": "https://exa mple.com/%zz", "a path": "/a.png", "no host": "https:///a.png",
		"another scheme": "ftp://example.com/a.png", "a local file": "file:///etc/passwd",
	} {
		changes = append(changes, change{name, document.O("url", url), "url"})
	}
	return changes
}

var utilityOperations = []operation{
	{
		op: botctx.OpSendEmail, call: calling(botctx.Operations.SendEmail), needs: []Capability{Mails}, refuses: badMails,
		input: func(*place) document.Object { return mailInput("ada@example.com") },
	}, {
		op: botctx.OpGolf, call: calling(botctx.Operations.Golf), scene: anAccount, names: []string{"golfName"},
		input: func(p *place) document.Object { return document.O("golfName", p.account()) },
	}, {
		op: botctx.OpUploadFileToObjectStore, call: calling(botctx.Operations.UploadFileToObjectStore),
		needs: []Capability{Uploads}, scene: aFile, refuses: badUploads,
		input: func(p *place) document.Object {
			return document.O("url", p.url, "filename", "bills/7.pdf", "contentType", "application/pdf")
		},
	},
}

// mailInput returns the input for a short mail to the given addresses.
func mailInput(addresses ...any) document.Object {
	return document.O("destination", document.O("ToAddresses", document.A(addresses...)), "message", document.O(
		"Subject", document.O("Data", "Your order"), "Body", document.O("Text", document.O("Data", "It is on its way.")),
	))
}

func addressed(name, field string, addresses ...any) change {
	return change{name, document.O("destination", document.O("ToAddresses", document.A(addresses...))), "destination." + field}
}

func message(name, path string, value any, field string) change {
	whole := mailInput("ada@example.com")
	whole.Set("message."+path, value)
	return change{name, document.O("message", whole.Value("message")), "message." + field}
}

func badMails(*trial, *place) []change {
	many := make([]any, 51)
	for i := range many {
		many[i] = fmt.Sprintf("ada%d@example.com", i)
	}
	return []change{
		addressed("nobody", "ToAddresses"),
		addressed("an empty address", "ToAddresses[1]", "ada@example.com", ""),
		addressed("no address", "ToAddresses[0]", "ada"),
		addressed("no domain", "ToAddresses[0]", "ada@"),
		addressed("two addresses in one", "ToAddresses[0]", "ada@example.com, bob@example.com"),
		addressed("51 recipients", "ToAddresses[50]", many...),
		{
			"no address in Cc",
			document.O("destination", document.O("ToAddresses", document.A("ada@example.com"), "CcAddresses", document.A("bob"))),
			"destination.CcAddresses[0]",
		},
		message("no subject", "Subject.Data", "", "Subject.Data"),
		message("a subject of 999 characters", "Subject.Data", strings.Repeat("ä", 999), "Subject.Data"),
		message("no body", "Body", document.O(), "Body"),
		message("no text", "Body.Text", document.O(), "Body.Text.Data"),
		message("no HTML", "Body.Html", document.O(), "Body.Html.Data"),
		message("no character set", "Body.Text.Charset", "no such set", "Body.Text.Charset"),
	}
}

func badUploads(*trial, *place) []change {
	changes := []change{
		{"no address", document.O("url", "https://exa mple.com/%zz"), "url"},
		{"a path", document.O("url", "/a.pdf"), "url"},
		{"a filename of 1,025 bytes", document.O("filename", strings.Repeat("a", 1025)), "filename"},
		{"a word as contentType", document.O("contentType", "pdf"), "contentType"},
		{"a line break in contentType", document.O("contentType", "text/plain\r\nX: y"), "contentType"},
	}
	for _, name := range []string{
		"/etc/passwd", "../a.pdf", "bills/../../a.pdf", "./a.pdf", "bills//a.pdf", "bills/", `bills\a.pdf`, "a\n.pdf",
	} {
		changes = append(changes, change{"the filename " + name, document.O("filename", name), "filename"})
	}
	for _, bad := range []struct {
		name    string
		options document.Object
		field   string
	}{
		{"an unknown option", document.O("proxy", "https://proxy.example"), "options.proxy"},
		{"a timeout of 0", document.O("timeout", 0), "options.timeout"},
		{"an object in a query", document.O("qs", document.O("page", document.O())), "options.qs"},
		{"two bodies", document.O("body", "a", "json", document.O("order", 7)), "options.json"},
		{"a method that brings no file", document.O("method", "HEAD"), "options.method"},
		{"a method that is none", document.O("method", "GET /"), "options.method"},
		{"headers that are no object", document.O("headers", "X: y"), "options.headers"},
		{"a header that is an object", document.O("headers", document.O("X-Order", document.O())), "options.headers"},
		{"a body that is a number", document.O("body", 7), "options.body"},
		{"an encoding", document.O("encoding", "utf8"), "options.encoding"},
	} {
		changes = append(changes, change{bad.name, document.O("options", bad.options), bad.field})
	}
	return changes
}
