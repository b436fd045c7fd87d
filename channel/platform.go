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

// Desk is a page on which agents answer live chats, served by package host/desk. It is not a type of
// the specification, and not one of Types. Operations on groups of outlets, such as ReassignAssignment,
// support it.
const Desk Type = "desk"

// Platform describes how a type of channel differs from others. Differences in behavior are in the
// connector and in the operations named after the platform.
type Platform struct {
	Type Type
	// Features are the optional features that the platform has.
	Features Feature
	// Result is the JSON form of a send's result.
	Result ResultShape
	// OwnResponses are the message types that only this platform has, such as "NEWS".
	OwnResponses []string
	// BroadcastGroups are the allowed types of broadcast group members. Nil allows any.
	BroadcastGroups []string

	// readInfo decodes the info of a channel. Nil means OtherInfo.
	readInfo func(document.Object) (Info, error)
}

// ResultShape is the JSON form of a send's result.
type ResultShape struct {
	// Keys are always present; Optional keys only if they have a value. They are listed in
	// the order of the JSON.
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

// PlatformOf returns the platform of a type. A type of the host's own has no features and the usual
// result. Callers must not modify the slices.
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

// OwnerOf returns the only type of channel that supports a message type such as "NEWS", and whether
// there is one.
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
	// DirectRequests: there are no tickets, so a channel needs only broadcast groups to receive a
	// request for an agent.
	DirectRequests Feature = 1 << iota
	// LiveChatAPI: the host's own API may receive the requests, with its own details, even if the
	// channel has no broadcast groups.
	LiveChatAPI
	// Helpdesk: assignments are marked as isZendesk.
	Helpdesk
	// OutletGroups: the conversation with an agent is a group that receives messages and can be
	// transferred.
	OutletGroups
	// InletGroups: a member can be in live chat from within a group.
	InletGroups
	// TicketRecall: tickets can be recalled.
	TicketRecall
	// TakenMessages: a request defines the content of its tickets once an agent has taken one.
	TakenMessages
	// ResponseURLs: a message can be posted to the response URL of an interaction.
	ResponseURLs
	// GroupTrees: groups are served by separate trees.
	GroupTrees
	// MessagingTypes: a message states why it is sent, and under which exception.
	MessagingTypes
	// Threads: a message can be part of a thread, and is answered there.
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
