package channel

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// Type is the platform of a channel. Any other text than the constants is a type of
// the host's own.
type Type string

// The types that the specification names.
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
	// Custom is a channel that the host's own live-chat API serves.
	Custom Type = "custom"
	// Webchat is a chat on a web page.
	Webchat Type = "webchat"
)

// Platform is what differs between the types of channels as a fact. What differs in what is
// done is code: that of the connector to a platform, and of the operations that carry its name.
type Platform struct {
	Type Type
	// Features are what the platform has that not all of them have.
	Features Feature
	// Result is how the result of a send looks in JSON.
	Result ResultShape
	// OwnResponses are the types of messages that this platform alone has, such as "NEWS".
	OwnResponses []string
	// BroadcastGroups are the types that its broadcast groups can have, nil for any.
	BroadcastGroups []string

	// readInfo reads the info of a channel, nil for OtherInfo.
	readInfo func(document.Object) (Info, error)
}

// ResultShape is how the result of a send looks in JSON.
type ResultShape struct {
	// Keys are always there, Optional where the platform has something to say, in this order.
	Keys, Optional []string
	// Text is the path of what a text message says.
	Text string
}

// platforms has a row for each type that the specification names. A new one needs its constant
// and its row, its connector in the fakes, its place in operations.json and, where its results
// have a shape of their own, the code for that in package send: TestPlatforms_AreComplete of
// package botctx names what is missing.
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

// usualResult is the result that most platforms have.
var usualResult = ResultShape{Keys: []string{"result", "messageEvent"}, Text: "messageEvent.data.text"}

// PlatformOf returns what is known of a type: for one of the host's own, that it has no feature
// and the results that most platforms have. What its lists hold must not be changed.
func PlatformOf(t Type) Platform {
	known := Platform{Type: t}
	if i := slices.IndexFunc(platforms, func(p Platform) bool { return p.Type == t }); i >= 0 {
		known = platforms[i]
	}
	if known.Result.Keys == nil {
		known.Result = usualResult
	}
	return known
}

// Types returns the types that the specification names.
func Types() []Type { return typesThat(func(Platform) bool { return true }) }

// OwnerOf returns the only type of channels that has messages of a type, such as "NEWS", and
// whether there is one.
func OwnerOf(response string) (Type, bool) {
	owners := typesThat(func(p Platform) bool { return slices.Contains(p.OwnResponses, response) })
	if len(owners) == 0 {
		return "", false
	}
	return owners[0], true
}

// typesThat returns the types of the platforms that meet a condition, in the order of the table.
func typesThat(meets func(Platform) bool) []Type {
	types := make([]Type, 0, len(platforms))
	for _, p := range platforms {
		if meets(p) {
			types = append(types, p.Type)
		}
	}
	return types
}

// Feature is something that some platforms have, or several of that.
type Feature uint16

// The features.
const (
	// DirectRequests: it has no tickets, so that a channel with broadcast groups takes a request
	// for a person alone.
	DirectRequests Feature = 1 << iota
	// LiveChatAPI: the host's own API may take the requests, with details that are its own, also
	// for a channel without broadcast groups.
	LiveChatAPI
	// Helpdesk: its assignments are marked as those of the helpdesk, isZendesk.
	Helpdesk
	// OutletGroups: the conversation with an agent is a group, to which messages are sent and
	// which can be handed on.
	OutletGroups
	// InletGroups: a member can be in live chat from within a group.
	InletGroups
	// TicketRecall: tickets can be taken back.
	TicketRecall
	// TakenMessages: a request says what its tickets show once one was taken.
	TakenMessages
	// ResponseURLs: a message can be posted back to where an interaction happened.
	ResponseURLs
	// GroupTrees: trees of their own answer in groups.
	GroupTrees
	// MessagingTypes: a message says why it is sent, and under which exception.
	MessagingTypes
	// Threads: a message can be in a thread of its conversation, and is answered there.
	Threads
)

// Has reports whether channels of a type have a feature.
func (t Type) Has(feature Feature) bool { return PlatformOf(t).Features&feature != 0 }

// Types returns the types that have a feature.
func (f Feature) Types() []Type {
	return typesThat(func(p Platform) bool { return p.Features&f != 0 })
}

// Owners returns the types that have a feature, as errors name them, such as "bravo, delta".
func (f Feature) Owners() string { return listed(f.Types()) }

// Require returns Unsupported, with the types that are allowed, for a channel of a type that
// does not have a feature.
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
