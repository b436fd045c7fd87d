package channel

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// Type is the platform of a channel. Hosts may use other values for their own types.
type Type string

// The types defined by the specification.
const (
	// Alpha is a page-based social messenger.
	Alpha Type = "alpha"
	// Bravo is a business phone messenger.
	Bravo Type = "bravo"
	// Charlie is a workspace chat tool.
	Charlie Type = "charlie"
	// Delta is a team collaboration tool with ticketing and push notification.
	Delta Type = "delta"
	// Echo is an official-account messenger with tags.
	Echo Type = "echo"
	// Foxtrot is a helpdesk ticketing platform.
	Foxtrot Type = "foxtrot"
	// Hotel is a team chat product.
	Hotel Type = "hotel"
	// Custom is served by the host's own live-chat API.
	Custom Type = "custom"
	// Webchat is a chat on a web page.
	Webchat Type = "webchat"
)

// Desk is a page on which agents answer live chats, served by package host/desk. The specification
// does not define this type, so Types leaves it out. Operations on groups of outlets, such as
// ReassignAssignment, support it.
const Desk Type = "desk"

// Platform describes how a type of channel differs from others. Differences in behaviour are in the
// connector and in the operations named after the platform.
type Platform struct {
	Type Type
	// Features are the optional features that the platform has.
	Features Feature
	// Result is the JSON form of a send's result.
	Result ResultShape
	// OwnResponses are the message types that only this platform has, such as "NEWS".
	OwnResponses []string
	// MaxTextBytes is the maximum size of a text in bytes of UTF-8, if that is less than a text of send.MaxText
	// characters can have. Otherwise it is 0.
	MaxTextBytes int
	// BroadcastGroups are the allowed types of broadcast group members. Nil allows any.
	BroadcastGroups []string

	// readInfo decodes the info of a channel. Nil means OtherInfo.
	readInfo func(document.Object) (Info, error)
}

// ResultShape is the JSON form of a send's result.
type ResultShape struct {
	// Keys are always present. Optional keys are present only if they have a value. Both are in the
	// order of the JSON.
	Keys, Optional []string
	// Text is the path of the sent text.
	Text string
}

// platforms has a row for each type of the specification. A new type needs a constant, a row, a
// connector in the fakes, a place in operations.json and, if its results have their own shape, code
// in package send. TestPlatforms_AreComplete in package botctx reports what is missing.
var platforms = []Platform{
	{Type: Alpha, Features: MessagingTypes, readInfo: infoReader[AlphaInfo]()},
	{
		Type: Bravo, Features: OutletGroups | InletGroups | GroupTrees,
		OwnResponses: []string{"TEMPLATE"},
		readInfo:     infoReader[BravoInfo](),
	},
	{
		Type: Charlie, Features: OutletGroups | TicketRecall | TakenMessages | ResponseURLs | Threads,
		Result:          ResultShape{Keys: []string{"ok", "channel", "ts", "message"}, Text: "message.text"},
		BroadcastGroups: []string{"user", "public_channel", "private_channel"},
		readInfo:        infoReader[CharlieInfo](),
	},
	{Type: Delta, Features: OutletGroups | InletGroups | TicketRecall, readInfo: infoReader[DeltaInfo]()},
	{
		Type: Echo,
		Result: ResultShape{
			Keys:     []string{"msgType"},
			Optional: []string{"url", "image", "text", "video", "title", "description", "news"},
			Text:     "text",
		},
		OwnResponses: []string{"NEWS"},
		MaxTextBytes: 2048,
		readInfo:     infoReader[EchoInfo](),
	},
	{Type: Foxtrot, Features: DirectRequests | Helpdesk, BroadcastGroups: []string{"foxtrot"}},
	{Type: Hotel},
	{Type: Custom, Features: DirectRequests | LiveChatAPI},
	{Type: Webchat},
}

var desk = Platform{Type: Desk, Features: OutletGroups | TicketRecall}

// usualResult is the result of most platforms.
var usualResult = ResultShape{Keys: []string{"result", "messageEvent"}, Text: "messageEvent.data.text"}

// PlatformOf returns the platform of a type. A type that a host defines has no features and the
// usual result. Callers must not modify the slices.
func PlatformOf(t Type) Platform {
	known := Platform{Type: t}
	if t == Desk {
		known = desk
	} else if i := slices.IndexFunc(platforms, func(p Platform) bool { return p.Type == t }); i >= 0 {
		known = platforms[i]
	}
	if known.Result.Keys == nil {
		known.Result = usualResult
	}
	return known
}

// Types returns the types defined by the specification.
func Types() []Type { return typesThat(func(Platform) bool { return true }) }

// OwnerOf returns the type of channel that owns a message type such as "NEWS", or false if the
// message type is not limited to one type of channel.
func OwnerOf(response string) (Type, bool) {
	for i := range platforms {
		if slices.Contains(platforms[i].OwnResponses, response) {
			return platforms[i].Type, true
		}
	}
	return "", false
}

func typesThat(meets func(Platform) bool) []Type {
	types := make([]Type, 0, len(platforms))
	for _, p := range platforms {
		if meets(p) {
			types = append(types, p.Type)
		}
	}
	return types
}

// Feature is a bit set of optional features.
type Feature uint16

// The features.
const (
	// DirectRequests: a channel with a broadcast group takes a request for an agent itself, without
	// tickets.
	DirectRequests Feature = 1 << iota
	// LiveChatAPI: requests go to the host's own API, with details that it defines. The channel
	// needs no broadcast groups.
	LiveChatAPI
	// Helpdesk: assignments are marked as isZendesk.
	Helpdesk
	// OutletGroups: the conversation with an agent is a group that receives messages and can be
	// transferred.
	OutletGroups
	// InletGroups: a live chat can take place in a group of the member's platform.
	InletGroups
	// TicketRecall: tickets can be recalled.
	TicketRecall
	// TakenMessages: a request defines the text that its tickets show after an agent takes one.
	TakenMessages
	// ResponseURLs: a message can be posted to the response URL of an interaction.
	ResponseURLs
	// GroupTrees: groups are served by separate trees.
	GroupTrees
	// MessagingTypes: a message states its purpose and may name a tag that permits it.
	MessagingTypes
	// Threads: a message can be part of a thread. Responses to it go to the same thread.
	Threads
)

// Has reports whether channels of type t have a feature.
func (t Type) Has(feature Feature) bool { return PlatformOf(t).Features&feature != 0 }

// Types returns the types that have the feature.
func (f Feature) Types() []Type {
	return typesThat(func(p Platform) bool { return p.Features&f != 0 })
}

// Owners returns the types that have the feature as a list for errors, such as "bravo, delta".
func (f Feature) Owners() string { return listed(f.Types()) }

// Require returns Unsupported, naming the types that have the feature, if the channel's type does
// not.
func (c *Channel) Require(feature Feature) error {
	if c.Type.Has(feature) {
		return nil
	}
	return c.RequireType(feature.Types()...)
}

func listed(types []Type) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}
